/**
 * Reads what a reply says, without what the model thinks aloud, the marks of its turns and the tags around its answer.
 */
import * as CodeSpan from "../reply/CodeSpan.js"
import { isBlank, trim } from "./blanks.js"
import { harmonyFinal } from "./harmony.js"
import { thinkingProse } from "./markers.js"
import * as JsonText from "./reply/JsonText.js"
import { findTokens, isControl, type Token } from "./tokens.js"
import { withoutEnd } from "./turnEnds.js"

/** What a reply says: see `ReplyText.visible`. */
export const said = (text: string): string => {
  if (text.length < longReply) return read(text)
  if (last?.text !== text) last = { text, said: read(text) }
  return last.said
}

const read = (text: string): string => withoutEnd(withoutMarks(withoutProse(harmonyFinal(text) ?? text)))

/** Several readers look at a reply in turn: of a long one, in characters, the last result is kept. */
const longReply = 20_000
let last: { readonly text: string; readonly said: string } | undefined

/** Without thinking that words announce, where the reply begins with them. */
const withoutProse = (text: string): string => {
  let at = 0
  while (at < text.length && isBlank(text.charCodeAt(at))) at++
  for (const { close, onlyAsPair = false, open } of thinkingProse) {
    open.lastIndex = at
    if (!open.test(text)) continue
    close.lastIndex = open.lastIndex
    if (close.test(text)) return text.slice(close.lastIndex)
    return onlyAsPair ? text : ""
  }
  return text
}

const withoutMarks = (text: string): string => {
  const tokens = findTokens(text)
  return tokens.length === 0 ? text : spoken(text, tokens)
}

/** What is kept of a text, and how far it was read. */
interface State {
  kept: Array<string>
  from: number
  /** Nothing but blanks was kept so far: what stands here begins the reply. */
  isStart: boolean
  /** The family of the block that is open. */
  thinking: number | undefined
  /** Openers inside a block: a model that nests blocks writes as many closers, which then stand alone. */
  nested: number
  /** A closer without an opener dropped what stood before it. */
  dropped: boolean
  /** Where the last closer ended. */
  closedAt: number
  /** The tag around the answer that is open. */
  answer: string | undefined
}

const spoken = (text: string, tokens: ReadonlyArray<Token>): string => {
  const state: State = {
    kept: [],
    from: 0,
    isStart: true,
    thinking: undefined,
    nested: 0,
    dropped: false,
    closedAt: -1,
    answer: undefined
  }
  const view = lookAhead(text, tokens)
  const isText = textJudge(text, tokens, view)
  const strikes = strikesOut(text)
  const isStruckOut = (token: Token) => strikes && /^<s>/i.test(text.slice(token.start, token.start + 3))
  const skip = (token: Token) => {
    state.kept.push(text.slice(state.from, token.start))
    state.from = token.end
  }
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === undefined || token.start < state.from) continue
    const { kind } = token
    if (state.thinking !== undefined) {
      if (kind._tag === "Open" && kind.family === state.thinking) state.nested++
      if (!endsBlock(kind, state.thinking)) continue
      state.thinking = undefined
      state.from = token.end
      state.closedAt = token.end
      continue
    }
    if (state.isStart && !isBlankBetween(text, state.from, token.start)) state.isStart = false
    if (!state.isStart && isInert(kind, view.isFollowed(index))) continue
    if (isText(index, state)) continue
    switch (kind._tag) {
      case "Open":
        skip(token)
        state.thinking = kind.family
        break
      case "Close": {
        const isRepeated = state.closedAt >= 0 && isBlankBetween(text, state.closedAt, token.start)
        if (!isRepeated && state.nested === 0 && state.dropped) break
        if (state.nested > 0) state.nested--
        if (!isRepeated) {
          state.dropped = true
          state.kept = []
          state.isStart = true
          state.answer = undefined
        }
        state.from = token.end
        state.closedAt = token.end
        break
      }
      case "AnswerOpen": {
        const isFirst = state.closedAt >= 0 && isBlankBetween(text, state.closedAt, token.start)
        if (!isFirst && !(state.isStart && view.isWhole(index))) break
        skip(token)
        state.answer = kind.name
        break
      }
      case "AnswerClose":
        // Alone at the very end, its opener may stand in the prompt.
        if (state.answer !== kind.name && !(view.isWhole(index) && view.isAlone(kind.name))) break
        skip(token)
        state.answer = undefined
        break
      case "Wrap":
        skip(token)
        break
      case "Turn":
        if (!state.isStart || (kind.isNamed && !kind.isOwn))
          return state.kept.join("") + text.slice(state.from, token.start)
        state.from = token.end
        break
      case "End":
        if (!state.isStart) return state.kept.join("") + text.slice(state.from, token.start)
        state.from = afterOwnRole(text, token.end)
        if (state.from === token.end && isRoleLine(text, token.end)) return ""
        break
      case "Start":
      case "Stray":
        if (state.isStart && !isStruckOut(token)) state.from = token.end
    }
  }
  if (state.thinking === undefined) state.kept.push(text.slice(state.from))
  return state.kept.join("")
}

