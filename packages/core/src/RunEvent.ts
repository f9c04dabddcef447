/**
 * Everything that happens in a run, as plain data. A log line, a progress display, a trace page and a resumed run are
 * readers of these. The Schema of each is in `RunEventSchema`.
 */
import type { CallId, Reply, Role } from "./Llm.js"
import { describeFailure } from "./ToolText.js"

/** What every event has. */
interface Common {
  /** The run, step or call that it is about, see `CallId`. The outermost run has the empty path. */
  readonly call: CallId
  /** Epoch milliseconds of the run's Clock. */
  readonly at: number
}

/** An error as an event shows it. */
export interface ErrorInfo {
  readonly tag: string
  readonly message: string
}

/** A step of a plan: for a ReWOO plan with its variable as id, its tool, input and references. */
export interface PlannedStep {
  readonly id: string
  readonly text: string
  readonly dependsOn: ReadonlyArray<string>
  readonly tool?: string
  readonly input?: string
}

/** A step that was executed, with what came of it. */
export interface PastStep {
  /** The number of the step in the run, `1` for the first. */
  readonly id: string
  readonly step: string
  /** The executor's result in full; for a failed step the error text, with any partial text. */
  readonly result: string
  readonly status: "completed" | "failed"
}

/** What one planned tool call gave. */
export interface Evidence {
  /** `#E1`, `#E2`, … */
  readonly variable: string
  /** Why the planner wanted it. */
  readonly reason: string
  readonly tool: string
  /** The input as planned. */
  readonly input: string
  /** The input as the tool got it, with evidence in place of the variables. */
  readonly resolvedInput?: string
  readonly status: "ok" | "error" | "timeout" | "skipped"
  /** The tool's result in full, or why there is none. */
  readonly text: string
  /** Epoch milliseconds of the run's Clock. */
  readonly startedAt?: number
  /** Epoch milliseconds of the run's Clock. */
  readonly endedAt?: number
}

export interface RunStarted extends Common {
  readonly _tag: "RunStarted"
  readonly pattern: string
  /** The question, goal or task. */
  readonly task: string
}
export interface RunEnded extends Common {
  readonly _tag: "RunEnded"
  readonly pattern: string
  readonly outcome: "succeeded" | "failed" | "interrupted"
  readonly error?: ErrorInfo
}
export interface ModelCallStarted extends Common {
  readonly _tag: "ModelCallStarted"
  readonly role: Role
}
/**
 * A piece of a reply that is arriving, see `Journal.streaming`. A retry begins the reply anew; `ModelCallEnded` has the
 * whole.
 */
