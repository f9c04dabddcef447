import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { readRoute } from "../src/internal/router/parse.js"

const patterns = ["ReAct", "PlanAndSolve", "Rewoo", "PlanAndExecute"] as const
const outcome = (text: string) =>
  Either.match(readRoute(text, patterns), {
    onLeft: (error) => error.problem,
    onRight: (route) => `${route.pattern}: ${route.reason}`
  })

describe("readRoute", () => {
  const table: ReadonlyArray<readonly [reply: string, outcome: string]> = [
    ['{"pattern":"ReAct","reason":"one fact"}', "ReAct: one fact"],
    ['{"pattern":"rewoo","reason":"x"}', "Rewoo: x"],
    ['{"pattern":"plan-and-execute","reason":"x"}', "PlanAndExecute: x"],
    ['{"pattern":"Plan and Solve","reason":" x "}', "PlanAndSolve: x"],
    ['{"pattern":"PLAN_AND_SOLVE"}', "PlanAndSolve: "],
    ['{"reason":"x","Pattern":"ReAct"}', "ReAct: x"],
    ['I choose:\n```json\n{"pattern":"ReAct","reason":"x"}\n```', "ReAct: x"],
    ['{"pattern":"ReAct","reason":["x"]}', "ReAct: "],
    ['{"pattern":"Plan","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"ReAct or Rewoo","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"","reason":"x"}', "unknown_pattern"],
    ['{"pattern":null,"reason":"x"}', "unknown_pattern"],
    ['{"pattern":"constructor","reason":"x"}', "unknown_pattern"],
    ['{"reason":"x"}', "unknown_pattern"],
    ['{"pattern":"ReAct","reason":"x"}{"pattern":"Rewoo","reason":"x"}', "conflict"],
    ['{"pattern":"ReAct","reas', "unfinished"],
    ["ReAct", "no_json"]
  ]
  it.each(table)("%s", (reply, expected) => {
    expect(outcome(reply)).toBe(expected)
  })

  it("names the patterns on offer in its error", () => {
    const error = Either.getOrThrow(Either.flip(readRoute('{"pattern":"Plan"}', patterns)))
    expect(error.message).toContain('"PlanAndExecute"')
    expect(error.message).toContain("Plan")
  })
})
