/**
 * What the two variants of ReWOO are, as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, holes, maxPlanLength, prompts, reask, toolTimeout } from "../entries.js"

const options = {
  maxPlanLength: maxPlanLength(8),
  toolTimeout,
  maxEvidenceChars: count(
    "maximum number of characters of all evidence together, in one later input and in the solver's prompt",
    50_000
  ),
  prompts: prompts({
    planner: holes("question", "tool_descriptions"),
    solver: holes("question", "plan_with_evidence")
  }),
  reask
} as const

const common = {
  tools: "needed",
  roles: ["planner", "solver"],
  plans: true,
  keepsLast: true,
  // Where no call is allowed a plan of one step is made, no tool runs, and the evidence says so.
  within: { maxPlanLength: 0 }
} as const

export const sequential = {
  ...common,
  name: "rewoo",
  summary: "plans every tool call up front, runs them one after another, answers from the evidence",
  chooseWhen: "several look-ups that can be listed up front, later ones using earlier evidence",
  options
} as const satisfies Pattern.Info

export const parallel = {
  ...common,
  name: "rewoo-parallel",
  summary: "plans every tool call up front, runs each as soon as its inputs are there, answers from the evidence",
  chooseWhen: "several look-ups that can be listed up front, and some of them are independent of each other",
  options: { ...options, concurrency: count("maximum number of tool calls that run at once", 4) }
} as const satisfies Pattern.Info
