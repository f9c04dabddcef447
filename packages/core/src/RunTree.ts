/**
 * Runs as trees, put together from their events: what runs inside what, in the shape of each pattern. A plan is a list
 * that changes, ADaPT a tree of tasks, ReAct turns with their tool calls, and a nested run stands under its caller.
 *
 * Use it for a display, a page or a count. It reads events as they come, of a run that goes on or of one that has
 * ended, and of several runs at once. It loads nothing, so that it runs in a browser. An event of a later version is
 * passed over.
 *
 * @example
 * ```ts
 * const tree = RunTree.make()
 * for (const event of events) tree.on(event)
 * const [run] = tree.roots
 * ```
 */
import type * as RunEvent from "./RunEvent.js"

/** The status of a thing. `planned`: not begun. */
export type Status = "planned" | "running" | "done" | "failed"

/** The fields of every node. Times are epoch milliseconds of the run's Clock. */
interface Common {
  /** The path of the run, step or call that it stands for, see `CallId`; of a note, what it is about. */
  readonly path: string
  /** The run, or what in it, this belongs to; none for the outermost run. */
  readonly parent: Node | undefined
  status: Status
  startedAt: number
  endedAt?: number
  /** The nodes inside it, in the order in which they began. */
  readonly items: Array<Node>
}
/** A run of a pattern; `depth` is 0 for an outermost one. */
export interface RunNode extends Common {
  readonly kind: "run"
  readonly pattern: string
  readonly task: string
  readonly depth: number
  /** The tag of its error, or `interrupted`. */
  error?: string
  /** The plan that it follows now. */
  plan?: PlanNode
}
/** A plan: its items are its steps, those that have begun first. */
export interface PlanNode extends Common {
  readonly kind: "plan"
  /** Number of times it was replaced. */
  changes: number
}
/** A step of a plan, or a planned tool call. */
export interface StepNode extends Common {
  readonly kind: "step"
  /** That of the planned step. */
  readonly id: string
  readonly label: string
  result?: string
}
/** A model call; its items are the tool calls that it asked for, and what happened to it on the way. */
export interface ModelNode extends Common {
  readonly kind: "model"
  readonly role: string
  /** The text, if the call is a turn of ReAct. */
  text?: string
}
/** A tool call that no plan names. */
export interface ToolNode extends Common {
  readonly kind: "tool"
  readonly label: string
  result?: string
}
/** A task of ADaPT; `planned` are its sub-steps in words. */
export interface TaskNode extends Common {
  readonly kind: "task"
  readonly task: string
  detail?: string
  logic?: string
  planned: ReadonlyArray<string>
}
/** Something that happened, in words. */
export interface NoteNode extends Common, Note {
  readonly kind: "note"
}
export type Node = RunNode | PlanNode | StepNode | ModelNode | ToolNode | TaskNode | NoteNode

/** Returns how deep something in `parent` stands: under how many runs, and sub-steps of ADaPT. */
const nesting = (parent: Node | undefined): number => {
  if (parent === undefined) return 0
  const counts = parent.kind === "run" || (parent.kind === "task" && parent.parent?.kind === "task")
  return nesting(parent.parent) + (counts ? 1 : 0)
}

/** Something that happened, in words for a person, and whether it needs attention. */
export interface Note {
  readonly text: string
  readonly isWarning: boolean
}

/** Returns the words for an event that is neither the beginning nor the end of something; `undefined` for any other. */
export const noteOf = (event: RunEvent.RunEvent): Note | undefined => {
  switch (event._tag) {
    case "PlanTruncated":
      return warning(`plan cut to ${event.kept.length} steps; dropped: ${event.dropped.join("; ")}`)
    case "Routed": {
      const text = `routed to ${event.pattern}${event.fallback ? " (fallback)" : ""}: ${event.reason}`
      return { text, isWarning: event.fallback }
    }
    case "ReplyRejected":
      return warning(`the reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.message}`)
    case "ModelRetried":
      return warning(`${event.error.message} Retrying in ${seconds(event.delay)}…`)
    case "ModelWaited":
      return { text: `waited ${seconds(event.waited)} for the limit ${event.why}`, isWarning: false }
    case "FellBack":
      return warning(`${event.error.message} Asking ${event.to} instead…`)
    case "CacheHit":
      return { text: "answered from the cache", isWarning: false }
    case "Warning":
      return warning(`warning: ${event.message}`)
    default:
      return undefined
  }
}

