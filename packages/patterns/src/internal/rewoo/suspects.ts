/**
 * Lines of a ReWOO plan that look like a call but are none that can be read. They must never be lost in silence.
 */
import { readHead } from "./labels.js"
import { isMarkdownCode, isSpaceCode, skipSpaces } from "./lines.js"
import { variableEnd } from "./variables.js"

const isNameCode = (char: string): boolean => char !== "" && !" \t\r\n[](){}=:：＝\"'`<>,;*→←|".includes(char)

const wordEnd = (text: string, at: number, end: number): number => {
  let to = at
  while (to < end && isNameCode(text.charAt(to))) to += 1
  return to
}

/** What may stand before a call that lost its label: `= Search[x]`, `"Search[x]"`, `[Search[x]]`. */
const beforeCall = "\"'“‘=:：＝←→⇐⇒≔[{<"

/** Returns whether a line is, as a whole, a call without a label, or with something else for a label. */
export const isCall = (text: string, at: number, end: number, maxWords = 3): boolean => {
  let from = at
  while (from < end && (isMarkdownCode(text.charCodeAt(from)) || beforeCall.includes(text.charAt(from)))) from += 1
  const afterVariable = variableEnd(text, from)
  if (afterVariable !== -1) from = skipSpaces(text, afterVariable, end)
  const named = readHead(text, from, true)
  if (named?.bracket === "[" && named.open < end && !isSpaceCode(text.charCodeAt(named.open - 1))) {
    if (named.tool.split(/\s+/u).length <= maxWords && isWholeCall(text, named.open, end)) return true
  }
  const first = wordEnd(text, from, end)
  if (first === from) return false
  let next = first
  while (next < end && (isMarkdownCode(text.charCodeAt(next)) || text.charAt(next) === '"')) next += 1
  if (next >= end) return false
  if (text.charAt(next) === "[" || (next === first && text.charAt(next) === "(")) return isWholeCall(text, next, end)
  const separator = skipSeparator(text, next, end)
  if (separator === -1) return false
  const head = readHead(text, skipSpaces(text, separator, end), false)
  return head !== undefined && head.open < end && isWholeCall(text, head.open, end)
}

