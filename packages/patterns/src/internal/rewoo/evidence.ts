/**
 * Evidence on its way into a later input or a prompt: capped, and always text.
 *
 * @internal
 */
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as SchemaPlace from "@forethought/core/SchemaPlace"
import { singleStringField, type ToolInfo } from "@forethought/core/Tool"
import type { ParsedStep } from "./parse.js"
import type { Piece } from "./variables.js"

/**
 * Cuts texts so that all together have at most `maxChars` characters, the longest first: those that are shorter than a
 * fair share keep all of theirs.
 */
export const fit = (texts: ReadonlyArray<string>, maxChars: number): ReadonlyArray<string> => {
  const total = texts.reduce((sum, text) => sum + text.length, 0)
  if (total <= maxChars) return texts
  let room = maxChars
  let share = 0
  const lengths = texts.map((text) => text.length).sort((a, b) => a - b)
  for (const [index, length] of lengths.entries()) {
    share = Math.floor(room / (lengths.length - index))
    if (length > share) break
    room -= length
  }
  return texts.map((text) => ReplyText.cut(text, share))
}

/**
 * The input of a step with evidence in place of its references: `resolvedInput` as it reads, `input` as the tool gets
 * it. Where the tool takes an object, evidence is a value in it and never a part of its syntax: a string that is one
 * reference and nothing else takes the evidence's own type where the tool's schema wants that and no string.
 */
export const resolve = (
  step: ParsedStep,
  tool: ToolInfo | undefined,
  texts: ReadonlyMap<string, string>,
  maxChars: number
): { readonly input: string; readonly resolvedInput: string } => {
  const mentioned = step.pieces.flatMap((piece) => (typeof piece === "string" ? [] : [texts.get(piece.variable) ?? ""]))
  if (mentioned.length === 0) return { input: step.input, resolvedInput: step.input }
  const evidence = fit(mentioned, maxChars)
  if (tool?.takes === "object" && step.input.trimStart().startsWith("{")) {
    const json = intoJson(step.pieces, evidence, SchemaPlace.make(tool.parameters))
    return { input: json, resolvedInput: json }
  }
  const resolvedInput = intoText(step, evidence)
  const field = tool?.takes === "object" ? singleStringField(tool.parameters) : undefined
  return { input: field === undefined ? resolvedInput : JSON.stringify({ [field]: resolvedInput }), resolvedInput }
}

const intoText = (step: ParsedStep, evidence: ReadonlyArray<string>): string => {
  let next = 0
  return step.pieces.map((piece) => (typeof piece === "string" ? piece : (evidence[next++] ?? ""))).join("")
}

/** An object or an array that is open where the pieces have been read to. */
interface Open {
  readonly isObject: boolean
  /** The key whose value is read, the text of it as it is written. */
  key: string | undefined
  index: number
}

/**
 * Joins the pieces of a JSON text. One pass that knows in which value each reference stands. Inside a string evidence
 * is escaped text. As a value of its own, without quotes or as the whole of a string, it is the JSON that it spells
 * where the schema wants that; without quotes also a number, `true`, `false` or `null` where the schema wants a string
 * or says nothing.
 */
const intoJson = (
  pieces: ReadonlyArray<Piece>,
  evidence: ReadonlyArray<string>,
  root: SchemaPlace.SchemaPlace
): string => {
  const out: Array<string> = []
  const open: Array<Open> = []
  /**
   * The string that is open, in parts and without its quotes, and the text of its only reference, if that is all of it.
   */
  let string: Array<string> | undefined
  let only: string | undefined
  let isEscaped = false
  let last = ""

  const placeNow = (): SchemaPlace.SchemaPlace | undefined =>
    open.length > maxDepth
      ? undefined
      : open.reduce(
          (place, { index, isObject, key }) =>
            isObject ? SchemaPlace.property(place, key ?? "") : SchemaPlace.element(place, index),
          root
        )
  const closeString = (parts: ReadonlyArray<string>) => {
    const inner = open.at(-1)
    const isKey = inner?.isObject === true && inner.key === undefined
    const written = parts.join("")
    out.push((only === undefined || isKey ? undefined : asWanted(placeNow(), only)) ?? `"${written}"`)
    if (isKey) last = written
    string = undefined
  }
  const structure = (code: number) => {
    const inner = open.at(-1)
    if (code === 0x7b || code === 0x5b) open.push({ isObject: code === 0x7b, key: undefined, index: 0 })
    else if (code === 0x7d || code === 0x5d) open.pop()
    else if (code === 0x3a && inner?.isObject === true) inner.key = keyOf(last)
    else if (code === 0x2c && inner !== undefined) {
      inner.key = undefined
      inner.index += 1
    }
  }
  const read = (text: string) => {
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0x22 && !isEscaped) {
        const part = text.slice(from, at)
        from = at + 1
        if (string === undefined) {
          out.push(part)
          string = []
          only = undefined
        } else closeString([...string, part])
      } else if (string === undefined) structure(code)
      else {
        isEscaped = code === 0x5c && !isEscaped
        if (only !== undefined && !isBlank(code)) only = undefined
      }
    }
    if (string === undefined) out.push(text.slice(from))
    else string.push(text.slice(from))
  }
  let next = 0
  for (const piece of pieces) {
    if (typeof piece === "string") {
      read(piece)
      continue
    }
    const text = evidence[next++] ?? ""
    if (string === undefined) {
      out.push(asWanted(placeNow(), text) ?? (isLiteral(text) ? text.trim() : JSON.stringify(text)))
    } else {
      // So far there is the text before the reference, and nothing else.
      only = string.length === 1 && string[0]?.trim() === "" ? text : undefined
      string.push(JSON.stringify(text).slice(1, -1))
    }
  }
  if (string !== undefined) out.push('"', ...string)
  return out.join("")
}

/** No input nests deeper: what is deeper has no place of its own. */
const maxDepth = 100

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** The JSON that a text spells, where the schema wants a value of its type and no text. */
const asWanted = (place: SchemaPlace.SchemaPlace | undefined, text: string): string | undefined =>
  place === undefined || SchemaPlace.spelled(place, text) === undefined ? undefined : text.trim()

const isLiteral = (text: string): boolean =>
  text.length < 700 && /^\s*(?:-?\d{1,300}(?:\.\d{1,300})?|true|false|null)\s*$/.test(text)

/** A key as it reads, from the text between its quotes. */
const keyOf = (written: string): string => {
  try {
    return String(JSON.parse(`"${written}"`))
  } catch {
    return written
  }
}
