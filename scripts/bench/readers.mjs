/**
 * Speed of every reader of model text: MB a second on well-formed replies, and the time on hostile text at 1 MB and at
 * 2 MB, where a linear reader at most doubles. Reads the built packages (`pnpm build` first).
 *
 *   node scripts/bench/readers.mjs [--only <reader>] [--quick] [--json]
 *
 * Fails where 1 MB takes 100 ms or more, or doubling takes more than 2.2 times (looked at again before it counts). To
 * add a reader, add a line to `readers`; to add a shape, a line to `shapes`.
 */
import * as Either from "effect/Either"
import { table } from "./measure.mjs"

const dist = (path) => import(new URL(`../../packages/${path}`, import.meta.url).href)

const ReplyText = await dist("core/dist/reply/ReplyText.js")
const JsonReply = await dist("core/dist/reply/JsonReply.js")
const NumberedList = await dist("core/dist/reply/NumberedList.js")
const Verdict = await dist("core/dist/reply/Verdict.js")
const AnswerFormat = await dist("core/dist/reply/AnswerFormat.js")
const planAndExecute = await dist("patterns/dist/internal/planAndExecute/parse.js")
const adapt = await dist("patterns/dist/internal/adapt/parse.js")
const router = await dist("patterns/dist/internal/router/parse.js")
const rewoo = await dist("patterns/dist/internal/rewoo/parse.js")
const { validate } = await dist("patterns/dist/internal/rewoo/validate.js")
const react = await dist("patterns/dist/internal/react/parse.js")
const evidence = await dist("patterns/dist/internal/rewoo/evidence.js")
const Tool = await dist("core/dist/Tool.js")
const dataFlow = await dist("patterns/dist/internal/planAndSolveAgent/dataFlow.js")

const option = AnswerFormat.option(["A", "B", "C", "D"])
const optionText = AnswerFormat.option({ A: "11", B: "110", C: "a large dog", D: "none of these" })
const isTool = (name) => name === "Search"
const checked = (text) =>
  validate(rewoo.readPlan(text), {
    maxPlanLength: 1_000_000,
    availableTools: ["Search"],
    resolveTool: (name) => (name === "Search" ? Either.right(name) : Either.left({ candidates: [] }))
  })

const textTool = Tool.make({ name: "text", description: "", execute: () => "" })
const listTool = Tool.fromJsonSchema({
  name: "list",
  description: "",
  parameters: {
    type: "object",
    properties: { a: { type: "array", items: { anyOf: [{ type: "number" }, { $ref: "#/properties/a" }] } } }
  },
  execute: () => ""
})
const spelled = AnswerFormat.numberWith({ suffixes: true, decimal: "," })

export const readers = {
  visible: ReplyText.visible,
  unfence: ReplyText.unfence,
  cut: (text) => ReplyText.cut(text, 10_000),
  fence: (text) => ReplyText.fence("text", text),
  JsonReply: (text) => JsonReply.read(text, { keys: ["final_answer", "remaining_steps"], expected: "JSON" }),
  NumberedList: NumberedList.read,
  Verdict: Verdict.read,
  "AnswerFormat.number": AnswerFormat.number.read,
  "AnswerFormat.number, comma": spelled.read,
  "AnswerFormat.date": AnswerFormat.date.read,
  "AnswerFormat.option": option.read,
  "AnswerFormat.option, texts": optionText.read,
  readDecision: (text) => planAndExecute.readDecision(text, 0),
  readDecomposition: (text) => adapt.readDecomposition(text, 0),
  readRoute: (text) => router.readRoute(text, ["ReAct", "Rewoo"]),
  "ReWOO readPlan": rewoo.readPlan,
  "ReWOO readPlan, validate": checked,
  "ReAct readTurn": react.readTurn,
  "ReAct readTurn, tools": (text) => react.readTurn(text, isTool),
  toolCallMarkup: (text) => react.toolCallMarkup(text, isTool),
  "arguments of text": (text) => Tool.fromArguments(textTool, text),
  "arguments of an object": (text) => listTool.prepare(text),
  "evidence in JSON": (text) =>
    evidence.resolve(
      { input: `{"a": ${text}`, pieces: [`{"a": ["`, { variable: "#E1" }, `", ${text}`, { variable: "#E1" }] },
      listTool,
      new Map([["#E1", "8"]]),
      50_000
    ),
  readDeclared: (text) => dataFlow.readDeclared(text, []),
  readCollected: (text) => dataFlow.readCollected(text, ["x"])
}