/** `<s>` begins a text, unless it is HTML's: then there is text behind its end. */
const strikesOut = (text: string): boolean => {
  if (!/^\s*<s>/i.test(text)) return false
  const end = text.toLowerCase().indexOf("</s>")
  return end !== -1 && trim(withoutEnd(text.slice(end))) !== ""
}

/** Returns whether a mark is text wherever it stands behind text; at the very end it is taken off later. */
const isInert = (kind: Token["kind"], isFollowed: boolean): boolean =>
  kind._tag === "Start" || kind._tag === "Stray" || (kind._tag === "End" && !isFollowed)

const endsBlock = (kind: Token["kind"], family: number): boolean =>
  kind._tag === "Close"
    ? kind.family === family
    : (kind._tag === "End" || kind._tag === "Wrap") && kind.closes === family

const isBlankBetween = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (!isBlank(text.charCodeAt(at))) return false
  return true
}

// ---------------------------------------------------------------------------------------------------------------
// what stands behind a mark
// ---------------------------------------------------------------------------------------------------------------

interface View {
  /** The closer that may end the block that a token opens. */
  readonly closerOf: (index: number) => Token | undefined
  /** Returns whether an end of a turn is followed by the begin of another. */
  readonly isFollowed: (index: number) => boolean
  /** Returns whether no answer's tag of this name opens. */
  readonly isAlone: (name: string) => boolean
  /** Returns whether an answer's tag and its closer are around all that is left, but for marks of turns. */
  readonly isWhole: (index: number) => boolean
}

const lookAhead = (text: string, tokens: ReadonlyArray<Token>): View => {
  const closers: Array<Token | undefined> = new Array(tokens.length)
  const followed: Array<boolean> = new Array(tokens.length)
  const whole: Array<boolean> = new Array(tokens.length)
  const nextCloser = new Map<number, Token>()
  const nextAnswerClose = new Map<string, number>()
  const openAnswers = new Set<string>()
  // From here on there is nothing but marks that are noise at the end.
  let noiseFrom = text.length
  while (noiseFrom > 0 && isBlank(text.charCodeAt(noiseFrom - 1))) noiseFrom--
  for (let index = tokens.length - 1; index >= 0; index--) {
    const token = tokens[index]
    if (token === undefined) continue
    const { kind } = token
    const next = tokens[index + 1]
    switch (kind._tag) {
      case "Close":
        nextCloser.set(kind.family, token)
        break
      case "Open":
        closers[index] = nextCloser.get(kind.family)
        break
      case "AnswerClose":
        nextAnswerClose.set(kind.name, index)
        whole[index] = token.end >= noiseFrom
        break
      case "AnswerOpen": {
        openAnswers.add(kind.name)
        const close = nextAnswerClose.get(kind.name)
        whole[index] = close !== undefined && whole[close] === true
        break
      }
      case "End": {
        const isAdjacent =
          next !== undefined && next.start - token.end <= maxGap && isBlankBetween(text, token.end, next.start)
        const isTurn = next?.kind._tag === "Turn" || (next?.kind._tag === "End" && followed[index + 1] === true)
        followed[index] = (isAdjacent && isTurn) || isRoleLine(text, token.end)
      }
    }
    if (isControl(kind) && token.end >= noiseFrom) {
      noiseFrom = token.start
      while (noiseFrom > 0 && isBlank(text.charCodeAt(noiseFrom - 1))) noiseFrom--
    }
  }
  return {
    closerOf: (index) => closers[index],
    isFollowed: (index) => followed[index] === true,
    isAlone: (name) => !openAnswers.has(name),
    isWhole: (index) => whole[index] === true
  }
}

/** Blanks between two marks that belong together. */
const maxGap = 64

const ownRole = /\s{0,8}(?:assistant|model)[ \t]{0,4}(?:\n|$)/iy

