/**
 * What an executor is told: its step alone, or its step with what came before.
 *
 * @internal
 */
import type { ExecutorInput } from "@forethought/core/Executor"
import type { PastStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"

/** The executor's task: the step word for word where it sees nothing else. */
export const task = (input: ExecutorInput): string =>
  input.pastSteps.length === 0
    ? input.step
    : `The goal of the whole plan: ${input.goal}

Steps already completed, with results:
${pastSteps(input.pastSteps)}

Your step:
${input.step}`

/** Each past step under its number, with its result in a fence that the result cannot close; some are left out. */
export const pastSteps = (
  steps: ReadonlyArray<PastStep>,
  isShown: (past: PastStep) => boolean = () => true
): string => {
  const shown = steps.flatMap((past, index) => (isShown(past) ? [pastStep(past, index + 1, past.result)] : []))
  return shown.length === 0 ? "(none)" : shown.join("\n")
}

/** One past step, with its result or as much of it as is to be shown. */
export const pastStep = (past: PastStep, number: number, result: string): string =>
  `${number}. ${past.step}\nResult (${past.status}):\n${ReplyText.fence("result", result)}`
