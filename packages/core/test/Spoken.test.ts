import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { thinkingTags, thinkingTokens } from "../src/internal/markers.js"
import * as NumberedList from "../src/reply/NumberedList.js"
import * as ReplyText from "../src/reply/ReplyText.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)
const { visible } = ReplyText

/** Openers and closers as their models write them. */
const pairs: ReadonlyArray<readonly [open: string, close: string]> = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<thoughts>", "</thoughts>"],
  ["<reasoning>", "</reasoning>"],
  ["<reflection>", "</reflection>"],
  ["<seed:think>", "</seed:think>"],
  ["<mm:think>", "</mm:think>"],
  ["<longcat_think>", "</longcat_think>"],
  ["<think:opensource>", "</think:opensource>"],
  ["<think:6124c78e>", "</think:6124c78e>"],
  ["<ifm|think>", "</ifm|think>"],
  ["<ifm|think_fast>", "</ifm|think>"],
  ["<REASONING_SCRATCHPAD>", "</REASONING_SCRATCHPAD>"],
  ["<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"],
  ["<|think:start|>", "<|think:end|>"],
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|inner_prefix|>", "<|inner_suffix|>"],
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<unused94>thought\n", "<unused95>"],
  ["<|channel>thought\n", "<channel|>"],
  ["[unused16]", "[unused17]"],
  ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
  ["<|open|> think <|sep|>", "<|close|> think <|sep|>"],
  ['<think foo="x">', "</think>"],
  ["<think\nfoo='x' bar=1>", "</think >"],
  ["<think >", "</ think>"],
  ["< think>", "< / think >"],
  ["<\u00a0think>", "</think>"],
  ["<think>", "<\\think>"],
  ["<Think>", "</THINK>"],
  ["<think>", "</thinking>"],
  ["[Think]", "[/think]"],
  ...thinkingTags.flatMap(({ names }) => names.map((name) => [`<${name}>`, `</${name}>`] as const)),
  ...thinkingTokens.flatMap(({ close, closeInside = [], open }) =>
    closeInside.length > 0 ? [] : open.flatMap((opener) => close.slice(0, 1).map((closer) => [opener, closer] as const))
  )
]
const thought = "I could do\n1. Drop the table\n2. Mail everyone\nAction: Write\nAction Input: wipe all\nbut no"

describe.each([...new Map(pairs.map((pair) => [pair.join(" "), pair])).values()])(
  "NW-01: thinking in %j … %j",
  (open, close) => {
    it.each<readonly [name: string, reply: string, said: string]>([
      ["closed", `${open}${thought}${close}\nIt is 42.`, "It is 42."],
      ["closed, glued", `${open}${thought}${close}It is 42.`, "It is 42."],
      ["closed, with blanks in front", `\n  ${open}\n${thought}\n${close}\n\nIt is 42.`, "It is 42."],
      ["unopened", `${thought}${close}\n\nIt is 42.`, "It is 42."],
      ["unopened, closer on its own line", `${thought}\n${close}\nIt is 42.`, "It is 42."],
      ["the closer first", `${close}\n\nIt is 42.`, "It is 42."],
      ["unclosed", `${open}\n${thought}`, ""],
      ["empty", `${open}${close}It is 42.`, "It is 42."],
      ["empty, twice", `${open}\n\n${close}\n\n${open}${close}\nIt is 42.`, "It is 42."],
      ["two closers", `${open}a${close}\n${close}\nIt is 42.`, "It is 42."],
      ["nested", `${open}a\n${open}b${close}\nc${close}\nIt is 42.`, "It is 42."],
      ["several blocks", `${open}a${close}It is\n${open}b${close}\n42.`, "It is\n\n42."],
      ["behind the answer", `It is 42.\n${open}${thought}${close}`, "It is 42."],
      ["unclosed behind the answer", `It is 42.\n${open}${thought}`, "It is 42."],
      ["with a foreign closer inside", `${open}a</other>b${close}It is 42.`, "It is 42."],
      ["with code inside", `${open}\n\`\`\`js\nx\n${close}\nIt is \`42\`.`, "It is `42`."],
      ["with JSON inside", `${open}{"a":"b${close}{"a":"42"}`, '{"a":"42"}'],
      ["in inline code", `Use \`${open.trim()}\` here.`, `Use \`${open.trim()}\` here.`],
      ["as a closer in inline code", `Use \`${close}\` here.`, `Use \`${close}\` here.`]
    ])("%s", (_, reply, said) => {
      if (/\n/.test(open.trim()) && reply.includes(`\`${open.trim()}`)) return
      expect(visible(reply)).toBe(said)
    })
  }
)

