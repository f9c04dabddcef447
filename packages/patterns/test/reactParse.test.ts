import * as Either from "effect/Either"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { asksInText, readTurn, toolCallMarkup } from "../src/internal/react/parse.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** `tool|input`, `=answer`, `none`, or `!` and the problem word. */
const turn = (reply: string): string => {
  const result = readTurn(reply)
  if (Either.isLeft(result)) return `!${result.left.problem}`
  switch (result.right._tag) {
    case "Action":
      return `${result.right.tool}|${result.right.input}`
    case "Answer":
      return `=${result.right.text}`
    case "NoTool":
      return "none"
  }
}

const rows: ReadonlyArray<readonly [reply: string, expected: string]> = [
  ['Action: multiply\nAction Input: {"a":3,"b":4}\nObservation: 36\nAnswer: 36', 'multiply|{"a":3,"b":4}'],
  ["Thought: no tool fits\nAction: None", "none"],
  ["Action: N/A", "none"],
  ["Action:", "none"],
  ["Action: none\nFinal Answer: 4", "=4"],
  ["Action: None\nAction Input: None\nFinal Answer: 4", "=4"],
  ["Action: `None`", "none"],
  ["Action: None.", "none"],
  ["Action: No action needed", "none"],
  ["Action: null\nAction Input: null", "none"],
  ["Action: list_orders<|channel|>commentary\nAction Input: {}", "list_orders|{}"],
  ["Action: <|channel|>x\nAction Input: {}", "|{}"],
  ['<tool_call>{"name":"search","arguments":{"q":"x"}}</tool_call>', "!tool_call_markup"],
  ['<function=search>{"q":1}</function>', "!tool_call_markup"],
  ['[TOOL_CALLS][{"name":"x"}]', "!tool_call_markup"],
  ["<|python_tag|>search.call(q=1)", "!tool_call_markup"],
  ['{"name":"search","arguments":{"q":1}}', "!tool_call_markup"],
  ["Final Answer: <tool_call>{}</tool_call>", "!tool_call_markup"],
  ["Use `<tool_call>` tags.", "=Use `<tool_call>` tags."],
  ["<think>Action: a … Action: b</think>Action: search\nAction Input: x", "search|x"],
  ["Paris", "=Paris"],
  ["Thought: I know.\nFinal Answer: Paris", "=Paris"],
  ["Thought: it is Paris", "=it is Paris"],
  ["Thought 1: it is Paris", "=it is Paris"],
  ["**Thought:** a\n**Action:** search\n**Action Input:** cats", "search|cats"],
  ["**Final Answer:** 42", "=42"],
  ["Final Answer:\n\nline one\nline two", "=line one\nline two"],
  ["Action: search[cats]", "search|cats"],
  ['Action: search("cats")', "search|cats"],
  ["Action: Search[Arthur's Magazine]", "Search|Arthur's Magazine"],
  ['Action: {"tool":"search","input":"x"}', "search|x"],
  ['Action:\n```json\n{"action": "search", "action_input": {"q": 1}}\n```\nObservation: 3', 'search|{"q":1}'],
  ["Action: Finish[42]", "=42"],
  ["Action: Final Answer\nAction Input: 42", "=42"],
  ['Action: {"action":"Final Answer","action_input":"42"}', "=42"],
  ['Action: search\nAction Input: {\n "q": "a]}"\n}\nObservation: x', 'search|{\n "q": "a]}"\n}'],
  ['Action: search\nAction Input: "cats"', "search|cats"],
  ["Action: search\nAction Input: cats\nObservation: y\nThought: z\nAction: other", "search|cats"],
  ["Action: python\nAction Input: ```python\nprint(1)\n\nprint(2)\n```\nObservation: 1", "python|print(1)\n\nprint(2)"],
  ["Action: now\nAction Input:", "now|"],
  ["Action: now", "now|"],
  ["Action: now()", "now|"],
  ["Action: `search`\nAction Input: x", "search|x"],
  ["Thought: a Action: search Action Input: cats Observation: 3", "search|cats"],
  ["Thought: I know. Final Answer: 42", "=42"],
  ["Action: search\nInput: x", "search|x"],
  ["Tool: search\nInput: x", "search|x"],
  ["You need:\nTool: hammer", "=You need:\nTool: hammer"],
  ["Final Answer: Setup\nInput: a\nParameters: b", "=Setup\nInput: a\nParameters: b"],
  ["Final Answer: 42\nObservation: ok", "=42"],
  ["Final Answer: 42\n\nQuestion: next?\nThought: x\nAction: search\nAction Input: y", "=42"],
  ["Answer: 42", "=42"],
  ["", "!empty_reply"],
  ["<|start|>assistant", "!empty_reply"],
  ["<think>Action: a", "!empty_reply"],
  ['Action: search {"q": 1}', 'search|{"q": 1}'],
  ['Action: search\nAction Input: {"city": oslo"}', 'search|{"city": oslo"}'],
  ["Action 1: search[x]\nObservation 1: y", "search|x"],
  ["Action: calc[3*(4+5)]", "calc|3*(4+5)"],
  ["Action: calc(3*(4+5))", "calc|3*(4+5)"],
  ["Action: search[unclosed", "search|unclosed"],
  ['{"action":"search","action_input":"x"}', "search|x"],
  ['```json\n{"action":"search","action_input":"x"}\n```', "search|x"],
  ['{"final_answer":"42"}', '={"final_answer":"42"}'],
  ['Action: {"q":', "!malformed"],
  ["**Final Answer**\n42", "=42"]
]

