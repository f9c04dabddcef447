/**
 * The ReWOO plan reader, one tokenizer for both modes. Total and linear; never drops a line that looks like a call.
 *
 * @internal
 */
import * as EndMarks from "@forethought/core/reply/EndMarks"
import { visible } from "@forethought/core/reply/ReplyText"
import { unquote } from "../unquote.js"
import type { PlanIssue } from "./issues.js"
import { type Label, matchBrackets, maxLabels, scanLabels } from "./labels.js"
import {
  evidenceEnd,
  findInlinePlan,
  isMarkdownCode,
  isSpaceCode,
  type LineKind,
  lineEnd,
  lineKind,
  planMarkEnd,
  skipDecoration,
  skipSpaces
} from "./lines.js"
import {
  goesOn,
  hasOddLabel,
  isCall,
  isEvidenceCall,
  listedVariable,
  namesCall,
  startsWithVariable
} from "./suspects.js"
import { mentions, type Piece, splitReferences } from "./variables.js"

export type { Piece } from "./variables.js"

/** One step as the model wrote it. */
export interface ParsedStep {
  /** The text after `Plan:`, possibly of several lines. Several calls after one `Plan:` share it. Empty without one. */
  readonly reason: string
  /** `#E<n>`, with a capital E. */
  readonly variable: string
  /** The tool's name as written, without quotes, backticks, spaces around it and a trailing `()`. */
  readonly tool: string
  /** The text in the brackets, trimmed, without one matching outer pair of quotes. */
  readonly input: string
  /** The variables that the input mentions, each once, in order of first mention. */
  readonly references: ReadonlyArray<string>
  /** The input split at its references. */
  readonly pieces: ReadonlyArray<Piece>
  /** The closing bracket is missing: the input ends before the next line that starts a `Plan:` or a label. */
  readonly unclosed?: true
}

/** What a reply contains: the steps that can be read, in order, and what looks like a call but cannot. */
export interface PlanReading {
  readonly steps: ReadonlyArray<ParsedStep>
  readonly issues: ReadonlyArray<PlanIssue>
}

const how = "write each call as `#E1 = Tool[input]`."

/**
 * Reads a plan out of a whole reply. Reasoning blocks are dropped first; offsets count in what remains.
 *
 * - A step is `#E<n> = Tool[input]`; `:` or an arrow for `=` and `Tool(input)` for `Tool[input]` are read as well, with
 *   bullets, numbers and markdown around them, several on a line, with or without `Plan:` before.
 * - Brackets and quotes around the label make no difference: `(#E1) = Tool[input]`.
 * - Anything else that looks like a call is an issue: a missing `#`, a missing `=`, missing brackets, two calls in one.
 *   Outside reasons, so is every line with a variable and a `Word[`; in a reason, where no step has that variable.
 * - A `Question:` after the first step ends the plan; a call behind it is an issue, never a step.
 * - `Evidence:` and `Observation:` lines are ignored: only tools give evidence.
 * - More than 10,000 labels are not a plan: what follows them is an issue as a whole.
 */
export const readPlan = (reply: string): PlanReading => {
  const text = EndMarks.without(visible(reply))
  const labels = scanLabels(text)
  const beyond = labels[maxLabels]
  if (beyond === undefined) return new PlanReader(text).read(labels)
  labels.length = maxLabels
  const { issues, steps } = new PlanReader(text.slice(0, beyond.from)).read(labels)
  const line = text.slice(beyond.from, beyond.from + 400).trim()
  const rest: PlanIssue = { _tag: "Unreadable", line, at: beyond.from, why: "write fewer calls." }
  return { steps, issues: [...issues, rest] }
}

interface Draft {
  readonly reason: string
  readonly variable: string
  readonly tool: string
  readonly input: string
  readonly unclosed: boolean
}

const maxIssues = 1_000

class PlanReader {
  readonly issues: Array<PlanIssue> = []
  readonly drafts: Array<Draft> = []
  readonly defined = new Set<string>()
  reason = ""
  /** A `Plan:` line with something like a call in it. Harmless if a step follows, else a lost step. */
  suspect: { readonly from: number; readonly to: number } | undefined
  /** Text with something like a call for a variable: a lost step, unless some step has that variable. */
  readonly pending: Array<{ readonly variable: string; readonly from: number; readonly to: number }> = []
  inEvidence = false
  /** Behind a `Plan:` that has no step yet. */
  inPlan = false
  afterQuestion = false

  constructor(readonly text: string) {}

  /** So much is wrong already that the rest can only cost time: the plan is not valid, whatever follows. */
  get isHopeless(): boolean {
    return this.issues.length >= maxIssues
  }

