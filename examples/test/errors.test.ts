import { expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { again, otherwise, partial, told } from "../src/errors.js"

const world = (script: ReadonlyArray<ScriptedLlm.Line>) =>
  Layer.merge(ScriptedLlm.layer(script), FakeTools.layer({ Search: "found" }))

it.effect("one kind of stop is caught, with the work so far", () =>
  Effect.gen(function* () {
    expect(yield* partial("G")).toBe("Not finished. Done: a; b; c")
  }).pipe(
    Effect.provide(
      world([
        "1. A\n2. B",
        "a",
        '{"remaining_steps":["B"]}',
        "b",
        '{"remaining_steps":["C","D"]}',
        "c",
        '{"remaining_steps":["D"]}'
      ])
    )
  )
)

it.effect("a plan that cannot be read is tried again after a second", () =>
  Effect.gen(function* () {
    const running = yield* Effect.fork(again("q"))
    yield* TestClock.adjust("1 second")
    expect((yield* Fiber.join(running)).answer).toBe("found it")
  }).pipe(Effect.provide(world(["no plan", "still none", "#E1 = Search[x]", "found it"])))
)

it.effect("a model's failure is not", () =>
  Effect.gen(function* () {
    expect((yield* Effect.flip(again("q")))._tag).toBe("LlmError")
  }).pipe(Effect.provide(world([new Llm.LlmError({ reason: Llm.Reason.Unauthorized() })])))
)

it.effect("another pattern answers where the first one does not", () =>
  Effect.gen(function* () {
    expect(yield* otherwise("q")).toBe("by ReAct")
  }).pipe(Effect.provide(world(["no plan", "still none", "by ReAct"])))
)

it.effect.each([
  { script: ["The answer."], says: "The answer." },
  { script: [new Llm.LlmError({ reason: Llm.Reason.TimedOut() })], says: "The model failed: TimedOut" },
  {
    script: [
      { text: "The ans", finishReason: "length" as const },
      { text: "The ans", finishReason: "length" as const }
    ],
    says: "The executor's reply was cut off."
  }
])("one value to switch on: $says", ({ says, script }) =>
  Effect.gen(function* () {
    expect(yield* told("t")).toBe(says)
  }).pipe(Effect.provide(world(script)))
)
