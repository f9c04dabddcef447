/** What the providers have in common. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import type { Watcher } from "../Delta.js"
import type * as LanguageModel from "../LanguageModel.js"
import type * as Retry from "../Retry.js"
import { isSendable } from "./headers.js"
import { removeSecrets } from "./httpFailure.js"
import { asObject, type JsonObject, parseJson } from "./json.js"
import * as Structured from "./structured.js"

export interface Options extends Retry.Options {
  /** The model's name as the provider knows it. */
  readonly model: string
  /** Default: none, for a proxy that adds it. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** Where the API is; a trailing slash is ignored. Default: the provider's own address. */
  readonly apiUrl?: string | undefined
  /** The time allowed for one attempt. Default: 120 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * Whether a request's `format` is sent, so that the provider holds the model to it. Default: `"auto"`: sent, unless
   * the request offers tools; a server that refuses it is asked again once without it, and not bothered with it any more.
   */
  readonly structured?: "auto" | "off" | undefined
  /** Is told every reply piece by piece as it arrives, see `LanguageModel.Options`. Default: none, and no streaming. */
  readonly onDelta?: Watcher | undefined
}

/** A failure that a provider reports inside a successful response, as the error it would have been. */
export interface HiddenFailure {
  /** An HTTP status of 400 or more. */
  readonly status: number
  readonly code: string
  readonly message: string
}

/** The options of a provider's client. `hidden` finds the failure inside the body of a success. */
export const client = (
  options: Options,
  dialect: Structured.Dialect,
  hidden: (body: JsonObject) => HiddenFailure | undefined = () => undefined
) => ({
  apiKey: options.apiKey === undefined ? undefined : Redacted.make(Redacted.value(options.apiKey).trim()),
  apiUrl: options.apiUrl?.replace(/\/$/, ""),
  // A failed response is taken by its status before the package tries to read its body: a body that it does not know
  // would hide the status, and a 429 would look like a malformed reply.
  transformClient: (http: HttpClient.HttpClient): HttpClient.HttpClient =>
    options.apiKey !== undefined && !isSendable(Redacted.value(options.apiKey).trim())
      ? refuseKey(http)
      : HttpClient.transformResponse(Structured.client(http, dialect), Effect.flatMap(reveal(options, hidden))).pipe(
          HttpClient.filterStatusOk
        )
})

const refuseKey = (http: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(http, (_, request) =>
    Effect.fail(
      new HttpClientError.RequestError({
        request,
        reason: "Encode",
        description: "the API key holds a character that cannot be sent"
      })
    )
  )

/**
 * Gives a hidden failure the status that it should have had. The body of a failure goes into the package's errors and
 * from there into traces, so a key that it echoes is removed.
 */
const reveal =
  (options: Options, hidden: (body: JsonObject) => HiddenFailure | undefined) =>
  (response: HttpClientResponse.HttpClientResponse) => {
    const failed = response.status < 200 || response.status > 299
    if (!failed && !response.headers["content-type"]?.includes("application/json")) return Effect.succeed(response)
    return Effect.map(response.text, (text) => {
      const failure = failed ? undefined : hidden(asObject(parseJson(text)) ?? {})
      if (!failed && failure === undefined) return response
      const body = failure === undefined ? text : JSON.stringify({ error: failure })
      const clean = options.apiKey === undefined ? body : removeSecrets(body, [Redacted.value(options.apiKey)])
      return HttpClientResponse.fromWeb(
        response.request,
        new Response(clean === "" ? null : clean, {
          status: failure?.status ?? response.status,
          headers: { ...response.headers }
        })
      )
    })
  }

/** The options of the LanguageModel adapter; `configure` may change what the provider's own configuration holds. */
export const adapter = (
  options: Options,
  configure: (request: Parameters<NonNullable<LanguageModel.Options["configure"]>>[0]) => LanguageModel.Configure
): LanguageModel.Options => {
  const structured = options.structured === "off" ? () => identity : Structured.make()
  return {
    maxRetries: options.maxRetries,
    maxRetryDelay: options.maxRetryDelay,
    backoff: options.backoff,
    timeout: options.timeout,
    onDelta: options.onDelta,
    secrets: options.apiKey === undefined ? [] : [options.apiKey],
    configure: (request) => (effect) =>
      effect.pipe(
        configure(request),
        structured(request),
        Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, ...secret])
      )
  }
}

/** Headers that would otherwise show in a trace. */
const secret = ["x-api-key", "x-goog-api-key", "openai-organization", "openai-project"]
