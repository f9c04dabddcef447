import { describe, expect, it } from "@effect/vitest"
import type * as Llm from "@forethought/core/Llm"
import * as PlanApproval from "@forethought/core/PlanApproval"
import type * as Toolbox from "@forethought/core/Toolbox"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import { of, requests, toolCalls, withEvents, world } from "./world.js"

/** A reviewer that says the same of every plan, and remembers what it was shown. */
const reviewer = (says: PlanApproval.Review) => {
  const shown: Array<PlanApproval.ProposedPlan> = []
  const layer = PlanApproval.layer((plan) =>
    Effect.sync(() => {
      shown.push(plan)
      return says
    })
  )
  return { shown, layer }
}

const rewooPlan = "Plan: look\n#E1 = Search[a]\n#E2 = Search[#E1]"

describe.each([
  ["rewoo", Rewoo.sequential],
  ["rewoo-parallel", Rewoo.parallel]
] as const)("A reviewed plan of %s", (pattern, rewoo) => {
  it.effect("is shown validated, with its graph, before anything runs; accepted, it runs", () => {
    const { layer, shown } = reviewer(PlanApproval.accept)
    return Effect.gen(function* () {
      yield* Effect.provide(rewoo("Q"), layer)
      expect(shown).toEqual([
        {
          pattern,
          task: "Q",
          steps: [
            { id: "#E1", text: "look", dependsOn: [], tool: "Search", input: "a" },
            { id: "#E2", text: "look", dependsOn: ["#E1"], tool: "Search", input: "#E1" }
          ]
        }
      ])
      expect((yield* toolCalls).length).toBe(2)
    }).pipe(Effect.provide(world([rewooPlan, "ok"])))
  })

  it.effect("edited, is read and validated again", () =>
    Effect.gen(function* () {
      yield* Effect.provide(rewoo("Q"), reviewer(PlanApproval.edit("#E1 = search[b]")).layer)
      expect((yield* toolCalls).map((call) => call.input)).toEqual(["b"])
      const error = yield* Effect.flip(rewoo("Q")).pipe(
        Effect.provide(reviewer(PlanApproval.edit("#E1 = Fly[b]")).layer),
        Effect.provide(world([rewooPlan]))
      )
      expect(error._tag === "InvalidPlan" && error.issues).toMatchObject([{ _tag: "UnknownTool" }])
    }).pipe(Effect.provide(world([rewooPlan, "ok"])))
  )

  it.effect("refused, ends the run before any tool runs", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q")).pipe(Effect.provide(reviewer(PlanApproval.refuse("too dear")).layer))
      expect(error).toMatchObject({ _tag: "InvalidPlan", issues: [{ _tag: "Refused", reason: "too dear" }] })
      expect(error.message).toContain("The plan was refused: too dear")
      expect(yield* toolCalls).toEqual([])
      expect((yield* requests).length).toBe(1)
    }).pipe(Effect.provide(world([rewooPlan])))
  )
})

type Run = (
  task: string
) => Effect.Effect<unknown, PlanAndExecute.Error | PlanAndSolveAgent.Error, Llm.Llm | Toolbox.Toolbox>

const lists: ReadonlyArray<readonly [pattern: string, run: Run, rest: ReadonlyArray<string>]> = [
  ["plan-and-execute", (task: string) => PlanAndExecute.run(task), ["done", '{"final_answer":"x"}']],
  ["plan-and-solve-agent", (task: string) => PlanAndSolveAgent.run(task), ["SUCCESS: done", "x"]]
]

describe.each(lists)("A reviewed plan of %s", (_pattern, run, rest) => {
  it.effect("edited, is read again", () =>
    Effect.gen(function* () {
      const { events } = yield* withEvents(Effect.provide(run("T"), reviewer(PlanApproval.edit("1. Mine")).layer))
      expect(of(events, "PlanMade")[0]?.steps.map((step) => step.text)).toEqual(["Mine"])
      expect(of(events, "StepStarted").map((event) => event.step)).toEqual(["Mine"])
    }).pipe(Effect.provide(world(["1. A\n2. B", ...rest])))
  )
  it.effect("refused, ends the run before any step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("T")).pipe(Effect.provide(reviewer(PlanApproval.refuse("no")).layer))
      expect(error).toMatchObject({ _tag: "ParseError", problem: "plan_refused" })
      expect(error.message).toContain("a refusal: no")
    }).pipe(Effect.provide(world(["1. A\n2. B"])))
  )
})
