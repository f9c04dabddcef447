/**
 * The patterns that can carry out the steps of another.
 */
import type { Executor } from "@forethought/core/Executor"
import type * as Llm from "@forethought/core/Llm"
import type * as Toolbox from "@forethought/core/Toolbox"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import type { OptionValues } from "./options.js"
import * as Options from "./patternOptions.js"

type Executed = Adapt.Error | PlanAndSolveAgent.Error | ReAct.Error | Rewoo.Error

/** The executor that `--executor` names, with the options of its loop and of its own. */
export const executorOf = (
  options: OptionValues,
  again: Options.Again
): Executor<Executed, Llm.Llm | Toolbox.Toolbox> => {
  const loop = Options.loopValues(options)
  switch (options.text("executor")) {
    case "adapt": {
      const { maxToolCalls: _, prompts: __, ...adapt } = Options.adaptValues(options.for(Options.adapt), again)
      return Adapt.executorWith({ ...adapt, executor: ReAct.executorWith(loop) })
    }
    case "rewoo-parallel": {
      const own = Options.rewooParallelValues(options.for(Options.rewooParallel), again)
      const { maxPlanLength: _, prompts: __, ...rewoo } = own
      return Rewoo.executorWith(rewoo)
    }
    case "plan-and-solve-agent": {
      const own = Options.planAndSolveAgentValues(options.for(Options.planAndSolveAgent), again)
      const { maxTurns: _, prompts: __, ...agent } = own
      return PlanAndSolveAgent.executorWith(agent)
    }
    default:
      return ReAct.executorWith(loop)
  }
}
