/** Layers of models, wrapped or not, are built once wherever they stand, as in any Effect program. */
import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Budget from "../src/Budget.js"
import * as Cache from "../src/Cache.js"
import * as Fallback from "../src/Fallback.js"
import * as RateLimit from "../src/RateLimit.js"
import * as Retry from "../src/Retry.js"
import { request } from "./support/models.js"

/** A model that counts how often it is built and asked, and how many calls run at once. */
const counted = () => {
  const counts = { built: 0, released: 0, calls: 0, active: 0, most: 0 }
  const service = (): Llm.Service => {
    counts.built += 1
    return {
      complete: () =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            counts.calls += 1
            counts.active += 1
            counts.most = Math.max(counts.most, counts.active)
          }),
          () => Effect.as(Effect.yieldNow(), Llm.reply("x", { usage: { inputTokens: 1, outputTokens: 1 } })),
          () => Effect.sync(() => void counts.active--)
        )
    }
  }
  const layer = Layer.scoped(
    Llm.Llm,
    Effect.acquireRelease(Effect.sync(service), () => Effect.sync(() => void counts.released++))
  )
  return { counts, layer }
}

const ask = (role: Llm.Role) => Effect.flatMap(Llm.Llm, (llm) => llm.complete(request({ role, call: role })))
const askAll = Effect.forEach(["planner", "executor", "solver"] as const, (role) => Effect.exit(ask(role)), {
  concurrency: 3
})
class Other extends Effect.Service<Other>()("Other", { effect: Effect.as(Llm.Llm, {}) }) {}

const wrappers: ReadonlyArray<
  readonly [name: string, wrap: (model: Layer.Layer<Llm.Llm>) => Layer.Layer<Llm.Llm>, answered: number, most: number]
> = [
  ["nothing", (model) => model, 3, 3],
  ["a Budget of one call", Budget.layer({ calls: 1 }), 1, 1],
  ["a RateLimit of one at a time", RateLimit.layer({ maxConcurrent: 1 }), 3, 1],
  ["a Cache", Cache.layer(), 3, 3],
  ["Retry", Retry.layer(), 3, 3],
  ["a Fallback", Fallback.layer(Llm.layer(() => Effect.succeed(Llm.reply("other")))), 3, 3],
  [
    "all of them",
    (model) =>
      model.pipe(RateLimit.layer({ maxConcurrent: 1 }), Retry.layer(), Budget.layer({ calls: 2 }), Cache.layer()),
    2,
    1
  ]
]

describe("AU-02: a layer that is given several times is built once", () => {
  for (const [name, wrap, answered, most] of wrappers) {
    it.effect(`${name} around a model, for three roles`, () =>
      Effect.gen(function* () {
        const { counts, layer } = counted()
        const model = wrap(layer)
        const exits = yield* Effect.provide(askAll, Llm.byRole({ default: model, executor: model, solver: model }))
        expect(exits.filter(({ _tag }) => _tag === "Success")).toHaveLength(answered)
        expect([counts.built, counts.released, counts.most]).toEqual([1, 1, most])
      })
    )

    it.effect(`${name} around a model, in byRole and elsewhere in the app`, () =>
      Effect.gen(function* () {
        const { counts, layer } = counted()
        const model = wrap(layer)
        const app = Layer.mergeAll(
          Llm.byRole({ default: model }),
          Layer.provide(Other.Default, model),
          Layer.provide(Other.Default, Llm.byRole({ default: model, planner: model }))
        )
        yield* Effect.provide(Effect.all([ask("planner"), Other]), app)
        expect([counts.built, counts.released]).toEqual([1, 1])
      })
    )

    it.effect(`${name} around a model, plain and behind a Fallback, and as the second of one`, () =>
      Effect.gen(function* () {
        const { counts, layer } = counted()
        const model = wrap(layer)
        const other = Llm.layer(() => Effect.succeed(Llm.reply("other")))
        const exits = yield* Effect.provide(
          askAll,
          Llm.byRole({
            default: model,
            executor: model.pipe(Fallback.layer(other)),
            solver: other.pipe(Fallback.layer(model), Fallback.layer(model))
          })
        )
        expect(exits.filter(({ _tag }) => _tag === "Success").length).toBeGreaterThanOrEqual(2)
        expect(counts.built).toBe(1)
      })
    )
  }

  it.effect("each role still gets its own model, and is named by it", () =>
    Effect.gen(function* () {
      const named = (name: string) =>
        Layer.succeed(Llm.Llm, { complete: () => Effect.succeed(Llm.reply(name)), model: () => name })
      const models = Llm.byRole({ default: named("large"), executor: named("small") })
      const said = Effect.forEach(["planner", "executor"] as const, (role) =>
        Effect.map(Effect.all([ask(role), Llm.Llm]), ([{ text }, llm]) => [text, llm.model?.(role)])
      )
      expect(yield* Effect.provide(said, models)).toEqual([
        ["large", "large"],
        ["small", "small"]
      ])
    })
  )
})
