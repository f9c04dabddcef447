/**
 * A model behind `/chat/completions`, as Ollama, llama.cpp, vLLM, OpenAI and most gateways speak it.
 *
 * @example
 * ```ts
 * const model = OpenAiCompatible.layer({ baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3:8b" })
 *
 * program.pipe(Effect.provide(model), Effect.provide(FetchHttpClient.layer))
 * ```
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { Llm, LlmError, Reason, type Reply, type Request, type Service } from "@forethought/core/Llm"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Watcher } from "./Delta.js"
import { type Dialect, decodeReply, encodeRequest, sendsFormat } from "./internal/chatCompletions.js"
import { readStream } from "./internal/chatStream.js"
import { isSendable } from "./internal/headers.js"
import { brokenPart, type Classified, classify, cleanDetail } from "./internal/httpFailure.js"
import { asObject, asString, type JsonObject, parseJson } from "./internal/json.js"
import { tell, watcherOf } from "./internal/watcher.js"
import * as Retry from "./Retry.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Options extends Retry.Options {
  /**
   * The address to whose path `/chat/completions` is appended, usually ending in `/v1`. A trailing slash is ignored, a
   * query is kept.
   */
  readonly baseUrl: string
  /** The model's name as the server knows it. */
  readonly model: string
  /** Sent as a bearer token. Default, and when blank: none, as servers at home want it. */
  readonly apiKey?: Redacted.Redacted | undefined
  /**
   * The time allowed for one attempt, from sending to the last byte of the reply. Default: 120 seconds. With retries
   * a call can take `1 + maxRetries` times as long. Node's own `fetch` gives up after 300 seconds without a byte: for
   * slower models provide another HttpClient, such as `NodeHttpClient.layer`.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Sent with every request. Their values are kept out of errors and traces. */
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted } | undefined
  /**
   * Whether a request's `format` is sent as `response_format`. Default: `"auto"`: sent, unless the request offers tools;
   * a server that refuses the field is asked again once without it, and not bothered with it any more.
   */
  readonly structured?: "auto" | "off" | undefined
  /**
   * Is told every reply piece by piece as it arrives; replies are then streamed by the server, as they are for a request
   * with an `onDelta` of its own. What patterns see is the same. Default: none, and no streaming.
   */
  readonly onDelta?: Watcher | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * An `Llm` over the server at `baseUrl`.
 *
 * Replies are handed on as they are: empty text stays empty, and tool arguments stay the text that the model wrote
 * (arguments that a server sends as an object are turned into JSON text). A finish reason that is unknown becomes
 * `other`, with the server's word in `rawFinishReason`.
 *
 * Fails with an `LlmError` that carries the request's role and call:
 * - `Unauthorized`: 401, 402, 403, and an account without credit (`insufficient_quota`, though OpenAI sends it as 429);
 * - `RateLimited`: 429, with the delay of `retry-after-ms` or `Retry-After` (seconds or a date);
 * - `ContextOverflow`: by its code, or 413, or by the message of a server that has no code for it;
 * - `Refused`: a `refusal`, or a content filter that rejects the request;
 * - `Unavailable`: 408, 5xx, no connection, a connection that breaks, an empty or cut-off body, an error object inside a
 *   successful response that has no known code;
 * - `TimedOut`: no whole reply within `timeout`;
 * - `BadRequest`: any other status, and a body that is not of this protocol, such as an HTML page.
 *
 * A retryable failure is repeated as `Retry` describes; each attempt is one HTTP request (two, the first time that a
 * server refuses a field). Interruption closes the connection and ends a wait at once.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  Layer.effect(
    Llm,
    Effect.map(HttpClient.HttpClient, (client) => make(client, options))
  )

/** {@link layer} over the platform's own `fetch`. */
export const layerFetch = (options: Options): Layer.Layer<Llm> => Layer.provide(layer(options), FetchHttpClient.layer)

