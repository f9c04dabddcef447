/**
 * JSON as models write it: finds it in prose and parses it, with slips of syntax repaired and nothing else.
 */
import { jsonrepair } from "jsonrepair"
import { isBlank } from "./ReplyText.js"

/** How deep a value may nest. No reply that we ask for nests deeper than a handful of levels. */
export const maxDepth = 200

/** How much text may be repaired in one reply, in UTF-16 units: the library's time can grow faster than its input. */
export const maxRepairLength = 200_000

/** How many quotes may stand unescaped inside strings for a repair to be tried. */
const maxInnerQuotes = 100

// ---------------------------------------------------------------------------------------------------------------
// finding
// ---------------------------------------------------------------------------------------------------------------

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
  /** Whether an end such as `"}` follows that nothing opened: then the value may have ended inside a string. */
  readonly isCutShort: boolean
}

export interface Found {
  /** Outermost balanced values, in order. */
  readonly spans: ReadonlyArray<Span>
  /** Where the value starts that is still open when the text ends. */
  readonly unfinishedAt?: number
  /** Where the nesting goes beyond {@link maxDepth}. */
  readonly tooDeepAt?: number
}

/**
 * Finds the values that start where `starts` says so. A quote opens a string where a value or key may stand, and
 * closes it where `,` `:` `}` `]` or a comment follows: for valid JSON that is exact, and a quote that was left
 * unescaped inside a string does not end it. One pass.
 */
