/**
 * Reads a plan: the numbered list of steps that a planner was asked for.
 */

import * as Either from "effect/Either"
import * as InlineList from "../internal/reply/InlineList.js"
import * as JsonRepair from "../internal/reply/JsonRepair.js"
import * as JsonText from "../internal/reply/JsonText.js"
import { group, type List, maxLists } from "../internal/reply/ListGroups.js"
import * as ListLine from "../internal/reply/ListLine.js"
import * as WeakLabels from "../internal/reply/WeakLabels.js"
import { isObject } from "../Json.js"
import { excerpt, ParseError } from "../ReplyError.js"
import * as EndMarks from "./EndMarks.js"
import * as JsonReply from "./JsonReply.js"
import { indented, trim, trimLines, unfence } from "./ReplyText.js"

const expected =
  'a numbered list with one step per line, such as "1. First step" and "2. Second step", with no other list beside it'

/** Words for what is wrong with a plan. */
export type Problem = "no_list" | "empty_plan" | "several_lists" | "too_long" | "inline_list" | JsonReply.Problem

/**
 * Reads the steps of a reply as received (see `ReplyText.visible` for what is dropped first), in order.
 *
 * - A step starts with a label at the start of a line (see `ListLine.read` for the forms), or directly behind an
 *   introduction such as `Plan:`. A number inside a sentence is never a label, and neither is one above 1 right behind
 *   prose: there a sentence was wrapped.
 * - Lines that follow without a blank line, and lines that are indented deeper, belong to their step, joined by a
 *   newline: sub-items too, which need one column where their numbering starts anew. A paragraph between two steps
 *   belongs to the first; one after the last step does not, unless the steps are headings and each before had one.
 * - Emphasis around a label or a whole step is removed; text is otherwise kept as it is written.
 * - Steps without text are dropped. `Final step:`, `Finally:` and their like in many languages label the last step.
 *   Tags around a plan and marks of its end (`</plan>`, `<end_plan>`, `[END]`) are not part of it.
 * - A whole plan on one line is split where its labels run from 1 without a gap, each has words behind it, and there is
 *   no other way to read it, see {@link readPlan}.
 * - Where no line is numbered, a list of bullets is the plan. So is a JSON array of strings, alone or as `plan` or
 *   `steps` of an object.
 * - Numbers may repeat (`1.` before each step) and skip. Where numbering starts anew there are several lists: equal
 *   lists are one; lists introduced as phases (`Phase 1:`) follow each other; the last one counts if it is introduced
 *   as final, revised, updated, corrected or improved; else the only one that is introduced as a plan or as steps.
 *   Otherwise nobody can say which one is meant.
 *
 * Fails with a `ParseError` whose `problem` is `empty_reply`, `no_list`, `empty_plan`, `several_lists`, `too_long`
 * (over 30,000 lines), `inline_list` (all steps on one line, which cannot be told apart), or one of `JsonReply.read`'s
 * when the plan is JSON.
 */
export const read = (text: string): Either.Either<ReadonlyArray<string>, ParseError<Problem>> =>
  Either.map(readPlan(text), ({ steps }) => steps)

/** The steps of a plan. `isInline`: they stood on one line, and were told apart by their labels. */
export interface Plan {
  readonly steps: ReadonlyArray<string>
  readonly isInline: boolean
}

/** {@link read} that says how the steps were written. */
export const readPlan = (text: string): Either.Either<Plan, ParseError<Problem>> => readShown(indented(text), text)

/**
 * {@link read} for text that has no thinking in it; `reply` is the reply as received. Steps on one line are refused.
 */
export const readVisible = (shown: string, reply: string): Either.Either<ReadonlyArray<string>, ParseError<Problem>> =>
  Either.flatMap(readShown(shown, reply), ({ isInline, steps }) =>
    isInline ? failWith(reply, "inline_list", `several steps on one line: ${excerpt(shown)}`) : Either.right(steps)
  )

const failWith = (reply: string, problem: Problem, found: string) =>
  Either.left(new ParseError({ problem, expected, found, reply }))

/** A plan whose line breaks were escaped once too often has them written out, and none that are real. */
const withLineBreaks = (text: string): string =>
  !text.includes("\n") &&
  /\\n\s{0,4}(?:[-*•]|\(?\d{1,3}[.):、]|step \d)/i.test(text) &&
  /^\W{0,4}(?:\d|step|[-*•])/i.test(text)
    ? text.replaceAll("\\n", "\n")
    : text

