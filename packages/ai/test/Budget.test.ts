import { expect, it } from "@effect/vitest"
import { Llm, LlmError, Reason, type Reply, type Request, reply } from "@forethought/core/Llm"
import { SimulationClock } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as fc from "fast-check"
import { describe, expectTypeOf } from "vitest"
import * as Budget from "../src/Budget.js"
import * as Prices from "../src/Prices.js"
import { counting, request } from "./support/models.js"

const used = (inputTokens: number, outputTokens: number) => () => reply("x", { usage: { inputTokens, outputTokens } })

const exhausted = (limit: string) => ({ _tag: "LlmError", reason: { _tag: "BudgetExhausted", limit } })

const price = { inputPerMillion: 1, outputPerMillion: 10 }

describe("limits", () => {
  it.effect.each([
    ["calls", { calls: 2 }, "calls: 2 of 2 used"],
    ["input tokens", { inputTokens: 250 }, "inputTokens: 200 of 250 used"],
    ["output tokens", { outputTokens: 100 }, "outputTokens: 100 of 100 used"],
    ["money", { money: 0.0012, price }, "money: 0.0012 of 0.0012 USD used"],
    ["a role's", { perRole: { executor: { calls: 2 } } }, "executor calls: 2 of 2 used"]
  ] as const)("%s", ([, options, limit]) =>
    Effect.gen(function* () {
      const { seen, service } = counting(used(100, 50))
      const model = Budget.make(service, { ...options })
      const ask = model.complete(request({ maxTokens: 50, messages: [{ role: "user", content: "x".repeat(384) }] }))
      yield* ask
      yield* ask
      expect(yield* Effect.flip(ask)).toMatchObject({ ...exhausted(limit), role: "executor", call: "turn-1" })
      expect(seen).toHaveLength(2)
    })
  )

  it.effect("one role that is out of budget leaves the others theirs", () =>
    Effect.gen(function* () {
      const model = Budget.make(counting().service, { calls: 10, perRole: { executor: { calls: 1 } } })
      yield* model.complete(request())
      expect(Exit.isFailure(yield* Effect.exit(model.complete(request())))).toBe(true)
      yield* model.complete(request({ role: "planner" }))
      expect(yield* model.spent).toMatchObject({ calls: 2, perRole: { executor: { calls: 1 }, planner: { calls: 1 } } })
    })
  )

  it.effect("the reserve is for the last calls alone", () =>
    Effect.gen(function* () {
      const model = Budget.make(counting(used(5, 50)).service, {
        calls: 3,
        outputTokens: 250,
        reserve: { calls: 1, outputTokens: 100 }
      })
      const ask = (role: Request["role"]) => model.complete(request({ role, maxTokens: 100 }))
      yield* ask("executor")
      yield* ask("executor")
      expect(yield* Effect.flip(ask("executor"))).toMatchObject(exhausted("calls: 2 of 3 used, 1 of them reserved"))
      yield* ask("solver")
      expect(yield* Effect.flip(ask("solver"))).toMatchObject(exhausted("calls: 3 of 3 used"))
    })
  )

  it.effect("a call takes what is left, and a reply that this cuts off is not handed on", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(({ maxTokens = 0 }) =>
        reply("cut", { finishReason: "length", usage: { inputTokens: 1, outputTokens: maxTokens } })
      )
      const model = Budget.make(service, { outputTokens: 150 })
      expect(yield* model.complete(request({ maxTokens: 100 }))).toMatchObject({ finishReason: "length" })
      const error = yield* Effect.flip(model.complete(request({ maxTokens: 100 })))
      expect(error).toMatchObject(exhausted("outputTokens: 100 of 150 used"))
      expect(error.message).toContain("cut off")
      expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([100, 50])
      expect(yield* model.spent).toMatchObject({ outputTokens: 150 })
    })
  )

  it.effect("a request without maxTokens is sent with one only where output is bounded", () =>
    Effect.gen(function* () {
      const { seen, service } = counting()
      yield* Budget.make(service, { calls: 9 }).complete(request())
      yield* Budget.make(service, { outputTokens: 10_000 }).complete(request())
      yield* Budget.make(service, { money: 1, price }).complete(request())
      expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([undefined, 4096, 4096])
    })
  )
})

