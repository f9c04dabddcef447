/**
 * Everything that happens in a run, as plain data. A log line, a progress display, a trace page and a resumed run are
 * readers of these. What each holds is told in `RunEventSchema`, which is the source of these types.
 */
import type { CallId } from "./Llm.js"
import type * as Of from "./RunEventSchema.js"
import { describeFailure } from "./ToolText.js"

// Each is described where it is told: in `RunEventSchema`.
export type ErrorInfo = typeof Of.ErrorInfo.Type
export type ModelRequest = typeof Of.ModelRequest.Type
export type PlannedStep = typeof Of.PlannedStep.Type
export type PastStep = typeof Of.PastStep.Type
export type Evidence = typeof Of.Evidence.Type
export type RunStarted = typeof Of.RunStarted.Type
export type RunEnded = typeof Of.RunEnded.Type
export type ModelCallStarted = typeof Of.ModelCallStarted.Type
export type ReplyDelta = typeof Of.ReplyDelta.Type
export type ModelRetried = typeof Of.ModelRetried.Type
export type ModelWaited = typeof Of.ModelWaited.Type
export type FellBack = typeof Of.FellBack.Type
export type CacheHit = typeof Of.CacheHit.Type
export type BudgetSettled = typeof Of.BudgetSettled.Type
export type ModelCallEnded = typeof Of.ModelCallEnded.Type
export type ReplyRejected = typeof Of.ReplyRejected.Type
export type ToolCallStarted = typeof Of.ToolCallStarted.Type
export type ToolCallEnded = typeof Of.ToolCallEnded.Type
export type PlanMade = typeof Of.PlanMade.Type
export type PlanTruncated = typeof Of.PlanTruncated.Type
export type Replanned = typeof Of.Replanned.Type
export type StepStarted = typeof Of.StepStarted.Type
export type StepEnded = typeof Of.StepEnded.Type
export type EvidenceRecorded = typeof Of.EvidenceRecorded.Type
export type TaskStarted = typeof Of.TaskStarted.Type
export type TaskDecomposed = typeof Of.TaskDecomposed.Type
export type TaskEnded = typeof Of.TaskEnded.Type
export type TurnEnded = typeof Of.TurnEnded.Type
export type Routed = typeof Of.Routed.Type
export type Warning = typeof Of.Warning.Type

/** Any event. */
export type RunEvent = typeof Of.RunEvent.Type

type Without<Event, Keys extends "at" | "call" | "run" | "seq"> = Event extends RunEvent ? Omit<Event, Keys> : never

/** An event as a pattern tells it: time, run and number are added, and the run's path where `call` is not given. */
export type NewEvent = Without<RunEvent, "at" | "call" | "run" | "seq"> & { readonly call?: CallId }

/** An event as a layer tells it, see `Journal.tell`. */
export type LayerEvent = Without<RunEvent, "at" | "run" | "seq">

/** An event with its time, see `Journal.record`. */
export type TimedEvent = Without<RunEvent, "run" | "seq">

/** An error as an event shows it. */
export const errorInfo = (error: unknown): ErrorInfo => ({ tag: tagOf(error), message: describeFailure(error) })

const tagOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "Error"
  const tag: unknown = "_tag" in error ? error._tag : error.name
  return typeof tag === "string" ? tag : "Error"
}

/** Returns whether an event belongs in a log that is read every day, rather than in one for looking closely. */
export const isMajor = (event: RunEvent): boolean => major[event._tag]

const major: { readonly [Tag in RunEvent["_tag"]]: boolean } = {
  RunStarted: true,
  RunEnded: true,
  ModelCallStarted: false,
  ReplyDelta: false,
  ModelRetried: true,
  ModelWaited: false,
  FellBack: true,
  CacheHit: false,
  BudgetSettled: false,
  ModelCallEnded: false,
  ReplyRejected: true,
  ToolCallStarted: true,
  ToolCallEnded: false,
  PlanMade: true,
  PlanTruncated: true,
  Replanned: true,
  StepStarted: false,
  StepEnded: true,
  EvidenceRecorded: true,
  TaskStarted: false,
  TaskDecomposed: true,
  TaskEnded: true,
  TurnEnded: false,
  Routed: true,
  Warning: true
}