/** Behind the model's own role in plain words, where it stands at `at`. */
const afterOwnRole = (text: string, at: number): number => {
  ownRole.lastIndex = at
  return ownRole.test(text) ? ownRole.lastIndex : at
}

const roleLine = /\s{0,8}(?:(?:assistant|model|user|human|system)[ \t]{0,4}(?::|\n)|(?:question|q):)/iy

/** A role in plain words behind the end of a turn: its token was left out. */
const isRoleLine = (text: string, at: number): boolean => {
  roleLine.lastIndex = at
  return roleLine.test(text)
}

// ---------------------------------------------------------------------------------------------------------------
// marks that are text
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns whether a mark is text: in code, in a string of JSON, in quotes, in a sentence about marks, or where a word
 * of prose stands in a line. Asked in order, and only outside thinking.
 */
const textJudge = (text: string, tokens: ReadonlyArray<Token>, view: View) => {
  const code = CodeSpan.make(text)
  const isInString = stringJudge(text, tokens)
  // Openers that were text, by family, and the end of their line: their closers are text too.
  const openText = new Map<number, number>()
  return (index: number, state: State): boolean => {
    const token = tokens[index]
    if (token === undefined) return true
    const { kind } = token
    const line = code.lineOf(token.start)
    if (isInString(index, Math.max(0, state.closedAt))) return true
    if (code.isCode(token.start, state.from) && !beginsFence(text, token)) return true
    switch (kind._tag) {
      case "Open": {
        const closer = view.closerOf(index)
        const isMention = isQuoted(text, token) || isNamed(text, token, closer, line.start)
        if (!isMention && !isWordInLine(text, token, closer, line, state)) return false
        openText.set(kind.family, line.end)
        return true
      }
      case "Close": {
        const end = openText.get(kind.family)
        openText.delete(kind.family)
        return (end !== undefined && token.start <= end) || isQuoted(text, token) || isNamedCloser(text, token)
      }
      case "Wrap":
        return isQuoted(text, token) || isNamedCloser(text, token)
      case "Turn":
        return !state.isStart && !beginsTurn(text, token, line.start)
      default:
        return false
    }
  }
}

const quotes = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"],
  ["„", "“"],
  ["`", "`"],
  ["(", ")"]
])

const isQuoted = (text: string, { end, start }: Token): boolean =>
  start > 0 && quotes.get(text.charAt(start - 1)) === text.charAt(end)

const isOnLineStart = (text: string, at: number, lineStart: number): boolean =>
  at - lineStart <= 32 && /^[\s>*_#-]*$/.test(text.slice(lineStart, at))

const thingBehind =
  /^\s{1,2}(?:tags?|tokens?|markers?|marks?|markup|blocks?|elements?|sections?|delimiters?|prefix(?:es)?|openers?|closers?)\b/i
const stopBehind = /^[,;:.!?)](?:\s|$)/
const lowerBehind = /^ \p{Ll}/u
const wordBefore = /[\p{L}\p{N},] $/u
const connective = /^\s?(?:and|or|to|und|oder|et|ou|y|e|[.]{2,3}|…|\/|,|&)?\s?$/i

/**
 * An opener in a sentence about it: `the <think> tag`, `<think> and </think>`, `models write <think> before they …`.
 */
const isNamed = (text: string, { end, start }: Token, closer: Token | undefined, lineStart: number): boolean => {
  if (isOnLineStart(text, start, lineStart)) return false
  const before = text.slice(Math.max(lineStart, start - 2), start)
  const behind = text.slice(end, end + 24)
  if (!/\s$/.test(before)) return false
  if (thingBehind.test(behind) || stopBehind.test(behind)) return true
  if (closer === undefined) return lowerBehind.test(behind) && wordBefore.test(before)
  return (
    closer.start - end <= 8 &&
    connective.test(text.slice(end, closer.start)) &&
    !isBlankBetween(text, end, closer.start)
  )
}

const articleBefore = /\b(?:the|an?|its|closing|opening|missing|stray|lone|final|matching) $/i

/** A closer in a sentence about it. */
const isNamedCloser = (text: string, { end, start }: Token): boolean => {
  const before = text.slice(Math.max(0, start - 16), start)
  const behind = text.slice(end, end + 24)
  return / $/.test(before) && (thingBehind.test(behind) || (stopBehind.test(behind) && articleBefore.test(before)))
}

