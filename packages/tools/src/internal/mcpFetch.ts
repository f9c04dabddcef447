/**
 * The `fetch` that the SDK's HTTP transports use: answers are read leniently (see `mcpMessage`) whatever their content
 * type says, and what is not an answer is an error in words.
 */
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type JSONRPCMessage, RequestIdSchema } from "@modelcontextprotocol/sdk/types.js"
import { createParser } from "eventsource-parser"
import { htmlText } from "./htmlText.js"
import { isRecord, textOf } from "./json.js"
import { type Answers, type Awaited, brokenOff, failedAnswer, readMessages, unreadable } from "./mcpMessage.js"

/** A server refused a request, or answered with something else than an answer. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    /** Whether the server does not know, or no longer knows, the session that the request belongs to. */
    readonly sessionLost: boolean,
    message: string
  ) {
    super(message)
  }
}

/** A fetch for one connection. `onStreamEnd` is told that the stream of the old transport, a GET, has ended. */
export const mendingFetch =
  (maxBytes: number, onStreamEnd: () => void = () => {}): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init)
    const { status } = response
    // Redirects are the SDK's, which follows none to another origin.
    if (init?.method === "DELETE" || (status >= 300 && status < 400)) return response
    if (init?.method !== "POST") {
      if (!response.ok || response.body === null || !isEventStream(response)) return response
      return answered(response, "text/event-stream", events(chunksOf(response.body), undefined, maxBytes, onStreamEnd))
    }
    const awaited = awaitedBy(init.body)
    // Some servers refuse what they need not answer.
    if (status >= 400 && awaited === undefined) return new Response(null, { status: 202 })
    if (status >= 400) {
      throw refusal(response, await textUpTo(response, maxPageBytes), new Headers(init.headers).has("mcp-session-id"))
    }
    if (awaited === undefined || status === 202 || response.body === null) return response
    const { first, rest } = await begun(chunksOf(response.body))
    if (isEvents(first) || (first === "" && isEventStream(response))) {
      return answered(response, "text/event-stream", events(rest, awaited, maxBytes))
    }
    const text = await joined(rest, maxBytes)
    if (!/^\s*[{[]/.test(text)) throw refusal(response, text.slice(0, maxPageBytes), false)
    return answered(response, "application/json", [JSON.stringify(answerIn(text, awaited))])
  }

const awaitedBy = (body: unknown): Awaited | undefined => {
  if (typeof body !== "string") return undefined
  const message: unknown = JSON.parse(body)
  if (!isRecord(message) || typeof message["method"] !== "string") return undefined
  const id = RequestIdSchema.safeParse(message["id"])
  return id.success ? { id: id.data, method: message["method"] } : undefined
}

const answerIn = (text: string, awaited: Awaited): ReadonlyArray<JSONRPCMessage> => {
  const messages = read(text, () => awaited)
  return messages.some(isAnswer) ? messages : [...messages, failedAnswer(awaited.id, unreadable(text))]
}

/** Whatever answers a request over HTTP answers the one that was posted, whichever id it has. */
const read = (text: string, answers: Answers): ReadonlyArray<JSONRPCMessage> => {
  try {
    return readMessages(JSON.parse(text.trim()), answers)
  } catch {
    return []
  }
}

const isAnswer = (message: JSONRPCMessage): boolean => !("method" in message)

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

/**
 * Events as they came, their messages mended. Where the stream of a request ends, or an event is too long, before the
 * answer came and it cannot be taken up again, an answer that says so ends the call.
 */
async function* events(
  chunks: Chunks,
  awaited: Awaited | undefined,
  maxBytes: number,
  onEnd: () => void = () => {}
): AsyncGenerator<string> {
  let parsed: Array<string> = []
  let size = 0
  let resumable = false
  let answer = false
  // Over a stream that answers no request of its own, a message's id is what it is.
  const answers: Answers = ({ id }) => {
    if (awaited !== undefined) return awaited
    const known = RequestIdSchema.safeParse(id)
    return known.success ? { id: known.data, method: "" } : undefined
  }
  const parser = createParser({
    onRetry: (milliseconds) => parsed.push(`retry: ${milliseconds}\n\n`),
    onEvent: ({ data, event, id }) => {
      size = 0
      const head = id === undefined ? "" : `id: ${id}\n`
      resumable ||= head !== ""
      if (event === "endpoint") return parsed.push(`event: endpoint\ndata: ${data}\n\n`)
      const readable = read(data, answers)
      const isBroken = awaited !== undefined && readable.length === 0 && data.includes('"jsonrpc"')
      const messages = isBroken ? [failedAnswer(awaited.id, unreadable(data))] : readable
      answer ||= messages.some(isAnswer)
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
    onEnd()
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
  const lost = (status === 404 && hadSession) || (lostStatuses.has(status) && saysLost(words))
  return new HttpRefusal(status, lost, `${what} (${named})${said}${credentialsAdvice(status)}`)
}

/** What to do where a server wants to know who asks. */
export const credentialsAdvice = (status: number | undefined): string =>
  status === 401 || status === 403
    ? ' The credentials are missing, or not accepted: give them in "headers", such as "authorization".'
    : ""

const lostStatuses = new Set([400, 404, 410])

/** Servers say in many ways that a session is not one of theirs, and none of them ran anything. */
const saysLost = (words: string): boolean =>
  /\bnot (?:been )?initiali[sz]ed/i.test(words) ||
  (/session/i.test(words) &&
    /not found|no valid|no transport|invalid|expired|unknown|missing|required|terminated|exist|no longer|closed|no active|stale|unrecogni[sz]ed|not valid|lost/i.test(
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
  if (!isRecord(value) || depth > 4) return textOf(value)
  for (const key of ["error", "message", "error_description", "detail", "title"]) {
    const found = messageIn(value[key], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
