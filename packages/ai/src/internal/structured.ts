/**
 * A reply's JSON Schema for providers whose packages do not pass one on: written into the body of the request as it
 * leaves, and where it changes the reply's form, read back out of the body of the response.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { JsonSchema } from "@forethought/core/Json"
import type { ReplyFormat, Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import { asArray, asObject, asString, type JsonObject, parseJson } from "./json.js"

/** How a provider is told the form of a reply. */
export interface Dialect {
  /** The request's body with the format in it, or `undefined` where this one cannot be expressed. */
  readonly write: (body: JsonObject, format: ReplyFormat) => JsonObject | undefined
  /** The response's body as if the model had written the reply as text. Default: it has. */
  readonly read?: (body: JsonObject, format: ReplyFormat) => JsonObject
  /** Words in the message of a refusal that say that this is what was refused. */
  readonly words: ReadonlyArray<string>
}

/** One attempt to have a reply in a format. */
interface Attempt {
  readonly format: ReplyFormat
  sent: boolean
  refused: boolean
}

const current: FiberRef.FiberRef<Attempt | undefined> = globalValue("@forethought/ai/structured", () =>
  FiberRef.unsafeMake<Attempt | undefined>(undefined)
)

/**
 * Runs each call with its request's format. A server that refuses it is asked again once without, and not bothered any
 * more. A reply held to a schema could not ask for a tool, so a request that offers tools carries no format.
 */
export const make = (): ((request: Request) => <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) => {
  let takesFormat = true
  return ({ format, tools = [] }) =>
    (call) =>
      Effect.suspend(() => {
        if (format === undefined || tools.length > 0 || !takesFormat) return call
        const attempt: Attempt = { format, sent: false, refused: false }
        return Effect.catchAllCause(Effect.locally(call, current, attempt), (cause) => {
          if (!attempt.refused) return Effect.failCause(cause)
          takesFormat = false
          return call
        })
      })
}

/** A client that writes the format of the call into its request, and reads the reply back. */
export const client = (http: HttpClient.HttpClient, dialect: Dialect): HttpClient.HttpClient =>
  http.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(FiberRef.get(current), (attempt) => {
        const body = attempt === undefined ? undefined : bodyOf(request)
        const written = body === undefined || attempt === undefined ? undefined : dialect.write(body, attempt.format)
        if (attempt !== undefined) attempt.sent = written !== undefined
        return written === undefined ? request : HttpClientRequest.bodyUnsafeJson(request, written)
      })
    ),
    HttpClient.transformResponse((sent) =>
      Effect.flatMap(FiberRef.get(current), (attempt) =>
        attempt === undefined ? sent : Effect.flatMap(sent, (response) => inspect(response, attempt, dialect))
      )
    )
  )

const inspect = (response: HttpClientResponse.HttpClientResponse, attempt: Attempt, dialect: Dialect) => {
  const { read, words } = dialect
  const isJson = response.headers["content-type"]?.includes("application/json") === true
  if (!attempt.sent || !isJson) return Effect.succeed(response)
  const rejected = response.status === 400 || response.status === 422
  if (!rejected && (read === undefined || response.status !== 200)) return Effect.succeed(response)
  return Effect.map(response.text, (text) => {
    if (rejected) attempt.refused = words.some((word) => text.toLowerCase().includes(word))
    const body = rejected || read === undefined ? undefined : asObject(parseJson(text))
    return body === undefined || read === undefined ? response : withBody(response, read(body, attempt.format))
  })
}

const bodyOf = (request: HttpClientRequest.HttpClientRequest): JsonObject | undefined =>
  request.body._tag === "Uint8Array" ? asObject(parseJson(new TextDecoder().decode(request.body.body))) : undefined

const withBody = (response: HttpClientResponse.HttpClientResponse, body: JsonObject) =>
  HttpClientResponse.fromWeb(
    response.request,
    new Response(JSON.stringify(body), { status: response.status, headers: { ...response.headers } })
  )

/**
 * The schema with an object at its root, as some providers insist on: a choice between objects becomes one object with
 * the properties of all of them, of which those are required that every one requires.
 */
export const objectRoot = (schema: JsonSchema): JsonSchema | undefined => {
  if (schema["type"] === "object") return schema
  const choices = asArray(schema["anyOf"] ?? schema["oneOf"]).map((choice) => asObject(choice) ?? {})
  if (choices.length === 0 || choices.some((choice) => choice["type"] !== "object")) return undefined
  const required = choices.map((choice) => asArray(choice["required"]).flatMap((name) => asString(name) ?? []))
  return {
    type: "object",
    properties: Object.assign({}, ...choices.map((choice) => asObject(choice["properties"]) ?? {})),
    required: (required[0] ?? []).filter((name) => required.every((names) => names.includes(name))),
    additionalProperties: false,
    ...(schema["$defs"] === undefined ? {} : { $defs: schema["$defs"] })
  }
}
