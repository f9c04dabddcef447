/**
 * Results and errors of a run of ADaPT.
 *
 * @internal
 */
import type * as Failure from "@forethought/core/Failure"
import type { LlmError } from "@forethought/core/Llm"
import * as Data from "effect/Data"

/** The work of a run that failed: the tree of attempted tasks, each with its result or reason. */
export interface Progress {
  readonly tree: TaskNode
}

/** The task failed: its attempt failed, and so did its sub-steps, or it could not be split. */
export class TaskFailed extends Data.TaggedError("TaskFailed")<{ readonly reason: string }> {
  override get message(): string {
    return `The task failed: ${this.reason}`
  }
}

/** The errors of a run. */
export type Error = Failure.Failure<TaskFailed | LlmError, Progress>

/**
 * What a task gave: the executor's result; for *and* the results of the sub-steps in order; for *or* the one's that
 * succeeded.
 */
export type Result = string | ReadonlyArray<Result>

/** The executor's report when it tried a task itself. */
export interface Attempt {
  readonly status: "completed" | "failed"
  /** The result, or the reason of the failure. */
  readonly detail: string
  /** False where tools were called and none of the calls succeeded, or where `verify` was not asked or said no. */
  readonly verified: boolean
}

/** A task that was tried, and what became of it. */
export interface TaskNode {
  readonly _tag: "Task"
  /** Its place in the tree: `1` is the root, `1.2` its second sub-step. */
  readonly id: string
  readonly task: string
  /** 1 for the root. */
  readonly depth: number
  /** `running` only in a tree that an error carries: the run ended in the midst of it. */
  readonly status: "completed" | "failed" | "running"
  readonly attempt?: Attempt
  /** The split of the task after its attempt failed. */
  readonly subSteps?: GroupNode
  readonly result?: Result
  /** The reason why the task failed. */
  readonly reason?: string
  /** False where the success rests on no successful tool call, though tools were called. */
  readonly verified?: boolean
}

/** Sub-steps under one logic. Those behind the one that decided were not tried and are not listed. */
export interface GroupNode {
  readonly _tag: "Group"
  readonly id: string
  readonly logic: "and" | "or"
  /** Every planned sub-step as the planner wrote it; a nested group as its logic and sub-steps. */
  readonly planned: ReadonlyArray<string>
  readonly children: ReadonlyArray<Node>
}

export type Node = TaskNode | GroupNode

export interface Answered {
  readonly _tag: "Answered"
  /** The result as text: of an *and* the results one below the other. */
  readonly answer: string
  readonly result: Result
  readonly tree: TaskNode
  /** False where the success rests on no successful tool call, though tools were called. */
  readonly verified: boolean
}
