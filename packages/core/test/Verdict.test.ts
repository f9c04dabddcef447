import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Verdict from "../src/reply/Verdict.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** `+ result`, `- reason`, or the problem. */
const outcome = (text: string): string =>
  Either.match(Verdict.read(text), {
    onLeft: (error) => error.problem,
    onRight: (verdict) => (verdict._tag === "Success" ? `+ ${verdict.result}` : `- ${verdict.reason}`)
  })

describe("reported failures", () => {
  it.each(["**SUCCESS:** booked", "Success - booked", "SUCCESS：booked", "```\nSUCCESS: booked\n```"])(
    "AD-08: %j succeeds",
    (reply) => {
      expect(outcome(reply)).toBe("+ booked")
    }
  )
  it.each(["SUCCESSFULLY failed", "UNSUCCESSFUL"])("AD-08: %j is no verdict", (reply) => {
    expect(outcome(reply)).toBe("no_verdict")
  })
  it("AD-06, AD-07: the last line decides, whatever the tools answered before", () => {
    expect(outcome("error: timeout\nerror: HTTP 500\nThe third try worked.\nSUCCESS: page is up")).toBe("+ page is up")
  })
  it("AD-09: the last verdict line wins", () => {
    expect(outcome("SUCCESS: part one\nFAILURE: part two refused")).toBe("- part two refused")
  })
  it("AD-10: a text without a verdict line is no success", () => {
    expect(outcome("I have looked at the page and will continue later.")).toBe("no_verdict")
  })
})

