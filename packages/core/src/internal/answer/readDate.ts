/**
 * A calendar date out of an answer, as plain fields. No clock, no time zone.
 *
 * @internal
 */
import { type Finding, found, ignored, type Problem, problem } from "./finding.js"
import type { Marked } from "./markers.js"
import { isConclusion, isHedged, lastSentence, unitClass } from "./text.js"

/** Which of the first two numbers of `03/04/2024` is the day. Without it such a date is ambiguous. */
export type DateOrder = "dayFirst" | "monthFirst" | undefined

interface DateToken {
  readonly start: number
  readonly end: number
  readonly date?: string
  readonly problem?: Problem
}

const months = "january february march april may june july august september october november december".split(" ")
const weekdays = "sunday monday tuesday wednesday thursday friday saturday".split(" ")
const monthName =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\\.?"
const ordinal = "(\\d{1,2})(?:st|nd|rd|th)?"
const gap = "[ \\u00a0,./-]{1,3}"
const beforeYear = `${gap}(?:(?:of|in) (?:the year (?:of )?)?)?\\(?`
const yearFirst =
  /(\d{4})([-–/.])(\d{1,2})\2(\d{1,2})(?:[T ]\d{1,2}:[\d:.,]{2,15}(?: ?Z|[+-]\d\d:?\d\d)?)?(?![\d/-]|\.\d)/y
const chinese = /(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]/y
const yearLast = /(\d{1,2}) ?([-–/.]) ?(\d{1,2}) ?\2 ?(\d{4}|\d{2})(?![\d/-]|\.\d)/y
const monthDay = new RegExp(
  `${monthName}${gap}(?:the )?${ordinal}(?:${beforeYear}(\\d{4}|['’]?\\d{2})(?!\\d))?(?![\\d/])`,
  "iy"
)
const dayMonth = new RegExp(
  `${ordinal}(?: day)?${gap}(?:of )?${monthName}(?:${beforeYear}(\\d{4}|['’]?\\d{2})(?!\\d))?(?![\\d/])`,
  "iy"
)
const yearMonthDay = new RegExp(`(\\d{4})${gap}${monthName}${gap}${ordinal}(?!\\d)`, "iy")
const monthYear = new RegExp(`${monthName}${gap}(\\d{4})(?!\\d)`, "iy")
const compact = /(\d{4})(\d{2})(\d{2})(?!\d)/y
const weekdayBefore = /(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?[., ]{1,3}(?:the )?$/i

const look = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const daysIn = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31

const isDate = (year: number, month: number, day: number): boolean =>
  year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)

/** 0 is Sunday (Sakamoto's method). */
const weekdayOf = (year: number, month: number, day: number): number => {
  const shift = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4][month - 1] ?? 0
  const y = month < 3 ? year - 1 : year
  return (y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + shift + day) % 7
}

const iso = (year: number, month: number, day: number): string =>
  `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`

const monthNumber = (name: string): number => {
  const short = name.toLowerCase().slice(0, 3)
  return months.findIndex((month) => month.startsWith(short)) + 1
}

/** More dates than this have no single answer among them: the scan ends. */
const maxDates = 1000

const isWordUnit = unitClass(/[\p{Script=Latin}\d_]/u)

