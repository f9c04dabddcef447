import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import * as Journal from "../src/Journal.js"
import * as Llm from "../src/Llm.js"
import * as Run from "../src/Run.js"
import { RunKey } from "../src/RunKey.js"
import type * as Toolbox from "../src/Toolbox.js"
import { ToolFailed } from "../src/ToolError.js"

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

it.effect("no event of a run has its key in it", () =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    yield* Effect.provide(ask, Layer.merge(model, Journal.layer(journal)))
    const events = yield* journal.events
    expect(events).toHaveLength(4)
    // A symbol cannot be cloned.
    expect(structuredClone(events)).toEqual(events)
  })
)

describe("a call of a toolbox that somebody else made ends, one way or the other", () => {
  // As a program without types might give them.
  const odd = JSON.parse('[{"a":1},"oops",null]')
  const toolboxes: ReadonlyArray<
    readonly [does: string, call: Toolbox.Service["call"], outcome: string, text: string]
  > = [
    [
      "throws",
      () => {
        throw new Error("no ink")
      },
      "error",
      "T failed: no ink"
    ],
    ["dies", () => Effect.die(new Error("no ink")), "error", "T failed: no ink"],
    ["interrupts", () => Effect.interrupt, "error", "T failed: The tool was interrupted."],
    ["fails as it should", () => Effect.fail(new ToolFailed({ tool: "X", detail: "d" })), "error", "X failed: d"],
    ["fails with an error of its own", () => Effect.fail(odd[0]), "error", 'T failed: {"a":1}'],
    ["fails with a text", () => Effect.fail(odd[1]), "error", "T failed: oops"],
    ["fails with null", () => Effect.fail(odd[2]), "error", "T failed: null"],
    ["fails with nothing", () => Effect.fail(odd[3]), "error", "T failed: (no result)"],
    ["gives what is no effect", () => odd[0], "error", "T failed: Not a valid effect"],
    ["gives what is no text", () => Effect.succeed(odd[0]), "ok", '{"a":1}'],
    ["gives nothing", () => Effect.succeed(odd[3]), "ok", "(no result)"]
  ]
  it.effect.each(toolboxes)("%s", ([_, call, outcome, text]) =>
    Effect.gen(function* () {
      const journal = Journal.memory()
      const request = { call: "c", tool: "T", input: "" }
      const ended = yield* Run.run("test", "task", (run) => run.callTool({ tools: [], call }, request)).pipe(
        Effect.provide(Layer.merge(model, Journal.layer(journal)))
      )
      expect(ended.outcome).toBe(outcome)
      expect(ended.text).toContain(text)
      expect((yield* journal.events).find(({ _tag }) => _tag === "ToolCallEnded")).toMatchObject({
        outcome,
        text: ended.text
      })
    })
  )
})
