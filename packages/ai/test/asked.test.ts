/** A model may begin its work where it is asked, as one that is a Promise does: layers ask it when it is its turn, and not before. */
import { describe, expect, it } from "@effect/vitest"
import { LlmError, Reason, reply, type Service } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import * as Budget from "../src/Budget.js"
import * as Cache from "../src/Cache.js"
import * as Fallback from "../src/Fallback.js"
import * as RateLimit from "../src/RateLimit.js"
import * as Retry from "../src/Retry.js"
import { request } from "./support/models.js"

/** Begins at once, and fails the first times. */
const eager = (failures: number) => {
  const counts = { asked: 0, active: 0, most: 0 }
  const service: Service = {
    complete: () => {
      counts.asked += 1
      counts.active += 1
      counts.most = Math.max(counts.most, counts.active)
      const failed = counts.asked <= failures
      const begun = Promise.resolve().then(() => {
        counts.active -= 1
      })
      return Effect.flatMap(
        Effect.promise(() => begun),
        () => (failed ? Effect.fail(new LlmError({ reason: Reason.Unavailable() })) : Effect.succeed(reply("ok")))
      )
    }
  }
  return { counts, service }
}

const layers: ReadonlyArray<readonly [name: string, wrap: (model: Service) => Service]> = [
  ["RateLimit", (model) => RateLimit.make(model, { maxConcurrent: 100 })],
  ["Retry", (model) => Retry.retrying(model, { backoff: Schedule.forever })],
  ["Budget", (model) => Budget.make(model, { calls: 100 })],
  ["Cache", (model) => Cache.make(model)],
  ["Fallback", (model) => Fallback.make(model, eager(0).service)]
]

describe("a model that begins its work where it is asked", () => {
  it.effect.each(layers)("%s asks it when its effect runs, once for each time", ([_, wrap]) =>
    Effect.gen(function* () {
      const { counts, service } = eager(0)
      const asking = wrap(service).complete(request())
      expect(counts.asked).toBe(0)
      yield* asking
      expect(counts.asked).toBe(1)
    })
  )

  it.live("RateLimit: no more at once than it allows", () =>
    Effect.gen(function* () {
      const { counts, service } = eager(0)
      const model = RateLimit.make(service, { maxConcurrent: 2 })
      const calls = Array.from({ length: 10 }, (_, i) => model.complete(request({ call: `${i}` })))
      yield* Effect.all(calls, { concurrency: "unbounded" })
      expect(counts).toEqual({ asked: 10, active: 0, most: 2 })
    })
  )

  it.live("Retry: asked anew for each repetition", () =>
    Effect.gen(function* () {
      const { counts, service } = eager(2)
      const model = Retry.retrying(service, { backoff: Schedule.forever })
      expect(Either.isRight(yield* Effect.either(model.complete(request())))).toBe(true)
      expect(counts.asked).toBe(3)
    })
  )
})
