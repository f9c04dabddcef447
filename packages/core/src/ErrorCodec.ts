/**
 * Codecs of the errors that model and tool calls end with: what is stored or sent is plain data with the `message`, and
 * what comes back is the error class, which `Effect.catchTag` knows. A `cause` is not stored.
 */
import * as Schema from "effect/Schema"
import * as Failure from "./Failure.js"
import { LlmError as LlmErrorClass } from "./Llm.js"
import { PlanRefused } from "./PlanApproval.js"
import { ParseError as ParseErrorClass, TruncatedReply as TruncatedReplyClass } from "./ReplyError.js"
import { FinishReason, Role } from "./RunEventSchema.js"
import * as ToolError from "./ToolError.js"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

// ---------------------------------------------------------------------------------------------------------------
// making
// ---------------------------------------------------------------------------------------------------------------

/** The data of a tagged error: its tag, its message, which is derived, and its fields. */
export const data = <Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(tag), message: Schema.String, ...fields })

/** The codec of an error class over its {@link data}. `construct` makes the error; the message is derived anew. */
export const make = <A, I, E extends A>(
  encoded: Schema.Schema<A, I>,
  is: (value: unknown) => value is E,
  construct: (data: A) => E
): Schema.Schema<E, I> =>
  Schema.transform(encoded, Schema.declare(is), { strict: true, decode: construct, encode: (error) => error })

// ---------------------------------------------------------------------------------------------------------------
// fields
// ---------------------------------------------------------------------------------------------------------------

const retryable = Schema.Literal(true)
const final = Schema.Literal(false)

/** Why a model call gave no reply. */
export const Reason = Schema.Union(
  Schema.Struct({
    _tag: Schema.Literal("RateLimited"),
    isRetryable: retryable,
    retryAfter: optional(Schema.Finite)
  }),
  Schema.Struct({
    _tag: Schema.Literal("Unavailable"),
    isRetryable: retryable,
    status: optional(Schema.Finite),
    retryAfter: optional(Schema.Finite)
  }),
  Schema.Struct({ _tag: Schema.Literal("TimedOut"), isRetryable: retryable, after: optional(Schema.Finite) }),
  Schema.Struct({ _tag: Schema.Literal("ContextOverflow"), isRetryable: final }),
  Schema.Struct({ _tag: Schema.Literal("Refused"), isRetryable: final, text: optional(Schema.String) }),
  Schema.Struct({ _tag: Schema.Literal("Unauthorized"), isRetryable: final }),
  Schema.Struct({ _tag: Schema.Literal("BadRequest"), isRetryable: final, status: optional(Schema.Finite) }),
  Schema.Struct({ _tag: Schema.Literal("Unreadable"), isRetryable: final }),
  Schema.Struct({
    _tag: Schema.Literal("EmptyReply"),
    isRetryable: final,
    finishReason: FinishReason,
    rawFinishReason: optional(Schema.String),
    onlyReasoning: Schema.Boolean
  }),
  Schema.Struct({ _tag: Schema.Literal("BudgetExhausted"), isRetryable: final, limit: Schema.String })
).annotations({ identifier: "Reason" })

/** Fields of an `LlmError`. */
export const llmError = {
  reason: Reason,
  detail: optional(Schema.String),
  role: optional(Role),
  call: optional(Schema.String)
} as const

/** Fields of a `ParseError`. */
export const parseError = {
  problem: Schema.String,
  expected: Schema.String,
  found: Schema.String,
  at: optional(Schema.Finite),
  reply: optional(Schema.String)
} as const

/** Fields of a `TruncatedReply`. */
export const truncatedReply = { text: Schema.String, role: Role } as const

// ---------------------------------------------------------------------------------------------------------------
// codecs
// ---------------------------------------------------------------------------------------------------------------

type Data<Fields extends Schema.Struct.Fields> = Schema.Struct.Type<Fields> & { readonly message: string }
type Tagged<Tag extends string, Fields extends Schema.Struct.Fields> = Data<Fields> & { readonly _tag: Tag }

export const LlmError = make(
  data("LlmError", llmError),
  (value): value is LlmErrorClass => value instanceof LlmErrorClass,
  ({ _tag, message, ...fields }) => new LlmErrorClass(fields)
)

export const ParseError = make(
  data("ParseError", parseError),
  (value): value is ParseErrorClass => value instanceof ParseErrorClass,
  ({ _tag, message, ...fields }) => new ParseErrorClass(fields)
)

export const TruncatedReply = make(
  data("TruncatedReply", truncatedReply),
  (value): value is TruncatedReplyClass => value instanceof TruncatedReplyClass,
  ({ _tag, message, ...fields }) => new TruncatedReplyClass(fields)
)

