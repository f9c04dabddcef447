import * as Either from "effect/Either"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readTurn, toolCallMarkup } from "../src/internal/react/parse.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)
const isTool = (name: string) => name.toLowerCase() === "search"
const problem = (reply: string) => {
  const turn = readTurn(reply, isTool)
  return Either.isLeft(turn) ? turn.left.problem : turn.right._tag
}

const json = '{"name":"search","arguments":{"input":"x"}}'
/** Calls as each family writes them: recognized whether or not the tools are known. */
const markup: ReadonlyArray<readonly [family: string, reply: string]> = [
  ["Hermes", `<tool_call>\n${json}\n</tool_call>`],
  ["Hermes, the opener lost", `${json}\n</tool_call>`],
  ["Hermes, cut", '<tool_call>\n{"name":"sea'],
  ["Hermes, the tag cut", "I look it up.\n<tool_call"],
  ["Qwen3-Coder", "<tool_call>\n<function=search>\n<parameter=input>\nx\n</parameter>\n</function>\n</tool_call>"],
  ["Qwen3-Coder, no wrapper", "<function=search><parameter=input>x</parameter></function>"],
  ["Qwen3-Coder, the tail", "x\n</parameter>\n</function>"],
  ["Qwen3-Coder, the tail in a line", "x</parameter></function>"],
  ["Seed", "<seed:tool_call><function=search><parameter=input>x</parameter></function></seed:tool_call>"],
  ["GLM", "<tool_call>search\n<arg_key>input</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"],
  ["GLM, the tail", "search\n<arg_key>input</arg_key>\n<arg_value>x</arg_value>"],
  [
    "LongCat",
    "<longcat_tool_call>search\n<longcat_arg_key>input</longcat_arg_key>\n<longcat_arg_value>x</longcat_arg_value>"
  ],
  ["Hunyuan 3", "<tool_calls><tool_call>search<tool_sep><arg_key>input</arg_key></tool_call></tool_calls>"],
  ["Hunyuan 4", "<tool_call:6124c78e>search<arg_key:6124c78e>input</arg_key:6124c78e></tool_call:6124c78e>"],
  ["Jamba", `<tool_calls>[${json}]</tool_calls>`],
  [
    "MiniMax M2",
    '<minimax:tool_call>\n<invoke name="search">\n<parameter name="input">x</parameter>\n</invoke>\n</minimax:tool_call>'
  ],
  ["MiniMax M3", "]<]minimax[>[<search>]<]minimax[>[<input>x</input>"],
  ["dots", `<dots_function_call>${json}</dots_function_call>`],
  [
    "DeepSeek V3",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{}\n```<｜tool▁call▁end｜>"
  ],
  ["DeepSeek, underscores", "<｜tool_calls_begin｜><｜tool_call_begin｜>search<｜tool_sep｜>{}"],
  ["DeepSeek, blanks", "<｜tool calls begin｜>search"],
  ["DeepSeek, Markdown", "<｜tool\\_calls\\_begin｜>search"],
  ["DeepSeek, short", "<｜tool▁calls｜>search"],
  ["DeepSeek, a result", "<｜tool▁output▁begin｜>x"],
  ["DeepSeek V3.2", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">'],
  ["DSML in ASCII", '<||DSML||invoke name="search">'],
  ["DSML with other bars", '<‖DSML‖invoke name="search">'],
  ["DSML with doubled bars", '<｜｜DSML｜｜parameter name="input" string="true">x'],
  ["DSML with blanks", '< | DSML | invoke name="search">'],
  ["a parameter alone", '<parameter name="input" string="true">x'],
  ["GigaChat 3.5", '<｜GCML｜invoke name="search">'],
  ["Muse", '<atem:function_calls><atem:invoke name="search">'],
  ["GigaChat 3", '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name":"search","arguments":{}}'],
  ["GigaChat 3, short", '<|function_call|>{"name":"search"}'],
  [
    "Kimi K2",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"input":"x"}'
  ],
  ["NW-55: Kimi K2, stripped", 'functions.search:0{"input":"x"}'],
  [
    "NW-55: Kimi K2 behind other tokens",
    'First:<|reserved_token_1|>functions.search:0<|reserved_token_2|>{"input": "x"}'
  ],
  ["Kimi K3", "<|open|>tools<|sep|><|open|>call tool=search<|sep|>"],
  ["Mistral", `[TOOL_CALLS] [${json}]`],
  ["Mistral v11", '[TOOL_CALLS]search[CALL_ID]abc[ARGS]{"input":"x"}'],
  ["NW-55: Mistral v13, stripped", 'search[ARGS]{"input": "x"}'],
  ["Mistral v13, cut", 'I look.\nsearch[ARGS]{"inp'],
  ["Mistral, an orphan", "x[/TOOL_CALLS]"],
  ["Llama 3", '<|python_tag|>{"name":"search","parameters":{"input":"x"}}'],
  ["Llama 3, several", '{"name":"search","parameters":{"input":"x"}}; {"name":"search","parameters":{"input":"y"}}'],
  ["Llama 4", '<|python_start|>[search(input="x")]<|python_end|>'],
  ["LFM2", '<|tool_call_start|>[search(input="x")]<|tool_call_end|>'],
  ["Pangu", `[unused11][${json}][unused12]`],
  ["OLMo 3", '<function_calls>\nsearch(input="x")\n</function_calls>'],
  ["Granite 3.0", `<|tool_call|>[${json}]`],
  ["Granite 20b", `<function_call> ${json}`],
  ["Phi-4-mini", `functools[${json}]`],
  ["NW-57: Nemotron", '<TOOLCALL>[{"name":"search","argum'],
  ["NW-57: Nemotron, as Python", '<TOOLCALL>[search(input="x")]</TOOLCALL>'],
  ["NW-57: Nemotron, the tail", 'x"}}]</TOOLCALL>'],
  ["InternLM", '<|action_start|><|plugin|>\n{"name":"search","parameters":{}}<|action_end|>'],
  ["Cohere", '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"search","parameters":{}}]<|END_ACTION|>'],
  ["Command R", 'Action: ```json\n[{"tool_name": "search", "parameters": {"input": "x"}}]\n```'],
  ["CWM", '<tool: search>\n{"input":"x"}\n</tool>'],
  ["RWKV", `**Tool Call:**\n\`\`\`json\n${json}\n\`\`\``],
  ["HyperCLOVAX", ` -> tool/function_call\n[${json}]`],
  ["Step-Audio 2", '<tool_call>function\nsearch\n{"input":"x"}</tool_call>'],
  ["Apertus", '<|tools_prefix|>[{"search":{"input":"x"}}]<|tools_suffix|>'],
  ["Step3", '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search">'],
  ["Step3, no tokens", '<steptml:invoke name="search"><steptml:parameter name="input">x'],
  ["FunctionGemma", "<start_function_call>call:search{input:<escape>x<escape>}<end_function_call>"],
  ["Gemma 4", '<|tool_call>call:search{input:<|"|>x<|"|>}<tool_call|>'],
  ["gpt-oss", '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"input":"x"}<|call|>'],
  [
    "gpt-oss, the recipient first",
    '<|start|>assistant to=functions.search<|channel|>commentary<|message|>{"input":"x"}'
  ],
  [
    "gpt-oss, behind analysis",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.search<|message|>{}<|call|>"
  ],
  [
    "gpt-oss, and an answer from nothing",
    "<|channel|>commentary to=functions.search<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>It is 42."
  ],
  ["gpt-oss, stripped", 'commentary to=functions.search json{"input":"x"}'],
  ["gpt-oss, stripped, behind analysis", 'analysisWe look.assistantcommentary to=functions.search json{"input":"x"}'],
  ["Functionary 3.1", '<function=search>{"input":"x"}</function>'],
  ["MiniCPM", '<function name="search"><param name="input">x</param></function>'],
  ["Inkling", 'search<|content_invoke_tool_json|>{"name":"search","args":{}}'],
  ["K2 Horizon", "<ifm|tool_calls><ifm|tool_call>search<ifm|arg_key>input</ifm|arg_key>"],
  ["Solar", "<|tool_call:start|>search<|tool_arg:start|>input<|tool_arg:value|>x"],
  ["PLaMo", "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>"],
  ["a generic grammar", '{"tool_calls":[{"name":"search","arguments":{}}]}'],
  ["an arrow", '[TOOL_CALL]{tool => "search", args => {--input "x"}}[/TOOL_CALL]'],
  ["a tag with the name", '<toolcall><search>{"input":"x"}</search></toolcall>'],
  ["a fence", "```tool_use\nsearch\n```"],
  ["a fence of calls", '```tool_call\n{"name":"search","arguments":{}}\n```'],
  ["behind prose", `I will look it up.\n\n<tool_call>\n${json}\n</tool_call>`],
  ["behind thinking", `<think>a</think>\n<tool_call>\n${json}\n</tool_call>`],
  ["in an answer's tag", `<think>a</think><response>${json}</response>`],
  ["with a token behind it", `<tool_call>${json}</tool_call><|im_end|>`]
]

