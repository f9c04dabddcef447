/**
 * What the agent's prompts show of the steps done so far.
 *
 * @internal
 */
import * as ReplyText from "@forethought/core/reply/ReplyText"
import type { Collected, CollectedData, ExecutedStep } from "../../PlanAndSolveAgent.js"
import type { AgentStep, Report } from "./dataFlow.js"

/** What is known when a step starts. */
export interface Known {
  readonly steps: ReadonlyArray<ExecutedStep>
  readonly collected: CollectedData
  /** For each executed step the values that it named. */
  readonly given: ReadonlyArray<Report["collected"]>
}

/** What the step sees of what came before. */
export const known = (
  dataFlow: "results" | "collected" | "declared",
  { collected, given, steps }: Known,
  step: AgentStep
): string => {
  switch (dataFlow) {
    case "results":
      return `Steps completed before, with results:\n${inFull(steps)}`
    case "collected":
      return `Steps completed before:\n${steps.length === 0 ? "(none)" : steps.map((past) => inBrief(past, given[past.index - 1])).join("\n")}\n\nValues collected so far:\n${values(Object.entries(collected))}`
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
const inBrief = (past: ExecutedStep, given: Report["collected"] = []): string => {
  const line = `${past.index}. ${past.description} (${past.status})`
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

/** Steps as {index, description, result}, in full. */
export const inFull = (steps: ReadonlyArray<ExecutedStep>): string =>
  steps.length === 0
    ? "(none)"
    : steps
        .map(
          ({ description, index, result, status }) =>
            `${index}. ${description}\nResult (${status}):\n${ReplyText.fence("result", result)}`
        )
        .join("\n")

export const numbered = (steps: ReadonlyArray<string>, from: number): string =>
  steps.map((step, index) => `${from + index}. ${step}`).join("\n")
