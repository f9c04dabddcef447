import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readDecision, readEdited, readPlan } from "../src/internal/planAndExecute/parse.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** `= answer`, the steps, or the problem. */
const outcome = (text: string, attempt = 0) =>
  Either.match(readDecision(text, attempt), {
    onLeft: (error) => error.problem,
    onRight: (decision) => (decision._tag === "Finish" ? `= ${decision.answer}` : decision.remainingSteps)
  })

describe("readPlan", () => {
  it("reads a numbered list", () => {
    expect(Either.getOrThrow(readPlan("1. a b\n2. c d"))).toEqual({ steps: ["a b", "c d"], isInline: false })
  })
})

describe("readEdited", () => {
  it.each([
    ["2. A\n3. B", ["A", "B"]],
    ['["A", "B"]', ["A", "B"]],
    ['{"remaining_steps": ["A", "B"]}', ["A", "B"]]
  ])("reads %j", (text, steps) => {
    expect(readEdited(text)).toEqual(Either.right(steps))
  })
  it.each(['{"final_answer": "x"}', '{"remaining_steps": []}', "A, then B", ""])("finds no plan in %j", (text) => {
    expect(Either.isLeft(readEdited(text))).toBe(true)
  })
})

describe("reported failures", () => {
  it("PE-18, PE-19: remaining steps are read as they are", () => {
    expect(outcome('{"remaining_steps":["Fetch the EUR rate","Convert 40 EUR"]}')).toEqual([
      "Fetch the EUR rate",
      "Convert 40 EUR"
    ])
  })
  it("PE-20: an answer wins over steps beside it, which are named", () => {
    const reply = '{"final_answer":"The parcel weighs 4 kg","remaining_steps":["Weigh the parcel"]}'
    expect(Either.getOrThrow(readDecision(reply, 0))).toEqual({
      _tag: "Finish",
      answer: "The parcel weighs 4 kg",
      ignoredSteps: ["Weigh the parcel"],
      conflicting: false
    })
  })
  it("PE-21: null is no answer, and an empty list is no step", () => {
    expect(outcome('{"final_answer":null,"remaining_steps":[]}')).toBe("no_decision")
  })
  it.each([
    ['{"final_answer":"null","remaining_steps":[]}', "no_decision"],
    ['{"final_answer":"null"}', "no_decision"],
    ['{"final_answer":" NULL. "}', "no_decision"],
    ['{"final_answer":"`null`","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"None","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"none","remaining_steps":[]}', "no_decision"],
    ["{'final_answer': 'None', 'remaining_steps': None}", "no_decision"],
    ['{"final_answer":"N/A","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"n.a.","remaining_steps":"1. a\\n2. b"}', ["a", "b"]],
    ['{"final_answer":"(not applicable)","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"nil","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"undefined","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"Not yet known","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"无","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"None"}', "= None"],
    ['{"final_answer":"N/A"}', "= N/A"],
    ['{"final_answer":"1/0 is undefined"}', "= 1/0 is undefined"],
    ['{"final_answer":"None of them","remaining_steps":[]}', "= None of them"],
    ['{"final_answer":"null and void","remaining_steps":[]}', "= null and void"],
    ['{"final_answer":"Na+","remaining_steps":[]}', "= Na+"],
    ['{"final_answer":"-","remaining_steps":[]}', "= -"]
  ])("PE-21: a word for nothing is no answer: %s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it.each([
    ['{"final_answer":0}', "= 0"],
    ['{"final_answer":false}', "= false"],
    ['{"final_answer":""}', "no_decision"],
    ['{"final_answer":" \\n"}', "no_decision"]
  ])("PE-22: %s", (reply, expected) => {
    expect(outcome(reply)).toBe(expected)
  })
  it("PE-25: steps in one text go through the list reader", () => {
    expect(outcome('{"remaining_steps":"1. Open the gate\\n2. Close the gate"}')).toEqual([
      "Open the gate",
      "Close the gate"
    ])
  })
  it.each([
    ['{"remaining_steps":["1. Open\\n2. Close"]}', ["Open", "Close"]],
    ['{"remaining_steps":["Open", "2. Wait\\n3. Close"]}', ["Open", "Wait", "Close"]],
    ['{"remaining_steps":["- Open\\n- Close"]}', ["Open", "Close"]],
    ['{"remaining_steps":["Open:\\n1. unlock\\n2. push"]}', ["Open:\n1. unlock\n2. push"]],
    ['{"remaining_steps":["1. Open\\n   1. unlock"]}', ["Open\n   1. unlock"]],
    ['{"remaining_steps":["None"]}', "no_decision"],
    ['{"remaining_steps":["No further steps needed."]}', "no_decision"]
  ])("PE-25: an element that holds a list: %s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it("PE-16: a reply that only thinks is empty", () => {
    expect(outcome("<think>Perhaps 1. call search 2. read the page. Hmm.</think>")).toBe("empty_reply")
  })
  it("JS-05: objects that differ are refused once, then the last one counts and says so", () => {
    const reply = 'Draft: {"final_answer":"7"}\nOn reflection: {"remaining_steps":["Recount"]}'
    expect(outcome(reply, 0)).toBe("conflict")
    expect(Either.getOrThrow(readDecision(reply, 1))).toEqual({
      _tag: "Continue",
      remainingSteps: ["Recount"],
      conflicting: true
    })
  })
  it("JS-14: steps that were cut off are never read", () => {
    expect(outcome('{"remaining_steps":["Book the hall","Send inv')).toBe("unfinished")
  })
  it("JS-17: a schema is no decision", () => {
    expect(outcome('{"type":"object","properties":{"final_answer":{"type":"string"}}}')).toBe("missing_keys")
    expect(outcome('{"final_answer":{"type":"string"}}')).toBe("bad_answer")
  })
})

