/**
 * Shows the steps done so far in the agent's prompts.
 *
 * @internal
 */

import * as Executor from "@forethought/core/Executor"
import type { PastStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import type { AgentStep, Report } from "./dataFlow.js"
import type { Collected, CollectedData } from "./outcome.js"

/** The results that are known when a step starts. */
export interface Known {
  readonly pastSteps: ReadonlyArray<PastStep>
  readonly collected: CollectedData
  /** For each executed step the values that it named. */
  readonly given: ReadonlyArray<Report["collected"]>
}

/** Returns what the step sees of what came before. */
export const known = (
  dataFlow: "results" | "collected" | "declared",
  { collected, given, pastSteps }: Known,
  step: AgentStep
): string => {
  switch (dataFlow) {
    case "results":
      return `Steps completed before, with results:\n${Executor.pastSteps(pastSteps)}`
    case "collected":
      return `Steps completed before:\n${pastSteps.length === 0 ? "(none)" : pastSteps.map((past, index) => inBrief(past, index + 1, given[index])).join("\n")}\n\nValues collected so far:\n${values(Object.entries(collected))}`
    case "declared":
      return `Inputs of this step:\n${values(
        step.inputs.flatMap((source) => {
          const named = given[source.step - 1]?.find(([name]) => name === source.output)
          return named === undefined ? [] : [[source.output, { value: named[1], step: source.step }] as const]
        })
      )}`
  }
}

/** A step whose values are told elsewhere; one that named none would else hand on nothing. */
const inBrief = (past: PastStep, number: number, given: Report["collected"] = []): string => {
  const line = `${number}. ${past.step} (${past.status})`
  if (given.length > 0 || past.result === "") return line
  return `${line}\n${ReplyText.fence("result", ReplyText.cut(past.result, maxUnnamedChars))}`
}

const maxUnnamedChars = 2_000

const values = (entries: ReadonlyArray<readonly [name: string, value: Collected]>): string =>
  entries.length === 0
    ? "(none)"
    : entries
        .map(([name, { step, value }]) => `${name} (from step ${step}):\n${ReplyText.fence("value", value)}`)
        .join("\n")

export const numbered = (steps: ReadonlyArray<string>, from: number): string =>
  steps.map((step, index) => `${from + index}. ${step}`).join("\n")