/** Forms that are ordinary text as well: a call where they name a tool on offer. */
const named: ReadonlyArray<readonly [family: string, reply: string]> = [
  ["ToolACE", '[search(input="x")]'],
  ["ToolACE, several", '[search(input="x"), search(input="y")]'],
  ["ToolACE behind prose", 'Let me look.\n[search(input="x")]'],
  ["OLMo 3, bare", 'search(input="x")\nsearch(input="y")'],
  ["Granite, bare", 'I look it up.\nsearch(input="x")'],
  ["cut", 'search(input="x'],
  ["many lines", 'search(\n  input="x"\n)'],
  ["printed", "print(search(input='x'))"],
  ["Gemini", '```python\nprint(default_api.search(input="x"))\n```'],
  ["Llama's built-in", 'search.call(input="x")'],
  ["Functionary 3.2", '>>>search\n{"input": "x"}'],
  ["Functionary 3.2, on one line", '>>>search{"input": "x"}'],
  ["braces", 'search{"input":"x"}'],
  ["braces behind prose", 'First:\nsearch {"input": "x"}'],
  ["braces, cut", 'search{"input":"x'],
  ["Gemma 4, stripped", "call:search{input:x}"],
  ["Gemma 4, with a namespace", "I call:\ncall:tools:search{input:x}"],
  ["TOOL_NAME", 'TOOL_NAME: search\n{"input":"x"}'],
  ["TOOL_NAME in bold", "**TOOL_NAME:** search"],
  ["an at sign", '@search(1): {"input":"x"}'],
  ["a colon", 'search: {"input": "x"}'],
  ["Apertus, stripped", '[{"search":{"input":"x"}}]'],
  ["Apertus, stripped, no list", '{"search":{"input":"x"}}'],
  ["a tool tag", "<tool>search\nx</tool>"],
  ["a tag with a name", '<tool name="search">{"input":"x"}</tool>'],
  ["a tag of an action", "<action>search</action>"],
  ["a tag that is the name", "<search><input>x</input></search>"],
  ["a label", 'Tool call: search({"input":"x"})'],
  ["a label and JSON", 'Calling tool: search\n{"input":"x"}'],
  ["a label and an input", "Tool: search\nInput x"],
  ["a name and JSON", 'search\n{"input":"x"}'],
  ["a recipient", 'to=search {"input":"x"}'],
  ["JSON with a tool", '{"tool":"search","query":"x"}'],
  ["JSON, cut", '{"name": "search", "arguments": {"input": "x'],
  ["JSON, cut in a key", 'I look.\n{"name": "search", "argum'],
  ["JSON of functions", 'Now {"name":"functions.search","arguments":{}}'],
  ["inside backticks", '`search(input="x")`'],
  ["in a fence", '```\nsearch(input="x")\n```'],
  ["in a fence behind prose", 'I look it up:\n```json\n{"name":"search","arguments":{"input":"x"}}\n```'],
  ["a tag in a fence", '```xml\n<tool_call>{"name":"search"}</tool_call>\n```']
]

