/**
 * What the answer readers share: folding, hedges, sentences.
 *
 * @internal
 */

const folds: ReadonlyMap<number, string> = new Map([
  [0x2212, "-"],
  [0x2010, "-"],
  [0x2011, "-"],
  [0xff0d, "-"],
  [0xfe63, "-"],
  [0xff0b, "+"],
  [0xff0c, ","],
  [0xff0e, "."],
  [0xff05, "%"],
  [0xff04, "$"],
  [0xff1a, ":"],
  [0xff1d, "="],
  [0xff08, "("],
  [0xff09, ")"],
  [0xff0f, "/"],
  [0x2044, "/"],
  [0x3002, "."]
])

const tag =
  /<(\/)?(final[ _-]?answer|answer|response|result|output|final|option|choice|b|strong|em|i|u|p|span|code)(?:[ \t][^<>\n]{0,40})?\/?>/gi

/** Tags as blanks, and one that says that the answer follows as a marker of the same length: offsets stay the same. */
const withoutTags = (text: string): string =>
  text.replace(tag, (written: string, closes: string | undefined, name: string) =>
    closes === undefined && name.toLowerCase().endsWith("answer")
      ? `${` ${name}`.padEnd(written.length - 1)}:`
      : " ".repeat(written.length)
  )

/**
 * Full-width digits, letters and marks, and the minus sign, as ASCII, zero-width characters as blanks, and tags around
 * an answer as blanks or a marker, one for one: offsets stay the same.
 */
export const plainSigns = (text: string): string =>
  // One character class without repetition: linear.
  withoutTags(text).replace(
    /[\u200b-\u200d\u2060\ufeff\u2010\u2011\u2212\ufe63\uff0b-\uff1d\uff04\uff05\uff08\uff09\u2044\u3002\uff21-\uff3a\uff41-\uff5a]/g,
    (char) => {
      const code = char.charCodeAt(0)
      if ((code >= 0x200b && code <= 0x200d) || code === 0x2060 || code === 0xfeff) return " "
      if ((code >= 0xff10 && code <= 0xff19) || code >= 0xff21) return String.fromCharCode(code - 0xfee0)
      return folds.get(code) ?? char
    }
  )

/**
 * Returns whether a UTF-16 unit is in a character class, as a table that fills as units are met: a test of each
 * character of a long text would cost more than all else. A unit that is not there (NaN) is in no class.
 */
export const unitClass = (pattern: RegExp): ((code: number) => boolean) => {
  const known = new Uint8Array(0x10000)
  return (code) => {
    if (Number.isNaN(code)) return false
    if (known[code] === 0) known[code] = pattern.test(String.fromCharCode(code)) ? 2 : 1
    return known[code] === 2
  }
}

/** The end of the line that `at` is in, no further than `limit`. */
export const lineEnd = (text: string, at: number, limit: number): number => {
  let end = at
  while (end < limit && text.charCodeAt(end) !== 10) end += 1
  return end
}

/** Where the sentence that holds `at` ends: behind its full stop, or at `limit` or the line's end. */
export const sentenceEnd = (text: string, at: number, limit: number): number => {
  for (let end = at; end < limit; end += 1) {
    const char = text.charAt(end)
    if (char === "\n") return end
    if ((char === "." || char === "!" || char === "?") && endsSentence(text, end, limit)) return end
  }
  return limit
}

const endsSentence = (text: string, at: number, limit: number): boolean => {
  if (isAbbreviation(text, at)) return false
  let next = at + 1
  while (next < limit && next < at + 4 && "*_`\"')$".includes(text.charAt(next))) next += 1
  return next >= limit || /\s/.test(text.charAt(next))
}

/** Words whose full stop ends no sentence, and units, whose full stop ends none before a number or a small letter. */
const neverLast: ReadonlySet<string> = new Set(
  "approx appr appx aprox ca c circa env est abt vs v rem incl excl resp etwa ungef ок прибл".split(" ")
)
const shortUnits: ReadonlySet<string> = new Set(
  "ft in ins yd yds mi mm cm km m kg g mg lb lbs oz st gal gals qt qts pt pts tbsp tsp fl hr hrs h min mins sec secs s wk wks mo mos mth mths yr yrs d std sek tg mon deg doz dz mio mrd tsd mill bio тыс млн млрд мин сек руб kr fr pts ct cts".split(
    " "
  )
)

/** Returns whether the full stop at `at` belongs to an abbreviation that the sentence goes on behind. */
const isAbbreviation = (text: string, at: number): boolean => {
  if (text.charAt(at) !== ".") return false
  let start = at
  while (start > 0 && start > at - 8 && /\p{L}/u.test(text.charAt(start - 1))) start -= 1
  if (start === at) return false
  const word = text.slice(start, at).toLowerCase()
  if (neverLast.has(word)) return true
  return shortUnits.has(word) && /^[\s*_]{1,4}(?:[\d$€£(×x*+/&]|\p{Ll})/u.test(text.slice(at + 1, at + 8))
}

const marks = /(?:[ \u00a0\u2009\u202f~*_-]|\\[,;: ]|\\(?:text|textbf|mathrm|mbox)\{|\}|\((?:in )?){0,8}/y

/** Behind blanks, emphasis and LaTeX between a number and the word that goes with it. */
export const skipMarks = (text: string, at: number): number => {
  marks.lastIndex = at
  marks.test(text)
  return marks.lastIndex
}

/** Where the text's last sentence starts. */
export const lastSentence = (text: string): number => {
  const end = text.trimEnd().length - 1
  for (let at = end - 1; at > 0; at -= 1) {
    const char = text.charAt(at)
    if (char === "\n") return at + 1
    const isMark = char === "." || char === "!" || char === "?"
    if (isMark && /\s/.test(text.charAt(at + 1)) && !isAbbreviation(text, at)) return at + 1
  }
  return 0
}

const conclusion =
  /[\s*_>-]{0,8}(?:therefore|thus|so|hence|consequently|accordingly|in conclusion|in total|altogether|overall|finally|∴|因此|所以)[\s,:，]/iy

/** Returns whether a sentence says that it concludes: a marker of the answer as clear as a word can be. */
export const isConclusion = (text: string, at: number): boolean => {
  conclusion.lastIndex = at
  return conclusion.test(text)
}

const hedges = [
  "be determined",
  "cannot determine",
  "can't determine",
  "to determine",
  "enough information",
  "enough data",
  "insufficient",
  "cannot answer",
  "can't answer",
  "unable to answer",
  "cannot be answered",
  "can't be answered",
  "cannot be calculated",
  "cannot calculate",
  "cannot be found",
  "don't know",
  "do not know",
  "unknown",
  "undetermined",
  "not sure",
  "none of the",
  "none of these",
  "none of them",
  "no correct",
  "no answer",
  "not possible to",
  "impossible to",
  "not provided",
  "not given",
  "not specified",
  "not stated",
  "n/a",
  "无法确定"
]

/** Returns whether a text says that there is no answer. */
export const isHedged = (text: string): boolean => {
  const lower = text.toLowerCase().replaceAll("’", "'")
  return hedges.some((hedge) => lower.includes(hedge)) || /^[\s*_"'([]{0,8}none[\s*_"'.)\]]{0,8}$/.test(lower)
}
