import { readFileSync } from "node:fs"
import { Ajv } from "ajv"
import { describe, expect, it } from "vitest"
import { patterns } from "../src/config/patterns.js"
import { schemas } from "../src/screen/documentSchema.js"
import { folder } from "./support/forethought.js"
import { inProcess, runScript } from "./support/inProcess.js"

const asks = (name: string, input: string) => ({ toolCalls: [{ name, arguments: { input } }] })
const cut = (text: string) => ({ text, finishReason: "length" })
const france = asks("Lookup", "population of France")
const declared = JSON.stringify({ steps: [{ step: "A", inputs: [{ step: 2, output: "b" }], outputs: [] }] })

interface Case {
  readonly pattern: string
  readonly ends: string
  readonly replies: ReadonlyArray<unknown>
  readonly flags?: ReadonlyArray<string>
  readonly code: number
  /** Of an answer: what stands on standard output. Of a failure: what standard error holds. */
  readonly says: ReadonlyArray<string>
}

const answered: ReadonlyArray<Case> = [
  { pattern: "react", ends: "Answered", replies: [france, "{{observation grouped}}"], code: 0, says: ["66,977,107"] },
  {
    pattern: "react",
    ends: "Answered",
    replies: ["Thought: x\nAction: Calculator\nAction Input: 2 * 3", "Final Answer: six"],
    flags: ["--protocol", "text"],
    code: 0,
    says: ["six"]
  },
  {
    pattern: "plan-and-solve",
    ends: "Answered",
    replies: ["half", "The answer is 50%"],
    flags: ["--answer-format", "number"],
    code: 0,
    says: ["50%"]
  },
  {
    pattern: "plan-and-solve",
    ends: "Answered",
    replies: ["it is July", "July 4, 2024"],
    flags: ["--answer-format", "date"],
    code: 0,
    says: ["2024-07-04"]
  },
  {
    pattern: "plan-and-solve",
    ends: "Answered",
    replies: ["it is B", "Answer: B"],
    flags: ["--answer-format", "option:A,B,C"],
    code: 0,
    says: ["B"]
  },
  { pattern: "rewoo", ends: "Answered", replies: ["#E1 = Lookup[population of France]", "f"], code: 0, says: ["f"] },
  {
    pattern: "rewoo-parallel",
    ends: "Answered",
    replies: ["#E1 = Lookup[population of France]", "f"],
    code: 0,
    says: ["f"]
  },
  {
    pattern: "plan-and-execute",
    ends: "Answered",
    replies: ["1. A\n2. B", "a", '{"remaining_steps":["C"]}', "c", '{"final_answer":"ac"}'],
    code: 0,
    says: ["ac"]
  },
  {
    pattern: "plan-and-execute",
    ends: "Answered",
    replies: ["1. A", "SUCCESS: by adapt", '{"final_answer":"done"}'],
    flags: ["--executor", "adapt"],
    code: 0,
    says: ["done"]
  },
  {
    pattern: "adapt",
    ends: "Answered",
    replies: ["FAILURE: no", '{"logic":"and","sub_steps":["A","B"]}', "SUCCESS: a", "SUCCESS: b"],
    code: 0,
    says: ["a\nb"]
  },
  {
    pattern: "plan-and-solve-agent",
    ends: "Answered",
    replies: ["1. A", '{"status":"completed","result":"a","collected":{"n":"5"}}', "A."],
    flags: ["--data-flow", "collected"],
    code: 0,
    says: ["A."]
  },
  {
    pattern: "auto",
    ends: "react",
    replies: ['{"pattern":"react","reason":"one call"}', france, "{{observation}}"],
    code: 0,
    says: ["66977107"]
  },
  {
    pattern: "auto",
    ends: "plan-and-solve",
    replies: ["?", "?", "r", "The answer is 7"],
    flags: ["--patterns", "plan-and-solve,adapt", "--answer-format", "number"],
    code: 0,
    says: ["7"]
  }
]

