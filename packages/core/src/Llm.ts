/**
 * The port to a language model. A pattern asks; which provider answers, and what retries, limits and records stand
 * in between, is a matter of Layers.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { JsonSchema } from "./Json.js"
import { type Role, roles } from "./Role.js"

export { type Role, roles } from "./Role.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The reason why a model call gave no reply. `isRetryable` says whether the same request may succeed later. */
export type Reason =
  /** The provider asks to wait. `retryAfter` is in milliseconds, where the provider gave a delay. */
  | { readonly _tag: "RateLimited"; readonly isRetryable: true; readonly retryAfter?: number }
  /**
   * Not reachable, connection lost, or a server error (5xx). `status` is the HTTP status if there was one,
   * `retryAfter` the delay in milliseconds that the server asked for.
   */
  | { readonly _tag: "Unavailable"; readonly isRetryable: true; readonly status?: number; readonly retryAfter?: number }
  /** No reply within the time allowed, in milliseconds. */
  | { readonly _tag: "TimedOut"; readonly isRetryable: true; readonly after?: number }
  /** The request does not fit into the model's context. */
  | { readonly _tag: "ContextOverflow"; readonly isRetryable: false }
  /** The model or the provider's filter refused. `text` is what was said until then: never an answer. */
  | { readonly _tag: "Refused"; readonly isRetryable: false; readonly text?: string }
  /** The key is missing, wrong, or not allowed to do this. */
  | { readonly _tag: "Unauthorized"; readonly isRetryable: false }
  /** The provider does not accept the request. */
  | { readonly _tag: "BadRequest"; readonly isRetryable: false; readonly status?: number }
  /**
   * Something answered that cannot be read: a page instead of JSON, JSON of another protocol, or a tool call that the
   * provider itself could not read.
   */
  | { readonly _tag: "Unreadable"; readonly isRetryable: false }
  /** A reply without text and without tool calls. `onlyReasoning`: the model thought, but said nothing. */
  | {
      readonly _tag: "EmptyReply"
      readonly isRetryable: false
      readonly finishReason: FinishReason
      readonly rawFinishReason?: string
      readonly onlyReasoning: boolean
    }
  /** A budget that was set for the run is used up. `limit` says which one. */
  | { readonly _tag: "BudgetExhausted"; readonly isRetryable: false; readonly limit: string }

/** Makes a {@link Reason}; `isRetryable` follows from the kind. */
export const Reason = {
  RateLimited: (retryAfter?: number): Reason => ({
    _tag: "RateLimited",
    isRetryable: true,
    ...(retryAfter === undefined ? {} : { retryAfter })
  }),
  Unavailable: (status?: number, retryAfter?: number): Reason => ({
    _tag: "Unavailable",
    isRetryable: true,
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter })
  }),
  TimedOut: (after?: number): Reason => ({
    _tag: "TimedOut",
    isRetryable: true,
    ...(after === undefined ? {} : { after })
  }),
  ContextOverflow: (): Reason => ({ _tag: "ContextOverflow", isRetryable: false }),
  Refused: (text?: string): Reason => ({
    _tag: "Refused",
    isRetryable: false,
    ...(text === undefined || text === "" ? {} : { text })
  }),
  Unauthorized: (): Reason => ({ _tag: "Unauthorized", isRetryable: false }),
  BadRequest: (status?: number): Reason => ({
    _tag: "BadRequest",
    isRetryable: false,
    ...(status === undefined ? {} : { status })
  }),
  Unreadable: (): Reason => ({ _tag: "Unreadable", isRetryable: false }),
  EmptyReply: (options: {
    readonly finishReason: FinishReason
    readonly rawFinishReason?: string | undefined
    readonly onlyReasoning: boolean
  }): Reason => ({
    _tag: "EmptyReply",
    isRetryable: false,
    finishReason: options.finishReason,
    onlyReasoning: options.onlyReasoning,
    ...(options.rawFinishReason === undefined ? {} : { rawFinishReason: options.rawFinishReason })
  }),
  BudgetExhausted: (limit: string): Reason => ({ _tag: "BudgetExhausted", isRetryable: false, limit })
} as const

