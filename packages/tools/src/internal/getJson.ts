/**
 * JSON from a web API: bounded in size, without its key in any error.
 */
import { tryPromise } from "@forethought/core/Concurrency"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** An API gave no answer that can be used. */
export class ApiError extends Data.TaggedError("ApiError")<{
  /** What was asked, such as `Brave`. */
  readonly api: string
  readonly problem: string
  /** The HTTP status, where there was one. */
  readonly status?: number
}> {
  override get message(): string {
    return `${this.api} ${this.problem}`
  }
}

/** The part of `fetch` that is used; a test or an app can give its own. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface JsonRequest {
  readonly api: string
  readonly url: URL
  readonly fetch: Fetch | undefined
  readonly userAgent: string | undefined
  readonly headers?: Record<string, string>
  /** Sent by POST as JSON. */
  readonly body?: unknown
}

export const defaultUserAgent = "forethought/0.1"

/** Asks, and gives the JSON of a 2xx answer. An interruption cancels the request. */
export const getJson = (request: JsonRequest): Effect.Effect<unknown, ApiError> => {
  const { api } = request
  const failed = (problem: string, status?: number) =>
    new ApiError({ api, problem, ...(status === undefined ? {} : { status }) })
  return tryPromise({
    try: async (signal) => {
      const response = await (request.fetch ?? fetch)(request.url.href, {
        method: request.body === undefined ? "GET" : "POST",
        headers: {
          accept: "application/json",
          "user-agent": request.userAgent ?? defaultUserAgent,
          ...(request.body === undefined ? {} : { "content-type": "application/json" }),
          ...request.headers
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        // A redirect could carry the key to somebody else.
        redirect: "error",
        signal
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw failed(statusProblem(response, request.headers !== undefined), response.status)
      }
      const text = await bounded(response)
      if (text === undefined) throw failed(`sent more than ${maxBytes} bytes.`)
      try {
        return JSON.parse(text) as unknown
      } catch {
        throw failed("did not answer with JSON.")
      }
    },
    // The message of `fetch` itself says only that it failed; the cause has a code such as ECONNREFUSED.
    catch: (error) => (error instanceof ApiError ? error : failed(`cannot be reached${codeOf(error)}.`))
  })
}

const maxBytes = 5_000_000

const bounded = async (response: Response): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  if (response.body === null) return text
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const statusProblem = ({ headers, status }: Response, keyed: boolean): string => {
  if (status === 401 || status === 403) {
    return `refused the request (${status})${keyed ? ": the key may be missing or wrong" : ""}.`
  }
  if (status !== 429) return `answered with the status ${status}.`
  const wait = headers.get("retry-after")
  return `has had too many requests (429)${wait === null ? "" : `, and asks to retry after ${wait.slice(0, 40)}`}.`
}

const codeOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : ""
}

/** A field of an object; `undefined` for everything that has none. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined

export const text = (value: unknown): string => (typeof value === "string" ? value : "")

export const items = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