describe("kinds", () => {
  const tables: Readonly<Record<string, ReadonlyArray<readonly [reply: string, outcome: string]>>> = {
    "AD-08: dashes and arrows": [
      ["SUCCESS -> booked", "+ booked"],
      ["SUCCESS -- booked", "+ booked"],
      ["SUCCESS --- booked", "+ booked"],
      ["SUCCESS --> booked", "+ booked"],
      ["SUCCESS => booked", "+ booked"],
      ["SUCCESS->booked", "+ booked"],
      ["SUCCESS → booked", "+ booked"],
      ["FAILURE ⇒ no seat", "- no seat"],
      ["SUCCESS: -> booked", "+ booked"],
      ["SUCCESS:- booked", "+ booked"],
      ["SUCCESS:: booked", "+ booked"],
      ["SUCCESS – – booked", "+ – booked"],
      ["SUCCESS ―  booked", "+ booked"],
      ["**SUCCESS** -> booked", "+ booked"],
      ["**FAILURE --** no seat", "- no seat"],
      ["SUCCESS: -5", "+ -5"],
      ["SUCCESS - -5", "+ -5"],
      ["SUCCESS: - a\n- b", "+ - a\n- b"],
      ["SUCCESS: ->", "+ ->"],
      ["SUCCESS=5", "no_verdict"],
      ["SUCCESS-rate is 5", "no_verdict"]
    ],
    "AD-09: both words on a line": [
      ["SUCCESS: wrote the line `FAILURE: disk` to the log", "+ wrote the line `FAILURE: disk` to the log"],
      ['SUCCESS: the log says "FAILURE: disk"', '+ the log says "FAILURE: disk"'],
      ["SUCCESS: the file starts with FAILURE: disk", "+ the file starts with FAILURE: disk"],
      ["SUCCESS: counted 3 lines (FAILURE: 1, SUCCESS: 2)", "+ counted 3 lines (FAILURE: 1, SUCCESS: 2)"],
      ["FAILURE: the page says SUCCESS: true but is empty", "- the page says SUCCESS: true but is empty"],
      ["FAILURE: one part. SUCCESS: the other", "- one part. SUCCESS: the other"],
      ["SUCCESS: one part; FAILURE: the other", "- one part; FAILURE: the other"],
      ["SUCCESS: one part or **FAILURE:** the other", "- one part or **FAILURE:** the other"],
      ["SUCCESS: <result> | FAILURE: <reason>", "no_verdict"],
      ['"SUCCESS: <the result>" or "FAILURE: <what blocked you>"', "no_verdict"],
      ["SUCCESS: <the result> or, if you cannot complete the task, FAILURE: <what blocked you>", "no_verdict"],
      ["SUCCESS: the result or FAILURE: what blocked you", "no_verdict"],
      ["SUCCESS: ... or FAILURE: ...", "no_verdict"],
      ["SUCCESS: or FAILURE:", "no_verdict"],
      ["SUCCESS: booked or FAILURE: <what blocked you>", "no_verdict"]
    ],
    "how the line is written": [
      ["SUCCESS: booked", "+ booked"],
      ["FAILURE: no seat", "- no seat"],
      ["SUCCESS:booked", "+ booked"],
      ["SUCCESS : booked", "+ booked"],
      ["SUCCESS – booked", "+ booked"],
      ["SUCCESS — booked", "+ booked"],
      ["SUCCESS—booked", "+ booked"],
      ["SUCCESS -booked", "+ booked"],
      ["FAILURE- no seat", "- no seat"],
      ["**SUCCESS**: booked", "+ booked"],
      ["**SUCCESS: booked**", "+ booked"],
      ["***FAILURE:*** no seat", "- no seat"],
      ["*Success:* booked", "+ booked"],
      ["__SUCCESS:__ booked", "+ booked"],
      ["`SUCCESS: booked`", "+ booked"],
      ['"SUCCESS: booked"', "+ booked"],
      ["(SUCCESS: booked)", "+ booked"],
      ["[SUCCESS]: booked", "+ booked"],
      ["> SUCCESS: booked", "+ booked"],
      ["- SUCCESS: booked", "+ booked"],
      ["* FAILURE: no seat", "- no seat"],
      ["## SUCCESS: booked", "+ booked"],
      ["   SUCCESS: booked   ", "+ booked"],
      ["✅ SUCCESS: booked", "+ booked"],
      ["❌ **FAILURE:** no seat", "- no seat"],
      ["Verdict: SUCCESS: booked", "+ booked"],
      ["**Final verdict:** FAILURE - no seat", "- no seat"],
      ["success: booked", "+ booked"],
      ["Failure: no seat", "- no seat"],
      ["SUCCESS", "+ "],
      ["SUCCESS.", "+ "],
      ["**SUCCESS**", "+ "],
      ["Success!", "+ "],
      ["FAILURE:", "- "]
    ],
    "the text": [
      ["SUCCESS: **42**", "+ **42**"],
      ["* SUCCESS: 2 *", "+ 2 *"],
      ["SUCCESS: it's `x`", "+ it's `x`"],
      ["SUCCESS: [1, 2]", "+ [1, 2]"],
      ['SUCCESS: {"a": 1}', '+ {"a": 1}'],
      ["SUCCESS: <b>done</b>", "+ <b>done</b>"],
      ["SUCCESS: see https://a.test/x", "+ see https://a.test/x"],
      ["SUCCESS: 12:30", "+ 12:30"],
      ["SUCCESS: FAILURE is the title of the book", "+ FAILURE is the title of the book"],
      ["SUCCESS: a\nb", "no_verdict"],
      ["SUCCESS:\na\nb", "+ a\nb"],
      ["SUCCESS: a\n\nLet me know if you need more!", "no_verdict"],
      ["SUCCESS:\na\n\nb", "no_verdict"],
      ["SUCCESS: the steps:\n\n- a\n- b", "+ the steps:\n\n- a\n- b"],
      ["SUCCESS: see\n```js\nf()\n```", "+ see\n```js\nf()\n```"],
      ["```\nSUCCESS: a\nb\n```\nBye", "no_verdict"],
      ["SUCCESS: a\n```", "+ a"],
      ["SUCCESS: 是的，已预订", "+ 是的，已预订"]
    ],
    "VR-10: only the end of the reply is its verdict": [
      ["SUCCESS: filed\n\nHold on, that was the wrong folder.", "no_verdict"],
      ["The log said:\nSUCCESS: ok\nNow I will go on.", "no_verdict"],
      ["SUCCESS: filed\nHold on, that was the wrong folder.", "no_verdict"],
      ["SUCCESS: filed\n\nWait.", "no_verdict"],
      ["**SUCCESS:** filed\n\nLet me double-check.", "no_verdict"],
      ["```\nSUCCESS: filed\n```\nNo, the folder is wrong.", "no_verdict"],
      ["SUCCESS:\n\nfiled\n\nHold on, that was the wrong folder.", "no_verdict"],
      ["SUCCESS:\n- a\n- b\n\nBut c is missing.", "no_verdict"],
      ["SUCCESS: see\n```js\nf()\n```\nThis failed.", "no_verdict"],
      ["SUCCESS: a\n\n```\ncode\n```\n\nNext I will run it.", "no_verdict"],
      ["SUCCESS: part one\n\nNow part two.\n- x", "no_verdict"],
      ["SUCCESS in the log.\nFinal verdict: NOT SUCCESS", "no_verdict"],
      ["SUCCESS: it looks well\nIt was not completed successfully.", "no_verdict"],
      ["SUCCESS: a\nTERMINATE now", "no_verdict"],
      ["The tool said:\n> SUCCESS: ok\n\nI will check it.", "no_verdict"],
      ["FAILURE: first try\nSUCCESS: second try\nNow I go on.", "no_verdict"],
      ["SUCCESS\nNow I will go on.", "no_verdict"],
      ['SUCCESS: ok\n{"a": 1}', "no_verdict"],
      ["SUCCESS:\n```\nfiled\n```\nHold on", "no_verdict"],
      ["SUCCESS:\n- a\n- b\nBut c is missing.", "no_verdict"],
      ["SUCCESS: filed\n\n(The folder was wrong.)", "no_verdict"],
      ["SUCCESS: filed\n```", "+ filed"],
      ['"SUCCESS: filed\n"', "+ filed"],
      ["SUCCESS:\nThe file is at A.\n\n- x\n- y", "+ The file is at A.\n\n- x\n- y"],
      ["SUCCESS: filed\n```\n\n", "+ filed"],
      ["**SUCCESS: filed\n**", "+ filed"],
      ["SUCCESS: filed\n</answer>", "+ filed"],
      ["<answer>\nSUCCESS: filed\n</answer>", "+ filed"],
      ["<answer>SUCCESS: filed</answer>", "+ filed"],
      ["SUCCESS: filed</result>", "+ filed"],
      ["SUCCESS: <b>filed</b>", "+ <b>filed</b>"],
      ["SUCCESS: filed\n</result>\n```", "+ filed"],
      ["SUCCESS: filed\n---", "+ filed"],
      ["SUCCESS: filed\n[END]", "+ filed"],
      ["SUCCESS: filed\n<end_of_turn>", "+ filed"],
      ["SUCCESS: filed\n\nTERMINATE", "+ filed"],
      ["SUCCESS:\u200b filed", "+ filed"],
      ["SUCCESS:\nfiled", "+ filed"],
      ["SUCCESS:\n\nfiled in A\nand in B", "+ filed in A\nand in B"],
      ["SUCCESS:\n- a\n- b", "+ - a\n- b"],
      ["SUCCESS:\n\n1. a\n2. b\n", "+ 1. a\n2. b"],
      ["SUCCESS: two files\n- a\n- b", "+ two files\n- a\n- b"],
      ["SUCCESS: two files\n\n- a\n\n- b", "+ two files\n\n- a\n\n- b"],
      ["SUCCESS: two files:\n  a\n  b", "+ two files:\n  a\n  b"],
      ["SUCCESS: the table\n| a | b |\n|---|---|\n| 1 | 2 |", "+ the table\n| a | b |\n|---|---|\n| 1 | 2 |"],
      ["SUCCESS:\n```json\n{}\n```", "+ ```json\n{}\n```"],
      ["SUCCESS: see\n\n```\na\n\nb\n```\n", "+ see\n\n```\na\n\nb\n```"],
      ['SUCCESS: {\n"a": 1\n}', '+ {\n"a": 1\n}'],
      ["SUCCESS:\n> said so", "+ > said so"],
      ["Success:\n- a\n- b", "+ - a\n- b"],
      ["success: filed\nNow on.", "no_verdict"],
      ["FAILURE: no seat\n\nI am sorry.", "- no seat"],
      ["FAILURE: no seat\nI tried three times.", "- no seat\nI tried three times."],
      ["FAILURE:\n- a\n- b", "- - a\n- b"]
    ],
    "which line": [
      ["FAILURE: first try\nSUCCESS: second try", "+ second try"],
      ["SUCCESS: a\n\nSUCCESS: b", "+ b"],
      ["SUCCESS: a\n\nFAILURE: b\n\nThat is all.", "- b"],
      ["<think>SUCCESS: a</think>\nFAILURE: b", "- b"],
      ["<think>SUCCESS: a", "empty_reply"],
      ["SUCCESS: a\nFAILURE: <what blocked you>", "+ a"],
      ["You asked for SUCCESS: <the result> or FAILURE: <what blocked you>.\nSUCCESS: a", "+ a"],
      ["SUCCESS: <the result>\nor, if you cannot complete the task as a whole,\nFAILURE: no seat", "- no seat"]
    ],
    "no verdict": [
      ["", "empty_reply"],
      ["I report SUCCESS: booked", "no_verdict"],
      ["Successful: booked", "no_verdict"],
      ["SUCCESSES: two", "no_verdict"],
      ["Success rate: 5 %", "no_verdict"],
      ["Success-rate is 5", "no_verdict"],
      ["SUCCESS_COUNT: 5", "no_verdict"],
      ["NOT SUCCESS: x", "no_verdict"],
      ["No failure: all is well", "no_verdict"],
      ["SUCCESS/FAILURE", "no_verdict"],
      ["SUCCESS or FAILURE", "no_verdict"],
      ["SUCCESS | FAILURE: x", "no_verdict"],
      ["SUCCESS: <result> or FAILURE: <reason>", "no_verdict"],
      [
        "SUCCESS: <the result>\nor, if you cannot complete the task as a whole,\nFAILURE: <what blocked you>",
        "no_verdict"
      ],
      ["SUCCESS: ...", "no_verdict"],
      ["SUCCESS booked", "no_verdict"],
      ["<SUCCESS>: x", "no_verdict"],
      ["The tool answered:\nsuccess: true\nbut nothing was booked.", "no_verdict"],
      ["The tool answered:\nsuccess: true", "no_verdict"],
      ['The tool answered: {"status": "SUCCESS"}', "no_verdict"],
      ["Success\nis near, but not here yet.", "no_verdict"]
    ]
  }
  for (const [kind, table] of Object.entries(tables)) {
    describe(kind, () => {
      it.each(table)(kind.startsWith("VR-") ? "VR-10: %j" : "%j", (reply, expected) => {
        expect(outcome(reply)).toBe(expected)
      })
    })
  }
})

