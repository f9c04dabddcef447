/**
 * One model behind HTTP: requests sent, replies read, failures told apart. What differs between providers is a
 * {@link Wire}; everything that can go wrong on the way is here, once.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { timeoutFail } from "@forethought/core/Concurrency"
import * as FinishWord from "@forethought/core/FinishWord"
import type { JsonObject } from "@forethought/core/Json"
import { LlmError, type Message, Reason, type Reply, type Request, type Service } from "@forethought/core/Llm"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Retry from "../Retry.js"
import * as Body from "./body.js"
import { isSendable } from "./headers.js"
import * as History from "./history.js"
import { type Classified, classify, cleanDetail, plainText, removeSecrets } from "./httpFailure.js"
import { hideQuery } from "./queryValues.js"
import * as Refused from "./refused.js"
import * as Send from "./send.js"
import { stopIndex } from "./stop.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Options that every provider has. */
export interface Common extends Retry.Options {
  /** The model's name as the provider knows it. */
  readonly model: string
  /** Default, and when blank: none, for a server at home or a proxy that adds it. */
  readonly apiKey?: Redacted.Redacted | undefined
  /**
   * Maximum time for one attempt, from sending to the last byte of the reply. Default: 120 seconds. With retries a call
   * can take `1 + maxRetries` times as long. Node's own `fetch` gives up after 300 seconds without a byte: for slower
   * models provide another HttpClient, such as `NodeHttpClient.layer`.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * Sends a request's `format`, so that the provider holds the model to it. Default: `"auto"`: sent, unless
   * the request offers tools. A server that refuses it is asked again in a simpler form or without it, and not bothered
   * with it any more.
   */
  readonly structured?: "auto" | "off" | undefined
  /**
   * True if a request carries the headers of the trace that it is part of, `traceparent` and `b3`. Default: false.
   */
  readonly propagateTrace?: boolean | undefined
}

/** What the wire of a provider with an address of its own is made of; `config` is merged into each request's body. */
export interface HostedWire {
  readonly model: string
  readonly apiUrl: string
  readonly headers: Wire["headers"]
  readonly config: JsonObject
}

/** A reply as a provider's document holds it, or why there is none. */
export type Decoded =
  | { readonly _tag: "Reply"; readonly reply: Reply }
  | { readonly _tag: "Refusal"; readonly text: string; readonly detail?: string }
  /** It is of another protocol: what it lacks, as in `the response holds no choices`. */
  | { readonly _tag: "Unreadable"; readonly problem: string }

