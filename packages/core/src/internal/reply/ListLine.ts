/**
 * What one line of a list is: a numbered item, a bullet, a heading, or text. Knows how models write labels.
 */
import * as EndMarks from "../../reply/EndMarks.js"
import { isBlank, trim } from "../../reply/ReplyText.js"

export interface ParsedLine {
  readonly kind: "blank" | "number" | "bullet" | "break" | "text"
  /** The line as it stands, without blanks at its end. */
  readonly raw: string
  /** Columns before the first mark: a tab stops every 4 columns, a full-width space takes 2. */
  readonly indent: number
  /** What follows the label; for a line without label, the line itself, trimmed. */
  readonly text: string
  /** The number of a numbered item. */
  readonly number: number
  /** How the number is written: behind a word, in brackets, as a Chinese numeral, or plainly. */
  readonly style: Style
  /** What follows the label of a last step (`Final step:`) at the start of the line, where there is one. */
  readonly last?: Last
}

export type Style = "plain" | "word" | "bracket" | "chinese"

/** A line that starts with the label of a last step. */
export interface Last {
  /** What stands behind the label. */
  readonly text: string
  /** True if the label names a step (`Final step`), rather than only the order (`Finally`). */
  readonly namesStep: boolean
}

/**
 * Reads a line. A label is `1.` `1)` `(1)` `1:` `1 -` `1、` `１．` `①` `1️⃣` `Step 1:` `第一步：` `一、` `（一）`, and may stand
 * behind a quote mark, a heading mark, a bullet, a check box, and inside emphasis. Hierarchical numbers (`1.2`),
 * decimals and times of day are not labels. A `break` is a heading, a rule, a line that is bold as a whole, or a mark
 * such as a closing tag, which has no text.
 */
export const read = (source: string): ParsedLine => {
  const raw = trimEnd(source)
  let i = 0
  let indent = 0
  for (; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code === 0x3e) indent = 0
    else if (isBlank(code)) indent += width(code, indent)
    else break
  }
  const body = raw.slice(i)
  if (body === "") return { kind: "blank", raw, indent, text: "", number: 0, style: "plain" }

  const heading = body.startsWith("#") ? (/^#{1,6}(?=\s)/.exec(body)?.[0] ?? "") : ""
  const afterHeading = trim(body.slice(heading.length))
  const bullet = bulletLength(afterHeading)
  const afterBullet = bullet === 0 ? afterHeading : trim(afterHeading.slice(bullet))
  const item = numbered(afterBullet)
  if (item !== undefined) {
    return { kind: "number", raw, indent, text: item.text, number: item.number, style: item.style }
  }
  const label = lastLabel(afterBullet)
  const last = label === undefined ? {} : { last: label }
  if (heading !== "" || isRule(body) || isAllBold(body)) {
    return { kind: "break", raw, indent, text: trim(body), number: 0, style: "plain", ...last }
  }
  if (EndMarks.isMark(body)) return { kind: "break", raw, indent, text: "", number: 0, style: "plain" }
  return bullet > 0
    ? { kind: "bullet", raw, indent, text: withoutEmphasis(afterBullet), number: 0, style: "plain", ...last }
    : { kind: "text", raw, indent, text: trim(body), number: 0, style: "plain", ...last }
}

/** Returns whether a line, numbered or not, is a heading: by its mark, or because it is bold as a whole. */
export const isTitle = (raw: string): boolean => {
  const c = raw.charAt(0) === " " ? trim(raw).charAt(0) : raw.charAt(0)
  return c === "#" || (c === "*" && isAllBold(trim(raw)))
}

/** The number and text of a numbered item, or undefined when the text does not start with a label. */
export const numbered = (source: string): Pick<ParsedLine, "number" | "style" | "text"> | undefined => {
  const first = source.charCodeAt(0)
  const opener = first === 0x2a || first === 0x5f ? (/^(?:\*{1,3}|_{1,3})(?=\S)/.exec(source)?.[0] ?? "") : ""
  const label = labelAt(source, opener.length, opener)
  if (label === undefined) return undefined
  let rest = source.slice(label.end)
  if (opener !== "" && !label.closed) {
    const close = rest.indexOf(opener)
    if (close >= 0) rest = trimEnd(rest.slice(0, close)) + rest.slice(close + opener.length)
  }
  const text = withoutEmphasis(trim(rest))
  // `1. Step 1: x`: some models label twice.
  const again = labelAt(text, 0, "")
  const { number, style } = label
  const behind = again?.number === label.number ? trim(text.slice(again.end)) : text
  // `1. step 1` is labelled once, and says `step 1`; `1. 1.` says nothing.
  return { number, style, text: behind === "" && again?.style === "word" ? text : behind }
}

