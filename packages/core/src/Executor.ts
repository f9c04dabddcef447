/**
 * What carries out one step of a plan. Any pattern can be one.
 */
import type * as Effect from "effect/Effect"
import type { CallId } from "./Llm.js"
import type { PastStep } from "./RunEvent.js"

/** What an executor is given. */
export interface ExecutorInput {
  /** What the whole run is for. */
  readonly goal: string
  /** What is to be done now: everything that the executor needs to know. */
  readonly step: string
  /** The steps done so far that the executor may see, oldest first; empty where it sees its step alone. */
  readonly pastSteps: ReadonlyArray<PastStep>
  /**
   * How many tool calls it may make, those of runs inside it included. What it asks of the `Toolbox` in context beyond that
   * fails and is not made; to tools that it brings along it has to keep the bound itself.
   */
  readonly maxToolCalls: number
  /** The absolute id under which its calls are named, see `CallPath.at`. */
  readonly call: CallId
}

/** What an executor reports. */
export interface ExecutorResult {
  readonly status: "completed" | "failed"
  /** The result in full, or why there is none. */
  readonly result: string
  /** How its tool calls ended, where it made any and counts them. */
  readonly toolCalls?: { readonly succeeded: number; readonly failed: number }
}

/** Carries out one step. What it fails with is a failed step to its caller; only an `LlmError` ends the run. */
export type Executor<E, R> = (input: ExecutorInput) => Effect.Effect<ExecutorResult, E, R>