describe("markup of calls", () => {
  it.each(markup)("%s is a call", (_, reply) => {
    expect(toolCallMarkup(reply)).toBe(true)
    expect(toolCallMarkup(reply, isTool)).toBe(true)
    expect(problem(reply)).toBe("tool_call_markup")
  })
  it.each(named)("%s is a call where the tool is on offer", (_, reply) => {
    expect(toolCallMarkup(reply, isTool)).toBe(true)
    expect(problem(reply)).toBe("tool_call_markup")
    expect(toolCallMarkup(reply.replaceAll("search", "dance"), isTool)).toBe(false)
  })
  it.each(markup)("%s inside thinking is not carried out, nor asked for again", (_, reply) => {
    if (/channel|analysis|think>|assistant/.test(reply)) return
    expect(toolCallMarkup(`<think>I could write\n${reply}\n</think>\nIt is 42.`, isTool)).toBe(false)
  })
  it.each([
    "Use `<tool_call>` tags around JSON.",
    "Hermes models write <tool_call> around their calls.",
    'The opener is "<tool_call>" there.',
    "Write `search[ARGS]{…}` for Mistral.",
    "Mistral's `[TOOL_CALLS]` marks a list.",
    'Docs:\n```xml\n<tool_call>{"name":"dance","arguments":{}}</tool_call>\n```',
    'Docs:\n```\n[TOOL_CALLS][{"name":"dance"}]\n```\nThat is all.',
    "Call `search(q)` twice.",
    "search (the web) is slow",
    "search(x) finds the page that you want.",
    "Search the archive for it.",
    "search: the act of looking",
    "Tool: search",
    "Function: to search",
    "<p>search</p>",
    "Go to=x",
    "[search](https://example.com) is a link",
    "```python\nimport search\nx = 1\nsearch(x)\nprint(x)\n```",
    '{"name":"Ann","arguments":"none"} is what she wrote',
    '{"dance":{"input":"x"}}',
    '{"search":"x","other":1}',
    "usage: tool [ARGS]",
    "cp [ARGS] {src} {dst}",
    "functools.reduce(f, xs)",
    "from functools import reduce",
    "The object tag takes <param> elements.",
    "a > b, c >>> d",
    ">>> dance(1)\n2",
    "Ask me: call Bob, {or} Ann",
    "@ann (see above): yes",
    "1 < 2 | 3 > 2",
    "if (search) { return }",
    "It is 42.<|im_end|>"
  ])("%j is an answer", (reply) => {
    expect(toolCallMarkup(reply, isTool)).toBe(false)
    expect(problem(reply)).toBe("Answer")
  })
})

