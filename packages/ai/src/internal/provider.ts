/** What the providers have in common. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as LanguageModel from "../LanguageModel.js"
import type * as Retry from "../Retry.js"

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

/** The options of a provider's client. */
export const client = (options: Options) => ({
  apiKey: options.apiKey,
  apiUrl: options.apiUrl,
  // A failed response is taken by its status before the package tries to read its body: a body that it does not know
  // would hide the status, and a 429 would look like a malformed reply.
  transformClient: (http: HttpClient.HttpClient) => HttpClient.filterStatusOk(http)
})

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
