/**
 * Reads a plan: the numbered list of steps that a planner was asked for.
 */
import * as Either from "effect/Either"
import { excerpt, ParseError } from "../ReplyError.js"
import * as JsonReply from "./JsonReply.js"
import * as JsonText from "./JsonText.js"
import * as ListLine from "./ListLine.js"
import { fenceLine, trim, unfence, visible } from "./ReplyText.js"

const expected =
  'a numbered list with one step per line, such as "1. First step" and "2. Second step", with no other list beside it'

/**
 * Reads the steps of a reply as received (see `ReplyText.visible` for what is dropped first), in order.
 *
 * - A step starts with a label at the start of a line (see `ListLine.read` for the forms), or directly behind an
 *   introduction such as `Plan:`. A number inside a sentence is never a label.
 * - Lines that follow without a blank line, and lines that are indented deeper, belong to their step, joined by a
 *   newline: sub-items too. A paragraph between two steps belongs to the first; one after the last step does not, unless
 *   each step before had one.
 * - Emphasis around a label or a whole step is removed; text is otherwise kept as it is written.
 * - Steps without text are dropped.
 * - Where no line is numbered, a list of bullets is the plan. So is a JSON array of strings, alone or as `plan` or
 *   `steps` of an object.
 * - Numbers may repeat (`1.` before each step) and skip. Where numbering starts anew there are several lists: equal
 *   lists are one; lists introduced as phases (`Phase 1:`) follow each other; the last one counts if it is introduced
 *   as final, revised, updated, corrected or improved; else the only one that is introduced as a plan or as steps.
 *   Otherwise nobody can say which one is meant.
 *
 * Fails with a `ParseError` whose `problem` is `empty_reply`, `no_list`, `empty_plan`, `several_lists`, `inline_list` (all
 * steps on one line), or one of `JsonReply.read`'s when the plan is JSON.
 */
export const read = (text: string): Either.Either<ReadonlyArray<string>, ParseError> => readVisible(visible(text), text)

/** {@link read} for text that is `visible` already; `reply` is the reply as received. */
export const readVisible = (shown: string, reply: string): Either.Either<ReadonlyArray<string>, ParseError> => {
  const body = trim(unfence(shown))
  const fail = (problem: string, found: string) => Either.left(new ParseError({ problem, expected, found, reply }))
  const steps = (items: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, ParseError> =>
    items.length === 0 ? fail("empty_plan", `a list without any text: ${excerpt(shown)}`) : Either.right(items)

  if (body === "") return fail("empty_reply", "an empty reply")
  if (startsPlan(body, 0)) return readJson(body, reply)

  const lines = body.split("\n").map(ListLine.read)
  splitIntroduction(lines)
  const lists = group(lines, "number")
  if (lists.length === 0) lists.push(...bullets(lines))
  if (lists.length === 0) {
    return JsonText.find(body, startsPlan).spans.length > 0 ? readJson(body, reply) : fail("no_list", excerpt(shown))
  }
  const filled = lists.filter((list) => list.items.length > 0)
  const items = choose(filled)
  if (items === undefined) {
    const [first, second] = [filled[0], filled.at(-1)].map((list) => excerpt(list?.items[0] ?? ""))
    return fail("several_lists", `several lists, starting with ${first} and with ${second}`)
  }
  const only = items.length === 1 ? items[0] : undefined
  if (only !== undefined && /\s2[.)]\s/.test(only)) return fail("inline_list", `steps on one line: ${excerpt(only)}`)
  return steps(items)
}

/**
 * The steps that a JSON array holds: strings, or objects with one text (`{"step": 1, "task": "…"}`). Steps without text
 * are dropped, and a label that repeats the position (`"1. …"`) is removed. Undefined when an element is anything else.
 */
