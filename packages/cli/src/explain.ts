/**
 * What a run would do: the plan with its graph, and the calls and the money that it will take.
 */
import type * as Llm from "@forethought/core/Llm"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as PlanGraph from "@forethought/core/PlanGraph"
import type * as RunEvent from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { execute, type Job } from "./execute.js"
import { type Expected, expected, money, rangeText } from "./expected.js"
import { type Limits, type Prices, pricesOf } from "./limits.js"
import type { Models } from "./models.js"
import { handedOn, optionValues } from "./options.js"
import { isRouters } from "./patternOptions.js"
import { type PatternEntry, patterns } from "./patterns.js"
import type { Screen } from "./screen.js"
import { oneLine } from "./text.js"

/** What one model call of the run took, as far as it was seen. */
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

/** A plan, or what can be said without one. */
export interface Explained {
  readonly pattern: string
  readonly steps: ReadonlyArray<RunEvent.PlannedStep> | undefined
  readonly graph: PlanGraph.PlanGraph | undefined
  readonly expected: Expected
  /** In words. */
  readonly cost: string
}

const isParallel = (pattern: string): boolean => pattern === "rewoo-parallel"

/** Steps of a list follow each other, though no step names another. */
const chained = (pattern: string, steps: ReadonlyArray<RunEvent.PlannedStep>): ReadonlyArray<RunEvent.PlannedStep> =>
  pattern.startsWith("rewoo") || steps.some(({ dependsOn }) => dependsOn.length > 0)
    ? steps
    : steps.map((step, index) => {
        const before = steps[index - 1]
        return before === undefined ? step : { ...step, dependsOn: [before.id] }
      })

export const describe = (
  pattern: PatternEntry,
  steps: ReadonlyArray<RunEvent.PlannedStep> | undefined,
  options: ReadonlyMap<string, string | number>,
  priced: { readonly prices: Prices; readonly seen: Seen }
): Explained => {
  const calls = expected(pattern.name, optionValues(pattern.options, options), steps)
  const graph = steps === undefined ? undefined : PlanGraph.make(chained(pattern.name, steps))
  return {
    pattern: pattern.name,
    steps,
    graph: graph === undefined || Either.isLeft(graph) ? undefined : graph.right,
    expected: calls,
    cost: costText(calls, priced.prices, priced.seen)
  }
}

const costText = ({ modelCalls }: Expected, prices: Prices, seen: Seen): string => {
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
  { cost, expected: calls, graph, pattern }: Explained,
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
          isParallel(pattern)
            ? `at once: at most ${graph.width}${graph.width === 1 ? " step" : " steps"}`
            : "at once: one step after another"
        ]),
    `model calls: ${rangeText(calls.modelCalls)}`,
    `tool calls: ${rangeText(calls.toolCalls)}${byTool.length === 0 ? "" : ` (${byTool.join(", ")})`}`,
    `cost: ${cost}`
  ]
}

export const mermaid = (graph: PlanGraph.PlanGraph): string => PlanGraph.mermaid(graph)

/** For `--json`. */
export const document = ({ cost, expected: calls, graph, pattern, steps }: Explained): object => ({
  pattern,
  ...(steps === undefined ? {} : { plan: steps }),
  ...(graph === undefined
    ? {}
    : {
        graph: {
          waves: graph.waves.map((wave) => wave.map(({ id }) => id)),
          criticalPath: graph.criticalPath.map(({ id }) => id),
          width: isParallel(pattern) ? graph.width : 1,
          mermaid: mermaid(graph)
        }
      }),
  modelCalls: calls.modelCalls,
  toolCalls: calls.toolCalls,
  cost
})

// ---------------------------------------------------------------------------------------------------------------
// planning
// ---------------------------------------------------------------------------------------------------------------

/** Patterns that ask for no plan before they work. */
const planless: { readonly [pattern: string]: string } = {
  react: "plans nothing up front: it chooses each tool call when it has seen the one before.",
  adapt: "plans nothing up front: it tries the task first, and splits only what fails.",
  "plan-and-solve": "writes plan and reasoning in one reply, so there is no plan to show before it has run."
}

/** Why a pattern has no plan to show, as a sentence. */
export const whyPlanless = (pattern: string): string | undefined =>
  planless[pattern] === undefined ? undefined : `${pattern} ${planless[pattern]}`

export type Planned =
  | { readonly _tag: "Explained"; readonly explained: Explained; readonly routed: string | undefined }
  | { readonly _tag: "Ended"; readonly ended: Awaited<ReturnType<typeof execute>> }

/** Plans and runs nothing. A pattern without a plan up front is described without asking a model. */
export const plan = async (
  job: Omit<Job, "planReview" | "watch"> & { readonly limits: Limits; readonly models: Models },
  screen: Screen | undefined,
  signal: AbortSignal
): Promise<Planned> => {
  const prices = await pricesOf(job.models, job.limits)
  const seen = see()
  let chosen = job.pattern
  let routed: string | undefined
  let proposed: PlanApproval.ProposedPlan | undefined
  const explained = (): Planned => {
    const options = chosen === job.pattern ? job.options : handedOn(job.options, chosen.options)
    return { _tag: "Explained", routed, explained: describe(chosen, proposed?.steps, options, { prices, seen }) }
  }
  if (planless[job.pattern.name] !== undefined) return explained()
  const pattern =
    job.pattern.name === "auto"
      ? await routing(job.pattern, (entry, reason) => {
          chosen = entry
          routed = `${entry.name}: ${reason}`
        })
      : job.pattern
  const ended = await execute(
    {
      ...job,
      pattern,
      planReview: (plan) => {
        proposed = plan
        return Effect.succeed(PlanApproval.refuse("it was to be explained"))
      },
      watch: (event) => {
        seen.on(event)
        if (event._tag === "ModelCallStarted") screen?.print(screen.style("dim", `asking the ${event.role} …`))
        if (event._tag === "ReplyRejected") {
          screen?.print(`the reply cannot be used: ${oneLine(event.error.message, 200)}`)
        }
      }
    },
    undefined,
    signal
  )
  if (proposed !== undefined || ended._tag === "Answered") return explained()
  return { _tag: "Ended", ended }
}

/** The Router, which goes on to the plan of what it chose, and to nothing else. */
const routing = async (
  auto: PatternEntry,
  onChosen: (entry: PatternEntry, reason: string) => void
): Promise<PatternEntry> => ({
  ...auto,
  load: async () => {
    const [Router, { routerValues }, Schedule, AnswerFormat] = await Promise.all([
      import("@forethought/patterns/Router"),
      import("./router.js"),
      import("effect/Schedule"),
      import("@forethought/core/reply/AnswerFormat")
    ])
    return (task, options) => {
      const all = routerValues(options, Schedule.recurs, AnswerFormat.text)
      const own = Object.fromEntries(Object.entries(all).filter(([name]) => isRouters(name)))
      return Effect.flatMap(Router.route(task, own), ({ pattern, reason }) => {
        const entry = patterns.find(({ name }) => name === pattern) ?? auto
        onChosen(entry, reason)
        return planless[entry.name] !== undefined
          ? Effect.succeed({ answer: entry.name, result: {} })
          : Effect.flatMap(
              Effect.promise(() => entry.load()),
              (run) => run(task, options.for(entry.options))
            )
      })
    }
  }
})
