import { reply } from "@forethought/core/Llm"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as FinishWord from "../src/FinishWord.js"

const table: ReadonlyArray<readonly [FinishWord.Meaning, string]> = [
  ["stop", "stop STOP Stop end_turn END_TURN stop_sequence completed FinishReason.STOP eos_token eosFound stop_token"],
  [
    "length",
    "length LENGTH Length max_tokens MAX_TOKENS FinishReason.MAX_TOKENS finish_reason:max_tokens max_output_tokens " +
      "model_length model_context_window_exceeded max-tokens MaxTokens maxPredictedTokensReached contextLengthReached " +
      "token_limit_reached output_limit TOKENS_EXHAUSTED truncated"
  ],
  ["tool-calls", "tool_calls tool_use TOOL_CALL function_call toolCalls tool-calls requires_action"],
  [
    "content-filter",
    "content_filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR refusal sensitive ERROR_TOXIC " +
      "guardrail_intervened content_filtered content-filter LANGUAGE blocked_by_policy SafetyFilter refused moderation"
  ],
  [
    "broken",
    "error ERROR abort aborted cancelled network_error insufficient_system_resource failed timeout userStopped " +
      "MISSING_THOUGHT_SIGNATURE OTHER MALFORMED_RESPONSE ERROR_LIMIT server_error upstream_failure out_of_resources " +
      "CANCELED_BY_USER model_aborted read_timeout interrupted"
  ],
  ["malformed", "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL malformed_tool_use tool_use_failed invalid_tool_call"],
  ["unknown", "eos complete done end <eos>"]
]

describe("FinishWord", () => {
  it.each(table.flatMap(([meaning, words]) => words.split(" ").map((word) => [word, meaning] as const)))(
    "NW-08, NW-10: %s means %s",
    (word, meaning) => expect(FinishWord.meaning(word)).toBe(meaning)
  )

  it("no word is unknown, and so is an empty one", () => {
    expect(FinishWord.meaning(undefined)).toBe("unknown")
    expect(FinishWord.meaning("")).toBe("unknown")
  })

  it("a word that says more than our reasons is kept", () => {
    expect(FinishWord.read("MAX_TOKENS")).toEqual({ finishReason: "length" })
    expect(FinishWord.read("eos")).toEqual({ finishReason: "other", rawFinishReason: "eos" })
    expect(FinishWord.read("abort")).toEqual({ finishReason: "other", rawFinishReason: "abort" })
    expect(FinishWord.read(undefined)).toEqual({ finishReason: "other" })
  })

  it("what a word means can be told from the reply that was made of it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(...table.flatMap(([, words]) => words.split(" ")))), (word) => {
        expect(FinishWord.ofReply(reply("x", FinishWord.read(word)))).toBe(FinishWord.meaning(word))
      })
    )
  })
})
