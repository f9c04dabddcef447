/**
 * Results and errors of a run of ReWOO.
 *
 * @internal
 */
import type * as Failure from "@forethought/core/Failure"
import type { LlmError } from "@forethought/core/Llm"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import type { Evidence } from "@forethought/core/RunEvent"
import * as Data from "effect/Data"
import { issueMessage, type PlanIssue } from "./issues.js"

/** The answer, and what it rests on. */
export interface Answered {
  readonly _tag: "Answered"
  /** The solver's answer with its justification. */
  readonly answer: string
  /** One piece for each planned call, in plan order. */
  readonly evidence: ReadonlyArray<Evidence>
}

/** The plan cannot be read or is not valid, also after the planner was asked again. No tool has run. */
export class InvalidPlan extends Data.TaggedError("InvalidPlan")<{
  /** Everything that is wrong, not only the first. */
  readonly issues: ReadonlyArray<PlanIssue>
  /** The planner's whole reply. */
  readonly reply: string
}> {
  override get message(): string {
    const shown = this.issues.slice(0, maxShownIssues).map((issue) => `- ${issueMessage(issue)}`)
    const more = this.issues.length - shown.length
    return ["The plan is not valid:", ...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n")
  }
}

/** A reply of a thousand bad lines must not fill the next prompt with complaints. */
const maxShownIssues = 20

/** The work of a run that failed: the evidence of the calls that had ended, in plan order. */
export interface Progress {
  readonly evidence: ReadonlyArray<Evidence>
}

/** The errors of a run. */
export type Error = Failure.Failure<InvalidPlan | PlanRefused | TruncatedReply | LlmError, Progress>
