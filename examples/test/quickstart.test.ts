import { expect, it } from "@effect/vitest"
import { ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { program, tools } from "../src/quickstart.js"

it.effect("looks both up and adds", () =>
  Effect.gen(function* () {
    expect(yield* program).toBe("2,745,347,328: the sum of both populations.")
    const { prompts } = yield* ScriptedLlm.ScriptedLlm
    expect((yield* prompts)[1]).toContain("2745347328")
  }).pipe(
    Effect.provide(
      Layer.merge(
        tools,
        ScriptedLlm.layer([
          `Plan: one
#E1 = Lookup[population of China]
Plan: the other
#E2 = Lookup[population of India]
Plan: together
#E3 = Calculator[#E1 + #E2]`,
          "2,745,347,328: the sum of both populations."
        ])
      )
    )
  )
)
