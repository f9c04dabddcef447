/**
 * Carries out one step of a plan. Any pattern can be an executor.
 */
import type * as Effect from "effect/Effect"
import type { CallId } from "./Llm.js"
import type { PastStep } from "./RunEvent.js"
import * as ReplyText from "./reply/ReplyText.js"

/** The input of an executor. */
export interface ExecutorInput {
  /** The goal of the whole run. */
  readonly goal: string
  /** The step to carry out now, with everything that the executor needs to know. */
  readonly step: string
  /** The steps done so far that the executor may see, oldest first; empty if it sees its step alone. */
  readonly pastSteps: ReadonlyArray<PastStep>
  /**
   * Maximum number of tool calls, those of runs inside it included. What it asks of the `Toolbox` in context beyond
   * that fails and is not made; to tools that it brings along it has to keep the bound itself.
   */
  readonly maxToolCalls: number
  /** The absolute id under which its calls are named, see `CallPath.at`. */
  readonly call: CallId
}

/** The report of an executor. */
export interface ExecutorResult {
  readonly status: "completed" | "failed"
  /** The result in full, or why there is none. */
  readonly result: string
  /** Number of its tool calls that succeeded and failed, if it counts them. */
  readonly toolCalls?: { readonly succeeded: number; readonly failed: number }
}

/** Carries out one step. Its failures become failed steps; only an `LlmError` ends the run. */
export interface Executor<E, R> {
  (input: ExecutorInput): Effect.Effect<ExecutorResult, E, R>
  /** Returns the model calls to expect of one step, where that is known. */
  readonly modelCalls?: (maxToolCalls: number) => { readonly least: number; readonly most?: number } | undefined
}

/** Returns the task of a step as text: the step word for word where the executor sees nothing else. */
export const taskOf = (input: ExecutorInput): string =>
  input.pastSteps.length === 0
    ? input.step
    : `The goal of the whole plan: ${input.goal}

Steps already completed, with results:
${pastSteps(input.pastSteps)}

Your step:
${input.step}`

/**
 * Returns each past step under its number, with its result in a fence that the result cannot close; some are left out.
 */
export const pastSteps = (
  steps: ReadonlyArray<PastStep>,
  isShown: (past: PastStep) => boolean = () => true
): string => {
  const shown = steps.flatMap((past, index) => (isShown(past) ? [pastStep(past, index + 1, past.result)] : []))
  return shown.length === 0 ? "(none)" : shown.join("\n")
}

/** Returns one past step, with its result or as much of it as is to be shown. */
export const pastStep = (past: PastStep, number: number, result: string): string =>
  `${number}. ${past.step}\nResult (${past.status}):\n${ReplyText.fence("result", result)}`