const scanDates = (text: string, from: number, to: number, order: DateOrder): ReadonlyArray<DateToken> => {
  const tokens: Array<DateToken> = []
  let at = from
  while (at < to && tokens.length < maxDates) {
    const isStart = canStart(text.charCodeAt(at)) && !isWordUnit(text.charCodeAt(at - 1))
    const token = isStart ? dateAt(text, at, order) : undefined
    if (token !== undefined && token.end <= to) {
      tokens.push(token)
      at = token.end
    } else {
      at += 1
    }
  }
  return tokens
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57

/** A digit, or the first letter of a month. */
const canStart = (code: number): boolean => isDigitCode(code) || "jfmasondJFMASOND".includes(String.fromCharCode(code))

const dateAt = (text: string, at: number, order: DateOrder): DateToken | undefined => {
  const token = (match: RegExpExecArray, year: string | undefined, month: number, day: number): DateToken => {
    const end = at + match[0].length
    if (year === undefined) return { start: at, end, problem: "malformed" }
    if (year.length !== 4) return { start: at, end, problem: "ambiguous" }
    if (!isDate(Number(year), month, day)) return { start: at, end, problem: "invalid_date" }
    const named = weekdayBefore.exec(text.slice(Math.max(0, at - 18), at))?.[1]?.toLowerCase()
    const weekday = weekdays[weekdayOf(Number(year), month, day)] ?? ""
    if (named !== undefined && !weekday.startsWith(named.slice(0, 3)))
      return { start: at, end, problem: "inconsistent" }
    return { start: at, end, date: iso(Number(year), month, day) }
  }
  let length = 0
  while (length < 9 && isDigitCode(text.charCodeAt(at + length))) length += 1
  if (length === 4) {
    const ymd = look(yearFirst, text, at)
    if (ymd !== null) return token(ymd, ymd[1], Number(ymd[3]), Number(ymd[4]))
    const other = look(chinese, text, at)
    if (other !== null) return token(other, other[1], Number(other[2]), Number(other[3]))
    const named = look(yearMonthDay, text, at)
    return named === null ? undefined : token(named, named[1], monthNumber(named[2] ?? ""), Number(named[3]))
  }
  if (length === 8) {
    const packed = look(compact, text, at)
    return packed === null ? undefined : token(packed, packed[1], Number(packed[2]), Number(packed[3]))
  }
  if (length === 1 || length === 2) {
    const dmy = look(dayMonth, text, at)
    if (dmy !== null) return token(dmy, dmy[3], monthNumber(dmy[2] ?? ""), Number(dmy[1]))
    const last = look(yearLast, text, at)
    return last === null ? undefined : ordered(last, at, order)
  }
  if (length > 0) return undefined
  const short = look(monthYear, text, at)
  if (short !== null) return { start: at, end: at + short[0].length, problem: "malformed" }
  const mdy = look(monthDay, text, at)
  return mdy === null ? undefined : token(mdy, mdy[3], monthNumber(mdy[1] ?? ""), Number(mdy[2]))
}

const ordered = (match: RegExpExecArray, at: number, order: DateOrder): DateToken => {
  const end = at + match[0].length
  const [first, second, year] = [Number(match[1]), Number(match[3]), match[4] ?? ""]
  if (year.length !== 4) return { start: at, end, problem: "ambiguous" }
  const dayFirst = isDate(Number(year), second, first) ? iso(Number(year), second, first) : undefined
  const monthFirst = isDate(Number(year), first, second) ? iso(Number(year), first, second) : undefined
  if (dayFirst === undefined && monthFirst === undefined) return { start: at, end, problem: "invalid_date" }
  // A month over 12 can only be a day; but 31/04 in a configured order is an impossible date, not another one.
  if (first > 12 || second > 12 || first === second) {
    const date = first > 12 ? dayFirst : second > 12 ? monthFirst : dayFirst
    return date === undefined ? { start: at, end, problem: "invalid_date" } : { start: at, end, date }
  }
  const date = order === "dayFirst" ? dayFirst : order === "monthFirst" ? monthFirst : undefined
  return date === undefined ? { start: at, end, problem: "ambiguous" } : { start: at, end, date }
}

const oneOf = (tokens: ReadonlyArray<DateToken>, at: number): Finding<string> => {
  const broken = tokens.find((token) => token.problem !== undefined)
  if (broken?.problem !== undefined) return problem(broken.problem, broken.start)
  const [first] = tokens
  if (tokens.length >= maxDates) return problem("ambiguous", at)
  if (first?.date === undefined) return problem("no_answer", at)
  return tokens.some((token) => token.date !== first.date) ? problem("ambiguous", first.start) : found(first.date)
}

/** The date that a marked text gives. */
export const dateInMarked = (text: string, marked: Marked, order: DateOrder): Finding<string> => {
  const { start, end } = marked
  if (/^(?:not|n't|never)\b/i.test(text.slice(start, Math.min(end, start + 8)))) return problem("ambiguous", start)
  const tokens = scanDates(text, start, end, order)
  const first = tokens[0]
  if (first === undefined) {
    if (isHedged(text.slice(start, end))) return problem("no_answer", start)
    const isHeading = marked.kind === "hashes" || !marked.strong
    return isHeading ? ignored : problem(/\d/.test(text.slice(start, end)) ? "malformed" : "no_answer", start)
  }
  // What stands in brackets or behind a reason is a remark.
  const remark = /[(;]| because | since | not |, which/.exec(text.slice(first.end, end))
  const stop = remark === null ? end : first.end + remark.index
  return oneOf(
    tokens.filter((token) => token.end <= stop),
    start
  )
}

/** The date of a text without a marker: its only one, or the only one of a last sentence that says `Therefore`. */
export const dateInPlain = (text: string, order: DateOrder): Finding<string> => {
  const tokens = scanDates(text, 0, text.length, order)
  if (tokens.length === 0 || isHedged(text)) return problem("no_answer", 0)
  const all = oneOf(tokens, 0)
  const last = lastSentence(text)
  if (all._tag === "Found" || !isConclusion(text, last)) return all
  return oneOf(
    tokens.filter((token) => token.start >= last),
    last
  )
}