describe("reported cases", () => {
  it("RA-01 takes the first action only", () => {
    const reply = 'Action: multiply\nAction Input: {"a":3,"b":4}\nObservation: 36\nAnswer: 36'
    expect(Either.getOrThrow(readTurn(reply))).toEqual({
      _tag: "Action",
      thought: "",
      tool: "multiply",
      input: '{"a":3,"b":4}'
    })
  })
  it.each([["None"], ["N/A"], [""]])("RA-03 the action %j means no tool", (action) => {
    expect(Either.getOrThrow(readTurn(`Thought: no tool fits\nAction: ${action}`))).toEqual({
      _tag: "NoTool",
      thought: "no tool fits"
    })
  })
  it.each([
    ["None (I can answer directly)"],
    ["No tool needed"],
    ["no action needed because I know it"],
    ["None, I know the answer"],
    ["None - I can answer"],
    ["N/A (the answer is known)"],
    ["No further action required."],
    ["No tools are needed here"],
    ["No need for a tool"],
    ["Nothing to look up"],
    ["(none)"],
    ["**None**"],
    ["Not needed."]
  ])("RA-03 the action %j means no tool, and names none", (action) => {
    expect(turn(`Thought: x\nAction: ${action}`)).toBe("none")
    expect(turn(`Thought: x\nAction: ${action}\nFinal Answer: 4`)).toBe("=4")
  })
  it.each(["no_op", "none_search", "nothing_but", "NoteTool", "null-check", "Nonexistent"])(
    "RA-03 %s is a tool",
    (tool) => {
      expect(turn(`Action: ${tool}\nAction Input: x`)).toBe(`${tool}|x`)
    }
  )
  it.each([
    ["Thought: x\nObservation: 36\nFinal Answer: 36"],
    ["Observation: 36\nFinal Answer: 36"],
    ["Thought: x\nObservation: 36\nAnswer: 36"],
    ["Thought: x\nObservation: 36"],
    ["Thought: x\n**Observation:** 36\n**Final Answer:** 36"],
    ["Thought: x\nObservation 1: 36\nThought: y. Final Answer: 36"],
    ["Thought: x\n\nObservation: 36\n\nThought: so it is 36\nFinal Answer: 36"]
  ])("RA-01 %j rests on an observation that no tool made", (reply) => {
    expect(turn(reply)).toBe("!malformed")
  })
  it("RA-01 an observation behind the answer, or inside a thought, does no harm", () => {
    expect(turn("Final Answer: 36\nObservation: ok")).toBe("=36")
    expect(turn("Thought: the last Observation: 36 says it\nFinal Answer: 36")).toBe("=36")
  })
  it.each([
    ["Thought: I could say Final Answer: 5\nAction: a\nAction Input: 1"],
    ["Thought: not yet. Final Answer: 5 is a guess\nAction: a\nAction Input: 1"],
    ["Thought: maybe Answer: 5\n\n**Action:** a\n**Action Input:** 1"],
    ["Thought: I must end with Final Answer: <answer>.\nAction: a[1]"],
    ["Thought: Final Answer: 5?\nThought: no, first a\nAction: a\nAction Input: 1"],
    ["Thought: x Final Answer: 5\nAction: a\nInput: 1\nObservation: 2\nFinal Answer: 6"]
  ])("RA-01 %j asks for the tool: an answer inside a thought is none", (reply) => {
    expect(turn(reply)).toBe("a|1")
  })
  it("RA-01 an answer inside a thought holds where no action follows, or one that was invented", () => {
    expect(turn("Thought: I know. Final Answer: 42")).toBe("=42")
    expect(turn("Thought: I know. Final Answer: 42\nAction: None")).toMatch(/^=42/)
    expect(turn("Thought: I know. Final Answer: 42\nQuestion: next?\nAction: a\nAction Input: 1")).toBe("=42")
  })
  it("RA-03 no text starts with Thought:", () => {
    expect(Either.getOrThrow(readTurn("Thought: it is Paris"))).toEqual({ _tag: "Answer", text: "it is Paris" })
  })
  it.each([["constructor"], ["toString"], ["__proto__"]])("RA-06 %s is a name like any other", (name) => {
    expect(turn(`Action: ${name}\nAction Input: {}`)).toBe(`${name}|{}`)
    expect(turn(`{"action": "x", "action_input": {"${name}": 1}}`)).toBe(`x|{"${name}":1}`)
  })
  it("RA-07 cuts a name at the first control token", () => {
    expect(turn("Action: list_orders<|channel|>commentary\nAction Input: {}")).toBe("list_orders|{}")
    expect(turn("Action: <|channel|>commentary\nAction Input: {}")).toBe("|{}")
  })
  it.each([
    ["Action: now\nAction Input: "],
    ["Action: now"],
    ["Action: now()"],
    ["Action: now\nAction Input: null"],
    ["Action: now\nAction Input: None"],
    ["Action: now\nAction Input: `null`"],
    ["Action: now\nAction Input: **null**"],
    ["Action: now\nAction Input: N/A\nObservation: 3"],
    ["Action: now[null]"],
    ["Action: now(None)"],
    ['Action: {"action":"now","action_input":null}']
  ])("RA-08 %j has an empty input", (reply) => {
    expect(turn(reply)).toBe("now|")
  })
  it("RA-09 keeps malformed JSON as it is, for the tool's error", () => {
    expect(turn('Action: weather\nAction Input: {"city": oslo"}')).toBe('weather|{"city": oslo"}')
  })
  it("RA-24 markup is a malformed turn, never the answer", () => {
    expect(turn('<tool_call>{"name":"search","arguments":{"q":"x"}}</tool_call>')).toBe("!tool_call_markup")
  })
  it("RA-25 drops reasoning first", () => {
    expect(turn("<think>Action: a … Action: b</think>Action: search\nAction Input: x")).toBe("search|x")
  })
})

