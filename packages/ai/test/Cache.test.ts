import { expect, it } from "@effect/vitest"
import { LlmError, Reason, type Reply, type Request, reply } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import * as Cache from "../src/Cache.js"
import { counting, request } from "./support/models.js"

it.effect("an identical request is answered without a call, whatever its id", () =>
  Effect.gen(function* () {
    const { seen, service } = counting()
    const model = Cache.make(service)
    const first = yield* model.complete(request({ call: "a" }))
    expect(yield* model.complete(request({ call: "b" }))).toEqual(first)
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