/** The service of {@link layer}, for an HttpClient that is already at hand. */
export const make = (client: HttpClient.HttpClient, options: Options): Service => {
  const timeout = Duration.decode(options.timeout ?? "120 seconds")
  const target = address(options)
  const headers = requestHeaders(options)
  const secrets = Object.values(headers).flatMap((value) => [value, value.replace("Bearer ", "")])
  let dialect: Dialect = { format: options.structured !== "off", maxTokens: "max_tokens", streamUsage: true }

  const failure = (request: Request, reason: Reason, detail: string) =>
    new LlmError({ reason, detail: cleanDetail(detail, secrets), role: request.role, call: request.call })

  /** One exchange. A field that the server does not take is reported as a value: it is not the request's fault. */
  const exchange = (request: Request, spoken: Dialect): Effect.Effect<Reply | RefusedField, LlmError> =>
    Effect.gen(function* () {
      const watcher = watcherOf(request, options.onDelta)
      if (typeof target !== "string") return yield* failure(request, Reason.BadRequest(), target.problem)
      const unsendable = Object.keys(headers).find((name) => !isSendable(headers[name] ?? ""))
      if (unsendable !== undefined) {
        const reason = unsendable === "authorization" ? Reason.Unauthorized() : Reason.BadRequest()
        return yield* failure(request, reason, `the header ${unsendable} holds a character that cannot be sent`)
      }
      const post = yield* HttpClientRequest.post(target).pipe(
        HttpClientRequest.setHeaders(headers),
        HttpClientRequest.bodyJson(encodeRequest(options.model, request, spoken, watcher !== undefined)),
        Effect.mapError(() => failure(request, Reason.BadRequest(), "the request cannot be written as JSON"))
      )
      const response = yield* client.execute(post)
      const now = yield* Clock.currentTimeMillis
      const hidden = (broken: JsonObject) => {
        const error = { status: undefined, headers: response.headers, text: JSON.stringify(broken), now }
        const { detail, reason } = classify(error)
        return failure(request, reason, detail)
      }
      if (response.status === 200 && response.headers["content-type"]?.includes("text/event-stream")) {
        return yield* Effect.flatMap(readStream(response.stream, request, watcher ?? ignore, hidden), (body) =>
          body === undefined
            ? Effect.fail(failure(request, Reason.Unavailable(), "the stream ended before the reply was whole"))
            : decodeReply(body, request)
        )
      }
      const text = yield* response.text
      if (response.status < 200 || response.status > 299) {
        const classified = classify({ status: response.status, headers: response.headers, text, now })
        const field = refusedField(request, spoken, classified)
        return field ?? (yield* failure(request, classified.reason, classified.detail))
      }
      const body = asObject(parseJson(text))
      if (body === undefined) return yield* failure(request, ...unreadable(text))
      const broken = brokenPart(body)
      if (broken !== undefined) return yield* hidden(broken)
      const reply = yield* decodeReply(body, request)
      // A server that does not stream has all of it now.
      if (watcher !== undefined) yield* tell(watcher, request, reply.text, reply.reasoning ?? "")
      return reply
    }).pipe(
      Effect.catchTags({
        RequestError: (error) => failure(request, ...transportFailure(error)),
        ResponseError: (error) => failure(request, ...transportFailure(error))
      }),
      Effect.timeoutFail({
        duration: timeout,
        onTimeout: () =>
          new LlmError({
            reason: Reason.TimedOut(Duration.toMillis(timeout)),
            role: request.role,
            call: request.call
          })
      }),
      Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, ...Object.keys(headers)])
    )

  const ask = (request: Request): Effect.Effect<Reply, LlmError> =>
    Effect.suspend(() => exchange(request, dialect)).pipe(
      Effect.flatMap((outcome) => {
        if (!("refused" in outcome)) return Effect.succeed(outcome)
        dialect = { ...dialect, ...outcome.instead }
        return ask(request)
      })
    )

  const complete = (request: Request): Effect.Effect<Reply, LlmError> => {
    const { call, role } = request
    const started = options.onDelta?.({ _tag: "Started", role, call }) ?? Effect.void
    return Effect.zipRight(started, ask(request))
  }

  return Retry.retrying({ complete }, options)
}