describe("turns", () => {
  it.each(rows)("%j is %j", (reply, expected) => {
    expect(turn(reply)).toBe(expected)
  })
  it("keeps the thought", () => {
    expect(Either.getOrThrow(readTurn("Thought: I need\ntwo lines.\nAction: search[x]"))).toMatchObject({
      thought: "I need\ntwo lines."
    })
    expect(Either.getOrThrow(readTurn("**Thought:** I know.\n**Final Answer:** 42"))).toMatchObject({
      text: "42",
      thought: "I know."
    })
  })
})

describe("markup", () => {
  it.each([
    ['<tool_call>{"name":"search"}</tool_call>'],
    ["Let me look.\n<tool_call>\n{}\n</tool_call>"],
    ['<function=search>{"q":"x"}</function>'],
    ['<function_calls><invoke name="search"></invoke></function_calls>'],
    ['[TOOL_CALLS] [{"name": "search", "arguments": {}}]'],
    ['<|python_tag|>{"name": "search"}'],
    ["<|tool_call|>search"],
    ["<|tool_calls_section_begin|>x"],
    ["<｜tool▁calls▁begin｜>search"],
    ["<|channel|>commentary to=functions.search<|message|>{}"],
    ["<|plugin|>{}"],
    ["[TOOL_REQUEST]{}[END_TOOL_REQUEST]"],
    ['functools[{"name": "search"}]'],
    ["✿FUNCTION✿: search"],
    ['{"name": "search", "arguments": {"q": "x"}}'],
    ['{"name": "search", "parameters": {"q": "x"}}'],
    ['[{"name": "search", "arguments": {}}]'],
    ['```json\n{"name": "search", "arguments": {}}\n```'],
    ['{"tool_calls": [{"function": {"name": "search"}}]}'],
    ['{"type": "function", "function": {"name": "search"}}'],
    ['Let me search.\n{"name":"search","arguments":{"q":"x"}}'],
    ['Sure:\n```json\n{"name":"search","arguments":{"q":"x"}}\n```'],
    ['{"name":"search","arguments":{"q":"x"}}\n{"name":"search","arguments":{"q":"y"}}'],
    ['<tools>{"name":"search","arguments":{"q":"x"}}</tools>'],
    ["I will search. {'name': 'search', 'arguments': {'q': 'x'}}"],
    ['It said "wait.\n{"name": "search", "parameters": {"q": "{"}} now'],
    ['{ Let me look: {"function": "search", "arguments": "{\\"q\\": 1}"}'],
    ['Now {"tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}'],
    ['First {"tool": "search", "parameters": {"q": "x"}}'],
    ['First {"action": "search", "action_input": "x"}'],
    ["```tool_code\nprint(search('x'))\n```"],
    ['commentary to=functions.search {"q":"x"}'],
    ['<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">']
  ])("%j", (text) => {
    expect(toolCallMarkup(text)).toBe(true)
    expect(turn(text)).toBe("!tool_call_markup")
  })
  it.each([
    ["Paris"],
    ["Qwen writes `<tool_call>` around calls."],
    ['The tag "<tool_call>" is Qwen\'s.'],
    ['{"answer": 42}'],
    ['{"name": "Ada", "born": 1815}'],
    ["a < b and c > d"],
    ["[1] says so"],
    ["<b>bold</b>"],
    ["<think>maybe <tool_call>{}</tool_call></think>Paris"],
    ["print(f(x))"],
    ['{"status":"completed","result":"read 3 files","collected":{}}'],
    ['{"name":"Ann","age":3}'],
    ['Here it is: {"name":"Ann","age":3}'],
    ['{"status":"completed","result":"x","collected":{"name":"Ann","input":"5 V"}}'],
    ['{"action":"buy","reason":"cheap"}'],
    ["Use `search(q)` or {q: 1}."],
    ["Write to=x in the form."]
  ])("%j is none", (text) => {
    expect(toolCallMarkup(text)).toBe(false)
    expect(toolCallMarkup(text, (name) => name === "search")).toBe(false)
  })
  const isTool = (name: string) => name.toLowerCase() === "search"
  it.each([
    ['{"tool":"Search","parameters":{"q":"x"}}'],
    ['{"action":"Search","action_input":"x"}'],
    ['I look: {"name":"Search","input":{"q":"x"}}'],
    ['{"tool_name":"search","params":{"q":"x"}}'],
    ['Search("x")'],
    ["[search(q='x')]"],
    ["```python\nprint(search('x'))\n```"]
  ])("%j is a call where there is such a tool", (text) => {
    expect(toolCallMarkup(text, isTool)).toBe(true)
    expect(toolCallMarkup(text.replace(/search/gi, "dance"), isTool)).toBe(false)
  })
  it.each([
    ["Action: Search\nAction Input: x", true],
    ["Thought: I look\n**Action:** Search\n**Action Input:** x", true],
    ['Action: Search("x")', true],
    ["Action: Search[x]", true],
    ["Action: first\nAction: search\nAction Input: x", true],
    ["Action: Call Bob\nAction Input: none", false],
    ["Action: Search the archive for it.", false],
    ["The Action: Search[x] form is for other models.", false],
    ["Action: None", false]
  ])("%j holds an action in text: %j", (text, expected) => {
    expect(asksInText(text, isTool)).toBe(expected)
  })
})

