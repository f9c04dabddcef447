/**
 * Results and errors of a run of the Plan-and-Solve agent.
 *
 * @internal
 */
import type * as Failure from "@forethought/core/Failure"
import type { LlmError } from "@forethought/core/Llm"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import type { ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import type { PastStep } from "@forethought/core/RunEvent"
import * as Data from "effect/Data"

/** A value that a step gave a name. */
export interface Collected {
  readonly value: string
  /** The index of the step that gave it. */
  readonly step: number
}

export type CollectedData = { readonly [name: string]: Collected }

export interface Answered {
  readonly _tag: "Answered"
  readonly answer: string
  readonly pastSteps: ReadonlyArray<PastStep>
  readonly collectedData: CollectedData
}

/** The work of a run that failed. */
export interface Progress {
  readonly pastSteps: ReadonlyArray<PastStep>
  readonly collectedData: CollectedData
}

/** The replans ran out with a step still failed. `answer` says so, with what was found. */
export class NotCompleted extends Data.TaggedError("NotCompleted")<{
  readonly answer: string
  /** The failed steps, each with how it failed, and those that were not carried out. */
  readonly missing: ReadonlyArray<string>
  /** The error of a step that was cut short by a budget, with that step's own progress. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return `The task could not be completed. Missing: ${this.missing.join("; ")}`
  }
}

/** The errors of a run. */
export type Error = Failure.Failure<NotCompleted | PlanRefused | ParseError | TruncatedReply | LlmError, Progress>