const lines = (count, line) => Array.from({ length: count }, (_, i) => line(i + 1)).join("\n")
const sentence = "look up the population of the city in the latest census and note the year"
/** What a model writes when all goes well: a short reply, and a long one. One reader each, by its own format. */
const wellFormed = (size) => {
  const plan = lines(size, (n) => `${n}. Step ${n}: ${sentence}.`)
  const steps = JSON.stringify({ remaining_steps: Array.from({ length: size }, (_, n) => `${sentence} (${n + 1})`) })
  const said = lines(size, () => `I ${sentence}.`)
  const calls = lines(
    size,
    (n) => `Plan: ${sentence}.\n#E${n} = Search[${n === 1 ? sentence : `#E${n - 1} ${sentence}`}]`
  )
  return {
    visible: plan,
    unfence: `\`\`\`\n${plan}\n\`\`\``,
    JsonReply: steps,
    NumberedList: plan,
    Verdict: `${said}\nSUCCESS: it is done`,
    "AnswerFormat.number": `${said}\nFinal Answer: 42`,
    "AnswerFormat.date": `${said}\nFinal Answer: 2024-07-04`,
    "AnswerFormat.option": `${said}\nFinal Answer: (B)`,
    readDecision: steps,
    readDecomposition: JSON.stringify({ logic: "and", sub_steps: Array.from({ length: size }, () => sentence) }),
    readRoute: JSON.stringify({ pattern: "ReAct", reason: said }),
    "ReWOO readPlan": calls,
    "ReWOO readPlan, validate": calls,
    "ReAct readTurn": `Thought: ${said}\nAction: Search\nAction Input: ${sentence}`,
    readDeclared: JSON.stringify({
      steps: Array.from({ length: size }, (_, n) => ({
        step: sentence,
        inputs: n === 0 ? [] : [{ step: n, output: "x" }],
        outputs: ["x"]
      }))
    })
  }
}

/** Repeats `unit` to about `size` characters, between `before` and `after`. */
const repeated =
  (unit, before = "", after = "") =>
  (size) =>
    before + unit.repeat(Math.floor((size - before.length - after.length) / unit.length)) + after

/** Marks of thinking, of turns, of answers and of calls, and what makes them text. */
const marks = [
  "<think>",
  "</think>",
  "<think>a</think>",
  "<think>a</think>`b`\n```\n",
  "`<think>` ",
  "a <think> b ",
  "a\n<reasoning>\n",
  "</reasoning>",
  "[THINK]",
  "[/THINK]",
  "◁think▷",
  "<|START_THINKING|>",
  "<|channel>",
  "<channel|>",
  "<unused94>",
  "<|open|>think<|sep|>",
  "<|content_thinking|>",
  "<|end_message|>",
  "<|channel|>",
  "<|channel|>analysis<|message|>",
  "<|channel|>final<|message|>a",
  "<|start|>assistant",
  "assistantfinal",
  "analysis",
  "Here is my response:",
  "<answer>",
  "<answer>a</answer>",
  "<|begin_of_box|>",
  "<|im_end|>",
  "<|im_end|> ",
  "<|im_end|>\n<|im_start|>assistant\n",
  "<|im_start|>user\n",
  "</s>",
  "<s>",
  "<s></s>",
  "<<SYS>>",
  "[EOS]",
  "<|user|>",
  "<role>HUMAN</role>",
  "<|x|>",
  "TERMINATE\n",
  "<|im_en",
  "<|",
  "<think a=",
  "`",
  "`` ` ",
  "```\n",
  "~~~\n",
  "````\n```\n",
  "``` a\n",
  "a <tool_call> b ",
  "`<tool_call>` ",
  "<tool_call ",
  "<｜DSML｜",
  "[TOOL_CALLS",
  "x[ARGS]",
  "functions.search:0",
  "call:search{",
  "call:Search ",
  "```tool_code\n",
  "Search(\n",
  "Search(a\n",
  "Search{\n",
  "[Search(\n",
  ">>>Search\n",
  "@Search(1)\n",
  "search(a)\n",
  "tools.fetch.page(\n",
  '{"name":"Search","arguments":',
  "> Final Answer: 4\n",
  "Final Answer: 4 Final Answer: ",
  "Action: Search[a]\nFinal Answer: 4\n",
  "Final Answer: 4\nAction: x\n",
  "Finish[\n",
  "Finish[a]\n"
]

