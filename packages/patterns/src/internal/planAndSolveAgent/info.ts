/**
 * The Plan-and-Solve agent as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, holes, maxPlanLength, prompts, reask } from "../entries.js"
import { info as react } from "../react/info.js"

const { format: _format, maxTurns, ...inner } = react.options

export const info = {
  name: "plan-and-solve-agent",
  summary: "plans, carries out each step with tools, replans only when a step failed, answers from all results",
  chooseWhen: "several steps with strong dependencies and a clear end",
  tools: "optional",
  roles: ["planner", "executor", "replanner", "finalizer"],
  plans: true,
  keepsLast: true,
  // The turns of a step are one more than its calls.
  within: { maxTurns: 1 },
  options: {
    maxPlanLength: maxPlanLength(7),
    maxReplans: count("maximum number of replans", 2, 0),
    maxTurns,
    dataFlow: {
      kind: "choice",
      description:
        "what a step sees of earlier ones: their whole results, values that they named, or inputs that it declares",
      choices: ["results", "collected", "declared"],
      default: "results"
    },
    react: { kind: "group", description: "how ReAct carries out each step", options: inner },
    prompts: prompts({
      planner: holes("task", "tools", "max_plan_length", "reply_format"),
      // Of the whole task it need not know.
      executor: holes("step", "task", "known", "reply_format"),
      replanner: holes("task", "plan", "completed", "failure", "max_plan_length", "reply_format"),
      finalizer: holes("task", "steps", "verdict")
    }),
    reask
  }
} as const satisfies Pattern.Info
