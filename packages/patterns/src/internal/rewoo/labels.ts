/**
 * The labels of a ReWOO plan: every `#E<n>` that is followed by `=`, `:` or an arrow, and the call behind it.
 */
import { isMarkdownCode, isSpaceCode, lineEnd, planMarkEnd, skipDecoration } from "./lines.js"
import { variableEnd, variableName } from "./variables.js"

/** The head of a call: `Tool[`, up to the bracket. */
export interface Head {
  /** The tool's name as written, without quotes, backticks, spaces around it and a trailing `()`. */
  readonly tool: string
  /** The offset of the opening bracket. */
  readonly open: number
  readonly bracket: "[" | "("
}

export interface Label {
  readonly at: number
  /** Where its line starts. */
  readonly line: number
  /** Where the step starts: at the line's start where nothing but decoration stands before, else at the label. */
  readonly from: number
  readonly startsLine: boolean
  /** Behind the label and its `=`. */
  readonly end: number
  readonly variable: string
  /** Absent where no call follows. */
  readonly head: Head | undefined
  /** The label is the first of a line that starts a step, with or without `Plan:`. An open input never crosses it. */
  readonly isBoundary: boolean
}

/** The longest tool name that is looked for, in characters: enough for any registry, and a bound on the look-ahead. */
const maxToolName = 96

const quotes = "\"'`*:“”‘’ \t\r\u00a0"
const trimName = (name: string): string => {
  let from = 0
  let to = name.length
  while (from < to && quotes.includes(name.charAt(from))) from += 1
  while (to > from && quotes.includes(name.charAt(to - 1))) to -= 1
  return name.slice(from, to)
}

const notInName = "\n=#])]{}<>;,[(：＝"

/** Reads `Tool[` or `Tool(` at `at`. A name of several words is a name only where `words` says so. */
export const readHead = (text: string, at: number, words: boolean): Head | undefined => {
  let stop = at
  while (stop < at + maxToolName && stop < text.length && !notInName.includes(text.charAt(stop))) stop += 1
  const bracket = text.charAt(stop)
  // Most lines of a long text end here.
  if (bracket !== "[" && bracket !== "(") return undefined
  const tool = trimName(text.slice(at, stop))
  if (tool === "" || !/[\p{L}\p{N}]/u.test(tool) || (!words && /\s/u.test(tool))) return undefined
  if (bracket === "[") return { tool, open: stop, bracket }
  if (text.charAt(stop + 1) === ")") {
    let next = stop + 2
    while (next < stop + maxToolName && isMarkdownCode(text.charCodeAt(next))) next += 1
    if (text.charAt(next) === "[") return { tool, open: next, bracket: "[" }
  }
  return { tool, open: stop, bracket }
}

/**
 * What stands between a label and its call, the longest first. What `assigns` is a label wherever it stands; a colon or
 * an arrow inside a line is one only where `Tool[` follows, because both stand in prose as well.
 */
const separators: ReadonlyArray<readonly [mark: string, assigns: boolean]> = [
  ["-->", false],
  ["<--", false],
  ["==>", false],
  [":=", true],
  ["==", true],
  ["=>", false],
  ["->", false],
  ["<-", false],
  ["=", true],
  ["＝", true],
  ["≔", true],
  [":", false],
  ["：", false],
  ["→", false],
  ["←", false],
  ["⇒", false],
  ["⇐", false],
  ["⟶", false],
  ["⟵", false],
  ["⟹", false],
  ["⟸", false],
  ["➜", false],
  ["➔", false],
  ["➡", false],
  ["↦", false]
]

const separatorAt = (text: string, at: number): { readonly end: number; readonly assigns: boolean } | undefined => {
  const found = separators.find(([mark]) => text.startsWith(mark, at))
  if (found === undefined) return undefined
  const [mark, assigns] = found
  // The picture of an arrow may be followed by a sign that asks for its colours.
  const end = at + mark.length
  return { end: text.charCodeAt(end) === 0xfe0f ? end + 1 : end, assigns }
}

const closers: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
  ["<", ">"],
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["‘", "’"],
  ["（", "）"],
  ["【", "】"]
])

/**
 * Where a label that ends at `end` starts and ends with one bracket or quote around it, as in `(#E1) = …`, or itself.
 */
const wrapped = (text: string, at: number, end: number): { readonly from: number; readonly to: number } => {
  let from = at - 1
  while (from > at - 5 && isMarkdownCode(text.charCodeAt(from))) from -= 1
  const closer = closers.get(text.charAt(from))
  let to = end
  while (to < end + 4 && isMarkdownCode(text.charCodeAt(to))) to += 1
  return closer !== undefined && text.charAt(to) === closer ? { from, to: to + 1 } : { from: at, to: end }
}

/** More labels than this are not a plan: the scan ends. */
export const maxLabels = 10_000

/**
 * The labels of the text, in order, and one more than {@link maxLabels} at the most. A mention without one of {@link
 * separators} is none.
 */
