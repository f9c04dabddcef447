/**
 * Any `@effect/ai` LanguageModel as an `Llm`: an app brings the model and the provider that it already has.
 */
import type * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Toolkit from "@effect/ai/Toolkit"
import { timeoutFail } from "@forethought/core/Concurrency"
import * as FinishWord from "@forethought/core/FinishWord"
import type { JsonSchema } from "@forethought/core/Json"
import { asArray, asNumbers, asObject, asString, type JsonObject, parseJson } from "@forethought/core/Json"
import {
  Llm,
  LlmError,
  type Message,
  Reason,
  type Reply,
  type Request,
  type Service,
  type ToolCall,
  type ToolSpec
} from "@forethought/core/Llm"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as History from "./internal/history.js"
import { classify, cleanDetail, plainText } from "./internal/httpFailure.js"
import * as LenientTool from "./internal/lenientTool.js"
import { stopIndex } from "./internal/stop.js"
import { type BrokenStream, collect, textOf } from "./internal/streamParts.js"
import * as ToolArguments from "./internal/toolArguments.js"
import * as ToolSchema from "./internal/toolSchema.js"
import * as Retry from "./Retry.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Options extends Retry.Options {
  /** The time allowed for one attempt. Default: 120 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * Wraps each call, to pass on what a LanguageModel takes only through its provider's own configuration: `maxTokens`,
   * `temperature`, `stop` and `format`. Default: the provider does not hear of these four. The text is cut at the first
   * `stop` in any case, so that only the tokens behind it are lost.
   *
   * @example
   * ```ts
   * configure: (request) => OpenAiLanguageModel.withConfigOverride({ max_output_tokens: request.maxTokens })
   * ```
   */
  readonly configure?: ((request: Request) => Configure) | undefined
  /** Kept out of the errors, in case that the provider echoes one. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
  /**
   * Changes the JSON Schema of a tool for a provider that takes only a part of the language. Default: what OpenAI and
   * Anthropic take, an object with `properties` and no combinator at its root.
   */
  readonly toolParameters?: ((schema: JsonSchema) => JsonSchema) | undefined
  /** The form in which a provider takes a tool's result. Default: the text itself. */
  readonly toolResult?: ((text: string) => unknown) | undefined
}

/** A change of how an Effect runs that leaves its type alone. */
export type Configure = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * An `Llm` from the LanguageModel in context.
 *
 * Tools are offered with their real JSON Schema but are not resolved: the model's calls come back as they are, with
 * arguments as JSON text and unknown names included. (Arguments that are not JSON fail inside the provider's package,
 * before anyone can see them: `Unreadable`.) What a provider's package notes on reasoning and on calls, such as a
 * signature, goes back with the turn.
 *
 * An `AiError` becomes an `LlmError` by its tag and its HTTP status, as `OpenAiCompatible` describes. A retryable
 * failure is repeated as `Retry` describes: turn that off with `maxRetries: 0` where the LanguageModel's own client
 * retries.
 */
export const layer = (options: Options = {}): Layer.Layer<Llm, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    Llm,
    Effect.map(LanguageModel.LanguageModel, (model) => make(model, options))
  )

/** {@link layer} with the default options. */
export const fromLanguageModel: Layer.Layer<Llm, never, LanguageModel.LanguageModel> = layer()

/** The service of {@link layer}, for a LanguageModel that is already at hand. */
export const make = (model: LanguageModel.Service, options: Options = {}): Service => {
  const timeout = Duration.decode(options.timeout ?? "120 seconds")
  const secrets = (options.secrets ?? []).map((secret) => Redacted.value(secret))
  const complete = (request: Request): Effect.Effect<Reply, LlmError> => {
    const configure = options.configure?.(request) ?? unchanged
    const fail = (reason: Reason, detail?: string) =>
      new LlmError({
        reason,
        role: request.role,
        call: request.call,
        ...(detail === undefined ? {} : { detail: cleanDetail(detail, secrets) })
      })
    const { onDelta } = request
    const asked = {
      prompt: encodeMessages(History.prepare(request.messages, from), options.toolResult ?? identity),
      toolkit: toolkit(request.tools ?? [], options.toolParameters ?? ToolSchema.plain),
      disableToolCallResolution: true as const
    }
    const whole = model.generateText(asked).pipe(
      Effect.map((response): ReadonlyArray<unknown> => response.content),
      Effect.catchTag("MalformedOutput", recoverParts),
      Effect.tap((parts) => {
        const text = textOf(parts)
        return onDelta === undefined || text === "" ? Effect.void : onDelta(text)
      })
    )
    const streamed = (tell: (text: string) => Effect.Effect<void>) =>
      collect(model.streamText(asked), tell).pipe(
        // What is wrong with one part cannot be told from a stream that it broke: the reply as a whole can be read.
        Effect.catchTag("MalformedOutput", () => whole)
      )
    // A reply with a `format` comes in one piece.
    return Effect.suspend(() =>
      onDelta === undefined || request.format !== undefined ? whole : streamed(onDelta)
    ).pipe(
      configure,
      Effect.catchAll((error) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(fail(...explain(error, now))))
      ),
      Effect.flatMap((parts) => {
        const refusal = readRefusal(parts)
        if (refusal !== "") return Effect.fail(fail(Reason.Refused(refusal)))
        const reply = readReply(parts, request)
        return FinishWord.ofReply(reply) === "broken"
          ? Effect.fail(fail(Reason.Unavailable(), `the reply broke off: ${reply.rawFinishReason}`))
          : Effect.succeed(reply)
      }),
      (asking) =>
        timeoutFail(asking, {
          duration: timeout,
          onTimeout: () => fail(Reason.TimedOut(Duration.toMillis(timeout)))
        })
    )
  }
  return Retry.retrying({ complete }, options)
}

