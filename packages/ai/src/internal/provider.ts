/** What the providers have in common. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as LanguageModel from "../LanguageModel.js"
import type * as Retry from "../Retry.js"
import { asObject, type JsonObject, parseJson } from "./json.js"

export interface Options extends Retry.Options {
  /** The model's name as the provider knows it. */
  readonly model: string
  /** Default: none, for a proxy that adds it. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** Where the API is, without a trailing slash. Default: the provider's own address. */
  readonly apiUrl?: string | undefined
  /** The time allowed for one attempt. Default: 120 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
}

/** A failure that a provider reports inside a successful response, as the error it would have been. */
export interface HiddenFailure {
  readonly status: number
  readonly code: string
  readonly message: string
}

/** The options of a provider's client. `hidden` finds the failure inside the body of a success. */
export const client = (
  options: Options,
  hidden: (body: JsonObject) => HiddenFailure | undefined = () => undefined
) => ({
  apiKey: options.apiKey,
  apiUrl: options.apiUrl,
  // A failed response is taken by its status before the package tries to read its body: a body that it does not know
  // would hide the status, and a 429 would look like a malformed reply.
  transformClient: (http: HttpClient.HttpClient): HttpClient.HttpClient =>
    HttpClient.filterStatusOk(http).pipe(
      HttpClient.transformResponse(
        Effect.flatMap((response) =>
          response.headers["content-type"]?.includes("application/json")
            ? Effect.flatMap(response.text, (text) => {
                const failure = hidden(asObject(parseJson(text)) ?? {})
                return failure === undefined ? Effect.succeed(response) : Effect.fail(reveal(response, failure))
              })
            : Effect.succeed(response)
        )
      )
    )
})

const reveal = ({ request }: HttpClientResponse.HttpClientResponse, { code, message, status }: HiddenFailure) => {
  const response = HttpClientResponse.fromWeb(request, Response.json({ error: { code, message } }, { status }))
  return new HttpClientError.ResponseError({ request, response, reason: "StatusCode" })
}

/** The options of the LanguageModel adapter; `configure` may change what the provider's own configuration holds. */
export const adapter = (
  options: Options,
  configure: (request: Parameters<NonNullable<LanguageModel.Options["configure"]>>[0]) => LanguageModel.Configure
): LanguageModel.Options => ({
  maxRetries: options.maxRetries,
  maxRetryDelay: options.maxRetryDelay,
  backoff: options.backoff,
  timeout: options.timeout,
  secrets: options.apiKey === undefined ? [] : [options.apiKey],
  configure: (request) => (effect) =>
    effect.pipe(
      configure(request),
      Effect.locallyWith(Headers.currentRedactedNames, (names) => [...names, ...secret])
    )
})

/** Headers that would otherwise show in a trace. */
const secret = ["x-api-key", "x-goog-api-key", "openai-organization", "openai-project"]
