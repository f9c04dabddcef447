/**
 * One of several options out of an answer.
 *
 * @internal
 */
import { type Finding, found, ignored, problem } from "./finding.js"
import type { Marked } from "./markers.js"
import { scanNumbers } from "./numbers.js"
import { type Hit, isCommonWord, isDenied, isDeterminer, isNegated, negation } from "./optionWords.js"
import { isConclusion, isHedged, lastSentence, sentenceEnd, unitClass } from "./text.js"

export interface OptionSpec<L extends string = string> {
  readonly label: L
  /** What the option says, where the caller knows. */
  readonly text?: string
}

/** Lower case, without punctuation and white space: how texts of options are compared. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.%+\-/]/gu, "")
    .replace(/\.$/, "")

const isOtherWordUnit = unitClass(/[\p{Script=Latin}\p{N}\p{M}]/u)
const isWordChar = (char: string): boolean => {
  const code = char.charCodeAt(0)
  if (code >= 0x80) return isOtherWordUnit(code)
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
}
const isLetter = (label: string): boolean => /^[A-Za-z]$/.test(label)

/** The longest label at `at`, in any case of letters, as a whole token. */
const labelAt = <L extends string>(
  text: string,
  at: number,
  options: ReadonlyArray<OptionSpec<L>>
): Hit<L> | undefined => {
  if (isWordChar(text.charAt(at - 1))) return undefined
  let best: Hit<L> | undefined
  for (const { label } of options) {
    const end = at + label.length
    if (label.length === 0 || (best !== undefined && end <= best.end)) continue
    if (isWordChar(text.charAt(end)) && isWordChar(text.charAt(end - 1))) continue
    if (/^\d[.,]\d$/.test(text.slice(end - 1, end + 2))) continue
    const here = text.slice(at, end)
    if (here === label || here.toLowerCase() === label.toLowerCase()) best = { label, start: at, end }
  }
  return best
}