describe("thinking", () => {
  it.each<readonly [name: string, reply: string, said: string]>([
    ["only the own closer ends a block", "<think>a</thought>b</think>c", "c"],
    ["a foreign closer only", "<think>a</thought>b", ""],
    ["a closer of a word", "<reasoning>a</think>b</reasoning>c", "c"],
    ["Seed's budget inside", "<seed:think>a<seed:cot_budget_reflect>b</seed:cot_budget_reflect>c</seed:think>d", "d"],
    ["a cut closer", "<think>a</think", ""],
    ["an opener cut", "a\n<think", "a"],
    ["Cohere's response", "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b"],
    ["Cohere's text", "a<|END_THINKING|><|START_TEXT|>b<|END_TEXT|><|END_OF_TURN_TOKEN|>", "b"],
    [
      "Kimi K3",
      "<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>b<|close|>response<|sep|><|close|>message<|sep|>",
      "b"
    ],
    ["Kimi K3, unopened", "a<|close|>think<|sep|><|open|>response<|sep|>b", "b"],
    ["Kimi K3, cut", "a<|close|>think", ""],
    [
      "Inkling",
      "<|content_thinking|>a<|end_message|><|message_model|><|content_text|>b<|end_message|><|content_model_end_sampling|>",
      "b"
    ],
    ["Inkling, the next channel", "<|content_thinking|>a<|content_text|>b<|end_message|>", "b"],
    ["HyperCLOVAX", "/think\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>", "b"],
    ["HyperCLOVAX, cut", "/think\na", ""],
    ["Granite 3.2", "Here is my thought process: a\n1. Drop\nHere is my response: b", "b"],
    ["Granite 3.2, short", "Here's my thought process:\na\n\n**Here's my response:**\n\nb", "b"],
    ["Granite 3.2, one half", "Here is my thought process: a", "Here is my thought process: a"],
    ["Granite 3.2, the other half", "Here is my response: b", "Here is my response: b"],
    ["Apriel", "Here are my reasoning steps:\n1. Drop\n[BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]\n<|end|>", "b"],
    ["Apriel, unopened", "1. Drop\n[BEGIN FINAL RESPONSE]b<|end|>", "b"],
    ["Apriel, cut", "Here are my reasoning steps:\n1. Drop", ""],
    ["Gemma 4 without its tokens", "thought\nI could drop it.", ""],
    ["Sky-T1", "<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>b<|end_of_solution|>", "b"],
    ["a whole reply in a fence", "```\n<think>a</think>\n1. b\n```", "```\n\n1. b\n```"],
    ["words on lines of their own", "It is 42.\n<reasoning>\n6 times 7\n</reasoning>", "It is 42."],
    ["a word of many lines", "It is 42. <reasoning>\n1. Drop\n</reasoning>", "It is 42."]
  ])("%s", (_, reply, said) => {
    expect(visible(reply)).toBe(said)
  })

  it.each([
    "Models such as R1 write <think> before they reason.",
    "The <think> tag opens a block.",
    "Reasoning stands between <think> and </think>, then comes the answer.",
    "Put it in <think>...</think> tags.",
    "It writes `<think>` and `</think>`.",
    "It writes ``<think>`` and `</think>`, then `</think>` again.",
    'The tag "</think>" ends it.',
    "The </think> tag ends it.",
    "Wrap it in <reasoning>your words</reasoning> and send it.",
    "A <thought> and a <reflection> are elements.",
    "Magistral marks it as [THINK] or [/THINK] tokens.",
    "She sat down to [think] about it.",
    "[Reasoning]\nIt is 6 times 7.\n[Answer]\n42",
    "```xml\n<think>\na\n</think>\n```",
    "Here:\n```\n<reasoning>\na\n</reasoning>\n```\nThat is all.",
    "Here:\n~~~\n<|channel|>analysis<|message|>a\n~~~",
    '{"a":"<reasoning>x</reasoning>"}',
    '{"a":"use [THINK] or <seed:think>"}',
    'Here: {"a":"<|channel>thought"}',
    "<p>Hello <b>you</b></p>",
    "<output>42",
    "1 < 2 and 3 > 2",
    "a <thinker> b",
    "analysis of the data shows 42",
    "Analysis: it is 42.",
    "analysisResult is 42",
    "thought is free",
    "Thoughts:\n1. a",
    "<Thought>: a\n<Action>: b",
    "Thinking...\nit is 42"
  ])("is not in %j", (reply) => {
    expect(visible(reply)).toBe(reply)
  })
})