/** A word such as `<reasoning>` inside a line, unless a block of lines starts with it. */
const isWordInLine = (
  text: string,
  token: Token,
  closer: Token | undefined,
  line: { readonly start: number; readonly end: number },
  state: State
): boolean => {
  if (token.kind._tag !== "Open" || !token.kind.isWord) return false
  if (token.kind.isPair && closer === undefined) return true
  // `<Thought>: …` is a label.
  if (closer === undefined && /^ ?[:：]/.test(text.slice(token.end, token.end + 2))) return true
  if (state.isStart || isOnLineStart(text, token.start, Math.max(line.start, state.from))) return false
  return closer === undefined || closer.start <= line.end
}

/** A block of thinking that begins a reply which is one code fence as a whole. A sample of markup says what it is. */
const beginsFence = (text: string, { kind, start }: Token): boolean =>
  kind._tag === "Open" &&
  start <= 64 &&
  /^\s*(?:`{3,}|~{3,})[ \t]*(?:json|text|txt|plaintext|markdown|md)?[ \t]*\n\s*$/i.test(text.slice(0, start))

/** A turn begins on a line of its own or right behind text; `GLM writes <|user|> here` is about it. */
const beginsTurn = (text: string, { end, start }: Token, lineStart: number): boolean => {
  if (isOnLineStart(text, start, lineStart)) return true
  const before = text.charAt(start - 1)
  if (!isBlank(before.charCodeAt(0))) return !quotes.has(before) && !"”’»[".includes(before)
  return text.charAt(end) === "\n" && end - start > 8
}

// ---------------------------------------------------------------------------------------------------------------
// marks in JSON
// ---------------------------------------------------------------------------------------------------------------

/** More blocks than this before JSON are not a reply that we ask for; each scan reads to the end. */
const maxScans = 4

/**
 * Returns whether a mark stands inside a string of a JSON value. What is thought may hold broken JSON, so what follows
 * it is looked at anew.
 */
const stringJudge = (text: string, tokens: ReadonlyArray<Token>) => {
  let inText: ReadonlySet<Token> = new Set()
  let scannedFrom = -1
  let scans = 0
  return (index: number, from: number): boolean => {
    const token = tokens[index]
    if (token === undefined) return false
    if (from !== scannedFrom && scans < maxScans) {
      inText = insideStrings(text, tokens.slice(index), from)
      scans++
    }
    scannedFrom = from
    return inText.has(token)
  }
}

const insideStrings = (text: string, tokens: ReadonlyArray<Token>, from: number): ReadonlySet<Token> =>
  (from === 0 ? dataTags(text, tokens) : undefined) ?? valueTags(text.slice(from), tokens, from)

/** In a reply that begins as data: by the double quotes, if they pair up. Broken JSON is still JSON to its reader. */
const dataTags = (text: string, tags: ReadonlyArray<Token>): ReadonlySet<Token> | undefined => {
  const first = trim(text).slice(0, 3)
  if (!(first.startsWith("{") || first.startsWith("[") || first.startsWith('"') || first === "```")) return undefined
  const inside = new Set<Token>()
  let next = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const tag = tags[next]
    if (tag !== undefined && i === tag.start) {
      if (inString) inside.add(tag)
      next++
    }
    const c = text.charCodeAt(i)
    if (c === 0x22) inString = !inString
    else if (c === 0x5c && inString) i++
  }
  return inString ? undefined : inside
}

/** In prose: the strings of values that end and whose quotes leave no doubt. */
const valueTags = (rest: string, tags: ReadonlyArray<Token>, from: number): ReadonlySet<Token> => {
  const strung: Array<Token> = []
  let next = 0
  const { spans } = JsonText.find(rest, startsValue, (start, end) => {
    for (; next < tags.length; next++) {
      const tag = tags[next]
      if (tag === undefined || tag.start - from > end) return
      if (tag.start - from > start) strung.push(tag)
    }
  })
  const inside = new Set<Token>()
  let at = 0
  for (const tag of strung) {
    while (at < spans.length && (spans[at]?.end ?? 0) + from <= tag.start) at++
    const span = spans[at]
    if (span !== undefined && span.start + from < tag.start && span.innerQuotes === 0) inside.add(tag)
  }
  return inside
}

/** An object, or an array that starts with a string or an object. */
const startsValue = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x5b) return JsonText.startsObject(text, at)
  const next = JsonText.afterBlanks(text, at + 1)
  return JsonText.isQuote(text.charCodeAt(next)) || JsonText.startsObject(text, next)
}
