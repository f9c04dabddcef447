/**
 * Codecs of Plan-and-Execute.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Event from "@forethought/core/RunEventSchema"
import * as Schema from "effect/Schema"
import * as outcome from "./outcome.js"

const { failure, kind, llmError, parseError, planRefused, truncatedReply } = ErrorCodec
const strings = Schema.Array(Schema.String)

const executeProgress = Schema.Struct({ pastSteps: Schema.Array(Event.PastStep), remainingPlan: strings }).annotations({
  identifier: "PlanAndExecuteProgress"
})

export const Answered = Schema.Struct({
  _tag: Schema.Literal("Answered"),
  answer: Schema.String,
  pastSteps: Schema.Array(Event.PastStep)
})
export const Progress = executeProgress
export const Error = Schema.Union(
  failure(kind("StepCapReached", { maxSteps: Schema.Finite }, outcome.StepCapReached), executeProgress),
  failure(parseError, executeProgress),
  failure(truncatedReply, executeProgress),
  failure(llmError, executeProgress),
  failure(planRefused, executeProgress)
)

export const codecs = { result: Answered, error: Error }

// A field that a run gives and its codec does not have does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<typeof Answered.Type, outcome.Answered>
true satisfies Same<typeof Error.Type, outcome.Error>