/** The label that starts at `at` inside a line. `open`: the emphasis that starts with it and ends in its item. */
export const labelIn = (
  text: string,
  at: number
): { readonly number: number; readonly style: Style; readonly end: number; readonly open: string } | undefined => {
  const opener = emphasis(text, at)
  const label = labelAt(text, at + opener.length, opener)
  return label === undefined || label.end === at ? undefined : { ...label, open: label.closed ? "" : opener }
}

/** Where the label of a last step that starts at `at` inside a line ends. */
export const lastLabelIn = (text: string, at: number): { readonly end: number } | undefined => {
  lastPattern.lastIndex = at
  return lastPattern.test(text) ? { end: lastPattern.lastIndex } : undefined
}

const lastLabel = (source: string): Last | undefined => {
  lastPattern.lastIndex = 0
  const label = lastPattern.exec(source)
  if (label === null) return undefined
  const opener = emphasis(source, 0)
  const rest = trim(source.slice(label[0].length))
  // What was opened before the label closes with it, or at the end of the step.
  const isOpen = opener !== "" && !label[0].slice(opener.length).includes(opener)
  const close = isOpen ? rest.indexOf(opener) : -1
  const body = close < 0 ? rest : trim(trimEnd(rest.slice(0, close)) + rest.slice(close + opener.length))
  return { text: withoutEmphasis(body), namesStep: label[1] !== undefined }
}

const emphasis = (text: string, at: number): string => {
  const c = text.charAt(at)
  if (c !== "*" && c !== "_") return ""
  let end = at
  while (end < at + 3 && text.charAt(end) === c) end++
  return isBlankAt(text, end) ? "" : text.slice(at, end)
}

/** Removes emphasis that surrounds the whole text; marks inside stay. */
export const withoutEmphasis = (text: string): string => {
  if (!text.startsWith("*") && !text.startsWith("_")) return text
  for (const mark of ["***", "**", "*", "___", "__", "_"]) {
    if (text.length <= mark.length * 2 || !text.startsWith(mark) || !text.endsWith(mark)) continue
    const inner = text.slice(mark.length, -mark.length)
    const isName = mark.startsWith("_") && !inner.includes(" ")
    return inner.includes(mark.charAt(0)) || isBlank(inner.charCodeAt(0)) || isName ? text : trim(inner)
  }
  return text
}

/**
 * Returns whether an item says nothing: no text, just a number, a number with punctuation behind it, or `N/A`, `None`.
 */
export const isEmptyItem = (text: string): boolean => {
  if (text === "") return true
  const first = text.charCodeAt(0)
  const isLetter = (first >= 0x41 && first <= 0x5a) || (first >= 0x61 && first <= 0x7a)
  const isWordForNothing = text.length < 12 && (!isLetter || "nuNU".includes(text.charAt(0))) && nothing.test(text)
  if (isLetter || isWordForNothing) return isWordForNothing
  let isNumber = true
  for (const c of text) {
    if (/[\s\p{Z}\p{Cf}]/u.test(c)) continue
    if (/\p{N}/u.test(c)) {
      if (!isNumber) return false
    } else if (/\p{P}/u.test(c)) isNumber = false
    else return false
  }
  return true
}

/** Returns whether an item says in place of a step that there is none, such as `No steps needed`. */
export const declines = (text: string): boolean => text.length < 60 && (isEmptyItem(text) || noStep.test(text))

