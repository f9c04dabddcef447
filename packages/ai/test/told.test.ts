/** What the layers around a model tell the journal of the run that asks. */
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Run from "@forethought/core/Run"
import type { RunEvent } from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import * as Budget from "../src/Budget.js"
import * as Cache from "../src/Cache.js"
import * as Fallback from "../src/Fallback.js"
import * as Prices from "../src/Prices.js"
import * as RateLimit from "../src/RateLimit.js"
import * as Retry from "../src/Retry.js"

const usage = { inputTokens: 10, outputTokens: 5 }
const error = (reason: Llm.Reason) => new Llm.LlmError({ reason, role: "solver" })
const down = error(Llm.Reason.Unavailable(503))
const named = (complete: Llm.Service["complete"], name = "m"): Layer.Layer<Llm.Llm> =>
  Layer.succeed(Llm.Llm, { complete, model: () => name })
const works = named(() => Effect.succeed(Llm.reply("ok", { usage })))
const fails = (times: number, reason: Llm.LlmError = down) => {
  let left = times
  return named(() =>
    Effect.suspend(() => (left-- > 0 ? Effect.fail(reason) : Effect.succeed(Llm.reply("ok", { usage }))))
  )
}
const asked = (run: Run.Run, call: string) =>
  run.complete({ role: "solver", call, messages: [{ role: "user", content: "Solve." }] })

/** The events of a run that asks under the given ids, all at once, with the clock moved on for an hour. */
const told = (model: Layer.Layer<Llm.Llm>, ...calls: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    const fiber = yield* Run.run("r", "t", (run) =>
      Effect.forEach(calls, (call) => Effect.either(asked(run, call)), { concurrency: "unbounded" })
    ).pipe(Effect.provide(Layer.merge(model, Journal.layer(journal))), Effect.fork)
    yield* TestClock.adjust("1 hour")
    yield* Fiber.join(fiber)
    const events = yield* journal.events
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(new Set(events.map(({ run }) => run)).size).toBe(1)
    return events
  })
const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

describe("ModelRetried", () => {
  it.effect("is told before each wait, with the error and the delay, and the attempts are counted", () =>
    Effect.gen(function* () {
      const events = yield* told(Retry.layer({ backoff: Schedule.exponential(100) })(fails(2)), "a")
      expect(of(events, "ModelRetried")).toMatchObject([
        { call: "a", delay: 100, at: 0, error: { tag: "LlmError", message: expect.stringContaining("HTTP 503") } },
        { call: "a", delay: 200, at: 100 }
      ])
      expect(of(events, "ModelCallEnded")[0]).toMatchObject({ attempts: 3, at: 300 })
    })
  )

  it.effect("tells the delay that a provider asks for, and no retry where there is none", () =>
    Effect.gen(function* () {
      const limited = yield* told(Retry.layer()(fails(1, error(Llm.Reason.RateLimited(2_500)))), "a")
      expect(of(limited, "ModelRetried")).toMatchObject([{ delay: 2_500 }])
      const refused = yield* told(Retry.layer()(fails(1, error(Llm.Reason.Unauthorized()))), "a")
      expect(of(refused, "ModelRetried")).toEqual([])
      const given = yield* told(Retry.layer({ maxRetries: 1, backoff: Schedule.spaced(10) })(fails(9)), "a")
      expect(of(given, "ModelRetried")).toHaveLength(1)
      expect(of(given, "ModelCallEnded")[0]).toMatchObject({ attempts: 2, error: { tag: "LlmError" } })
    })
  )
})

describe("ModelWaited", () => {
  it.effect.each([
    ["requestsPerMinute", { requestsPerMinute: 1 }, 60_000],
    ["tokensPerMinute", { tokensPerMinute: 1_035 }, 60_000]
  ] as const)("names the limit and the wait: %s", ([why, limits, waited]) =>
    Effect.gen(function* () {
      const events = yield* told(RateLimit.layer(limits)(works), "a", "b")
      expect(of(events, "ModelWaited")).toMatchObject([{ call: "b", why, waited }])
    })
  )

  it.effect("names the calls at once, and the budget that others hold", () =>
    Effect.gen(function* () {
      const slow = named(() => Effect.delay(Effect.succeed(Llm.reply("ok", { usage })), 1_000))
      const limited = yield* told(RateLimit.layer({ maxConcurrent: 1 })(slow), "a", "b")
      expect(of(limited, "ModelWaited")).toMatchObject([{ call: "b", why: "maxConcurrent", waited: 1_000 }])
      const held = yield* told(Budget.layer({ outputTokens: 100, maxReplyTokens: 90 })(slow), "a", "b")
      expect(of(held, "ModelWaited")).toMatchObject([{ call: "b", why: "budget", waited: 1_000 }])
    })
  )
})

