import { expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import { FakeTools } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { answer, limited } from "../src/limits.js"

/** A model that plans one look and answers, each in a second, and counts. */
const model = (name: string, works: boolean) => {
  const counts = { calls: 0, active: 0, maxActive: 0 }
  const layer = Llm.layer((request) =>
    Effect.gen(function* () {
      counts.calls += 1
      counts.active += 1
      counts.maxActive = Math.max(counts.maxActive, counts.active)
      yield* Effect.sleep("1 second")
      if (!works) return yield* Effect.fail(new Llm.LlmError({ reason: Llm.Reason.Unavailable() }))
      return Llm.reply(request.role === "planner" ? "Plan: Look.\n#E1 = Search[a]" : `${name} found it.`)
    }).pipe(Effect.ensuring(Effect.sync(() => (counts.active -= 1))))
  )
  return { counts, layer }
}

const run = (first: ReturnType<typeof model>, second: ReturnType<typeof model>, questions: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forEach(questions, answer, { concurrency: "unbounded" }).pipe(
      Effect.provide(
        Layer.mergeAll(
          limited(first.layer, second.layer),
          FakeTools.layer({ Search: "found" }),
          Journal.layer(Journal.silent)
        )
      ),
      Effect.fork
    )
    for (let second = 0; second < 30; second++) yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

it.effect("runs at once stay within the limits, and equal questions share their calls", () =>
  Effect.gen(function* () {
    const [home, cloud] = [model("home", true), model("cloud", true)]
    const answers = yield* run(home, cloud, ["one", "two", "three", "four", "one"])
    expect(answers.map(([text]) => text)).toEqual(Array.from({ length: 5 }, () => "home found it."))
    expect(answers[0]?.[1]).toMatchObject({ calls: 2 })
    expect(home.counts).toMatchObject({ calls: 8, maxActive: 2 })
    expect(cloud.counts.calls).toBe(0)
  })
)

it.effect("a model that is down is stood in for", () =>
  Effect.gen(function* () {
    const [home, cloud] = [model("home", false), model("cloud", true)]
    expect((yield* run(home, cloud, ["one"])).map(([text]) => text)).toEqual(["cloud found it."])
    expect([home.counts.calls, cloud.counts.calls]).toEqual([2, 2])
  })
)