describe("laws of markup", () => {
  const piece = fc.constantFrom(
    ...markup.map(([, reply]) => reply),
    ...named.map(([, reply]) => reply),
    "`",
    "```\n",
    "\n",
    " ",
    '"',
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "search",
    "search(",
    "search{",
    "<think>",
    "</think>",
    "Final Answer: ",
    "Action: ",
    "> ",
    "a"
  )
  const mixed = fc.array(piece, { maxLength: 10 }).map((parts) => parts.join(""))
  it("any text is read, and an answer holds no call", () => {
    fc.assert(
      fc.property(mixed, (reply) => {
        const turn = readTurn(reply, isTool)
        if (Either.isRight(turn) && turn.right._tag === "Answer") {
          expect(toolCallMarkup(turn.right.text)).toBe(false)
        }
      }),
      { numRuns }
    )
  })
  it("a call behind words is a call, and so is its start", () => {
    const words = fc.stringMatching(/^[A-Za-z ,.]{0,40}$/)
    fc.assert(
      fc.property(
        words,
        fc.constantFrom(
          ...markup.map(([, reply]) => reply).filter((reply) => /^<(?:tool|func|TOOL|\|tool)/.test(reply))
        ),
        fc.nat(),
        (before, call, length) => {
          const end = call.indexOf(">") + 1
          expect(
            toolCallMarkup(`${before}\n\n${call.slice(0, Math.max(end, length % (call.length + 1)))}`, isTool)
          ).toBe(true)
        }
      ),
      { numRuns }
    )
  })
})
