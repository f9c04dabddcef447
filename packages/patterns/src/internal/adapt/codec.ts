/**
 * Codecs of ADaPT.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Schema from "effect/Schema"
import * as outcome from "./outcome.js"

const { failure, kind, llmError } = ErrorCodec
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const strings = Schema.Array(Schema.String)

const Result: Schema.Schema<outcome.Result> = Schema.suspend(
  (): Schema.Schema<outcome.Result> => Schema.Union(Schema.String, Schema.Array(Result))
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
    Schema.suspend((): Schema.Schema<outcome.GroupNode> => GroupNode).annotations({ identifier: "GroupNode" })
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
    Schema.suspend((): Schema.Schema<outcome.Node> => Schema.Union(TaskNode, GroupNode)).annotations({
      identifier: "Node"
    })
  )
}).annotations({ identifier: "GroupNode" })

const adaptProgress = Schema.Struct({ tree: TaskNode }).annotations({ identifier: "AdaptProgress" })

export const Answered = Schema.Struct({
  _tag: Schema.Literal("Answered"),
  answer: Schema.String,
  result: Result,
  tree: TaskNode,
  verified: Schema.Boolean
})
export const Progress = adaptProgress
export const Error = Schema.Union(
  failure(kind("TaskFailed", { reason: Schema.String }, outcome.TaskFailed), adaptProgress),
  failure(llmError, adaptProgress)
)

export const codecs = { result: Answered, error: Error }

// A field that a run gives and its codec does not have does not compile.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never
true satisfies Same<typeof Answered.Type, outcome.Answered>
true satisfies Same<typeof Error.Type, outcome.Error>