export const scanLabels = (text: string): Array<Label> => {
  const labels: Array<Label> = []
  let start = 0
  let end = -1
  let content = 0
  let lineHasBoundary = false
  for (let at = text.indexOf("#"); at !== -1 && labels.length <= maxLabels; at = text.indexOf("#", at + 1)) {
    const tokenEnd = variableEnd(text, at)
    if (tokenEnd === -1) continue
    if (at > end) {
      start = text.lastIndexOf("\n", at) + 1
      end = lineEnd(text, at, text.length)
      content = skipDecoration(text, start, end)
      lineHasBoundary = false
    }
    const label = wrapped(text, at, tokenEnd)
    const isWrapped = label.to > tokenEnd
    const startsLine = at <= content || label.from <= content
    let next = label.to
    while (isMarkdownCode(text.charCodeAt(next))) next += 1
    const separator = separatorAt(text, next)
    if (separator === undefined) continue
    const isColon = text.charAt(next) === ":" || text.charAt(next) === "："
    // `"#E1": "…"` is JSON, and its strings hold what is not the input itself.
    if (isWrapped && isColon && !separator.assigns) continue
    let name = separator.end
    while (isMarkdownCode(text.charCodeAt(name))) name += 1
    let crossed = false
    while (text.charCodeAt(name) === 10 || isSpaceCode(text.charCodeAt(name))) {
      crossed = true
      name += 1
    }
    const head = readHead(text, name, !crossed && (separator.assigns || startsLine))
    const isInline = !startsLine && !separator.assigns
    if (isInline && (head === undefined || head.bracket === "(")) continue
    const isBoundary: boolean =
      head !== undefined && !lineHasBoundary && (startsLine || planMarkEnd(text, content) !== -1)
    lineHasBoundary ||= isBoundary
    labels.push({
      at,
      line: start,
      from: startsLine ? start : label.from,
      startsLine,
      end: separator.end,
      variable: variableName(text, at, tokenEnd),
      head,
      isBoundary
    })
  }
  return labels
}

const opensString = (code: number): boolean =>
  code === 91 || code === 123 || code === 40 || code === 44 || code === 58 || code === 61

/** Returns whether the quote at `at` can end a string: not escaped, and followed by a bracket, a comma or a colon. */
const closesString = (text: string, at: number): boolean => {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === 92) slashes += 1
  if (slashes % 2 === 1) return false
  let next = at + 1
  while (isSpaceCode(text.charCodeAt(next)) || text.charCodeAt(next) === 10) next += 1
  return next < text.length && ",]}):".includes(text.charAt(next))
}

/**
 * For each label, where its opening bracket is closed, or -1. One pass with a stack for each kind of bracket.
 *
 * A quote opens a string only where JSON has one (behind a bracket, a comma or a colon) and only if it is closed
 * before the next call or `Plan:` line, so neither an apostrophe nor a lone quote hides a bracket.
 */
export const matchBrackets = (text: string, labels: ReadonlyArray<Label>): Int32Array => {
  const closes = new Int32Array(labels.length).fill(-1)
  const nextDouble = makeCloserSearch(text, '"')
  const nextSingle = makeCloserSearch(text, "'")
  const nextPlan = makePlanSearch(text)
  /** The open brackets, innermost last: the label whose call they open, or -1. */
  let square: Array<number> = []
  let round: Array<number> = []
  let upcoming = -1
  let upcomingAt = 0
  let current = -1
  let currentOpen = -1
  let previous = 0
  const advance = () => {
    const label = labels[upcoming]
    if (label?.head !== undefined) {
      current = upcoming
      currentOpen = label.head.open
      if (label.isBoundary) {
        square = []
        round = []
      }
    }
    do upcoming += 1
    while (upcoming < labels.length && labels[upcoming]?.head === undefined)
    upcomingAt = labels[upcoming]?.at ?? text.length
  }
  const close = (stack: Array<number>, at: number) => {
    const index = stack.pop()
    if (index !== undefined && index >= 0) closes[index] = at
  }
  advance()
  for (let at = upcomingAt; at < text.length; at += 1) {
    if (at >= upcomingAt) advance()
    const code = text.charCodeAt(at)
    if (code === 32 || code === 10 || code === 9 || code === 13) continue
    if (code === 91) {
      if (at === currentOpen || !isOpenMouth(text, at)) square.push(at === currentOpen ? current : -1)
    } else if (code === 93) {
      if (square.length !== 1 || !isMouth(text, at)) close(square, at)
    } else if (code === 40) round.push(at === currentOpen ? current : -1)
    else if (code === 41) {
      if (round.length !== 1 || !isMouth(text, at)) close(round, at)
    } else if ((code === 34 || code === 39) && opensString(previous) && square.length + round.length > 0) {
      const end = code === 34 ? nextDouble(at + 1) : nextSingle(at + 1)
      if (end < upcomingAt && end < nextPlan(at + 1)) at = end
    }
    previous = code
  }
  return closes
}

/** Returns whether the bracket at `at` is a mouth, as in `:-]]`: of two brackets the second is the one that closes. */
const isMouth = (text: string, at: number): boolean =>
  text.charCodeAt(at + 1) === text.charCodeAt(at) &&
  /[\s[(](?:[:;=]|[:;=8xX][-o^'])$/.test(text.slice(Math.max(0, at - 3), at))

/** The same for `:-[]`. Without a nose it may be JSON. */
const isOpenMouth = (text: string, at: number): boolean =>
  text.charCodeAt(at + 1) === 93 && /[\s[(][:;=8][-o^']$/.test(text.slice(Math.max(0, at - 3), at))

/** Finds the next quote that can end a string, from offsets that only grow: all calls together are linear. */
const makeCloserSearch = (text: string, quote: string): ((from: number) => number) => {
  let known = -1
  return (from) => {
    if (known >= from) return known
    let at = text.indexOf(quote, from)
    while (at !== -1 && !closesString(text, at)) at = text.indexOf(quote, at + 1)
    known = at === -1 ? text.length : at
    return known
  }
}

/** Finds the next line that starts with `Plan:`, from offsets that only grow. */
const makePlanSearch = (text: string): ((from: number) => number) => {
  let known = -1
  return (from) => {
    if (known >= from) return known
    let start = text.indexOf("\n", from)
    while (start !== -1) {
      start += 1
      const end = lineEnd(text, start, text.length)
      if (planMarkEnd(text, skipDecoration(text, start, end)) !== -1) break
      start = end < text.length ? end : -1
    }
    known = start === -1 ? text.length : start
    return known
  }
}