const unchanged: Configure = (effect) => effect

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

const encodeMessages = (
  messages: ReadonlyArray<Message>,
  toolResult: (text: string) => unknown
): ReadonlyArray<Prompt.MessageEncoded> => {
  const encoded: Array<Prompt.MessageEncoded> = []
  for (const message of messages) {
    const last = encoded.at(-1)
    if (message.role !== "tool") {
      if (message.role !== "assistant") encoded.push({ role: message.role, content: message.content })
      else if (message.content !== "" || (message.toolCalls ?? []).length > 0) encoded.push(encodeAssistant(message))
      continue
    }
    const result: Prompt.ToolMessagePartEncoded = {
      type: "tool-result",
      id: message.toolCallId,
      name: message.name,
      isFailure: false,
      result: toolResult(message.content),
      providerExecuted: false
    }
    // The results of one turn belong in one message: Anthropic and Google insist on it.
    if (last?.role === "tool") encoded[encoded.length - 1] = { ...last, content: [...last.content, result] }
    else encoded.push({ role: "tool", content: [result] })
  }
  return encoded
}

// Anthropic refuses an empty block of text, and a message without any block.
const encodeAssistant = (message: Message & { readonly role: "assistant" }): Prompt.MessageEncoded => {
  const content: Array<Prompt.AssistantMessagePartEncoded> = asArray(
    asObject(message.providerState?.value)?.["parts"]
  ).flatMap((part): ReadonlyArray<Prompt.ReasoningPartEncoded> => {
    const text = asString(asObject(part)?.["text"])
    return text === undefined ? [] : [{ type: "reasoning", text, options: optionsOf(asObject(part)?.["options"]) }]
  })
  if (message.content !== "") content.push({ type: "text", text: message.content })
  for (const { arguments: text, id, name, providerState } of message.toolCalls ?? []) {
    const options = optionsOf(providerState?.value)
    content.push({ type: "tool-call", id, name, params: ToolArguments.toObject(text), options })
  }
  return { role: "assistant", content }
}

/** Notes of a provider's package, under its own name. */
const optionsOf = (value: unknown): { readonly [provider: string]: JsonObject } =>
  Object.fromEntries(
    Object.entries(asObject(value) ?? {}).flatMap(([provider, noted]) => {
      const object = asObject(noted)
      return object === undefined ? [] : [[provider, object]]
    })
  )

/** The tools as a model sees them, for one request; none of them is run here. */
const toolkit = (
  specs: ReadonlyArray<ToolSpec>,
  toolParameters: (schema: JsonSchema) => JsonSchema
): Toolkit.WithHandler<Record<string, LenientTool.LenientTool>> => ({
  tools: LenientTool.record(specs.map((spec) => ({ ...spec, parameters: toolParameters(spec.parameters) }))),
  handle: (name) => Effect.dieMessage(`The tool call ${name} was resolved by the LanguageModel.`)
})

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

/**
 * A reply in which one part does not fit, such as a call of a tool that was not offered, fails as a whole. The parts
 * are still there, as the actual value of the issue; the caller has its own, kinder answer to an unknown tool.
 */
const recoverParts = (
  error: AiError.MalformedOutput
): Effect.Effect<ReadonlyArray<unknown>, AiError.MalformedOutput> => {
  const parts = ParseResult.isParseError(error.cause) ? error.cause.issue.actual : undefined
  return Array.isArray(parts) && parts.every((part) => typeof asObject(part)?.["type"] === "string")
    ? Effect.succeed(parts)
    : Effect.fail(error)
}

