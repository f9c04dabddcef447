/**
 * Results and errors of a run of Plan-and-Execute.
 *
 * @internal
 */
import type * as Failure from "@forethought/core/Failure"
import type { LlmError } from "@forethought/core/Llm"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import type { ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import type { PastStep } from "@forethought/core/RunEvent"
import * as Data from "effect/Data"

export interface Answered {
  readonly _tag: "Answered"
  readonly answer: string
  /** Every executed step, oldest first. */
  readonly pastSteps: ReadonlyArray<PastStep>
}

/** The cap of executed steps was reached before the goal. */
export class StepCapReached extends Data.TaggedError("StepCapReached")<{
  readonly maxSteps: number
  readonly progress?: Progress
}> {
  override get message(): string {
    return `The goal was not reached within ${this.maxSteps} steps; ${this.progress?.remainingPlan.length ?? 0} planned steps are left.`
  }
}

/** The work of a run that failed. */
export interface Progress {
  /** Every executed step, oldest first. */
  readonly pastSteps: ReadonlyArray<PastStep>
  /** The steps that were still planned. */
  readonly remainingPlan: ReadonlyArray<string>
}

/** The errors of a run. */
export type Error = Failure.Failure<StepCapReached | PlanRefused | ParseError | TruncatedReply | LlmError, Progress>
