/**
 * How many calls a run will take: from the plan where there is one, and from the bounds of the pattern.
 */
import type { PlannedStep } from "@forethought/core/RunEvent"
import type { OptionValues } from "./options.js"

export interface Range {
  readonly least: number
  /** Nothing where no option bounds it, or where it is more than anybody waits for. */
  readonly most?: number | undefined
  /** What `most` would be more than. */
  readonly over?: number
}

export interface Expected {
  /** All model calls of the run, those that made the plan included. */
  readonly modelCalls: Range
  readonly toolCalls: Range
}

/** The most turns of ReAct as an executor: one for each tool call, one to answer, one to correct. */
const executorTurns = (options: OptionValues): number | undefined =>
  options.text("executor") === "react" ? options.count("maxToolCalls") + 2 : undefined

/** What ReAct allows where nothing is said. */
const reactToolCalls = 8

/** A greater number of calls says nothing. */
const many = 1_000_000_000

const capped = (range: Range): Range =>
  range.most !== undefined && range.most > many ? { least: range.least, over: many } : range

/** The calls of a pattern, with the steps of its plan where it has made one. */
export const expected = (
  pattern: string,
  options: OptionValues,
  steps: ReadonlyArray<PlannedStep> | undefined
): Expected => {
  const { modelCalls, toolCalls } = bounds(pattern, options, steps)
  return { modelCalls: capped(modelCalls), toolCalls: capped(toolCalls) }
}

const bounds = (pattern: string, options: OptionValues, steps: ReadonlyArray<PlannedStep> | undefined): Expected => {
  const again = () => options.count("reask")
  switch (pattern) {
    case "rewoo":
    case "rewoo-parallel": {
      const tools = steps?.length ?? 0
      // A planned call of the model as a worker is a model call too.
      const worker = steps?.filter(({ tool }) => tool?.toLowerCase() === "llm").length ?? 0
      return {
        modelCalls: { least: 2 + worker, most: steps === undefined ? undefined : 2 + worker + again() },
        toolCalls: { least: tools, most: steps === undefined ? options.count("maxPlanLength") : tools }
      }
    }
    case "plan-and-execute": {
      const most = options.count("maxSteps")
      const turns = executorTurns(options)
      const planned = Math.min(steps?.length ?? 1, most)
      return {
        modelCalls: {
          least: 1 + 2 * planned,
          most: turns === undefined ? undefined : 1 + again() + most * (turns + 1 + again())
        },
        toolCalls: { least: 0, most: most * options.count("maxToolCalls") }
      }
    }
    case "plan-and-solve-agent": {
      const [turns, replans] = [options.count("maxTurns"), options.count("maxReplans")]
      const planned = steps?.length ?? options.count("maxPlanLength")
      const all = planned + replans * options.count("maxPlanLength")
      return {
        modelCalls: {
          least: 2 + (steps?.length ?? 1),
          most: (1 + replans) * (1 + again()) + all * turns + 1
        },
        toolCalls: { least: 0, most: all * reactToolCalls }
      }
    }
    case "plan-and-solve":
      return { modelCalls: { least: 2, most: 2 * (1 + again()) }, toolCalls: { least: 0, most: 0 } }
    case "adapt": {
      const [depth, width] = [options.count("maxDepth"), options.count("maxSubSteps")]
      const turns = executorTurns(options)
      let [tasks, inner, level] = [0, 0, 1]
      for (let at = 1; at <= depth && tasks <= many; at++) {
        tasks += level
        if (at < depth) inner += level
        level *= width
      }
      return {
        modelCalls: { least: 1, most: turns === undefined ? undefined : tasks * turns + inner * (1 + again()) },
        toolCalls: { least: 0, most: tasks * options.count("maxToolCalls") }
      }
    }
    default:
      return {
        modelCalls: { least: 1, most: options.count("maxTurns") },
        toolCalls: { least: 0, most: options.count("maxToolCalls") }
      }
  }
}

/** `2 to 5`, `at least 2`, `3`, `none`, `1 to more than 1000000000`. */
export const rangeText = ({ least, most, over }: Range): string => {
  if (over !== undefined) return `${least} to more than ${over}`
  if (most === undefined) return least === 0 ? "any number" : `at least ${least}`
  if (most <= least) return most === 0 ? "none" : String(most)
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

/** `$0.0042`, `less than $0.0001`. */
export const money = (usd: number): string =>
  usd === 0 ? "$0" : usd < 0.0001 ? "less than $0.0001" : `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`