  read(labels: ReadonlyArray<Label>): PlanReading {
    const { text } = this
    const closes = matchBrackets(text, labels)
    const boundaries = nextBoundaries(text, labels)
    let position = 0
    for (let index = 0; index < labels.length && !this.isHopeless; index += 1) {
      const label = labels[index]
      if (label === undefined || label.at < position) continue
      this.gap(position, Math.max(label.from, position), position > 0)
      if (label.head === undefined) {
        position = lineEnd(text, label.end, Math.max(labels[index + 1]?.from ?? text.length, label.end))
        // Prose about a variable that has its step: `Here #E1 = the results.`
        const isProse = this.defined.has(label.variable) && (this.inEvidence || !(label.startsLine || this.inPlan))
        if (!isProse || hasOddLabel(text, label.end, position, false)) this.unreadable(label.from, position, how)
        continue
      }
      this.list(label, position)
      const close = closes[index] ?? -1
      const end = close >= 0 ? close : this.unclosedEnd(label, labels, index, boundaries[index] ?? text.length)
      this.step(label, end, close < 0)
      position = close < 0 ? end : close + 1
    }
    this.gap(position, text.length, position > 0)
    this.settle()
    const isDefined = (variable: string) => this.defined.has(variable)
    const lost = new Set(this.issues.map((issue) => ("at" in issue ? issue.at : -1)))
    for (const { from, to, variable } of this.pending) {
      if (isDefined(variable) || lost.has(from)) continue
      lost.add(from)
      this.unreadable(from, to, how)
    }
    const steps = this.drafts.map(({ input, reason, tool, unclosed, variable }): ParsedStep => {
      const { pieces, references } = splitReferences(input, isDefined)
      return unclosed
        ? { reason, variable, tool, input, references, pieces, unclosed }
        : { reason, variable, tool, input, references, pieces }
    })
    return { steps, issues: this.issues }
  }

  step(label: Label, end: number, unclosed: boolean): void {
    const { head, variable } = label
    if (head === undefined) return
    if (this.afterQuestion) {
      if (this.defined.has(variable)) this.issues.push({ _tag: "DuplicateVariable", variable })
      else this.unreadable(label.from, end, "it belongs to another question; write one plan, for the question asked.")
      return
    }
    this.defined.add(variable)
    this.inEvidence = false
    this.inPlan = false
    this.suspect = undefined
    this.drafts.push({
      reason: this.reason,
      variable,
      tool: head.tool,
      input: unquote(this.text.slice(head.open + 1, end).trim()),
      unclosed
    })
  }

  /** An open input ends before the next line that starts a `Plan:`, a label or a question, or before the next call. */
  unclosedEnd(label: Label, labels: ReadonlyArray<Label>, index: number, boundary: number): number {
    const { text } = this
    const open = label.head?.open ?? label.end
    const next = labels[index + 1]
    const limit = Math.min(boundary, next?.from ?? text.length)
    let start = lineEnd(text, open, limit) + 1
    while (start < limit) {
      const end = lineEnd(text, start, limit)
      const kind = lineKind(text, start, skipDecoration(text, start, end), end)
      if (kind === "plan" || kind === "question" || kind === "evidence") return start
      start = end + 1
    }
    if (next !== undefined && next.from === limit && !next.startsLine) {
      const plan = findInlinePlan(text, open + 1, limit)
      if (plan !== -1) return plan
    }
    return Math.max(limit, open + 1)
  }

  /** Reads what stands between two calls: reasons, and whatever looks like a call but has no label. */
  gap(from: number, to: number, afterCall: boolean): void {
    const { text } = this
    let start = from
    if (from >= to) return
    if (afterCall && text.charCodeAt(from) !== 10) {
      const end = lineEnd(text, from, to)
      const plan = findInlinePlan(text, from, end)
      this.trailing(from, plan === -1 ? end : plan)
      if (plan !== -1) {
        this.plan(plan, end, to)
      }
      start = end + 1
    } else if (from === 0) {
      const end = lineEnd(text, 0, to)
      const content = skipDecoration(text, 0, end)
      const plan = findInlinePlan(text, 0, end)
      if (plan !== -1 && lineKind(text, 0, content, end) === "text") {
        this.plan(plan, end, to)
        start = end + 1
      }
    }
    while (start < to && !this.isHopeless) {
      const end = lineEnd(text, start, to)
      const content = skipDecoration(text, start, end)
      const kind = lineKind(text, start, content, end)
      if (kind === "plan") this.plan(content, end, to)
      else if (kind === "question") {
        if (this.drafts.length > 0) this.afterQuestion = true
      } else if (kind === "evidence") {
        if (isEvidenceCall(text, evidenceEnd(text, content), end)) this.unreadable(start, end, how)
        else this.inEvidence = true
      } else this.line(kind, start, content, end)
      start = end + 1
    }
  }

