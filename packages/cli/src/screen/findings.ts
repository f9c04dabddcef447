/**
 * Gathers the work of a run: the `progress` of its error, or what its events tell if it was interrupted.
 */
import type * as RunEvent from "@forethought/core/RunEvent"
import type * as Adapt from "@forethought/patterns/Adapt"
import type * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import type * as ReAct from "@forethought/patterns/ReAct"
import { indent, printable } from "./text.js"

/** The `progress` of any pattern. A pattern has some of these, under the names of its own. */
export interface Gathered {
  readonly evidence?: ReadonlyArray<RunEvent.Evidence>
  readonly pastSteps?: ReadonlyArray<RunEvent.PastStep>
  readonly remainingPlan?: ReadonlyArray<string>
  readonly tree?: Adapt.TaskNode
  readonly turns?: ReadonlyArray<ReAct.Turn>
  readonly reasoning?: string
  readonly collectedData?: PlanAndSolveAgent.CollectedData
}

/** A tool call as the events tell of it; without an outcome it has not ended. */
export interface ToolCall {
  readonly call: string
  readonly tool: string
  readonly input: string
  readonly outcome?: "ok" | "error" | "timeout"
  readonly text?: string
}

/** A task of ADaPT as the events tell of it. */
export interface Task {
  readonly call: string
  readonly task: string
  readonly depth: number
  readonly status: "running" | "completed" | "failed"
  readonly detail?: string
}

/** The work of a run, as its events tell it. Steps and plans are those of the outermost pattern that has them. */
export interface Told {
  readonly plan?: ReadonlyArray<RunEvent.PlannedStep>
  readonly evidence: ReadonlyArray<RunEvent.Evidence>
  readonly pastSteps?: ReadonlyArray<RunEvent.PastStep>
  readonly remainingPlan?: ReadonlyArray<string>
  readonly reasoning?: string
  readonly tasks?: ReadonlyArray<Task>
  /** Tool calls that are not in the evidence. */
  readonly calls?: ReadonlyArray<ToolCall>
}

export interface Recorder {
  readonly on: (event: RunEvent.RunEvent) => void
  readonly told: () => Told
}