const readShown = (shown: string, reply: string): Either.Either<Plan, ParseError<Problem>> => {
  const body = trimLines(EndMarks.unwrapped(trimLines(unfence(withLineBreaks(shown)))))
  const fail = (problem: Problem, found: string) => failWith(reply, problem, found)
  const asPlan = Either.map((steps: ReadonlyArray<string>): Plan => ({ steps, isInline: false }))
  if (body === "") return fail("empty_reply", "an empty reply")
  if (startsPlan(body, JsonText.afterBlanks(body, 0))) return asPlan(readJson(body, reply))

  if (hasMoreLines(body, maxLines)) return fail("too_long", `more than ${maxLines} lines`)
  const lines = linesOf(body)
  splitIntroduction(lines)
  const lists = listsOf(lines)
  if (lists.length === 0 && JsonText.find(body, startsPlan).spans.length > 0) return asPlan(readJson(body, reply))
  const chosen = lists.length > 0 ? lists : weakLists(lines)
  const filled = chosen.filter((list) => list.items.length > 0)
  const items = choose(filled)
  if (items === undefined) {
    const [first, second] = [filled[0], filled.at(-1)].map((list) => excerpt(list?.items[0] ?? ""))
    return fail("several_lists", `several lists, starting with ${first} and with ${second}`)
  }
  const split = splitLines(lines, items)
  if (split !== undefined) return Either.right({ steps: split, isInline: true })
  const inline = inlineSteps(lines, items)
  if (inline !== undefined) return fail("inline_list", `several steps on one line: ${excerpt(inline)}`)
  if (chosen.length === 0) return fail("no_list", excerpt(shown))
  return items.every(ListLine.declines)
    ? fail("empty_plan", `a list without any ${items.length === 0 ? "text" : "step"}: ${excerpt(shown)}`)
    : Either.right({ steps: items, isInline: false })
}

/**
 * The steps of lines that hold several: of the only numbered line, of numbered lines whose labels have gaps that those
 * inside them fill, or of the only line that starts with a weak label or introduces its steps.
 */
const splitLines = (
  lines: ReadonlyArray<ListLine.ParsedLine>,
  items: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  const introduces = (lead: string) => !refuses(lead) && /[:：]\s*[*_]{0,3}\s*$/u.test(lead)
  const numbered = lines.filter((line) => line.kind === "number")
  const [only] = numbered
  if (numbered.length === 1 && only !== undefined) {
    return items.length === 1 && !items[0]?.includes("\n") ? InlineList.split(only.raw, 1, 2, introduces) : undefined
  }
  if (numbered.length > 1) {
    const hasGap = numbered.some((line, index) => index > 0 && line.number > (numbered[index - 1]?.number ?? 0) + 1)
    if (only?.number !== 1 || !hasGap || numbered.length !== items.length || items.some((item) => item.includes("\n")))
      return undefined
    const steps: Array<string> = []
    for (const line of numbered) {
      const found = InlineList.split(line.raw, steps.length + 1, 1, introduces)
      if (found === undefined) return undefined
      steps.push(...found)
    }
    return steps
  }
  if (items.length > 0) return undefined
  const announces = (lead: string) => namesPlan(lead) && !refuses(lead) && /[:：.。!！]\s*[*_]{0,3}\s*$/u.test(lead)
  const found = lines
    .filter((line) => line.kind === "text" || line.kind === "break")
    .slice(0, maxTried)
    .flatMap((line) => {
      const steps = InlineList.split(line.raw, 1, 2, announces)
      return steps === undefined ? [] : [steps]
    })
  return found.length === 1 ? found[0] : undefined
}

/** Maximum number of lines that are looked at for steps inside them. */
const maxTried = 50

/** No plan is that long: a longer text only costs time. */
const maxLines = 30_000

const hasMoreLines = (text: string, most: number): boolean => {
  let lines = 1
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) if (++lines > most) return true
  return false
}

/** An element of a JSON array that is not a step. */
export interface BadItem {
  readonly index: number
  /** Says which element it is, of how many, and quotes it. */
  readonly found: string
}

/**
 * The steps that a JSON array holds, see {@link elements}. Steps without text are dropped, and so are all where none is
 * more than words such as `No steps needed`. Left when an element is not a step.
 */
export const fromArray = (values: ReadonlyArray<unknown>): Either.Either<ReadonlyArray<string>, BadItem> => {
  const read = elements(values)
  const steps: Array<string> = []
  for (const index of values.keys()) {
    const found = read(index)
    if (Either.isLeft(found)) return Either.left(found.left)
    for (const step of found.right) steps.push(step)
  }
  return Either.right(steps.every(ListLine.declines) ? [] : steps)
}