describe("parallel branches", () => {
  it.effect("never overshoot calls", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(used(1, 1), "1 second")
      const model = Budget.make(service, { calls: 7 })
      const all = Effect.all(
        Array.from({ length: 20 }, () => Effect.exit(model.complete(request()))),
        { concurrency: "unbounded" }
      )
      const exits = yield* Effect.provide(all, SimulationClock.layer())
      expect(exits.filter(Exit.isSuccess)).toHaveLength(7)
      expect(seen).toHaveLength(7)
    })
  )

  it.effect("never overshoot tokens, and use what others did not", () =>
    Effect.gen(function* () {
      const { counts, seen, service } = counting(used(1, 40), "1 second")
      const model = Budget.make(service, { outputTokens: 400 })
      const all = Effect.all(
        Array.from({ length: 20 }, () => Effect.exit(model.complete(request({ maxTokens: 100 })))),
        { concurrency: "unbounded" }
      )
      const exits = yield* Effect.provide(all, SimulationClock.layer())
      expect(counts.maxActive).toBe(4)
      expect(exits.filter(Exit.isSuccess)).toHaveLength(10)
      expect(seen).toHaveLength(10)
      expect(yield* model.spent).toMatchObject({ outputTokens: 400 })
    })
  )

  it.effect("go on in order: a small call does not overtake a large one that waits", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(used(1, 60), "1 second")
      const model = Budget.make(service, { outputTokens: 300 })
      const all = Effect.all(
        [200, 200, 50, 50].map((maxTokens) => Effect.exit(model.complete(request({ maxTokens })))),
        { concurrency: "unbounded" }
      )
      yield* Effect.provide(all, SimulationClock.layer())
      expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([200, 200, 50, 50])
    })
  )

  it.effect("a branch that is interrupted while it waits takes nothing with it", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(used(1, 100), "1 second")
      const model = Budget.make(service, { outputTokens: 200 })
      const ask = model.complete(request({ maxTokens: 200 }))
      const first = yield* Effect.fork(ask)
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(ask)
      const third = yield* Effect.fork(ask)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(second)
      yield* TestClock.adjust("1 seconds")
      yield* first
      yield* TestClock.adjust("1 seconds")
      yield* third
      expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([200, 100])
    })
  )
})

/** One branch: what it asks for, what the model writes, how long it takes, and whether it fails or is interrupted. */
const branch = fc.record({
  maxTokens: fc.integer({ min: 1, max: 100 }),
  writes: fc.integer({ min: 0, max: 100 }),
  millis: fc.integer({ min: 0, max: 20 }),
  ends: fc.constantFrom("well", "fails", "interrupted"),
  role: fc.constantFrom<Request["role"]>("executor", "planner", "solver")
})

it.effect.prop(
  "whatever branches do, nothing is overshot and nothing stays reserved",
  [fc.array(branch, { maxLength: 30 }), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 600 })],
  ([branches, calls, outputTokens]) =>
    Effect.gen(function* () {
      let sent = 0
      let written = 0
      const service = {
        complete: ({ call, maxTokens = 0 }: Request) =>
          Effect.suspend(() => {
            sent += 1
            const plan = branches[Number(call)]
            const tokens = Math.min(plan?.writes ?? 0, maxTokens)
            const ended: Effect.Effect<Reply, LlmError> =
              plan?.ends === "fails"
                ? Effect.fail(new LlmError({ reason: Reason.Unavailable() }))
                : Effect.sync(() => {
                    written += tokens
                    return reply("x", { usage: { inputTokens: 1, outputTokens: tokens } })
                  })
            return Effect.zipRight(Effect.sleep(plan?.millis ?? 0), ended)
          })
      }
      const reserve = { calls: Math.min(calls, 1), outputTokens: Math.min(outputTokens, 50) }
      const model = Budget.make(service, { calls, outputTokens, reserve, perRole: { planner: { calls: 3 } } })
      const run = Effect.forEach(
        branches,
        ({ ends, maxTokens, millis, role }, index) => {
          const ask = model.complete(request({ call: String(index), role, maxTokens }))
          return Effect.exit(ends === "interrupted" ? Effect.timeout(ask, millis / 2) : ask)
        },
        { concurrency: "unbounded" }
      )
      yield* Effect.provide(run, SimulationClock.layer())
      const spent = yield* model.spent
      expect(sent).toBeLessThanOrEqual(calls)
      expect(spent.calls).toBe(sent)
      expect(written).toBeLessThanOrEqual(outputTokens)
      expect(spent.outputTokens).toBe(written)
      // All that is left can be had: nothing waits for a reservation that nobody gives back.
      const left = outputTokens - written
      if (spent.calls < calls && left >= 16) {
        yield* model.complete(request({ role: "solver", call: "last", maxTokens: left }))
      }
    })
)

describe("settling", () => {
  it.effect("a call that failed counts, and gives its tokens back", () =>
    Effect.gen(function* () {
      const { service } = counting(() => new LlmError({ reason: Reason.Unavailable(500) }))
      const model = Budget.make(service, { outputTokens: 100, calls: 5 })
      yield* Effect.flip(model.complete(request({ maxTokens: 100 })))
      expect(yield* Effect.flip(model.complete(request({ maxTokens: 100 })))).toMatchObject({
        reason: { _tag: "Unavailable" }
      })
      expect(yield* model.spent).toMatchObject({ calls: 2, inputTokens: 0, outputTokens: 0 })
    })
  )

  it.effect("a call that was interrupted too", () =>
    Effect.gen(function* () {
      const { counts, service } = counting(used(1, 1), "1 hour")
      const model = Budget.make(service, { outputTokens: 100 })
      const fiber = yield* Effect.fork(model.complete(request({ maxTokens: 100 })))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(counts.interrupted).toBe(1)
      expect(yield* model.spent).toMatchObject({ calls: 1, outputTokens: 0 })
      yield* Effect.fork(model.complete(request({ maxTokens: 100 })))
      yield* Effect.yieldNow()
      expect(counts.active).toBe(1)
    })
  )

  it.effect("without reported usage the estimate is settled", () =>
    Effect.gen(function* () {
      const model = Budget.make(counting(() => reply("y".repeat(40))).service, { price })
      yield* model.complete(request({ messages: [{ role: "user", content: "x".repeat(384) }] }))
      expect(yield* model.spent).toMatchObject({ inputTokens: 100, outputTokens: 10, money: 0.0002 })
    })
  )
})

