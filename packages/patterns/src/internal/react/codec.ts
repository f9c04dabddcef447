/**
 * Codecs of ReAct.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Schema from "effect/Schema"
import * as outcome from "./outcome.js"

const { failure, kind, llmError, truncatedReply } = ErrorCodec

const Turn = Schema.Struct({
  text: Schema.String,
  calls: Schema.Array(
    Schema.Struct({
      tool: Schema.String,
      input: Schema.String,
      outcome: Schema.Literal("ok", "error", "timeout"),
      observation: Schema.String
    })
  )
}).annotations({ identifier: "Turn" })
const reactProgress = Schema.Struct({ turns: Schema.Array(Turn) }).annotations({ identifier: "ReActProgress" })

export const Answered = Schema.Struct({
  _tag: Schema.Literal("Answered"),
  answer: Schema.String,
  turns: Schema.Array(Turn)
})
export const Progress = reactProgress
const lastText = Schema.String
export const Error = Schema.Union(
  failure(
    kind(
      "CapReached",
      { cap: Schema.Literal("maxTurns", "maxToolCalls"), limit: Schema.Finite, lastText },
      outcome.CapReached
    ),
    reactProgress
  ),
  failure(
    kind("Stuck", { kind: Schema.Literal("repeat", "malformed"), detail: Schema.String, lastText }, outcome.Stuck),
    reactProgress
  ),
  failure(truncatedReply, reactProgress),
  failure(llmError, reactProgress)
)

export const codecs = { result: Answered, error: Error }

// A field that a run gives and its codec does not have does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<typeof Answered.Type, outcome.Answered>
true satisfies Same<typeof Error.Type, outcome.Error>
