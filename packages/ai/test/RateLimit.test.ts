import { expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import { Llm, reply } from "@forethought/core/Llm"
import * as Run from "@forethought/core/Run"
import { RunKey } from "@forethought/core/RunKey"
import { SimulationClock } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import * as RateLimit from "../src/RateLimit.js"
import { counting, request } from "./support/models.js"

const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow(), { discard: true })

describe("calls at once", () => {
  it.effect("200 runs under a limit of 8: never more in flight, none lost, none starved", () =>
    Effect.gen(function* () {
      const { counts, seen, service } = counting(undefined, "1 second")
      const model = RateLimit.make(service, { maxConcurrent: 8 })
      const turns = 5
      const run = (index: number) =>
        Run.run("test", "task", (run) =>
          Effect.forEach(Array.from({ length: turns }), (_, turn) =>
            run.complete(request({ call: `${index}/${turn}` }))
          )
        )
      const ends: Array<number> = []
      yield* Effect.forEach(
        Array.from({ length: 200 }),
        (_, index) =>
          Effect.tap(run(index), () =>
            Effect.clockWith((clock) => Effect.sync(() => ends.push(clock.unsafeCurrentTimeMillis())))
          ),
        { concurrency: "unbounded" }
      ).pipe(
        Effect.provideService(Llm, model),
        Effect.provide(Journal.layer(Journal.silent)),
        Effect.provide(SimulationClock.layer())
      )
      expect(counts.maxActive).toBe(8)
      expect(new Set(seen.map(({ call }) => call)).size).toBe(200 * turns)
      // Turns go round: nobody has a second one before everybody had the first, and so all end in the last round.
      expect(seen.slice(0, 200).every(({ call }) => call.endsWith("/0"))).toBe(true)
      expect(Math.min(...ends)).toBeGreaterThan(((200 * (turns - 1)) / 8) * 1000)
      expect(Math.max(...ends)).toBe(((200 * turns) / 8) * 1000)
    })
  )

  it.effect("a run that asks for much does not hold up another", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(undefined, "1 second")
      const model = RateLimit.make(service, { maxConcurrent: 1 })
      const ask = (run: symbol, call: string) =>
        Effect.fork(Effect.provideService(model.complete(request({ call })), RunKey, run))
      const [greedy, modest] = [Symbol("greedy"), Symbol("modest")]
      for (let index = 0; index < 5; index++) yield* ask(greedy, `greedy-${index}`)
      yield* settled
      yield* ask(modest, "modest-0")
      yield* settled
      for (let second = 0; second < 7; second++) yield* Effect.zipRight(TestClock.adjust("1 second"), settled)
      expect(seen.map(({ call }) => call)).toEqual([
        "greedy-0",
        "greedy-1",
        "modest-0",
        "greedy-2",
        "greedy-3",
        "greedy-4"
      ])
    })
  )

  it.effect("interruption of those who wait and of those who run frees their places", () =>
    Effect.gen(function* () {
      const { counts, seen, service } = counting(undefined, "1 second")
      const model = RateLimit.make(service, { maxConcurrent: 2 })
      const fibers = yield* Effect.forEach(Array.from({ length: 10 }), (_, index) =>
        Effect.fork(model.complete(request({ call: String(index) })))
      )
      yield* settled
      yield* Fiber.interruptAll([0, 3, 5].flatMap((index) => fibers[index] ?? []))
      yield* settled
      for (let second = 0; second < 6; second++) yield* Effect.zipRight(TestClock.adjust("1 second"), settled)
      expect(seen.map(({ call }) => call)).toEqual(["0", "1", "2", "4", "6", "7", "8", "9"])
      expect(counts).toMatchObject({ active: 0, maxActive: 2, interrupted: 1 })
    })
  )

  it.live("a long line costs little for each", () =>
    Effect.gen(function* () {
      const { seen, service } = counting()
      const model = RateLimit.make(service, { maxConcurrent: 4 })
      yield* Effect.all(
        Array.from({ length: 5_000 }, () => model.complete(request())),
        { concurrency: "unbounded", discard: true }
      )
      expect(seen).toHaveLength(5_000)
    })
  )
})

describe("per minute", () => {
  const started = (options: RateLimit.Options, minutes: number, answer = () => reply("x")) =>
    Effect.gen(function* () {
      const { seen, service } = counting(answer)
      const model = RateLimit.make(service, options)
      for (let index = 0; index < 7; index++) yield* Effect.fork(model.complete(request({ maxTokens: 94 })))
      yield* settled
      const counts = [seen.length]
      for (let minute = 0; minute < minutes; minute++) {
        yield* Effect.zipRight(TestClock.adjust("59999 millis"), settled)
        counts.push(seen.length)
        yield* Effect.zipRight(TestClock.adjust("1 millis"), settled)
        counts.push(seen.length)
      }
      return counts
    })

  it.effect("requests", () =>
    Effect.gen(function* () {
      expect(yield* started({ requestsPerMinute: 3 }, 2)).toEqual([3, 3, 6, 6, 7])
    })
  )

  // "Work." is 2 tokens and 4 around it, so each call is estimated at 100.
  it.effect("tokens, as estimated where none are reported", () =>
    Effect.gen(function* () {
      expect(yield* started({ tokensPerMinute: 250 }, 3)).toEqual([2, 2, 4, 4, 6, 6, 7])
    })
  )

  it.effect("tokens, as reported", () =>
    Effect.gen(function* () {
      const answer = () => reply("x", { usage: { inputTokens: 6, outputTokens: 44 } })
      expect(yield* started({ tokensPerMinute: 250 }, 1, answer)).toEqual([4, 4, 7])
    })
  )

  it.effect("a call larger than the limit goes alone", () =>
    Effect.gen(function* () {
      expect(yield* started({ tokensPerMinute: 50 }, 2)).toEqual([1, 1, 2, 2, 3])
    })
  )
})

it("a mistake in the options is seen where they are written", () => {
  expect(() => RateLimit.layer({ maxConcurrent: 0 })).toThrow("maxConcurrent must be a whole number of at least 1")
  expect(() => RateLimit.layer({ tokensPerMinute: 0.5 })).toThrow("tokensPerMinute")
})