/**
 * Reads an array's elements by their index. An element is a string, or an object with one text (`{"step": 1, "task":
 * "…"}`), numbers and fields such as `status`, `id` and `tool` aside. Where an object has several texts, every object
 * of the array must have the same one whose name is usual for a step; a description wins over a title or name beside
 * it. A text of several lines that is a list as a whole gives its items. Of any other, a label that repeats the
 * position (`"1. …"` at index 0) is removed. None when it says nothing.
 */
export const elements = (
  values: ReadonlyArray<unknown>
): ((index: number) => Either.Either<ReadonlyArray<string>, BadItem>) => {
  const key = stepKey(values)
  return (index) => {
    const value = values[index]
    const text = textOf(value, key)
    if (text === undefined) {
      const found = `item ${index + 1} of ${values.length} (index ${index}), which is not a step: ${excerpt(JSON.stringify(value) ?? "undefined")}`
      return Either.left({ index, found })
    }
    const items = itemsOf(text)
    if (items !== undefined) return Either.right(items)
    const item = ListLine.numbered(text)
    const step = item?.number === index + 1 && !isInline(item.text) ? item.text : text
    return Either.right(ListLine.isEmptyItem(step) ? [] : [step])
  }
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

/** Usual names of a field that holds a step's text. A description wins over what heads it; any others contradict. */
const stepKeys = ["description", "step", "task", "action", "text", "instruction", "name", "title"]
const headings: ReadonlySet<string> = new Set(["name", "title"])

/** Fields beside a step's text that say something about it, and are left out. */
const asides: ReadonlySet<string> = new Set(
  "id uuid key number no index order position priority state status done completed progress type kind tool tools toolname agent assignee assignedto owner role dependencies dependson depends requires after parent parentid reason rationale why thought reasoning confidence duration estimate estimatedtime expectedoutput expectedresult".split(
    " "
  )
)
/** Fields that a step would be incomplete without. */
const contents: ReadonlySet<string> = new Set(
  "input inputs query arguments args parameters params url path command code details detail substeps".split(" ")
)

const foldKey = (key: string): string => key.toLowerCase().replaceAll(/[_\-\s]/g, "")

/** The texts of an object that may be its step, by their folded names; undefined where it holds more than a step. */
const textsOf = (value: object): ReadonlyMap<string, string> | undefined => {
  const texts = new Map<string, string>()
  for (const [key, field] of Object.entries(value)) {
    const name = foldKey(key)
    if (asides.has(name)) continue
    if (typeof field === "object" && field !== null) return undefined
    const text = typeof field === "string" ? trim(field) : ""
    // `{"step": "Step 1", "task": "…"}`: a label alone is not text.
    if (!ListLine.isEmptyItem(text) && ListLine.numbered(text)?.text !== "") texts.set(name, text)
  }
  return texts
}

/**
 * The one field that holds the step in every object of an array, where there is one and an object has several texts.
 */
const stepKey = (values: ReadonlyArray<unknown>): string | undefined => {
  const objects = values.filter(isObject).map(textsOf)
  if (objects.every((texts) => texts === undefined || texts.size < 2)) return undefined
  const usual = stepKeys.filter((key) => objects.some((texts) => texts?.has(key) === true))
  const [key = ""] = usual
  const others = usual.slice(1)
  const isEverywhere = objects.every((texts) => texts?.has(key) === true)
  const isOnly = others.every((other) => key === "description" && headings.has(other))
  return isEverywhere && isOnly ? key : undefined
}

const textOf = (value: unknown, key: string | undefined): string | undefined => {
  if (typeof value === "string") return trim(value)
  const texts = isObject(value) ? textsOf(value) : undefined
  if (texts === undefined) return undefined
  if (key === undefined) return texts.size === 1 ? [...texts.values()][0] : undefined
  return [...texts.keys()].some((name) => contents.has(name)) ? undefined : texts.get(key)
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

const readJson = (body: string, reply: string): Either.Either<ReadonlyArray<string>, ParseError<Problem>> => {
  const fail = (problem: Problem, found: string) =>
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
    if (Either.isRight(items)) {
      return items.right.length > 0
        ? Either.right(items.right)
        : fail("empty_plan", `an empty array: ${excerpt(source)}`)
    }
    if (typeof only !== "object" || Array.isArray(only)) return fail("malformed", items.left.found)
  }
  return Either.flatMap(
    JsonReply.readVisible(body, reply, { keys: ["steps", "plan", "final_step", "last_step"], expected: jsonExpected }),
    ({ value }) => {
      const inner = JsonReply.named(value["plan"], ["steps"])?.["steps"]
      const places = [value["steps"], value["plan"], inner]
      const plan = places.find(Array.isArray)
      const text = plan === undefined ? places.find((place) => typeof place === "string") : undefined
      // The list may be encoded once more, as a text of its own.
      const listed = text === undefined ? undefined : Either.getOrUndefined(readVisible(text, reply))
      const items = plan === undefined ? listed && Either.right(listed) : fromArray(plan)
      if (items === undefined) return fail("malformed", `JSON without a list of steps: ${excerpt(body)}`)
      if (Either.isLeft(items)) return fail("malformed", items.left.found)
      const last = [value["final_step"], value["last_step"]].find((step) => typeof step === "string")
      const steps = last === undefined || ListLine.declines(trim(last)) ? items.right : [...items.right, trim(last)]
      return steps.length > 0 ? Either.right(steps) : fail("empty_plan", `a plan without steps: ${excerpt(body)}`)
    }
  )
}

const jsonExpected =
  'a numbered list with one step per line, or a JSON array of strings such as ["First step", "Second step"]'

// ---------------------------------------------------------------------------------------------------------------
// lists
// ---------------------------------------------------------------------------------------------------------------

const listsOf = (lines: ReadonlyArray<ListLine.ParsedLine>): ReadonlyArray<List> => {
  const numbered = group(lines, "number")
  return numbered.length > 0 ? numbered : bullets(lines)
}

/** Lists of labels that other texts have too: they stand alone or are introduced, and not as sources. */
const weakLists = (lines: ReadonlyArray<ListLine.ParsedLine>): ReadonlyArray<List> => {
  const found = WeakLabels.reread(lines)
  if (found === undefined) return []
  const isIntroduced = (lead: string) => /[:：][*_\s]*$/u.test(lead) || namesPlan(lead)
  return group(found, "number").filter(
    (list) => list.isAlone || (isIntroduced(list.lead) && !refuses(list.lead) && !namesSources(list.lead))
  )
}

/** A line that holds more than one step: the only step goes on with `2.`, or a list that starts later follows `1.`. */
const inlineSteps = (lines: ReadonlyArray<ListLine.ParsedLine>, items: ReadonlyArray<string>): string | undefined => {
  const [only = ""] = (items.length === 1 ? items[0] : "")?.split("\n", 1) ?? []
  const at = lines.findIndex((line) => line.kind === "number")
  if (isInline(only)) return only
  if (lines[at]?.style === "bracket" && /\s[(（]2[)）]/u.test(only)) return only
  const before = lines.slice(0, Math.max(0, at)).findLast((line) => line.kind !== "blank")?.text ?? ""
  return (lines[at]?.number ?? 0) > 1 && /(?:^|\s)1[.)]\s/.test(before) ? before : undefined
}