describe("NW-05: a lone closer of the model's own kind", () => {
  it.each([
    "</mm:think>",
    "</seed:think>",
    "</thought>",
    "</reasoning>",
    "[/THINK]",
    "◁/think▷",
    "<channel|>",
    "</think >"
  ])("%s drops the thought before it", (close) => {
    expect(visible(`maybe 7${close}\n\nIt is 42.`)).toBe("It is 42.")
    expect(visible(`maybe 7\n${close}It is 42.`)).toBe("It is 42.")
  })
})

describe("NW-02: harmony channels", () => {
  const analysis = "<|channel|>analysis<|message|>Options:\n1. Drop the table\n2. Mail everyone\nBetter not."
  it.each<readonly [name: string, reply: string, said: string]>([
    ["analysis only", analysis, ""],
    ["analysis only, ended", `${analysis}<|end|>`, ""],
    ["with a start", `<|start|>assistant${analysis}<|end|>`, ""],
    ["commentary only", "<|channel|>commentary<|message|>I look it up.<|end|>", ""],
    [
      "a final channel",
      `${analysis}<|end|><|start|>assistant<|channel|>final<|message|>It is 42.<|return|>`,
      "It is 42."
    ],
    [
      "a final channel, not ended",
      `${analysis}<|end|><|start|>assistant<|channel|>final<|message|>It is 42.`,
      "It is 42."
    ],
    ["no start in between", `${analysis}<|channel|>final<|message|>It is 42.`, "It is 42."],
    ["final only", "<|channel|>final<|message|>It is 42.", "It is 42."],
    ["final of JSON", '<|channel|>final <|constrain|>json<|message|>{"a":1}<|return|>', '{"a":1}'],
    ["the opener in the prompt", "Drop it?<|end|><|start|>assistant<|channel|>final<|message|>It is 42.", "It is 42."],
    ["the role only", "assistant<|channel|>final<|message|>It is 42.<|end|>", "It is 42."],
    [
      "commentary in between",
      `${analysis}<|end|><|start|>assistant<|channel|>commentary<|message|>Now.<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>`,
      "42"
    ],
    [
      "a malformed header",
      `<|channel|>commentary?<|message|>Drop.<|end|><|start|>assistant<|channel|>final<|message|>42`,
      "42"
    ],
    ["free text in a header", `<|channel|>We drop it ??<|end|><|start|>assistant${analysis}<|end|>`, ""],
    ["an empty header", "<|channel|><|message|>Drop.", ""],
    ["a header said twice", "<|channel|>commentary to=assistant<|channel|>commentary?Drop", ""],
    ["a start said twice", "<|start|><|start|>assistant<|channel|>analysis<|message|>Drop", ""],
    ["no message token", `${analysis}<|end|><|start|>assistant<|channel|>final It is 42.<|return|>`, "It is 42."],
    ["a channel without anything", "<|channel|>analysis", ""],
    ["final that calls", "<|channel|>final to=functions.search<|message|>{}", ""],
    ["a block of thinking in final", "<|channel|>final<|message|><think>Drop</think>42", "42"],
    ["stripped tokens", "analysisWe could drop it.assistantfinalIt is 42.", "It is 42."],
    [
      "stripped tokens, a word before",
      "analysisWe could drop itassistantfinal1. Fetch\n2. Count",
      "1. Fetch\n2. Count"
    ],
    ["stripped tokens, commentary", "analysisHm.assistantcommentaryI look.assistantfinal42", "42"],
    ["stripped tokens, unopened", "We could drop it.assistantfinal42", "42"],
    ["stripped tokens, no final", "analysisWe could\n1. Drop it", ""],
    ["stripped tokens, final only", "assistantfinal42", "42"],
    ["no channel", "<|start|>assistant<|message|>It is 42.<|end|>", "It is 42."]
  ])("%s", (_, reply, said) => {
    expect(visible(reply)).toBe(said)
  })
  it("runs no step of a thought", () => {
    expect(visible(analysis)).toBe("")
    expect(NumberedList.read(analysis)).toMatchObject({ _tag: "Left", left: { problem: "empty_reply" } })
  })
  it("is text in code and in quotes", () => {
    for (const reply of [
      "Write `<|channel|>analysis<|message|>` first.",
      'The header is "<|channel|>final<|message|>" there.',
      "The string `assistantfinal` is left.",
      "Action: list_orders<|channel|>commentary\nAction Input: {}"
    ]) {
      expect(visible(reply)).toBe(reply)
    }
  })
})

