/**
 * The Schema of every event: what it is told with, how it is read back, and what is published as JSON Schema.
 * `RunEvent` takes its types from here and nothing else, so that a run that needs none of this does not load
 * `effect/Schema`.
 */

import * as Schema from "effect/Schema"
import type * as Llm from "./Llm.js"
import { roles } from "./Role.js"

/** The version of the events that this package writes. */
export const version = 2

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

// ---------------------------------------------------------------------------------------------------------------
// parts
// ---------------------------------------------------------------------------------------------------------------

/** Any JSON. Named, so that the published schema holds it once. */
const Anything = Schema.Unknown.annotations({ identifier: "Anything" })

/** A model's role. */
export const Role = Schema.Literal(...roles).annotations({ identifier: "Role" })

export const FinishReason = Schema.Literal("stop", "length", "tool-calls", "content-filter", "other")

/** State that a model must see again with its own turn. Opaque. */
export const ProviderState = Schema.Struct({ from: Schema.String, value: Anything }).annotations({
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
  provider: optional(Schema.String),
  cost: optional(Schema.Finite),
  providerState: optional(ProviderState)
}).annotations({ identifier: "Reply" }) satisfies Schema.Schema<Llm.Reply, Llm.Reply>

const json = Schema.Record({ key: Schema.String, value: Anything })
const strings = Schema.Array(Schema.String)

/** A pattern's request to a model: every message, the tools that were offered, the limits and the format. */
export const ModelRequest = Schema.Struct({
  messages: Schema.Array(
    Schema.Union(
      Schema.Struct({ role: Schema.Literal("system", "user"), content: Schema.String }),
      Schema.Struct({
        role: Schema.Literal("assistant"),
        content: Schema.String,
        toolCalls: optional(Schema.Array(ToolCall))
      }),
      Schema.Struct({
        role: Schema.Literal("tool"),
        content: Schema.String,
        toolCallId: Schema.String,
        name: Schema.String
      })
    )
  ),
  tools: optional(Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, parameters: json }))),
  maxTokens: optional(Schema.Finite),
  temperature: optional(Schema.Finite),
  stop: optional(strings),
  format: optional(Schema.Struct({ name: Schema.String, schema: json }))
}).annotations({ identifier: "ModelRequest" })

/** An error as an event shows it. */
export const ErrorInfo = Schema.Struct({ tag: Schema.String, message: Schema.String }).annotations({
  identifier: "ErrorInfo"
})

/**
 * A step of a plan: for a ReWOO plan with its variable as id, its tool, input and references. A step keeps its id for
 * as long as its text stays the same, and no other step of the run has that id.
 */
export const PlannedStep = Schema.Struct({
  id: Schema.String,
  text: Schema.String,
  dependsOn: strings,
  tool: optional(Schema.String),
  input: optional(Schema.String)
}).annotations({ identifier: "PlannedStep" })

const status = Schema.Literal("completed", "failed")
const outcome = Schema.Literal("ok", "error", "timeout")

/** A step that was executed, with what came of it. */
export const PastStep = Schema.Struct({
  /** That of the planned step. */
  id: Schema.String,
  step: Schema.String,
  /** The executor's result in full; for a failed step the error text, with any partial text. */
  result: Schema.String,
  status
}).annotations({ identifier: "PastStep" })

/** The result of one planned tool call. Times are epoch milliseconds of the run's Clock. */
export const Evidence = Schema.Struct({
  /** `#E1`, `#E2`, … */
  variable: Schema.String,
  /** The planner's reason for it. */
  reason: Schema.String,
  tool: Schema.String,
  /** The input as planned. */
  input: Schema.String,
  /** The input as the tool got it, with evidence in place of the variables. */
  resolvedInput: optional(Schema.String),
  status: Schema.Literal("ok", "error", "timeout", "skipped"),
  /** The tool's result in full, or why there is none. */
  text: Schema.String,
  startedAt: optional(Schema.Finite),
  endedAt: optional(Schema.Finite)
}).annotations({ identifier: "Evidence" })

/** Tokens and US dollars; money is 0 without a price. */
const amounts = {
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  money: Schema.Finite
}

// ---------------------------------------------------------------------------------------------------------------
// events
// ---------------------------------------------------------------------------------------------------------------

const event = <Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({
    _tag: Schema.Literal(tag),
    /** The run, step or call that it is about, see `CallId`. The outermost run has the empty path. */
    call: Schema.String,
    /** Epoch milliseconds of the run's Clock. */
    at: Schema.Finite,
    /** The id of the outermost run. */
    run: Schema.String,
    /**
     * Counts the events of the outermost run and of all runs within it, from 1, in the order in which they are told.
     */
    seq: Schema.Finite,
    ...fields
  }).annotations({ identifier: tag })

/** A run starts. What is optional stands in the outermost run's event alone, if it is known. */
export const RunStarted = event("RunStarted", {
  pattern: Schema.String,
  /** The question, goal or task. */
  task: Schema.String,
  schema: optional(Schema.Literal(version)),
  /** The package that told the events, with its version. */
  library: optional(Schema.String),
  /** The pattern's options, with its defaults. */
  options: optional(json),
  /** The name of each role's model, see `Llm.Service`. */
  models: optional(Schema.partialWith(Schema.Record({ key: Role, value: Schema.String }), { exact: true })),
  /** Each tool with the hash of what describes it, see `ToolHash`. */
  tools: optional(Schema.Array(Schema.Struct({ name: Schema.String, hash: Schema.String })))
})
export const RunEnded = event("RunEnded", {
  pattern: Schema.String,
  outcome: Schema.Literal("succeeded", "failed", "interrupted"),
  error: optional(ErrorInfo)
})
/** A model is asked. The request is told where the app asks for it, see `Journal.requests`. */
export const ModelCallStarted = event("ModelCallStarted", { role: Role, request: optional(ModelRequest) })
/**
 * A piece of a reply that is arriving, see `Journal.streaming`. A retry begins the reply anew; `ModelCallEnded` has it
 * whole.
 */
