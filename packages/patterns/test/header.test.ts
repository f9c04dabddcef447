// The outermost RunStarted tells the options of its run, with defaults, as plain JSON.
import { expect, it } from "@effect/vitest"
import type { Llm } from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"
import type { Toolbox } from "@forethought/core/Toolbox"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as Router from "@forethought/patterns/Router"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { of, patterns, withEvents, world } from "./world.js"

const started = <E, R>(run: Effect.Effect<unknown, E, R>) =>
  Effect.map(withEvents(Effect.exit(run)), ({ events }) => of(events, "RunStarted")[0]?.options)

it.effect.each(patterns.map((pattern): Pattern.Any<Llm | Toolbox> => pattern))(
  "$name tells every default of its table",
  (pattern) =>
    Effect.gen(function* () {
      const told = yield* started(Pattern.loose(pattern).run("T"))
      const scalars = Object.entries(pattern.options).flatMap(([name, entry]) =>
        entry !== undefined && "default" in entry && !["duration", "format"].includes(entry.kind)
          ? [[name, entry.default] as const]
          : []
      )
      expect(told).toMatchObject(Object.fromEntries(scalars))
      expect(JSON.parse(JSON.stringify(told))).toEqual(told)
    }).pipe(Effect.provide(world([])))
)

it.effect("what was given is told; a Schedule of one's own as custom, prompts as texts", () =>
  Effect.gen(function* () {
    const options = { maxSteps: 2, reask: Schedule.recurs(2), prompts: { planner: "PLAN {{goal}}" } }
    expect(yield* started(PlanAndExecute.run("T", options))).toMatchObject({
      maxSteps: 2,
      reask: "custom",
      executor: "react",
      prompts: { planner: "PLAN {{goal}}" }
    })
    expect(yield* started(PlanAndExecute.run("T", { reask: Reask.times(4) }))).toMatchObject({ reask: 4 })
    expect(yield* started(Router.run("T", { patterns: [PlanAndExecute.pattern] }))).toEqual({
      patterns: ["plan-and-execute"],
      fallback: "plan-and-execute",
      reask: 1
    })
  }).pipe(Effect.provide(world([])))
)
