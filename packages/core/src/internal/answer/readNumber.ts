/**
 * A number out of an answer.
 *
 * @internal
 */
import { isFirstPart } from "./compound.js"
import type { Finding } from "./finding.js"
import { found, ignored, problem } from "./finding.js"
import type { Marked } from "./markers.js"
import { maxNumbers, type NumberOptions, type NumberToken, scanNumbers } from "./numbers.js"
import { isConclusion, isHedged, lastSentence, sentenceEnd } from "./text.js"

export interface NumberAnswer {
  readonly value: number
  readonly unit?: string
}

const opening =
  /(?:[\s*_`"'“‘~≈=:→✅>([{#]|\\[([]|\$\$|\\left|\\text(?:bf)?\{|\\approx|(?:approximately|approx\.?|appr\.|appx\.|circa|ca\.?|about|around|roughly|exactly|only|nearly|almost|just|a total of|total|etwa|ungefähr|rund|environ|env\.|aproximadamente|aprox\.?|около|примерно|大约|约|約|약)(?![A-Za-z])){0,12}/iy
const clauseEnd =
  /[;(\n]| because | since | as | out of | of |, which|, because|, since|, as |, so |, not |, nicht |, pas |, y no |, não |, не | rather than | [-–—] (?![\d$€£(])| {2}→ | not (?=\d)/g

/** The number that a marked text gives. */
export const numberInMarked = (text: string, marked: Marked, options: NumberOptions): Finding<NumberAnswer> => {
  const { start, end } = marked
  if (marked.kind === "hashes" && !/\d/.test(text.slice(start, end))) return ignored
  const isBoxed = marked.kind === "boxed"
  const stop = isBoxed ? end : sentenceEnd(text, start, end)
  if (/^[\s*_`]*[-–—‒―][ \t]+\d/.test(text.slice(start, Math.min(end, start + 24)))) return problem("malformed", start)
  if (/^(?:not|n't|never)\b/i.test(text.slice(start, Math.min(end, start + 8)))) return problem("ambiguous", start)
  const tokens = scanNumbers(text, start, end, options)
  const first = tokens[0]
  opening.lastIndex = start
  opening.test(text)
  const lead = opening.lastIndex
  if (first !== undefined && first.start <= lead && lead <= first.end) {
    const rest = text.slice(first.end, stop)
    clauseEnd.lastIndex = 0
    const cut = clauseEnd.exec(rest)
    const clause = tokens.filter((token) => token.end <= (cut === null ? stop : first.end + cut.index))
    if (first.glued !== undefined) return problem("no_number", first.start)
    if (text.charAt(stop) === "?") return problem("ambiguous", start)
    return oneOf(text, clause, start, stop)
  }
  const sentence = tokens.filter((token) => token.end <= stop)
  if (isHedged(text.slice(start, stop))) return problem("no_answer", start)
  const term = symbolic(text, sentence, start, stop)
  if (term !== undefined) return problem("no_number", term.start)
  if (sentence.length > 0) return oneOf(text, sentence, start, stop)
  if (isHedged(text.slice(start, end))) return problem("no_answer", start)
  if (tokens.length > 0) return oneOf(text, tokens, start, end)
  return marked.strong || /[\d$\\=]/.test(text.slice(start, stop)) ? problem("no_number", start) : ignored
}

/** The number of a text without a marker: its only one, or the only one of a last sentence that says `Therefore`. */
export const numberInPlain = (text: string, options: NumberOptions): Finding<NumberAnswer> => {
  if (isHedged(text)) return problem("no_answer", 0)
  if (/^[\s*_`]*[-–—‒―][ \t]+\d/.test(text.slice(0, 24))) return problem("malformed", 0)
  const numbersFrom = (start: number) =>
    oneOf(
      text,
      scanNumbers(text, start, text.length, options).filter((token) => !isEnumerator(text, token)),
      start,
      text.length
    )
  const last = lastSentence(text)
  if (symbolic(text, scanNumbers(text, last, text.length, options), last, text.length) !== undefined) {
    return problem("no_number", last)
  }
  const all = numbersFrom(0)
  if (all._tag === "Found" || (all._tag === "Problem" && all.problem === "no_number")) return all
  return isConclusion(text, last) ? numbersFrom(last) : all
}

/**
 * A term of an expression with a variable: no other number of its sentence is the value. One in the middle of a chain
 * (`total = 5 * x = 40`) is harmless.
 */
const symbolic = (
  text: string,
  tokens: ReadonlyArray<NumberToken>,
  start: number,
  end: number
): NumberToken | undefined => {
  const term = tokens.find((token) => token.glued === "symbolic")
  const isInChain =
    term !== undefined && equals.test(text.slice(start, term.start)) && equals.test(text.slice(term.end, end))
  return isInChain ? undefined : term
}

/** `1.` or `2)` at the start of a line with text behind it. */
const isEnumerator = (text: string, token: NumberToken): boolean => {
  const mark = text.charAt(token.end)
  if ((mark !== "." && mark !== ")" && mark !== ":") || !/\d/.test(text.charAt(token.end - 1))) return false
  if (!/[ \t*]/.test(text.charAt(token.end + 1)) || !/[^\s*]/.test(text.slice(token.end + 1, token.end + 6)))
    return false
  let start = token.start
  while (start > 0 && start > token.start - 12 && " \t*#>(".includes(text.charAt(start - 1))) start -= 1
  return (
    start === 0 || text.charAt(start - 1) === "\n" || /step\s*$/i.test(text.slice(Math.max(0, start - 6), start + 1))
  )
}

const separates = /[,;\n]|[.!?](?:\s|$)| and | or /
const equals = /[=≈]/
const operator =
  /^[\s$€£\\{}*_`]*(?:[+\-–*/×x÷·^]|\\times|\\cdot|\\div|plus|minus|times|(?:divided|multiplied) by)[\s$€£\\{}]*$/i

/** The single value among candidates. What is left of an `=` in its clause, or an operand, is not a candidate. */
const oneOf = (text: string, tokens: ReadonlyArray<NumberToken>, start: number, end: number): Finding<NumberAnswer> => {
  if (tokens.length === 0) return problem("no_number", start)
  if (tokens.length >= maxNumbers) return problem("ambiguous", start)
  const candidates: Array<NumberToken> = []
  let isLeft = false
  let isOperand = false
  let hasOperands = false
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index]
    if (token === undefined) continue
    const next = tokens[index + 1]
    const between = text.slice(token.end, next?.start ?? Math.min(end, token.end + 4))
    const split = separates.test(between)
    const rest = next === undefined ? "" : between
    isLeft = next !== undefined && !split && (isLeft || equals.test(rest))
    const joined = next !== undefined && operator.test(rest)
    const operand = joined || isOperand
    isOperand = joined
    if (isLeft) continue
    if (operand) hasOperands = true
    else if (token.glued !== undefined) continue
    else candidates.push(token)
  }
  candidates.reverse()
  const broken = candidates.find((token) => token.problem !== undefined)
  if (broken?.problem !== undefined) return problem(broken.problem, broken.start)
  const [first] = candidates
  if (hasOperands) return problem("ambiguous", start)
  if (first === undefined) return problem("no_number", start)
  const part = candidates.find((token) => isFirstPart(text, token.end, token.unit))
  if (part !== undefined) return problem("ambiguous", part.start)
  if (candidates.some((token) => token.value !== first.value)) return problem("ambiguous", first.start)
  const { unit, value } = candidates.find((token) => token.unit !== undefined) ?? first
  return found(unit === undefined ? { value } : { value, unit })
}