/** A model call that gave no usable reply. Retried in one place only: a Schedule on the Llm layer. */
export class LlmError extends Data.TaggedError("LlmError")<{
  readonly reason: Reason
  /** The provider's words, or what to do about it. Never contains a secret. */
  readonly detail?: string
  readonly role?: Role
  readonly call?: CallId
}> {
  /** True if the same request may succeed later. */
  get isRetryable(): boolean {
    return this.reason.isRetryable
  }
  override get message(): string {
    const who = this.role === undefined ? "The model" : `The ${this.role}'s model`
    const detail = this.detail === undefined || this.detail === "" ? "" : ` (${this.detail})`
    return `${who} ${describe(this.reason)}${detail}`
  }
}

const describe = (reason: Reason): string => {
  switch (reason._tag) {
    case "RateLimited":
      return reason.retryAfter === undefined
        ? "is rate limited: try again later."
        : `is rate limited: try again in ${Math.ceil(reason.retryAfter / 1000)} s.`
    case "Unavailable":
      return reason.status === undefined
        ? "cannot be reached or gave no whole reply."
        : `failed on the server's side (HTTP ${reason.status}).`
    case "TimedOut":
      return `did not answer${reason.after === undefined ? " in time" : ` within ${reason.after} ms`}.`
    case "ContextOverflow":
      return "was given more text than it takes: shorten the input or use a model with a larger context."
    case "Refused":
      return "refused to answer."
    case "Unauthorized":
      return "did not accept the credentials: check the API key."
    case "BadRequest":
      return `did not accept the request${reason.status === undefined ? "" : ` (HTTP ${reason.status})`}.`
    case "Unreadable":
      return "answered in a form that cannot be read."
    case "EmptyReply":
      return reason.onlyReasoning
        ? `produced only reasoning and no answer (finish reason: ${reason.rawFinishReason ?? reason.finishReason}).`
        : `gave an empty reply (finish reason: ${reason.rawFinishReason ?? reason.finishReason}).`
    case "BudgetExhausted":
      return `stopped at the budget of this run (${reason.limit}). Allow more, or ask for less.`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/**
 * The stable name of one model or tool call inside a run: a path of segments joined by `/`, such as `planner`,
 * `planner/reask-1`, `step-2/executor/turn-3`, `#E4`. A replayed run gives the same ids, in parallel too.
 */
export type CallId = string

/**
 * State that a model must see again with its own turn, such as signed thinking or fields of a call that have no place
 * of their own. Opaque: filled and read by the adapter that made it, handed on by everybody else, and dropped by an
 * adapter of another model. Plain JSON.
 */
export interface ProviderState {
  /** Which adapter and model made it. */
  readonly from: string
  readonly value: unknown
}

/** A request by the model to call a tool. `arguments` is the raw text, decoded by us against the tool's Schema. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** See {@link ProviderState}. */
  readonly providerState?: ProviderState
}

export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant"
      readonly content: string
      readonly toolCalls?: ReadonlyArray<ToolCall>
      /** That of the reply which this message repeats. */
      readonly providerState?: ProviderState
    }
  | { readonly role: "tool"; readonly content: string; readonly toolCallId: string; readonly name: string }

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments: always of type `object`. */
  readonly parameters: JsonSchema
}

/**
 * The JSON Schema of the reply that the prompt asks for. A hint: an adapter that can constrain decoding may use it;
 * readers never rely on it.
 */
export interface ReplyFormat {
  /** A name of letters, digits and `_`, as some providers want one. */
  readonly name: string
  readonly schema: JsonSchema
}

export interface Request {
  readonly role: Role
  readonly call: CallId
  readonly messages: ReadonlyArray<Message>
  /** Offered for native tool calling. */
  readonly tools?: ReadonlyArray<ToolSpec>
  /** Upper bound of output tokens. Default: the provider's. */
  readonly maxTokens?: number
  /** Default: the provider's. */
  readonly temperature?: number
  /** The reply ends before the first of these. */
  readonly stop?: ReadonlyArray<string>
  readonly format?: ReplyFormat
  /**
   * Is told each piece of the reply's text in order, where the provider streams, and else the whole. It only watches:
   * the reply is the same. An attempt that breaks off is followed by the text of the next from its beginning. See
   * `Journal.streaming`.
   */
  readonly onDelta?: (text: string) => Effect.Effect<void>
}

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "other"