export const ToolFailed = make(
  data("ToolFailed", { tool: Schema.String, detail: Schema.String }),
  (value): value is ToolError.ToolFailed => value instanceof ToolError.ToolFailed,
  ({ _tag, message, ...fields }) => new ToolError.ToolFailed(fields)
)

export const ToolTimeout = make(
  data("ToolTimeout", {
    tool: Schema.String,
    after: Schema.Finite,
    repeatable: optional(Schema.Boolean),
    partial: optional(Schema.String)
  }),
  (value): value is ToolError.ToolTimeout => value instanceof ToolError.ToolTimeout,
  ({ _tag, message, ...fields }) => new ToolError.ToolTimeout(fields)
)

export const UnknownTool = make(
  data("UnknownTool", {
    tool: Schema.String,
    available: Schema.Array(Schema.String),
    candidates: optional(Schema.Array(Schema.String))
  }),
  (value): value is ToolError.UnknownTool => value instanceof ToolError.UnknownTool,
  ({ _tag, message, ...fields }) => new ToolError.UnknownTool(fields)
)

export const InvalidToolInput = make(
  data("InvalidToolInput", { tool: Schema.String, problem: Schema.String, input: Schema.String }),
  (value): value is ToolError.InvalidToolInput => value instanceof ToolError.InvalidToolInput,
  ({ _tag, message, ...fields }) => new ToolError.InvalidToolInput(fields)
)

/** Everything that a tool call can fail with. */
export const ToolErrors: Schema.Schema<
  ToolError.ToolError,
  Schema.Schema.Encoded<typeof ToolFailed | typeof ToolTimeout | typeof UnknownTool | typeof InvalidToolInput>
> = Schema.Union(ToolFailed, ToolTimeout, UnknownTool, InvalidToolInput)

// ---------------------------------------------------------------------------------------------------------------
// with progress
// ---------------------------------------------------------------------------------------------------------------

type WithProgress<A, P> = A & { readonly progress: P }

/** An `LlmError` that carries a run's work; `encoded` is `data("LlmError", { ...llmError, progress })`. */
export const llmFailure = <P, I>(
  encoded: Schema.Schema<WithProgress<Tagged<"LlmError", typeof llmError>, P>, I>
): Schema.Schema<Failure.Failure<LlmErrorClass, P>, I> =>
  make(
    encoded,
    (value): value is Failure.Failure<LlmErrorClass, P> => value instanceof LlmErrorClass && "progress" in value,
    ({ _tag, message, progress, ...fields }) => Failure.attach(new LlmErrorClass(fields), progress)
  )

/** The fields of a {@link PlanRefused}. */
export const planRefused = { reason: Schema.String, plan: Schema.String }

/** A `PlanRefused` that carries a run's work; `encoded` is `data("PlanRefused", { ...planRefused, progress })`. */
export const refusedFailure = <P, I>(
  encoded: Schema.Schema<WithProgress<Tagged<"PlanRefused", typeof planRefused>, P>, I>
): Schema.Schema<Failure.Failure<PlanRefused, P>, I> =>
  make(
    encoded,
    (value): value is Failure.Failure<PlanRefused, P> => value instanceof PlanRefused && "progress" in value,
    ({ _tag, message, progress, ...fields }) => Failure.attach(new PlanRefused(fields), progress)
  )

/** A `ParseError` that carries a run's work; `encoded` is `data("ParseError", { ...parseError, progress })`. */
export const parseFailure = <P, I>(
  encoded: Schema.Schema<WithProgress<Tagged<"ParseError", typeof parseError>, P>, I>
): Schema.Schema<Failure.Failure<ParseErrorClass, P>, I> =>
  make(
    encoded,
    (value): value is Failure.Failure<ParseErrorClass, P> => value instanceof ParseErrorClass && "progress" in value,
    ({ _tag, message, progress, ...fields }) => Failure.attach(new ParseErrorClass(fields), progress)
  )

/** A `TruncatedReply` that carries a run's work; `encoded` is `data("TruncatedReply", { ...truncatedReply, progress })`. */
export const truncatedFailure = <P, I>(
  encoded: Schema.Schema<WithProgress<Tagged<"TruncatedReply", typeof truncatedReply>, P>, I>
): Schema.Schema<Failure.Failure<TruncatedReplyClass, P>, I> =>
  make(
    encoded,
    (value): value is Failure.Failure<TruncatedReplyClass, P> =>
      value instanceof TruncatedReplyClass && "progress" in value,
    ({ _tag, message, progress, ...fields }) => Failure.attach(new TruncatedReplyClass(fields), progress)
  )
