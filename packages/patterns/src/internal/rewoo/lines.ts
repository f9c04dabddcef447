/**
 * The lines of a ReWOO plan: what stands at the start of a line, behind bullets, numbers and markdown.
 */
import { isDigitCode } from "./variables.js"

/** Space, tab, carriage return, no-break and ideographic space. */
export const isSpaceCode = (code: number): boolean =>
  code === 32 || code === 9 || code === 13 || code === 0xa0 || code === 0x3000

/** What may stand around a label and means nothing: `*`, backtick, space. */
export const isMarkdownCode = (code: number): boolean => code === 42 || code === 96 || isSpaceCode(code)

/** The end of the line that `at` is in: the offset of its line break, or `limit`. */
export const lineEnd = (text: string, at: number, limit: number): number => {
  let end = at
  while (end < limit && text.charCodeAt(end) !== 10) end += 1
  return end
}

const bullets = "-+•·>|–—~_(◦▪●→"

/** Where a line's own words start: behind spaces, bullets, quote marks, heading marks, check boxes and a number. */
export const skipDecoration = (text: string, start: number, end: number): number => {
  let at = start
  while (at < end) {
    const code = text.charCodeAt(at)
    if (isMarkdownCode(code) || bullets.includes(text.charAt(at))) {
      at += 1
    } else if (code === 35) {
      const next = text.charCodeAt(at + 1)
      if (at + 1 < end && next !== 35 && !isMarkdownCode(next)) return at
      at += 1
    } else if (code === 91 && text.charAt(at + 2) === "]" && " xX".includes(text.charAt(at + 1))) {
      at += 3
    } else if (isDigitCode(code)) {
      let after = at + 1
      while (after < at + 4 && isDigitCode(text.charCodeAt(after))) after += 1
      const mark = text.charAt(after)
      if (mark !== "." && mark !== ")" && mark !== "、") return at
      if (isDigitCode(text.charCodeAt(after + 1))) return at
      at = after + 1
    } else {
      return at
    }
  }
  return end
}

const planMark =
  /(?:plan|step)[ \t*]{0,4}(?:#?\d{1,4})?[ \t*]{0,4}[:：]|(?:plan|step)[ \t]{1,4}#?\d{1,4}[ \t*]{0,4}[.)–—-]/iy

/** Where the reason after `Plan:`, `Plan 3:`, `Step 1:` at `at` starts, or -1. */
export const planMarkEnd = (text: string, at: number): number => {
  planMark.lastIndex = at
  if (!planMark.test(text)) return -1
  let end = planMark.lastIndex
  while (isMarkdownCode(text.charCodeAt(end))) end += 1
  return end
}

const inlinePlan = /\bplan[ \t*]{0,4}(?:#?\d{1,4})?[ \t*]{0,4}[:：]/gi

/** The first `Plan:` inside a line, between two offsets, or -1. */
export const findInlinePlan = (text: string, from: number, to: number): number => {
  inlinePlan.lastIndex = 0
  const found = inlinePlan.exec(text.slice(from, to))
  return found === null ? -1 : from + found.index
}

const questionMark = /question[ \t*]{0,4}\d{0,4}[ \t*]{0,4}[:：]/iy
const evidenceMark =
  /(?:evidence|observation|result|output|answer|final answer|solution)s?[ \t*]{0,4}(?:#?E?\d{1,4})?[ \t*]{0,4}[:：]/iy

/** Behind the `Evidence:`, `Result 1:` or the like at `at`. */
export const evidenceEnd = (text: string, at: number): number => {
  evidenceMark.lastIndex = at
  let end = evidenceMark.test(text) ? evidenceMark.lastIndex : at
  while (isMarkdownCode(text.charCodeAt(end))) end += 1
  return end
}

/** What a line starts with, as far as a plan is concerned. */
export type LineKind = "plan" | "question" | "evidence" | "heading" | "ignored" | "text"

/** The kind of the line whose words start at `content`. `ignored`: empty, or a code fence. */
export const lineKind = (text: string, start: number, content: number, end: number): LineKind => {
  if (content >= end || text.startsWith("```", skipSpaces(text, start, end))) return "ignored"
  if (planMarkEnd(text, content) !== -1) return "plan"
  questionMark.lastIndex = content
  if (questionMark.test(text)) return "question"
  evidenceMark.lastIndex = content
  if (evidenceMark.test(text)) return "evidence"
  return text.charCodeAt(skipSpaces(text, start, end)) === 35 && content > start ? "heading" : "text"
}

export const skipSpaces = (text: string, at: number, end: number): number => {
  let to = at
  while (to < end && isSpaceCode(text.charCodeAt(to))) to += 1
  return to
}