describe("answers in tags", () => {
  it.each<readonly [reply: string, said: string]>([
    ["<think>a</think><answer>42</answer>", "42"],
    ["<think>\na\n</think>\n<answer>\n42\n</answer>", "42"],
    ["a</think>\n\n<response>42</response>", "42"],
    ["<thinking>a<reflection>b</reflection></thinking>\n<output>\n42\n</output>", "42"],
    ["<think>a</think><answer>42", "42"],
    ["<think>a</think><answer>42</answer><|im_end|>", "42"],
    ["<answer>42</answer>", "42"],
    ["42\n</answer>", "42"],
    ["<think>a</think><answer>助手：42</answer>", "42"],
    ["<response>\n1. a\n2. b\n</response></s>", "1. a\n2. b"],
    ["<answer>42</answer> or <answer>43</answer>", "<answer>42</answer> or <answer>43</answer>"],
    ["The form is <answer>42</answer>.", "The form is <answer>42</answer>."],
    ["Use <output>x</output>", "Use <output>x</output>"],
    ["<|begin_of_box|>42<|end_of_box|>", "42"],
    ["The answer is <|begin_of_box|>42<|end_of_box|>.", "The answer is 42."],
    ["<think>a</think>It is <|begin_of_box|>B<|end_of_box|>", "It is B"],
    ["GLM writes `<|begin_of_box|>` there.", "GLM writes `<|begin_of_box|>` there."]
  ])("%j says %j", (reply, said) => {
    expect(visible(reply)).toBe(said)
  })
})

const ends = [
  "<|im_end|>",
  "<|endoftext|>",
  "</s>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|end_of_text|>",
  "<|eot|>",
  "<end_of_turn>",
  "<eos>",
  "<turn|>",
  "<|end|>",
  "<|return|>",
  "<｜end▁of▁sentence｜>",
  "<|EOT|>",
  "<EOT>",
  "_<EOT>",
  "[EOT]",
  "[EOS]",
  "<eop>",
  "<|END_OF_TURN_TOKEN|>",
  "<|END_RESPONSE|>",
  "[|endofturn|]",
  "<|endofturn|>",
  "<|message_sep|>",
  "<|role_sep|>",
  "<|end_of_turn|>",
  "<|turn_end|>",
  "<end_of_utterance>",
  "<|plamo:tag|>",
  "<|ifm|im_end|>",
  "<|user|>",
  "<|observation|>",
  "<|assistant|>",
  "<｜User｜>",
  "<｜Assistant｜>",
  "<role>HUMAN</role>",
  "[INST]",
  "[/INST]",
  "<<SYS>>",
  "<|im_start|>",
  "<|im_middle|>",
  "<|im_user|>",
  "<|im_assistant|>",
  "<|im_sep|>",
  "<start_of_turn>",
  "<unused7>",
  "<|fim_middle|>",
  "<|fim_pad|>",
  "<|file_sep|>",
  "<|repo_name|>",
  "<|reserved_special_token_4|>",
  "<end_plan>",
  "<end_code>",
  "</code>",
  "[[ ## completed ## ]]",
  "<|im_end|>\n<|im_start|>assistant",
  "<|im_end|>\n<|im_start|>assistant\n",
  "<|im_end|>\nassistant",
  "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  "<end_of_turn>\n<start_of_turn>model",
  "<turn|>\n<|turn>model",
  "<|end|><|start|>assistant",
  "<|im_end|><|im_end|><|im_end|>",
  "<|im_end|>\n<|endoftext|>",
  "</s></s> </s>",
  "<|EOT|>\n<|EOT|>\n<|EOT|>",
  "<|IM_END|>",
  "<|im_en",
  "<|im_end|",
  "<|im_end",
  "<|eot_i",
  "<endoftext|",
  "<end_of_tur",
  "<｜end▁of▁sen",
  "</s"
]

