/**
 * Reads a plan: the numbered list of steps that a planner was asked for.
 */
import * as Either from "effect/Either"
import { excerpt, ParseError } from "../ReplyError.js"
import * as JsonRepair from "./JsonRepair.js"
import * as JsonReply from "./JsonReply.js"
import * as JsonText from "./JsonText.js"
import { group, type List, maxLists } from "./ListGroups.js"
import * as ListLine from "./ListLine.js"
import { indented, trim, trimLines, unfence } from "./ReplyText.js"
import * as WeakLabels from "./WeakLabels.js"

const expected =
  'a numbered list with one step per line, such as "1. First step" and "2. Second step", with no other list beside it'

/**
 * Reads the steps of a reply as received (see `ReplyText.visible` for what is dropped first), in order.
 *
 * - A step starts with a label at the start of a line (see `ListLine.read` for the forms), or directly behind an
 *   introduction such as `Plan:`. A number inside a sentence is never a label, and neither is one above 1 right behind
 *   prose: there a sentence was wrapped.
 * - Lines that follow without a blank line, and lines that are indented deeper, belong to their step, joined by a
 *   newline: sub-items too, which need one column where their numbering starts anew. A paragraph between two steps belongs
 *   to the first; one after the last step does not, unless the steps are headings and each before had one.
 * - Emphasis around a label or a whole step is removed; text is otherwise kept as it is written.
 * - Steps without text are dropped.
 * - Where no line is numbered, a list of bullets is the plan. So is a JSON array of strings, alone or as `plan` or
 *   `steps` of an object.
 * - Numbers may repeat (`1.` before each step) and skip. Where numbering starts anew there are several lists: equal
 *   lists are one; lists introduced as phases (`Phase 1:`) follow each other; the last one counts if it is introduced
 *   as final, revised, updated, corrected or improved; else the only one that is introduced as a plan or as steps.
 *   Otherwise nobody can say which one is meant.
 *
 * Fails with a `ParseError` whose `problem` is `empty_reply`, `no_list`, `empty_plan`, `several_lists`, `too_long` (over 30,000 lines), `inline_list` (all
 * steps on one line), or one of `JsonReply.read`'s when the plan is JSON.
 */
export const read = (text: string): Either.Either<ReadonlyArray<string>, ParseError> =>
  readVisible(indented(text), text)

/** {@link read} for text that has no thinking in it; `reply` is the reply as received. */
export const readVisible = (shown: string, reply: string): Either.Either<ReadonlyArray<string>, ParseError> => {
  const body = trimLines(unfence(shown))
  const fail = (problem: string, found: string) => Either.left(new ParseError({ problem, expected, found, reply }))
  if (body === "") return fail("empty_reply", "an empty reply")
  if (startsPlan(body, JsonText.afterBlanks(body, 0))) return readJson(body, reply)

  if (hasMoreLines(body, maxLines)) return fail("too_long", `more than ${maxLines} lines`)
  const lines = linesOf(body)
  splitIntroduction(lines)
  const lists = listsOf(lines)
  if (lists.length === 0 && JsonText.find(body, startsPlan).spans.length > 0) return readJson(body, reply)
  const chosen = lists.length > 0 ? lists : weakLists(lines)
  const filled = chosen.filter((list) => list.items.length > 0)
  const items = choose(filled)
  if (items === undefined) {
    const [first, second] = [filled[0], filled.at(-1)].map((list) => excerpt(list?.items[0] ?? ""))
    return fail("several_lists", `several lists, starting with ${first} and with ${second}`)
  }
  const inline = inlineSteps(lines, items)
  if (inline !== undefined) return fail("inline_list", `several steps on one line: ${excerpt(inline)}`)
  if (chosen.length === 0) return fail("no_list", excerpt(shown))
  return items.every(ListLine.declines)
    ? fail("empty_plan", `a list without any ${items.length === 0 ? "text" : "step"}: ${excerpt(shown)}`)
    : Either.right(items)
}

/** No plan is that long: a longer text only costs time. */
const maxLines = 30_000

const hasMoreLines = (text: string, most: number): boolean => {
  let lines = 1
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) if (++lines > most) return true
  return false
}

/**
 * The steps that a JSON array holds, see {@link fromElement}. Steps without text are dropped, and so are all where none
 * is more than words such as `No steps needed`. Undefined when an element is no step.
 */
