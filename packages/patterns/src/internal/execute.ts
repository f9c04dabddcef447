/**
 * Executing one step of a plan, with events around it.
 *
 * @internal
 */
import * as CallPath from "@forethought/core/CallPath"
import type { Executor, ExecutorInput, ExecutorResult } from "@forethought/core/Executor"
import { LlmError } from "@forethought/core/Llm"
import type { Run } from "@forethought/core/Run"
import { errorInfo, type PastStep } from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"

/**
 * Hands a step to an executor. What it fails with is a failed result with the error's text, and so is a model that has
 * nothing to say; any other `LlmError` ends the run. Its calls are named under `segment`.
 */
export const attempt = <E, R>(
  run: Run,
  executor: Executor<E, R>,
  segment: string,
  input: Omit<ExecutorInput, "call">
): Effect.Effect<ExecutorResult, LlmError, R> => {
  const call = run.id(segment)
  return Effect.suspend(() => executor({ ...input, call })).pipe(
    Effect.catchAll((error) =>
      error instanceof LlmError && error.reason._tag !== "EmptyReply"
        ? Effect.fail(error)
        : Effect.succeed({ status: "failed" as const, result: errorInfo(error).message })
    ),
    CallPath.at(call)
  )
}

/** Executes step number `index` and keeps it as a past step. */
export const execute = <E, R>(
  run: Run,
  executor: Executor<E, R>,
  input: Omit<ExecutorInput, "call"> & { readonly index: number }
): Effect.Effect<PastStep, LlmError, R> => {
  const { index, step } = input
  const call = run.id(`step-${index}`)
  return Effect.gen(function* () {
    yield* run.emit({ _tag: "StepStarted", call, index, step })
    const { result, status } = yield* attempt(run, executor, `step-${index}/executor`, input)
    yield* run.emit({ _tag: "StepEnded", call, index, step, status, result })
    return { step, result, status }
  })
}
