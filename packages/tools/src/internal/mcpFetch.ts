/**
 * The `fetch` that the SDK's HTTP transports use: answers are read leniently (see `mcpMessage`) whatever their content
 * type says, and what is not an answer is an error in words.
 */

import { isObject, textOf } from "@forethought/core/Json"
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type JSONRPCMessage, RequestIdSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Predicate from "effect/Predicate"
import { createParser } from "eventsource-parser"
import { htmlText } from "./htmlText.js"
import {
  type Answers,
  type Awaited,
  brokenOff,
  cancelledBy,
  failedAnswer,
  readMessages,
  unreadable
} from "./mcpMessage.js"

/** A server refused a request, or answered with something else than an answer. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    /** True if the server does not know, or no longer knows, the session that the request belongs to. */
    readonly sessionLost: boolean,
    message: string
  ) {
    super(message)
  }
}

/** The transport of 2024: answers come on a stream of their own, most of them. */
export interface Older {
  /** Told that the stream has ended. */
  readonly onEnd: () => void
  /** Told an answer that came where the request was posted. */
  readonly onAnswer: (answer: JSONRPCMessage) => void
}

/** A fetch for one connection. */
export const mendingFetch = (maxBytes: number, older?: Older): FetchLike => {
  const inFlight = new Map<string, Awaited>()
  const only = (): Awaited | undefined => (inFlight.size === 1 ? [...inFlight.values()][0] : undefined)
  const listen = listening(maxBytes)

  /** Whatever answers over HTTP answers what was posted, whichever id it has, unless that is another's. */
  const answersTo =
    (awaited: Awaited): Answers =>
    ({ id }) =>
      inFlight.get(String(id)) ?? awaited

  const post: FetchLike = async (url, init) => {
    const message = posted(init?.body)
    const awaited = awaitedBy(message)
    if (awaited !== undefined) inFlight.set(String(awaited.id), awaited)
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) inFlight.delete(String(cancelled))
    const done = () => void inFlight.delete(String(awaited?.id))
    // Whether an answer is still to come.
    let waits = false
    try {
      const response = await fetch(url, init)
      const { status } = response
      // Redirects are the SDK's, which follows none to another origin.
      if (status >= 300 && status < 400) return response
      // Some servers refuse what they need not answer.
      if (awaited === undefined) return status >= 400 ? new Response(null, { status: 202 }) : response
      if (status >= 400) {
        throw refusal(response, await textUpTo(response, maxPageBytes), new Headers(init?.headers).has(sessionHeader))
      }
      if (older !== undefined) {
        waits = true
        void answerAside(response, awaited, maxBytes, older.onAnswer)
        return new Response(null, { status: 202 })
      }
      if (status === 202) {
        if (await listen.isOpen()) return response
        throw new HttpRefusal(
          status,
          false,
          `The server accepted the request (HTTP 202) and opened no stream to answer.`
        )
      }
      if (response.body === null) throw refusal(response, "", false)
      const { first, rest } = await begun(chunksOf(response.body))
      if (isEvents(first) || (first === "" && isEventStream(response))) {
        waits = true
        return answered(
          response,
          "text/event-stream",
          events(rest, { awaited, only: () => awaited, answers: answersTo(awaited), maxBytes, onEnd: done })
        )
      }
      const text = await joined(rest, maxBytes)
      if (!/^\s*[{[]/.test(text)) throw refusal(response, text.slice(0, maxPageBytes), false)
      return answered(response, "application/json", [JSON.stringify(answerIn(text, awaited, answersTo(awaited)))])
    } finally {
      if (!waits) done()
    }
  }

  return async (url, init) => {
    if (init?.method === "POST") return post(url, init)
    if (init?.method === "DELETE") return fetch(url, init)
    if (older === undefined) return listen.fetch(url, init)
    const response = await fetch(url, init)
    if (!response.ok || response.body === null || !isEventStream(response)) return response
    const { onEnd } = older
    const answers: Answers = ({ error, id }) => byId({ id }) ?? (Predicate.isNotNullable(error) ? only() : undefined)
    const onMessage = (message: JSONRPCMessage) => {
      if (!("method" in message)) inFlight.delete(String(message.id))
    }
    return answered(
      response,
      "text/event-stream",
      events(chunksOf(response.body), { maxBytes, only, answers, onMessage, onEnd })
    )
  }
}

const sessionHeader = "mcp-session-id"

/**
 * The streams that are asked for by GET: the one for what the server says unasked, and the rest of those that broke.
 * The first is a favour of the server; where it does not come or does not last, no call may suffer.
 */
const listening = (maxBytes: number): { readonly fetch: FetchLike; readonly isOpen: () => Promise<boolean> } => {
  const eventIds = new Set<string>()
  const refused = new Response(null, { status: 405 })
  let open = Promise.resolve(false)
  let barren = 0

  const unasked: FetchLike = async (url, init) => {
    if (barren === maxBarrenStreams) return refused.clone()
    const response = await fetch(url, init).catch(() => undefined)
    if (response === undefined) return refused.clone()
    if (response.status >= 300 && response.status < 400) return response
    if (!response.ok || response.body === null || !isEventStream(response)) {
      await response.body?.cancel()
      return refused.clone()
    }
    const before = eventIds.size
    let heard = false
    const onEnd = () => {
      open = Promise.resolve(false)
      if (!heard && eventIds.size === before) barren++
    }
    const onEvent = (id: string | undefined) => {
      heard = true
      if (id !== undefined) eventIds.add(id)
    }
    return answered(response, "text/event-stream", events(chunksOf(response.body), { maxBytes, onEnd, onEvent }))
  }

  return {
    isOpen: () => open,
    fetch: async (url, init) => {
      const last = new Headers(init?.headers).get("last-event-id")
      if (last === null || eventIds.has(last)) {
        const response = unasked(url, init)
        open = response.then(({ ok }) => ok)
        return response
      }
      const response = await fetch(url, init)
      if (!response.ok || response.body === null) return response
      // Anything else the SDK would take for a stream that ends, and ask for it again without an end.
      if (!isEventStream(response)) return new Response(null, { status: 502 })
      return answered(response, "text/event-stream", events(chunksOf(response.body), { maxBytes }))
    }
  }
}

/** How often a stream is opened again that ended without a word. */
const maxBarrenStreams = 3

const posted = (body: unknown): Record<string, unknown> => {
  const message: unknown = typeof body === "string" ? JSON.parse(body) : undefined
  return isObject(message) ? message : {}
}

const awaitedBy = ({ id: given, method }: Record<string, unknown>): Awaited | undefined => {
  const id = RequestIdSchema.safeParse(given)
  return typeof method === "string" && id.success ? { id: id.data, method } : undefined
}

const answerIn = (text: string, awaited: Awaited, answers: Answers): ReadonlyArray<JSONRPCMessage> => {
  const messages = read(text, answers)
  if (messages.some(isAnswerTo(awaited))) return messages
  const isOther = messages.some((message) => !("method" in message))
  const failed = isOther
    ? failedAnswer(awaited.id, "The server answered another request in its place.", brokenOff)
    : failedAnswer(awaited.id, unreadable(text))
  return [...messages, failed]
}

/** Some servers of the older transport answer where the request was posted, most of them say something else there. */
const answerAside = async (
  response: Response,
  awaited: Awaited,
  maxBytes: number,
  onAnswer: (answer: JSONRPCMessage) => void
): Promise<void> => {
  if (response.body === null) return
  const text = await joined(chunksOf(response.body), maxBytes).catch(() => "")
  const own: Answers = ({ id }) => (String(id) === String(awaited.id) ? awaited : undefined)
  for (const message of read(text, own)) if (isAnswerTo(awaited)(message)) onAnswer(message)
}

const read = (text: string, answers: Answers): ReadonlyArray<JSONRPCMessage> => {
  try {
    return readMessages(JSON.parse(text.trim()), answers)
  } catch {
    return []
  }
}

const isAnswerTo =
  ({ id }: Awaited) =>
  (message: JSONRPCMessage): boolean =>
    !("method" in message) && message.id === id

const isEventStream = (response: Response): boolean =>
  (response.headers.get("content-type") ?? "").toLowerCase().includes("event-stream")

const isEvents = (text: string): boolean => /^(?:data|event|id|retry)?:/.test(text)

// ---------------------------------------------------------------------------------------------------------------
// streams
// ---------------------------------------------------------------------------------------------------------------

type Chunks = AsyncIterable<Uint8Array>

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The first characters that are not blank, and everything again. */
const begun = async (
  chunks: AsyncGenerator<Uint8Array>
): Promise<{ readonly first: string; readonly rest: Chunks }> => {
  const decoder = new TextDecoder()
  const seen: Array<Uint8Array> = []
  let first = ""
  while (first.length < 10) {
    const { done, value } = await chunks.next()
    if (done === true) break
    seen.push(value)
    first = (first + decoder.decode(value, { stream: true })).trimStart()
    // One of these says enough, and more may be long in coming.
    if (/^[{[:<]/.test(first)) break
  }
  return {
    first,
    rest: (async function* () {
      yield* seen
      yield* chunks
    })()
  }
}

const joined = async (chunks: Chunks, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxBytes) throw new Error(`The server's answer is longer than ${maxBytes} bytes.`)
  }
  return text + decoder.decode()
}

interface EventsOptions {
  readonly maxBytes: number
  /** The request that the stream answers. */
  readonly awaited?: Awaited
  readonly answers?: Answers
  /** The request that a message answers which cannot be read. */
  readonly only?: () => Awaited | undefined
  readonly onMessage?: (message: JSONRPCMessage) => void
  readonly onEvent?: (id: string | undefined) => void
  readonly onEnd?: () => void
}

/** Over a stream that answers no request of its own, a message's id is what it is. */
const byId: Answers = ({ id }) => {
  const known = RequestIdSchema.safeParse(id)
  return known.success ? { id: known.data, method: "" } : undefined
}

/**
 * Events as they came, their messages mended. Where the stream of a request ends, or an event is too long, before the
 * answer came and it cannot be taken up again, an answer that says so ends the call.
 */
async function* events(
  chunks: Chunks,
  { awaited, answers = byId, maxBytes, only, onEnd, onEvent, onMessage }: EventsOptions
): AsyncGenerator<string> {
  let parsed: Array<string> = []
  let size = 0
  let resumable = false
  let answer = false
  const parser = createParser({
    onRetry: (milliseconds) => parsed.push(`retry: ${milliseconds}\n\n`),
    onEvent: ({ data, event, id }) => {
      size = 0
      onEvent?.(id)
      const head = id === undefined ? "" : `id: ${id}\n`
      resumable ||= head !== ""
      if (event === "endpoint") return parsed.push(`event: endpoint\ndata: ${data}\n\n`)
      const readable = read(data, answers)
      const broken = readable.length === 0 && data.includes('"jsonrpc"') ? only?.() : undefined
      const messages = broken === undefined ? readable : [failedAnswer(broken.id, unreadable(data))]
      if (onMessage !== undefined) messages.forEach(onMessage)
      answer ||= awaited !== undefined && messages.some(isAnswerTo(awaited))
      return messages.length === 0
        ? parsed.push(`${head}data:\n\n`)
        : parsed.push(...messages.map((message) => `${head}data: ${JSON.stringify(message)}\n\n`))
    }
  })
  const decoder = new TextDecoder()
  let problem: string | undefined
  try {
    for await (const chunk of chunks) {
      size += chunk.length
      parser.feed(decoder.decode(chunk, { stream: true }))
      if (size > maxBytes) {
        problem = `The server's answer is longer than ${maxBytes} bytes.`
        resumable = false
        break
      }
      yield* parsed
      parsed = []
    }
    // The last event may have no blank line behind it.
    parser.feed("\n\n")
    yield* parsed
  } catch (error) {
    if (awaited === undefined || resumable) throw error
    problem = undefined
  } finally {
    onEnd?.()
  }
  if (awaited === undefined || answer || resumable) return
  const answered =
    problem === undefined
      ? failedAnswer(awaited.id, "The connection ended before the answer.", brokenOff)
      : failedAnswer(awaited.id, problem)
  yield `data: ${JSON.stringify(answered)}\n\n`
}

const answered = (
  response: Response,
  contentType: string,
  texts: AsyncIterable<string> | Iterable<string>
): Response => {
  const headers = new Headers(response.headers)
  for (const name of ["content-length", "content-encoding"]) headers.delete(name)
  headers.set("content-type", contentType)
  return new Response(ReadableStream.from(texts).pipeThrough(new TextEncoderStream()), {
    status: response.status,
    headers
  })
}

// ---------------------------------------------------------------------------------------------------------------
// errors in words
// ---------------------------------------------------------------------------------------------------------------

const maxPageBytes = 100_000

const textUpTo = async (response: Response, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  try {
    for await (const chunk of response.body === null ? [] : chunksOf(response.body)) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > maxBytes) break
    }
  } catch {
    // What came until then says enough.
  }
  return text
}

