/**
 * Plan-and-Execute as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, holes, maxPlanLength, maxToolCalls, prompts, reask } from "../entries.js"
import { executor } from "../react/info.js"

export const info = {
  name: "plan-and-execute",
  summary: "plans, carries out one step, revises the plan from its result, and so on",
  chooseWhen: "the next steps depend on what is found",
  tools: "optional",
  roles: ["planner", "executor", "replanner"],
  plans: true,
  options: {
    maxSteps: count("maximum number of steps that are carried out", 10),
    maxPlanLength: maxPlanLength(7),
    maxToolCalls: maxToolCalls(5),
    executor,
    executorSees: {
      kind: "choice",
      description: "what the executor sees: its step alone, or the past steps and the goal too",
      choices: ["step", "all"],
      default: "step"
    },
    maxPromptChars: count("maximum number of characters of the replanner's prompt", 100_000, 1_000),
    prompts: prompts({
      planner: holes("goal", "tool_names"),
      replanner: holes("goal", "plan", "past_steps")
    }),
    reask
  }
} as const satisfies Pattern.Info
