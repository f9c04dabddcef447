import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import { expect, it } from "@effect/vitest"
import { Llm, LlmError, Reason, type Reply, type Request, reply, type Service } from "@forethought/core/Llm"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import * as Anthropic from "../src/Anthropic.js"
import * as Budget from "../src/Budget.js"
import * as Cache from "../src/Cache.js"
import * as Fallback from "../src/Fallback.js"
import * as Google from "../src/Google.js"
import * as OpenAi from "../src/OpenAi.js"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as RateLimit from "../src/RateLimit.js"
import * as Retry from "../src/Retry.js"
import { counting, request } from "./support/models.js"

it.effect("an identical request is answered without a call, whatever its id", () =>
  Effect.gen(function* () {
    const { seen, service } = counting(() => reply("Done.", { usage: { inputTokens: 7, outputTokens: 3 } }))
    const model = Cache.make(service)
    const first = yield* model.complete(request({ call: "a" }))
    const told: Array<string> = []
    const onDelta = (text: string) => Effect.sync(() => told.push(text))
    const second = yield* model.complete(request({ call: "b", onDelta }))
    expect(first.usage).toEqual({ inputTokens: 7, outputTokens: 3 })
    expect(second).toEqual({ ...first, usage: { inputTokens: 0, outputTokens: 0 } })
    expect(told).toEqual(["Done."])
    expect(seen).toHaveLength(1)
  })
)

const tool = { name: "T", description: "d", parameters: { type: "object" } }
const differences: ReadonlyArray<Partial<Request>> = [
  { role: "planner" },
  { messages: [{ role: "user", content: "Work!" }] },
  { messages: [{ role: "system", content: "Work." }] },
  { messages: [{ role: "assistant", content: "Work.", toolCalls: [{ id: "1", name: "T", arguments: "{}" }] }] },
  { messages: [{ role: "tool", content: "Work.", toolCallId: "1", name: "T" }] },
  { tools: [tool] },
  { tools: [{ ...tool, description: "e" }] },
  { maxTokens: 1 },
  { temperature: 0 },
  { stop: ["END"] },
  { format: { name: "f", schema: {} } },
  { format: { name: "f", schema: { type: "string" } } }
]

it("any other difference makes another request", () => {
  const keys = [request(), ...differences.map(request)].map(Cache.keyOf)
  expect(new Set(keys).size).toBe(keys.length)
})

it.effect.each([
  ["length", () => reply("x", { finishReason: "length" })],
  ["content-filter", () => reply("x", { finishReason: "content-filter" })],
  ["other", () => reply("x", { finishReason: "other" })],
  ["a failure", () => new LlmError({ reason: Reason.Unavailable() })]
] as const)("a reply that did not finish is not kept: %s", ([, answer]) =>
  Effect.gen(function* () {
    const { seen, service } = counting(answer)
    const model = Cache.make(service)
    yield* Effect.either(model.complete(request()))
    yield* Effect.either(model.complete(request()))
    expect(seen).toHaveLength(2)
  })
)

it.effect("drops what was not used for longest", () =>
  Effect.gen(function* () {
    const { seen, service } = counting()
    const model = Cache.make(service, { capacity: 2 })
    for (const maxTokens of [1, 2, 1, 3, 1, 2]) yield* model.complete(request({ maxTokens }))
    expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([1, 2, 3, 2])
    expect(() => Cache.memory(0)).toThrow("capacity")
  })
)

describe("at once", () => {
  it.effect("identical requests share one call, and each has its own failure", () =>
    Effect.gen(function* () {
      const { seen, service } = counting(() => new LlmError({ reason: Reason.TimedOut(), call: "0", role: "executor" }))
      const model = Cache.make(service)
      const errors = yield* Effect.all(
        ["0", "1", "2"].map((call) => Effect.flip(model.complete(request({ call })))),
        { concurrency: "unbounded" }
      )
      expect(errors.map((error) => error.call)).toEqual(["0", "1", "2"])
      expect(seen).toHaveLength(1)
    })
  )

  it.effect("the one that came first may go; when all have gone the call is interrupted", () =>
    Effect.gen(function* () {
      const { counts, seen, service } = counting(undefined, "1 second")
      const model = Cache.make(service)
      const first = yield* Effect.fork(model.complete(request()))
      yield* TestClock.adjust("1 millis")
      const second = yield* Effect.fork(model.complete(request()))
      yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(second)).text).toBe("Done.")
      expect([seen.length, counts.interrupted]).toEqual([1, 0])

      const alone = Cache.make(service)
      const only = yield* Effect.fork(alone.complete(request()))
      yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(only)
      expect([seen.length, counts.interrupted, counts.active]).toEqual([2, 1, 0])
    })
  )
})

