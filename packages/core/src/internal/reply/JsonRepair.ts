/**
 * Parses JSON that `JsonText` found, with slips of syntax repaired and nothing else.
 */
import { jsonrepair } from "jsonrepair"
import { afterBlanks, afterComment, closes, isComment, isQuote, isSingle, isWord, type Span } from "./JsonText.js"

/** How much text may be repaired in one reply, in UTF-16 units: the library's time can grow faster than its input. */
export const maxLength = 200_000

/** How many quotes may stand unescaped inside strings for a repair to be tried. */
const maxInnerQuotes = 100

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
 * Parses a value that `JsonText.find` found and {@link parse} refuses, with slips of syntax repaired: trailing commas,
 * comments, single or typographic quotes, bare keys, `None` `True` `False`, raw line breaks, and quotes left unescaped
 * inside a string. A repair counts only if every character of the source is accounted for, so it can neither add,
 * drop nor move text; otherwise the result is undefined.
 */
export const repair = (text: string, span: Span): unknown => {
  if (span.end - span.start > maxLength || span.innerQuotes > maxInnerQuotes) return undefined
  const source = text.slice(span.start, span.end)
  let repaired: string
  try {
    repaired = jsonrepair(source)
  } catch {
    return undefined
  }
  return onlySyntaxChanged(source, repaired, span.innerQuotes > 0) ? parse(repaired) : undefined
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
const onlySyntaxChanged = (source: string, repaired: string, hasInnerQuotes: boolean): boolean => {
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
      i = typeof value === "string" ? afterSame(source, i, value, isKey, hasInnerQuotes) : -1
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
const afterSame = (source: string, at: number, value: string, isKey: boolean, hasInnerQuotes: boolean): number => {
  const opener = source.charCodeAt(at)
  if (!isQuote(opener)) {
    if (!isKey || value === "") return -1
    for (let k = 0; k < value.length; k++) if (!isWord(value.charCodeAt(k))) return -1
    return source.startsWith(value, at) ? at + value.length : -1
  }
  let i = at + 1
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
    if (c === 0x201e || (c === 0x201c && !isOpen)) isOpen = true
    else if (c === 0x201c || c === 0x201d) isOpen = false
    else if (c === opener && !isApostrophe) isOpen = !isOpen
    i++
  }
  // Quotes inside come in pairs. One alone means that a string may have been split in the wrong place.
  return closes(opener, source.charCodeAt(i)) && (!isOpen || !hasInnerQuotes) ? i + 1 : -1
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