const word = fc.stringMatching(/^[a-z][a-z0-9 ]{0,12}$/).map((text) => text.trim())
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "Thought: ",
        "Action: ",
        "Action Input: ",
        "Observation: ",
        "Final Answer: ",
        "Answer: ",
        "None",
        "search[",
        "search(",
        "]",
        ")",
        "{",
        "}",
        '"',
        "\\",
        "\n",
        "```",
        "<|",
        "<tool_call>",
        "**",
        "Tool: ",
        "Input: "
      ),
      fc.string({ maxLength: 6, unit: "grapheme" })
    ),
    { maxLength: 40 }
  )
  .map((parts) => parts.join(""))

describe("laws", () => {
  it("a written action is read back, whatever is invented behind it", () => {
    const input = fc.oneof(
      word,
      fc
        .dictionary(word, fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())))
        .map((value) => JSON.stringify(value))
    )
    fc.assert(
      fc.property(word, fc.stringMatching(/^[a-z][a-z_]{2,9}$/), input, word, (thought, tool, input, invented) => {
        fc.pre(!["none", "nothing", "null", "nil", "finish"].includes(tool))
        const written = `Thought: ${thought}\nAction: ${tool}\nAction Input: ${input}`
        const reply = `${written}\nObservation: ${invented}\nFinal Answer: ${invented}`
        expect(Either.getOrThrow(readTurn(reply))).toEqual({ _tag: "Action", thought, tool, input })
      }),
      { numRuns }
    )
  })
  it("every string is read, nothing is invented, and no label leaks", () => {
    fc.assert(
      fc.property(hostile, (reply) => {
        const result = readTurn(reply)
        if (Either.isLeft(result)) {
          expect(["empty_reply", "tool_call_markup", "malformed", "conflict"]).toContain(result.left.problem)
          return
        }
        const read = result.right
        if (read._tag === "Answer") {
          expect(reply).toContain(read.text)
          expect(read.text).not.toMatch(/^Thought:/)
          expect(toolCallMarkup(read.text)).toBe(false)
        } else if (read._tag === "Action" && !reply.includes("{")) {
          expect(reply).toContain(read.tool)
          expect(reply).toContain(read.input)
          expect(read.tool).not.toContain("<|")
        }
      }),
      { numRuns }
    )
  })
  it("a cut reply names no tool that the whole reply does not begin with", () => {
    const reply = 'Thought: I look.\nAction: search_web\nAction Input: {"q": "cats"}'
    for (let length = 1; length <= reply.length; length += 1) {
      const result = readTurn(reply.slice(0, length))
      if (Either.isRight(result) && result.right._tag === "Action") {
        expect("search_web".startsWith(result.right.tool)).toBe(true)
        expect('{"q": "cats"}'.startsWith(result.right.input)).toBe(true)
      }
    }
  })
})
