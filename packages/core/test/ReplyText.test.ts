import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ReplyText from "../src/reply/ReplyText.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

describe("visible", () => {
  const table: ReadonlyArray<readonly [name: string, reply: string, shown: string]> = [
    ["a block", "<think>hm 1. a</think>1. b", "1. b"],
    ["a block in capitals", "<THINK>hm</Think>\nb", "b"],
    ["a <thinking> block", "<thinking>hm</thinking>\n\nb", "b"],
    ["a block closed by the other name", "<think>hm</thinking>b", "b"],
    ["several blocks", "<think>1</think>a <think>2</think>b", "a b"],
    ["a block behind the answer", "b<think>was that right?</think>", "b"],
    ["an empty block", "<think>\n\n</think>\n\nb", "b"],
    ["nested blocks", "<think>a <think>b</think> c</think> d", "d"],
    ["an opening tag named inside a block", "<think>they wrote <think> here</think> d", "d"],
    ["a closing tag alone", "I should count.</think>\nb", "b"],
    ["two closing tags alone: the first one counts", "hm</think>write </think> last", "write </think> last"],
    ["an opening tag alone", "<think>Let me see", ""],
    ["an opening tag alone behind text", "b\n<think>Let me see", "b"],
    ["a closing tag alone, then an opening tag alone", "hm</think>b<think>so", "b"],
    ["a tag in a JSON string", '{"a":"use <think> here"}', '{"a":"use <think> here"}'],
    ["both tags in a JSON string", '{"a":"<think>x</think>"}', '{"a":"<think>x</think>"}'],
    ["a tag in a JSON string behind an escaped quote", '{"a":"\\"<think>"}', '{"a":"\\"<think>"}'],
    ["a tag in a JSON string in a fence", '```json\n{"a":"<think>"}\n```', '```json\n{"a":"<think>"}\n```'],
    [
      "a tag in a string of JSON behind prose",
      'Here: {"a":"use <think>x</think> tags"}',
      'Here: {"a":"use <think>x</think> tags"}'
    ],
    ["an opening tag in a string of JSON behind prose", 'So {"a":"<think>"} it is', 'So {"a":"<think>"} it is'],
    [
      "a closing tag in a string of JSON behind prose",
      'Sure, {"a":"the </think> tag"}',
      'Sure, {"a":"the </think> tag"}'
    ],
    [
      "a tag in a string of fenced JSON behind prose",
      'See:\n```json\n{"a":"<think> and </think>"}\n```',
      'See:\n```json\n{"a":"<think> and </think>"}\n```'
    ],
    ["a tag in a string of JSON behind a block", '<think>a</think>{"a":"the <think> tag"}', '{"a":"the <think> tag"}'],
    ["the same, with JSON in the block", '<think>{"a":"b</think>{"a":"the </think> tag"}', '{"a":"the </think> tag"}'],
    ["a tag in nested JSON", 'x {"a":[{"b":["<think>"]}]} y', 'x {"a":[{"b":["<think>"]}]} y'],
    ["a tag in a key", 'x {"<think>": 1}', 'x {"<think>": 1}'],
    ["a tag in a string of several lines", 'x {"a":"b\n<think>"}', 'x {"a":"b\n<think>"}'],
    [
      "a block between two objects",
      'x {"a":"<think>"}<think>hm</think>{"b":"</think>"}',
      'x {"a":"<think>"}{"b":"</think>"}'
    ],
    ["a block inside JSON, but in no string", 'x {"a":<think>hm</think>1}', 'x {"a":1}'],
    ["a draft of JSON in an unopened block", 'hm {"a":"b"} no</think>{"a":"c"}', '{"a":"c"}'],
    ["a tag in JSON that does not end", 'x {"a":"b <think>hm', 'x {"a":"b'],
    ["a tag in quotes in prose", 'x "<think>hm', 'x "'],
    ["a tag in an array of strings", '["<think>"]', '["<think>"]'],
    ["a block behind JSON", '{"a":"b"}<think>done', '{"a":"b"}'],
    [
      "JS-13: tags in the string of an object behind prose",
      'Here: {"a":"use <think>x</think> b"}',
      'Here: {"a":"use <think>x</think> b"}'
    ],
    [
      "JS-13: tags in a fenced object behind prose",
      'Here you go:\n```json\n{"a":"wrap it in <think> and </think>"}\n```',
      'Here you go:\n```json\n{"a":"wrap it in <think> and </think>"}\n```'
    ],
    ["JS-13: a tag in JSON behind a block", '<think>a</think>{"a":"the <think> tag"}', '{"a":"the <think> tag"}'],
    ["JS-13: a closing tag in JSON behind prose", 'Sure, {"a":"the </think> tag"}', 'Sure, {"a":"the </think> tag"}'],
    ["JS-13: a tag in JSON behind a closing tag alone", 'hm {"a</think>{"a":"a <think>"}', '{"a":"a <think>"}'],
    [
      "JS-13: a tag in JSON behind two blocks",
      '<think>{"</think>b<think>[</think> {"a":"<think>"}',
      'b {"a":"<think>"}'
    ],
    ["JS-13: a tag in an array behind prose", 'So: ["a", "<think>"] ok', 'So: ["a", "<think>"] ok'],
    ["JS-13: a tag in a single-quoted string", "So: {'a': 'it is </think>',}", "So: {'a': 'it is </think>',}"],
    ["JS-13: a tag in a key", 'So: {"<think>": 1}', 'So: {"<think>": 1}'],
    [
      "JS-13: a tag in the second object",
      'So: {"a":1} or {"b":{"c":["</think>"]}}',
      'So: {"a":1} or {"b":{"c":["</think>"]}}'
    ],
    ["a block between JSON and JSON", 'So: {"a":1}<think>"</think>{"b":"<think>"}', 'So: {"a":1}{"b":"<think>"}'],
    ["a block in JSON, outside its strings", 'So: {"a":<think>hm</think>1}', 'So: {"a":1}'],
    ["a tag behind JSON that does not end", 'So: {"a":"<think>hm', 'So: {"a":"'],
    ["a tag between quotes of prose", 'He said "hm <think>so</think> yes"', 'He said "hm  yes"'],
    ["thinking with JSON that was given up", 'maybe {"a":"7 </think>{"a":"8"}', '{"a":"8"}'],
    ["a byte order mark", "\ufeffb", "b"],
    ["a zero-width space", "\u200bb\u200b", "b"],
    ["no-break spaces", "\u00a0b\u00a0", "b"],
    ["a word joiner and a mark of direction", "\u2060\u200eb", "b"],
    ["joiners inside a word", "می\u200cخواهم", "می\u200cخواهم"],
    ["an emoji of several characters", "👩\u200d🚀 b", "👩\u200d🚀 b"],
    ["line ends of Windows", "a\r\nb", "a\nb"],
    ["a lone surrogate", "a\ud800b", "a\ufffdb"],
    ["a comparison", "a <thinker> b", "a <thinker> b"],
    ["nothing", "", ""]
  ]
  it.each(table)("%s", (_, reply, shown) => {
    expect(ReplyText.visible(reply)).toBe(shown)
  })

  it("never shows what stands inside a block", () => {
    const part = fc.constantFrom("a", " ", "\n", '"', "{", "1. ", "<think", "think>", "</")
    const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(""))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = ReplyText.visible(`x${before}<think>SECRET</think>${after}`)
        expect(shown).not.toContain("SECRET")
      }),
      { numRuns }
    )
  })
})

