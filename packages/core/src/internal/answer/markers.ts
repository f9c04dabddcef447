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

const words = /answer|答案|\\(?:boxed|fbox)\b|####|\bA[*_]{0,3}[ \t]{0,2}:|\boption|\bchoice/gi
// Every repetition is bounded, so the work per marker is.
const sayIs =
  /[ \t*_`"')\]]{0,8}(?:\([^()\n]{0,80}\)[ \t*_]{0,4})?(?:(?:to|for|of) (?:the|this|your) (?:\w{1,20}[ \t]{0,2}){1,3})?(?:choice|option|letter|number)?[ \t*_`]{0,6}(?:(:|=|→|->|=>|\||[-–—](?=[ \t]))|(?:is|was|are|would be|will be|should be|must be|equals|是|为)(?![A-Za-z])[ \t*_]{0,4}(?:therefore|thus|then|simply|exactly)?[ \t]{0,2}(:|=)?)/iy
const headingBefore = /^[\s#>*_`✅:-]{0,16}(?:\d{1,2}[.)][ \t]{0,2})?[*_]{0,3}(?:the )?(?:final |correct )?$/i
const headingAfter = /[ \t*_`#]{0,12}(?:\n|$)/y

/** The marked answers of a text that was folded, in order. Linear: no two of them overlap. */
export const findMarked = (text: string): ReadonlyArray<Marked> => {
  const found: Array<{
    readonly kind: Marked["kind"]
    readonly at: number
    readonly start: number
    readonly strong: boolean
    readonly close?: number
  }> = []
  words.lastIndex = 0
  const closes = braces(text)
  let inside = 0
  for (let match = words.exec(text); match !== null; match = words.exec(text)) {
    const word = match[0]
    const at = match.index
    const after = at + word.length
    if (word.startsWith("\\")) {
      let open = after
      while (open < after + 3 && /\s/.test(text.charAt(open))) open += 1
      const close = closes.get(open)
      if (close !== undefined && at >= inside) {
        found.push({ kind: "boxed", at, start: open + 1, strong: true, close })
        inside = close
        words.lastIndex = close
      }
    } else if (word === "####") {
      const before = text.charAt(at - 1)
      if ((at === 0 || before === "\n" || before === " ") && text.charAt(after) !== "#") {
        found.push({ kind: "hashes", at, start: after, strong: true })
      }
    } else if (word.endsWith(":")) {
      const before = text.charAt(at - 1)
      if (word.startsWith("A") && (at === 0 || /[\s*_>]/.test(before))) {
        found.push({ kind: "letterA", at, start: after, strong: true })
      }
    } else if (!/[A-Za-z]/.test(text.charAt(at - 1)) || word === "答案") {
      sayIs.lastIndex = after
      const says = sayIs.exec(text)
      const kind = /^(?:option|choice)$/i.test(word) ? "option" : "answer"
      if (says !== null) {
        const strong = says[1] !== undefined || says[2] !== undefined
        found.push({ kind, at, start: sayIs.lastIndex, strong })
        words.lastIndex = Math.max(words.lastIndex, sayIs.lastIndex)
      } else if (kind === "answer") {
        headingAfter.lastIndex = after
        const near = text.slice(Math.max(0, at - 40), at)
        const before = near.slice(near.lastIndexOf("\n") + 1)
        if (headingAfter.test(text) && headingBefore.test(before)) found.push({ kind, at, start: after, strong: true })
      }
    }
  }
  return found.map((marked, index): Marked => {
    if (marked.close !== undefined) return { kind: "boxed", start: marked.start, end: marked.close, strong: true }
    const limit = found[index + 1]?.at ?? text.length
    let start = marked.start
    while (start < limit && /[\s*_`✅]/.test(text.charAt(start))) start += 1
    let end = lineEnd(text, start, limit)
    if (text.charAt(end - 1) === ":" && end < limit) end = lineEnd(text, skipBlank(text, end, limit), limit)
    return { kind: marked.kind, start, end, strong: marked.strong }
  })
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