const nothing = /^[("'`*_<[]{0,3}(?:n\/a|n\.a\.?|none|nil|null|undefined|无|無|なし)[)"'`*_>\].。!]{0,4}$/iu
const noStep =
  /^\W{0,3}(?:there (?:are|is) )?(?:no|not|none|nothing)(?: (?:further|more|additional|other|else|any|specific|extra))?(?: (?:steps?|actions?|plan|tasks?|tools?|tool calls?|work|planning))?(?: (?:is|are|was|were|to|at all))?(?: (?:needed|required|necessary|remaining|remains?|left|do|be done|available|applicable))?[\s.!)*_]{0,4}$|^(?:无需|不需要|没有|無需|沒有)(?:任何|其他)?(?:步骤|步驟|操作|计划|行动)?[。.]?$/iu

// ---------------------------------------------------------------------------------------------------------------
// labels
// ---------------------------------------------------------------------------------------------------------------

interface Label {
  readonly number: number
  readonly style: Style
  readonly end: number
  /** True if the emphasis that was opened before the label was closed with it. */
  readonly closed: boolean
}

/** What the last step is called in place of a number. A label needs a colon or a dash behind it. */
const lastSteps = [
  "(?:the |and |our )?(?:final|last|closing|concluding)(?: and (?:final|last))? (?:step|task|action|stage|phase|part)",
  "(?:step|task) (?:n|final|last)",
  "(?:letzter|abschließender|finaler) (?:schritt|punkt)|letzte aufgabe",
  "derni[eè]re (?:[eé]tape|tâche)|[eé]tape finale",
  "[uú]ltimo paso|[uú]ltima (?:tarea|etapa)|(?:paso|etapa) final",
  "[uú]ltimo passo|passo final",
  "ultim[oa] (?:passo|passaggio|fase|attività)|(?:passo|passaggio|fase) finale",
  "laatste (?:stap|taak)",
  "ostatni krok|ostatnie zadanie|poslední krok",
  "son adım",
  "sista steget|sidste trin|siste trinn|viimeinen vaihe",
  "последний шаг|финальный шаг|заключительный шаг|останній крок",
  "langkah terakhir|bước cuối(?: cùng)?",
  "(?:最后|最後|最终|最終)的?一?(?:步骤|步驟|步|个步骤|個步驟|任务)|最後のステップ|最終ステップ",
  "마지막 ?단계|최종 ?단계",
  "الخطوة (?:الأخيرة|النهائية)|अंतिम चरण"
]
/** Words that say no more than that this comes last. */
const lastWords = [
  "(?:and |then )?(?:finally|lastly)",
  "(?:and )?last(?: of all| but not least)?|final",
  "to (?:finish|conclude|wrap up)",
  "zum schluss|zum abschluss|zuletzt|schließlich|abschließend",
  "enfin|finalement|pour finir|pour conclure",
  "finalmente|por [uú]ltimo|para terminar|por fim",
  "infine|per finire",
  "tot slot|ten slotte|tenslotte",
  "na koniec|wreszcie|nakonec",
  "son olarak",
  "slutligen|til sidst|til slutt|lopuksi",
  "наконец|в конце|нарешті",
  "terakhir|cuối cùng",
  "最后|最後|最终|最終|最後に",
  "마지막으로",
  "أخيرا|अंत में"
]
const lastPattern = new RegExp(
  `(?:\\*{1,3}|_{1,3})?[(\\[【]?(?:(${lastSteps.join("|")})|${lastWords.join("|")})[)\\]】]?(?![\\p{L}\\p{N}])(?:[ ]?[(（](?:(?:step )?#?[0-9０-９]{1,3}(?:(?:/| of )[0-9]{1,3})?|[一二三四五六七八九十]{1,3})[)）]|[ ][0-9]{1,3})?(?:\\*{1,3}|_{1,3})?[ \\u00a0]{0,2}(?:[:：]|[–—→](?=\\s)|[-=]{1,2}>?(?=\\s)|[.)](?=\\s)|$)(?:\\*{1,3}|_{1,3})?`,
  "iuy"
)

const words =
  "step|task|schritt|aufgabe|[eé]tape|paso|tarea|passo|passaggio|stap|krok|adım|шаг|ステップ|手順|단계|步骤|步驟|任务"
const numberWords = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
const chineseDigits = "零一二三四五六七八九"

/** `Step 3 (final)`: that a step is the last one may stand behind its number. */
const final =
  "(?:[ ,–—-]{0,3}[(（\\[]?(?:the )?(?:final|last|letzter|letzte|derni[eè]re|finale|[uú]ltimo|[uú]ltima|ultimo|ultima|laatste|ostatni|son|последний|最后一步|最後|最后|最终|最終|마지막)(?: step)?[)）\\]]?(?=[*_ ]{0,4}[:：.–—-]))?"
const wordLabel = new RegExp(
  `[(\\[【]?(?:${words})[ \\t\\u00a0]{0,3}(?:#|n[or]\\.|nº|№)?[ \\t]?(?:([0-9０-９]{1,3})|([一二三四五六七八九十]{1,3})|(${numberWords.join("|")})(?![a-z]))(?:[ ]?(?:of|/)[ ]?[0-9]{1,3})?[)\\]】]?${final}`,
  "iuy"
)
const ordinalLabel =
  /第[ ]?(?:([0-9０-９]{1,3})|([一二三四五六七八九十]{1,3}))[ ]?(?:步骤|步驟|步|点|點|项|項|阶段|階段|个|個|ステップ)?(?:[（(](?:最后|最後|最终|最終)(?:一步)?[)）])?/uy
const countedLabel = /([0-9]{1,3})(?:단계|번째|\.?[ºª°])/uy
const bracketLabel = /[(（][ ]?(?:([0-9０-９]{1,3})\.?|([一二三四五六七八九十]{1,3}))[ ]?[)）]/uy
const digitsLabel = new RegExp(`#?([0-9０-９]{1,3})(?![0-9０-９])${final}`, "iuy")
const chineseLabel = /([一二三四五六七八九十]{1,3})(?=[、．.：:）)])/uy
const keycapLabel = /((?:[0-9]\ufe0f?\u20e3)+)/uy