export interface ReplyDelta extends Common {
  readonly _tag: "ReplyDelta"
  readonly role: Role
  readonly text: string
}
export interface ModelCallEnded extends Common {
  readonly _tag: "ModelCallEnded"
  readonly role: Role
  readonly startedAt: number
  readonly reply?: Reply
  readonly error?: ErrorInfo
}
/** A reply could not be used; `reask` says whether the model is asked once more. */
export interface ReplyRejected extends Common {
  readonly _tag: "ReplyRejected"
  readonly role: Role
  readonly error: ErrorInfo
  readonly reask: boolean
}
export interface ToolCallStarted extends Common {
  readonly _tag: "ToolCallStarted"
  readonly tool: string
  readonly input: string
}
export interface ToolCallEnded extends Common {
  readonly _tag: "ToolCallEnded"
  readonly tool: string
  readonly startedAt: number
  readonly outcome: "ok" | "error" | "timeout"
  readonly text: string
}
export interface PlanMade extends Common {
  readonly _tag: "PlanMade"
  readonly steps: ReadonlyArray<PlannedStep>
}
export interface PlanTruncated extends Common {
  readonly _tag: "PlanTruncated"
  readonly kept: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
}
/** The remaining plan before and after a replan, with the step result that caused it. */
export interface Replanned extends Common {
  readonly _tag: "Replanned"
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  readonly cause: PastStep
}
export interface StepStarted extends Common {
  readonly _tag: "StepStarted"
  /** 1 for the first executed step. */
  readonly index: number
  readonly step: string
}
export interface StepEnded extends Common {
  readonly _tag: "StepEnded"
  readonly index: number
  readonly step: string
  readonly status: "completed" | "failed"
  readonly result: string
}
export interface EvidenceRecorded extends Common {
  readonly _tag: "EvidenceRecorded"
  readonly evidence: Evidence
}
/** An ADaPT task is tried; `call` is its place in the tree, `1` for the root, `1.2` for its second sub-step. */
export interface TaskStarted extends Common {
  readonly _tag: "TaskStarted"
  readonly task: string
  readonly depth: number
}
export interface TaskDecomposed extends Common {
  readonly _tag: "TaskDecomposed"
  readonly task: string
  readonly depth: number
  readonly logic: "and" | "or"
  readonly subSteps: ReadonlyArray<string>
}
export interface TaskEnded extends Common {
  readonly _tag: "TaskEnded"
  readonly task: string
  readonly depth: number
  readonly status: "completed" | "failed"
  /** The result, or the reason of the failure. */
  readonly detail: string
}
/** One turn of a ReAct loop: what the model said and which tools it asked for. */
export interface TurnEnded extends Common {
  readonly _tag: "TurnEnded"
  /** 1 for the first turn. */
  readonly turn: number
  readonly text: string
  readonly tools: ReadonlyArray<string>
}
export interface Routed extends Common {
  readonly _tag: "Routed"
  readonly pattern: string
  readonly reason: string
  /** Whether this is the fallback, because the router's reply could not be read. */
  readonly fallback: boolean
}
/** Something that a person should know, though the run goes on. `kind` is a stable word such as `no_progress`. */
export interface Warning extends Common {
  readonly _tag: "Warning"
  readonly kind: string
  readonly message: string
}

export type RunEvent =
  | RunStarted
  | RunEnded
  | ModelCallStarted
  | ReplyDelta
  | ModelCallEnded
  | ReplyRejected
  | ToolCallStarted
  | ToolCallEnded
  | PlanMade
  | PlanTruncated
  | Replanned
  | StepStarted
  | StepEnded
  | EvidenceRecorded
  | TaskStarted
  | TaskDecomposed
  | TaskEnded
  | TurnEnded
  | Routed
  | Warning

type WithoutCommon<Event> = Event extends RunEvent ? Omit<Event, "at" | "call"> & { readonly call?: CallId } : never

/** An event as a pattern tells it: the time is added, and the run's path where `call` is not given. */
export type NewEvent = WithoutCommon<RunEvent>

/** An error as an event shows it. */
export const errorInfo = (error: unknown): ErrorInfo => ({ tag: tagOf(error), message: describeFailure(error) })

const tagOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "Error"
  const tag: unknown = "_tag" in error ? error._tag : error.name
  return typeof tag === "string" ? tag : "Error"
}

/** Whether an event belongs into a log that is read every day, rather than one for looking closely. */
export const isMajor = (event: RunEvent): boolean => {
  switch (event._tag) {
    case "ModelCallStarted":
    case "ModelCallEnded":
    case "ReplyDelta":
    case "ToolCallEnded":
    case "TurnEnded":
    case "StepStarted":
    case "TaskStarted":
      return false
    default:
      return true
  }
}

/** Whether {@link headline} leaves something of an event out. */
export const isAbridged = (event: RunEvent): boolean => headline(event) !== describe(event)

/**
 * One event in words, without what a tool was given or gave and without the text of an error, which can quote it. A plan
 * keeps its inputs. The task of a run within another can be a tool's input, so it is left out too.
 */