  /** A line of text between two calls. */
  line(kind: LineKind, start: number, content: number, end: number): void {
    const { text } = this
    if (content >= end) return
    if (this.inEvidence) {
      if (startsWithVariable(text, content, end) && hasOddLabel(text, content, end, true)) {
        this.unreadable(start, end, how)
      }
      return
    }
    const isReason = kind === "text" && this.inPlan
    if (
      (kind !== "ignored" && isCall(text, content, end)) ||
      hasOddLabel(text, content, end, isReason) ||
      goesOn(text, start, content, end) ||
      (namesCall(text, content, end) && (!isReason || startsWithVariable(text, content, end)))
    ) {
      this.unreadable(start, end, how)
    } else if (isReason) {
      this.mention(start, end)
    }
  }

  /** What a reason says about calls: the variables beside a `Word[` must be those of steps. */
  mention(from: number, to: number): void {
    if (!namesCall(this.text, from, to)) return
    for (const variable of mentions(this.text.slice(from, to))) this.pending.push({ variable, from, to })
  }

  /** A variable that is listed before a label, as in `#E1, #E2 = Tool[input]`, has no call of its own. */
  list(label: Label, position: number): void {
    const { text } = this
    const start = Math.max(position, label.line)
    const listed = listedVariable(text, start, label.at)
    if (listed === undefined) return
    const to = lineEnd(text, label.end, Math.min(label.end + 400, text.length))
    if (listed.at <= skipDecoration(text, start, label.at)) this.unreadable(start, to, how)
    else this.pending.push({ variable: listed.variable, from: listed.at, to })
  }

  /** A `Plan:` at `at`: its reason goes on until the next call, heading, question or `Plan:`. */
  plan(at: number, end: number, to: number): void {
    const { text } = this
    this.inEvidence = false
    this.inPlan = true
    this.settle()
    const from = Math.min(planMarkEnd(text, at), to)
    if (isCall(text, from, end, 1) || hasOddLabel(text, from, end, true)) this.unreadable(at, end, how)
    else {
      if (/[\p{L}_)]\[/u.test(text.slice(from, end))) this.suspect = { from: at, to: end }
      this.mention(at, end)
    }
    let stop = end
    let start = end + 1
    while (start < to) {
      const next = lineEnd(text, start, to)
      const kind = lineKind(text, start, skipDecoration(text, start, next), next)
      const isBlank = skipSpaces(text, start, next) >= next
      if (kind !== "text" && !isBlank) break
      stop = next
      start = next + 1
    }
    this.reason = trimReason(text, from, stop)
  }

  /** The last `Plan:` has no step of its own: if it holds a call, that call would be lost. */
  settle(): void {
    if (this.suspect !== undefined) this.unreadable(this.suspect.from, this.suspect.to, how)
    this.suspect = undefined
  }

  /** What follows a closing bracket on its line: punctuation and remarks, but no further call. */
  trailing(from: number, to: number): void {
    const { text } = this
    let at = from
    while (at < to && text.charCodeAt(at) === 93) at += 1
    const rest = text.slice(at, to)
    const start = skipSpaces(text, at, to)
    const char = text.charAt(start)
    const isUsed = start < to && (char === "[" || (char === "." && /[\p{L}\p{N}_]/u.test(text.charAt(start + 1))))
    if (isUsed || rest.includes("]") || /[\p{L}\p{N}_)]\[/u.test(rest) || hasOddLabel(text, at, to, false)) {
      let start = from
      while (start > 0 && start > from - 160 && text.charCodeAt(start - 1) !== 10) start -= 1
      this.unreadable(start, to, `the call goes on behind its bracket; ${how}`)
    }
  }

  unreadable(from: number, to: number, why: string): void {
    const line = this.text.slice(from, Math.min(to, from + 400)).trim()
    this.issues.push({ _tag: "Unreadable", line, at: from, why })
  }
}

/** For each label, where the next line that starts a step begins. */
const nextBoundaries = (text: string, labels: ReadonlyArray<Label>): ReadonlyArray<number> => {
  const boundaries = new Array<number>(labels.length)
  let next = text.length
  for (let index = labels.length - 1; index >= 0; index -= 1) {
    boundaries[index] = next
    const label = labels[index]
    if (label?.isBoundary === true) next = text.lastIndexOf("\n", label.at) + 1
  }
  return boundaries
}

const trimReason = (text: string, from: number, to: number): string => {
  let end = to
  while (end > from && (isMarkdownCode(text.charCodeAt(end - 1)) || "\n-–—→>(|".includes(text.charAt(end - 1))))
    end -= 1
  let start = from
  while (start < end && (isSpaceCode(text.charCodeAt(start)) || text.charCodeAt(start) === 10)) start += 1
  return text.slice(start, end)
}