/** Tokens as the provider counted them; a field is absent if it did not. */
export interface Usage {
  /** All tokens of the request, those read from a provider's cache included. */
  readonly inputTokens?: number
  /** All tokens of the reply, reasoning included. */
  readonly outputTokens?: number
  /** Those input tokens that the provider read from its cache. */
  readonly cachedInputTokens?: number
  /** Those output tokens that were spent on reasoning. */
  readonly reasoningTokens?: number
}

export interface Reply {
  readonly text: string
  readonly toolCalls: ReadonlyArray<ToolCall>
  /** The model's thinking where the provider returns it apart. Never used as an answer. */
  readonly reasoning?: string
  readonly finishReason: FinishReason
  /** The provider's own word where `finishReason` is `other`; see `FinishWord`. */
  readonly rawFinishReason?: string
  readonly usage: Usage
  /** The model that answered, as the provider names it. */
  readonly model?: string
  /** The provider that served it, such as `openai` or `openai-compatible`. */
  readonly provider?: string
  /** The cost in US dollars, if the adapter or a layer knows a price. */
  readonly cost?: number
  /** To be sent back with this reply when it becomes a message; see {@link ProviderState}. */
  readonly providerState?: ProviderState
}

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** Asks a language model for a pattern. */
export interface Service {
  readonly complete: (request: Request) => Effect.Effect<Reply, LlmError>
  /**
   * Names the model that answers a role, for layers that must tell models apart, such as a cache: two that may answer
   * differently have different names. Absent, or `undefined`, where the model has no name of its own.
   */
  readonly model?: (role: Role) => string | undefined
}

/** The language model that patterns ask. */
export class Llm extends Context.Tag("@forethought/core/Llm")<Llm, Service>() {}

// ---------------------------------------------------------------------------------------------------------------
// constructors and layers
// ---------------------------------------------------------------------------------------------------------------

/** Makes a {@link Reply} from its text; what is not given is empty, and the reply finished by itself. */
export const reply = (text: string, rest: Partial<Omit<Reply, "text">> = {}): Reply => ({
  text,
  toolCalls: [],
  finishReason: (rest.toolCalls?.length ?? 0) > 0 ? "tool-calls" : "stop",
  usage: {},
  ...rest
})

/** A Layer from a function, for models that are one. */
export const layer = (complete: Service["complete"]): Layer.Layer<Llm> => Layer.succeed(Llm, { complete })

/** Layers for {@link byRole}: `default` answers every role that has none of its own. */
export type ByRole<E, R> = { readonly default: Layer.Layer<Llm, E, R> } & {
  readonly [role in Role]?: Layer.Layer<Llm, E, R>
}

/**
 * Sends each role to its own model, so that a cheaper model can execute the steps of a plan that a better one wrote.
 * Each layer is built once, as in any Effect program: one that is given for several roles, or stands elsewhere in the
 * app too, is shared, with whatever is wrapped around it.
 *
 * @example
 * ```ts
 * const models = Llm.byRole({ default: large, executor: small })
 * ```
 */
export const byRole = <E = never, R = never>(layers: ByRole<E, R>): Layer.Layer<Llm, E, R> => {
  // Composed and not built here, so that the app's own graph builds each layer once, wherever else it stands.
  const placed = (place: string, model: Layer.Layer<Llm, E, R>) => {
    const tag = Context.GenericTag<Llm, Service>(`@forethought/core/Llm/${place}`)
    return { tag, layer: Layer.map(model, (context) => Context.make(tag, Context.get(context, Llm))) }
  }
  const fallback = placed("default", layers.default)
  const own = roles.flatMap((role) => {
    const model = layers[role]
    return model === undefined ? [] : [{ role, ...placed(role, model) }]
  })
  const all = own.reduce((merged, { layer }) => Layer.merge(merged, layer), fallback.layer)
  return Layer.map(all, (context) => {
    const byRole = new Map(own.map(({ role, tag }) => [role, Context.get(context, tag)]))
    const of = (role: Role): Service => byRole.get(role) ?? Context.get(context, fallback.tag)
    return Context.make(Llm, {
      complete: (request) => of(request.role).complete(request),
      model: (role) => of(role).model?.(role)
    })
  })
}
