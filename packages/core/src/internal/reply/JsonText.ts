/**
 * Finds JSON in what models write: in prose, in fences, with slips of syntax.
 */
import { isBlank } from "../blanks.js"

/** How deep a value may nest. No reply that we ask for nests deeper than a handful of levels. */
export const maxDepth = 200

/** An object's key near the surface: where its object opens, and the key as it is written, without its quotes. */
export interface Key {
  readonly object: number
  readonly key: string
}

/** A balanced value of a text. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly keys: ReadonlyArray<Key>
  /** Quotes that stand unescaped inside strings. */
  readonly innerQuotes: number
}

export interface Found {
  /** Outermost balanced values, in order. */
  readonly spans: ReadonlyArray<Span>
  /** How many of the spans are followed by an end such as `"}` that nothing opened: they may have ended in a string. */
  readonly doubtful: number
  /** Where the value starts that is still open when the text ends. */
  readonly unfinishedAt?: number
  /** Where the nesting goes beyond {@link maxDepth}. */
  readonly tooDeepAt?: number
}

/**
 * Finds the values that start where `starts` says so. A quote opens a string where a value or key may stand, and
 * closes it where `,` `:` `}` `]` or a comment follows: for valid JSON that is exact, and a quote that was left
 * unescaped inside a string does not end it. One pass. `onString` is told of each string that ends, by the positions of
 * its quotes. At most `most` values are found, the first not before `from`.
 */
export const find = (
  text: string,
  starts: (text: string, at: number) => boolean,
  onString?: (start: number, end: number) => void,
  from = 0,
  most = Number.POSITIVE_INFINITY
): Found => {
  const spans: Array<Span> = []
  const open: Array<number> = []
  let braces = 0
  const count = (opener: number) => (opener === 0x7b ? braces : open.length - braces)
  const push = (at: number) => {
    open.push(at)
    if (text.charCodeAt(at) === 0x7b) braces++
  }
  let keys: Array<Key> = []
  let innerQuotes = 0
  // Between values: whether what precedes ends a text or a list of texts.
  let endsValue = false
  let doubtful = 0
  let start = -1
  let previous = 0
  let i = from
  while (i < text.length && spans.length < most) {
    const c = text.charCodeAt(i)
    if (open.length === 0) {
      if ((c === 0x7b || c === 0x5b) && starts(text, i)) {
        start = i
        previous = c
        keys = []
        innerQuotes = 0
        push(i)
      } else if (c === 0x7d && endsValue) {
        doubtful = spans.length
      }
      if (!isBlank(c)) endsValue = c === 0x22 || (endsValue && c === 0x5d)
      i++
      continue
    }
    const mayStand = previous === 0x7b || previous === 0x5b || previous === 0x2c || previous === 0x3a
    if (mayStand && isQuote(c)) {
      const string = endOfString(text, i)
      const end = string.end
      innerQuotes += string.inner
      if (end < 0) return { spans, doubtful, unfinishedAt: start }
      onString?.(i, end)
      if (open.length <= 3 && end - i < 100 && text.charCodeAt(afterBlanks(text, end + 1)) === 0x3a) {
        keys.push({ object: open[open.length - 1] ?? start, key: text.slice(i + 1, end) })
      }
      previous = 0x22
      i = end + 1
      continue
    }
    if (isComment(text, i)) {
      i = afterComment(text, i)
      continue
    }
    if (c === 0x7b || c === 0x5b) {
      push(i)
      if (open.length > maxDepth) return { spans, doubtful, tooDeepAt: i }
    } else if (c === 0x7d || c === 0x5d) {
      const opener = c === 0x7d ? 0x7b : 0x5b
      // A bracket that was forgotten closes with the one around it; one that never opened is passed over.
      if (count(opener) > 0) {
        while (text.charCodeAt(open.pop() ?? 0) !== opener) braces -= opener === 0x7b ? 0 : 1
        braces -= opener === 0x7b ? 1 : 0
      }
      if (open.length === 0) {
        endsValue = false
        spans.push({ start, end: i + 1, keys, innerQuotes })
      }
    }
    if (!isBlank(c)) previous = c
    i++
  }
  return open.length === 0 ? { spans, doubtful } : { spans, doubtful, unfinishedAt: start }
}

/** Returns the place behind the value that starts at `at`, or -1 if it does not end. */
export const endOf = (text: string, at: number): number =>
  find(text, (_, index) => index === at, undefined, at, 1).spans[0]?.end ?? -1

/**
 * Returns whether an object as JSON or JavaScript writes it starts here: a brace, then a key, `}`, or the end of the
 * text.
 */
export const startsObject = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x7b) return false
  const next = afterBlanks(text, at + 1)
  if (next >= text.length) return true
  const c = text.charCodeAt(next)
  if (c === 0x7d || c === 0x2f || isQuote(c)) return true
  let end = next
  while (end < text.length && end - next < 64 && isWord(text.charCodeAt(end))) end++
  if (end === next) return false
  end = afterBlanks(text, end)
  return end >= text.length || text.charCodeAt(end) === 0x3a
}

/** The first position from `at` on that is not blank. */
export const afterBlanks = (text: string, at: number): number => {
  let i = at
  while (i < text.length && isBlank(text.charCodeAt(i))) i++
  return i
}

export const isQuote = (c: number): boolean =>
  c === 0x22 || c === 0x27 || c === 0x60 || c === 0x201c || c === 0x201d || c === 0x2018 || c === 0x2019

const isDouble = (c: number): boolean => c === 0x22 || c === 0x201c || c === 0x201d
export const isSingle = (c: number): boolean => c === 0x27 || c === 0x2018 || c === 0x2019

/** Returns whether `c` can close a string that `opener` opened. */
export const closes = (opener: number, c: number): boolean =>
  opener === 0x22 || opener === 0x27 || opener === 0x60 ? c === opener : isDouble(opener) ? isDouble(c) : isSingle(c)

export const isWord = (c: number): boolean =>
  (c >= 0x30 && c <= 0x39) ||
  (c >= 0x41 && c <= 0x5a) ||
  (c >= 0x61 && c <= 0x7a) ||
  c === 0x5f ||
  c === 0x24 ||
  c === 0x2d

const endOfString = (text: string, at: number): { readonly end: number; readonly inner: number } => {
  const opener = text.charCodeAt(at)
  let inner = 0
  for (let i = at + 1; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x5c) i++
    else if (closes(opener, c)) {
      const next = afterBlanks(text, i + 1)
      const d = text.charCodeAt(next)
      const ends = next >= text.length || d === 0x2c || d === 0x3a || d === 0x7d || d === 0x5d
      if (ends || isComment(text, next)) return { end: i, inner }
      inner++
    }
  }
  return { end: -1, inner }
}

export const isComment = (text: string, at: number): boolean =>
  text.charCodeAt(at) === 0x2f && (text.charCodeAt(at + 1) === 0x2f || text.charCodeAt(at + 1) === 0x2a)

export const afterComment = (text: string, at: number): number => {
  const line = text.charCodeAt(at + 1) === 0x2f
  const end = text.indexOf(line ? "\n" : "*/", at + 2)
  return end < 0 ? text.length : line ? end : end + 2
}
