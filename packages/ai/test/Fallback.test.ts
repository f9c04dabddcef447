import { expect, it } from "@effect/vitest"
import { Llm, LlmError, Reason, reply } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as Fallback from "../src/Fallback.js"
import * as Retry from "../src/Retry.js"
import { counting, request } from "./support/models.js"

const failing = (reason: Reason) => counting(() => new LlmError({ reason, role: "executor", call: "turn-1" }))

it.effect.each([
  [Reason.RateLimited(), true],
  [Reason.Unavailable(503), true],
  [Reason.TimedOut(10), true],
  [Reason.Unauthorized(), false],
  [Reason.BadRequest(400), false],
  [Reason.ContextOverflow(), false],
  [Reason.Refused(), false],
  [Reason.BudgetExhausted("calls: 1 of 1 used"), false]
] as const)("%o: by default the other model is asked, or not", ([reason, asked]) =>
  Effect.gen(function* () {
    const second = counting(() => reply("second"))
    const exit = yield* Effect.either(Fallback.make(failing(reason).service, second.service).complete(request()))
    expect(exit).toMatchObject(asked ? { right: { text: "second" } } : { left: { reason } })
    expect(second.seen).toHaveLength(asked ? 1 : 0)
  })
)

it.effect("on chosen reasons", () =>
  Effect.gen(function* () {
    const model = (reason: Reason) =>
      Fallback.make(failing(reason).service, counting().service, { on: ["ContextOverflow"] })
    expect((yield* model(Reason.ContextOverflow()).complete(request())).text).toBe("Done.")
    expect(yield* Effect.flip(model(Reason.TimedOut()).complete(request()))).toMatchObject({
      reason: { _tag: "TimedOut" }
    })
  })
)

it.effect("after the first model's own retries; each built once; a third one", () =>
  Effect.gen(function* () {
    const first = failing(Reason.Unavailable())
    const second = failing(Reason.RateLimited())
    const third = counting(() => reply("third"))
    let built = 0
    const layer = (service: Llm["Type"]) =>
      Layer.effect(
        Llm,
        Effect.sync(() => {
          built += 1
          return service
        })
      )
    const model = layer(first.service).pipe(
      Retry.layer({ maxRetries: 2 }),
      Fallback.layer(layer(second.service)),
      Fallback.layer(layer(third.service))
    )
    const twice = Effect.flatMap(Llm, (llm) => Effect.zipRight(llm.complete(request()), llm.complete(request())))
    const fiber = yield* Effect.fork(Effect.provide(twice, model))
    for (let second = 0; second < 10; second++) yield* TestClock.adjust("1 second")
    expect((yield* Fiber.join(fiber)).text).toBe("third")
    expect([first.seen.length, second.seen.length, third.seen.length, built]).toEqual([6, 2, 2, 3])
  })
)

it.effect("when both fail the last error decides, and the first is told", () =>
  Effect.gen(function* () {
    const model = Fallback.make(failing(Reason.Unavailable(503)).service, failing(Reason.Unauthorized()).service)
    const error = yield* Effect.flip(model.complete(request()))
    expect(error).toMatchObject({ reason: { _tag: "Unauthorized" }, role: "executor", call: "turn-1" })
    expect(error.message).toContain("HTTP 503")
  })
)