describe.each(ends)("NW-06: %j at the end", (end) => {
  it("is taken off plans, answers and JSON", () => {
    expect(visible(`1. Fetch\n2. Count the rows${end}`)).toBe("1. Fetch\n2. Count the rows")
    expect(visible(`It is 42.${end}`)).toBe("It is 42.")
    expect(visible(`It is 42.\n${end}\n`)).toBe("It is 42.")
    expect(visible(`{"a":"b"}${end}`)).toBe('{"a":"b"}')
    expect(visible(`\`\`\`json\n{"a":"b"}\n\`\`\`${end}`)).toBe('```json\n{"a":"b"}\n```')
    expect(visible(`<think>a</think>It is 42.${end}`)).toBe("It is 42.")
    expect(visible(`It is \`42\`${end}`)).toBe("It is `42`")
  })
  it("says nothing when it is alone", () => {
    expect(visible(end)).toBe("")
  })
})

describe("NW-06: marks of turns", () => {
  it.each<readonly [name: string, reply: string, said: string]>([
    ["in a closing fence", '```json\n{"a":"b"}<|im_end|>\n```', '```json\n{"a":"b"}\n```'],
    ["on a line of a fence", '```json\n{"a":"b"}\n<|im_end|>\n```', '```json\n{"a":"b"}\n\n```'],
    ["in the tail of JSON", '{"a":"42<|im_end|>"}', '{"a":"42"}'],
    ["in the tail of JSON, twice", '{"a":["b","42</s></s>"]}', '{"a":["b","42"]}'],
    ["between JSON and its end", '{"a":1<|im_end|>}', '{"a":1}'],
    ["TERMINATE", "It is 42. TERMINATE", "It is 42."],
    ["TERMINATE on a line", "It is 42\nTERMINATE", "It is 42"],
    ["a leading role", "<|im_start|>assistant\nIt is 42.", "It is 42."],
    ["a leading header", "<|start_header_id|>assistant<|end_header_id|>\n\nIt is 42.", "It is 42."],
    ["a leading role of Gemma", "<start_of_turn>model\nIt is 42.<end_of_turn>", "It is 42."],
    ["a leading role of Kimi", "<|im_assistant|>assistant<|im_middle|>It is 42.<|im_end|>", "It is 42."],
    ["a leading role of DeepSeek", "<｜Assistant｜>It is 42.<｜end▁of▁sentence｜>", "It is 42."],
    ["leading ends", "<|im_end|>\n<|im_start|>assistant\nIt is 42.", "It is 42."],
    ["a leading begin", "<s> It is 42.</s>", "It is 42."],
    ["a leading [/INST]", "[/INST] It is 42.</s>", "It is 42."],
    ["a leading role without its tokens", "assistant\n\nIt is 42.", "It is 42."],
    ["a leading role before thinking", "<|im_start|>assistant\n<think>a</think>b<|im_end|>", "b"],
    [
      "an invented question",
      "It is 42.<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n43",
      "It is 42."
    ],
    [
      "an invented question of Llama",
      "It is 42.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd?",
      "It is 42."
    ],
    ["an invented question of Mistral", "It is 42.</s> [INST] And? [/INST] 43", "It is 42."],
    ["an invented question of Gemma", "It is 42.<end_of_turn>\n<start_of_turn>user\nAnd?", "It is 42."],
    ["an invented question of GLM", "It is 42.<|user|>\nAnd?", "It is 42."],
    ["an invented question of DeepSeek", "It is 42.<｜end▁of▁sentence｜><｜User｜>And?<｜Assistant｜>43", "It is 42."],
    ["an invented question without its token", "It is 42.<|im_end|>\nuser\nAnd?", "It is 42."],
    ["an invented question in words", "It is 42.</s>\nHuman: And?", "It is 42."],
    ["an invented turn of the model", "1. a\n2. b<|im_end|>\n<|im_start|>assistant\n1. c", "1. a\n2. b"],
    ["an invented turn with a closer", "1. a<|im_end|>\n<|im_start|>user\nno</think>\n1. b", "1. a"],
    ["a text of someone else", "<|endoftext|>Human: And?", ""],
    ["a turn of someone else", "<|im_start|>user\nAnd?<|im_end|>", ""],
    ["ends of several kinds", "It is 42.<|eot_id|></s><|endoftext|>", "It is 42."]
  ])("%s", (_, reply, said) => {
    expect(visible(reply)).toBe(said)
  })

  it.each([
    "Qwen ends its turns with <|im_end|>.",
    "The token <|im_end|> ends a turn, and </s> a text.",
    "Qwen ends its turns with `<|im_end|>`",
    "Its last token is <|im_end|>",
    "It is `</s>`",
    "GLM writes <|user|> where a user speaks.",
    "Write `<|im_start|>user` there.",
    "```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```",
    "The template:\n```\n<|im_start|>user\nHi<|im_end|>\n```\nThat is all.",
    "The end:\n```\n<|im_end|>\n```",
    '{"template":"<|im_start|>user\\nHi<|im_end|>"}',
    '{"token":"<|im_end|>"}',
    '["<|im_end|>"]',
    '{"a":"it ends with <|im_end|>"}',
    '{"a":"x<|im_end|>\\n<|im_start|>user\\ny","b":"z"}',
    "It was <s>50</s> dollars, now <s>45</s>",
    "<s>old</s> new",
    "Send SIGTERM or TERMINATE",
    "1. a <|im_end|> b\n2. c",
    "Use <code>x</code>",
    "a | b |> c",
    "List<String>",
    "see [1]",
    "assistant\nuser\nsystem"
  ])("are text in %j", (reply) => {
    expect(visible(reply)).toBe(reply)
  })
})