const refusal = (response: Response, body: string, hadSession: boolean): HttpRefusal => {
  const { status, statusText } = response
  const words = pageWords(body)
  const what = status < 400 ? "The server did not answer in its protocol" : "The server refused the request"
  const said = words === "" ? "." : `: ${words}${/[.!?…]$/.test(words) ? "" : "."}`
  const named = statusText === "" ? `HTTP ${status}` : `HTTP ${status} ${statusText}`
  const gone = hadSession && (status === 404 || status === 410)
  const lost = gone || ((hadSession || lostStatuses.has(status)) && saysLost(words))
  return new HttpRefusal(status, lost, `${what} (${named})${said}${credentialsAdvice(status)}`)
}

/** What to do where a server wants to know who asks. */
export const credentialsAdvice = (status: number | undefined): string =>
  status === 401 || status === 403
    ? ' The credentials are missing, or not accepted: give them in "headers", such as "authorization".'
    : ""

/** With these a session may be missing that the server never gave. */
const lostStatuses = new Set([400, 404, 410])

/** Returns whether a server says, in one of many ways, that a session is not one of its own. */
export const saysLost = (words: string): boolean =>
  /\bnot (?:been )?initiali[sz]ed|\bexpect\w* initiali[sz]e/i.test(words) ||
  /\bno (?:such |valid |active |open |known )?(?:mcp )?session/i.test(words) ||
  (/session/i.test(words) &&
    /not f(?:ou|i)nd|no transport|invalid|expired|unknown|missing|required|terminated|exist|no longer|closed|stale|unrecogni[sz]ed|not (?:valid|recogni[sz]ed|known)|lost|timed out|has ended|evicted/i.test(
      words
    ))

/** The first words of an error page: a message out of JSON, or the text of HTML. */
const pageWords = (body: string): string => {
  const text =
    /^\s*</.test(body) || /<html|<body|<!doctype/i.test(body.slice(0, 1_000)) ? htmlText(body) : jsonWords(body)
  const folded = text.replaceAll(/\s+/g, " ").trim()
  return folded.length > maxWords ? `${folded.slice(0, maxWords).toWellFormed()}…` : folded
}

const maxWords = 300

const jsonWords = (body: string): string => {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return body
  }
  return messageIn(value) ?? (typeof value === "string" ? value : body)
}

const messageIn = (value: unknown, depth = 0): string | undefined => {
  if (!isObject(value) || depth > 4) return textOf(value)
  for (const key of ["error", "message", "error_description", "detail", "title"]) {
    const found = messageIn(value[key], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
