import { expect, it } from "@effect/vitest"
import { Llm, LlmError, layer, Reason, type Request, reply, type Service } from "@forethought/core/Llm"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import * as Retry from "../src/Retry.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

/** A model that fails with each reason in turn and then answers; `times` holds when it was asked, in ms. */
const failing = (...reasons: ReadonlyArray<Reason>) => {
  const times: Array<number> = []
  const service: Service = {
    complete: () =>
      Effect.flatMap(TestClock.currentTimeMillis, (now) => {
        const reason = reasons[times.length]
        times.push(now)
        return reason === undefined ? Effect.succeed(reply("done")) : Effect.fail(new LlmError({ reason }))
      })
  }
  return { service, times }
}

/** Runs a call to its end, moving the clock from timer to timer. */
const settle = (service: Service, total: Duration.DurationInput = "10 minutes") =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(Effect.either(service.complete(request)))
    yield* TestClock.adjust(total)
    return yield* Fiber.join(fiber)
  })

const gaps = (times: ReadonlyArray<number>) => times.slice(1).map((time, index) => time - (times[index] ?? 0))

describe("Retry", () => {
  it("refuses an unknown option where the layer is made", () => {
    expect(() => Retry.layer(JSON.parse('{"retries":3}'))).toThrow(/unknown option "retries"/)
  })

  it.effect("repeats a retryable failure with an exponential, jittered backoff", () =>
    Effect.gen(function* () {
      const model = failing(Reason.Unavailable(503), Reason.TimedOut(100))
      const result = yield* settle(Retry.retrying(model.service))
      expect(result).toMatchObject({ _tag: "Right", right: { text: "done" } })
      const [first, second] = gaps(model.times)
      expect(first).toBeGreaterThanOrEqual(400)
      expect(first).toBeLessThanOrEqual(600)
      expect(second).toBeGreaterThanOrEqual(800)
      expect(second).toBeLessThanOrEqual(1200)
    })
  )

  it.effect("gives the last error after 1 + maxRetries attempts", () =>
    Effect.gen(function* () {
      const model = failing(...Array.from({ length: 10 }, (_, index) => Reason.Unavailable(500 + index)))
      const result = yield* settle(Retry.retrying(model.service, { maxRetries: 4 }))
      expect(result).toMatchObject({ _tag: "Left", left: { reason: { _tag: "Unavailable", status: 504 } } })
      expect(model.times).toHaveLength(5)
    })
  )

  it.effect.each([
    ["Unauthorized", Reason.Unauthorized()],
    ["ContextOverflow", Reason.ContextOverflow()],
    ["BadRequest", Reason.BadRequest(404)],
    ["Refused", Reason.Refused("no")],
    ["BudgetExhausted", Reason.BudgetExhausted("calls")],
    ["EmptyReply", Reason.EmptyReply({ finishReason: "stop", onlyReasoning: false })]
  ] as const)("never repeats %s", ([, reason]) =>
    Effect.gen(function* () {
      const model = failing(reason)
      expect(yield* settle(Retry.retrying(model.service))).toMatchObject({ _tag: "Left", left: { reason } })
      expect(model.times).toHaveLength(1)
    })
  )

  it.effect.each([
    ["RateLimited", Reason.RateLimited(7_000)],
    ["Unavailable", Reason.Unavailable(503, 7_000)]
  ] as const)("waits as long as the provider asks, not the backoff: %s", ([, reason]) =>
    Effect.gen(function* () {
      const model = failing(reason)
      yield* settle(Retry.retrying(model.service))
      expect(gaps(model.times)).toEqual([7_000])
    })
  )

  it.effect("RT-10: a delay above maxRetryDelay fails at once, with the delay in the reason", () =>
    Effect.gen(function* () {
      const reason = Reason.RateLimited(9_999_999_000)
      for (const options of [{}, { maxRetryDelay: Duration.infinity }]) {
        const model = failing(reason)
        const service = Retry.retrying(model.service, options)
        const result = yield* Effect.either(service.complete(request))
        expect(result).toMatchObject({ _tag: "Left", left: { reason } })
        expect(model.times).toHaveLength(1)
      }
    })
  )

  it.effect("cuts a backoff to maxRetryDelay", () =>
    Effect.gen(function* () {
      const model = failing(Reason.Unavailable(), Reason.Unavailable())
      yield* settle(Retry.retrying(model.service, { backoff: Schedule.spaced("2 hours"), maxRetryDelay: "3 seconds" }))
      expect(gaps(model.times)).toEqual([3_000, 3_000])
    })
  )

  it.effect("RT-07: interruption is never retried", () =>
    Effect.gen(function* () {
      let attempts = 0
      const service = Retry.retrying({
        complete: () => {
          attempts += 1
          return Effect.interrupt
        }
      })
      const exit = yield* Effect.exit(service.complete(request))
      expect(Exit.isInterrupted(exit)).toBe(true)
      expect(attempts).toBe(1)
    })
  )

  it.effect("RT-05: interruption ends a wait at once, and nothing is asked after it", () =>
    Effect.gen(function* () {
      const model = failing(Reason.RateLimited(30_000))
      const fiber = yield* Effect.fork(Retry.retrying(model.service).complete(request))
      yield* TestClock.adjust("20 millis")
      const exit = yield* Fiber.interrupt(fiber)
      expect(Exit.isInterrupted(exit)).toBe(true)
      yield* TestClock.adjust("5 minutes")
      expect(model.times).toEqual([0])
    })
  )

  it.effect("each call has its own count", () =>
    Effect.gen(function* () {
      const model = failing(...Array.from({ length: 6 }, () => Reason.Unavailable()))
      const service = Retry.retrying(model.service)
      yield* settle(service)
      yield* settle(service)
      expect(model.times).toHaveLength(6)
    })
  )

  it.effect("wraps the Llm of any Layer", () =>
    Effect.gen(function* () {
      const model = failing(Reason.RateLimited(0))
      const text = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.map((answer) => answer.text),
        Effect.provide(layer(model.service.complete).pipe(Retry.layer()))
      )
      expect(text).toBe("done")
      expect(model.times).toHaveLength(2)
    })
  )

  it.each([-1, 1.5, Number.NaN])("rejects maxRetries %d", (maxRetries) => {
    expect(() => Retry.schedule({ maxRetries })).toThrow(RangeError)
    expect(() => Retry.layer({ maxRetries })).toThrow(RangeError)
  })
})