export const find = (text: string, starts: (text: string, at: number) => boolean): Found => {
  const spans: Array<Span> = []
  const open: Array<number> = []
  let keys: Array<Key> = []
  let innerQuotes = 0
  // Between values: whether what precedes ends a text or a list of texts.
  let endsValue = false
  let start = -1
  let previous = 0
  let i = 0
  while (i < text.length) {
    const c = text.charCodeAt(i)
    if (open.length === 0) {
      if ((c === 0x7b || c === 0x5b) && starts(text, i)) {
        start = i
        previous = c
        keys = []
        innerQuotes = 0
        open.push(i)
      } else if (c === 0x7d && endsValue) {
        const last = spans.pop()
        if (last !== undefined) spans.push({ ...last, isCutShort: true })
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
      if (end < 0) return { spans, unfinishedAt: start }
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
      open.push(i)
      if (open.length > maxDepth) return { spans, tooDeepAt: i }
    } else if (c === 0x7d || c === 0x5d) {
      const opener = c === 0x7d ? 0x7b : 0x5b
      // A bracket that was forgotten closes with the one around it; one that never opened is passed over.
      let at = open.length - 1
      while (at >= 0 && text.charCodeAt(open[at] ?? 0) !== opener) at--
      if (at >= 0) open.length = at
      if (open.length === 0) {
        endsValue = false
        spans.push({ start, end: i + 1, keys, innerQuotes, isCutShort: false })
      }
    }
    if (!isBlank(c)) previous = c
    i++
  }
  return open.length === 0 ? { spans } : { spans, unfinishedAt: start }
}

/** Whether an object as JSON or JavaScript writes it starts here: a brace, then a key, `}`, or the end of the text. */
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
const isSingle = (c: number): boolean => c === 0x27 || c === 0x2018 || c === 0x2019

/** Whether `c` can close a string that `opener` opened. */
const closes = (opener: number, c: number): boolean =>
  opener === 0x22 || opener === 0x27 || opener === 0x60 ? c === opener : isDouble(opener) ? isDouble(c) : isSingle(c)

const isWord = (c: number): boolean =>
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

const isComment = (text: string, at: number): boolean =>
  text.charCodeAt(at) === 0x2f && (text.charCodeAt(at + 1) === 0x2f || text.charCodeAt(at + 1) === 0x2a)

const afterComment = (text: string, at: number): number => {
  const line = text.charCodeAt(at + 1) === 0x2f
  const end = text.indexOf(line ? "\n" : "*/", at + 2)
  return end < 0 ? text.length : line ? end : end + 2
}

// ---------------------------------------------------------------------------------------------------------------
// parsing
// ---------------------------------------------------------------------------------------------------------------

/**
 * Parses valid JSON; undefined when it is not. A number that a double would change (`12345678901234567890`, `1.50`) is
 * given as a string, as it is written.
 */
export const parse = (source: string): unknown => {
  try {
    return JSON.parse(quoteLossyNumbers(source))
  } catch {
    return undefined
  }
}

/**
 * Parses a value that {@link find} found and {@link parse} refuses, with slips of syntax repaired: trailing commas,
 * comments, single or typographic quotes, bare keys, `None` `True` `False`, raw line breaks, and quotes left unescaped
 * inside a string. A repair counts only if every character of the source is accounted for, so it can neither add,
 * drop nor move text; otherwise the result is undefined.
 */
export const repair = (text: string, span: Span): unknown => {
  if (span.end - span.start > maxRepairLength || span.innerQuotes > maxInnerQuotes) return undefined
  const source = text.slice(span.start, span.end)
  let repaired: string
  try {
    repaired = jsonrepair(source)
  } catch {
    return undefined
  }
  return onlySyntaxChanged(source, repaired) ? parse(repaired) : undefined
}

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

const quoteLossyNumbers = (source: string): string => {
  let out = ""
  let from = 0
  let inString = false
  for (let i = 0; i < source.length; i++) {
    const c = source.charCodeAt(i)
    if (c === 0x22) inString = !inString
    else if (inString) {
      if (c === 0x5c) i++
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      numberToken.lastIndex = i
      const token = numberToken.exec(source)?.[0]
      if (token === undefined) continue
      if (String(Number(token)) !== token) {
        out += `${source.slice(from, i)}"${token}"`
        from = i + token.length
      }
      i += token.length - 1
    }
  }
  return from === 0 ? source : out + source.slice(from)
}

const literals: ReadonlyMap<string, string> = new Map([
  ["None", "null"],
  ["True", "true"],
  ["False", "false"]
])

/** Walks the source and its repair side by side and accepts only the differences that {@link repair} names. */
const onlySyntaxChanged = (source: string, repaired: string): boolean => {
  let i = 0
  let j = 0
  // Keys are written in one manner. Where one differs, it may be text behind a quote that was left unescaped.
  let keyStyle: number | undefined
  while (true) {
    i = afterBlanksAndComments(source, i)
    j = afterBlanks(repaired, j)
    if (j >= repaired.length) return i >= source.length
    const d = repaired.charCodeAt(j)
    if (d === 0x22) {
      const end = endOfStrictString(repaired, j)
      const value: unknown = JSON.parse(repaired.slice(j, end))
      const isKey = repaired.charCodeAt(afterBlanks(repaired, end)) === 0x3a
      if (isKey) {
        const quote = source.charCodeAt(i)
        const style = isQuote(quote) ? quote : 0
        keyStyle ??= style
        if (style !== keyStyle) return false
      }
      i = typeof value === "string" ? afterSame(source, i, value, isKey) : -1
      if (i < 0) return false
      j = end
      continue
    }
    if ((d === 0x7d || d === 0x5d) && source.charCodeAt(i) === 0x2c) i = afterBlanksAndComments(source, i + 1)
    if (isLiteral(d)) {
      let end = j
      while (end < repaired.length && isLiteral(repaired.charCodeAt(end))) end++
      let stop = i
      while (stop < source.length && isLiteral(source.charCodeAt(stop))) stop++
      const written = source.slice(i, stop)
      if ((literals.get(written) ?? written) !== repaired.slice(j, end)) return false
      i = stop
      j = end
      continue
    }
    if (source.charCodeAt(i) !== d) return false
    i++
    j++
  }
}

const isLiteral = (c: number): boolean => isWord(c) || c === 0x2b || c === 0x2e

const afterBlanksAndComments = (text: string, at: number): number => {
  let i = afterBlanks(text, at)
  while (isComment(text, i)) i = afterBlanks(text, afterComment(text, i))
  return i
}

const endOfStrictString = (text: string, at: number): number => {
  let i = at + 1
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1
  return i + 1
}

/** The position behind the string or bare key at `at` when it says exactly `value`; otherwise -1. */
const afterSame = (source: string, at: number, value: string, isKey: boolean): number => {
  const opener = source.charCodeAt(at)
  if (!isQuote(opener)) {
    if (!isKey || value === "") return -1
    for (let k = 0; k < value.length; k++) if (!isWord(value.charCodeAt(k))) return -1
    return source.startsWith(value, at) ? at + value.length : -1
  }
  let i = at + 1
  let inner = 0
  let isOpen = false
  for (let k = 0; k < value.length; k++) {
    const c = source.charCodeAt(i)
    const d = value.charCodeAt(k)
    if (c === 0x5c) {
      const [decoded, length] = unescape(source, i)
      if (decoded !== d) return -1
      i += length
      continue
    }
    if (c !== d) return -1
    const isApostrophe = isSingle(c) && isLetter(source, i - 1) && isLetter(source, i + 1)
    if (closes(opener, c) && !isApostrophe) inner++
    if (c === 0x201e || (c === 0x201c && !isOpen)) isOpen = true
    else if (c === 0x201c || c === 0x201d) isOpen = false
    else if (c === opener && !isApostrophe) isOpen = !isOpen
    i++
  }
  // Quotes inside come in pairs. One alone means that the string may have been split in the wrong place.
  return closes(opener, source.charCodeAt(i)) && (inner === 0 || !isOpen) ? i + 1 : -1
}

const isLetter = (text: string, at: number): boolean => /\p{L}/u.test(text.charAt(at))

const escapes: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09]
])

/** Gives NaN for an escape that JSON does not know: `\d` may mean a pattern or a path, and must not become `d`. */
const unescape = (source: string, at: number): readonly [code: number, length: number] => {
  const c = source.charCodeAt(at + 1)
  if (c === 0x75) return [Number.parseInt(source.slice(at + 2, at + 6), 16), 6]
  const isItself = isQuote(c) || c === 0x5c || c === 0x2f || c === 0x0a
  return [escapes.get(c) ?? (isItself ? c : Number.NaN), 2]
}