const labelAt = (text: string, at: number, opener: string): Label | undefined => {
  const c = text.charCodeAt(at)
  if (!canStartLabel(c)) return undefined
  const simple = isDigitCode(c) ? simpleNumber(text, at) : -1
  if (simple > at) return closed(text, simple, opener, Number(text.slice(at, simple)), "plain", "required")
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  const circled = c >= 0x2460 && c <= 0x2473 ? c - 0x245f : c >= 0x2776 && c <= 0x277f ? c - 0x2775 : 0
  if (circled > 0) return closed(text, at + 1, opener, circled, "bracket", "optional")
  // The first character says which forms are possible: most lines then need one or two tries.
  const isDigit = isDigitCode(c)
  const keycap = isDigit ? match(keycapLabel) : null
  if (keycap !== null) {
    const digits = [...keycap[0]].filter((d) => d >= "0" && d <= "9").join("")
    return closed(text, at + keycap[0].length, opener, Number(digits), "plain", "optional")
  }
  const word = isDigit ? null : match(wordLabel)
  const isBracketed = word !== null && /[)\]】]$/.test(word[0])
  if (word !== null)
    return closed(text, at + word[0].length, opener, numberOf(word), "word", isBracketed ? "optional" : "orEnd")
  if ((c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a)) return undefined
  const counted = isDigit ? match(countedLabel) : null
  if (counted !== null) return closed(text, at + counted[0].length, opener, numberOf(counted), "word", "orEnd")
  const digits = match(digitsLabel)
  if (digits !== null) return closed(text, at + digits[0].length, opener, numberOf(digits), "plain", "required")
  const bracket = match(bracketLabel)
  if (bracket !== null) return closed(text, at + bracket[0].length, opener, numberOf(bracket), "bracket", "optional")
  const ordinal = match(ordinalLabel)
  if (ordinal !== null) return closed(text, at + ordinal[0].length, opener, numberOf(ordinal), "word", "orEnd")
  const chinese = match(chineseLabel)
  if (chinese === null) return undefined
  return closed(text, at + chinese[0].length, opener, chineseNumber(chinese[1] ?? ""), "chinese", "required")
}

const isAnyDigitCode = (code: number): boolean => isDigitCode(code) || (code >= 0xff10 && code <= 0xff19)
const isDigitCode = (code: number): boolean => code >= 0x30 && code <= 0x39

/**
 * Most lines of prose end here: of ASCII, only digits, `#`, `(`, `[` and the first letters of {@link words} start one.
 */
const canStartLabel = (code: number): boolean =>
  code >= 0x80 ||
  isDigitCode(code) ||
  code === 0x23 ||
  code === 0x28 ||
  code === 0x5b ||
  "stapekSTAPEK".includes(String.fromCharCode(code))

/** Where one to three digits before a plain `.`, `)` or `:` end, by far the most common label; else -1. */
const simpleNumber = (text: string, at: number): number => {
  let end = at
  while (end < at + 3 && isDigitCode(text.charCodeAt(end))) end++
  if (end === at) return -1
  const c = text.charCodeAt(end)
  if (c !== 0x2e && c !== 0x29 && c !== 0x3a) return -1
  // `1.º` counts too, and is longer.
  const next = text.charCodeAt(end + 1)
  return next === 0xba || next === 0xaa || next === 0xb0 ? -1 : end
}

