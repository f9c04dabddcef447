/**
 * Reads the body of a successful response by its first bytes, whatever its content type says: one JSON document, a
 * stream of server-sent events, or JSON documents one after another.
 */
import type { HttpClientError } from "@effect/platform/HttpClientError"
import { asObject, asObjects, type JsonObject, parseJson } from "@forethought/core/Json"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import { brokenPart, complains } from "./httpFailure.js"

/** What one event of a stream adds for whoever watches. */
export interface Piece {
  readonly text: string
  readonly reasoning: string
}

/** Puts the events of one streamed reply together into the response that would have come in one piece. */
export interface Assembler {
  /** Adds an event. */
  readonly add: (event: JsonObject) => Piece
  /** The server said that this was all, in a word that is common to the protocols: `[DONE]`. */
  readonly done: () => void
  /** Returns whether the model came to its end; only a count of tokens may still follow. */
  readonly finished: () => boolean
  /** Returns whether nothing that matters can follow. */
  readonly complete: () => boolean
  /** The whole response, or `undefined` where the stream ended before it. */
  readonly whole: () => JsonObject | undefined
}

/** How a provider's documents are told apart and put together. */
export interface Reader {
  /** Returns whether a document that arrived alone is an event of a stream rather than a whole response. */
  readonly isEvent: (document: JsonObject) => boolean
  readonly assembler: () => Assembler
}

export type Body =
  /** A response, in one piece or put together; `streamed` where its pieces were told. */
  | { readonly _tag: "Response"; readonly body: JsonObject; readonly streamed: boolean }
  /** The server reports an error inside the success. */
  | { readonly _tag: "Failed"; readonly error: JsonObject }
  /** It ended before it was whole, or before it began. */
  | { readonly _tag: "Cut"; readonly problem: string; readonly isEmpty?: boolean }
  /** Something else, with its text. */
  | { readonly _tag: "Unreadable"; readonly text: string }

/** Reads a body to its end, or to where the reply is whole. `tell` is told each piece of a stream in order. */
export const read = <E>(
  bytes: Stream.Stream<Uint8Array, HttpClientError>,
  reader: Reader,
  tell: (piece: Piece) => Effect.Effect<void, E>
): Effect.Effect<Body, HttpClientError | E> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    const events = new Events(reader)
    const kept: Array<string> = []
    let kind: "unknown" | "events" | "text" = "unknown"
    /** Takes a part of the text, and says whether more is wanted. */
    const take = (text: string): Effect.Effect<boolean, E> => {
      if (kind === "unknown") {
        kept.push(text)
        const start = kept.join("").trimStart()
        if (start === "") return Effect.succeed(true)
        kind = looksLikeEvents(start) ? "events" : "text"
        if (kind === "text") return Effect.succeed(true)
        return told(events.feed(start), true)
      }
      if (kind === "events") return told(events.feed(text), true)
      kept.push(text)
      return Effect.succeed(true)
    }
    const told = (pieces: ReadonlyArray<Piece>, more: boolean): Effect.Effect<boolean, E> =>
      Effect.as(Effect.forEach(pieces, tell, { discard: true }), more && !events.ended)
    const finish: Effect.Effect<Body, E> = Effect.suspend(() =>
      kind === "events"
        ? Effect.as(told(events.end(), false), events.body())
        : Effect.succeed(ofText(kept.join(""), reader))
    )
    return bytes.pipe(
      Stream.runForEachWhile((chunk) => take(decoder.decode(chunk, { stream: true }))),
      // A connection that breaks behind the model's end took nothing with it.
      Effect.catchAll((error) => (events.isWhole ? Effect.void : Effect.fail(error))),
      Effect.zipRight(finish)
    )
  })

/** A stream begins with a field or a comment; JSON and pages begin with a bracket. */
const looksLikeEvents = (start: string): boolean =>
  /^(?:data|event|id|retry|error)?:/.test(start.slice(0, 10)) || isField(start)

/** The beginning of a field whose colon has not arrived yet. */
const isField = (start: string): boolean =>
  ["data:", "event:", "id:", "retry:", "error:"].some((field) => start.length < field.length && field.startsWith(start))

// ---------------------------------------------------------------------------------------------------------------
// events
// ---------------------------------------------------------------------------------------------------------------

/** Feeds server-sent events to an assembler. */
class Events {
  private readonly assembler: Assembler
  private readonly pieces: Array<Piece> = []
  private failed: JsonObject | undefined
  private broken = false
  private isDone = false
  private seen = 0
  private readonly parser = createParser({
    onEvent: (event) => this.take(event),
    // Servers before llama.cpp's present one write `error: {…}` in place of an event.
    onError: ({ field, value }) => {
      if (field === "error" && value !== undefined && !this.ended) this.failed = { error: parseJson(value) ?? value }
    }
  })
  /** The first words that are not a document: to show what it was. */
  private words = ""

  constructor(reader: Reader) {
    this.assembler = reader.assembler()
  }

  /** Returns whether nothing that follows matters. */
  get ended(): boolean {
    return this.broken || this.failed !== undefined || this.assembler.complete()
  }

  get isWhole(): boolean {
    return this.failed === undefined && !this.broken && this.assembler.finished()
  }

  feed(text: string): ReadonlyArray<Piece> {
    this.parser.feed(text)
    return this.pieces.splice(0)
  }