/** Returns whether the text of a first step goes on with the label of a second one. */
const isInline = (text: string): boolean =>
  /\s2[.)]\s|[\s;；。](?:2[、．）]|二、|②|2\ufe0f?\u20e3)|[;；。]\s?2[.)]|\s(?:step|task|phase|stage)\s2:\s|[\s;；。](?:第[二2]步|步骤[二2])/iu.test(
    text
  )

/** Each line as read. One by one: a list of a million short lines is not held twice. */
const linesOf = (body: string): Array<ListLine.ParsedLine> => {
  const lines: Array<ListLine.ParsedLine> = []
  for (let from = 0; from <= body.length; ) {
    const end = body.indexOf("\n", from)
    const to = end < 0 ? body.length : end
    lines.push(ListLine.read(body.slice(from, to)))
    from = to + 1
  }
  return lines
}

/** `Plan: 1. First step` starts a list when the next item is number 2, or when it says that it is the plan. */
const splitIntroduction = (lines: Array<ListLine.ParsedLine>): void => {
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

const bullets = (lines: ReadonlyArray<ListLine.ParsedLine>): ReadonlyArray<List> => {
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
  // Numbered sections of which the last is the plan: its list is the plan, not the sections.
  if (isPlanTitle(lists.at(-2)?.lastTitle ?? "")) return last.items
  if (lists.every((list) => namesPhase(list.lead))) return lists.flatMap((list) => list.items)
  if (namesLast(last.lead)) return last.items
  const plans = lists.filter((list) => namesPlan(list.lead))
  return plans.length === 1 ? plans[0]?.items : undefined
}