const lead =
  /(?:[\s*_`"'“‘([{#✅>:=]|\$|\\[([]|\\(?:text|mathrm|mathbf|textbf)\{|(?:option|choice|letter|answer|statement)(?![a-z])){0,12}/iy
const tail = /[*_`"'”’)\]}$]{0,8}/y
/** What joins two labels: a word or a mark, in brackets or after emphasis. `not` and a reason join nothing. */
const joinWords =
  "and|or|und|oder|et|ou|o|y|e|and/or|as well as|but also|also|alternatively|else|even|plus|with|over|then|vs?\\.?|versus|to|through|maybe|perhaps|possibly|или|и|或者|或|和|及"
const joinMarks = "(?:--?|==?|<-?)>|[→⇒↔⟶➜⇔]|&&?|\\+|\\||/|\\\\(?![a-z])|[,;，；、·~–—-]"
const latex = "\\\\(?:text|textbf|mathrm|mathbf)\\{"
const closing = "[ \\t*_`)\\]}\"'“”‘’?$]"
const opening = `(?:[ \\t*_\`([{"'“”‘’$]|${latex})`
const joins = new RegExp(
  `^${closing}{0,6}(?:(?:\\n[ \\t]{0,3}(?=(?:and|or)\\b)|[([]|${latex}[ ]?|${joinMarks}|(?<=[\\s*_)\\]}{"'”’])(?:${joinWords})(?![A-Za-z])|[或和及])(?:${closing}|${opening}){0,5}){1,4}(?:(?:${joinWords})${opening}{1,4}){0,2}(?:option |choice )?|^${closing}{1,6}${opening}{0,4}`,
  "i"
)
/** A second label behind a full stop or on the next line, with nothing else there. */
const follows = /^[*_`)\]"'”’]{0,4}(?:\.{1,3}|…|\n)[ \t*_`("'“‘]{0,4}/
const ends = /^[ \t.)*_`"'”’]{0,8}(?:\n|$)/

/** The other label that a label is joined to, as in `A or D` and `A → D`. Not a label that a clause starts with. */
const joinedTo = <L extends string>(
  text: string,
  hit: Hit<L>,
  end: number,
  options: ReadonlyArray<OptionSpec<L>>
): Hit<L> | undefined => {
  const rest = text.slice(hit.end, hit.end + 60)
  const other = labelBehind(text, hit, joins.exec(rest), end, options)
  if (other !== undefined && !/^(?:\s+[a-z]|[-'’]\w)/.test(text.slice(other.end, end))) return other
  const next = labelBehind(text, hit, follows.exec(rest), end, options)
  return next !== undefined && ends.test(text.slice(next.end, next.end + 16)) ? next : undefined
}

const labelBehind = <L extends string>(
  text: string,
  hit: Hit<L>,
  join: RegExpExecArray | null,
  end: number,
  options: ReadonlyArray<OptionSpec<L>>
): Hit<L> | undefined => {
  if (join === null) return undefined
  const other = labelAt(text, hit.end + join[0].length, options)
  if (other === undefined || other.label === hit.label) return undefined
  if (other.start >= end && !join[0].includes("\n")) return undefined
  return isLetter(other.label) && text.slice(other.start, other.end) !== other.label ? undefined : other
}

/** The option that a marked text gives. */
export const optionInMarked = <L extends string>(
  text: string,
  marked: Marked,
  options: ReadonlyArray<OptionSpec<L>>
): Finding<L> => {
  const { start, end } = marked
  const body = text.slice(start, end)
  if (/^(?:not|n't)\b/i.test(body)) {
    const inSentence = inSentences(text, start, Math.min(end, sentenceEnd(text, start, end) + 1), options)
    return inSentence._tag === "Problem" && inSentence.problem === "no_option" && !marked.strong ? ignored : inSentence
  }
  const said = options.some((option) => option.text !== undefined) ? plain(body) : ""
  const exact = options.filter((option) => option.text !== undefined && said !== "" && plain(option.text) === said)
  const [only] = exact
  if (only !== undefined && exact.length === 1 && labelAt(text, start, options)?.end !== end) return found(only.label)
  lead.lastIndex = start
  lead.test(text)
  const from = Math.min(lead.lastIndex, end)
  const hit = labelAt(text, from, options)
  if (hit !== undefined && hit.end <= end) {
    const judged = weigh(text, hit, end, options, marked.kind)
    if (judged !== undefined) return judged
  }
  if (marked.kind === "boxed" || marked.kind === "letterA" || marked.kind === "hashes") return ignored
  const stop = Math.min(end, sentenceEnd(text, start, end) + 1)
  const inSentence = inSentences(text, start, stop, options)
  if (inSentence._tag === "Found" || inSentence.problem !== "no_option") return inSentence
  if (isHedged(text.slice(start, stop))) return problem("no_answer", start)
  return marked.strong && marked.kind === "answer" ? inSentence : ignored
}

/**
 * A label right behind a marker or at the start of a reply: an answer, an article, a list, or at odds with its text.
 */
const weigh = <L extends string>(
  text: string,
  hit: Hit<L>,
  end: number,
  options: ReadonlyArray<OptionSpec<L>>,
  kind: Marked["kind"] | "reply"
): Finding<L> | undefined => {
  tail.lastIndex = hit.end
  tail.test(text)
  const after = Math.min(tail.lastIndex, end)
  const rest = text.slice(after, end)
  const isEnd =
    /^\s*$|^[.,:;!)\]}–—-]|^\n|^\s+(?:because|since|as|for|with|is|which|due|rather than|instead of|(?:and )?not|[-–—(])/i.test(
      rest
    )
  const closed = /[)\]}*"'`]/.test(text.slice(hit.end, after))
  const written = text.slice(hit.start, hit.end)
  const opened = /[(["]\s{0,2}$/.test(text.slice(Math.max(0, hit.start - 3), hit.start))
  // A label in a formula: `\boxed{E = mc^2}`.
  if (kind === "boxed" && !/^\s*$|^[.):,}\s]|^\\[ ,;:!q]/.test(rest)) return undefined
  if (/^\s*\?/.test(rest) || isDenied(text, after, end) || isDeterminer(text, hit)) return undefined
  if ((kind === "letterA" || kind === "hashes") && !isEnd && !closed) return undefined
  const isOwnCase = !isLetter(hit.label) || written === hit.label || kind === "reply"
  if (isOwnCase && joinedTo(text, hit, end, options) !== undefined) return problem("ambiguous", hit.start)
  if (isLetter(hit.label)) {
    const isArticle = written.toLowerCase() === "a" || written === "I"
    if (!isEnd && !closed && !opened && (written !== hit.label || isArticle) && /^\s+[\p{L}]/u.test(rest))
      return undefined
    if (written !== hit.label && !isEnd && !closed) return undefined
    if (/^\^|^\\[A-Za-z]|^\s*[=<>]/.test(rest)) return undefined
  } else if (!isEnd && !closed && /^-\w/.test(rest)) {
    return undefined
  }
  return agrees(text, hit, end, options) ? found(hit.label) : problem("inconsistent", hit.start)
}

const remark =
  /^(?:because|since|as|see|i\.?e|the|which|this|that|correct|best|only|not|option|final|confidence|so)(?![a-z])/i

/**
 * Returns whether the text that is quoted behind a label is that option's text. Without known texts, everything agrees.
 */
const agrees = <L extends string>(
  text: string,
  hit: Hit<L>,
  end: number,
  options: ReadonlyArray<OptionSpec<L>>
): boolean => {
  const own = options.find((option) => option.label === hit.label)?.text
  if (own === undefined) return true
  const rest = text.slice(hit.end, Math.min(end, hit.end + own.length + 400))
  const quoted =
    /^[*_`"'”’)\]}$]{0,6}[.:]?[*_]{0,3}[ \t]{0,4}(?:[-–—:=][ \t]{1,4})?(?:\(([^()\n]{1,300})\)|([^\n]{1,300}))/.exec(
      rest
    )
  const said = (quoted?.[1] ?? quoted?.[2] ?? "").trim()
  const bare = plain(said)
  if (quotesOther(hit.label, said, options)) return false
  if (bare === "" || (quoted?.[1] === undefined && /^[,;]/.test(said))) return true
  const mine = plain(own)
  if (mine === bare || bare.startsWith(mine) || (bare.length > 2 && mine.startsWith(bare))) {
    // `11` is not the start of `110`.
    if (mine === bare || !/\d$/.test(mine.length < bare.length ? mine : bare) || sameNumber(said, own) !== false)
      return true
  }
  const numbers = sameNumber(said, own)
  if (numbers === true) return true
  if (options.some((option) => option.label !== hit.label && option.text !== undefined && plain(option.text) === bare))
    return false
  if (remark.test(said)) return true
  const isQuote = quoted?.[1] !== undefined || /^[*_`)\]}]{0,6}[).:\]]/.test(rest)
  return !isQuote || numbers === undefined ? !isQuote : false
}