describe("FellBack", () => {
  it.effect("names both models and the reason", () =>
    Effect.gen(function* () {
      const small = named(() => Effect.succeed(Llm.reply("ok")), "small")
      const events = yield* told(fails(1).pipe(Fallback.layer(small)), "a")
      expect(of(events, "FellBack")).toMatchObject([
        { call: "a", from: "m", to: "small", error: { message: expect.stringContaining("HTTP 503") } }
      ])
      expect(of(events, "ModelCallEnded")[0]).toMatchObject({ attempts: 2 })
      const kept = yield* told(fails(1, error(Llm.Reason.Unauthorized())).pipe(Fallback.layer(small)), "a")
      expect(of(kept, "FellBack")).toEqual([])
    })
  )
})

describe("CacheHit", () => {
  it.effect("is told for a kept reply, and for one that an equal call under way shares; neither costs anything", () =>
    Effect.gen(function* () {
      const slow = named(() => Effect.delay(Effect.succeed(Llm.reply("ok", { usage, cost: 2 })), 1_000))
      const service = yield* Effect.provide(Llm.Llm, Cache.layer()(slow))
      const cached = Layer.succeed(Llm.Llm, service)
      const first = yield* told(cached, "a", "b")
      expect(of(first, "CacheHit").map(({ call }) => call)).toEqual(["b"])
      const ends = (events: ReadonlyArray<RunEvent>) =>
        of(events, "ModelCallEnded")
          .map(({ attempts, call, cost }) => ({ attempts, call, cost }))
          .sort((one, other) => one.call.localeCompare(other.call))
      expect(ends(first)).toEqual([
        { call: "a", attempts: 1, cost: 2 },
        { call: "b", attempts: 0, cost: undefined }
      ])
      expect(ends(yield* told(cached, "c"))).toEqual([{ call: "c", attempts: 0, cost: undefined }])
    })
  )
})

describe("BudgetSettled", () => {
  const price = { inputPerMillion: 100_000, outputPerMillion: 1_000_000 }

  it.effect("tells what a call used and what all have used, and gives the reply its cost", () =>
    Effect.gen(function* () {
      const events = yield* told(Budget.layer({ calls: 5, price })(works), "a", "b")
      expect(of(events, "BudgetSettled")).toMatchObject([
        { call: "a", used: { ...usage, money: 6 }, spent: { calls: 1, ...usage, money: 6 } },
        { call: "b", used: { ...usage, money: 6 }, spent: { calls: 2, inputTokens: 20, outputTokens: 10, money: 12 } }
      ])
      expect(of(events, "ModelCallEnded").map(({ cost }) => cost)).toEqual([6, 6])
      const failed = yield* told(Budget.layer({ calls: 5 })(fails(1)), "a")
      expect(of(failed, "BudgetSettled")).toMatchObject([{ used: { outputTokens: 0 }, spent: { calls: 1 } }])
    })
  )

  it.effect("a price of one's own is the cost, where the tokens were counted", () =>
    Effect.gen(function* () {
      const costs = (model: Layer.Layer<Llm.Llm>) =>
        Effect.map(told(Prices.layer(price)(model), "a"), (events) => of(events, "ModelCallEnded")[0]?.cost)
      expect(yield* costs(works)).toBe(6)
      expect(yield* costs(named(() => Effect.succeed(Llm.reply("ok"))))).toBeUndefined()
    })
  )
})

it.effect("a layer that is asked outside of any run tells nothing, and answers", () =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    const layers = Cache.layer()(Budget.layer({ calls: 3 })(RateLimit.layer({ requestsPerMinute: 9 })(works)))
    const reply = yield* Effect.flatMap(Llm.Llm, (llm) =>
      llm.complete({ role: "solver", call: "a", messages: [] })
    ).pipe(Effect.provide(Layer.merge(layers, Journal.layer(journal))))
    expect(reply.text).toBe("ok")
    expect(yield* journal.events).toEqual([])
  })
)

describe("the name of a role's model is handed on", () => {
  const model: Layer.Layer<Llm.Llm> = Layer.succeed(Llm.Llm, {
    complete: () => Effect.succeed(Llm.reply("ok")),
    model: (role) => `m-${role}`
  })
  it.effect.each([
    ["Retry", Retry.layer()(model), "m-planner"],
    ["RateLimit", RateLimit.layer({ maxConcurrent: 1 })(model), "m-planner"],
    ["Budget", Budget.layer({ calls: 1 })(model), "m-planner"],
    ["Cache", Cache.layer()(model), "m-planner"],
    ["Prices", Prices.layer({ inputPerMillion: 1, outputPerMillion: 1 })(model), "m-planner"],
    ["Fallback", Fallback.layer(works)(model), "m-planner or m"],
    ["byRole", Llm.byRole({ default: works, planner: model }), "m-planner"]
  ] as const)("by %s", ([_, layer, name]) =>
    Effect.gen(function* () {
      const llm = yield* Effect.provide(Llm.Llm, layer)
      expect(llm.model?.("planner")).toBe(name)
    })
  )
})
