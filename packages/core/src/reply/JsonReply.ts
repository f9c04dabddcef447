/**
 * Reads the one JSON object that a reply was asked for, wherever in the reply it stands.
 */

import * as Either from "effect/Either"
import * as JsonRepair from "../internal/reply/JsonRepair.js"
import * as JsonText from "../internal/reply/JsonText.js"
import { isObject } from "../Json.js"
import { excerpt, ParseError } from "../ReplyError.js"
import { trim, visible } from "./ReplyText.js"

/** An object with at least one of the keys asked for. */
export interface JsonReply {
  /** The object's own keys and values; a key asked for has the name it was asked by. */
  readonly value: Readonly<Record<string, unknown>>
  /** True if the reply held several such objects that differ; this is the last one. */
  readonly conflicting: boolean
}

export interface Options {
  /** The keys that make an object count. Matched without case, `_`, `-` and spaces. */
  readonly keys: ReadonlyArray<string>
  /** The request in words that quote the format. Becomes `ParseError.expected`. */
  readonly expected: string
  /** Decides about several objects that differ: an error, or the last one. Default: `reject`. */
  readonly onConflict?: "reject" | "last"
}

/** Words for what is wrong with JSON in a reply. */
export type Problem =
  | "empty_reply"
  | "no_json"
  | "missing_keys"
  | "echo"
  | "malformed"
  | "unfinished"
  | "too_deep"
  | "conflict"

/**
 * Reads a reply as received (see `ReplyText.visible` for what is dropped first).
 *
 * Objects are found in prose and in code fences; brackets such as a citation's `[1]` are passed over. An array
 * around them and one wrapper object (`{"response": {…}}`) are opened, and a reply that is one JSON string is read as
 * its content. An object that only repeats the format (`"..."`, or a JSON Schema) does not count.
 *
 * Fails with a `ParseError` whose `problem` is `empty_reply`, `no_json`, `missing_keys` (an object, but none of the
 * keys), `echo` (the format itself), `malformed`, `unfinished` (the text ends inside an object), `too_deep`, or
 * `conflict` (several objects that differ, or a key given twice).
 */
export const read = (text: string, options: Options): Either.Either<JsonReply, ParseError<Problem>> =>
  readVisible(visible(text), text, options)

/** {@link read} for text that is `visible` already; `reply` is the reply as received. */
export const readVisible = (
  shown: string,
  reply: string,
  options: Options
): Either.Either<JsonReply, ParseError<Problem>> => {
  const content = stringContent(shown) ?? shown
  const base = content === shown && reply.endsWith(shown) ? reply.length - shown.length : undefined
  const fail = (problem: Problem, found: string, at?: number) =>
    Either.left(
      new ParseError({
        problem,
        expected: options.expected,
        found,
        reply,
        ...(at === undefined || base === undefined ? {} : { at: base + at })
      })
    )
  if (content === "") return fail("empty_reply", "an empty reply")

  const found = JsonText.find(content, startsReply)
  if (found.tooDeepAt !== undefined) return fail("too_deep", "JSON that is nested too deep", found.tooDeepAt)
  if (found.unfinishedAt !== undefined) {
    return fail("unfinished", `JSON that does not end: ${excerpt(content, found.unfinishedAt)}`, found.unfinishedAt)
  }

  const wanted = new Map(options.keys.map((key) => [bareKey(key), key]))
  const objects: Array<{ readonly value: Readonly<Record<string, unknown>>; readonly span: JsonText.Span }> = []
  const foldedKeys = [...wanted.keys()]
  let repairable = JsonRepair.maxLength
  let broken = 0
  let malformed: JsonText.Span | undefined
  let other: JsonText.Span | undefined
  let echo = false
  let twice = false
  for (const [index, span] of found.spans.entries()) {
    const source = content.slice(span.start, span.end)
    const folded = bareKey(source)
    if (!foldedKeys.some((key) => folded.includes(key))) {
      other = span
      continue
    }
    const isWhole = index >= found.doubtful
    let parsed = isWhole ? JsonRepair.parse(source) : undefined
    if (parsed === undefined && isWhole) {
      repairable -= source.length
      if (repairable >= 0) parsed = JsonRepair.repair(content, span)
    }
    if (parsed === undefined) {
      malformed = span
      broken++
      // Nothing that follows so many broken objects is a reply; each more would only cost time.
      if (broken === maxBroken) break
      continue
    }
    const qualifying = candidates(parsed, wanted)
    if (qualifying.length === 0) other = span
    const filled = qualifying.filter((object) => !isEcho(object))
    if (filled.length < qualifying.length) echo = true
    if (filled.length > 0 && hasDuplicate(span.keys, wanted)) twice = true
    for (const object of filled) {
      const named = rename(object, wanted)
      if (named.conflict) twice = true
      objects.push({ value: named.value, span })
      malformed = undefined
    }
    if (objects.length > maxObjects) return fail("conflict", `more than ${maxObjects} such objects`)
  }

  const last = objects.at(-1)
  if (malformed !== undefined) {
    return fail(
      "malformed",
      `JSON that cannot be read: ${excerpt(content.slice(malformed.start, malformed.end))}`,
      malformed.start
    )
  }
  if (last === undefined) {
    if (echo) return fail("echo", "the format itself, with nothing filled in")
    if (other === undefined) return fail("no_json", excerpt(content))
    return fail(
      "missing_keys",
      `an object without ${options.keys.map((key) => `"${key}"`).join(" or ")}: ${excerpt(content.slice(other.start, other.end))}`,
      other.start
    )
  }
  const different = objects.find((object) => !equal(object.value, last.value))
  const conflicting = different !== undefined || twice
  if (conflicting && options.onConflict !== "last") {
    const describe = (span: JsonText.Span) => excerpt(content.slice(span.start, span.end))
    return different === undefined
      ? fail("conflict", `the same key twice in ${describe(last.span)}`, last.span.start)
      : fail(
          "conflict",
          `objects that differ: ${describe(different.span)} and ${describe(last.span)}`,
          different.span.start
        )
  }
  return Either.right({ value: last.value, conflicting })
}