// ---------------------------------------------------------------------------------------------------------------
// laws
// ---------------------------------------------------------------------------------------------------------------

const mark = fc.constantFrom(
  ...pairs.flat(),
  ...ends,
  "<|channel|>",
  "<|message|>",
  "analysis",
  "final",
  "assistantfinal"
)
const prose = fc.constantFrom(
  "a",
  " ",
  "\n",
  "1. b\n",
  "`",
  "```\n",
  '"',
  "'",
  "{",
  "}",
  '{"a":"',
  '"}',
  "[",
  "]",
  "<",
  "|",
  ">",
  "Here is my response:"
)
const mixed = fc.array(fc.oneof(mark, prose), { maxLength: 24 }).map((parts) => parts.join(""))

/** Whether the characters of `part` stand in `whole`, in their order. */
const isWithin = (part: string, whole: string): boolean => {
  let at = 0
  for (const character of part) {
    at = whole.indexOf(character, at)
    if (at === -1) return false
    at += character.length
  }
  return true
}

describe("laws of what is said", () => {
  it("any text is read, and nothing is said that does not stand in it", () => {
    fc.assert(
      fc.property(mixed, (reply) => {
        const said = visible(reply)
        expect(isWithin(said, reply.toWellFormed())).toBe(true)
        expect(said).toBe(said.trim())
      }),
      { numRuns }
    )
  })
  it("a block at the start is never said, whatever follows", () => {
    fc.assert(
      fc.property(fc.constantFrom(...pairs), mixed, ([open, close], rest) => {
        expect(visible(`${open}SECRET${close}${rest}`)).not.toContain("SECRET")
      }),
      { numRuns }
    )
  })
  it("what stands before a lone closer is not said, and what is behind is", () => {
    const plain = fc.stringMatching(/^[a-z0-9.,: \n]{0,40}$/)
    fc.assert(
      fc.property(fc.constantFrom(...pairs), plain, plain, ([, close], before, behind) => {
        expect(visible(`SECRET ${before}\n${close}${behind}`)).toBe(visible(behind))
      }),
      { numRuns }
    )
  })
  it("text without marks is said as it is, and saying it again changes nothing", () => {
    const plain = fc
      .array(fc.constantFrom("a", "b. ", "\n", "1. ", "- ", '"', "{", "}", "(", ")", "=", "é", "🚀"))
      .map((parts) => parts.join("").trim())
    fc.assert(
      fc.property(plain, fc.constantFrom(...ends), (text, end) => {
        fc.pre(text !== "")
        expect(visible(text)).toBe(text)
        const said = visible(`${text}.${end}`)
        expect(said).toBe(`${text}.`)
        expect(visible(said)).toBe(said)
      }),
      { numRuns }
    )
  })
})
