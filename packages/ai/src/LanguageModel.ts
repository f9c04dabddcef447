/**
 * Any `@effect/ai` LanguageModel as an `Llm`: an app brings the model and the provider that it already has.
 */
import type * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Toolkit from "@effect/ai/Toolkit"
import {
  type FinishReason,
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
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import { classify, cleanDetail } from "./internal/httpFailure.js"
import { asNumber, asObject, asString } from "./internal/json.js"
import * as LenientTool from "./internal/lenientTool.js"
import * as ToolArguments from "./internal/toolArguments.js"
import * as Retry from "./Retry.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Options extends Retry.Options {
  /** The time allowed for one attempt. Default: 120 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * Wraps each call, to pass on what a LanguageModel takes only through its provider's own configuration: `maxTokens`,
   * `temperature`, `stop` and `format`. Default: these four are dropped.
   *
   * @example
   * ```ts
   * configure: (request) => OpenAiLanguageModel.withConfigOverride({ max_output_tokens: request.maxTokens })
   * ```
   */
  readonly configure?: ((request: Request) => Configure) | undefined
  /** Kept out of the errors, in case that the provider echoes one. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
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
 * arguments as JSON text and unknown names included. (Arguments that are no JSON fail inside the provider's package,
 * before anyone can see them: `BadRequest`.)
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
    return model
      .generateText({
        prompt: request.messages.reduce(appendMessage, []),
        toolkit: toolkit(request.tools ?? []),
        disableToolCallResolution: true
      })
      .pipe(
        Effect.map((response): ReadonlyArray<unknown> => response.content),
        Effect.catchTag("MalformedOutput", recoverParts),
        configure,
        Effect.map((parts) => readReply(parts, request)),
        Effect.catchAll((error) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(fail(...explain(error, now))))
        ),
        Effect.timeoutFail({
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

const appendMessage = (messages: Array<Prompt.MessageEncoded>, message: Message): Array<Prompt.MessageEncoded> => {
  switch (message.role) {
    case "system":
    case "user":
      messages.push({ role: message.role, content: message.content })
      return messages
    case "assistant": {
      const content: Array<Prompt.AssistantMessagePartEncoded> = []
      // Anthropic refuses an empty block of text, and a message without any.
      if (message.content !== "") content.push({ type: "text", text: message.content })
      for (const { id, name, arguments: text } of message.toolCalls ?? []) {
        content.push({ type: "tool-call", id, name, params: ToolArguments.toObject(text) })
      }
      if (content.length > 0) messages.push({ role: "assistant", content })
      return messages
    }
    case "tool": {
      const result: Prompt.ToolMessagePartEncoded = {
        type: "tool-result",
        id: message.toolCallId,
        name: message.name,
        isFailure: false,
        result: message.content,
        providerExecuted: false
      }
      // The results of one turn belong into one message: Anthropic and Google insist on it.
      const last = messages.at(-1)
      if (last?.role === "tool") messages[messages.length - 1] = { ...last, content: [...last.content, result] }
      else messages.push({ role: "tool", content: [result] })
      return messages
    }
  }
}

/** The tools as a model sees them, for one request; none of them is run here. */
const toolkit = (specs: ReadonlyArray<ToolSpec>): Toolkit.WithHandler<Record<string, LenientTool.LenientTool>> => ({
  tools: LenientTool.record(specs),
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
        break
      case "tool-call":
        if (part["providerExecuted"] === true) break
        toolCalls.push({
          id: asString(part["id"]) || `call_${request.messages.length}_${index}`,
          name: asString(part["name"]) ?? "",
          arguments: ToolArguments.toText(part["params"])
        })
        break
      case "response-metadata":
        model = asString(part["modelId"]) ?? optionValue(part["modelId"])
        break
      case "finish":
        finish = readFinish(part)
        break
    }
  }
  const thought = reasoning.join("")
  return {
    text: text.join(""),
    toolCalls,
    ...(thought === "" ? {} : { reasoning: thought }),
    ...finish,
    ...(model === undefined || model === "" ? {} : { model })
  }
}

/** A decoded part holds an Option where the encoded one holds a string. */
const optionValue = (value: unknown): string | undefined => asString(asObject(value)?.["value"])

const readFinish = (part: { readonly [key: string]: unknown }) => {
  const raw = asString(part["reason"])
  const known: ReadonlyArray<FinishReason> = ["stop", "length", "tool-calls", "content-filter"]
  const finishReason = known.find((reason) => reason === raw)
  const usage = asObject(part["usage"])
  const inputTokens = asNumber(usage?.["inputTokens"])
  const outputTokens = asNumber(usage?.["outputTokens"])
  return {
    finishReason: finishReason ?? "other",
    ...(finishReason === undefined && raw !== undefined ? { rawFinishReason: raw } : {}),
    usage: {
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens })
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

const explain = (error: AiError.AiError, now: number): readonly [Reason, string] => {
  switch (error._tag) {
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
      // The body of a success cannot be read: an HTML page comes from another server, all else is lost on the way.
      return headers["content-type"]?.includes("text/html")
        ? [Reason.BadRequest(), "the server answered with an HTML page"]
        : [Reason.Unavailable(), error.description ?? "the response is empty, cut off or no valid JSON"]
    }
    case "MalformedInput":
    case "MalformedOutput":
    case "UnknownError":
      return [Reason.BadRequest(), error.description ?? describeCause(error.cause) ?? ""]
  }
}

const describeCause = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined)
