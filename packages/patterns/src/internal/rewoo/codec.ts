/**
 * Codecs of ReWOO.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Event from "@forethought/core/RunEventSchema"
import * as Schema from "effect/Schema"
import * as outcome from "./outcome.js"

const { failure, kind, llmError, planRefused, truncatedReply } = ErrorCodec
const strings = Schema.Array(Schema.String)

const issue = <Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(tag), ...fields })

const PlanIssue = Schema.Union(
  issue("Unreadable", { line: Schema.String, at: Schema.Finite, why: Schema.String }),
  issue("Empty", {}),
  issue("TooLong", { length: Schema.Finite, max: Schema.Finite }),
  issue("DuplicateVariable", { variable: Schema.String }),
  issue("UnknownVariable", { variable: Schema.String, mentionedBy: Schema.String }),
  issue("LaterVariable", { variable: Schema.String, mentionedBy: Schema.String }),
  issue("Cycle", { variables: strings }),
  issue("UnknownTool", { variable: Schema.String, tool: Schema.String, available: strings }),
  issue("AmbiguousTool", { variable: Schema.String, tool: Schema.String, candidates: strings })
).annotations({ identifier: "PlanIssue" })

const rewooProgress = Schema.Struct({ evidence: Schema.Array(Event.Evidence) }).annotations({
  identifier: "RewooProgress"
})
export const Answered = Schema.Struct({
  _tag: Schema.Literal("Answered"),
  answer: Schema.String,
  evidence: Schema.Array(Event.Evidence)
})
export const Progress = rewooProgress
export const Error = Schema.Union(
  failure(
    kind("InvalidPlan", { issues: Schema.Array(PlanIssue), reply: Schema.String }, outcome.InvalidPlan),
    rewooProgress
  ),
  failure(truncatedReply, rewooProgress),
  failure(llmError, rewooProgress),
  failure(planRefused, rewooProgress)
)

export const codecs = { result: Answered, error: Error }

// A field that a run gives and its codec does not have does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<typeof Answered.Type, outcome.Answered>
true satisfies Same<typeof Error.Type, outcome.Error>
