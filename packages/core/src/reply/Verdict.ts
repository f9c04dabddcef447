/**
 * Reads an executor's verdict on its own task: the `SUCCESS: …` or `FAILURE: …` line that ends its reply.
 */
import * as Either from "effect/Either"
import * as JsonText from "../internal/reply/JsonText.js"
import { excerpt, ParseError } from "../ReplyError.js"
import * as EndMarks from "./EndMarks.js"
import { isPlaceholder } from "./JsonReply.js"
import { fenceLine, isBlank, trim, visible } from "./ReplyText.js"

export type Verdict =
  /** `result` may be empty: the model said no more than that it succeeded. */
  { readonly _tag: "Success"; readonly result: string } | { readonly _tag: "Failure"; readonly reason: string }

const expected = 'a last line "SUCCESS: <the result>" or "FAILURE: <what blocked you>", with the text filled in'

/** Words for what is wrong with a report. */
export type Problem = "empty_reply" | "no_verdict"

/**
 * Reads a reply as received (see `ReplyText.visible` for what is dropped first). The verdict is the end of the reply.
 *
 * - A verdict line starts with the word, behind quote marks, bullets, emphasis, backticks, a tag or a symbol at most,
 *   and behind `Verdict:`. After the word come `:`, ` - `, a dash or an arrow, or nothing but punctuation.
 *   `SUCCESSFULLY` and `UNSUCCESSFUL` are not verdicts, and neither is a line that repeats the instruction: `<the
 *   result>` unfilled.
 * - A line that goes on with the other verdict (`SUCCESS: one part; FAILURE: the other`) is a failure. Inside a
 *   sentence or quotes the other word is text.
 * - `SUCCESS` counts in the last line, closing fences, emphasis and tags aside. Under it may stand what belongs to it
 *   and nothing else: a list, a table, a quote, a code block, indented lines, a JSON value that starts in its line; and
 *   where the line ends with a colon, one paragraph. Anything else that follows may take it back, so that there is no
 *   verdict.
 * - A `FAILURE` in capitals that is the last verdict is one wherever it stands: what follows cannot make it a success.
 * - Words that are not in capitals (`Success - booked`) count in the last line only, and never before `true` or a
 *   number: `success: true` is what a tool answered.
 *
 * Fails with a `ParseError` whose `problem` is `empty_reply` or `no_verdict`.
 */
export const read = (text: string): Either.Either<Verdict, ParseError<Problem>> => {
  const shown = visible(text)
  const fail = (problem: Problem, found: string) =>
    Either.left(new ParseError({ problem, expected, found, reply: text }))
  if (shown === "") return fail("empty_reply", "an empty reply")
  const noVerdict = () => fail("no_verdict", `no such line: ${excerpt(shown, Math.max(0, shown.length - 200))}`)
  const lines = shown.split("\n")
  const lastLine = endOfText(lines)
  // Where the text of a verdict has to end: at the next line that looks like one, even if that is not a verdict.
  let end = lines.length
  let marks = 0
  for (let i = lines.length - 1; i >= 0; i--) {
    const mark = verdictLine(lines[i] ?? "")
    if (mark === undefined) continue
    // Behind so many lines that look like one, nothing is the end of the reply.
    const own = marks++ < maxMarks ? ownBlock(lines, i, lastLine, mark) : undefined
    const isQuoted =
      !mark.isCapital && (own === undefined || own.hasText || /^(?:true|false|yes|no|null|\d{1,20})$/i.test(mark.text))
    if (mark.isInstruction || isQuoted) {
      if (!isQuoted) end = i
      continue
    }
    if (mark.word === "failure") {
      const reason = own === undefined ? withRest(mark.text, lines.slice(0, end), i) : own.text
      return Either.right({ _tag: "Failure", reason })
    }
    return own === undefined ? noVerdict() : Either.right({ _tag: "Success", result: own.text })
  }
  return noVerdict()
}

const maxMarks = 8

interface Mark {
  readonly word: "success" | "failure"
  readonly isCapital: boolean
  readonly text: string
  /** True if a colon, a dash or an arrow follows the word. */
  readonly isOpen: boolean
  /** True if the line is the instruction said again. */
  readonly isInstruction: boolean
}

const wordPattern = /(success|failure)(?![\p{L}\p{N}_])/iuy
const titlePattern = /(?:final[ \t]{1,3})?verdict[ \t*_]{0,6}[:：][ \t*_]{0,6}/iuy

const openingTag = /^[ \t>]{0,8}<(?!(?:success|failure)\b)[\p{L}][\w:.-]{0,40}>/iu

