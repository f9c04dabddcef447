/**
 * Gathers the lines of a text into lists: which lines belong to which item, and where one list ends and another starts.
 */

import { fenceLine, trim } from "../../reply/ReplyText.js"
import * as ListLine from "./ListLine.js"

export interface List {
  /** The line before the list that introduces it, or the empty string. */
  readonly lead: string
  /** Items that say something. */
  readonly items: ReadonlyArray<string>
  /** True if no text stands before it. */
  readonly isAlone: boolean
  /** The text of the last of several headings, where all items are headings: the next list may stand under it. */
  readonly lastTitle: string
}

interface Item {
  readonly number: number
  readonly text: string
  /** The lines that belong to the item, with their indentation. */
  readonly lines: Array<string>
  /** True if its line is a heading, so that what follows is its section. */
  readonly isTitle: boolean
  /** True if a paragraph between this item and the next became part of it. */
  hasParagraph: boolean
}

/** More lists than this have no single plan among them: the pass ends. */
export const maxLists = 1_000

/**
 * Gathers the items of one kind into lists, in order, and one more than {@link maxLists} at the most. Lines of the
 * other kind are text. One pass.
 */
export const group = (lines: ReadonlyArray<ListLine.ParsedLine>, kind: "number" | "bullet"): Array<List> => {
  const lists: Array<{ readonly lead: string; readonly items: Array<Item>; isAlone: boolean }> = []
  let items: Array<Item> = []
  let item: Item | undefined
  let lead = ""
  let base = 0
  let style: ListLine.Style = "plain"
  // Paragraphs after a blank line: whose they are is known when the next item, or none, follows.
  let held: Array<Array<string>> = []
  let afterBlank = false
  let isBroken = false
  /** The indentation of the item's first sub-item. */
  let sub: number | undefined
  let isAlone = true
  /** The fence whose content belongs to an item, and the one that a list stands in. */
  let inner: string | undefined
  let outer = false
  let previous: ListLine.ParsedLine | undefined
  /** The number of the last line whose number belongs to a sentence. */
  let wrapped: number | undefined

  const keep = (raw: string) => {
    if (item === undefined || isBroken) return
    if (!afterBlank) item.lines.push(raw)
    else held.at(-1)?.push(raw)
  }
  const finish = () => {
    // Under headings the last step has its section where each step before has one. Elsewhere it is a closing remark.
    const [first] = held
    if (item?.isTitle === true && first !== undefined && items.length > 1) {
      const last = item
      if (items.every((other) => other.isTitle && (other === last || other.hasParagraph)))
        for (const line of first) last.lines.push(line)
    }
    item = undefined
    if (held.length > 0) held = []
  }

  for (let index = 0; index < lines.length && lists.length <= maxLists; index++) {
    const written = lines[index]
    if (written === undefined) continue
    const isOpen = inner === undefined && !isBroken && (held.length === 0 || written.last?.namesStep === true)
    const before = isOpen && isLastStep(lines, index, base) ? item : undefined
    const line: ListLine.ParsedLine =
      before === undefined
        ? written
        : { ...written, kind, text: written.last?.text ?? "", number: before.number + 1, style, indent: base }
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
    const lastNumber = item?.number ?? 0
    const isNumber = line.kind === "number" && kind === "number"
    // A single column is enough where numbering starts anew, and for what goes on with it.
    const isSubItem =
      isNumber && line.indent > base && (line.number <= lastNumber || (sub !== undefined && line.indent >= sub))
    const deeper = item !== undefined && (line.indent >= base + 2 || isSubItem)
    const startsList = item === undefined || isBroken
    const isWrapped =
      isNumber &&
      (startsList
        ? items.length === 0 && line.number > 1 && (line.number - 1 === wrapped || isSentence(previous, line))
        : afterBlank && line.number > lastNumber + 1 && isUnfinished(previous))
    const isItem =
      line.kind === kind &&
      !isWrapped &&
      (startsList ||
        (!deeper && (kind === "bullet" || line.style === style)) ||
        (isNumber && line.number === lastNumber + 1 && sub === undefined))
    if (isWrapped) wrapped = line.number
    previous = isWrapped ? { ...line, kind: "text" } : line
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
        for (const paragraph of held) for (const line of paragraph) item.lines.push(line)
        item.hasParagraph = true
      }
      base = items.length === 0 ? line.indent : Math.min(base, line.indent)
      if (items.length === 0) style = line.style
      item = { number, text: line.text, lines: [], isTitle: ListLine.isTitle(line.raw), hasParagraph: false }
      if (items.length === 0) {
        items = [item]
        lists.push({ lead, items, isAlone })
      } else items.push(item)
      if (held.length > 0) held = []
      afterBlank = false
      isBroken = false
      sub = undefined
      continue
    }
    if (item === undefined || isBroken) {
      if (line.kind === "break" && line.text === "") continue
      lead = line.text
      isAlone = false
      continue
    }
    if (!isWrapped && (deeper || line.kind === kind)) {
      if (line.kind === kind) sub ??= line.indent
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
  return lists.map(({ isAlone, items, lead }) => ({
    lead,
    isAlone: isAlone && lists.length === 1,
    lastTitle: items.length > 1 && items.every((item) => item.isTitle) ? (items.at(-1)?.text ?? "") : "",
    items: items.map(textOfItem).filter((text) => !ListLine.isEmptyItem(text))
  }))
}

/**
 * Returns whether a line is a last step under a label of its own: no deeper than the list, with text behind it or
 * below.
 */
const isLastStep = (lines: ReadonlyArray<ListLine.ParsedLine>, at: number, base: number): boolean => {
  const line = lines[at]
  if (line?.last === undefined || line.indent >= base + 2) return false
  if (line.last.text !== "") return true
  const next = lines[at + 1]?.kind === "blank" ? lines[at + 2] : lines[at + 1]
  return next?.kind === "text" || next?.kind === "bullet"
}

/** A line that ends in a colon and stands right before an item introduces a list rather than going on with a step. */
const introducesItem = (lines: ReadonlyArray<ListLine.ParsedLine>, at: number, kind: "number" | "bullet"): boolean => {
  const text = lines[at]?.text ?? ""
  if (lines[at]?.kind !== "text" || !(text.endsWith(":") || text.endsWith("："))) return false
  const next = lines[at + 1]?.kind === "blank" ? lines[at + 2] : lines[at + 1]
  return next?.kind === kind && next.indent <= (lines[at]?.indent ?? 0) + 1
}

/**
 * Returns whether a number that starts a line belongs to the sentence before it, wrapped: only `0.` and `1.` start a
 * list there.
 */
const isSentence = (before: ListLine.ParsedLine | undefined, line: ListLine.ParsedLine): boolean =>
  before?.kind === "text" && (line.style === "word" ? isUnfinished(before) : !/[:：]$/u.test(before.text))

const isUnfinished = (line: ListLine.ParsedLine | undefined): boolean =>
  line?.kind === "text" && !/[.!?:;…。！？：；]$/u.test(line.text)

const textOfItem = (item: Item): string => {
  if (item.lines.length === 0) return trim(item.text)
  const indents = item.lines.filter((line) => line !== "").map((line) => line.search(/\S|$/))
  const common = indents.length === 0 ? 0 : indents.reduce((a, b) => Math.min(a, b))
  return trim([item.text, ...item.lines.map((line) => line.slice(common))].join("\n"))
}