export const shapes = {
  "open braces": repeated("{"),
  "open brackets": repeated("["),
  "open arrays of objects": repeated("[{"),
  "open parentheses": repeated("("),
  "deep JSON": repeated('{"a":'),
  "deep JSON, balanced": (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
  "deep answer": repeated("[", '{"final_answer":'),
  "closing brackets of one kind": repeated("]", '{"a":'.repeat(150)),
  quotes: repeated('"'),
  "quotes in an answer": repeated('"', '{"final_answer":"', '"}'),
  "nested quotes": repeated("\"'", '{"final_answer":"', '"}'),
  "quotes with spaces": repeated('" ', '{"final_answer":"', '"}'),
  "single-quoted steps": repeated("'a',", '{"remaining_steps":[', "]}"),
  "many objects": repeated('{"final_answer":"x"}\n'),
  "many broken objects": repeated('{"final_answer":x}\n'),
  "many steps": repeated('"a",', '{"remaining_steps":[', '"a"]}'),
  "many keys": repeated('"final_answer":1,', "{", '"final_answer":1}'),
  "open comments": repeated("/*", '{"final_answer":'),
  backslashes: repeated("\\"),
  "backslashes in an answer": repeated("\\", '{"final_answer":"', '"}'),
  "a letter": repeated("a"),
  "spaces after Plan:": repeated(" ", "Plan:"),
  "spaces in an introduction": repeated(" ", "plan", "x:\n- a"),
  "words of an introduction": repeated("day ", "", "x:\n1. a\n\nday:\n1. b"),
  "spaces in a label": repeated(" ", "1", ". a"),
  "spaces in an item": repeated(" ", "1. a", "b"),
  "blank lines": repeated("\n"),
  "numbers without end": repeated("1", "1. "),
  "ten thousand items": (size) => `1. ${"a".repeat(Math.max(1, Math.floor(size / 10_000) - 5))}\n`.repeat(10_000),
  "short items": repeated("1. a\n"),
  "empty items": repeated("1.\n"),
  "repeated labels on a line": repeated("1. "),
  "repeated Step on a line": repeated("Step 1: "),
  "repeated Plan: on a line": repeated("Plan: "),
  "paragraphs between items": repeated("1. a\n\nb\n\n"),
  "continuation lines": repeated("  b\n", "1. a\n"),
  "introductions between items": repeated("1. a\nb:\n"),
  "Chinese labels": repeated("一、"),
  "emphasis marks": repeated("*"),
  "emphasized labels": repeated("**1."),
  "quote marks": repeated("> "),
  bullets: repeated("- "),
  "heading marks": repeated("#"),
  fences: repeated("```\n"),
  "fences in items": repeated("1. a\n```\n"),
  verdicts: repeated("SUCCESS: <the result>\n"),
  "verdict words": repeated("SUCCESS"),
  "open verdicts": repeated("success:\n"),
  "both verdicts on a line": repeated("SUCCESS: FAILURE: \n"),
  "marks behind a verdict": repeated("*", "SUCCESS", "a"),
  "marks before a verdict": repeated("**", "", " SUCCESS: a"),
  "<think> without end": repeated("<think>"),
  "</think> alone": repeated("</think>"),
  "<think> unfinished": repeated("<think"),
  ...Object.fromEntries(marks.map((mark) => [`${JSON.stringify(mark)} again and again`, repeated(mark, "x ")])),
  ...Object.fromEntries(marks.map((mark) => [`${JSON.stringify(mark)} in JSON`, repeated(mark, '{"a":"', '"}')])),
  "angle brackets": repeated("<"),
  "zero-width spaces": repeated("\u200b"),
  "lone surrogates": repeated("\ud800"),
  "calls back to back": repeated("#E1=T[a]"),
  "calls on lines": repeated("#E1 = Search[a]\n"),
  "plans on lines": repeated("Plan: a\n#E1 = Search[#E1]\n"),
  "labels back to back": repeated("#E1="),
  "labels with a space": repeated("#E1 = "),
  "labels and colons": repeated("#E1:"),
  "labels on lines": repeated("#E1 =\n"),
  "open calls": repeated("#E1 = Search["),
  "open calls on lines": repeated("#E1 = Search[\n"),
  "references in one input": repeated("#E1 ", "#E1 = Search[", "]"),
  "hash marks and E": repeated("#E"),
  "hash marks and spaces": repeated("# "),
  "words before a bracket": repeated("a ", "#E1 = ", "["),
  "equals signs": repeated("="),
  "E1 without a mark": repeated("E1 = LLM["),
  "calls without a label": repeated("Search[a]\n"),
  "quotes in a call": repeated('["', "#E1 = Search["),
  "answer markers": repeated("answer is "),
  "answer lines": repeated("Answer: \n"),
  "Answer: on a line": repeated("Answer: "),
  "final answers": repeated("Final Answer: 4\n"),
  "open boxes": repeated("\\boxed{"),
  boxes: repeated("\\boxed{4}"),
  "hash marks of GSM8K": repeated("#### "),
  "options on a line": repeated("option A "),
  "letters on a line": repeated("A B "),
  "A: on a line": repeated("A: "),
  "bracketed letters": repeated("(A) "),
  "numbers on a line": repeated("4 "),
  "glued numbers": repeated("4a"),
  "one long number": repeated("4"),
  "groups of digits": repeated(",444", "4"),
  fractions: repeated("4/"),
  "minus signs": repeated("-"),
  "currency signs": repeated("$"),
  "dates on a line": repeated("2024-07-04 "),
  "days of July": repeated("July 4 "),
  months: repeated("may "),
  sentences: repeated("a. "),
  "not, but": repeated("not A but "),
  actions: repeated("Action: Search\nAction Input: a\n"),
  "actions on a line": repeated("Action: "),
  "action inputs on a line": repeated("Action Input: "),
  thoughts: repeated("Thought: a\n"),
  observations: repeated("Observation: a\n"),
  "open actions": repeated("Action: Search["),
  "tool call markup": repeated("<tool_call>"),
  "unknown outputs": (size) =>
    JSON.stringify({ steps: new Array(Math.floor(size / 55)).fill({ step: "a", inputs: [{ step: 1, output: "x" }] }) }),
  "objects with several texts": repeated('{"task":"a","action":"b"},', "[", "{}]"),
  "objects with asides": repeated('{"task":"a","status":"b"},', "[", '{"task":"a"}]'),
  "one line of steps": (size) => Array.from({ length: size / 12 }, (_, i) => `${i + 1}. Do it`).join(" "),
  "two steps on each line": repeated("1. Open 2. Count\n"),
  "one long line of a plan": repeated("2. Open it. ", "1. "),
  "weak labels on a line": repeated("[1] a "),
  "last steps": repeated("Final step: a\n", "1. a\n"),
  "last steps on a line": repeated("Final step: ", "1. a 2. b "),
  "words of order": repeated("finally "),
  "closing tags": repeated("</plan>\n", "1. a\n"),
  "closing tags on a line": repeated("</plan>", "1. a\n2. b"),
  "opening tags": repeated("<plan>"),
  "end marks": repeated("[END]\n", "1. a\n"),
  "tags around answers": repeated("<answer>"),
  "items under a verdict": repeated("- a\n", "SUCCESS: x\n"),
  "verdicts in items": repeated("- success: a\n"),
  "lines that go on": repeated("a\n", "SUCCESS:\n"),
  "an array behind a verdict": repeated("[\n", "SUCCESS: "),
  "points in groups": repeated(".444", "4"),
  "apostrophes in groups": repeated("'444", "4"),
  "two units on a line": repeated("6 ft. 2 in. "),
  remainders: repeated("7 rem. 2 "),
  "scale words": repeated("million ", "4 "),
  "scaled numbers": repeated("4 million "),
  "ten thousands": repeated("4万"),
  "blanks behind a number": repeated(" ", "Answer: 4", "万"),
  degrees: repeated("4^\\circ "),
  "LaTeX fractions": repeated("\\frac{-4}{4}"),
  "joined options": repeated("A → "),
  "options and arrows": repeated("A -> D | "),
  "arrows in a plan": repeated("#E1 -> "),
  "smiles in a plan": repeated(":-]] ", "#E1 = Search["),
  "texts in texts": (size) => {
    let text = "{}"
    while (text.length * 2 < size) text = JSON.stringify(text)
    return text
  },
  "texts in an array": repeated('"1",', '{"a":[', '"1"]}'),
  "an array in a text": repeated("[", '{"a":"', '"}'),
  "references in JSON": repeated('"#E1",', "[", '"#E1"]}'),
  "wrapped objects": repeated('{"a":{"steps":[', "", "")
}

/** The last long reply is kept with what it says: this makes the readers look at the next one anew. */
const other = "another reply ".repeat(2_000)
const forget = () => ReplyText.visible(other)

/** The lesser of wall and CPU time: a busy machine adds to the one, other threads of the process to the other. */
const milliseconds = (reader, text) => {
  forget()
  const cpu = process.cpuUsage()
  const start = performance.now()
  reader(text)
  const wall = performance.now() - start
  const used = process.cpuUsage(cpu)
  return Math.min(wall, (used.user + used.system) / 1000)
}
/** The least of some times, as noise only ever adds: looked at again where it is over the line. */
const least = (reader, text, limit) => {
  let time = milliseconds(reader, text)
  for (let again = 0; again < 3 && time > limit; again++) time = Math.min(time, milliseconds(reader, text))
  return time
}

/** A megabyte in at most this many milliseconds, and twice the text in at most this many times the time. */
export const limits = { milliseconds: 100, ratio: 2.2 }
/** Ratios of times below this, in milliseconds, are noise, and far from any limit. */
const measurable = 40

export const speed = (only) => {
  const rows = []
  const [short, long] = [wellFormed(8), wellFormed(2_000)]
  for (const [name, text] of Object.entries(short)) {
    if (only !== undefined && !name.includes(only)) continue
    const reader = readers[name]
    const once = (text, ms) => {
      const until = performance.now() + ms
      let best = Number.POSITIVE_INFINITY
      while (performance.now() < until) {
        const size = Math.max(1, Math.floor(20_000 / text.length))
        forget()
        const start = performance.now()
        for (let i = 0; i < size; i++) reader(text)
        best = Math.min(best, (performance.now() - start) / size)
      }
      return best
    }
    once(text, 100)
    const time = once(text, 100)
    const longTime = once(long[name], 200)
    rows.push({
      reader: name,
      "8 steps, µs": 1000 * time,
      "MB/s, 8 steps": text.length / 1000 / time,
      "MB/s, 2,000 steps": long[name].length / 1000 / longTime
    })
  }
  return rows
}

export const hostile = ({ only, quick = false } = {}) => {
  const chosen = Object.entries(readers).filter(([name]) => only === undefined || name.includes(only))
  const size = quick ? 250_000 : 1_000_000
  for (const shape of Object.values(shapes)) for (const [, reader] of chosen) reader(shape(10_000))
  const rows = []
  for (const [kind, shape] of Object.entries(shapes)) {
    const [text, long] = [shape(size), shape(2 * size)]
    for (const [name, reader] of chosen) {
      let once = least(reader, text, limits.milliseconds * 0.6)
      if (once < measurable) {
        rows.push({ reader: name, shape: kind, size, once })
        continue
      }
      const twice = least(reader, long, limits.ratio * once)
      if (twice > limits.ratio * once) once = Math.max(once, milliseconds(reader, text))
      rows.push({ reader: name, shape: kind, size, once, twice, ratio: twice / once })
    }
  }
  return rows.sort((a, b) => b.once - a.once)
}

/** A quick run looks at less text: then only the ratio counts. */
const misses = ({ once, ratio, size }) =>
  (once >= limits.milliseconds && size >= 1_000_000) || (ratio ?? 0) > limits.ratio

export const all = ({ only, quick = false } = {}) => ({ speed: speed(only), hostile: hostile({ only, quick }) })

export const show = ({ hostile, speed }, whole = false) => {
  table("Readers on well-formed replies", speed)
  const megabytes = (hostile[0]?.size ?? 1_000_000) / 1_000_000
  const [first, second] = [`${megabytes} MB, ms`, `${2 * megabytes} MB, ms`]
  table(
    `Readers on hostile text, the ${whole ? "" : "20 "}slowest of ${hostile.length}`,
    (whole ? hostile : hostile.slice(0, 20)).map(({ once, ratio, reader, shape, twice }) => ({
      reader,
      shape,
      [first]: once,
      [second]: twice,
      ratio
    }))
  )
  const [worst] = hostile
  if (worst === undefined) return
  console.log(`  Slowest: ${worst.reader} on ${worst.shape}, ${worst.once.toFixed(0)} ms for ${megabytes} MB`)
  const missed = hostile.filter(misses)
  if (missed.length === 0) return
  table(
    "Over the limit",
    missed.map(({ once, ratio, reader, shape }) => ({ reader, shape, [first]: once, ratio }))
  )
  process.exitCode = 1
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const at = process.argv.indexOf("--only")
  const only = at < 0 ? undefined : process.argv[at + 1]
  const measured = all({ only, quick: process.argv.includes("--quick") })
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured, null, 2))
  else show(measured, process.argv.includes("--whole"))
}
