import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import * as Journal from "../src/Journal.js"
import * as Llm from "../src/Llm.js"
import * as Run from "../src/Run.js"
import { RunKey } from "../src/RunKey.js"

/** Tells its reply in two pieces, where somebody wants to see them. */
const model = Llm.layer(({ onDelta }) =>
  Effect.as(
    Effect.forEach(["One, ", "two."], (text) => onDelta?.(text) ?? Effect.void),
    Llm.reply("One, two.")
  )
)

const ask = Run.run("test", "task", (run) =>
  run.complete({ role: "solver", call: "solver", messages: [{ role: "user", content: "Solve." }] })
)

describe("replies as they arrive", () => {
  const events = (streaming: Layer.Layer<never>) =>
    Effect.gen(function* () {
      const journal = Journal.memory()
      const reply = yield* Effect.provide(ask, Layer.mergeAll(model, Journal.layer(journal), streaming))
      expect(reply).toEqual(Llm.reply("One, two."))
      return (yield* journal.events).map((event) => (event._tag === "ReplyDelta" ? event.text : event._tag))
    })

  it.effect("are events where that is asked for", () =>
    Effect.gen(function* () {
      expect(yield* events(Journal.streaming)).toEqual([
        "RunStarted",
        "ModelCallStarted",
        "One, ",
        "two.",
        "ModelCallEnded",
        "RunEnded"
      ])
    })
  )

  it.effect("and else are not", () =>
    Effect.gen(function* () {
      expect(yield* events(Layer.empty)).toEqual(["RunStarted", "ModelCallStarted", "ModelCallEnded", "RunEnded"])
    })
  )
})

it.effect("every outermost run has a key of its own, which the runs inside it share", () =>
  Effect.gen(function* () {
    const key = Run.run("test", "task", (run) =>
      Effect.all([
        RunKey,
        Run.nested(
          run,
          "inner",
          Run.run("test", "inner", () => RunKey)
        )
      ])
    )
    const [first, second] = yield* Effect.all([key, key]).pipe(
      Effect.provide(Layer.merge(model, Journal.layer(Journal.silent)))
    )
    expect(first[0]).toBe(first[1])
    expect(typeof first[0]).toBe("symbol")
    expect(first[0]).not.toBe(second[0])
  })
)