it("a wrong option is refused where the layer is made", () => {
  const misspelt = JSON.parse('{"size":10}')
  expect(() => Cache.layer(misspelt)).toThrow(/unknown option "size"/)
  expect(() => Cache.make(counting().service, misspelt)).toThrow(/unknown option "size"/)
  for (const capacity of [0, -1, 1.5, Number.NaN]) {
    expect(() => Cache.layer({ capacity })).toThrow(RangeError)
    expect(() => Cache.memory(capacity)).toThrow(RangeError)
  }
})

it.effect("a store of one's own; one that fails is no harm", () =>
  Effect.gen(function* () {
    const kept = new Map<string, string>()
    const store: Cache.Store = {
      get: (key) => Effect.sync((): Reply | undefined => JSON.parse(kept.get(key) ?? "null") ?? undefined),
      set: (key, value) => Effect.sync(() => kept.set(key, JSON.stringify(value)))
    }
    const first = counting()
    yield* Cache.make(first.service, { store }).complete(request())
    const second = counting()
    expect((yield* Cache.make(second.service, { store }).complete(request())).text).toBe("Done.")
    expect([first.seen.length, second.seen.length]).toEqual([1, 0])
    const broken: Cache.Store = { get: () => Effect.fail("no disk"), set: () => Effect.die("no disk") }
    expect((yield* Cache.make(second.service, { store: broken }).complete(request())).text).toBe("Done.")
  })
)

const pretty = Exit.match({
  onFailure: (cause: Cause.Cause<unknown>) => Cause.pretty(cause),
  onSuccess: () => "a reply"
})

const answers = (name: string | undefined): Service => ({
  complete: () => Effect.succeed(reply(`I am ${name}`)),
  ...(name === undefined ? {} : { model: () => name })
})

it.effect("AU-14: a store shared by two models keeps their replies apart", () =>
  Effect.gen(function* () {
    const store = Cache.memory()
    const ask = (service: Service) => Effect.map(Cache.make(service, { store }).complete(request()), ({ text }) => text)
    expect(yield* ask(answers("small"))).toBe("I am small")
    expect(yield* ask(answers("large"))).toBe("I am large")
    expect(yield* ask({ ...answers("changed"), model: () => "small" })).toBe("I am small")
    const around = [
      RateLimit.make(answers("limited"), { maxConcurrent: 1 }),
      Retry.retrying(answers("retried")),
      Budget.make(answers("bounded"), { calls: 1 }),
      Cache.make(answers("cached"))
    ]
    expect(yield* Effect.forEach(around, ask)).toEqual(["I am limited", "I am retried", "I am bounded", "I am cached"])
    expect(yield* ask(Fallback.make(answers("first"), answers("second")))).toBe("I am first")
    expect(Fallback.make(answers("first"), answers("second")).model?.("solver")).toBe("first or second")
    expect(Fallback.make(answers("first"), answers(undefined)).model?.("solver")).toBeUndefined()
  })
)