describe("wall time", () => {
  it.effect("interrupts the call that runs, and refuses those after it", () =>
    Effect.gen(function* () {
      const { counts, seen, service } = counting(used(1, 1), "7 seconds")
      const model = Budget.make(service, { wallTime: "10 seconds" })
      const fiber = yield* Effect.fork(
        Effect.zipRight(model.complete(request()), Effect.flip(model.complete(request())))
      )
      yield* TestClock.adjust("7 seconds")
      yield* TestClock.adjust("3 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject(exhausted("wallTime: 10000 ms"))
      expect(counts.interrupted).toBe(1)
      expect(yield* Effect.flip(model.complete(request()))).toMatchObject(exhausted("wallTime: 10000 ms"))
      expect(seen).toHaveLength(2)
    })
  )

  it.effect("keeps its reserve for the last call", () =>
    Effect.gen(function* () {
      const { service } = counting(used(1, 1), "3 seconds")
      const model = Budget.make(service, { wallTime: "10 seconds", reserve: { wallTime: "5 seconds" } })
      const fiber = yield* Effect.fork(
        Effect.gen(function* () {
          yield* model.complete(request())
          yield* Effect.flip(model.complete(request()))
          return yield* model.complete(request({ role: "solver" }))
        })
      )
      for (let second = 0; second < 9; second++) yield* TestClock.adjust("1 seconds")
      expect((yield* Fiber.join(fiber)).text).toBe("x")
    })
  )
})

describe("layers", () => {
  it.effect("layer: what is spent can be read", () =>
    Effect.gen(function* () {
      yield* Effect.flatMap(Llm, (llm) => llm.complete(request()))
      expect(yield* Budget.spent).toMatchObject({ calls: 1, inputTokens: 7, outputTokens: 5 })
    }).pipe(Effect.provide(Budget.layer({ calls: 1 })(Layer.succeed(Llm, counting(used(7, 5)).service))))
  )

  it.effect("within: each run has its own", () => {
    const run = Budget.within({ calls: 1 })(Effect.flatMap(Llm, (llm) => llm.complete(request())))
    expectTypeOf(run).toEqualTypeOf<Effect.Effect<ReturnType<typeof reply>, LlmError, Llm>>()
    return Effect.zipRight(run, run).pipe(Effect.provide(Layer.succeed(Llm, counting().service)))
  })

  it.effect("usage that cannot be added up counts as none: the estimate is settled", () =>
    Effect.gen(function* () {
      for (const outputTokens of [Number.NaN, Number.POSITIVE_INFINITY, -5]) {
        const { seen, service } = counting(() => reply("x".repeat(400), { usage: { inputTokens: 1, outputTokens } }))
        const model = Budget.make(service, { outputTokens: 250, maxReplyTokens: 100 })
        for (let i = 0; i < 20; i++) yield* Effect.either(model.complete(request()))
        expect(seen.length).toBeLessThan(5)
      }
    })
  )

  it("a mistake in the options is seen where they are written", () => {
    const wrong: ReadonlyArray<readonly [Budget.Options, string]> = [
      [{ money: 1 }, "needs a price"],
      [{ calls: -1 }, "at least 0"],
      [{ outputTokens: Number.NaN }, "at least 0"],
      [{ maxReplyTokens: 0 }, "at least 1"],
      [JSON.parse('{"wallTime":"soon"}'), 'a duration, such as "2 minutes", got "soon"'],
      [JSON.parse('{"reserve":{"calls":1,"roles":["solvr"]}}'), "roles must be"]
    ]
    for (const [options, message] of wrong) expect(() => Budget.layer(options)).toThrow(message)
  })
})

describe("prices", () => {
  it("a snapshot has the price of its model, and nothing else is guessed", () => {
    expect(Prices.of("gpt-4.1-2025-04-14")).toBe(Prices.of("gpt-4.1"))
    expect(Prices.of("claude-haiku-4-5-20251001")).toMatchObject({ inputPerMillion: 1, outputPerMillion: 5 })
    expect(Prices.of("gpt-4.1-turbo")).toBeUndefined()
    expect(Prices.of("toString")).toBeUndefined()
    for (const { asOf, source } of Prices.table.values()) {
      expect(asOf).toMatch(/^\d{4}-\d{2}/)
      expect(source).toMatch(/^https:/)
    }
  })
})
