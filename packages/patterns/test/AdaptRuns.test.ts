import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import type { ExecutorInput } from "@forethought/core/Executor"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Answers, type Line, linesOf, readRuns, replayAll } from "../../../scripts/lib/adapt-runs.mjs"

const adapt = (task: string, maxDepth: number, answers: Answers): Promise<boolean> => {
  const executor = ({ step }: ExecutorInput) =>
    Effect.sync(() => {
      const tried = /<task>([\s\S]*?)<\/task>/.exec(step)?.[1] ?? ""
      return { status: "completed" as const, result: answers.attempt(tried) ? "SUCCESS: done" : "FAILURE: not done" }
    })
  const planner = Llm.layer(({ call }) =>
    Effect.sync(() => Llm.reply(JSON.stringify(answers.plan(call.includes("/reask-")))))
  )
  return Adapt.run(task, { maxDepth, maxSubSteps: 100, executor }).pipe(
    Effect.isSuccess,
    Effect.provide(Layer.mergeAll(planner, Toolbox.empty, Journal.layer(Journal.silent))),
    Effect.runPromise
  )
}

const runs = readRuns(fileURLToPath(new URL("../../../../shared/data/adapt/runs", import.meta.url)))

describe("The recorded runs of the ADaPT paper", () => {
  it("AD-01: are replayed call by call, save those that repeat a task as the rule does not allow", async ({ skip }) => {
    if (runs.length === 0) skip("The recorded runs are absent.")
    expect(linesOf(await replayAll(runs, adapt))).toEqual([
      "289 with the same calls and the same result",
      "45 refused (24 with a decomposition that the rule refuses, 21 whose record splits a repeat again that was carried out)",
      "0 different"
    ])
  })
})

const attempt = (task: string, depth: number, succeeded = false): Line => ({ kind: "attempt", task, depth, succeeded })
const split = (logic: string, ...subSteps: ReadonlyArray<string>): Line => ({ kind: "split", subSteps, logic })

describe("A replay of a record", () => {
  it.each<readonly [is: string, lines: ReadonlyArray<Line>]>([
    ["same", [attempt("T", 1), split("and", "A", "T"), attempt("A", 2, true), attempt("T", 2, true)]],
    ["same", [attempt("T", 1), split("and", "A", "T"), attempt("A", 2, true), attempt("T", 2)]],
    ["decomposition", [attempt("T", 1), split("and", "T", "A"), attempt("T", 2, true), attempt("A", 2, true)]],
    ["decomposition", [attempt("T", 1), split("or", "A", "T"), attempt("A", 2), attempt("T", 2, true)]],
    ["split", [attempt("T", 1), split("and", "A", "T"), attempt("A", 2, true), attempt("T", 2), split("and", "B")]],
    ["different", [attempt("T", 1), split("and", "A", "B"), attempt("B", 2, true), attempt("A", 2, true)]],
    ["different", [attempt("T", 1, true), attempt("A", 2)]]
  ])("is %s", async (is, lines) => {
    const counts = await replayAll([{ name: "run", lines, maxDepth: 3 }], adapt)
    expect({ ...counts, different: counts.different.length }).toEqual({
      same: 0,
      decomposition: 0,
      split: 0,
      different: 0,
      [is]: 1
    })
  })
})