export const headline = (event: RunEvent): string => {
  const where = event.call === "" ? "" : `${event.call}: `
  switch (event._tag) {
    case "RunStarted":
      return event.call === "" ? describe(event) : `${where}${event.pattern} starts`
    case "RunEnded":
      return `${where}${event.pattern} ${event.outcome}${event.error === undefined ? "" : `, ${event.error.tag}`}`
    case "ModelCallEnded":
      return event.error === undefined ? describe(event) : `${where}the ${event.role} gave no reply, ${event.error.tag}`
    case "ReplyRejected":
      return `${where}the ${event.role}'s reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.tag}`
    case "ToolCallStarted":
      return `${where}calls ${event.tool}`
    case "ToolCallEnded":
      return `${where}${event.tool} ended (${event.outcome}) after ${event.at - event.startedAt} ms`
    case "Replanned":
      return `${where}replanned after "${event.cause.step}" (${event.cause.status})\nbefore:\n${list(event.before)}\nafter:\n${list(event.after)}`
    case "StepEnded":
      return `${where}step ${event.index} ${event.status}`
    case "EvidenceRecorded":
      return `${where}evidence ${event.evidence.variable} (${event.evidence.status})`
    case "TaskEnded":
      return `${where}${event.status}`
    case "ReplyDelta":
    case "TurnEnded":
      return `${where}${event._tag === "TurnEnded" ? `turn ${event.turn}` : `${event.role} says more`}`
    case "ModelCallStarted":
    case "PlanMade":
    case "PlanTruncated":
    case "StepStarted":
    case "TaskStarted":
    case "TaskDecomposed":
    case "Routed":
    case "Warning":
      return describe(event)
  }
}

/** One event in words. Texts are whole: a reader that wants them short cuts them. */
export const describe = (event: RunEvent): string => {
  const where = event.call === "" ? "" : `${event.call}: `
  switch (event._tag) {
    case "RunStarted":
      return `${where}${event.pattern} starts on: ${event.task}`
    case "RunEnded":
      return `${where}${event.pattern} ${event.outcome}${event.error === undefined ? "" : `, ${event.error.tag}: ${event.error.message}`}`
    case "ModelCallStarted":
      return `${where}asks the ${event.role}`
    case "ReplyDelta":
      return `${where}${event.role} says: ${event.text}`
    case "ModelCallEnded":
      return event.error === undefined
        ? `${where}the ${event.role} replied in ${event.at - event.startedAt} ms`
        : `${where}the ${event.role} gave no reply, ${event.error.tag}: ${event.error.message}`
    case "ReplyRejected":
      return `${where}the ${event.role}'s reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.message}`
    case "ToolCallStarted":
      return `${where}calls ${event.tool} with: ${event.input}`
    case "ToolCallEnded":
      return `${where}${event.tool} ended (${event.outcome}) after ${event.at - event.startedAt} ms: ${event.text}`
    case "PlanMade":
      return `${where}plan:\n${event.steps.map((step) => `  ${describeStep(step)}`).join("\n")}`
    case "PlanTruncated":
      return `${where}plan cut to ${event.kept.length} steps, dropped:\n${list(event.dropped)}`
    case "Replanned":
      return `${where}replanned after "${event.cause.step}" (${event.cause.status}): ${event.cause.result}\nbefore:\n${list(event.before)}\nafter:\n${list(event.after)}`
    case "StepStarted":
      return `${where}step ${event.index} starts: ${event.step}`
    case "StepEnded":
      return `${where}step ${event.index} ${event.status}: ${event.result}`
    case "EvidenceRecorded":
      return `${where}evidence ${event.evidence.variable} (${event.evidence.status}): ${event.evidence.text}`
    case "TaskStarted":
      return `${where}tries (depth ${event.depth}): ${event.task}`
    case "TaskDecomposed":
      return `${where}splits (${event.logic}):\n${list(event.subSteps)}`
    case "TaskEnded":
      return `${where}${event.status}: ${event.detail}`
    case "TurnEnded":
      return `${where}turn ${event.turn}${event.tools.length === 0 ? "" : ` asks for ${event.tools.join(", ")}`}: ${event.text}`
    case "Routed":
      return `${where}routed to ${event.pattern}${event.fallback ? " (fallback)" : ""}: ${event.reason}`
    case "Warning":
      return `${where}warning, ${event.kind}: ${event.message}`
  }
}

const describeStep = (step: PlannedStep): string =>
  step.tool === undefined ? `${step.id}. ${step.text}` : `${step.id} = ${step.tool}[${step.input ?? ""}]  ${step.text}`

const list = (steps: ReadonlyArray<string>): string =>
  steps.length === 0 ? "  (none)" : steps.map((step) => `  - ${step}`).join("\n")
