/**
 * A run as a tree, put together from its events: what runs inside what, in the shape of each pattern. A plan is a list
 * that changes, ADaPT a tree of tasks, ReAct turns with their tool calls, and a nested run stands under its caller.
 */
import type * as RunEvent from "@forethought/core/RunEvent"

/** Where a thing stands. `planned`: not begun. */
export type Status = "planned" | "running" | "done" | "failed"

interface Common {
  readonly path: string
  /** The run, or what in it, this belongs to; none for the outermost run. */
  readonly parent: Node | undefined
  status: Status
  startedAt: number
  endedAt?: number
  readonly items: Array<Node>
}
export interface RunNode extends Common {
  readonly kind: "run"
  readonly pattern: string
  readonly task: string
  readonly depth: number
  error?: string
  plan?: PlanNode
}
export interface PlanNode extends Common {
  readonly kind: "plan"
  /** How often it was replaced. */
  changes: number
}
export interface StepNode extends Common {
  readonly kind: "step"
  readonly label: string
  result?: string
}
export interface ModelNode extends Common {
  readonly kind: "model"
  readonly role: string
  /** What was said in a turn of ReAct. */
  text?: string
  isTurn: boolean
}
export interface ToolNode extends Common {
  readonly kind: "tool"
  readonly label: string
  result?: string
}
export interface TaskNode extends Common {
  readonly kind: "task"
  readonly task: string
  detail?: string
  logic?: string
  planned: ReadonlyArray<string>
}
export interface NoteNode extends Common {
  readonly kind: "note"
  readonly text: string
  readonly isWarning: boolean
}
export type Node = RunNode | PlanNode | StepNode | ModelNode | ToolNode | TaskNode | NoteNode

/** How deep something in `parent` stands: under how many runs, and sub-steps of ADaPT. */
const nesting = (parent: Node | undefined): number => {
  if (parent === undefined) return 0
  const counts = parent.kind === "run" || (parent.kind === "task" && parent.parent?.kind === "task")
  return nesting(parent.parent) + (counts ? 1 : 0)
}

export interface RunTree {
  readonly on: (event: RunEvent.RunEvent) => void
  /** The outermost runs; one, unless the program runs several. */
  readonly roots: ReadonlyArray<Node>
  /** The run that an event is about: the innermost one that its path stands in. */
  readonly runOf: (call: string) => RunNode | undefined
}

export const make = (): RunTree => {
  const roots: Array<Node> = []
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
  const planned = (plan: PlanNode, path: string, label: string): StepNode => {
    const step: StepNode = {
      kind: "step",
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
  const note = (event: RunEvent.RunEvent, text: string, isWarning: boolean) =>
    add<NoteNode>({ kind: "note", ...common(event), status: "done", text, isWarning })

  const planMade = (event: RunEvent.PlanMade) => {
    const run = runOf(event.call)
    const plan = add<PlanNode>({ kind: "plan", ...common(event, run), changes: 0 })
    if (run !== undefined) run.plan = plan
    for (const { id, input, text, tool } of event.steps) {
      const path = event.call === "" ? id : `${event.call}/${id}`
      const step = planned(
        plan,
        path,
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
    for (const step of event.after) planned(plan, event.call, step)
    plan.changes += 1
  }

  const stepStarted = (event: RunEvent.StepStarted) => {
    const plan = runOf(event.call)?.plan
    const next = plan?.items.find((step) => step.status === "planned")
    const step = next ?? add<StepNode>({ kind: "step", ...common(event), label: event.step })
    step.status = "running"
    step.startedAt = event.at
    byPath.set(event.call, step)
  }

  const taskStarted = (event: RunEvent.TaskStarted) => {
    const from = event.call.lastIndexOf("/") + 1
    const base = event.call.slice(0, from)
    let id = event.call.slice(from)
    let parent: Node | undefined
    // A nested group has a number of its own, but is no task.
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
        const isTurn = runOf(event.call)?.pattern === "react"
        byPath.set(event.call, add<ModelNode>({ kind: "model", ...common(event), role: event.role, isTurn }))
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
      case "PlanTruncated":
        note(event, `plan cut to ${event.kept.length} steps; dropped: ${event.dropped.join("; ")}`, true)
        return
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
          (item) => item.kind === "step" && item.path.endsWith(event.evidence.variable)
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
      case "Routed":
        note(event, `routed to ${event.pattern}${event.fallback ? " (fallback)" : ""}: ${event.reason}`, event.fallback)
        return
      case "ReplyRejected":
        note(event, `the reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.message}`, true)
        return
      case "Warning":
        note(event, `warning: ${event.message}`, true)
        return
      case "ReplyDelta":
        return
    }
  }

  return { on, roots, runOf }
}
