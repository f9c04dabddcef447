/**
 * The lines of a run's tree, as a terminal shows them.
 */
import type { Node, PlanNode, Status, TaskNode } from "@forethought/core/RunTree"
import type { Style } from "./screen.js"
import { oneLine, seconds } from "./text.js"

export interface Row {
  readonly text: string
  readonly style: Style
  /** True if it is about something that runs now. */
  readonly isCurrent: boolean
}

export interface Look {
  readonly columns: number
  readonly now: number
  /** The mark before a thing that runs. */
  readonly spinner: string
  /** True to show what has ended with everything inside, false to show its result alone. */
  readonly isWhole: boolean
}

const marks: { readonly [status in Exclude<Status, "running">]: string } = { planned: "·", done: "✔", failed: "✘" }
const styles: { readonly [status in Status]: Style } = {
  planned: "dim",
  running: "strong",
  done: "good",
  failed: "warn"
}

/** The mark of a status: `✔` done, `✘` failed, `·` planned, and a spinner for what runs. */
export const markOf = (status: Status, spinner = "▸"): string => (status === "running" ? spinner : marks[status])

export const lines = (nodes: ReadonlyArray<Node>, look: Look): ReadonlyArray<Row> =>
  nodes.flatMap((node) => nodeLines(node, 0, look))

const nodeLines = (node: Node, indent: number, look: Look): ReadonlyArray<Row> => {
  switch (node.kind) {
    case "run":
      return [
        line(node, indent, look, `${node.pattern}${indent === 0 ? `: ${node.task}` : ""}${ending(node.error)}`),
        ...below(node, indent, look)
      ]
    case "plan":
      return planLines(node, indent, look)
    case "step":
      return [line(node, indent, look, node.label, node.result), ...below(node, indent, look)]
    case "model":
      return modelLines(node, indent, look)
    case "tool":
      return [line(node, indent, look, node.label, node.result), ...below(node, indent, look)]
    case "task":
      return taskLines(node, indent, look)
    case "note":
      return [plain(node.text, node.isWarning ? "warn" : "plain", indent, look)]
  }
}

/** Returns what is inside: all of it, or while something in it runs. Of what has ended the result is enough. */
const below = (node: Node, indent: number, look: Look): ReadonlyArray<Row> =>
  look.isWhole || isRunning(node) || indent === 0 ? node.items.flatMap((item) => nodeLines(item, indent + 1, look)) : []

const isRunning = (node: Node): boolean => node.status === "running" || node.items.some(isRunning)

const planLines = (node: PlanNode, indent: number, look: Look): ReadonlyArray<Row> => {
  const changed = node.changes === 0 ? "" : `, changed ${node.changes === 1 ? "once" : `${node.changes} times`}`
  return [
    plain(`plan of ${node.items.length} step${node.items.length === 1 ? "" : "s"}${changed}`, "dim", indent, look),
    ...node.items.flatMap((step) => nodeLines(step, indent, look))
  ]
}

/** A turn of ReAct shows what was said and its tool calls; any other call only while it runs, or how long it took. */
const modelLines = (node: Node & { readonly kind: "model" }, indent: number, look: Look): ReadonlyArray<Row> => {
  const name = node.path.slice(node.path.lastIndexOf("/") + 1)
  const said = node.text === undefined || node.text === "" ? undefined : node.text
  return [line(node, indent, look, name, said), ...node.items.flatMap((item) => nodeLines(item, indent + 1, look))]
}

const taskLines = (node: TaskNode, indent: number, look: Look): ReadonlyArray<Row> => {
  const id = idOf(node)
  const head = line(node, indent, look, `${id} ${node.task}`, node.detail)
  const tasks = node.items.filter((item) => item.kind === "task")
  const others = node.items.filter((item) => item.kind !== "task")
  if (node.logic === undefined) return [head, ...hidden(node, look, others, indent)]
  return [
    head,
    ...hidden(node, look, others, indent),
    plain(`splits (${node.logic})`, "dim", indent + 1, look),
    ...node.planned.flatMap((planned, index): ReadonlyArray<Row> => {
      const place = `${id}.${index + 1}`
      const own = tasks.filter((task) => idOf(task) === place || idOf(task).startsWith(`${place}.`))
      const isGroup = own.some((task) => idOf(task) !== place)
      const waiting = own.length === 0 || isGroup ? [plain(`· ${place} ${planned}`, "dim", indent + 1, look)] : []
      return [...waiting, ...own.flatMap((task) => nodeLines(task, indent + (isGroup ? 2 : 1), look))]
    })
  ]
}

/** The attempt at a task, which its result stands for once it has ended. */
const hidden = (node: TaskNode, look: Look, items: ReadonlyArray<Node>, indent: number): ReadonlyArray<Row> =>
  look.isWhole || (node.status === "running" && node.logic === undefined)
    ? items.flatMap((item) => nodeLines(item, indent + 1, look))
    : []

const idOf = (node: Node): string => node.path.slice(node.path.lastIndexOf("/") + 1)

const ending = (error: string | undefined): string => (error === undefined ? "" : ` (${error})`)

const line = (node: Node, indent: number, look: Look, label: string, result?: string): Row => {
  const shown = result === undefined ? "" : ` → ${result}`
  const isCurrent = node.status === "running"
  const time = isCurrent
    ? `  ${seconds(look.now - node.startedAt)}`
    : node.kind === "tool" || node.kind === "model"
      ? `  ${seconds((node.endedAt ?? node.startedAt) - node.startedAt)}`
      : ""
  const margin = "  ".repeat(indent)
  const room = look.columns - margin.length - 2 - time.length
  // The result must be seen, so that a long label gives way to it.
  const head = shown === "" ? label : oneLine(label, Math.max(20, Math.floor(room * 0.6)))
  const text = oneLine(`${head}${shown}`, Math.max(10, room))
  const style = node.kind === "model" && node.status === "done" ? "plain" : styles[node.status]
  return { text: `${margin}${markOf(node.status, look.spinner)} ${text}${time}`, style, isCurrent }
}

const plain = (text: string, style: Style, indent: number, look: Look): Row => {
  const margin = "  ".repeat(indent)
  return { text: `${margin}${oneLine(text, Math.max(10, look.columns - margin.length))}`, style, isCurrent: false }
}

/** As many lines as fit, around what runs now; what is left out is counted. */
export const fitRows = (all: ReadonlyArray<Row>, rows: number): ReadonlyArray<Row> => {
  if (all.length <= rows) return all
  const room = Math.max(1, rows - 2)
  const last = all.findLastIndex((candidate) => candidate.isCurrent)
  const to = Math.min(all.length, Math.max(room, (last < 0 ? all.length : last + 1) + 2))
  const from = Math.max(0, to - room)
  const more = (count: number, where: string): ReadonlyArray<Row> =>
    count === 0 ? [] : [{ text: `… ${count} line${count === 1 ? "" : "s"} ${where}`, style: "dim", isCurrent: false }]
  return [...more(from, "above"), ...all.slice(from, to), ...more(all.length - to, "below")]
}