const readReply = (content: ReadonlyArray<unknown>, request: Request): Reply => {
  const text: Array<string> = []
  const reasoning: Array<string> = []
  const toolCalls: Array<ToolCall> = []
  /** The parts that a provider may want back with what it noted on them. */
  const kept: Array<JsonObject> = []
  let finish: Pick<Reply, "finishReason" | "rawFinishReason" | "usage"> = { finishReason: "other", usage: {} }
  let model: string | undefined
  for (const [index, value] of content.entries()) {
    const part = asObject(value)
    switch (part?.["type"]) {
      case "text":
        text.push(asString(part["text"]) ?? "")
        break
      case "reasoning":
        reasoning.push(asString(part["text"]) ?? "")
        kept.push({ type: "reasoning", text: asString(part["text"]) ?? "", options: notes(part) })
        break
      case "tool-call": {
        if (part["providerExecuted"] === true) break
        const value = notes(part)
        toolCalls.push({
          id: asString(part["id"]) || `call_${request.messages.length}_${index}`,
          name: asString(part["name"]) ?? "",
          arguments: ToolArguments.toText(part["params"]),
          ...(Object.keys(value).length === 0 ? {} : { providerState: { from, value } })
        })
        break
      }
      case "response-metadata":
        model = asString(part["modelId"]) ?? optionValue(part["modelId"])
        break
      case "finish":
        finish = readFinish(part)
        break
    }
  }
  const thought = reasoning.join("")
  const whole = text.join("")
  const end = stopIndex(whole, request.stop ?? [])
  if (end < whole.length) finish = { finishReason: "stop", usage: finish.usage }
  const isNoted = kept.some((part) => Object.keys(asObject(part["options"]) ?? {}).length > 0)
  return {
    text: whole.slice(0, end),
    toolCalls: History.uniqueIds(toolCalls, request.messages.length),
    ...(thought === "" ? {} : { reasoning: thought }),
    ...finish,
    ...(model === undefined || model === "" ? {} : { model }),
    ...(isNoted || toolCalls.length > 0 ? { providerState: { from, value: { parts: isNoted ? kept : [] } } } : {})
  }
}

/**
 * Notes that a provider's package makes on a part of its reply and reads on the same part of a prompt, such as a
 * signature. It is kept under the provider's own name, so that the package of another provider passes it over.
 */
const notes = (part: JsonObject): JsonObject => asObject(parseJson(JSON.stringify(part["metadata"] ?? {}))) ?? {}

/** The states of every LanguageModel have one form: see {@link notes}. */
const from = "@effect/ai"

/** OpenAI's refusal travels in the metadata of an empty text. */
const readRefusal = (content: ReadonlyArray<unknown>): string =>
  content
    .map((part) => asString(asObject(asObject(asObject(part)?.["metadata"])?.["openai"])?.["refusal"]) ?? "")
    .join("")

/** A decoded part holds an Option where the encoded one holds a string. */
const optionValue = (value: unknown): string | undefined => asString(asObject(value)?.["value"])

const readFinish = (part: JsonObject) => {
  // `other` and `unknown` say that the package does not know either.
  const word = asString(part["reason"])
  const usage = asObject(part["usage"])
  return {
    ...FinishWord.read(word === "other" || word === "unknown" ? undefined : word),
    usage: asNumbers({
      inputTokens: usage?.["inputTokens"],
      outputTokens: usage?.["outputTokens"],
      cachedInputTokens: usage?.["cachedInputTokens"],
      reasoningTokens: usage?.["reasoningTokens"]
    })
  }
}

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

const explain = (error: AiError.AiError | BrokenStream, now: number): readonly [Reason, string] => {
  switch (error._tag) {
    case "BrokenStream":
      return [Reason.Unavailable(), error.problem]
    case "HttpRequestError":
      return error.reason === "Transport"
        ? [Reason.Unavailable(), error.description ?? "the connection failed"]
        : [Reason.BadRequest(), error.description ?? "the request could not be built"]
    case "HttpResponseError": {
      const { status, headers } = error.response
      if (status < 200 || status > 299) {
        const { reason, detail } = classify({ status, headers, text: error.body ?? "", now })
        return [reason, detail]
      }
      // The body of a success cannot be read: a page comes from another server, all else is lost on the way.
      return headers["content-type"]?.includes("text/html")
        ? [Reason.Unreadable(), `the server answered with ${plainText(error.body ?? "<")}`]
        : [Reason.Unavailable(), error.description ?? "the response is empty, cut off or no valid JSON"]
    }
    case "MalformedOutput": {
      // An empty body is read as null, which then does not fit: it was lost on the way.
      const read = ParseResult.isParseError(error.cause) ? error.cause.issue.actual : undefined
      if (read === null) return [Reason.Unavailable(), "the response is empty"]
      return [Reason.Unreadable(), `the provider's package cannot read the reply${firstWords(read)}`]
    }
    case "MalformedInput":
      return [Reason.BadRequest(), "the provider's package cannot write the request"]
    case "UnknownError":
      return [Reason.BadRequest(), error.description ?? describeCause(error.cause) ?? ""]
  }
}

/** The beginning of what could not be read. The issue of a Schema is a tree that helps nobody here. */
const firstWords = (read: unknown): string =>
  read === undefined ? "" : `: ${JSON.stringify(read)?.slice(0, 200) ?? ""}`

const describeCause = (cause: unknown): string | undefined =>
  cause instanceof Error && !ParseResult.isParseError(cause) ? cause.message : undefined