const warning = (text: string): Note => ({ text, isWarning: true })

const seconds = (millis: number): string => `${Number((millis / 1000).toPrecision(2))} s`

export interface RunTree {
  /** Reads the next event. */
  readonly on: (event: RunEvent.RunEvent) => void
  /** The outermost runs; one, unless the program runs several. */
  readonly roots: ReadonlyArray<Node>
  /** The run that an event is about: the innermost one that its path stands in. */
  readonly runOf: (event: Pick<RunEvent.RunEvent, "run" | "call">) => RunNode | undefined
}

/** Makes an empty tree. */
export const make = (): RunTree => {
  const roots: Array<Node> = []
  const runs = new Map<string, ReturnType<typeof ofRun>>()
  const treeOf = (run: string) => {
    const known = runs.get(run)
    if (known !== undefined) return known
    const tree = ofRun(roots)
    runs.set(run, tree)
    return tree
  }
  return {
    roots,
    on: (event) => treeOf(event.run).on(event),
    runOf: ({ call, run }) => treeOf(run).runOf(call)
  }
}

/** The tree of one outermost run, which is put among the roots. */
const ofRun = (roots: Array<Node>) => {
  const byPath = new Map<string, Node>()

  /** The innermost thing that a path stands in. */
  const enclosing = (path: string): Node | undefined => {
    for (let prefix = path; ; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf("/")))) {
      const found = byPath.get(prefix)
      if (found !== undefined || prefix === "") return found
    }
  }
  const runOf = (call: string): RunNode | undefined => {
    let node = enclosing(call)
    while (node !== undefined && node.kind !== "run") node = node.parent
    return node
  }
  const add = <N extends Node>(node: N): N => {
    ;(node.parent === undefined ? roots : node.parent.items).push(node)
    return node
  }
  const common = (event: { readonly call: string; readonly at: number }, parent = enclosing(event.call)) => ({
    path: event.call,
    parent,
    status: "running" as const,
    startedAt: event.at,
    items: []
  })
  const planned = (plan: PlanNode, path: string, id: string, label: string): StepNode => {
    const step: StepNode = {
      kind: "step",
      id,
      path,
      parent: plan,
      status: "planned",
      startedAt: plan.startedAt,
      items: [],
      label
    }
    plan.items.push(step)
    return step
  }
  const note = (event: RunEvent.RunEvent) => {
    const words = noteOf(event)
    if (words !== undefined) add<NoteNode>({ kind: "note", ...common(event), status: "done", ...words })
  }

  const planMade = (event: RunEvent.PlanMade) => {
    const run = runOf(event.call)
    const plan = add<PlanNode>({ kind: "plan", ...common(event, run), changes: 0 })
    if (run !== undefined) run.plan = plan
    for (const { id, input, text, tool } of event.steps) {
      const path = event.call === "" ? id : `${event.call}/${id}`
      const step = planned(
        plan,
        path,
        id,
        tool === undefined ? text : `${id} = ${tool}[${input ?? ""}]${text === "" ? "" : `  ${text}`}`
      )
      // A planned tool call is known by its variable, a step when it starts.
      if (tool !== undefined) byPath.set(path, step)
    }
  }

  const replanned = (event: RunEvent.Replanned) => {
    const plan = runOf(event.call)?.plan
    if (plan === undefined) return
    const begun = plan.items.filter((step) => step.status !== "planned")
    plan.items.splice(0, plan.items.length, ...begun)
    for (const { id, text } of event.after) planned(plan, event.call, id, text)
    plan.changes += 1
  }

  const stepStarted = (event: RunEvent.StepStarted) => {
    const plan = runOf(event.call)?.plan
    const step =
      plan?.items.find((item) => item.kind === "step" && item.id === event.id) ??
      add<StepNode>({ kind: "step", id: event.id, ...common(event), label: event.step })
    step.status = "running"
    step.startedAt = event.at
    byPath.set(event.call, step)
  }

  const taskStarted = (event: RunEvent.TaskStarted) => {
    const from = event.call.lastIndexOf("/") + 1
    const base = event.call.slice(0, from)
    let id = event.call.slice(from)
    let parent: Node | undefined
    // A nested group has a number of its own, but is not a task.
    while (parent === undefined && id.includes(".")) {
      id = id.slice(0, id.lastIndexOf("."))
      parent = byPath.get(base + id)
    }
    const task = add<TaskNode>({
      kind: "task",
      ...common(event, parent ?? enclosing(event.call)),
      task: event.task,
      planned: []
    })
    byPath.set(event.call, task)
  }

  const end = (node: Node | undefined, at: number, isGood: boolean) => {
    if (node === undefined) return
    node.status = isGood ? "done" : "failed"
    node.endedAt = at
  }

  const on = (event: RunEvent.RunEvent) => {
    const at = byPath.get(event.call)
    switch (event._tag) {
      case "RunStarted": {
        const parent = enclosing(event.call)
        const { pattern, task } = event
        byPath.set(
          event.call,
          add<RunNode>({ kind: "run", ...common(event, parent), pattern, task, depth: nesting(parent) })
        )
        return
      }
      case "RunEnded": {
        const run = runOf(event.call)
        end(run, event.at, event.outcome === "succeeded")
        if (run !== undefined && event.outcome !== "succeeded") run.error = event.error?.tag ?? event.outcome
        return
      }
      case "ModelCallStarted": {
        byPath.set(event.call, add<ModelNode>({ kind: "model", ...common(event), role: event.role }))
        return
      }
      case "ModelCallEnded":
        if (at?.kind === "model") end(at, event.at, event.error === undefined)
        return
      case "TurnEnded":
        if (at?.kind === "model") at.text = event.text
        return
      case "ToolCallStarted":
        if (at?.kind === "step") {
          at.status = "running"
          at.startedAt = event.at
          return
        }
        byPath.set(
          event.call,
          add<ToolNode>({ kind: "tool", ...common(event), label: `${event.tool}[${event.input}]` })
        )
        return
      case "ToolCallEnded": {
        // A pattern that is a tool stands at the same path, under its call.
        const node = at?.kind === "run" ? at.parent : at
        if (node?.kind !== "tool" && node?.kind !== "step") return
        end(node, event.at, event.outcome === "ok")
        node.result = event.outcome === "ok" ? event.text : `${event.outcome}: ${event.text}`
        return
      }
      case "PlanMade":
        return planMade(event)
      case "Replanned":
        return replanned(event)
      case "StepStarted":
        return stepStarted(event)
      case "StepEnded":
        if (at?.kind === "step") {
          end(at, event.at, event.status === "completed")
          at.result = event.result
        }
        return
      case "EvidenceRecorded": {
        const step = runOf(event.call)?.plan?.items.find(
          (item) => item.kind === "step" && item.id === event.evidence.variable
        )
        if (event.evidence.status === "skipped" && step?.kind === "step") {
          end(step, event.at, false)
          step.result = `skipped: ${event.evidence.text}`
        }
        return
      }
      case "TaskStarted":
        return taskStarted(event)
      case "TaskDecomposed":
        if (at?.kind === "task") {
          at.logic = event.logic
          at.planned = event.subSteps
        }
        return
      case "TaskEnded":
        if (at?.kind === "task") {
          end(at, event.at, event.status === "completed")
          at.detail = event.detail
        }
        return
      case "PlanTruncated":
      case "Routed":
      case "ReplyRejected":
      case "ModelRetried":
      case "ModelWaited":
      case "FellBack":
      case "CacheHit":
      case "Warning":
        note(event)
        return
      case "ReplyDelta":
      case "BudgetSettled":
        return
      default:
        // A new event that is not read here does not compile; one of a later version is passed over.
        event satisfies never
    }
  }

  return { on, runOf }
}
