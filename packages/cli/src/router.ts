/**
 * The Router's options: its own, and those of every pattern that it can choose.
 */
import type { AnswerFormat } from "@forethought/core/reply/AnswerFormat"
import * as Router from "@forethought/patterns/Router"
import { executorOf } from "./executors.js"
import type { OptionValues } from "./options.js"
import * as Options from "./patternOptions.js"

const isPattern = (name: string): name is Router.Pattern => Router.patterns.some((pattern) => pattern === name)

export const routerValues = (
  options: OptionValues,
  again: Options.Again,
  answerFormat: AnswerFormat<unknown>
): Router.RunOptions => {
  const fallback = options.has("fallback") ? options.text("fallback") : undefined
  const planAndExecute = options.for(Options.planAndExecute)
  const adapt = options.for(Options.adapt)
  return {
    patterns: options.list("patterns").filter(isPattern),
    ...(fallback !== undefined && isPattern(fallback) ? { fallback } : {}),
    reask: again(options.count("reask")),
    ...Options.promptsIn(options),
    react: Options.reactValues(options.for(Options.react)),
    planAndSolve: { answerFormat, ...Options.planAndSolveValues(options.for(Options.planAndSolve), again) },
    rewoo: Options.rewooParallelValues(options.for(Options.rewooParallel), again),
    planAndSolveAgent: Options.planAndSolveAgentValues(options.for(Options.planAndSolveAgent), again),
    planAndExecute: {
      ...Options.planAndExecuteValues(planAndExecute, again),
      executor: executorOf(planAndExecute, again)
    },
    adapt: { ...Options.adaptValues(adapt, again), executor: executorOf(adapt, again) }
  }
}