describe("laws", { timeout: 300_000 }, () => {
  const detail = fc
    .stringOf(fc.constantFrom("a", "b", "1", " ", ".", "*", "é", "界"), { minLength: 1, maxLength: 20 })
    .map((text) => `x${text}x`)

  it("reads back what was written, in any of its forms", () => {
    const form = fc.constantFrom<(word: string, text: string) => string>(
      (word, text) => `${word}: ${text}`,
      (word, text) => `**${word}:** ${text}`,
      (word, text) => `**${word}: ${text}**`,
      (word, text) => `> ${word} – ${text}`,
      (word, text) => `- ${word} - ${text}`,
      (word, text) => `${word}：${text}`,
      (word, text) => `\`\`\`\n${word}: ${text}\n\`\`\``
    )
    const before = fc.constantFrom(
      "",
      "I looked.\n",
      "SUCCESS: earlier\n\n",
      "FAILURE: earlier\n",
      "<think>SUCCESS: no</think>"
    )
    fc.assert(
      fc.property(fc.boolean(), detail, form, before, (succeeds, text, write, prefix) => {
        const reply = prefix + write(succeeds ? "SUCCESS" : "FAILURE", text)
        expect(outcome(reply)).toBe(`${succeeds ? "+" : "-"} ${text}`)
      }),
      { numRuns }
    )
  })

  it("gives a verdict or an error for every text, and invents nothing", () => {
    const any = fc
      .array(
        fc.constantFrom("SUCCESS", "FAILURE", ":", " - ", "*", "`", "\n", "```", "<", ">", "a", " ", "“", "\ud800"),
        { maxLength: 30 }
      )
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.oneof(any, fc.fullUnicodeString()), (reply) => {
        const verdict = Verdict.read(reply)
        if (Either.isLeft(verdict)) return
        const text = verdict.right._tag === "Success" ? verdict.right.result : verdict.right.reason
        for (const line of text.split("\n")) expect(reply.toWellFormed()).toContain(line)
      }),
      { numRuns }
    )
  })
})
