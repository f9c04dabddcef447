/**
 * Splits a line that holds several steps, as small models write them: `1. Open the file 2. Count the rows`.
 */

import { trim } from "../../reply/ReplyText.js"
import * as ListLine from "./ListLine.js"
import * as WeakLabels from "./WeakLabels.js"

interface Mark {
  readonly start: number
  readonly end: number
  readonly number: number
  /** How the label is written, without its number: all labels of a list are written alike. */
  readonly form: string
  readonly style: ListLine.Style
  /** Emphasis that starts with the label and ends in the step. */
  readonly open: string
}

/** A plan that is longer is not written on one line. */
const maxLength = 20_000

/**
 * The steps of a line whose labels run from `first` without a gap, each with words behind it, where that can be read in
 * one way only; undefined otherwise. At least `least` steps. `before`: whether text in front of the first label may
 * stand there; blanks and marks always may.
 */
export const split = (
  line: string,
  first: number,
  least: number,
  before: (lead: string) => boolean
): ReadonlyArray<string> | undefined => {
  if (line.length > maxLength) return undefined
  const whole = ListLine.withoutEmphasis(trim(line))
  const marks = marksOf(whole)
  const [one] = marks
  if (one === undefined) return undefined
  const lead = whole.slice(0, one.start)
  if (/[\p{L}\p{N}]/u.test(lead.replace(/\[[xX]\]\s{0,4}$/, "")) && !before(lead)) return undefined
  const own = marks.filter((mark) => mark.form === one.form)
  if (!runs(own, first)) return undefined
  // Another list inside this one would be a second way to read the line.
  const others = new Set(marks.map((mark) => mark.form))
  for (const form of others) {
    const those = marks.filter((mark) => mark.form === form)
    if (form !== one.form && those.length > 1 && runs(those, 1)) return undefined
  }
  const starts = [...own.map(({ end, open, start }) => ({ start, end, open })), ...lastOf(whole, own.at(-1)?.end ?? 0)]
  if (starts.length < least) return undefined
  const steps: Array<string> = []
  for (const [index, { end, open }] of starts.entries()) {
    const next = starts[index + 1]
    const rest = whole.slice(end, next?.start ?? whole.length)
    const written = open === "" ? rest : rest.replace(open, "")
    if (next !== undefined && index + 1 < own.length && !mayEnd(written, one.style, starts.length)) return undefined
    const step = ListLine.withoutEmphasis(trim(next === undefined ? written : withoutJoint(trim(written))))
    if (!words.test(step) || ListLine.isEmptyItem(step)) return undefined
    steps.push(step)
  }
  return sameCase(steps) ? steps : undefined
}

const runs = (marks: ReadonlyArray<Mark>, first: number): boolean =>
  marks.every((mark, index) => mark.number === first + index)

/**
 * All labels of a line. A label stands at its start, behind a blank or punctuation, or behind a script without blanks.
 */
const marksOf = (line: string): ReadonlyArray<Mark> => {
  const marks: Array<Mark> = []
  for (let at = 0; at < line.length; at += 1) {
    if (!mayStart(line, at)) continue
    const label = ListLine.labelIn(line, at) ?? WeakLabels.labelIn(line, at)
    if (label === undefined) continue
    marks.push({ ...label, start: at, form: formOf(line.slice(at, label.end)) })
    at = label.end - 1
  }
  return marks
}

const mayStart = (line: string, at: number): boolean => {
  const before = line.charAt(at - 1)
  if (before === "" || /[\s\u200b\u3000;；。，,、.!?！？)）】:："”]/u.test(before)) return true
  return /[\u3040-\u9fff\uac00-\ud7af]/u.test(before) && /[第步ステ手①-⑳❶-❿（]/u.test(line.charAt(at))
}

const formOf = (label: string): string =>
  label
    .replaceAll(/(?:[0-9０-９]|\ufe0f|\u20e3)+|[一二三四五六七八九十]+|[①-⑳❶-❿]/gu, "#")
    .replaceAll(/\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/giu, "#")
    .replaceAll(/[(（][^)）#]*[)）]|\s/gu, "")
    .toLowerCase()

/** The label of a last step, such as `Final step:`, behind the numbered ones. */
const lastOf = (line: string, from: number): ReadonlyArray<Pick<Mark, "start" | "end" | "open">> => {
  for (let at = from; at < line.length; at += 1) {
    if (!/[\s.;。；]/u.test(line.charAt(at - 1))) continue
    const last = ListLine.lastLabelIn(line, at)
    if (last !== undefined) return [{ start: at, end: last.end, open: "" }]
  }
  return []
}

const words = /^["'“‘`(«„[*_]{0,4}\p{L}/u

/** Words that a number goes with, so that no label stands behind them. */
const needsNumber: ReadonlySet<string> = new Set(
  "by to of in for with than from at on is are was equals or the a an about only exactly over under per minus plus times between see as until least most version ver v release fig figure eq equation chapter ch python java no nr number".split(
    " "
  )
)
const abbreviations: ReadonlySet<string> = new Set("v ver vs fig figs eq ch no nr p pp sec vol approx ca".split(" "))
/** Nouns that may go with a number: enough for doubt where the line has one label more and no other. */
const mayNeedNumber: ReadonlySet<string> = new Set(
  "page p section sec part item point row column line step task phase stage level grade class room gate question exercise problem appendix vol volume option table case day week month year route track round type".split(
    " "
  )
)
const joint =
  /[\s;；,，、|/·•→–—-]{0,6}(?:[\s,;](?:and then|and|then|und dann|und|dann|et|puis|y|luego|e|poi)\s{0,3})?$/iu

/** Returns whether a step can end in front of the next label: `Multiply by 2.` and `version 2.` go on. */
const mayEnd = (written: string, style: ListLine.Style, count: number): boolean => {
  const text = trim(written)
  const bare = trim(withoutJoint(text))
  if (style !== "plain" && style !== "chinese") return !needsNumber.has(lastWord(bare))
  // `1, 2, and 3.` and `1 and 2.` are numbers of a sentence.
  const isJoined = bare.length < text.length
  if (isJoined && /\p{N}$/u.test(bare)) return false
  if (isJoined && /\s\p{L}+$/u.test(text) && !/[,;]\s*\p{L}+(?:\s\p{L}+)?$/u.test(text)) return false
  if (abbreviations.has(lastWord(text.replace(/\.$/, ""))) && text.endsWith(".")) return false
  if (/[.!?。;；,，、:：)）"”]$/u.test(text) || isJoined) return true
  const last = lastWord(text)
  // `Look up RFC 2. Report`: with no third label, the number may belong to a name.
  if (count < 3 && /\s\S*\p{Lu}\S*$/u.test(text.slice(-40))) return false
  return !needsNumber.has(last) && !(count < 3 && mayNeedNumber.has(last))
}

const withoutJoint = (text: string): string => {
  const from = Math.max(0, text.length - 40)
  return text.slice(0, from) + text.slice(from).replace(joint, "")
}

const lastWord = (text: string): string => /(\p{L}+)$/u.exec(text.slice(-30))?.[1]?.toLowerCase() ?? ""

/** Where the first step starts with a capital, each does: a small letter goes on with a sentence. */
const sameCase = (steps: ReadonlyArray<string>): boolean => {
  const firsts = steps.map((step) => /\p{L}/u.exec(step.slice(0, 8))?.[0] ?? "")
  return !/\p{Lu}/u.test(firsts[0] ?? "") || firsts.every((letter) => !/\p{Ll}/u.test(letter))
}
