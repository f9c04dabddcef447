import { expect, it } from "@effect/vitest"
import { ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import { arrival } from "../src/answers.js"

it.effect("an answer of one's own form has its type", () =>
  Effect.gen(function* () {
    expect(yield* arrival("A train leaves at 16:20 and takes 45 minutes.")).toEqual({ hours: 17, minutes: 5 })
  }).pipe(Effect.provide(ScriptedLlm.layer(["16:20 and 45 minutes is 17:05.", "17:05"])))
)

it.effect("a reply that is not in the form is asked for again, with the error", () =>
  Effect.gen(function* () {
    expect(yield* arrival("When?")).toEqual({ hours: 17, minutes: 5 })
    const { requests } = yield* ScriptedLlm.ScriptedLlm
    const last = (yield* requests).at(-1)?.messages.at(-1)?.content
    expect(last).toContain("Expected one time of day, written as hh:mm")
  }).pipe(Effect.provide(ScriptedLlm.layer(["At about five.", "five", "17:05"])))
)