it.effect("AU-14: every provider names its model, by where it is and how it is configured too", () =>
  Effect.gen(function* () {
    const hosted = [OpenAi.layer, Anthropic.layer, Google.layer].flatMap((layer) => [
      layer({ model: "m" }),
      layer({ model: "n" }),
      layer({ model: "m", apiUrl: "http://127.0.0.1/v1?key=SECRET" }),
      layer({ model: "m", config: { effort: "low", user: "SECRET" } }),
      layer({ model: "m", config: { effort: "high" } })
    ])
    const compatible = ["http://127.0.0.1/v1?key=SECRET", "http://127.0.0.1:8080/v1"].flatMap((baseUrl) =>
      ["m", "n"].map((model) => OpenAiCompatible.layer({ baseUrl, model }))
    )
    const nameOf = (layer: Layer.Layer<Llm, never, HttpClient.HttpClient>) =>
      Effect.map(Effect.provide(Llm, layer), ({ model }) => model?.("planner"))
    const names = yield* Effect.forEach([...hosted, ...compatible], nameOf)
    expect(new Set(names).size).toBe(19)
    expect(names.join()).not.toContain("SECRET")
    expect(yield* nameOf(OpenAi.layer({ model: "m", apiKey: Redacted.make("SECRET") }))).toBe(names[0])
  }).pipe(Effect.provide(FetchHttpClient.layer))
)

it.effect("AU-14: one model by role has a key for each of its models", () =>
  Effect.gen(function* () {
    const store = Cache.memory()
    const named = (planner: string): Service => ({
      complete: ({ role }) => Effect.succeed(reply(role === "planner" ? planner : "executor")),
      model: (role) => (role === "planner" ? planner : "executor")
    })
    const ask = (planner: string) =>
      Effect.map(Cache.make(named(planner), { store }).complete(request({ role: "planner" })), ({ text }) => text)
    expect([yield* ask("a"), yield* ask("b"), yield* ask("a")]).toEqual(["a", "b", "a"])
  })
)

it.effect("AU-14: when the first of equal callers is interrupted the survivor has the reply with its usage, once", () =>
  Effect.gen(function* () {
    const usage = { inputTokens: 1000, outputTokens: 7 }
    const told: Array<string> = []
    const { service } = counting(() => reply("Done.", { usage }))
    const slow = Cache.make({
      complete: (asked) =>
        Effect.zipLeft(
          Effect.zipRight(Effect.sleep("1 second"), service.complete(asked)),
          Effect.suspend(() => asked.onDelta?.("Done.") ?? Effect.void)
        )
    })
    const ask = (name: string) =>
      slow.complete(request({ call: name, onDelta: (text) => Effect.sync(() => told.push(`${name} ${text}`)) }))
    const fibers = yield* Effect.forEach(["first", "second", "third"], (name) =>
      Effect.zipLeft(Effect.fork(ask(name)), TestClock.adjust("1 millis"))
    )
    const [first, ...others] = fibers
    if (first !== undefined) yield* Fiber.interrupt(first)
    yield* TestClock.adjust("1 second")
    const replies = yield* Effect.forEach(others, Fiber.join)
    expect(replies.map((said) => said.usage)).toEqual([usage, { inputTokens: 0, outputTokens: 0 }])
    expect(told.sort()).toEqual(["second Done.", "third Done."])
  })
)

it.effect("AU-08: a model that throws where it is asked fails each request in the same way, and holds up none", () =>
  Effect.gen(function* () {
    const broken = Cache.make({
      complete: () => {
        throw new Error("broken")
      }
    })
    for (const call of ["a", "b"]) {
      const exit = yield* Effect.exit(broken.complete(request({ call })))
      expect(pretty(exit)).toContain("broken")
    }
    const dies = Cache.make({ complete: () => Effect.die(new Error("dead")) })
    const exits = yield* Effect.all(
      ["a", "b"].map((call) => Effect.exit(dies.complete(request({ call })))),
      { concurrency: 2 }
    )
    for (const exit of exits) expect(pretty(exit)).toContain("dead")
  })
)

it.effect("AU-08: a store that throws, dies or interrupts is no harm", () =>
  Effect.gen(function* () {
    const throws = (): never => {
      throw new Error("full")
    }
    const stores: ReadonlyArray<Cache.Store> = [
      { get: throws, set: throws },
      { get: () => Effect.die("full"), set: () => Effect.die("full") },
      { get: () => Effect.interrupt, set: () => Effect.interrupt }
    ]
    for (const store of stores) {
      const { seen, service } = counting()
      const model = Cache.make(service, { store })
      expect((yield* model.complete(request())).text).toBe("Done.")
      expect((yield* model.complete(request())).text).toBe("Done.")
      expect(seen).toHaveLength(2)
    }
  }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)))
)