/** Returns whether `Tool[` stands at `at`, without a space in it. */
const isHead = (text: string, at: number, end: number): boolean =>
  /^["'`*]{0,3}[\p{L}\p{N}_.-]{1,64}["'`*]{0,3}(?:\(\))?\[/u.test(text.slice(at, Math.min(end, at + 80)))

/**
 * Returns whether `Evidence 1: Search[x]` and no more stands on a line: a call with an odd label. `Result: see [1]` is
 * none.
 */
export const isEvidenceCall = (text: string, at: number, end: number): boolean =>
  isHead(text, at, end) && isCall(text, at, end, 1)

/**
 * Returns whether a line goes on with the call of a label that stands on the line before: `= Search[x]`, `Web
 * Search[x]`.
 */
export const goesOn = (text: string, start: number, content: number, end: number): boolean => {
  if (!/#[eE]\d{1,9}[^\p{L}\p{N}\n]{0,8}\n$/u.test(text.slice(Math.max(0, start - 24), start))) return false
  let at = content
  while (at < end && (isSpaceCode(text.charCodeAt(at)) || "=:：＝←→⇐⇒≔<>-".includes(text.charAt(at)))) at += 1
  const head = readHead(text, at, true)
  return head?.bracket === "[" && head.open < end && !isSpaceCode(text.charCodeAt(head.open - 1))
}

/** Behind `=`, `:`, `->`, `→`, `<-` or `←`, or -1. */
const skipSeparator = (text: string, at: number, end: number): number => {
  let to = at
  while (to < end && "=:：＝-<>→←⇒⇐≔".includes(text.charAt(to))) to += 1
  return to === at ? -1 : to
}

/** The bracket at `open` is never closed on the line, or nothing but punctuation or a `=` follows. */
const isWholeCall = (text: string, open: number, end: number): boolean => {
  const closing = text.charAt(open) === "[" ? "]" : ")"
  const close = text.slice(open, end).lastIndexOf(closing)
  if (close === -1) return true
  let after = open + close + 1
  while (after < end && !/[\p{L}\p{N}]/u.test(text.charAt(after))) {
    if ("=-→←".includes(text.charAt(after))) return true
    after += 1
  }
  return after === end
}

/** `Word[` or `Word(`, with quotes or markdown between. */
const anyHead = /[\p{L}\p{N}_)]["'`*”’]{0,3}[[(]/u
const squareHead = /[\p{L}\p{N}_)]["'`*”’]{0,3}\[/u

/** What is nearly a label: `#E1`, `# E 1`, `$1`, `E1`, `Evidence 1`. Every repetition is bounded. */
const inReason =
  /[#$＃][ \t]?\p{L}{0,16}[ _-]?[\d０-９]{1,6}|(?<![\p{L}\p{N}_])(?:E|(?:evidence|variable|var|result|output|step)s?)[ \t_#-]{0,2}\d{1,6}/giu
/** The same, and any other word with a number. */
const inLine = /[#$＃][ \t]?\p{L}{0,16}[ _-]?[\d０-９]{1,6}|(?<![\p{L}\p{N}_])\p{L}{1,16}[ \t_-]{0,2}\d{1,6}/gu

const afterLabel = " \t\u00a0)]}>）】”’\"'`*_|.\\"

/** Returns whether a call follows right behind something that is nearly a label: `(#E1) -> LLM[x]`, `E2 = LLM[x]`. */
export const hasOddLabel = (text: string, from: number, end: number, isReason: boolean): boolean => {
  const line = text.slice(from, end)
  if (!anyHead.test(line)) return false
  const pattern = isReason ? inReason : inLine
  pattern.lastIndex = 0
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    let to = from + pattern.lastIndex
    const limit = Math.min(end, to + 16)
    while (to < limit && afterLabel.includes(text.charAt(to))) to += 1
    const separator = skipSeparator(text, to, limit)
    const isHash = match[0].startsWith("#") || match[0].startsWith("＃")
    if (separator === -1 && !isHash) continue
    const head = readHead(text, skipSpaces(text, separator === -1 ? to : separator, end), false)
    if (head === undefined || head.open >= end) continue
    if (separator !== -1 || !isSpaceCode(text.charCodeAt(head.open - 1))) return true
  }
  return false
}

const anyLabel =
  /[#＃][ \t]?\p{L}{0,16}[ _-]?[\d０-９]{1,6}|(?<![\p{L}\p{N}_])(?:E|(?:evidence|variable|var|result|output)s?)[ \t_-]{0,2}\d{1,6}/iu

/** Returns whether a line names a variable and holds a `Word[`, in any order: `Search[x] goes into #E1`. */
export const namesCall = (text: string, from: number, end: number): boolean => {
  const line = text.slice(from, end)
  return squareHead.test(line) && anyLabel.test(line)
}

/** Returns whether a line's own words start with a variable. */
export const startsWithVariable = (text: string, content: number, end: number): boolean => {
  let at = content
  while (at < end && (isMarkdownCode(text.charCodeAt(at)) || beforeCall.includes(text.charAt(at)))) at += 1
  return variableEnd(text, at) !== -1 || /^E\d{1,6}(?![\p{L}\p{N}_])/u.test(text.slice(at, Math.min(end, at + 8)))
}

const listedBefore = /#[eE](\d{1,9})["'`*)\]}]{0,4}[ \t]{0,4}(?:[,;&/+、，]|and)[ \t]{0,4}["'`*([{<]{0,4}$/

/** The variable that is listed right before a label, as `#E1` in `#E1, #E2 = Search[x]`, with its offset. */
export const listedVariable = (
  text: string,
  from: number,
  at: number
): { readonly variable: string; readonly at: number } | undefined => {
  const start = Math.max(from, at - 32)
  const match = listedBefore.exec(text.slice(start, at))
  return match === null ? undefined : { variable: `#E${match[1]}`, at: start + match.index }
}
