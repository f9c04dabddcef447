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
import * as HttpClient from "@effect/platform/HttpClient"
import { Llm, type Service } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Chat from "./internal/chat.js"
import * as Exchange from "./internal/exchange.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Options extends Exchange.Common {
  /**
   * Base URL of the API, usually ending in `/v1`; `/chat/completions` is appended. A trailing slash is ignored. A
   * query is sent with every request; its values are kept out of errors and traces, as those of headers are.
   */
  readonly baseUrl: string
  /** Sent with every request. Their values are kept out of errors and traces. */
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted } | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * An `Llm` over the server at `baseUrl`. The key is sent as a bearer token.
 *
 * Replies are handed on as they are: empty text stays empty, and tool arguments stay the text that the model wrote
 * (arguments that a server sends as an object are turned into JSON text). What the model must see again with its own
 * turn, such as `reasoning_content` or the signature of a call, goes back as it came. A finish reason is read by the
 * table of `FinishWord`; one that is not known becomes `other`, with the server's word in `rawFinishReason`.
 *
 * A body is read by its first bytes, whatever its content type says: JSON, a stream of events, or JSON line by line.
 *
 * Fails with an `LlmError` that carries the request's role and call:
 * - `Unauthorized`: 401, 402, 403, and an account without credit (`insufficient_quota`, though OpenAI sends it as 429);
 * - `RateLimited`: 429, or a code or message that says so, with the delay that headers or message ask for;
 * - `ContextOverflow`: by its code, or 413, or by the message of a server that has no code for it;
 * - `Refused`: a refusal, or a content filter that rejects the request;
 * - `Unavailable`: 408, 409, 5xx, no connection, a connection that breaks, an empty or cut-off body, a reply that broke
 *   off, an error object inside a successful response that has no known code;
 * - `TimedOut`: no whole reply within `timeout`;
 * - `BadRequest`: any other status, that is, the server refused the request;
 * - `Unreadable`: a success that is not of this protocol, such as an HTML page, with its first words.
 *
 * A server that refuses `response_format`, `stop`, `temperature`, the token limit, the system role, `stream_options` or
 * another optional field is asked again at once without it or in its other form, and the model's way is remembered for
 * as long as the Layer lives.
 *
 * A redirect to another origin is not followed, because the key would go with it: it is a `BadRequest` that says where
 * it pointed and what to change. Within the origin 307 and 308 are followed, at most 5 in a row, and others are a
 * `BadRequest` too. This holds for `fetch` and for the clients of `@effect/platform-node`. A client that follows
 * redirects by itself, such as one made by `HttpClient.followRedirects` or that of a browser's XMLHttpRequest, has done
 * so before this layer sees it: where its response says that it came from another origin, it is refused.
 *
 * A retryable failure is repeated as `Retry` describes. Interruption closes the connection
 * and ends a wait at once.
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
  const wire = Chat.make({
    model: options.model,
    from: `chat:${Exchange.plainAddress(options.baseUrl)}:${options.model}`,
    url: () => Exchange.endpoint(options.baseUrl, "/chat/completions"),
    headers: requestHeaders(options)
  })
  return Exchange.make(client, wire, options)
}

const requestHeaders = (options: Options): { readonly [name: string]: string } => {
  const key = Exchange.keyOf(options.apiKey)
  const own = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    Redacted.isRedacted(value) ? Redacted.value(value) : value
  ])
  return { ...(key === "" ? {} : { authorization: `Bearer ${key}` }), ...Object.fromEntries(own) }
}
