/**
 * The Schema of every `RunEvent`: to validate, to read back what a journal wrote, and to publish as JSON Schema. Kept
 * apart from `RunEvent`, so that a run that needs none of this does not load `effect/Schema`.
 */

import * as Schema from "effect/Schema"
import type * as Llm from "./Llm.js"
import { roles } from "./Role.js"
import type * as Event from "./RunEvent.js"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

// ---------------------------------------------------------------------------------------------------------------
// parts
// ---------------------------------------------------------------------------------------------------------------

/** A model's role. */
export const Role = Schema.Literal(...roles).annotations({ identifier: "Role" })

export const FinishReason = Schema.Literal("stop", "length", "tool-calls", "content-filter", "other")

/** What a model must see again with its own turn. Opaque. */
export const ProviderState = Schema.Struct({ from: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "ProviderState"
}) satisfies Schema.Schema<Llm.ProviderState, Llm.ProviderState>

export const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
  providerState: optional(ProviderState)
}).annotations({ identifier: "ToolCall" })

/** A model's reply. Token counts are whole numbers where the provider gave them. */
export const Reply = Schema.Struct({
  text: Schema.String,
  toolCalls: Schema.Array(ToolCall),
  reasoning: optional(Schema.String),
  finishReason: FinishReason,
  rawFinishReason: optional(Schema.String),
  usage: Schema.Struct({
    inputTokens: optional(Schema.Finite),
    outputTokens: optional(Schema.Finite),
    cachedInputTokens: optional(Schema.Finite),
    reasoningTokens: optional(Schema.Finite)
  }),
  model: optional(Schema.String),
  providerState: optional(ProviderState)
}).annotations({ identifier: "Reply" }) satisfies Schema.Schema<Llm.Reply, Llm.Reply>

export const ErrorInfo = Schema.Struct({ tag: Schema.String, message: Schema.String }).annotations({
  identifier: "ErrorInfo"
}) satisfies Schema.Schema<Event.ErrorInfo, Event.ErrorInfo>

export const PlannedStep = Schema.Struct({
  id: Schema.String,
  text: Schema.String,
  dependsOn: Schema.Array(Schema.String),
  tool: optional(Schema.String),
  input: optional(Schema.String)
}).annotations({ identifier: "PlannedStep" }) satisfies Schema.Schema<Event.PlannedStep, Event.PlannedStep>

export const PastStep = Schema.Struct({
  id: Schema.String,
  step: Schema.String,
  result: Schema.String,
  status: Schema.Literal("completed", "failed")
}).annotations({ identifier: "PastStep" }) satisfies Schema.Schema<Event.PastStep, Event.PastStep>

export const Evidence = Schema.Struct({
  variable: Schema.String,
  reason: Schema.String,
  tool: Schema.String,
  input: Schema.String,
  resolvedInput: optional(Schema.String),
  status: Schema.Literal("ok", "error", "timeout", "skipped"),
  text: Schema.String,
  startedAt: optional(Schema.Finite),
  endedAt: optional(Schema.Finite)
}).annotations({ identifier: "Evidence" }) satisfies Schema.Schema<Event.Evidence, Event.Evidence>

// ---------------------------------------------------------------------------------------------------------------
// events
// ---------------------------------------------------------------------------------------------------------------

const event = <Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(tag), call: Schema.String, at: Schema.Finite, ...fields }).annotations({
    identifier: tag
  })

const status = Schema.Literal("completed", "failed")
const outcome = Schema.Literal("ok", "error", "timeout")
const strings = Schema.Array(Schema.String)

export const RunStarted = event("RunStarted", { pattern: Schema.String, task: Schema.String })
export const RunEnded = event("RunEnded", {
  pattern: Schema.String,
  outcome: Schema.Literal("succeeded", "failed", "interrupted"),
  error: optional(ErrorInfo)
})
export const ModelCallStarted = event("ModelCallStarted", { role: Role })
export const ReplyDelta = event("ReplyDelta", { role: Role, text: Schema.String })
export const ModelCallEnded = event("ModelCallEnded", {
  role: Role,
  startedAt: Schema.Finite,
  reply: optional(Reply),
  error: optional(ErrorInfo)
})
export const ReplyRejected = event("ReplyRejected", { role: Role, error: ErrorInfo, reask: Schema.Boolean })
export const ToolCallStarted = event("ToolCallStarted", { tool: Schema.String, input: Schema.String })
export const ToolCallEnded = event("ToolCallEnded", {
  tool: Schema.String,
  startedAt: Schema.Finite,
  outcome,
  text: Schema.String
})
export const PlanMade = event("PlanMade", { steps: Schema.Array(PlannedStep) })
export const PlanTruncated = event("PlanTruncated", { kept: strings, dropped: strings })
export const Replanned = event("Replanned", { before: strings, after: strings, cause: PastStep })
export const StepStarted = event("StepStarted", { index: Schema.Finite, step: Schema.String })
export const StepEnded = event("StepEnded", {
  index: Schema.Finite,
  step: Schema.String,
  status,
  result: Schema.String
})
export const EvidenceRecorded = event("EvidenceRecorded", { evidence: Evidence })
export const TaskStarted = event("TaskStarted", { task: Schema.String, depth: Schema.Finite })
export const TaskDecomposed = event("TaskDecomposed", {
  task: Schema.String,
  depth: Schema.Finite,
  logic: Schema.Literal("and", "or"),
  subSteps: strings
})
export const TaskEnded = event("TaskEnded", {
  task: Schema.String,
  depth: Schema.Finite,
  status: Schema.Literal("completed", "failed"),
  detail: Schema.String
})
export const TurnEnded = event("TurnEnded", { turn: Schema.Finite, text: Schema.String, tools: strings })
export const Routed = event("Routed", { pattern: Schema.String, reason: Schema.String, fallback: Schema.Boolean })
export const Warning = event("Warning", { kind: Schema.String, message: Schema.String })

/** Any event. What it decodes to is a `RunEvent`, and every `RunEvent` is encoded as it is. */
export const RunEvent = Schema.Union(
  RunStarted,
  RunEnded,
  ModelCallStarted,
  ReplyDelta,
  ModelCallEnded,
  ReplyRejected,
  ToolCallStarted,
  ToolCallEnded,
  PlanMade,
  PlanTruncated,
  Replanned,
  StepStarted,
  StepEnded,
  EvidenceRecorded,
  TaskStarted,
  TaskDecomposed,
  TaskEnded,
  TurnEnded,
  Routed,
  Warning
).annotations({ identifier: "RunEvent", description: "One line of the event file: something that happened in a run" })

// A field that one side has and the other has not does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<Schema.Schema.Type<typeof RunEvent>, Event.RunEvent>
true satisfies Same<Schema.Schema.Encoded<typeof RunEvent>, Event.RunEvent>

/** One event as a line of a journal, without its line break. */
export const RunEventLine: Schema.Schema<Event.RunEvent, string> = Schema.parseJson(RunEvent)