const ignore: Watcher = () => Effect.void

// ---------------------------------------------------------------------------------------------------------------
// what differs between servers
// ---------------------------------------------------------------------------------------------------------------

interface RefusedField {
  readonly refused: true
  /** What to speak from now on. Nothing ever turns it back, so that asking again ends. */
  readonly instead: Partial<Dialect>
}

const formatWords = ["response_format", "json_schema", "json schema", "grammar"]

const refusedField = (request: Request, spoken: Dialect, { body, reason }: Classified): RefusedField | undefined => {
  if (reason._tag !== "BadRequest" || (reason.status !== 400 && reason.status !== 422)) return undefined
  const message = body.message?.toLowerCase() ?? ""
  if (sendsFormat(request, spoken)) {
    const named = `${body.param?.toLowerCase() ?? ""} ${message}`
    if (formatWords.some((word) => named.includes(word))) return { refused: true, instead: { format: false } }
  }
  if (spoken.streamUsage && (message.includes("stream_options") || body.param === "stream_options")) {
    return { refused: true, instead: { streamUsage: false } }
  }
  const refusesLimit = body.codes.includes("unsupported_parameter") && body.param === "max_tokens"
  if (refusesLimit && request.maxTokens !== undefined && spoken.maxTokens === "max_tokens") {
    return { refused: true, instead: { maxTokens: "max_completion_tokens" } }
  }
  return undefined
}

// ---------------------------------------------------------------------------------------------------------------
// address, headers, transport
// ---------------------------------------------------------------------------------------------------------------

const address = (options: Options): string | { readonly problem: string } => {
  const url = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return { problem: "the base URL is not an address such as http://127.0.0.1:11434/v1" }
  }
  if (url.username !== "" || url.password !== "") {
    return { problem: "the base URL holds credentials: give them as apiKey or in headers" }
  }
  url.pathname = `${url.pathname.replace(/\/$/, "")}/chat/completions`
  return url.toString()
}

const requestHeaders = (options: Options): { readonly [name: string]: string } => {
  const headers: { [name: string]: string } = {}
  const key = options.apiKey === undefined ? "" : Redacted.value(options.apiKey).trim()
  if (key !== "") headers["authorization"] = `Bearer ${key}`
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name.toLowerCase()] = Redacted.isRedacted(value) ? Redacted.value(value) : value
  }
  return headers
}

/** The words of a failed connection are taken from its code: a message can quote the request. */
const transportFailure = (error: HttpClientError): readonly [Reason, string] => {
  if (error._tag === "RequestError" && error.reason !== "Transport") {
    return [Reason.BadRequest(), "the request could not be built"]
  }
  const code = causeCode(error.cause)
  const timedOut = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT"
  const reason = timedOut ? Reason.TimedOut() : Reason.Unavailable()
  const lost =
    error._tag === "RequestError" ? "the connection failed" : "the connection broke before the reply was whole"
  return [reason, code === undefined ? lost : `${lost}: ${code}`]
}

const causeCode = (cause: unknown, depth = 0): string | undefined => {
  if (!(cause instanceof Error) || depth > 5) return undefined
  return ("code" in cause ? asString(cause.code) : undefined) ?? causeCode(cause.cause, depth + 1)
}

/** A successful response that is no JSON object: lost on the way where it is empty or cut off, else another server. */
const unreadable = (text: string): readonly [Reason, string] => {
  const start = text.trimStart()
  if (start === "") return [Reason.Unavailable(), "the response is empty"]
  if (start.startsWith("{")) return [Reason.Unavailable(), "the response is cut off or is no valid JSON"]
  const what = start.startsWith("<") ? "an HTML page" : "text"
  return [
    Reason.BadRequest(),
    `the server answered with ${what} instead of JSON: check the base URL, which usually ends in /v1`
  ]
}