/** How one provider speaks. */
export interface Wire extends Body.Reader {
  /** Names the provider and the model in the state that goes back to them, see `Llm.ProviderState`. */
  readonly from: string
  /** Who serves the model, as `Llm.Reply` names it. */
  readonly provider: string
  /** The address that takes requests, or what is wrong with it. */
  readonly url: (stream: boolean) => string | { readonly problem: string }
  readonly headers: { readonly [name: string]: string }
  /** Returns whether the provider takes a request's `format` in its own words. */
  readonly formats: (request: Request) => boolean
  /** Other words by which refusals name that format. */
  readonly formatNames?: RegExp
  /** Fields that this provider never takes. */
  readonly quirks?: Partial<Refused.Quirks>
  /** The body of a request. Messages are prepared by `History`, limits and fields are those that the model takes. */
  readonly encode: (request: Request, quirks: Refused.Quirks, stream: boolean) => JsonObject
  readonly decode: (body: JsonObject, request: Request) => Decoded
  /** The HTTP status that an error inside a successful response would have had, where the provider's codes tell. */
  readonly statusOf?: (error: JsonObject) => number | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// the service
// ---------------------------------------------------------------------------------------------------------------

/**
 * Makes the service of a provider.
 *
 * Fails with an `LlmError` that carries the request's role and call:
 * - `Unauthorized`: 401, 402, 403, and an account without credit (`insufficient_quota`, though OpenAI sends it as 429);
 * - `RateLimited`: 429, or a code or message that says so, with the delay that headers or message ask for;
 * - `ContextOverflow`: by its code, or 413, or by the message of a server that has no code for it;
 * - `Refused`: a refusal, or a content filter that rejects the request;
 * - `Unavailable`: 408, 409, 5xx, no connection, a connection that breaks, an empty or cut-off body, a reply that broke
 *   off, an error object inside a successful response that has no known code;
 * - `TimedOut`: no whole reply within `timeout`;
 * - `BadRequest`: any other status, which is to say that the provider refused the request;
 * - `Unreadable`: a success that is not of this protocol, such as a page, with its first words.
 *
 * A failure that names a field which was sent is not a failure yet: the model is asked again at once without the field
 * or in its other form, and the model's way is remembered for as long as the service lives.
 *
 * A redirect within the origin is followed where it keeps the request as it is (307 and 308, at most 5 in a row). Any
 * other redirect is a `BadRequest` that says where it pointed and what to change, and nothing is sent there.
 */
export const make = (client: HttpClient.HttpClient, wire: Wire, options: Common): Service => {
  const timeout = Duration.decode(options.timeout ?? "120 seconds")
  const secrets = [
    ...Object.entries(wire.headers).flatMap(([name, value]) =>
      name === "anthropic-version" ? [] : [value, value.replace("Bearer ", "")]
    ),
    ...(options.apiKey === undefined ? [] : [Redacted.value(options.apiKey)])
  ]
  let known = Refused.quirks({ ...wire.quirks, ...(options.structured === "off" ? { format: "none" } : {}) })

  const address = wire.url(false)
  const hide = hideQuery(typeof address === "string" ? address : "")
  const sending: Send.Options = {
    propagateTrace: options.propagateTrace ?? false,
    hide: (text) => removeSecrets(hide(text), secrets)
  }

  const failure = (request: Request, reason: Reason, detail: string) =>
    new LlmError({
      reason:
        reason._tag === "Refused" && reason.text !== undefined ? Reason.Refused(sending.hide(reason.text)) : reason,
      detail: cleanDetail(hide(detail), secrets),
      role: request.role,
      call: request.call
    })

  const post = (request: Request, body: JsonObject, stream: boolean) =>
    Effect.gen(function* () {
      const url = wire.url(stream)
      if (typeof url !== "string") return yield* failure(request, Reason.BadRequest(), url.problem)
      const unsendable = Object.keys(wire.headers).find((name) => !isSendable(wire.headers[name] ?? ""))
      if (unsendable !== undefined) {
        const isKey = secretHeaders.has(unsendable)
        const what = isKey ? "the API key" : `the header ${unsendable}`
        const reason = isKey ? Reason.Unauthorized() : Reason.BadRequest()
        return yield* failure(request, reason, `${what} holds a character that cannot be sent`)
      }
      return yield* HttpClientRequest.post(url).pipe(
        HttpClientRequest.setHeaders(wire.headers),
        HttpClientRequest.bodyJson(body),
        Effect.mapError(() => failure(request, Reason.BadRequest(), "the request cannot be written as JSON"))
      )
    })

  /** One exchange: a reply, or a failure that may be the fault of a field. */
  const exchange = (
    request: Request,
    spoken: Refused.Quirks,
    streams = true
  ): Effect.Effect<Attempted, LlmError | Send.NotAnswered | HttpClientError> =>
    Effect.gen(function* () {
      const { onDelta } = request
      const stream = streams && spoken.streams !== "never" && (onDelta !== undefined || spoken.streams === "always")
      const told = (text: string) => (onDelta === undefined || text === "" ? Effect.void : onDelta(text))
      const { body: sent, facts } = write(wire, request, spoken, stream)
      const { response, url } = yield* Send.send(client, yield* post(request, sent, stream), sending)
      // A server that redirects may have put a key of its own into the address.
      const hideHere = hideQuery(url)
      const now = yield* Clock.currentTimeMillis
      const failed = (status: number | undefined, text: string): Attempted => {
        const classified = classify({ status, headers: response.headers, text, now })
        return { _tag: "Failure", failure: { ...classified, detail: hideHere(classified.detail) }, sent: facts }
      }
      if (response.status < 200 || response.status > 299) return failed(response.status, yield* response.text)
      const received = yield* Body.read(response.stream, wire, ({ text }) => told(text))
      switch (received._tag) {
        case "Failed":
          return failed(wire.statusOf?.(received.error), JSON.stringify(received.error))
        case "Cut":
          // llama-cpp-python says nothing in a stream where it would name the fault in a whole response.
          if (stream && received.isEmpty === true) return yield* exchange(request, spoken, false)
          return yield* failure(request, Reason.Unavailable(), received.problem)
        case "Unreadable":
          return yield* failure(request, Reason.Unreadable(), hideHere(unreadable(received.text)))
        case "Response": {
          const decoded = wire.decode(received.body, request)
          switch (decoded._tag) {
            case "Refusal":
              return yield* failure(request, Reason.Refused(decoded.text), hideHere(decoded.detail ?? ""))
            case "Unreadable":
              return yield* failure(
                request,
                Reason.Unreadable(),
                hideHere(startOf(decoded.problem, JSON.stringify(received.body)))
              )
            case "Reply": {
              // A server that does not stream has all of it now.
              if (!received.streamed) yield* told(decoded.reply.text)
              const reply = { ...finished(decoded.reply, request), provider: wire.provider }
              if (FinishWord.ofReply(reply) === "broken") {
                return yield* failure(
                  request,
                  Reason.Unavailable(),
                  hideHere(`the reply broke off: ${reply.rawFinishReason}`)
                )
              }
              return { _tag: "Reply", reply }
            }
          }
        }
      }
    })

  /**
   * Asks until no field is refused any more. What was left out is remembered, unless the server then fails in the same
   * words: it was not the field's fault.
   */
  const ask = (
    request: Request,
    spoken: Refused.Quirks,
    refused?: string
  ): Effect.Effect<Reply, LlmError | Send.NotAnswered | HttpClientError> =>
    Effect.flatMap(exchange(request, spoken), (outcome) => {
      const isSame = outcome._tag === "Failure" && outcome.failure.detail === refused
      if (refused !== undefined && !isSame) known = Refused.both(known, spoken)
      if (outcome._tag === "Reply") return Effect.succeed(outcome.reply)
      const { detail, malformedCall, reason } = outcome.failure
      if (malformedCall) return Effect.succeed(malformed)
      const without = Refused.refusal(outcome.failure, outcome.sent, spoken, wire.formatNames)
      if (without === undefined) return Effect.fail(failure(request, reason, detail))
      return ask(request, without, detail)
    })

  const complete = (request: Request): Effect.Effect<Reply, LlmError> => {
    const { call, role } = request
    const asked = Effect.suspend(() => ask(request, known)).pipe(
      Effect.catchTags({
        RequestError: (error) => Effect.fail(Send.transportFailure(error)),
        ResponseError: (error) => Effect.fail(Send.transportFailure(error))
      }),
      Effect.catchTag("NotAnswered", ({ detail, reason }) => failure(request, reason, detail))
    )
    const onTimeout = () => new LlmError({ reason: Reason.TimedOut(Duration.toMillis(timeout)), role, call })
    return Effect.locallyWith(
      timeoutFail(asked, { duration: timeout, onTimeout }),
      Headers.currentRedactedNames,
      (names) => [...names, ...Object.keys(wire.headers)]
    )
  }

  return Retry.retrying({ complete, model: () => wire.from }, options)
}

type Attempted =
  | { readonly _tag: "Reply"; readonly reply: Reply }
  | { readonly _tag: "Failure"; readonly failure: Classified; readonly sent: Refused.Sent }

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

const secretHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"])

/** The body of a request as the model takes it, with what of it a server could refuse. */
const write = (wire: Wire, request: Request, spoken: Refused.Quirks, stream: boolean) => {
  const { maxTokens, stop = [], temperature, tools = [] } = request
  // A reply held to a schema could not ask for a tool, so a request that offers tools carries no format.
  const formatted = request.format !== undefined && tools.length === 0 && wire.formats(request)
  const format = formatted ? spoken.format : "none"
  const prepared = History.prepare(request.messages, wire.from)
  const messages: ReadonlyArray<Message> = spoken.system ? prepared : Refused.withoutSystem(prepared)
  const most = maxTokens === undefined ? undefined : Math.min(maxTokens, spoken.mostTokens ?? maxTokens)
  const { format: _, maxTokens: __, stop: ___, temperature: ____, ...rest } = request
  const taken: Request = {
    ...rest,
    messages,
    ...(format !== "none" && request.format !== undefined ? { format: request.format } : {}),
    ...(most !== undefined && spoken.maxTokens !== "none" ? { maxTokens: most } : {}),
    ...(spoken.stop && stop.length > 0 ? { stop } : {}),
    ...(spoken.temperature && temperature !== undefined ? { temperature } : {})
  }
  const whole = wire.encode(taken, spoken, stream)
  const body = Object.fromEntries(Object.entries(whole).filter(([key]) => !spoken.without.includes(key)))
  const facts: Refused.Sent = {
    body,
    format,
    system: messages.some(({ role }) => role === "system"),
    stop: taken.stop !== undefined,
    maxTokens: taken.maxTokens,
    temperature: taken.temperature !== undefined,
    stream
  }
  return { body, facts }
}

/** An API key as it is sent: without the line break of the file it was read from. */
export const keyOf = (apiKey: Redacted.Redacted | undefined): string =>
  apiKey === undefined ? "" : Redacted.value(apiKey).trim()

/**
 * Returns the address of an endpoint below `base`, whose query is kept, or what is wrong with it. What of the path
 * stands in the base already, such as `/v1`, is not repeated.
 */
export const endpoint = (base: string, path: string): string | { readonly problem: string } => {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return { problem: "the base URL is not an address such as http://127.0.0.1:11434/v1" }
  }
  if (url.username !== "" || url.password !== "") {
    return { problem: "the base URL holds credentials: give them as apiKey or in headers" }
  }
  const [pathname = "", query] = path.split("?")
  const before = url.pathname.replace(/\/+$/, "")
  const segments = pathname.split("/").slice(1)
  const isThere = (count: number) => before.endsWith(`/${segments.slice(0, count).join("/")}`)
  // A folder of the server may have the name of the first part, unless that is a version.
  const counts = /^v\d/.test(segments[0] ?? "") ? segments.map((_, index) => index + 1) : [segments.length]
  const known = counts.findLast(isThere) ?? 0
  url.pathname = [before, ...segments.slice(known)].join("/")
  for (const [name, value] of new URLSearchParams(query ?? "")) url.searchParams.set(name, value)
  return url.toString()
}

