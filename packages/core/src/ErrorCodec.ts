/**
 * Codecs of the errors that model and tool calls end with: what is stored or sent is plain data with the `message`, and
 * what comes back is the error class, which `Effect.catchTag` knows. A `cause` is not stored.
 */
import * as Schema from "effect/Schema"
import type * as Failure from "./Failure.js"
import { LlmError as LlmErrorClass } from "./Llm.js"
import { PlanRefused } from "./PlanApproval.js"
import { ParseError as ParseErrorClass, TruncatedReply as TruncatedReplyClass } from "./ReplyError.js"
import { FinishReason, Role } from "./RunEventSchema.js"
import * as ToolError from "./ToolError.js"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

// ---------------------------------------------------------------------------------------------------------------
// making
// ---------------------------------------------------------------------------------------------------------------

/** An error class, with the Schema of each of its fields. */
export interface Kind<Tag extends string, Fields extends Schema.Struct.Fields, E> {
  readonly tag: Tag
  readonly fields: Fields
  readonly is: new (fields: Schema.Struct.Type<Fields>) => E
}

type Encoded<Tag extends string, Fields extends Schema.Struct.Fields> = Schema.Struct.Encoded<Fields> & {
  readonly _tag: Tag
  readonly message: string
}

/** Describes an error class. Every field must have a Schema. */
export const kind = <
  const Tag extends string,
  const Fields extends Schema.Struct.Fields,
  E extends Error & Schema.Struct.Type<Fields> & { readonly _tag: Tag }
>(
  tag: Tag,
  fields: Fields,
  is: new (fields: Schema.Struct.Type<Fields>) => E
): Kind<Tag, Fields, E> => ({ tag, fields, is })

/** Makes the codec of an error class over its tag, its message, which is derived, and its fields. */
export const make = <Tag extends string, Fields extends Schema.Struct.Fields, E extends Error>({
  fields,
  is,
  tag
}: Kind<Tag, Fields, E>): Schema.Schema<E, Encoded<Tag, Fields>> =>
  transform(
    tag,
    fields,
    (value): value is E => value instanceof is,
    (given) => Reflect.construct(is, [given])
  )

/** Makes the codec of an error class that carries a run's work, as `Failure.attach` gives it. */
export const failure = <Tag extends string, Fields extends Schema.Struct.Fields, E extends Error, P, PI>(
  { fields, is, tag }: Kind<Tag, Fields, E>,
  progress: Schema.Schema<P, PI>
): Schema.Schema<Failure.Failure<E, P>, Encoded<Tag, Fields> & { readonly progress: PI }> =>
  transform(
    tag,
    { ...fields, progress },
    (value): value is Failure.Failure<E, P> => value instanceof is && "progress" in value,
    ({ progress, ...given }) => Object.assign(Reflect.construct(is, [given]), { progress })
  )

// The two ends are told apart by `is` and by the Schema of the data; what is between cannot be typed field by field.
const transform = <E, I>(
  tag: string,
  fields: Schema.Struct.Fields,
  is: (value: unknown) => value is E,
  construct: (fields: Readonly<Record<string, unknown>>) => E
): Schema.Schema<E, I> =>
  Schema.make<E, I>(
    Schema.transform(
      Schema.Struct({ _tag: Schema.Literal(tag), message: Schema.String, ...fields }),
      Schema.declare(is),
      { strict: false, decode: ({ _tag, message, ...given }) => construct(given), encode: (error) => error }
    ).ast
  )

// ---------------------------------------------------------------------------------------------------------------
// kinds
// ---------------------------------------------------------------------------------------------------------------

const retryable = Schema.Literal(true)
const final = Schema.Literal(false)

/** The reason why a model call gave no reply. */
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

export const llmError = kind(
  "LlmError",
  { reason: Reason, detail: optional(Schema.String), role: optional(Role), call: optional(Schema.String) },
  LlmErrorClass
)

export const parseError = kind(
  "ParseError",
  {
    problem: Schema.String,
    expected: Schema.String,
    found: Schema.String,
    at: optional(Schema.Finite),
    reply: optional(Schema.String)
  },
  ParseErrorClass
)

export const truncatedReply = kind("TruncatedReply", { text: Schema.String, role: Role }, TruncatedReplyClass)

export const planRefused = kind("PlanRefused", { reason: Schema.String, plan: Schema.String }, PlanRefused)

// ---------------------------------------------------------------------------------------------------------------
// codecs
// ---------------------------------------------------------------------------------------------------------------

export const LlmError = make(llmError)

export const ParseError = make(parseError)

export const TruncatedReply = make(truncatedReply)

/** Everything that a tool call can fail with. */
export const ToolErrors = Schema.Union(
  make(kind("ToolFailed", { tool: Schema.String, detail: Schema.String }, ToolError.ToolFailed)),
  make(
    kind(
      "ToolTimeout",
      {
        tool: Schema.String,
        after: Schema.Finite,
        repeatable: optional(Schema.Boolean),
        partial: optional(Schema.String)
      },
      ToolError.ToolTimeout
    )
  ),
  make(
    kind(
      "UnknownTool",
      {
        tool: Schema.String,
        available: Schema.Array(Schema.String),
        candidates: optional(Schema.Array(Schema.String))
      },
      ToolError.UnknownTool
    )
  ),
  make(
    kind(
      "InvalidToolInput",
      { tool: Schema.String, problem: Schema.String, input: Schema.String },
      ToolError.InvalidToolInput
    )
  )
)
