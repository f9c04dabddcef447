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
    ["ReAct", "ReAct: "],
    ["react", "ReAct: "],
    ["**Rewoo**", "Rewoo: "],
    ["`plan-and-execute`.", "PlanAndExecute: "],
    ['"rewoo"', "Rewoo: "],
    ["```\nPlan and Solve\n```", "PlanAndSolve: "],
    ["Pattern: ReAct", "ReAct: "],
    ["<think>Rewoo?</think>\nReAct\n", "ReAct: "],
    ["I choose ReAct.", "no_json"],
    ["ReAct or Rewoo", "no_json"],
    ["Plan", "no_json"],
    ['{"pattern":"Plan-and-Execute with replanner","reason":"x"}', "PlanAndExecute: x"],
    ['{"pattern":"the ReAct pattern","reason":"x"}', "ReAct: x"],
    ['{"pattern":"PlanAndSolve (zero-shot)","reason":"x"}', "PlanAndSolve: x"],
    ['{"pattern":"plan_and_solve prompting","reason":"x"}', "PlanAndSolve: x"],
    ['{"pattern":"**Rewoo**","reason":"x"}', "Rewoo: x"],
    ['{"pattern":"ReAct, not Rewoo","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"not ReAct","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"anything but Rewoo","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"Reaction","reason":"x"}', "unknown_pattern"],
    ['{"pattern":"Plan and then Execute","reason":"x"}', "unknown_pattern"]
  ]
  it.each(table)("%s", (reply, expected) => {
    expect(outcome(reply)).toBe(expected)
  })

  it.each([
    ["ReWOO (parallel)", "rewoo-parallel"],
    ["ReWOO, sequential", "rewoo"],
    ["Plan-and-Solve Agent with tools", "plan-and-solve-agent"],
    ["plan and solve prompting", "plan-and-solve"],
    ["rewoo or rewoo-parallel", "unknown_pattern"]
  ])("takes the longest name that stands in %j", (pattern, expected) => {
    const route = readRoute(JSON.stringify({ pattern }), [
      "rewoo",
      "rewoo-parallel",
      "plan-and-solve",
      "plan-and-solve-agent"
    ])
    expect(Either.match(route, { onLeft: (error) => error.problem, onRight: ({ pattern }) => pattern })).toBe(expected)
  })

  it("names the patterns on offer in its error", () => {
    const error = Either.getOrThrow(Either.flip(readRoute('{"pattern":"Plan"}', patterns)))
    expect(error.message).toContain('"PlanAndExecute"')
    expect(error.message).toContain("Plan")
  })
})
