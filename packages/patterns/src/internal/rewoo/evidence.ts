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
  readonly place: SchemaPlace.SchemaPlace
  readonly isObject: boolean
  /** The key whose value is read, the text of it as it is written. */
  key: string | undefined
  index: number
}

/**
 * Joins the pieces of a JSON text. One pass that knows in which value each reference stands. Inside a string evidence is
 * escaped text. As a value of its own, without quotes or as the whole of a string, it is the JSON that it spells where
 * the schema wants that; without quotes also a number, `true`, `false` or `null` where the schema wants a string or says
 * nothing.
 */
const intoJson = (
  pieces: ReadonlyArray<Piece>,
  evidence: ReadonlyArray<string>,
  root: SchemaPlace.SchemaPlace
): string => {
  const out: Array<string> = []
  const open: Array<Open> = []
  /** The string that is open, without its quotes, and the text of its only reference where nothing else is in it. */
  let string: string | undefined
  let only: string | undefined
  let isEscaped = false
  let last = ""

  const placeNow = (): SchemaPlace.SchemaPlace => {
    const inner = open.at(-1)
    if (inner === undefined) return root
    return inner.isObject
      ? SchemaPlace.property(inner.place, inner.key ?? "")
      : SchemaPlace.element(inner.place, inner.index)
  }
  const closeString = (written: string) => {
    const inner = open.at(-1)
    const isKey = inner?.isObject === true && inner.key === undefined
    out.push((only === undefined || isKey ? undefined : asWanted(placeNow(), only)) ?? `"${written}"`)
    last = written
    string = undefined
  }
  const structure = (char: string) => {
    const inner = open.at(-1)
    if (char === "{" || char === "[") open.push({ place: placeNow(), isObject: char === "{", key: undefined, index: 0 })
    else if (char === "}" || char === "]") open.pop()
    else if (char === ":" && inner?.isObject === true) inner.key = keyOf(last)
    else if (char === "," && inner !== undefined) {
      inner.key = undefined
      inner.index += 1
    }
  }
  const read = (text: string) => {
    for (const char of text) {
      if (string === undefined) {
        if (char === '"') {
          string = ""
          only = undefined
        } else {
          structure(char)
          out.push(char)
        }
      } else if (char === '"' && !isEscaped) closeString(string)
      else {
        if (char.trim() !== "") only = undefined
        isEscaped = char === "\\" && !isEscaped
        string += char
      }
    }
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
      only = string.trim() === "" ? text : undefined
      string += JSON.stringify(text).slice(1, -1)
    }
  }
  return out.join("") + (string === undefined ? "" : `"${string}`)
}

/** The JSON that a text spells, where the schema wants a value of its type and no text. */
const asWanted = (place: SchemaPlace.SchemaPlace, text: string): string | undefined =>
  SchemaPlace.spelled(place, text) === undefined ? undefined : text.trim()

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
