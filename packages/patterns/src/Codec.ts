/**
 * Codecs of the results and errors of every pattern, to store or send them. Errors decode to their classes, with their
 * `progress`. Kept apart from the patterns, so that a run that needs none of this does not load `effect/Schema`.
 *
 * @example
 * ```ts
 * const stored = Schema.encodeSync(Codec.PlanAndExecute.Error)(stop)
 * ```
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Event from "@forethought/core/RunEventSchema"
import * as Schema from "effect/Schema"
import * as AdaptModule from "./Adapt.js"
import * as PlanAndExecuteModule from "./PlanAndExecute.js"
import type * as PlanAndSolveModule from "./PlanAndSolve.js"
import * as PlanAndSolveAgentModule from "./PlanAndSolveAgent.js"
import * as ReActModule from "./ReAct.js"
import * as RewooModule from "./Rewoo.js"
import type * as RouterModule from "./Router.js"

const { data, llmError, llmFailure, make, parseError, parseFailure, truncatedFailure, truncatedReply } = ErrorCodec

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const strings = Schema.Array(Schema.String)
const Answered = Schema.Literal("Answered")

// ---------------------------------------------------------------------------------------------------------------
// ReWOO
// ---------------------------------------------------------------------------------------------------------------

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
  issue("AmbiguousTool", { variable: Schema.String, tool: Schema.String, candidates: strings }),
  issue("Refused", { reason: Schema.String })
).annotations({ identifier: "PlanIssue" })

const rewooProgress = Schema.Struct({ evidence: Schema.Array(Event.Evidence) }).annotations({
  identifier: "RewooProgress"
})
const invalidPlan = data("InvalidPlan", {
  issues: Schema.Array(PlanIssue),
  reply: Schema.String,
  progress: rewooProgress
})

export const Rewoo = {
  Answered: Schema.Struct({ _tag: Answered, answer: Schema.String, evidence: Schema.Array(Event.Evidence) }),
  Progress: rewooProgress,
  Error: Schema.Union(
    make(
      invalidPlan,
      (value): value is Extract<RewooModule.Error, { readonly _tag: "InvalidPlan" }> =>
        value instanceof RewooModule.InvalidPlan && "progress" in value,
      ({ _tag, message, progress, ...fields }) => Object.assign(new RewooModule.InvalidPlan(fields), { progress })
    ),
    truncatedFailure(data("TruncatedReply", { ...truncatedReply, progress: rewooProgress })),
    llmFailure(data("LlmError", { ...llmError, progress: rewooProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// ReAct
// ---------------------------------------------------------------------------------------------------------------

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

export const ReAct = {
  Answered: Schema.Struct({ _tag: Answered, answer: Schema.String, turns: Schema.Array(Turn) }),
  Progress: reactProgress,
  Error: Schema.Union(
    make(
      data("CapReached", {
        cap: Schema.Literal("maxTurns", "maxToolCalls"),
        limit: Schema.Finite,
        lastText: Schema.String,
        progress: reactProgress
      }),
      (value): value is Extract<ReActModule.Error, { readonly _tag: "CapReached" }> =>
        value instanceof ReActModule.CapReached && "progress" in value,
      ({ _tag, message, progress, ...fields }) => Object.assign(new ReActModule.CapReached(fields), { progress })
    ),
    make(
      data("Stuck", {
        kind: Schema.Literal("repeat", "malformed"),
        detail: Schema.String,
        lastText: Schema.String,
        progress: reactProgress
      }),
      (value): value is Extract<ReActModule.Error, { readonly _tag: "Stuck" }> =>
        value instanceof ReActModule.Stuck && "progress" in value,
      ({ _tag, message, progress, ...fields }) => Object.assign(new ReActModule.Stuck(fields), { progress })
    ),
    truncatedFailure(data("TruncatedReply", { ...truncatedReply, progress: reactProgress })),
    llmFailure(data("LlmError", { ...llmError, progress: reactProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// Plan-and-Execute
// ---------------------------------------------------------------------------------------------------------------

const executeProgress = Schema.Struct({ pastSteps: Schema.Array(Event.PastStep), remainingPlan: strings }).annotations({
  identifier: "PlanAndExecuteProgress"
})

export const PlanAndExecute = {
  Answered: Schema.Struct({
    _tag: Answered,
    answer: Schema.String,
    pastSteps: Schema.Array(Event.PastStep)
  }),
  Progress: executeProgress,
  Error: Schema.Union(
    make(
      data("StepCapReached", { maxSteps: Schema.Finite, progress: executeProgress }),
      (value) => value instanceof PlanAndExecuteModule.StepCapReached,
      ({ _tag, message, ...fields }) => new PlanAndExecuteModule.StepCapReached(fields)
    ),
    parseFailure(data("ParseError", { ...parseError, progress: executeProgress })),
    truncatedFailure(data("TruncatedReply", { ...truncatedReply, progress: executeProgress })),
    llmFailure(data("LlmError", { ...llmError, progress: executeProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// Plan-and-Solve
// ---------------------------------------------------------------------------------------------------------------

const solveProgress = Schema.Struct({ reasoning: optional(Schema.String) })

export const PlanAndSolve = {
  /** The answer of a format's type, such as {@link NumberAnswer}. */
  Answered: <A, I>(answer: Schema.Schema<A, I>) =>
    Schema.Struct({ _tag: Answered, answer, text: Schema.String, reasoning: Schema.String }),
  /** The answer of `AnswerFormat.number`. Those of dates, options and texts are strings. */
  NumberAnswer: Schema.Struct({ value: Schema.Finite, unit: optional(Schema.String) }),
  Progress: solveProgress,
  Error: Schema.Union(
    parseFailure(data("ParseError", { ...parseError, progress: solveProgress })),
    truncatedFailure(data("TruncatedReply", { ...truncatedReply, progress: solveProgress })),
    llmFailure(data("LlmError", { ...llmError, progress: solveProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// ADaPT
// ---------------------------------------------------------------------------------------------------------------

const Result: Schema.Schema<AdaptModule.Result> = Schema.suspend(
  (): Schema.Schema<AdaptModule.Result> => Schema.Union(Schema.String, Schema.Array(Result))
).annotations({ identifier: "Result" })

const TaskNode = Schema.Struct({
  _tag: Schema.Literal("Task"),
  id: Schema.String,
  task: Schema.String,
  depth: Schema.Finite,
  status: Schema.Literal("completed", "failed", "running"),
  attempt: optional(
    Schema.Struct({
      status: Schema.Literal("completed", "failed"),
      detail: Schema.String,
      verified: Schema.Boolean
    })
  ),
  subSteps: optional(
    Schema.suspend((): Schema.Schema<AdaptModule.GroupNode> => GroupNode).annotations({ identifier: "GroupNode" })
  ),
  result: optional(Result),
  reason: optional(Schema.String),
  verified: optional(Schema.Boolean)
}).annotations({ identifier: "TaskNode" })

const GroupNode = Schema.Struct({
  _tag: Schema.Literal("Group"),
  id: Schema.String,
  logic: Schema.Literal("and", "or"),
  planned: strings,
  children: Schema.Array(
    Schema.suspend((): Schema.Schema<AdaptModule.Node> => Schema.Union(TaskNode, GroupNode)).annotations({
      identifier: "Node"
    })
  )
}).annotations({ identifier: "GroupNode" })

const adaptProgress = Schema.Struct({ tree: TaskNode }).annotations({ identifier: "AdaptProgress" })

export const Adapt = {
  Answered: Schema.Struct({
    _tag: Answered,
    answer: Schema.String,
    result: Result,
    tree: TaskNode,
    verified: Schema.Boolean
  }),
  Progress: adaptProgress,
  Error: Schema.Union(
    make(
      data("TaskFailed", { reason: Schema.String, progress: adaptProgress }),
      (value) => value instanceof AdaptModule.TaskFailed,
      ({ _tag, message, ...fields }) => new AdaptModule.TaskFailed(fields)
    ),
    llmFailure(data("LlmError", { ...llmError, progress: adaptProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// the Plan-and-Solve agent
// ---------------------------------------------------------------------------------------------------------------

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

export const PlanAndSolveAgent = {
  Answered: Schema.Struct({
    _tag: Answered,
    answer: Schema.String,
    pastSteps: Schema.Array(Event.PastStep),
    collectedData: CollectedData
  }),
  Progress: agentProgress,
  Error: Schema.Union(
    make(
      data("NotCompleted", { answer: Schema.String, missing: strings, progress: agentProgress }),
      (value) => value instanceof PlanAndSolveAgentModule.NotCompleted,
      ({ _tag, message, ...fields }) => new PlanAndSolveAgentModule.NotCompleted(fields)
    ),
    parseFailure(data("ParseError", { ...parseError, progress: agentProgress })),
    truncatedFailure(data("TruncatedReply", { ...truncatedReply, progress: agentProgress })),
    llmFailure(data("LlmError", { ...llmError, progress: agentProgress }))
  )
}

// ---------------------------------------------------------------------------------------------------------------
// Router
// ---------------------------------------------------------------------------------------------------------------

const routed = <const Names extends ReadonlyArray<RouterModule.Pattern>, A, I>(
  names: Names,
  outcome: Schema.Schema<A, I>
) => Schema.Struct({ pattern: Schema.Literal(...names), reason: Schema.String, outcome })

export const Router = {
  Route: Schema.Struct({
    pattern: Schema.Literal(
      "react",
      "plan-and-solve",
      "rewoo",
      "rewoo-parallel",
      "plan-and-solve-agent",
      "plan-and-execute",
      "adapt"
    ),
    reason: Schema.String
  }),
  Routed: Schema.Union(
    routed(["react"], ReAct.Answered),
    routed(["plan-and-solve"], PlanAndSolve.Answered(Schema.Unknown)),
    routed(["rewoo", "rewoo-parallel"], Rewoo.Answered),
    routed(["plan-and-solve-agent"], PlanAndSolveAgent.Answered),
    routed(["plan-and-execute"], PlanAndExecute.Answered),
    routed(["adapt"], Adapt.Answered)
  ),
  // Tried in this order, so each progress before those that it would also be read as; one union, so that it is kept.
  Error: Schema.Union(
    ...Rewoo.Error.members,
    ...ReAct.Error.members,
    ...PlanAndExecute.Error.members,
    ...PlanAndSolveAgent.Error.members,
    ...Adapt.Error.members,
    ...PlanAndSolve.Error.members,
    ErrorCodec.LlmError
  )
}

// ---------------------------------------------------------------------------------------------------------------
// checks
// ---------------------------------------------------------------------------------------------------------------

// A field that a pattern has and its codec has not does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
type Flat<A> = A extends A ? { [K in keyof A]: A[K] } : never
type TypeOf<S extends Schema.Schema.Any> = Schema.Schema.Type<S>
true satisfies Same<TypeOf<typeof Rewoo.Answered>, RewooModule.Answered>
true satisfies Same<TypeOf<typeof Rewoo.Error>, RewooModule.Error>
true satisfies Same<TypeOf<typeof ReAct.Answered>, ReActModule.Answered>
true satisfies Same<TypeOf<typeof ReAct.Error>, ReActModule.Error>
true satisfies Same<TypeOf<typeof PlanAndExecute.Answered>, PlanAndExecuteModule.Answered>
true satisfies Same<TypeOf<typeof PlanAndExecute.Error>, PlanAndExecuteModule.Error>
true satisfies Same<TypeOf<typeof PlanAndSolve.Error>, PlanAndSolveModule.Error>
true satisfies Same<TypeOf<typeof Adapt.Answered>, AdaptModule.Answered>
true satisfies Same<TypeOf<typeof Adapt.Error>, AdaptModule.Error>
true satisfies Same<TypeOf<typeof PlanAndSolveAgent.Answered>, PlanAndSolveAgentModule.Answered>
true satisfies Same<TypeOf<typeof PlanAndSolveAgent.Error>, PlanAndSolveAgentModule.Error>
true satisfies Same<TypeOf<typeof Router.Routed>, Flat<RouterModule.Routed>>
true satisfies Same<TypeOf<typeof Router.Error>, RouterModule.Error>
