import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Codec from "@forethought/patterns/Codec"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as Router from "@forethought/patterns/Router"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { patterns, world } from "./world.js"

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const router = await Codec.Router.codecs(patterns)

describe("Codec", () => {
  it.each([
    ["Rewoo", Codec.Rewoo.Answered.ast],
    ["ReAct", Codec.ReAct.Answered.ast],
    ["PlanAndExecute", Codec.PlanAndExecute.Answered.ast],
    ["PlanAndSolve", Codec.PlanAndSolve.Answered(Codec.PlanAndSolve.NumberAnswer).ast],
    ["Adapt", Codec.Adapt.Answered.ast],
    ["PlanAndSolveAgent", Codec.PlanAndSolveAgent.Answered.ast]
  ])("a result of %s comes back as it was stored", (_name, ast) => {
    const codec = Schema.make<unknown, unknown>(ast)
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(codec), (result) => {
        const stored = json(Schema.encodeSync(codec)(result))
        expect(json(Schema.decodeUnknownSync(codec)(stored))).toEqual(stored)
      }),
      { numRuns: 50 }
    )
  })

  it.each([
    ["Rewoo", Codec.Rewoo.Error.ast],
    ["ReAct", Codec.ReAct.Error.ast],
    ["PlanAndExecute", Codec.PlanAndExecute.Error.ast],
    ["PlanAndSolve", Codec.PlanAndSolve.Error.ast],
    ["Adapt", Codec.Adapt.Error.ast],
    ["PlanAndSolveAgent", Codec.PlanAndSolveAgent.Error.ast],
    ["Router", router.error.ast]
  ])("an error of %s comes back as the error it was, with its progress", (_name, ast) => {
    const codec = Schema.make<Error, unknown>(ast)
    const stored = Schema.encodedBoundSchema(codec)
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(stored), (data) => {
        const error = Schema.decodeUnknownSync(codec)(data)
        expect(error).toBeInstanceOf(Error)
        const again = json(Schema.encodeSync(codec)(error))
        // The message is derived from the fields.
        expect(again).toEqual({ ...Object(json(data)), message: error.message })
      }),
      { numRuns: 50 }
    )
  })

  it.effect("what a run fails with is caught by its tag after it was stored and read back", () =>
    Effect.gen(function* () {
      const stop = yield* Effect.flip(PlanAndExecute.run("g", { maxSteps: 1 }))
      const stored = yield* Schema.encode(Codec.PlanAndExecute.Error)(stop)
      const past = yield* Schema.decodeUnknown(Codec.PlanAndExecute.Error)(json(stored)).pipe(
        Effect.flatMap(Effect.fail),
        Effect.catchTag("StepCapReached", ({ progress }) => Effect.succeed(progress)),
        Effect.orDie
      )
      expect(past).toEqual({
        pastSteps: [{ id: "1", step: "A", result: "a", status: "completed" }],
        remainingPlan: ["B"]
      })
    }).pipe(Effect.provide(world(["1. A\n2. B", "a", '{"remaining_steps":["B"]}'])))
  )

  it.effect("a model's failure keeps the tree, whatever pattern the Router chose", () =>
    Effect.gen(function* () {
      const stop = yield* Effect.flip(Router.run("t", { patterns }))
      const stored = json(yield* Schema.encode(router.error)(stop))
      expect(stored).toMatchObject({ _tag: "LlmError", progress: { tree: { id: "1", status: "running" } } })
      const back = yield* Schema.decodeUnknown(router.error)(stored)
      expect(back).toBeInstanceOf(Llm.LlmError)
      expect(json(yield* Schema.encode(router.error)(back))).toEqual(stored)
    }).pipe(
      Effect.provide(
        world(['{"pattern":"adapt","reason":"hard"}', new Llm.LlmError({ reason: Llm.Reason.Unavailable() })])
      )
    )
  )

  it.effect("a tree that was stored comes back whole", () =>
    Effect.gen(function* () {
      const result = yield* Adapt.run("T")
      const stored = json(yield* Schema.encode(Codec.Adapt.Answered)(result))
      expect(yield* Schema.decodeUnknown(Codec.Adapt.Answered)(stored)).toEqual(json(result))
    }).pipe(
      Effect.provide(world(["FAILURE: too hard", '{"logic":"and","sub_steps":["A","B"]}', "SUCCESS: a", "SUCCESS: b"]))
    )
  )
})