describe("unfence", () => {
  const table: ReadonlyArray<readonly [name: string, text: string, inside: string]> = [
    ["a fence", "```\na\n```", "a"],
    ["a fence with a language", "```json\n{}\n```", "{}"],
    ["a fence of tildes", "~~~\na\n~~~", "a"],
    ["a longer fence", "````\n```\na\n```\n````", "```\na\n```"],
    ["a fence around a fence of the same length", "```md\n```js\na\n```\n```", "```js\na\n```"],
    ["two fences", "```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"],
    ["prose behind a fence", "```\na\n```\nb", "```\na\n```\nb"],
    ["a fence that does not close", "```\na", "```\na"],
    ["no fence", "a", "a"]
  ]
  it.each(table)("%s", (_, text, inside) => {
    expect(ReplyText.unfence(text)).toBe(inside)
  })
})

describe("cut", () => {
  it("says how much is shown", () => {
    expect(ReplyText.cut("x".repeat(2_000_000), 12_048)).toMatch(
      /^x+… \[cut: 12,0\d\d of 2,000,000 characters shown\]$/
    )
  })

  it("keeps a text that fits", () => {
    expect(ReplyText.cut("abc", 3)).toBe("abc")
  })

  it("stays within the limit, shows a prefix, and never cuts a character in two", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString({ maxLength: 300 }), fc.integer({ min: 60, max: 200 }), (text, limit) => {
        const shown = ReplyText.cut(text, limit)
        expect(shown.length).toBeLessThanOrEqual(limit)
        expect(shown.isWellFormed()).toBe(true)
        if (shown !== text) {
          const kept = shown.slice(0, shown.lastIndexOf("… [cut: "))
          expect(text.startsWith(kept)).toBe(true)
          expect(shown).toContain(`[cut: ${kept.length} of ${text.length} characters shown]`)
        }
      }),
      { numRuns }
    )
  })
})

describe("fence", () => {
  it("keeps the text byte for byte, and the text cannot close it", () => {
    const text = fc.array(fc.constantFrom("`", "``", "```", "a", "\n", "~~~")).map((parts) => parts.join(""))
    fc.assert(
      fc.property(text, (inside) => {
        const lines = ReplyText.fence("data", inside).split("\n")
        const ticks = /^`+/.exec(lines[0] ?? "")?.[0] ?? ""
        expect(ticks.length).toBeGreaterThanOrEqual(3)
        expect(lines.at(-1)).toBe(ticks)
        expect(lines.slice(1, -1).join("\n")).toBe(inside)
        expect(inside).not.toContain(ticks)
      }),
      { numRuns }
    )
  })
})
