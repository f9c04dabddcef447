/**
 * What a run has gathered, read from its events: for a run that ended without an answer, or was interrupted.
 */
import type * as RunEvent from "@forethought/core/RunEvent"
import { indent, printable } from "./text.js"

export interface Gathered {
  readonly on: (event: RunEvent.RunEvent) => void
  /** Lines for people; none where nothing was gathered. */
  readonly lines: () => ReadonlyArray<string>
  /** The same as data. */
  readonly data: () => object
}

interface ToolCall {
  readonly call: string
  readonly tool: string
  readonly input: string
  readonly outcome?: "ok" | "error" | "timeout"
  readonly text?: string
}

export const make = (): Gathered => {
  const evidence: Array<RunEvent.Evidence> = []
  const steps: Array<RunEvent.PastStep> = []
  const calls = new Map<string, ToolCall>()
  let plan: ReadonlyArray<RunEvent.PlannedStep> = []

  const on = (event: RunEvent.RunEvent): void => {
    switch (event._tag) {
      case "PlanMade":
        plan = event.steps
        return
      case "EvidenceRecorded":
        evidence.push(event.evidence)
        return
      case "StepEnded":
        steps.push({ step: event.step, result: event.result, status: event.status })
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
  const inPlanOrder = () => [...evidence].sort((a, b) => place(a.variable) - place(b.variable))
  /** Calls that are not already in the evidence. */
  const others = () =>
    [...calls.values()].filter(({ call }) => !evidence.some(({ variable }) => call.endsWith(variable)))

  return {
    on,
    lines: () => [
      ...inPlanOrder().map((piece) =>
        entry(`${piece.variable} ${piece.tool}[${piece.resolvedInput ?? piece.input}] (${piece.status})`, piece.text)
      ),
      ...steps.map((step) => entry(`${step.step} (${step.status})`, step.result)),
      ...others().map(({ call, input, outcome, text, tool }) =>
        outcome === undefined
          ? printable(`${call} ${tool}[${input}] (not finished)`)
          : entry(`${call} ${tool}[${input}] (${outcome})`, text ?? "")
      )
    ],
    data: () => ({
      ...(plan.length === 0 ? {} : { plan }),
      evidence: inPlanOrder(),
      ...(steps.length === 0 ? {} : { pastSteps: steps }),
      ...(others().length === 0 ? {} : { calls: others() })
    })
  }
}

const entry = (head: string, text: string): string => {
  const shown = printable(text)
  return shown.includes("\n") ? `${printable(head)}:\n${indent(shown, 4)}` : `${printable(head)}: ${shown}`
}
