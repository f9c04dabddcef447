/**
 * Codecs of the Plan-and-Solve agent.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Event from "@forethought/core/RunEventSchema"
import * as Schema from "effect/Schema"
import * as outcome from "./outcome.js"

const { failure, kind, llmError, parseError, planRefused, truncatedReply } = ErrorCodec
const strings = Schema.Array(Schema.String)

const CollectedData = Schema.Record({
  // No value can be stored under this name: a plain object takes it for its prototype.
  key: Schema.String.pipe(Schema.filter((name) => name !== "__proto__")),
  value: Schema.Struct({ value: Schema.String, step: Schema.Finite })
}).annotations({ identifier: "CollectedData" })
const agentProgress = Schema.Struct({
  pastSteps: Schema.Array(Event.PastStep),
  collectedData: CollectedData
}).annotations({
  identifier: "PlanAndSolveAgentProgress"
})

export const Answered = Schema.Struct({
  _tag: Schema.Literal("Answered"),
  answer: Schema.String,
  pastSteps: Schema.Array(Event.PastStep),
  collectedData: CollectedData
})
export const Progress = agentProgress
export const Error = Schema.Union(
  failure(kind("NotCompleted", { answer: Schema.String, missing: strings }, outcome.NotCompleted), agentProgress),
  failure(parseError, agentProgress),
  failure(truncatedReply, agentProgress),
  failure(llmError, agentProgress),
  failure(planRefused, agentProgress)
)

export const codecs = { result: Answered, error: Error }

// A field that a run gives and its codec does not have does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<typeof Answered.Type, outcome.Answered>
true satisfies Same<typeof Error.Type, outcome.Error>