/** Completes a label with what ends it, and with the emphasis that may close before or after that. */
const closed = (
  text: string,
  at: number,
  opener: string,
  number: number,
  style: Style,
  need: "required" | "orEnd" | "optional"
): Label | undefined => {
  let end = at
  let isClosed = false
  if (opener !== "" && text.startsWith(opener, end)) {
    end += opener.length
    isClosed = true
  }
  const stop = afterTerminator(text, end, need !== "required")
  if (stop < 0 && need !== "optional" && !(need === "orEnd" && end >= text.length)) return undefined
  if (stop >= 0) end = stop
  if (opener !== "" && !isClosed && text.startsWith(opener, end)) {
    end += opener.length
    isClosed = true
  }
  return { number, style, end, closed: isClosed }
}

/** Behind `.` `)` `:` `、` `-` and their like, or -1 where the number goes on or is part of a sentence. */
const afterTerminator = (text: string, at: number, afterWord: boolean): number => {
  const isDigit = (i: number) => isAnyDigitCode(text.charCodeAt(i))
  let i = text.charAt(at) === "\\" ? at + 1 : at
  const c = text.charAt(i)
  if (c !== "" && ".．。)）、:：,，|".includes(c)) {
    if (",，|。".includes(c) && !afterWord) return -1
    i++
    if (c === ")" || c === "）" || c === "、") return i
    if (isDigit(i)) return -1
    if (".．".includes(c)) {
      const d = text.charAt(i)
      if (")）:：、".includes(d) && d !== "") return i + 1
      if (d === "-" && isBlankAt(text, i + 1)) return i + 1
    }
    return i
  }
  while (i < text.length && isBlank(text.charCodeAt(i))) i++
  const d = text.charAt(i)
  if (afterWord && (d === "→" || /^[-=]>/.test(text.slice(i, i + 2)))) return d === "→" ? i + 1 : i + 2
  if (d === ":" || d === "：") return isDigit(i + 1) ? -1 : i + 1
  // `1 .`, with a blank on both sides; `3 . 14` is a number.
  if ((d === "." || d === ")") && i > at && isBlankAt(text, i + 1)) return isDigit(i + 2) ? -1 : i + 1
  if (d === "-" || d === "–" || d === "—" || d === "−") {
    if (!isBlankAt(text, i + 1) && (d === "-" || isDigit(i + 1))) return -1
    let next = i + 1
    while (next < text.length && isBlank(text.charCodeAt(next))) next++
    return isDigit(next) && !afterWord ? -1 : i + 1
  }
  return -1
}

const isBlankAt = (text: string, at: number): boolean => at >= text.length || isBlank(text.charCodeAt(at))

const numberOf = (match: RegExpExecArray): number => {
  if (match[1] !== undefined) return Number(match[1].normalize("NFKC"))
  if (match[2] !== undefined) return chineseNumber(match[2])
  return numberWords.indexOf((match[3] ?? "").toLowerCase()) + 1
}

const chineseNumber = (text: string): number => {
  const ten = text.indexOf("十")
  const digit = (c: string) => Math.max(0, chineseDigits.indexOf(c))
  if (ten < 0) return digit(text.charAt(0))
  return (ten === 0 ? 1 : digit(text.charAt(0))) * 10 + (ten + 1 < text.length ? digit(text.charAt(ten + 1)) : 0)
}

// ---------------------------------------------------------------------------------------------------------------
// other marks
// ---------------------------------------------------------------------------------------------------------------

const bulletPattern = /^(?:[-*+•‣◦▪▫●○■□◆·–—➤→]|\p{Extended_Pictographic}\ufe0f?)(?=\s|$)/u

const bulletLength = (text: string): number => {
  const c = text.charCodeAt(0)
  if (c < 0x80 && c !== 0x2d && c !== 0x2a && c !== 0x2b) return 0
  const bullet = bulletPattern.exec(text)?.[0].length ?? 0
  if (bullet === 0) return 0
  const box = /^\s{1,4}\[[ xX✓]?\](?=\s)/.exec(text.slice(bullet, bullet + 10))?.[0].length ?? 0
  return bullet + box
}

const isRule = (text: string): boolean =>
  "-*_=—".includes(text.charAt(0)) && /^(?:-{3,}|\*{3,}|_{3,}|={3,}|—{2,})$/.test(text)

const isAllBold = (text: string): boolean => {
  const body = text.endsWith(":") || text.endsWith("：") ? trimEnd(text.slice(0, -1)) : text
  return body.length > 4 && body.startsWith("**") && body.endsWith("**") && !body.slice(2, -2).includes("**")
}

const trimEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

const width = (code: number, column: number): number => {
  if (code === 0x09) return 4 - (column % 4)
  if (code === 0x3000) return 2
  return (code >= 0x200b && code <= 0x200f) || code === 0x2060 || code === 0xfeff ? 0 : 1
}