const failed: ReadonlyArray<Case> = [
  {
    pattern: "react",
    ends: "CapReached",
    replies: [{ ...france, text: "I look it up." }],
    flags: ["--max-turns", "1"],
    code: 2,
    says: ["turn 1: I look it up.", "turn 1 Lookup[population of France] (ok): 66977107"]
  },
  {
    pattern: "react",
    ends: "Stuck",
    replies: [france, france],
    flags: ["--max-repeats", "2"],
    code: 2,
    says: ["turn 2 Lookup[population of France] (ok): 66977107"]
  },
  { pattern: "react", ends: "TruncatedReply", replies: [cut("so"), cut("so")], code: 2, says: ["cut off"] },
  { pattern: "react", ends: "LlmError", replies: [france], code: 1, says: ["turn 1 Lookup", "no scripted reply"] },
  { pattern: "plan-and-solve", ends: "TruncatedReply", replies: [cut("a"), cut("b")], code: 2, says: ["cut off"] },
  {
    pattern: "plan-and-solve",
    ends: "ParseError",
    replies: ["I think so.", "many", "many"],
    flags: ["--answer-format", "number"],
    code: 2,
    says: ["Reasoning: I think so."]
  },
  { pattern: "plan-and-solve", ends: "LlmError", replies: ["I think so."], code: 1, says: ["Reasoning: I think so."] },
  { pattern: "rewoo", ends: "InvalidPlan", replies: ["#E1 = No[x]", "#E1 = No[x]"], code: 2, says: ["does not exist"] },
  {
    pattern: "rewoo-parallel",
    ends: "TruncatedReply",
    replies: ["#E1 = Lookup[population of France]", cut("The an")],
    code: 2,
    says: ["#E1 Lookup[population of France] (ok): 66977107"]
  },
  {
    pattern: "rewoo",
    ends: "LlmError",
    replies: ["#E1 = Lookup[population of France]"],
    code: 1,
    says: ["#E1 Lookup[population of France] (ok): 66977107"]
  },
  {
    pattern: "plan-and-execute",
    ends: "StepCapReached",
    replies: ["1. A\n2. B", "a", '{"remaining_steps":["B"]}'],
    flags: ["--max-steps", "1"],
    code: 2,
    says: ["1. A (completed): a", "B (not done)"]
  },
  { pattern: "plan-and-execute", ends: "ParseError", replies: ["no", "no"], flags: [], code: 2, says: ["Expected"] },
  {
    pattern: "plan-and-execute",
    ends: "TruncatedReply",
    replies: ["1. A\n2. B", "a", cut("{"), cut("{")],
    code: 2,
    says: ["1. A (completed): a", "B (not done)"]
  },
  {
    pattern: "plan-and-execute",
    ends: "LlmError",
    replies: ["1. A\n2. B", "a", '{"remaining_steps":["C"]}', france],
    code: 1,
    says: ["1. A (completed): a", "C (not done)", "Lookup[population of France] (ok): 66977107"]
  },
  {
    pattern: "adapt",
    ends: "TaskFailed",
    replies: ["FAILURE: no", '{"logic":"or","sub_steps":["A","B"]}', "FAILURE: a", "SUCC", "?", "?"],
    flags: ["--max-depth", "2"],
    code: 2,
    says: ["1 q (failed): no", "or: A; B", "1.1 A (failed): a", "1.2 B (failed): SUCC"]
  },
  { pattern: "adapt", ends: "LlmError", replies: ["FAILURE: no"], code: 1, says: ["1 q (running): no"] },
  {
    pattern: "plan-and-solve-agent",
    ends: "NotCompleted",
    replies: ["1. A\n2. B", "SUCCESS: a", "FAILURE: b is down", "I found a."],
    flags: ["--max-replans", "0"],
    code: 2,
    says: ["I found a.", "1. A (completed): a", "2. B (failed): b is down"]
  },
  {
    pattern: "plan-and-solve-agent",
    ends: "ParseError",
    replies: [declared, declared],
    flags: ["--data-flow", "declared"],
    code: 2,
    says: ["step 1 needs an output of step 2"]
  },
  { pattern: "plan-and-solve-agent", ends: "TruncatedReply", replies: [cut("1."), cut("1.")], code: 2, says: ["cut"] },
  {
    pattern: "plan-and-solve-agent",
    ends: "LlmError",
    replies: ["1. A\n2. B", '{"status":"completed","result":"a","collected":{"n":"5"}}'],
    flags: ["--data-flow", "collected"],
    code: 1,
    says: ["1. A (completed): a", "n (from step 1): 5"]
  },
  { pattern: "auto", ends: "LlmError", replies: [], code: 1, says: ["no scripted reply fits the call router"] },
  {
    pattern: "auto",
    ends: "StepCapReached",
    replies: ['{"pattern":"plan-and-execute","reason":"open"}', "1. A\n2. B", "a", '{"remaining_steps":["B"]}'],
    flags: ["--max-steps", "1"],
    code: 2,
    says: ["1. A (completed): a", "B (not done)"]
  }
]