export const make = (): Recorder => {
  const evidence: Array<RunEvent.Evidence> = []
  const steps: Array<RunEvent.PastStep> = []
  const calls = new Map<string, ToolCall>()
  const tasks = new Map<string, Task>()
  let plan: ReadonlyArray<RunEvent.PlannedStep> = []
  let remaining: ReadonlyArray<string> = []
  let planner: string | undefined
  let reasoning: string | undefined

  /**
   * Returns whether an event is about the steps of the pattern that planned first: those of nested runs are its
   * executor's.
   */
  const isOutermost = (call: string) =>
    planner !== undefined && /^[^/]*$/.test(planner === "" ? call : call.slice(planner.length + 1))

  const on = (event: RunEvent.RunEvent): void => {
    switch (event._tag) {
      case "PlanMade":
        if (planner !== undefined) return
        planner = event.call
        plan = event.steps
        remaining = event.steps.map((step) => step.text)
        return
      case "Replanned":
        if (isOutermost(event.call)) remaining = event.after.map((step) => step.text)
        return
      case "EvidenceRecorded":
        evidence.push(event.evidence)
        return
      case "StepEnded":
        if (!isOutermost(event.call)) return
        steps.push({ id: event.id, step: event.step, result: event.result, status: event.status })
        remaining = remaining.slice(1)
        return
      case "TaskStarted":
        tasks.set(event.call, { call: event.call, task: event.task, depth: event.depth, status: "running" })
        return
      case "TaskEnded":
        tasks.set(event.call, {
          call: event.call,
          task: event.task,
          depth: event.depth,
          status: event.status,
          detail: event.detail
        })
        return
      case "ModelCallEnded":
        if (event.role === "reasoner" && event.reply !== undefined) reasoning = event.reply.text
        return
      case "ToolCallStarted":
        calls.set(event.call, { call: event.call, tool: event.tool, input: event.input })
        return
      case "ToolCallEnded": {
        const started = calls.get(event.call)
        if (started !== undefined) calls.set(event.call, { ...started, outcome: event.outcome, text: event.text })
        return
      }
    }
  }

  const place = (variable: string) => plan.findIndex((step) => step.id === variable)
  const others = () =>
    [...calls.values()].filter(({ call }) => !evidence.some(({ variable }) => call.endsWith(variable)))

  return {
    on,
    told: () => ({
      ...(plan.length === 0 ? {} : { plan }),
      evidence: [...evidence].sort((a, b) => place(a.variable) - place(b.variable)),
      ...(steps.length === 0 ? {} : { pastSteps: steps }),
      ...(plan.some((step) => step.tool !== undefined) || plan.length === 0 ? {} : { remainingPlan: remaining }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(tasks.size === 0 ? {} : { tasks: [...tasks.values()] }),
      ...(others().length === 0 ? {} : { calls: others() })
    })
  }
}

// ---------------------------------------------------------------------------------------------------------------
// text
// ---------------------------------------------------------------------------------------------------------------

/** Everything for people, texts in full; no line where nothing was gathered. */
export const lines = (gathered: Gathered & Partial<Told>): ReadonlyArray<string> => [
  ...(gathered.reasoning === undefined ? [] : [entry("Reasoning", gathered.reasoning)]),
  ...(gathered.evidence ?? []).map((piece) =>
    entry(`${piece.variable} ${piece.tool}[${piece.resolvedInput ?? piece.input}] (${piece.status})`, piece.text)
  ),
  ...(gathered.pastSteps ?? []).map(({ id, result, status, step }) => entry(`${id}. ${step} (${status})`, result)),
  ...Object.entries(gathered.collectedData ?? {}).map(([name, { step, value }]) =>
    entry(`${name} (from step ${step})`, value)
  ),
  ...(gathered.remainingPlan ?? []).map((step) => printable(`${step} (not done)`)),
  ...(gathered.tree === undefined ? [] : treeLines(gathered.tree)),
  ...(gathered.tree !== undefined ? [] : (gathered.tasks ?? [])).map(({ call, depth, detail, status, task }) =>
    indent(entry(`${call} ${task} (${status})`, detail ?? ""), 2 * (depth - 1))
  ),
  ...(gathered.turns ?? []).flatMap(turnLines),
  ...(gathered.turns !== undefined ? [] : (gathered.calls ?? [])).map(({ call, input, outcome, text, tool }) =>
    outcome === undefined
      ? printable(`${call} ${tool}[${input}] (not finished)`)
      : entry(`${call} ${tool}[${input}] (${outcome})`, text ?? "")
  )
]

const treeLines = (node: Adapt.Node): ReadonlyArray<string> => {
  if (node._tag === "Group") {
    const head = node.children.length === 0 ? [] : [`${node.id} ${node.logic} of ${node.planned.length} sub-steps`]
    return [...head.map(printable), ...node.children.flatMap(treeLines).map((line) => indent(line, 2))]
  }
  const below = node.subSteps?.children.flatMap(treeLines) ?? []
  return [
    entry(`${node.id} ${node.task} (${node.status})`, node.attempt?.detail ?? node.reason ?? ""),
    ...(node.subSteps === undefined
      ? []
      : [printable(`  ${node.subSteps.logic}: ${node.subSteps.planned.join("; ")}`)]),
    ...below.map((line) => indent(line, 2))
  ]
}

const turnLines = (turn: ReAct.Turn, index: number): ReadonlyArray<string> => [
  ...(turn.text === "" ? [] : [entry(`turn ${index + 1}`, turn.text)]),
  ...turn.calls.map(({ input, observation, outcome, tool }) =>
    entry(`turn ${index + 1} ${tool}[${input}] (${outcome})`, observation)
  )
]

/** A text under a head, indented where it has several lines. */
export const entry = (head: string, text: string): string => {
  const shown = printable(text)
  if (shown === "") return printable(head)
  return shown.includes("\n") ? `${printable(head)}:\n${indent(shown, 4)}` : `${printable(head)}: ${shown}`
}
