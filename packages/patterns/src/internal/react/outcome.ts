/**
 * Results and errors of a run of ReAct.
 *
 * @internal
 */
import type * as Failure from "@forethought/core/Failure"
import type { LlmError } from "@forethought/core/Llm"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import * as Data from "effect/Data"

/** The loop ended at a cap, without an answer. */
export class CapReached extends Data.TaggedError("CapReached")<{
  readonly cap: "maxTurns" | "maxToolCalls"
  readonly limit: number
  /** The model's last words; empty if it only called tools. */
  readonly lastText: string
}> {
  override get message(): string {
    const what = this.cap === "maxTurns" ? `${this.limit} turns` : `${this.limit} tool calls`
    return `No final answer within ${what}.${this.lastText === "" ? "" : ` Last words: ${this.lastText}`}`
  }
}

/** The loop goes round in circles: the same call with the same result again and again, or replies of no use. */
export class Stuck extends Data.TaggedError("Stuck")<{
  readonly kind: "repeat" | "malformed"
  readonly detail: string
  readonly lastText: string
}> {
  override get message(): string {
    return `The run is stuck: ${this.detail}${this.lastText === "" ? "" : ` Last words: ${this.lastText}`}`
  }
}

/** The work of a run that failed. */
export interface Progress {
  readonly turns: ReadonlyArray<Turn>
}

/** The errors of a run. */
export type Error = Failure.Failure<CapReached | Stuck | TruncatedReply | LlmError, Progress>

/** A tool call of a turn, with its one observation. */
export interface TurnCall {
  readonly tool: string
  readonly input: string
  readonly outcome: "ok" | "error" | "timeout"
  /** The result in full, or the error text. */
  readonly observation: string
}

export interface Turn {
  /** The model's words: a thought, or the answer. */
  readonly text: string
  /** In the order in which the model asked for them. */
  readonly calls: ReadonlyArray<TurnCall>
}

export interface Answered {
  readonly _tag: "Answered"
  readonly answer: string
  /** Every turn, the last of which is the answer. */
  readonly turns: ReadonlyArray<Turn>
}