describe("kinds", () => {
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ['{"final_answer":"x"}', "= x"],
    ['{"final_answer":" x \\n"}', "= x"],
    ['{"final_answer":-1.5}', "= -1.5"],
    ['{"final_answer":12345678901234567890}', "= 12345678901234567890"],
    ['{"final_answer":true}', "= true"],
    ['{"finalAnswer":"x"}', "= x"],
    ["{'final_answer': True}", "= true"],
    ['{"final_answer":"x","remaining_steps":null}', "= x"],
    ['{"final_answer":"x","remaining_steps":[]}', "= x"],
    ['{"final_answer":"x","remaining_steps":5}', "= x"],
    ['{"final_answer":null,"remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"","remaining_steps":["a"]}', ["a"]],
    ['{"final_answer":"  ","remaining_steps":["a"]}', ["a"]],
    ["{'final_answer': None, 'remaining_steps': ['a']}", ["a"]],
    ['{"remaining_steps":["a","",null]}', "bad_steps"],
    ['{"remaining_steps":["a",""," "]}', ["a"]],
    ['{"remaining_steps":["1. a","2. b"]}', ["a", "b"]],
    ['{"remaining_steps":[{"step":"a"},{"step":"b"}]}', ["a", "b"]],
    ['{"remaining_steps":[{"id":1,"description":"a"}]}', ["a"]],
    ['{"remaining_steps":[{"step":"a","tool":"search"}]}', ["a"]],
    ['{"remaining_steps":[{"step":{"text":"a"}}]}', "bad_steps"],
    ['{"remaining_steps":[["a"]]}', "bad_steps"],
    ['{"remaining_steps":[1,2]}', "bad_steps"],
    ['{"remaining_steps":{"1":"a"}}', "bad_steps"],
    ['{"remaining_steps":true}', "bad_steps"],
    ['{"remaining_steps":"Open the gate"}', "bad_steps"],
    ['{"remaining_steps":"- a\\n- b"}', ["a", "b"]],
    ['{"remaining_steps":"第一步：a\\n第二步：b"}', ["a", "b"]],
    ['{"remaining_steps":"[\\"a\\",\\"b\\"]"}', ["a", "b"]],
    ['{"remaining_steps":" "}', "no_decision"],
    ['{"remaining_steps":[]}', "no_decision"],
    ['{"remaining_steps":[""]}', "no_decision"],
    ['{"final_answer":[]}', "bad_answer"],
    ['{"final_answer":["x"]}', "bad_answer"],
    ['{"final_answer":{"text":"x"}}', "bad_answer"],
    ['{"final_answer":{"text":"x"},"remaining_steps":["a"]}', "bad_answer"],
    ["The answer is x.", "no_json"],
    ["1. a\n2. b", "no_json"]
  ]
  it.each(table)("%s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it("says in the error what to write", () => {
    const error = Either.getOrThrow(Either.flip(readDecision('{"final_answer":null}', 0)))
    expect(error.message).toContain('{"final_answer": "..."}')
    expect(error.message).toContain('{"remaining_steps": ["...", "..."]}')
    expect(error.message).toContain("null")
  })
})

describe("laws", { timeout: 300_000 }, () => {
  it("finishes exactly with an answer, and never says what was not said", () => {
    const value = fc.jsonValue({ maxDepth: 2 })
    fc.assert(
      fc.property(value, value, (answer, steps) => {
        const result = readDecision(JSON.stringify({ final_answer: answer, remaining_steps: steps }), 0)
        if (Either.isLeft(result)) return
        if (result.right._tag === "Finish") {
          expect(["string", "number", "boolean"]).toContain(typeof answer)
          expect(result.right.answer).not.toBe("")
          if (typeof answer !== "number") expect(result.right.answer).toBe(String(answer).trim())
        } else {
          expect(result.right.remainingSteps.length).toBeGreaterThan(0)
          for (const step of result.right.remainingSteps) {
            expect(step).not.toContain("[object")
            expect(step.trim()).not.toBe("")
          }
        }
      }),
      { numRuns }
    )
  })
})