export const fromArray = (values: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined => {
  const steps: Array<string> = []
  for (const [index, value] of values.entries()) {
    const found = fromElement(value, index)
    if (found === undefined) return undefined
    for (const step of found) steps.push(step)
  }
  return steps.every(ListLine.declines) ? [] : steps
}

/**
 * The steps that an array's element holds: a string, or an object with one text (`{"step": 1, "task": "…"}`). A text of
 * several lines that is a list as a whole gives its items. Of any other, a label that repeats the position (`"1. …"` at
 * index 0) is removed. None when it says nothing, undefined when it is anything else.
 */
export const fromElement = (value: unknown, index: number): ReadonlyArray<string> | undefined => {
  const text = textOf(value)
  if (text === undefined) return undefined
  const items = itemsOf(text)
  if (items !== undefined) return items
  const item = ListLine.numbered(text)
  const step = item?.number === index + 1 && !isInline(item.text) ? item.text : text
  return ListLine.isEmptyItem(step) ? [] : [step]
}

/** The items of a text that starts as a list, if there are several. */
const itemsOf = (text: string): ReadonlyArray<string> | undefined => {
  const end = text.indexOf("\n")
  if (end < 0) return undefined
  const first = ListLine.read(text.slice(0, end))
  if (first.kind === "text" && !isPlanTitle(first.text)) return undefined
  const items = Either.getOrUndefined(readVisible(text, text))
  return items !== undefined && items.length > 1 ? items : undefined
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return trim(value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields: ReadonlyArray<unknown> = Object.values(value)
  if (fields.some((field) => typeof field === "object" && field !== null)) return undefined
  const texts = fields.filter((field) => typeof field === "string").map(trim)
  const told = texts.filter((text) => !ListLine.isEmptyItem(text))
  return told.length === 1 ? told[0] : undefined
}

// ---------------------------------------------------------------------------------------------------------------
// JSON
// ---------------------------------------------------------------------------------------------------------------

/** An object, or an array whose first element is a string, an object, an array, or missing. */
const startsPlan = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x5b) return JsonText.startsObject(text, at)
  const next = JsonText.afterBlanks(text, at + 1)
  const c = text.charCodeAt(next)
  return next >= text.length || c === 0x5d || c === 0x5b || JsonText.isQuote(c) || JsonText.startsObject(text, next)
}

const readJson = (body: string, reply: string): Either.Either<ReadonlyArray<string>, ParseError> => {
  const fail = (problem: string, found: string) =>
    Either.left(new ParseError({ problem, expected: jsonExpected, found, reply }))
  const found = JsonText.find(body, startsPlan)
  if (found.unfinishedAt !== undefined) {
    return fail("unfinished", `JSON that does not end: ${excerpt(body, found.unfinishedAt)}`)
  }
  if (found.tooDeepAt !== undefined) return fail("too_deep", "JSON that is nested too deep")
  const [span, ...more] = found.spans
  if (span !== undefined && more.length === 0 && body.charAt(span.start) === "[") {
    const source = body.slice(span.start, span.end)
    const value = found.doubtful > 0 ? undefined : (JsonRepair.parse(source) ?? JsonRepair.repair(body, span))
    if (!Array.isArray(value)) return fail("malformed", `JSON that cannot be read: ${excerpt(source)}`)
    const only: unknown = value.length === 1 ? value[0] : undefined
    const items = fromArray(Array.isArray(only) ? only : value)
    if (items === undefined && (typeof only !== "object" || Array.isArray(only))) {
      return fail("malformed", `an array of other things than texts: ${excerpt(source)}`)
    }
    if (items !== undefined) {
      return items.length > 0 ? Either.right(items) : fail("empty_plan", `an empty array: ${excerpt(source)}`)
    }
  }
  return Either.flatMap(
    JsonReply.readVisible(body, reply, { keys: ["steps", "plan"], expected: jsonExpected }),
    ({ value }) => {
      const inner = JsonReply.named(value["plan"], ["steps"])?.["steps"]
      const plan = [value["steps"], value["plan"], inner].find(Array.isArray)
      const items = plan === undefined ? undefined : fromArray(plan)
      if (items === undefined) return fail("malformed", `JSON without a list of steps: ${excerpt(body)}`)
      return items.length > 0 ? Either.right(items) : fail("empty_plan", `a plan without steps: ${excerpt(body)}`)
    }
  )
}

const jsonExpected =
  'a numbered list with one step per line, or a JSON array of strings such as ["First step", "Second step"]'

// ---------------------------------------------------------------------------------------------------------------
// lists
// ---------------------------------------------------------------------------------------------------------------

const listsOf = (lines: ReadonlyArray<ListLine.Line>): ReadonlyArray<List> => {
  const numbered = group(lines, "number")
  return numbered.length > 0 ? numbered : bullets(lines)
}

/** Lists of labels that other texts have too: they stand alone or are introduced, and not as sources. */
const weakLists = (lines: ReadonlyArray<ListLine.Line>): ReadonlyArray<List> => {
  const found = WeakLabels.reread(lines)
  if (found === undefined) return []
  const isIntroduced = (lead: string) => /[:：][*_\s]*$/u.test(lead) || namesPlan(lead)
  return group(found, "number").filter(
    (list) => list.isAlone || (isIntroduced(list.lead) && !refuses(list.lead) && !namesSources(list.lead))
  )
}