/** Returns whether {@link headline} leaves something of an event out. */
export const isAbridged = (event: RunEvent): boolean => headline(event) !== describe(event)

/**
 * One event in words, without what a tool was given or gave and without the text of an error, which can quote it. A
 * plan keeps its inputs. The task of a run within another can be a tool's input, so it is left out too.
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
    case "ModelRetried":
      return `${where}asks again in ${event.delay} ms, ${event.error.tag}`
    case "FellBack":
      return `${where}asks ${event.to} in place of ${event.from}, ${event.error.tag}`
    case "ReplyRejected":
      return `${where}the ${event.role}'s reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.tag}`
    case "ToolCallStarted":
      return `${where}calls ${event.tool}`
    case "ToolCallEnded":
      return `${where}${toolEnd(event)}`
    case "Replanned":
      return `${where}${replanned(event, "")}`
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
    case "ModelWaited":
    case "CacheHit":
    case "BudgetSettled":
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
    case "ModelRetried":
      return `${where}asks again in ${event.delay} ms: ${event.error.message}`
    case "ModelWaited":
      return `${where}waited ${event.waited} ms (${event.why})`
    case "FellBack":
      return `${where}asks ${event.to} in place of ${event.from}: ${event.error.message}`
    case "CacheHit":
      return `${where}a kept reply answers`
    case "BudgetSettled": {
      const { calls, inputTokens, money, outputTokens } = event.spent
      return `${where}budget: ${calls} calls, ${inputTokens} tokens in, ${outputTokens} out, ${money} USD`
    }
    case "ModelCallEnded":
      return event.error === undefined
        ? `${where}the ${event.role} replied in ${event.at - event.startedAt} ms`
        : `${where}the ${event.role} gave no reply, ${event.error.tag}: ${event.error.message}`
    case "ReplyRejected":
      return `${where}the ${event.role}'s reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.message}`
    case "ToolCallStarted":
      return `${where}calls ${event.tool} with: ${event.input}`
    case "ToolCallEnded":
      return `${where}${toolEnd(event)}: ${event.text}${event.leftOut === undefined ? "" : ` (left out: ${event.leftOut})`}`
    case "PlanMade":
      return `${where}plan:\n${event.steps.map((step) => `  ${describeStep(step)}`).join("\n")}`
    case "PlanTruncated":
      return `${where}plan cut to ${event.kept.length} steps, dropped:\n${list(event.dropped)}`
    case "Replanned":
      return `${where}${replanned(event, `: ${event.cause?.result ?? ""}`)}`
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

const toolEnd = ({ at, outcome, source, startedAt, tool }: ToolCallEnded): string => {
  const kept = source === "cache" || source === "record" ? `, from the ${source}` : ""
  return `${tool} ended (${outcome}${kept}) after ${at - startedAt} ms`
}

const replanned = ({ after, before, cause }: Replanned, result: string): string => {
  const why = cause === undefined ? "" : ` after "${cause.step}" (${cause.status})${result}`
  const texts = (steps: ReadonlyArray<PlannedStep>) => list(steps.map(({ text }) => text))
  return `replanned${why}\nbefore:\n${texts(before)}\nafter:\n${texts(after)}`
}

const describeStep = (step: PlannedStep): string =>
  step.tool === undefined ? `${step.id}. ${step.text}` : `${step.id} = ${step.tool}[${step.input ?? ""}]  ${step.text}`

const list = (steps: ReadonlyArray<string>): string =>
  steps.length === 0 ? "  (none)" : steps.map((step) => `  - ${step}`).join("\n")