/** Returns an address without what may be secret in it, as a name for whose server it is. */
export const plainAddress = (base: string): string => {
  if (!URL.canParse(base)) return ""
  const { origin, pathname } = new URL(base)
  return `${origin}${pathname.replace(/\/+$/, "")}`
}

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

/** A reply that the provider gave up, because it could not read its model's tool call. */
const malformed: Reply = {
  text: "",
  toolCalls: [],
  finishReason: "other",
  rawFinishReason: "tool_use_failed",
  usage: {}
}

/** Cuts the text at the first stop sequence, for a server that did not, and makes the ids of its calls unique. */
const finished = (reply: Reply, { messages, stop = [] }: Request): Reply => {
  const toolCalls = History.uniqueIds(reply.toolCalls, messages.length)
  const end = stopIndex(reply.text, stop)
  if (end === reply.text.length) return { ...reply, toolCalls }
  const { rawFinishReason: _, ...rest } = reply
  return { ...rest, toolCalls, text: reply.text.slice(0, end), finishReason: "stop" }
}

const unreadable = (text: string): string => {
  const start = text.trimStart()
  const what = start.startsWith("<") ? "an HTML page" : "text"
  const problem = `the server answered with ${what} instead of JSON: check the base URL, which usually ends in /v1`
  return startOf(problem, start.startsWith("<") ? plainText(text) : start)
}

/** What cannot be read, by its first words. */
const startOf = (problem: string, text: string): string => `${problem}. It begins: ${text.slice(0, 300)}`