/** A line that holds more than one step: the only step goes on with `2.`, or a list that starts later follows `1.`. */
const inlineSteps = (lines: ReadonlyArray<ListLine.Line>, items: ReadonlyArray<string>): string | undefined => {
  const [only = ""] = (items.length === 1 ? items[0] : "")?.split("\n", 1) ?? []
  const at = lines.findIndex((line) => line.kind === "number")
  if (isInline(only)) return only
  if (lines[at]?.style === "bracket" && /\s[(（]2[)）]/u.test(only)) return only
  const before = lines.slice(0, Math.max(0, at)).findLast((line) => line.kind !== "blank")?.text ?? ""
  return (lines[at]?.number ?? 0) > 1 && /(?:^|\s)1[.)]\s/.test(before) ? before : undefined
}

/** Whether the text of a first step goes on with the label of a second one. */
const isInline = (text: string): boolean =>
  /\s2[.)]\s|[\s;；。](?:2[、．）]|二、|②|2\ufe0f?\u20e3)|[;；。]\s?2[.)]|\s(?:step|task|phase|stage)\s2:\s|[\s;；。](?:第[二2]步|步骤[二2])/iu.test(
    text
  )

/** Each line as read. One by one: a list of a million short lines is not held twice. */
const linesOf = (body: string): Array<ListLine.Line> => {
  const lines: Array<ListLine.Line> = []
  for (let from = 0; from <= body.length; ) {
    const end = body.indexOf("\n", from)
    const to = end < 0 ? body.length : end
    lines.push(ListLine.read(body.slice(from, to)))
    from = to + 1
  }
  return lines
}

/** `Plan: 1. First step` starts a list when the next item is number 2, or when it says that it is the plan. */
const splitIntroduction = (lines: Array<ListLine.Line>): void => {
  const at = lines.findIndex((line) => line.kind === "number")
  const last = at < 0 ? lines.length - 1 : at - 1
  for (let i = last; i >= 0; i--) {
    const line = lines[i]
    if (line === undefined || line.kind === "blank") continue
    const colon = line.text.search(/[:：]/)
    if (line.kind !== "text" || colon < 0 || colon > 60) return
    const lead = line.text.slice(0, colon + 1)
    // `**Plan:** 1.`: the emphasis belongs to the introduction.
    const rest = line.text.slice(colon + 1).replace(/^[*_]{1,3}(?=\s)/, "")
    const item = ListLine.numbered(trim(rest))
    if (item?.number !== 1 || !(lines[at]?.number === 2 || (at < 0 && namesPlan(lead)))) return
    const { indent, raw } = line
    lines.splice(
      i,
      1,
      { kind: "text", raw: lead, indent, text: lead, number: 0, style: "plain" },
      { kind: "number", raw, indent: lines[at]?.indent ?? indent, ...item }
    )
    return
  }
}

const bullets = (lines: ReadonlyArray<ListLine.Line>): ReadonlyArray<List> => {
  const lists = group(lines, "bullet")
  const [only] = lists
  // One bullet under a sentence is a remark, and bullets under a refusal are its reasons.
  const isRemark = lists.length === 1 && only?.items.length === 1 && !only.isAlone && !isPlanTitle(only.lead)
  return isRemark ? [] : lists.filter((list) => !refuses(list.lead))
}

const isPlanTitle = (lead: string): boolean =>
  ["plan", "theplan", "step", "steps", "计划", "步骤"].includes(lead.replaceAll(/[\s*_#:：]/g, "").toLowerCase())
const refuses = (lead: string): boolean =>
  /\b(?:no plan|no steps|cannot|can['’]t|unable|impossible|not possible|not needed|unnecessary)\b|无法|不能|不需要/iu.test(
    lead
  )
const namesPlan = (lead: string): boolean => /plan|step|schritt|étape|pasos|计划|計劃|計画|步骤|步驟|план/iu.test(lead)
const namesLast = (lead: string): boolean =>
  /final|revised|updated|corrected|improved|refined|最终|最終|修订|修正|改进/iu.test(lead)
const namesSources = (lead: string): boolean => /source|reference|citation|note|footnote|来源|參考|参考/iu.test(lead)
const namesPhase = (lead: string): boolean =>
  /(?:phase|stage|part|section|day|阶段|階段)\s*(?:\d|[ivx]+\b|one|two|three|[一二三四五])/iu.test(lead)

const choose = (lists: ReadonlyArray<List>): ReadonlyArray<string> | undefined => {
  const last = lists.at(-1)
  if (last === undefined) return []
  const same = (list: List) =>
    list.items.length === last.items.length && list.items.every((item, index) => item === last.items[index])
  if (lists.length > maxLists) return undefined
  if (lists.every(same)) return last.items
  if (lists.every((list) => namesPhase(list.lead))) return lists.flatMap((list) => list.items)
  if (namesLast(last.lead)) return last.items
  const plans = lists.filter((list) => namesPlan(list.lead))
  return plans.length === 1 ? plans[0]?.items : undefined
}
