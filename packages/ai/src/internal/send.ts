/**
 * Sends a model request to the server that it is meant for, and to no other: no redirect takes a key away, and no span
 * holds the query of an address.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { asString } from "@forethought/core/Json"
import { Reason } from "@forethought/core/Llm"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** A request had no response that can be used. It holds nothing of the request, so that a span may show it. */
export class NotAnswered extends Data.TaggedError("NotAnswered")<{
  readonly reason: Reason
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

export interface Options {
  /** True if the headers of the trace are sent along. */
  readonly propagateTrace: boolean
  /** Takes secrets out of what a span shows. */
  readonly hide: (text: string) => string
}

export interface Answered {
  readonly response: HttpClientResponse
  /** The address that answered. */
  readonly url: string
}

const mostRedirects = 5

/**
 * Sends a request and gives the response.
 *
 * 307 and 308 are followed within the origin, at most 5 times, with the method and the body of the request. Any other
 * redirect fails with `BadRequest` and says where it pointed, without the query.
 */
export const send = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options: Options,
  followed = 0
): Effect.Effect<Answered, NotAnswered> =>
  Effect.flatMap(traced(client, request, options), ({ asked, response }) => {
    const from = addressOf(asked)
    const by = addressOf(response.request)
    if (from === undefined || by === undefined) return Effect.succeed({ response, url: asked.url })
    if (by.origin !== from.origin) return refused(elsewhere(from, by))
    if (!isRedirect(response.status)) return Effect.succeed({ response, url: by.href })
    const location = response.headers["location"]
    if (location === undefined || !URL.canParse(location, by.href)) {
      return refused(`the server redirects without an address that can be read; ${correct}`, response.status)
    }
    const to = new URL(location, by)
    if (to.origin !== by.origin) return refused(elsewhere(by, to), response.status)
    const there = `the server redirects to ${to.origin}${to.pathname}`
    if (response.status !== 307 && response.status !== 308) {
      return refused(`${there}, which would turn the request into another one; ${correct}`, response.status)
    }
    if (to.username !== "" || to.password !== "") {
      return refused(`${there} with credentials in the address; ${correct}`, response.status)
    }
    if (followed === mostRedirects) {
      return refused(`${there} after ${mostRedirects} other redirects; ${correct}`, response.status)
    }
    return send(client, HttpClientRequest.setUrl(request, to.href), options, followed + 1)
  })

const correct = "correct the base URL"

/** A browser says only that there was a redirect, by a status of 0. */
const isRedirect = (status: number): boolean => [0, 301, 302, 303, 307, 308].includes(status)

const refused = (detail: string, code?: number): Effect.Effect<never, NotAnswered> =>
  Effect.fail(new NotAnswered({ reason: Reason.BadRequest(code === 0 ? undefined : code), detail }))

const elsewhere = (from: URL, to: URL): string => {
  const isSameHost = to.hostname === from.hostname && from.protocol === "http:" && to.protocol === "https:"
  const place = to.host === "" ? `an address of ${to.protocol}` : to.origin
  const advice = isSameHost
    ? "write https:// in the base URL"
    : "if that server is the right one, write its address as the base URL"
  return `the server redirects to ${place}, and a request is not sent on to another origin: ${advice}`
}

const addressOf = ({ url }: HttpClientRequest.HttpClientRequest): URL | undefined =>
  URL.canParse(url) ? new URL(url) : undefined

// ---------------------------------------------------------------------------------------------------------------
// one request
// ---------------------------------------------------------------------------------------------------------------

interface Exchanged {
  /** The request as the app's client changed it. */
  readonly asked: HttpClientRequest.HttpClientRequest
  readonly response: HttpClientResponse
}

/** Fetch would follow a redirect, headers and all. Other options of the app's stay. */
const notFollowing = (context: Context.Context<never>): Context.Context<never> => {
  const init = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
  return Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" })
}

/**
 * One request. The context is changed where the client has changed the request, because a fetch client has the options
 * that its app gave it only within itself.
 */
const execute = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Exchanged, NotAnswered> =>
  Effect.suspend(() => {
    let asked = request
    const once = HttpClient.mapRequestEffect(client, (changed) => {
      asked = changed
      return Effect.as(FiberRef.update(FiberRef.currentContext, notFollowing), changed)
    })
    return Effect.map(once.execute(request), (response) => ({ asked, response }))
  }).pipe(
    // Gives the context back as it was.
    Effect.mapInputContext(identity<Context.Context<never>>),
    Effect.mapError(transportFailure)
  )

/**
 * One request in a span of ours. The client's own would show the query of the address, in its attributes and in the
 * error that it ends with, so nothing within the client is traced.
 */
const traced = (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options: Options
): Effect.Effect<Exchanged, NotAnswered> =>
  Effect.withFiberRuntime((fiber) => {
    const untraced = (asked: HttpClientRequest.HttpClientRequest) =>
      Effect.withTracerEnabled(execute(client, asked), false)
    const isTraced =
      fiber.getFiberRef(FiberRef.currentTracerEnabled) &&
      !fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)(request)
    if (!isTraced) return untraced(request)
    const redacted = fiber.getFiberRef(Headers.currentRedactedNames)
    // A span is started one operation before its end is in place, so nothing interrupts in between.
    return Effect.uninterruptibleMask((restore) =>
      Effect.useSpan("http.client POST", { kind: "client", captureStackTrace: false }, (span) => {
        tellRequest(span, request)
        const headers = options.propagateTrace ? HttpTraceContext.toHeaders(span) : {}
        return Effect.tap(restore(untraced(HttpClientRequest.setHeaders(request, headers))), ({ response }) =>
          Effect.sync(() => {
            span.attribute("http.response.status_code", response.status)
            for (const [name, value] of Object.entries(Headers.redact(response.headers, redacted))) {
              if (!addressHeaders.has(name)) span.attribute(`http.response.header.${name}`, options.hide(String(value)))
            }
          })
        )
      })
    )
  })

/** Headers of a response whose value is an address, with a query of its own. */
const addressHeaders = new Set(["location", "content-location", "link", "refresh"])

const tellRequest = (span: Tracer.Span, request: HttpClientRequest.HttpClientRequest): void => {
  span.attribute("http.request.method", request.method)
  const url = addressOf(request)
  if (url === undefined) return
  span.attribute("server.address", url.origin)
  if (url.port !== "") span.attribute("server.port", Number(url.port))
  span.attribute("url.full", `${url.origin}${url.pathname}`)
  span.attribute("url.path", url.pathname)
  span.attribute("url.scheme", url.protocol.slice(0, -1))
}

// ---------------------------------------------------------------------------------------------------------------
// transport
// ---------------------------------------------------------------------------------------------------------------

/** A failed connection in words that are taken from its code: a message can quote the request. */
export const transportFailure = (error: HttpClientError): NotAnswered => {
  if (error._tag === "RequestError" && error.reason !== "Transport") {
    return new NotAnswered({ reason: Reason.BadRequest(), detail: "the request could not be built" })
  }
  const code = causeCode(error.cause)
  const timedOut = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT"
  const lost =
    error._tag === "RequestError"
      ? "the connection failed; check that the server runs and the address is right"
      : "the connection broke before the reply was whole"
  return new NotAnswered({
    reason: timedOut ? Reason.TimedOut() : Reason.Unavailable(),
    detail: code === undefined ? lost : `${code}: ${lost}`
  })
}

const causeCode = (cause: unknown, depth = 0): string | undefined => {
  if (!(cause instanceof Error) || depth > 5) return undefined
  return ("code" in cause ? asString(cause.code) : undefined) ?? causeCode(cause.cause, depth + 1)
}
