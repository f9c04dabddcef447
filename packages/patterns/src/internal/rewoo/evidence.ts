/**
 * Evidence on its way into a later input or a prompt: capped, and always text.
 *
 * @internal
 */
import * as ReplyText from "@forethought/core/reply/ReplyText"
import { singleStringField, type ToolInfo } from "@forethought/core/Tool"
import type { ParsedStep } from "./parse.js"

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
 * it. Where the tool takes an object, evidence is a value in it and never a part of its syntax.
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
    const json = intoJson(step, evidence)
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

/** Inside a JSON string the evidence is escaped; as a value of its own it is a number, `true`, `false`, `null` or a string. */
const intoJson = (step: ParsedStep, evidence: ReadonlyArray<string>): string => {
  let next = 0
  let inString = false
  return step.pieces
    .map((piece) => {
      if (typeof piece === "string") {
        inString = endsInString(piece, inString)
        return piece
      }
      const text = evidence[next++] ?? ""
      if (inString) return JSON.stringify(text).slice(1, -1)
      return /^\s*(?:-?\d{1,300}(?:\.\d{1,300})?|true|false|null)\s*$/.test(text.slice(0, 700)) && text.length < 700
        ? text.trim()
        : JSON.stringify(text)
    })
    .join("")
}

const endsInString = (text: string, startsInString: boolean): boolean => {
  let inString = startsInString
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === "\\" && inString) i++
    else if (char === '"') inString = !inString
  }
  return inString
}
