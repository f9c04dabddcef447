import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import { ScriptedLlm } from "@forethought/core/testing"
import * as LlmWorker from "@forethought/tools/LlmWorker"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

const call = (said: ScriptedLlm.Said, options?: LlmWorker.Options) =>
  Effect.gen(function* () {
    const toolbox = yield* Toolbox.make([LlmWorker.make(options)])
    const model = yield* ScriptedLlm.ScriptedLlm
    const outcome = yield* Effect.either(toolbox.call({ call: "#E2", tool: "LLM", input: "Which is larger, 2 or 3?" }))
    const [request] = yield* model.requests
    return { outcome, request }
  }).pipe(Effect.provide(ScriptedLlm.layer([said])))

describe("LlmWorker", () => {
  it.effect("asks the executor's model under the id of the tool call", () =>
    Effect.gen(function* () {
      const { outcome, request } = yield* call("<think>3 > 2</think>\n3", { maxTokens: 50 })
      expect(outcome).toEqual(Either.right("3"))
      expect(request).toMatchObject({ role: "executor", call: "#E2", maxTokens: 50 })
      expect(request?.messages.at(-1)).toEqual({ role: "user", content: "Which is larger, 2 or 3?" })
    })
  )

  it.effect.each([
    { said: { text: "3 bec", finishReason: "length" as const }, words: "cut off by the token limit" },
    { said: { text: "", finishReason: "stop" as const }, words: "gave an empty reply" },
    { said: { text: "<think>hm", finishReason: "stop" as const }, words: "only reasoning" },
    { said: { text: "I", finishReason: "content-filter" as const }, words: "refused" },
    { said: new Llm.LlmError({ reason: Llm.Reason.Unavailable(503) }), words: "HTTP 503" }
  ])("a reply that is no answer fails the tool: $words", ({ said, words }) =>
    Effect.gen(function* () {
      const { outcome } = yield* call(said)
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("ToolFailed")
      expect(Either.isLeft(outcome) && outcome.left.message).toContain(words)
    })
  )

  it.effect("tells the journal of the model call", () =>
    Effect.gen(function* () {
      const journal = Journal.memory()
      yield* call("3").pipe(Effect.provide(Journal.layer(journal)))
      expect((yield* journal.events).map((event) => [event._tag, event.call])).toEqual([
        ["ModelCallStarted", "#E2"],
        ["ModelCallEnded", "#E2"]
      ])
    })
  )
})
