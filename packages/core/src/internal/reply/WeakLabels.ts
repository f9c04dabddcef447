/**
 * Labels that are too weak to be believed on their own: phases, numbers in square brackets, and Chinese, Japanese or
 * Korean steps with a space behind them. They also introduce lists, name sources, and start sentences.
 */

import { trim } from "../../reply/ReplyText.js"
import type { ParsedLine } from "./ListLine.js"

const phase = /(?:phase|stage)[ ]([1-9][0-9]?)[*_]{0,2}(?:[:.)：]|[ ][-–—])[*_]{0,2}[ ]?(?=\S)/iuy
const bracket = /[[【]([1-9][0-9]?)[\]】][*_]{0,2}[:：]?[*_]{0,2}[ \u3000]?(?=\S)/uy
const spaced =
  /(?:第[ ]?([1-9][0-9]?|[一二三四五六七八九])[ ]?(?:步骤|步驟|步|ステップ)|(?:步骤|步驟|ステップ|手順)[ ]?([1-9][0-9]?|[一二三四五六七八九])|([1-9][0-9]?)단계)[*_]{0,2}[ \u3000]+(?=\S)/uy
const marks = /(?:#{1,6}[ ])?(\*\*|__|\*|_)?/uy
const starts = "pPsS[【第步ステ手123456789#*_"
const digits = "一二三四五六七八九"

/**
 * The lines with their weak labels read as numbers: those of one form that count from 1, at least to 2, without a gap.
 * Undefined where there are none. For texts in which nothing else is a list.
 */
export const reread = (lines: ReadonlyArray<ParsedLine>): ReadonlyArray<ParsedLine> | undefined => {
  const isCandidate = (line: ParsedLine) => line.kind !== "blank" && starts.includes(line.text.charAt(0))
  if (lines.filter(isCandidate).length < 2) return undefined
  for (const pattern of [phase, bracket, spaced]) {
    let count = 0
    let inOrder = true
    const found = lines.map((line): ParsedLine => {
      const item = inOrder && isCandidate(line) ? numbered(line.text, pattern) : undefined
      if (item === undefined) return line
      count++
      if (item.number !== count) inOrder = false
      return { ...line, kind: "number", style: "word", ...item }
    })
    if (count > 1 && inOrder) return found
  }
  return undefined
}

/** The weak label that starts at `at` inside a line, with emphasis before it. */
export const labelIn = (
  text: string,
  at: number
): { readonly number: number; readonly style: "word"; readonly end: number; readonly open: string } | undefined => {
  if (!starts.includes(text.charAt(at))) return undefined
  for (const pattern of [phase, bracket, spaced]) {
    marks.lastIndex = at
    const before = marks.exec(text)
    pattern.lastIndex = at + (before?.[0].length ?? 0)
    const label = pattern.exec(text)
    if (label !== null) return { number: numberOf(label), style: "word", end: pattern.lastIndex, open: "" }
  }
  return undefined
}

const numberOf = (label: RegExpExecArray): number => {
  const written = label[1] ?? label[2] ?? label[3] ?? ""
  return digits.includes(written) ? digits.indexOf(written) + 1 : Number(written)
}

const numbered = (source: string, pattern: RegExp): Pick<ParsedLine, "number" | "text"> | undefined => {
  marks.lastIndex = 0
  const before = marks.exec(source)
  const emphasis = before?.[1] ?? ""
  pattern.lastIndex = before?.[0].length ?? 0
  const label = pattern.exec(source)
  if (label === null) return undefined
  const number = numberOf(label)
  const text = trim(source.slice(label[0].length + (before?.[0].length ?? 0)))
  if (emphasis === "" || /[*_]/.test(label[0])) return { number, text }
  // What was opened before the label closes at the end of the step, or inside it.
  const close = text.indexOf(emphasis)
  return { number, text: close < 0 ? text : trim(trim(text.slice(0, close)) + text.slice(close + emphasis.length)) }
}