/** Returns whether what is said behind a label is another option's text, and nothing else: `C, 11`. */
const quotesOther = <L extends string>(label: L, said: string, options: ReadonlyArray<OptionSpec<L>>): boolean => {
  const bare = plain(said.replace(/^[,;:–—-]\s*/, ""))
  return (
    bare !== "" &&
    options.some((option) => option.label !== label && option.text !== undefined && plain(option.text) === bare) &&
    options.every((option) => option.label !== label || option.text === undefined || plain(option.text) !== bare)
  )
}

/** Returns whether two texts begin with the same number; undefined where one has none. */
const sameNumber = (a: string, b: string): boolean | undefined => {
  const [first] = scanNumbers(a, 0, a.length, { suffixes: false })
  const [second] = scanNumbers(b, 0, b.length, { suffixes: false })
  if (first === undefined || second === undefined || first.problem !== undefined || second.problem !== undefined)
    return undefined
  return first.value === second.value
}

const clauseBreak =
  /[;\n]|[.!?](?=[\s*)]|$)|,? because |,? since |,? as (?=[("'*]{0,3}[A-Z][)"'*]{0,3} (?:is|was|has|does|would|can|cannot|isn't|fails|gives|says)\b)|,? but |,? so |,? hence |,? therefore |,? while |,? whereas |, (?=which |leaving )| leaving |,? (?:this |which )?leaves |,? we (?:get|find|obtain|have|conclude|are left with) |(?<!\b(?:is|are|was|be|it's))(?:,\s?|\s)(?=(?:and )?(?:not|rather than|instead of|as opposed to) (?:option |choice )?[("'*]{0,3}[A-Z](?![A-Za-z]))/gi
const isReason = /(?:because|since|as) $/i

/** The only option that a text speaks for, clause by clause: labels under a negation are not candidates. */
const inSentences = <L extends string>(
  text: string,
  from: number,
  to: number,
  options: ReadonlyArray<OptionSpec<L>>
): Finding<L> & { readonly _tag: "Found" | "Problem" } => {
  const labels = new Set<L>()
  let firstAt = from
  const body = text.slice(from, to)
  const hits = candidates(text, from, to, options)
  let next = 0
  let start = 0
  let inReason = false
  clauseBreak.lastIndex = 0
  while (next < hits.length && labels.size < 2) {
    const mark = clauseBreak.exec(body)
    const end = mark === null ? body.length : mark.index
    const inClause: Array<Hit<L>> = []
    for (let hit = hits[next]; hit !== undefined && hit.start < from + end; hit = hits[next]) {
      inClause.push(hit)
      next += 1
    }
    // A question speaks for nothing, nor does the reason for an option that was named before.
    const counts = mark?.[0] !== "?" && !(inReason && labels.size > 0)
    if (inClause.length > 0 && counts && !isNegated(text, from + start, from + end, inClause)) {
      if (labels.size === 0) firstAt = inClause[0]?.start ?? from
      for (const hit of inClause) labels.add(hit.label)
    }
    if (mark === null) break
    inReason = isReason.test(mark[0]) || (inReason && !/[.!?;\n]/.test(mark[0]))
    start = end + Math.max(1, mark[0].length)
    clauseBreak.lastIndex = start
  }
  const [label] = labels
  if (label === undefined) return { _tag: "Problem", problem: "no_option", at: from }
  return labels.size > 1 ? { _tag: "Problem", problem: "ambiguous", at: firstAt } : { _tag: "Found", value: label }
}

/** Enough mentions to see that there is no single answer. */
const maxHits = 1000

/** Labels that stand alone in a clause. A single letter counts in its own case only, and not as an article. */
const candidates = <L extends string>(
  text: string,
  from: number,
  to: number,
  options: ReadonlyArray<OptionSpec<L>>
): ReadonlyArray<Hit<L>> => {
  const hits: Array<Hit<L>> = []
  const starts = options.map(({ label }) => label.charAt(0)).join("")
  const firsts = new Set(`${starts.toLowerCase()}${starts.toUpperCase()}`)
  let inMath = false
  for (let at = from; at < to && hits.length < maxHits; at += 1) {
    const char = text.charAt(at)
    if (char === "\\") {
      at += 1
      while (/[a-zA-Z]/.test(text.charAt(at + 1)) && at + 1 < to) at += 1
      continue
    }
    if (char === "$") inMath = !inMath && text.indexOf("$", at + 1) !== -1
    if (inMath || !firsts.has(char) || isWordChar(text.charAt(at - 1))) continue
    const hit = labelAt(text, at, options)
    if (hit === undefined || hit.end > to) continue
    if (isLetter(hit.label)) {
      const written = text.slice(hit.start, hit.end)
      const before = text.slice(Math.max(0, at - 10), at)
      const isBracketed = /[([]\s?\*{0,2}$/.test(before) && /^\*{0,2}\s?[)\]]/.test(text.slice(hit.end, hit.end + 4))
      const isNamed = /(?:option|choice|letter|answer)\s{1,2}[*("]{0,3}$/i.test(before)
      if (written !== hit.label && !isNamed && !isBracketed) continue
      const after = text.slice(hit.end, hit.end + 3)
      const inFormula = /^\s?[=<>^_\\+/]/.test(after) || /[=<>^\\+{/]\s?$/.test(before)
      if (!inFormula && written === hit.label && joinedTo(text, hit, to, options) !== undefined) {
        hits.push(hit)
        continue
      }
      if (!isBracketed && (inFormula || /^['’-]\w/.test(after))) continue
      if (
        !isBracketed &&
        !isNamed &&
        (written === "A" || written === "I" || written === "a") &&
        /^\s[\p{L}\d]/u.test(after)
      ) {
        if (
          !/^\s(?:is|was|because|since|and|or|nor|but|if|has|can|not|rather|instead)\b/.test(
            text.slice(hit.end, hit.end + 9)
          )
        )
          continue
      }
    }
    if (isCommonWord(text, hit)) continue
    hits.push(hit)
    at = hit.end - 1
  }
  return hits
}

/** The option of a text without a marker: the whole reply is one, or a single one is spoken for. */
export const optionInPlain = <L extends string>(text: string, options: ReadonlyArray<OptionSpec<L>>): Finding<L> => {
  const body = text.trim()
  const said = options.some((option) => option.text !== undefined) ? plain(body) : ""
  const exact = options.filter((option) => option.text !== undefined && said !== "" && plain(option.text) === said)
  const [only] = exact
  if (only !== undefined && exact.length === 1) return found(only.label)
  lead.lastIndex = 0
  lead.test(text)
  const hit = labelAt(text, lead.lastIndex, options)
  const end = text.length
  if (hit !== undefined && joinedTo(text, hit, end, options) !== undefined) return problem("ambiguous", hit.start)
  const aside = options.length === 2 ? inBracketsAtEnd(text, options) : undefined
  if (aside !== undefined) return found(aside)
  if (hit !== undefined && !text.includes("\n")) {
    const rest = text.slice(hit.end, end)
    if (/^[\s*_`"'”’)\]}.:!$\\>]*$/.test(rest) || /^[*_`]{0,3}[).:\]](?!\w)/.test(rest) || /^\s*[(\d]/.test(rest)) {
      const others = candidates(text, hit.end, end, options).some((other) => other.label !== hit.label)
      if (!others) {
        const judged = weigh(text, hit, end, options, "reply")
        if (judged !== undefined) return judged
      }
    }
  }
  if (hit !== undefined && !isLetter(hit.label) && startsReply(text, hit, options)) return found(hit.label)
  const line = hit === undefined ? "" : text.slice(hit.end, Math.min(end, hit.end + 400)).split("\n", 1)[0]
  if (hit !== undefined && quotesOther(hit.label, line?.trim() ?? "", options))
    return problem("inconsistent", hit.start)
  const all = inSentences(text, 0, end, options)
  if (all._tag === "Found")
    return isHedged(text) && negation.test(text.slice(lastSentence(text))) ? problem("no_answer", 0) : all
  if (all.problem === "no_option") return problem(isHedged(text) ? "no_answer" : "no_option", 0)
  const last = lastSentence(text)
  return isConclusion(text, last) ? inSentences(text, last, end, options) : all
}

/** The word in brackets that a reply of one line ends in: `Not relevant (NO)`. A letter there may be anything. */
const inBracketsAtEnd = <L extends string>(text: string, options: ReadonlyArray<OptionSpec<L>>): L | undefined => {
  const body = text.trimEnd()
  const said = body.length > 200 || body.includes("\n") ? null : /[(（]\s?([^()\n]{2,20})\s?[)）][.!]?$/u.exec(body)
  const word = said?.[1]?.trim().toLowerCase()
  return options.find(({ label }) => !isLetter(label) && label.toLowerCase() === word)?.label
}

/** `Yes, …` and `No.` with reasons behind: the label is the reply, unless a later sentence starts with another one. */
const startsReply = <L extends string>(text: string, hit: Hit<L>, options: ReadonlyArray<OptionSpec<L>>): boolean =>
  /^[*_`"')]{0,4}(?:[,.;:!\n–—]| -|\s+(?:because|since)\b)/.test(text.slice(hit.end, hit.end + 16)) &&
  !candidates(text, hit.end, text.length, options).some(
    (other) =>
      other.label !== hit.label &&
      /[.!?\n][\s*_"']{0,4}(?:[A-Za-z]{1,12},? )?$/.test(text.slice(Math.max(0, other.start - 20), other.start))
  )
