// A misspelt option must not be ignored, wherever it stands: PA-07 for all patterns.
import * as Options from "@forethought/core/Options"
import * as Pattern from "@forethought/core/Pattern"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Router from "@forethought/patterns/Router"
import { describe, expect, it } from "vitest"

/** Options as a program without types might give them. */
const loose = (options: object) => JSON.parse(JSON.stringify(options))

const patterns: ReadonlyArray<readonly [name: string, run: (options: object) => unknown]> = [
  ["Rewoo.sequential", (options) => Rewoo.sequential("Q", loose(options))],
  ["Rewoo.parallel", (options) => Rewoo.parallel("Q", loose(options))],
  ["PlanAndExecute", (options) => PlanAndExecute.run("Q", loose(options))],
  ["PlanAndSolve", (options) => PlanAndSolve.run("Q", { answerFormat: AnswerFormat.number, ...loose(options) })],
  ["PlanAndSolveAgent", (options) => PlanAndSolveAgent.run("Q", loose(options))],
  ["Adapt", (options) => Adapt.run("Q", loose(options))],
  ["ReAct", (options) => ReAct.run("Q", loose(options))],
  ["Router.route", (options) => Router.route("Q", loose(options))],
  ["Router.run", (options) => Router.run("Q", { patterns: [ReAct.pattern, Adapt.pattern], ...loose(options) })]
]

describe.each(patterns)("%s", (name, run) => {
  it("takes no options at all", () => {
    expect(() => run({})).not.toThrow()
  })
  it("refuses an unknown option, and an unknown prompt, by name", () => {
    expect(() => run({ maxConcurrency: 2 })).toThrow(/unknown option "maxConcurrency"/)
    expect(() => run({ prompts: { planer: "x" } })).toThrow(/unknown option "planer"/)
  })
  it.skipIf(name === "ReAct")("refuses a reask that is no Schedule", () => {
    expect(() => run({ reask: 3 })).toThrow(/reask must be a Schedule/)
  })
})

it("options of a pattern inside a pattern are checked as early", () => {
  expect(() => PlanAndSolveAgent.run("Q", loose({ react: { foo: 1 } }))).toThrow(/unknown option "foo"/)
  expect(() => Pattern.withOptions(ReAct.pattern, loose({ foo: 1 }))).toThrow(/unknown option "foo"/)
  expect(() => Pattern.withOptions(Adapt.pattern, { maxDepth: 0 })).toThrow(Options.InvalidOption)
  expect(() => Pattern.withOptions(Rewoo.parallelPattern, { concurrency: 0 })).toThrow(RangeError)
  expect(() => PlanAndSolve.run("Q", loose({}))).toThrow(/answerFormat must be an AnswerFormat/)
})