export const ReplyDelta = event("ReplyDelta", { role: Role, text: Schema.String })
/** A request failed and is repeated after `delay` milliseconds. */
export const ModelRetried = event("ModelRetried", { error: ErrorInfo, delay: Schema.Finite })
/**
 * A request was held back for `waited` milliseconds; `why` is the limit that it waited for, such as
 * `requestsPerMinute`.
 */
export const ModelWaited = event("ModelWaited", { why: Schema.String, waited: Schema.Finite })
/** A model could not answer and another one is asked. Models are named as by `Llm.Service`. */
export const FellBack = event("FellBack", { from: Schema.String, to: Schema.String, error: ErrorInfo })
/** A kept reply, or that of an equal request which is under way, answers; no model is asked. */
export const CacheHit = event("CacheHit", {})
/** A budget took account of a call: what this one used, and what all have used since the budget began. */
export const BudgetSettled = event("BudgetSettled", {
  used: Schema.Struct(amounts),
  spent: Schema.Struct({ calls: Schema.Finite, ...amounts })
})
export const ModelCallEnded = event("ModelCallEnded", {
  role: Role,
  startedAt: Schema.Finite,
  reply: optional(Reply),
  error: optional(ErrorInfo),
  /** The provider that served the model, such as `openai` or `openai-compatible`. */
  provider: optional(Schema.String),
  /** The model that answered, as the provider names it; where none did, the name of the one that was asked. */
  model: optional(Schema.String),
  /** Number of requests it took: 1 without retries and fallback, 0 for a reply from a cache. */
  attempts: optional(Schema.Finite),
  /** Milliseconds until the first piece of the reply arrived. Absent where the reply is not streamed. */
  firstPieceAfter: optional(Schema.Finite),
  /** US dollars, where a price is known and the provider counted the tokens. */
  cost: optional(Schema.Finite)
})
/** A reply could not be used; `reask` says whether the model is asked once more. */
export const ReplyRejected = event("ReplyRejected", { role: Role, error: ErrorInfo, reask: Schema.Boolean })
export const ToolCallStarted = event("ToolCallStarted", { tool: Schema.String, input: Schema.String })
export const ToolCallEnded = event("ToolCallEnded", {
  tool: Schema.String,
  startedAt: Schema.Finite,
  outcome,
  text: Schema.String,
  /** The origin of the result: the tool ran, or it was kept from an earlier call or a recorded run. */
  source: Schema.Literal("live", "cache", "record"),
  /** The tool's own words on what it left out of its result, see `ToolContext.leftOut`. */
  leftOut: optional(Schema.String)
})
/** A plan that is going to run. `planner` says who made it where no model did: `saved plan`. */
export const PlanMade = event("PlanMade", { steps: Schema.Array(PlannedStep), planner: optional(Schema.String) })
export const PlanTruncated = event("PlanTruncated", { kept: strings, dropped: strings })
/** The remaining plan before and after a replan, with the step that caused it. */
export const Replanned = event("Replanned", {
  before: Schema.Array(PlannedStep),
  after: Schema.Array(PlannedStep),
  cause: optional(PastStep)
})
/** A step starts: `id` is that of the planned step, `index` 1 for the first that is executed. */
export const StepStarted = event("StepStarted", { id: Schema.String, index: Schema.Finite, step: Schema.String })
export const StepEnded = event("StepEnded", {
  id: Schema.String,
  index: Schema.Finite,
  step: Schema.String,
  status,
  result: Schema.String
})
export const EvidenceRecorded = event("EvidenceRecorded", { evidence: Evidence })
/** An ADaPT task is tried; `call` is its place in the tree, `1` for the root, `1.2` for its second sub-step. */
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
  status,
  /** The result, or the reason of the failure. */
  detail: Schema.String
})
/** One turn of a ReAct loop, 1 for the first: what the model said and which tools it asked for. */
export const TurnEnded = event("TurnEnded", { turn: Schema.Finite, text: Schema.String, tools: strings })
/** A pattern was chosen; `fallback` where the router's reply could not be read. */
export const Routed = event("Routed", { pattern: Schema.String, reason: Schema.String, fallback: Schema.Boolean })
/** Something that a person should know, though the run goes on. `kind` is a stable word such as `no_progress`. */
export const Warning = event("Warning", { kind: Schema.String, message: Schema.String })

/** Any event. What it decodes to is a `RunEvent`, and every `RunEvent` is encoded as it is. */
export const RunEvent = Schema.Union(
  RunStarted,
  RunEnded,
  ModelCallStarted,
  ReplyDelta,
  ModelRetried,
  ModelWaited,
  FellBack,
  CacheHit,
  BudgetSettled,
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

/** One event as a line of a journal, without its line break. */
export const RunEventLine: Schema.Schema<typeof RunEvent.Type, string> = Schema.parseJson(RunEvent)