  /** The last event needs no blank line behind it. */
  end(): ReadonlyArray<Piece> {
    return this.feed("\n\n")
  }

  body(): Body {
    if (this.failed !== undefined) return { _tag: "Failed", error: this.failed }
    const body = this.broken ? undefined : this.assembler.whole()
    const error = body === undefined ? undefined : brokenPart(body)
    if (error !== undefined) return { _tag: "Failed", error }
    if (body !== undefined) return { _tag: "Response", body, streamed: true }
    if (this.seen === 0 && this.words !== "") return { _tag: "Unreadable", text: this.words }
    const isEmpty = this.isDone && !this.broken
    const problem = isEmpty ? "the stream held no reply" : "the stream ended before the reply was whole"
    return { _tag: "Cut", problem, isEmpty }
  }

  private take({ data, event }: EventSourceMessage): void {
    if (this.ended) return
    const document = parseDocument(data)
    // Servers that leave out the blank line between events: each line is one.
    const lines = document === undefined && data.includes("\n") ? data.split("\n") : [data]
    for (const line of lines) {
      if (this.ended) return
      this.document(lines.length === 1 ? document : parseDocument(line), line, event)
    }
  }

  private document(document: unknown, data: string, event: string | undefined): void {
    if (this.ended) return
    const text = data.trim()
    for (const value of Array.isArray(document) ? document : [document]) {
      const object = asObject(value)
      if (object === undefined) continue
      this.seen += 1
      const error = brokenPart(object) ?? (event === "error" ? object : undefined)
      if (error !== undefined) {
        this.failed = error
        return
      }
      this.pieces.push(this.assembler.add(object))
    }
    if (text === "[DONE]") {
      this.isDone = true
      this.assembler.done()
    } else if (document === undefined && text !== "" && (event === "error" || /^\W*error\b/i.test(text))) {
      this.failed = { error: { message: text } }
    } else if (document === undefined && (text.startsWith("{") || text.startsWith("["))) {
      // Half a document: what it held is lost, so the rest is not a whole reply.
      this.seen += 1
      this.broken = true
    } else if (document === undefined && this.words === "" && !keepAlive.test(text)) this.words = text
    // All else (`ping`, `null`, nothing) keeps the connection alive.
  }
}

const keepAlive = /^(?:null|ping|heartbeat|keep[-_ ]?alive)$/i

/** A failed attempt at JSON costs far more than a look at its first character. */
const parseDocument = (data: string): unknown => (/^\s*[{[]/.test(data) ? parseJson(data) : undefined)

// ---------------------------------------------------------------------------------------------------------------
// documents
// ---------------------------------------------------------------------------------------------------------------

const ofText = (text: string, reader: Reader): Body => {
  const start = text.trim()
  if (start === "") return { _tag: "Cut", problem: "the response is empty", isEmpty: true }
  if (!start.startsWith("{") && !start.startsWith("[")) return { _tag: "Unreadable", text: start }
  const found = documents(start)
  if (found === undefined) return { _tag: "Cut", problem: "the response is cut off or is not valid JSON" }
  const objects = asObjects(found)
  const [first] = objects
  if (first === undefined || objects.length < found.length) return { _tag: "Unreadable", text: start }
  const error =
    objects.map(brokenPart).find((part) => part !== undefined) ??
    (objects.length === 1 && complains(first) ? first : undefined)
  if (error !== undefined) return { _tag: "Failed", error }
  if (objects.length === 1 && !reader.isEvent(first)) return { _tag: "Response", body: first, streamed: false }
  const assembler = reader.assembler()
  for (const object of objects) assembler.add(object)
  if (/data:\s*\[DONE\]\s*$/.test(start.slice(-40))) assembler.done()
  const body = assembler.whole()
  const failed = body === undefined ? undefined : brokenPart(body)
  if (failed !== undefined) return { _tag: "Failed", error: failed }
  return body === undefined
    ? { _tag: "Cut", problem: "the response ended before the reply was whole" }
    : { _tag: "Response", body, streamed: false }
}

/**
 * The JSON documents of a text: one, those of an array, or several one after another, also with `data:` before each and
 * `[DONE]` at the end. `undefined` where one of them does not end or is not JSON.
 */
const documents = (text: string): ReadonlyArray<unknown> | undefined => {
  const only = parseJson(text)
  if (only !== undefined) return Array.isArray(only) ? only : [only]
  const found: Array<unknown> = []
  let at = 0
  while (at < text.length) {
    const c = text.charAt(at)
    if (c === "{" || (c === "[" && !text.startsWith("[DONE]", at))) {
      const end = endOf(text, at)
      const value = end === undefined ? undefined : parseJson(text.slice(at, end))
      if (end === undefined || value === undefined) return undefined
      found.push(...(Array.isArray(value) ? value : [value]))
      at = end
      continue
    }
    const rest = /[\s,]|data:|event:[^\n]*|:[^\n]*|\[DONE\]/y
    rest.lastIndex = at
    if (!rest.test(text)) return undefined
    at = rest.lastIndex
  }
  return found
}

/** Behind the value whose bracket opens at `at`. */
const endOf = (text: string, at: number): number | undefined => {
  let depth = 0
  let inString = false
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 0x5c) i++
      else if (c === 0x22) inString = false
    } else if (c === 0x22) inString = true
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) {
      depth--
      if (depth === 0) return i + 1
    }
  }
  return undefined
}
