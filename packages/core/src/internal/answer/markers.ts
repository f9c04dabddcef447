/**
 * The places where a reply says "this is the answer".
 *
 * @internal
 */
import { lineEnd } from "./text.js"

/** A marked answer: the text between a marker and the end of its line or the next marker. */
export interface Marked {
  readonly kind: "answer" | "letterA" | "hashes" | "boxed" | "option"
  readonly start: number
  readonly end: number
  /** `Answer:`, a heading, a box: a claim. Not strong: `answer is` in prose, which may be about anything. */
  readonly strong: boolean
}

const words =
  /answer|答案|回答|答え|정답|답변|antwort|antwoord|réponse|respuesta|risposta|resposta|odpowiedź|cevap|ответ|відповідь|\\(?:boxed|fbox)\b|####|\bA[*_]{0,3}[ \t]{0,2}:|\boption|\bchoice/gi
// Every repetition is bounded, so the work per marker is.
const sayIs =
  /[ \t*_`"')\]]{0,8}(?:\([^()\n]{0,80}\)[ \t*_]{0,4})?(?:(?:to|for|of) (?:the|this|your) (?:\w{1,20}[ \t]{0,2}){1,3})?(?:choice|option|letter|number| finale?| final)?[ \t*_`]{0,6}(?:(:|=|→|->|=>|\||[-–—](?=[ \t]))|(?:is|was|are|would be|will be|should be|must be|equals|ist|lautet|est|es|è|é|jest|är|是|为|は)(?![A-Za-z])[ \t*_]{0,4}(?:therefore|thus|then|simply|exactly)?[ \t]{0,2}(:|=)?)/iy
const headingBefore = /^[\s#>*_`✅:-]{0,16}(?:\d{1,2}[.)][ \t]{0,2})?[*_]{0,3}(?:the )?(?:final |correct )?$/i
const headingAfter = /[ \t*_`#]{0,12}(?:\n|$)/y

/** How many marker words are looked at, from the end: a reply that says nothing at so many of them has no marker. */
const maxMarkers = 256

/** The marked answers of a text that was folded, the last one first, each read only when it is asked for. */
export function* lastMarked(text: string): Generator<Marked> {
  const places: Array<{ readonly at: number; readonly word: string }> = []
  words.lastIndex = 0
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    places.push({ at: match.index, word: match[0] })
    if (places.length > 8 * maxMarkers) places.splice(0, 7 * maxMarkers)
  }
  const closes = braces(text)
  let limit = text.length
  for (const { at, word } of places.slice(-maxMarkers).reverse()) {
    const marked = markedAt(text, at, word, limit, closes)
    if (marked === undefined) continue
    yield marked
    limit = at
  }
}

const markedAt = (
  text: string,
  at: number,
  word: string,
  limit: number,
  closes: ReadonlyMap<number, number>
): Marked | undefined => {
  const after = at + word.length
  const before = text.charAt(at - 1)
  if (word.startsWith("\\")) {
    let open = after
    while (open < after + 3 && /\s/.test(text.charAt(open))) open += 1
    const close = closes.get(open)
    return close === undefined ? undefined : { kind: "boxed", start: open + 1, end: close, strong: true }
  }
  if (word === "####") {
    const isHashes = (at === 0 || before === "\n" || before === " ") && text.charAt(after) !== "#"
    return isHashes ? segment(text, "hashes", after, limit, true) : undefined
  }
  if (word.endsWith(":")) {
    const isLetterA = word.startsWith("A") && (at === 0 || /[\s*_>]/.test(before))
    return isLetterA ? segment(text, "letterA", after, limit, true) : undefined
  }
  if (/[A-Za-z]/.test(before) && /^[a-z]/i.test(word)) return undefined
  const kind = /^(?:option|choice)$/i.test(word) ? "option" : "answer"
  sayIs.lastIndex = after
  const says = sayIs.exec(text)
  if (says !== null) {
    return segment(text, kind, sayIs.lastIndex, limit, says[1] !== undefined || says[2] !== undefined)
  }
  headingAfter.lastIndex = after
  const near = text.slice(Math.max(0, at - 40), at)
  const isHeading = headingAfter.test(text) && headingBefore.test(near.slice(near.lastIndexOf("\n") + 1))
  return isHeading && kind === "answer" ? segment(text, kind, after, limit, true) : undefined
}

/** The text behind a marker: the rest of its line, or the next line that says something. */
const segment = (
  text: string,
  kind: Marked["kind"],
  from: number,
  limit: number,
  strong: boolean
): Marked | undefined => {
  if (from > limit) return undefined
  let start = from
  while (start < limit && /[\s*_`✅]/.test(text.charAt(start))) start += 1
  let end = lineEnd(text, start, limit)
  if (text.charAt(end - 1) === ":" && end < limit) end = lineEnd(text, skipBlank(text, end, limit), limit)
  return { kind, start, end, strong }
}

const skipBlank = (text: string, from: number, limit: number): number => {
  let at = from
  while (at < limit && /\s/.test(text.charAt(at))) at += 1
  return at
}

/** For each `{` that is closed, where. One pass. */
const braces = (text: string): ReadonlyMap<number, number> => {
  const closes = new Map<number, number>()
  if (!/\\(?:boxed|fbox)/.test(text)) return closes
  const stack: Array<number> = []
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 92) at += 1
    else if (code === 123) stack.push(at)
    else if (code === 125) {
      const open = stack.pop()
      if (open !== undefined && /\\f?box(?:ed)?\s{0,2}$/.test(text.slice(Math.max(0, open - 9), open)))
        closes.set(open, at)
    }
  }
  return closes
}
