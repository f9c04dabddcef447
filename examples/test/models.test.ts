import { expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { modelPerRole, program } from "../src/models.js"

/** A model that notes who it is asked as. */
const model = (name: string, says: ReadonlyArray<string>, asked: Array<string>) => {
  const script = ScriptedLlm.make(says)
  return Llm.layer((request) => {
    asked.push(`${name}: ${request.role}`)
    return script.complete(request)
  })
}

it.effect("planner, executor and replanner each have their own model", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const models = modelPerRole({
      planner: model("large", ["1. Find it\n2. Tell it"], asked),
      executor: model("small", ["found", "told"], asked),
      replanner: model("other", ['{"remaining_steps":["Tell it"]}', '{"final_answer":"It is told."}'], asked)
    })
    expect(yield* Effect.provide(program("Tell it"), Layer.merge(models, FakeTools.layer({})))).toBe("It is told.")
    expect(asked).toEqual([
      "large: planner",
      "small: executor",
      "other: replanner",
      "small: executor",
      "other: replanner"
    ])
  })
)
