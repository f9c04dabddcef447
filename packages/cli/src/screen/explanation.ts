/**
 * Explains what a run would do: the plan with its graph, and the calls and the money that it will take.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Pattern from "@forethought/core/Pattern"
import * as PlanGraph from "@forethought/core/PlanGraph"
import type * as RunEvent from "@forethought/core/RunEvent"
import * as Either from "effect/Either"
import type { Ready } from "../config/patterns.js"
import type { Prices } from "../model/limits.js"

/** The tokens of one model call of the run, as far as they were seen. */
export interface Seen {
  readonly on: (event: RunEvent.RunEvent) => void
  /** Tokens of the last planner's call that told them. */
  readonly usage: () => { readonly input: number; readonly output: number } | undefined
}

export const see = (): Seen => {
  let last: Llm.Reply | undefined
  return {
    on: (event) => {
      if (event._tag === "ModelCallEnded" && event.role === "planner" && event.reply !== undefined) last = event.reply
    },
    usage: () => {
      const { inputTokens: input, outputTokens: output } = last?.usage ?? {}
      return input === undefined || output === undefined ? undefined : { input, output }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// describing
// ---------------------------------------------------------------------------------------------------------------

/** The number of calls to expect. `over` is set if `most` is more than anybody waits for. */
interface Bounds extends Pattern.Range {
  readonly over?: number
}

/** A plan, or what can be said without one. */
export interface Explanation {
  readonly pattern: string
  readonly steps: ReadonlyArray<RunEvent.PlannedStep> | undefined
  readonly graph: PlanGraph.PlanGraph | undefined
  readonly isParallel: boolean
  readonly modelCalls: Bounds
  readonly toolCalls: Bounds
  /** In words. */
  readonly cost: string
}

/** Steps of a list follow each other, though no step names another; calls of tools say themselves what they need. */
const chained = (steps: ReadonlyArray<RunEvent.PlannedStep>): ReadonlyArray<RunEvent.PlannedStep> =>
  steps.some(({ dependsOn, tool }) => tool !== undefined || dependsOn.length > 0)
    ? steps
    : steps.map((step, index) => {
        const before = steps[index - 1]
        return before === undefined ? step : { ...step, dependsOn: [before.id] }
      })

/** Describes a plan of a pattern; `ready` has the options of the run. */
export const describe = (
  ready: Ready,
  steps: ReadonlyArray<RunEvent.PlannedStep> | undefined,
  priced: { readonly prices: Prices; readonly seen: Seen }
): Explanation => {
  const calls = ready.calls?.({}, steps) ?? {
    model: { least: 1 },
    tool: { least: 0, ...(ready.tools === "unused" ? { most: 0 } : {}) }
  }
  const graph = steps === undefined ? undefined : PlanGraph.make(chained(steps))
  return {
    pattern: ready.name,
    steps,
    graph: graph === undefined || Either.isLeft(graph) ? undefined : graph.right,
    isParallel: "concurrency" in ready.options,
    modelCalls: capped(calls.model),
    toolCalls: capped(calls.tool),
    cost: costText(calls.model, priced.prices, priced.seen)
  }
}

/** A greater number of calls says nothing. */
const many = 1_000_000_000

const capped = ({ least, most }: Pattern.Range): Bounds =>
  most !== undefined && most > many ? { least, over: many } : { least, ...(most === undefined ? {} : { most }) }

/** `2 to 5`, `at least 2`, `3`, `none`, `1 to more than 1000000000`. */
export const rangeText = ({ least, most, over }: Bounds): string => {
  if (over !== undefined) return `${least} to more than ${over}`
  if (most === undefined) return least === 0 ? "any number" : `at least ${least}`
  if (most <= least) return most === 0 ? "none" : String(most)
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

/** `$0.0042`, `less than $0.0001`. */
export const money = (usd: number): string =>
  usd === 0 ? "$0" : usd < 0.0001 ? "less than $0.0001" : `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`

const costText = (modelCalls: Pattern.Range, prices: Prices, seen: Seen): string => {
  const [unknown] = prices.unknown
  if (unknown !== undefined) return `not known: the price of ${unknown.label} is not listed (--price <in,out>)`
  const price = prices.of("planner") ?? { inputPerMillion: 0, outputPerMillion: 0 }
  if (price.inputPerMillion === 0 && price.outputPerMillion === 0) return "nothing is paid for this model"
  const usage = seen.usage()
  if (usage === undefined) {
    return `$${price.inputPerMillion} for a million input tokens and $${price.outputPerMillion} for a million output tokens`
  }
  const each = (usage.input * price.inputPerMillion + usage.output * price.outputPerMillion) / 1_000_000
  const { least, most } = modelCalls
  const amount = `${money(least * each)}${most === undefined || most === least ? "" : ` to ${money(most * each)}`}`
  return `about ${amount}${most === undefined ? " or more" : ""}, if each call takes as many tokens as the planner's (${usage.input} in, ${usage.output} out)`
}

/** For people. Texts of the plan are not made printable here. */
export const lines = (
  { cost, graph, isParallel, modelCalls, toolCalls }: Explanation,
  maxLabelChars = 100
): ReadonlyArray<string> => {
  const byTool = graph === undefined ? [] : [...graph.toolCalls.byTool].map(([tool, count]) => `${tool} ${count}`)
  return [
    ...(graph === undefined
      ? []
      : [
          `plan of ${graph.steps.length} step${graph.steps.length === 1 ? "" : "s"} (the number is when a step can start; * is on the critical path):`,
          PlanGraph.outline(graph, { maxLabelChars }),
          `critical path: ${graph.criticalPath.map(({ id }) => id).join(" → ")} (${graph.criticalPath.length} of ${graph.steps.length})`,
          isParallel
            ? `at once: at most ${graph.width}${graph.width === 1 ? " step" : " steps"}`
            : "at once: one step after another"
        ]),
    `model calls: ${rangeText(modelCalls)}`,
    `tool calls: ${rangeText(toolCalls)}${byTool.length === 0 ? "" : ` (${byTool.join(", ")})`}`,
    `cost: ${cost}`
  ]
}

export const mermaid = (graph: PlanGraph.PlanGraph): string => PlanGraph.mermaid(graph)

/** For `--json`. */
export const document = ({ cost, graph, isParallel, modelCalls, pattern, steps, toolCalls }: Explanation): object => ({
  pattern,
  ...(steps === undefined ? {} : { plan: steps }),
  ...(graph === undefined
    ? {}
    : {
        graph: {
          waves: graph.waves.map((wave) => wave.map(({ id }) => id)),
          criticalPath: graph.criticalPath.map(({ id }) => id),
          width: isParallel ? graph.width : 1,
          mermaid: mermaid(graph)
        }
      }),
  modelCalls,
  toolCalls,
  cost
})