const verdictLine = (source: string): Mark | undefined => {
  const tag = openingTag.exec(source)
  const line = tag === null ? source : source.slice(tag[0].length)
  let start = 0
  while (start < line.length && !/[\p{L}\p{N}]/u.test(line.charAt(start))) start++
  const before = line.slice(0, start)
  if (before.includes("<")) return undefined
  titlePattern.lastIndex = start
  start += titlePattern.exec(line)?.[0].length ?? 0
  wordPattern.lastIndex = start
  const written = wordPattern.exec(line)?.[1]
  if (written === undefined) return undefined
  const word = written.toLowerCase() === "success" ? "success" : "failure"
  const isCapital = written === written.toUpperCase()

  const marks = closers(before)
  let i = start + written.length
  const closed = afterClosers(line, i, marks)
  const hasClosed = closed > i
  i = closed
  while (i < line.length && isBlank(line.charCodeAt(i))) i++
  const end = afterMarker(line, i, i > closed)
  if (end > i) {
    const start = hasClosed ? end : afterClosers(line, end, marks)
    const isClosed = hasClosed || start > end
    const rest = trim(line.slice(start))
    const text = isClosed ? rest : withoutClosers(rest, marks)
    const other = otherVerdict(text, word)
    const isInstruction = other === "template" || isPlaceholder(text)
    return { word: other === "said" ? "failure" : word, isCapital, text, isOpen: true, isInstruction }
  }
  if (!/^[\s.!。！*_`"'~)\]]*$/u.test(line.slice(i))) return undefined
  return { word, isCapital, text: "", isOpen: false, isInstruction: false }
}

/**
 * Returns what was opened right before the word and may close after it. A bullet has a blank behind it and closes
 * nothing.
 */
const closers = (before: string): string => {
  let start = before.length
  while (start > 0 && !isBlank(before.charCodeAt(start - 1))) start--
  const marks = [...before.slice(start)].filter((c) => "*_`\"'([".includes(c))
  return marks.map((c) => (c === "(" ? ")" : c === "[" ? "]" : c)).join("")
}

const afterClosers = (line: string, at: number, marks: string): number => {
  let i = at
  while (
    i < line.length &&
    i - at < marks.length &&
    "*_`\"')]".includes(line.charAt(i)) &&
    marks.includes(line.charAt(i))
  )
    i++
  return i
}

const withoutClosers = (text: string, marks: string): string => {
  let end = text.length
  while (end > 0 && text.length - end < marks.length && marks.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Behind what stands between the word and its text: a colon, a dash, an arrow. `at` where there is none. */
const afterMarker = (line: string, at: number, isApart: boolean): number => {
  let end = at
  while (end < at + 3 && dashes.includes(line.charAt(end)) && end < line.length) end++
  const isArrow = line.charAt(end) === ">" && end > at
  if (isArrow) return end + 1
  if (end > at) {
    const isHyphen = end === at + 1 && "-=".includes(line.charAt(at))
    const isEqual = line.charAt(at) === "="
    return !isEqual && (!isHyphen || isApart || isBlankAt(line, end)) ? end : at
  }
  if (arrows.includes(line.charAt(at)) && at < line.length) return at + 1
  while (end < at + 2 && (line.charAt(end) === ":" || line.charAt(end) === "：")) end++
  if (end === at) return at
  // `:-` and `: ->` are one marker; `: -5` and `: - a` have a text that starts so.
  if (line.charAt(end) === "-" && isBlankAt(line, end + 1)) return end + 1
  const arrow = /[ \t]{0,3}(?:[-=]{1,2}>|[→⇒➜➔])(?=\s)/uy
  arrow.lastIndex = end
  return end + (arrow.exec(line)?.[0].length ?? 0)
}

const dashes = "-‐‑‒–—―−="
const arrows = "→⇒➜➔➡"

const isBlankAt = (text: string, at: number): boolean => at >= text.length || isBlank(text.charCodeAt(at))

/**
 * Returns whether the other verdict stands on the line too: as in the instruction, with a hole that was not filled; or
 * said, as a sentence or clause of its own.
 */
const otherVerdict = (text: string, word: "success" | "failure"): "template" | "said" | undefined => {
  const pattern = word === "success" ? /\bFAILURE\b[*_]{0,3}\s{0,3}[:：]/g : /\bSUCCESS\b[*_]{0,3}\s{0,3}[:：]/g
  let isSaid = false
  for (const match of text.matchAll(pattern)) {
    const head = trimMarks(text.slice(Math.max(0, match.index - 12), match.index))
    // A hole is short: a window keeps this linear on a line of nothing but such words.
    const isFirst = match.index < 200
    const behind = match.index + match[0].length
    const tail = trimMarks(text.slice(behind, behind + 200))
    if ((isFirst && isTemplate(text.slice(0, match.index))) || isHole(tail)) return "template"
    if (word === "success" && /(?:[.,;:!?|/。，；]|[-–—]|\b(?:or|and|but|then|yet|however|or else))$/iu.test(head)) {
      isSaid = true
    }
  }
  return isSaid ? "said" : undefined
}

/** Returns whether what stands between the two words is a hole, or nothing but the words that join them. */
const isTemplate = (head: string): boolean => {
  const body = trimMarks(head)
  return isHole(body) || /^[|/,;]?\s{0,3}(?:or|otherwise)?[\s|/,;]{0,3}$/i.test(body)
}

const isHole = (text: string): boolean => {
  const close = text.indexOf(">")
  if (text.startsWith("<")) return close > 0 && isPlaceholder(text.slice(0, close + 1))
  return /^(?:\.{3}|…)/.test(text) || /^(?:the )?(?:result|reason|what blocked you)\b.{0,3}(?:$|\bor\b)/i.test(text)
}

const trimMarks = (text: string): string => {
  const isMark = (c: string) => isBlank(c.charCodeAt(0)) || "*_".includes(c)
  let start = 0
  let end = text.length
  while (start < end && isMark(text.charAt(start))) start++
  while (end > start && isMark(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** The last line that says something. The instruction said again says nothing. */
const endOfText = (lines: ReadonlyArray<string>): number => {
  let i = lines.length - 1
  let said = 0
  for (; i >= 0; i--) {
    const line = lines[i] ?? ""
    if (saysNothing(line)) continue
    if (said++ >= maxMarks || verdictLine(line)?.isInstruction !== true) break
  }
  return i
}

const saysNothing = (line: string): boolean =>
  trim(line) === "" ||
  fenceLine(line)?.info === "" ||
  (line.length < 80 && /^[\s*_`~=#"'”’-]{1,80}$/.test(line)) ||
  EndMarks.closesTag(line) ||
  EndMarks.isMark(line)

/**
 * The text of the verdict in a line with what belongs to it, if that is all up to the last line; undefined otherwise.
 * `hasText`: a paragraph of it stands under the line.
 */
const ownBlock = (
  lines: ReadonlyArray<string>,
  at: number,
  lastLine: number,
  mark: Mark
): { readonly text: string; readonly hasText: boolean } | undefined => {
  if (at >= lastLine) return { text: withoutTag(mark.text), hasText: false }
  const whole = () => [mark.text, ...lines.slice(at + 1, lastLine + 1)].join("\n")
  const takesText = mark.isOpen && (mark.text === "" || /[:：]$/u.test(mark.text))
  let outer = lines.slice(0, at).filter((line) => fenceLine(line) !== undefined).length % 2 === 1
  let inFence = false
  let hasText = false
  // A paragraph is the first thing under the line, or nothing: behind a list or a blank line it may be a remark.
  let mayBeText = takesText
  for (let i = at + 1; i <= lastLine; i++) {
    const line = lines[i] ?? ""
    if (fenceLine(line) !== undefined) {
      // A fence that was opened before the verdict closes here, and what follows is not part of it.
      if (!outer) inFence = !inFence
      outer = false
      mayBeText = false
    } else if (inFence) continue
    else if (trim(line) === "") mayBeText &&= !hasText
    else if (hasText && mayBeText) continue
    else if (isPart(line)) mayBeText = false
    else if (mayBeText) hasText = true
    else return opensJson(mark.text) ? jsonOf(whole()) : undefined
  }
  // The fence that closes the block is behind the last line that says something.
  const closing = inFence ? (lines[lastLine + 1] ?? "") : ""
  return { text: withoutTag(trim(inFence ? `${whole()}\n${closing}` : whole())), hasText }
}

const part =
  /^(?:\t| {2}|\s{0,3}(?:[|>]|[-*+•·–—]\s|[*_]{0,3}[(（]?[0-9０-９]{1,3}[.):、．）：]|[①-⑳]|[一二三四五六七八九十]{1,3}[、．]))/u

/** Returns whether a line belongs to what stands above it: an item, a row, a quote, or an indented line. */
const isPart = (line: string): boolean => part.test(line)

const opensJson = (text: string): boolean => text.startsWith("{") || text.startsWith("[")

/** A text that is one JSON value. */
const jsonOf = (text: string): { readonly text: string; readonly hasText: boolean } | undefined => {
  const { spans } = JsonText.find(text, (_, at) => at === 0)
  return spans.length === 1 && trim(text.slice(spans[0]?.end)) === "" ? { text, hasText: false } : undefined
}

const withoutTag = (text: string): string => {
  const tag = /<\/([\p{L}][\w:.-]{0,40})>$/u.exec(text.slice(-60))
  return tag === null || text.includes(`<${tag[1]}`) ? text : trim(text.slice(0, -tag[0].length))
}

const withRest = (first: string, lines: ReadonlyArray<string>, at: number): string => {
  const isOpen = first === "" || first.endsWith(":") || first.endsWith("：")
  const fences = lines.flatMap((line, i) => (fenceLine(line) === undefined ? [] : [i]))
  const after = fences.filter((i) => i > at)
  // A fence that closes here was opened before the verdict, or never: the verdict ends with it.
  const stop =
    after.length % 2 === 0 ? lines.length : (fences.length - after.length) % 2 === 1 ? after[0] : after.at(-1)
  const rest: Array<string> = []
  for (const line of lines.slice(at + 1, stop)) {
    if (trim(line) === "" && !isOpen) break
    rest.push(line)
  }
  return trim([first, ...rest].join("\n"))
}