/** An object with the keys asked for renamed to the names they were asked by, or undefined if it is not an object. */
export const named = (value: unknown, keys: ReadonlyArray<string>): Readonly<Record<string, unknown>> | undefined =>
  isObject(value) ? rename(value, new Map(keys.map((key) => [bareKey(key), key]))).value : undefined

// ---------------------------------------------------------------------------------------------------------------
// internals
// ---------------------------------------------------------------------------------------------------------------

/** More than these are not a reply, and each would only cost time. */
const maxObjects = 1_000
const maxBroken = 100

type Wanted = ReadonlyMap<string, string>
type Entries = Readonly<Record<string, unknown>>

const bareKey = (key: string): string => key.toLowerCase().replaceAll(/[_\-\s]/g, "")

/** An object, or an array that starts with one: then its end belongs to the reply too. */
const startsReply = (text: string, at: number): boolean =>
  JsonText.startsObject(text, text.charCodeAt(at) === 0x5b ? JsonText.afterBlanks(text, at + 1) : at)

/** The content of a reply that is one JSON string, as a model writes that encodes its JSON twice. */
const stringContent = (text: string): string | undefined => {
  if (!text.startsWith('"') || !text.endsWith('"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "string" ? trim(value) : undefined
  } catch {
    return undefined
  }
}

const qualifies = (value: unknown, wanted: Wanted): value is Entries =>
  isObject(value) && Object.keys(value).some((key) => wanted.has(bareKey(key)))

const candidates = (value: unknown, wanted: Wanted): ReadonlyArray<Entries> => {
  if (Array.isArray(value)) return value.flatMap((item) => inObject(item, wanted))
  return inObject(value, wanted)
}

const inObject = (value: unknown, wanted: Wanted): ReadonlyArray<Entries> => {
  if (qualifies(value, wanted)) return [value]
  if (!isObject(value) || isSchema(value)) return []
  const inside = Object.values(value).filter((item) => qualifies(item, wanted))
  return inside.length === 1 ? inside : []
}

const isSchema = (value: Entries): boolean => Object.hasOwn(value, "$schema") || Object.hasOwn(value, "properties")

const rename = (object: Entries, wanted: Wanted): { readonly value: Entries; readonly conflict: boolean } => {
  const entries = new Map<string, unknown>()
  let conflict = false
  for (const [key, item] of Object.entries(object)) {
    const name = wanted.get(bareKey(key)) ?? key
    if (entries.has(name) && !equal(entries.get(name), item)) conflict = true
    entries.set(name, item)
  }
  return { value: Object.fromEntries(entries), conflict }
}

/** `JSON.parse` keeps the last of two equal keys without a word; the model meant one of them. */
const hasDuplicate = (keys: ReadonlyArray<JsonText.Key>, wanted: Wanted): boolean => {
  const seen = new Set<string>()
  for (const { key, object } of keys) {
    if (!wanted.has(bareKey(key))) continue
    const id = `${object} ${key}`
    if (seen.has(id)) return true
    seen.add(id)
  }
  return false
}

/**
 * Returns whether a text is a hole that nothing was filled into: dots, or words in angle brackets such as `<the
 * result>`.
 */
export const isPlaceholder = (text: string): boolean => {
  const body = trim(text)
  if (isDots(body)) return true
  if (body.length > 200 || !body.startsWith("<") || body.indexOf(">") !== body.length - 1) return false
  const words = body.slice(1, -1).toLowerCase()
  return holes.has(words) || (/^[\p{L}\d_', ]+$/u.test(words) && words.includes(" "))
}

const holes: ReadonlySet<string> = new Set(["answer", "result", "reason", "step", "string", "text", "value"])

const isDots = (text: string): boolean => text !== "" && [...text].every((c) => c === "." || c === "…")

const leaves = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value.flatMap(leaves) : isObject(value) ? Object.values(value).flatMap(leaves) : [value]

const isEcho = (value: Entries): boolean => {
  const texts = leaves(value).filter((leaf) => typeof leaf === "string")
  return texts.length > 0 && (texts.every(isPlaceholder) || texts.some((text) => isDots(trim(text))))
}

/** Deep equality of JSON values. Depth is bounded by `JsonText.maxDepth`. */
const equal = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a)
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  }
  return a === b
}

/** Returns the place behind the JSON object or array that starts at `at`, or -1 if it does not end. */
export const endOf = JsonText.endOf
