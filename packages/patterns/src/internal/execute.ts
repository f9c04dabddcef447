/**
 * Executing one step of a plan, with events around it.
 *
 * @internal
 */

import * as CallPath from "@forethought/core/CallPath"
import type { Executor, ExecutorInput, ExecutorResult } from "@forethought/core/Executor"
import { isObject } from "@forethought/core/Json"
import type { LlmError } from "@forethought/core/Llm"
import type { Run } from "@forethought/core/Run"
import { errorInfo, type PastStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import type * as Toolbox from "@forethought/core/Toolbox"
import * as ToolCap from "@forethought/core/ToolCap"
import * as Effect from "effect/Effect"
import type * as ReAct from "../ReAct.js"
import type * as Rewoo from "../Rewoo.js"
import { endsRun } from "./ask.js"

/**
 * Hands a step to an executor. What it fails with is a failed result with the error's text and the errors of the tool
 * calls that led to it, and so is a model that has nothing to say; any other `LlmError` ends the run. Its calls are
 * named under `segment`, and it makes at most `maxToolCalls` tool calls, whatever it is made of.
 */
export const attempt = <E, R>(
  run: Run,
  executor: Executor<E, R>,
  segment: string,
  input: Omit<ExecutorInput, "call">
): Effect.Effect<ExecutorResult, LlmError, R | Toolbox.Toolbox> => {
  const call = run.id(segment)
  return Effect.suspend(() => executor({ ...input, call })).pipe(
    ToolCap.within(input.maxToolCalls),
    Effect.catchAll((error) =>
      endsRun(error) ? Effect.fail(error) : Effect.succeed({ status: "failed" as const, result: failureText(error) })
    ),
    CallPath.at(call)
  )
}

/** Returns why a step failed: the error, and what its tools had said, because the next step can avoid that. */
const failureText = (error: unknown): string => {
  const { message } = errorInfo(error)
  const errors = failedCalls(error)
  if (errors.length === 0) return message
  const shown = errors.slice(-maxShownErrors).map((text) => `- ${ReplyText.cut(text, maxErrorChars)}`)
  const earlier = errors.length - shown.length
  return [message, "Its tool calls failed:", ...(earlier > 0 ? [`- (${earlier} earlier errors)`] : []), ...shown].join(
    "\n"
  )
}

const maxShownErrors = 10
const maxErrorChars = 1_000

/** The errors of a run's calls that failed, each once, in the order in which they came last. */
const failedCalls = (error: unknown): ReadonlyArray<string> => {
  const texts = hasTurns(error)
    ? error.progress.turns.flatMap(({ calls }) =>
        calls.flatMap((call) => (call.outcome === "ok" ? [] : [call.observation]))
      )
    : hasEvidence(error)
      ? error.progress.evidence.flatMap(({ status, text }) =>
          status === "error" || status === "timeout" ? [text] : []
        )
      : []
  return texts.filter((text, i) => texts.indexOf(text, i + 1) < 0)
}

/** Returns whether an error carries the turns of a loop, as those of `ReAct.run` do. */
const hasTurns = (error: unknown): error is { readonly progress: ReAct.Progress } => hasList(error, "turns")

/** Returns whether an error carries evidence, as those of `Rewoo.parallel` do. */
const hasEvidence = (error: unknown): error is { readonly progress: Rewoo.Progress } => hasList(error, "evidence")

const hasList = (error: unknown, name: string): boolean =>
  isObject(error) && isObject(error["progress"]) && Array.isArray(error["progress"][name])

/**
 * Executes a step, the run's `index`-th, and returns it as a past step. `prompt` is what the executor is given as its
 * step, where it is more than the text; `read` says what its report means. Default: what it says.
 */
export const execute = <E, R>(
  run: Run,
  executor: Executor<E, R>,
  input: Omit<ExecutorInput, "call"> & { readonly id: string; readonly index: number; readonly prompt?: string },
  read: (reported: ExecutorResult) => Effect.Effect<Pick<PastStep, "status" | "result">> = Effect.succeed
): Effect.Effect<PastStep, LlmError, R | Toolbox.Toolbox> => {
  const { id, index, prompt, step, ...rest } = input
  const call = run.id(`step-${index}`)
  return Effect.gen(function* () {
    yield* run.emit({ _tag: "StepStarted", call, id, index, step })
    const reported = yield* attempt(run, executor, `step-${index}/executor`, { ...rest, step: prompt ?? step })
    const { result, status } = yield* read(reported)
    yield* run.emit({ _tag: "StepEnded", call, id, index, step, status, result })
    return { id, step, result, status }
  })
}
