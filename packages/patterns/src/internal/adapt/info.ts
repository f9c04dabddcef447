/**
 * ADaPT as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, holes, maxToolCalls, prompts, reask } from "../entries.js"
import { executor } from "../react/info.js"

export const info = {
  name: "adapt",
  summary: "tries the task, and splits only what fails into sub-steps, again and again",
  chooseWhen: "a task of unknown difficulty that may simply work, or parts of it fail",
  tools: "optional",
  roles: ["executor", "planner"],
  within: { maxToolCalls: 0 },
  options: {
    maxDepth: count("depth at which a failed task is not split any more; the root is at 1", 3),
    maxSubSteps: count("maximum number of sub-steps that a task is split into", 4, 2),
    maxToolCalls: maxToolCalls(8),
    executor,
    verify: { kind: "code", type: "function", description: "checks a result that is reported as a success" },
    prompts: prompts({
      executor: holes("task", "tool_descriptions"),
      planner: holes("task", "reason", "max_sub_steps")
    }),
    reask
  }
} as const satisfies Pattern.Info