export const fromArray = (values: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined => {
  const items: Array<string> = []
  for (const [index, value] of values.entries()) {
    const text = textOf(value)
    if (text === undefined) return undefined
    const item = ListLine.numbered(text)
    const step = item?.number === index + 1 ? item.text : text
    if (!ListLine.isEmptyItem(step)) items.push(step)
  }
  return items
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

/** An object, or an array whose first element is a string, an object, or missing. */
const startsPlan = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x5b) return JsonText.startsObject(text, at)
  const next = JsonText.afterBlanks(text, at + 1)
  const c = text.charCodeAt(next)
  return next >= text.length || c === 0x5d || JsonText.isQuote(c) || JsonText.startsObject(text, next)
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
    const value = JsonText.parse(source) ?? JsonText.repair(body, span)
    if (!Array.isArray(value)) return fail("malformed", `JSON that cannot be read: ${excerpt(source)}`)
    const items = fromArray(value)
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

interface List {
  /** The line before the list that introduces it, or the empty string. */
  readonly lead: string
  readonly items: ReadonlyArray<string>
  readonly isAlone: boolean
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
    const item = ListLine.numbered(trim(line.text.slice(colon + 1)))
    const lead = line.text.slice(0, colon + 1)
    if (item?.number !== 1 || !(lines[at]?.number === 2 || (at < 0 && namesPlan(lead)))) return
    const { indent, raw } = line
    lines.splice(
      i,
      1,
      { kind: "text", raw: lead, indent, text: lead, number: 0 },
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

const isPlanTitle = (lead: string): boolean => /^[\s*_#]*(?:plan|steps?|计划|步骤)[\s*_]*[:：]?[\s*_]*$/iu.test(lead)
const refuses = (lead: string): boolean =>
  /\b(?:no plan|no steps|cannot|can['’]t|unable|impossible|not possible|not needed|unnecessary)\b|无法|不能|不需要/iu.test(
    lead
  )
const namesPlan = (lead: string): boolean => /plan|step|schritt|étape|pasos|计划|計劃|計画|步骤|步驟|план/iu.test(lead)
const namesLast = (lead: string): boolean =>
  /final|revised|updated|corrected|improved|refined|最终|最終|修订|修正|改进/iu.test(lead)
const namesPhase = (lead: string): boolean =>
  /(?:phase|stage|part|section|day|阶段|階段)\s*(?:\d|[ivx]+\b|one|two|three|[一二三四五])/iu.test(lead)

const choose = (lists: ReadonlyArray<List>): ReadonlyArray<string> | undefined => {
  const last = lists.at(-1)
  if (last === undefined) return []
  if (lists.every((list) => list.items.join("\n") === last.items.join("\n"))) return last.items
  if (lists.every((list) => namesPhase(list.lead))) return lists.flatMap((list) => list.items)
  if (namesLast(last.lead)) return last.items
  const plans = lists.filter((list) => namesPlan(list.lead))
  return plans.length === 1 ? plans[0]?.items : undefined
}

interface Item {
  readonly number: number
  readonly text: string
  /** The lines that belong to the item, with their indentation. */
  readonly lines: Array<string>
  /** Whether a paragraph between this item and the next became part of it. */
  hasParagraph: boolean
}

/** Gathers the items of one kind into lists. One pass. */
const group = (lines: ReadonlyArray<ListLine.Line>, kind: "number" | "bullet"): Array<List> => {
  const lists: Array<{ readonly lead: string; readonly items: Array<Item>; isAlone: boolean }> = []
  let items: Array<Item> = []
  let item: Item | undefined
  let lead = ""
  let base = 0
  // Paragraphs after a blank line: whose they are is known when the next item, or none, follows.
  let held: Array<Array<string>> = []
  let afterBlank = false
  let isBroken = false
  let hasSubList = false
  let isAlone = true
  /** The fence whose content belongs to an item, and the one that a list stands in. */
  let inner: string | undefined
  let outer = false
  let previous: ListLine.Line | undefined

  const keep = (raw: string) => {
    if (item === undefined || isBroken) return
    if (!afterBlank) item.lines.push(raw)
    else held.at(-1)?.push(raw)
  }
  const finish = () => {
    // The last step has its paragraph where each step before has one: then it is no closing remark.
    const [first] = held
    const before = items.slice(0, -1)
    if (item !== undefined && first !== undefined && before.length > 0 && before.every((other) => other.hasParagraph)) {
      item.lines.push(...first)
    }
    item = undefined
    held = []
  }

  for (const [index, line] of lines.entries()) {
    const mark = fenceLine(line.raw)
    if (inner !== undefined) {
      keep(line.raw)
      if (mark?.mark === inner && mark.info === "") inner = undefined
      continue
    }
    if (mark !== undefined) {
      if (outer && mark.info === "") {
        outer = false
        isBroken = true
      } else if (item !== undefined && !isBroken) {
        inner = mark.mark
        if (afterBlank && line.indent < base + 2) held.push([])
        else afterBlank = false
        keep(line.raw)
      } else outer = true
      continue
    }
    if (line.kind === "blank") {
      if (item !== undefined) afterBlank = true
      previous = line
      continue
    }
    const deeper = item !== undefined && line.indent >= base + 2
    const lastNumber = item?.number ?? 0
    const isItem =
      line.kind === kind &&
      (item === undefined || isBroken
        ? kind === "bullet" || line.number === 1 || items.length > 0 || !isUnfinishedSentence(previous)
        : !deeper || (kind === "number" && line.number === lastNumber + 1 && !hasSubList))
    previous = line
    if (isItem) {
      const number = kind === "number" ? line.number : lastNumber + 1
      const hasProse = isBroken || held.length > 0
      const restarts =
        items.length > 0 &&
        (kind === "bullet" ? hasProse : number <= lastNumber && (hasProse || (number === 1 && lastNumber > 1)))
      if (restarts) {
        if (!isBroken) lead = trim(held.at(-1)?.at(-1) ?? "")
        finish()
        items = []
      } else if (item !== undefined && held.length > 0 && !isBroken) {
        item.lines.push(...held.flat())
        item.hasParagraph = true
      }
      if (items.length === 0) lists.push({ lead, items, isAlone })
      base = items.length === 0 ? line.indent : Math.min(base, line.indent)
      item = { number, text: line.text, lines: [], hasParagraph: false }
      items.push(item)
      held = []
      afterBlank = false
      isBroken = false
      hasSubList = false
      continue
    }
    if (item === undefined || isBroken) {
      lead = line.text
      isAlone = false
      continue
    }
    if (deeper) {
      if (line.kind === kind) hasSubList = true
      if (held.length === 0) afterBlank = false
      keep(line.raw)
    } else if (line.kind === "break" || introducesItem(lines, index, kind)) {
      isBroken = true
      lead = line.text
    } else if (!afterBlank || (item.text === "" && item.lines.length === 0)) {
      afterBlank = false
      keep(line.raw)
    } else {
      if (held.length === 0 || lines[index - 1]?.kind === "blank") held.push([])
      keep(line.raw)
    }
  }
  finish()
  return lists.map((list) => ({
    lead: list.lead,
    isAlone: list.isAlone && lists.length === 1,
    items: list.items.map(textOfItem).filter((text) => !ListLine.isEmptyItem(text))
  }))
}

/** A line that ends in a colon and stands right before an item introduces a list rather than going on with a step. */
const introducesItem = (lines: ReadonlyArray<ListLine.Line>, at: number, kind: "number" | "bullet"): boolean => {
  const text = lines[at]?.text ?? ""
  if (lines[at]?.kind !== "text" || !(text.endsWith(":") || text.endsWith("："))) return false
  const next = lines[at + 1]?.kind === "blank" ? lines[at + 2] : lines[at + 1]
  return next?.kind === kind && next.indent <= (lines[at]?.indent ?? 0) + 1
}

/** A number after an unfinished line of prose is that sentence's, wrapped: only `1.` may start a list there. */
const isUnfinishedSentence = (line: ListLine.Line | undefined): boolean =>
  line !== undefined && line.kind === "text" && !/[.!?:;…。！？：；]$/u.test(line.text)

const textOfItem = (item: Item): string => {
  const indents = item.lines.filter((line) => line !== "").map((line) => line.search(/\S|$/))
  const common = indents.length === 0 ? 0 : indents.reduce((a, b) => Math.min(a, b))
  return trim([item.text, ...item.lines.map((line) => line.slice(common))].join("\n"))
}