const ajv = new Ajv({ strict: false, allErrors: true })
const schema = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../schema/${name}.schema.json`, import.meta.url), "utf8"))
const isResult = ajv.compile(schema("result"))
const isEvent = ajv.compile(schema("event"))
const check = (validate: typeof isResult, value: unknown) =>
  expect(validate(value) ? [] : [value, validate.errors?.slice(0, 5)]).toEqual([])

describe("the published schemas", () => {
  it("are those that the codecs give: run node packages/cli/schema.mjs after a change", async () => {
    expect(schema("result")).toEqual(JSON.parse(JSON.stringify((await schemas()).result)))
    expect(schema("event")).toEqual(JSON.parse(JSON.stringify((await schemas()).event)))
  })

  it("refuse what is none", () => {
    for (const wrong of [{}, { status: "answered" }, { status: "failed", error: { tag: 1 } }, []]) {
      expect(isResult(wrong)).toBe(false)
    }
    expect(isEvent({ _tag: "RunStarted", call: "", at: 0, pattern: "rewoo" })).toBe(false)
  })

  it("cover every pattern's success and every failure", () => {
    expect(new Set([...answered, ...failed].map((one) => one.pattern))).toEqual(new Set(patterns.map((p) => p.name)))
  })
})

describe("every pattern", () => {
  it.each(answered)("$pattern answers on standard output, ends with 0 ($says)", async (one) => {
    const { code, err, events, out } = await runScript(one.pattern, one.replies, one.flags)
    expect({ code, out }, err).toEqual({ code: 0, out: `${one.says[0]}\n` })
    for (const event of events) check(isEvent, event)
    const json = await runScript(one.pattern, one.replies, [...(one.flags ?? []), "--json", "--quiet"])
    expect(json.err).toBe("")
    const document = JSON.parse(json.out)
    check(isResult, document)
    expect(document).toMatchObject({ status: "answered", pattern: one.pattern, answer: one.says[0] })
    expect(document.result._tag ?? document.result.pattern).toBe(one.ends)
  })

  it.each(failed)("$pattern ends with $code on $ends, and shows everything gathered", async (one) => {
    const { code, err, events, out } = await runScript(one.pattern, one.replies, one.flags)
    expect({ code, out }).toEqual({ code: one.code, out: "" })
    expect(err).toContain(`Not answered (${one.ends})`)
    const report = err.slice(err.indexOf("Not answered"))
    for (const part of one.says) expect(report).toContain(part)
    for (const event of events) check(isEvent, event)
    const json = await runScript(one.pattern, one.replies, [...(one.flags ?? []), "--json", "--quiet"])
    const document = JSON.parse(json.out)
    check(isResult, document)
    expect(document).toMatchObject({ status: "failed", pattern: one.pattern, error: { tag: one.ends } })
  })

  it("interrupted, gives what its events told, and fits the schema", async () => {
    using files = folder({ "script.json": ["1. A\n2. B", "a", { text: "late", after: "1 minute" }] })
    const interruption = new AbortController()
    const told = await inProcess(["run", "plan-and-execute", "q", "-m", "scripted:script.json", "--json"], {
      folder: files.path,
      signal: interruption.signal,
      onErr: (err) => {
        if (err.includes("replanner: asking")) interruption.abort()
      }
    })
    expect(told.code).toBe(130)
    const document = JSON.parse(told.out)
    check(isResult, document)
    expect(document.progress).toMatchObject({ pastSteps: [{ step: "A", result: "a" }], remainingPlan: ["B"] })
  })

  it("a run that cannot start fits the schema too", async () => {
    const { code, out } = await inProcess(["run", "react", "q", "--json"], { folder: "/" })
    expect(code).toBe(1)
    check(isResult, JSON.parse(out))
  })
})

describe("options", () => {
  it("--prompts replaces prompts; a hole that the pattern does not have is a clear error", async () => {
    using files = folder({
      "good.json": { planner: "PLAN {{goal}}" },
      "bad.json": { planner: "{{goal}} {{gaol}}" },
      "script.json": ["1. A", "a", '{"final_answer":"A"}']
    })
    const args = ["run", "plan-and-execute", "q", "-m", "scripted:script.json", "--prompts"]
    const run = (file: string) => inProcess([...args, file], { folder: files.path })
    expect((await run("good.json")).code).toBe(0)
    expect(await run("bad.json")).toMatchObject({ code: 1, err: expect.stringContaining("{{gaol}} is not a hole") })
  })

  it.each([
    { flags: ["--answer-format", "colour"], says: "--answer-format must be number, date, text" },
    { flags: ["--answer-format", "option:A"], says: "two or more options" },
    { flags: ["--prompts", "none.json"], says: "none.json cannot be read" },
    { flags: ["--reask", "-1"], says: "--reask must be a whole number of at least 0" },
    { flags: ["--protocol", "text"], says: "plan-and-solve has no option --protocol" }
  ])("$flags: $says", async ({ flags, says }) => {
    using files = folder({ "script.json": [] })
    const args = ["run", "plan-and-solve", "q", "-m", "scripted:script.json", ...flags]
    expect(await inProcess(args, { folder: files.path })).toMatchObject({ code: 1, err: expect.stringContaining(says) })
  })

  it("names close to a choice are suggested", async () => {
    using files = folder({ "script.json": [] })
    const args = ["run", "auto", "q", "-m", "scripted:script.json", "--patterns", "react,adpt"]
    const { code, err } = await inProcess(args, { folder: files.path })
    expect(code).toBe(1)
    expect(err).toContain("Did you mean adapt?")
  })
})
