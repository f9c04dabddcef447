// The same run makes the same calls under the same ids each time, in parallel too. RewooCases.test.ts has this for
// random ReWOO plans.
import { expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import { FakeTools, SimulationClock } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import { describe } from "vitest"

/** A model whose replies follow from the seed and the id of the call alone: what a real one does at temperature 0. */
const seeded = (seed: number) => {
  const hash = (text: string) => {
    let h = seed | 0
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0
    return h >>> 0
  }
  return Llm.layer((request) =>
    Effect.sync(() => {
      const n = hash(request.call)
      const steps = Array.from({ length: 1 + (n % 4) }, (_, i) => `do ${n % 97}.${i}`)
      switch (request.role) {
        case "planner":
          if (request.call.includes("1") && !request.call.includes("planner/")) {
            return Llm.reply(JSON.stringify({ logic: n % 2 === 0 ? "and" : "or", sub_steps: steps }))
          }
          return Llm.reply(
            request.messages[0]?.content.includes("#E1 = Tool[input]") === true
              ? steps.map((step, i) => `#E${i + 1} = Search[${step} ${i > 1 ? `#E${(n % i) + 1}` : ""}]`).join("\n")
              : steps.map((step, i) => `${i + 1}. ${step}`).join("\n")
          )
        case "replanner":
          return Llm.reply(
            request.messages[0]?.content.includes("final_answer") === true
              ? n % 3 === 0
                ? '{"final_answer":"done"}'
                : JSON.stringify({ remaining_steps: steps })
              : steps.map((step, i) => `${i + 1}. ${step}`).join("\n")
          )
        case "executor":
          return n % 3 === 0
            ? Llm.reply("", {
                toolCalls: steps.map((step, i) => ({
                  id: String(i),
                  name: i % 2 === 0 ? "Search" : "Fail",
                  arguments: JSON.stringify({ input: step })
                }))
              })
            : Llm.reply(n % 3 === 1 ? "SUCCESS: yes" : "FAILURE: no")
        default:
          return Llm.reply("done")
      }
    })
  )
}

const patterns: ReadonlyArray<
  readonly [name: string, run: Effect.Effect<unknown, unknown, Llm.Llm | Toolbox.Toolbox>]
> = [
  ["ReAct", ReAct.run("T")],
  ["Rewoo.sequential", Rewoo.sequential("Q")],
  ["Rewoo.parallel", Rewoo.parallel("Q")],
  ["PlanAndExecute", PlanAndExecute.run("G")],
  ["PlanAndExecute over Adapt", PlanAndExecute.run("G", { executor: Adapt.executor })],
  ["Adapt", Adapt.run("T")],
  ["PlanAndSolveAgent", PlanAndSolveAgent.run("T")]
]

describe.each(patterns)("%s", (_name, run) => {
  it("gives the same ids of events and calls on every replay", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.integer(), async (seed) => {
        const replay = () => {
          const journal = Journal.memory()
          const tools = FakeTools.make({
            Search: { gives: (input) => `found ${input}`, takes: `${1 + (Math.abs(seed) % 5)} millis` },
            Fail: { fails: "no", takes: "2 millis" }
          })
          return Effect.runPromise(
            Effect.gen(function* () {
              const outcome = yield* Effect.either(run)
              const events = yield* journal.events
              return {
                outcome: outcome._tag,
                events: events.map((event) => `${event._tag} ${event.call} ${event.at}`),
                calls: (yield* tools.recorder.calls).map(({ call, input, outcome }) => [call, input, outcome])
              }
            }).pipe(
              Effect.provide(
                Layer.mergeAll(
                  seeded(seed),
                  Layer.effect(Toolbox.Toolbox, Toolbox.make(tools.tools)),
                  Journal.layer(journal),
                  SimulationClock.layer()
                )
              )
            )
          )
        }
        const first = await replay()
        expect(await replay()).toEqual(first)
        // No call has the id of another.
        const started = first.events.filter((event) => event.startsWith("ModelCallStarted"))
        expect(new Set(started.map((event) => event.split(" ")[1])).size).toBe(started.length)
      }),
      { numRuns: 100 }
    ))
})
