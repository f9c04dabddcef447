/**
 * The options of each pattern, as they stand in its own `RunOptions`, and how they get from the command line there.
 */
import type * as Adapt from "@forethought/patterns/Adapt"
import type * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import type * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import type * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import type * as ReAct from "@forethought/patterns/ReAct"
import type * as Rewoo from "@forethought/patterns/Rewoo"
import type { Holes, OptionValues, PatternOption } from "./options.js"

type Options = ReadonlyArray<PatternOption>

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

const count = (name: string, description: string, standard: number, least = 1): PatternOption => ({
  name,
  kind: "count",
  least,
  description,
  default: String(standard)
})

const toolTimeout: PatternOption = {
  name: "toolTimeout",
  kind: "duration",
  default: "30 seconds",
  description: "how long one tool call may take"
}
const reask = count("reask", "how often a model is asked again because its reply cannot be used", 1, 0)
const prompts = (holes: { readonly [key: string]: Holes }): PatternOption => ({
  name: "prompts",
  kind: "file",
  choices: Object.keys(holes),
  holes,
  description: "a JSON file with prompts in place of the default ones"
})
const about = (needed: string, ...others: ReadonlyArray<string>): Holes => ({ needed, all: [needed, ...others] })
const maxPlanLength = (standard: number) => count("maxPlanLength", "the most steps that a plan may have", standard)
const maxTurns = count("maxTurns", "the most turns of the ReAct loop", 8)

/** How the ReAct loop runs, be it the pattern or what executes its steps. */
const loop: Options = [
  {
    name: "protocol",
    kind: "choice",
    choices: ["native", "text"],
    default: "native",
    description: "ReAct calls tools natively, or by text, for models without tool calling"
  },
  count("maxRepeats", "how often running the same call may give the same result before ReAct is stuck", 3, 2),
  toolTimeout,
  count("maxObservationChars", "how many characters of one tool result ReAct's model is shown", 20_000)
]
const executor: PatternOption = {
  name: "executor",
  kind: "choice",
  choices: ["react", "adapt", "rewoo-parallel", "plan-and-solve-agent"],
  default: "react",
  description: "the pattern that carries out each step"
}
const maxDepth = count("maxDepth", "the depth at which a failed task is not split any more; the root is at 1", 3)
const maxSubSteps = count("maxSubSteps", "the most sub-steps that a task is split into", 4, 2)
const dataFlow: PatternOption = {
  name: "dataFlow",
  kind: "choice",
  choices: ["results", "collected", "declared"],
  default: "results",
  description: "what a step sees of earlier ones (their whole results, values that they named, inputs that it declares)"
}

export const rewoo: Options = [
  maxPlanLength(8),
  toolTimeout,
  count(
    "maxEvidenceChars",
    "how many characters of evidence go into one later input, and into the solver's prompt",
    50_000
  ),
  prompts({
    planner: about("question", "tool_descriptions"),
    solver: about("question", "plan_with_evidence")
  }),
  reask
]

export const rewooParallel: Options = [
  ...rewoo,
  count("concurrency", "how many tool calls run at once, at the most", 4)
]

export const react: Options = [
  maxTurns,
  count("maxToolCalls", "the most tool calls, of one step or attempt where there are several", 8, 0),
  ...loop,
  prompts({ native: { all: [] }, text: { all: ["tool_descriptions"] } })
]

export const planAndExecute: Options = [
  count("maxSteps", "the most steps that are executed", 10),
  maxPlanLength(7),
  count("maxToolCalls", "the most tool calls, of one step or attempt where there are several", 5, 0),
  executor,
  {
    name: "executorSees",
    kind: "choice",
    choices: ["step", "all"],
    default: "step",
    description: "whether the executor sees its step alone, or the past steps and the goal too"
  },
  count("maxPromptChars", "the most characters of the replanner's prompt", 100_000, 1_000),
  prompts({ planner: about("goal", "tool_names"), replanner: about("goal", "plan", "past_steps") }),
  reask,
  ...loop
]

export const planAndSolve: Options = [
  {
    name: "answerFormat",
    kind: "format",
    default: "text",
    description: "what the answer must be: number, date, text, or options such as option:A,B,C"
  },
  count("maxReasoningTokens", "the most output tokens of the reasoning", 1_000),
  prompts({ reasoner: about("question"), extractor: about("question", "reasoning", "answer_format") }),
  reask
]

export const adapt: Options = [
  maxDepth,
  maxSubSteps,
  count("maxToolCalls", "the most tool calls, of one step or attempt where there are several", 8, 0),
  { ...executor, choices: ["react", "rewoo-parallel", "plan-and-solve-agent"] },
  prompts({
    executor: about("task", "tool_descriptions"),
    planner: about("task", "reason", "max_sub_steps")
  }),
  reask,
  ...loop
]

export const planAndSolveAgent: Options = [
  maxPlanLength(7),
  count("maxReplans", "the most replans", 2, 0),
  maxTurns,
  dataFlow,
  prompts({
    planner: about("task", "tools", "max_plan_length", "reply_format"),
    // Of the whole task it need not know.
    executor: about("step", "task", "known", "reply_format"),
    replanner: about("task", "plan", "completed", "failure", "max_plan_length", "reply_format"),
    finalizer: about("task", "steps", "verdict")
  }),
  reask,
  ...loop
]

const names = [
  "react",
  "plan-and-solve",
  "rewoo",
  "rewoo-parallel",
  "plan-and-solve-agent",
  "plan-and-execute",
  "adapt"
]

const others = [react, planAndSolve, rewooParallel, planAndSolveAgent, planAndExecute, adapt]

/** The Router's own, and every option of the patterns that it can choose. */
export const auto: Options = [
  {
    name: "patterns",
    kind: "list",
    choices: names,
    default: names.join(","),
    description: "the patterns to choose from, with commas between them"
  },
  {
    name: "fallback",
    kind: "choice",
    choices: names,
    description: "the pattern that is taken when the router's reply cannot be read"
  },
  prompts({ router: about("task", "patterns") }),
  ...others
    .flat()
    .filter(({ name }, index, all) => name !== "prompts" && all.findIndex((other) => other.name === name) === index)
]

/** The options of `auto` itself: the others are those of the pattern that is chosen. */
export const isRouters = (name: string): boolean => ["patterns", "fallback", "prompts", "reask"].includes(name)

// ---------------------------------------------------------------------------------------------------------------
// values
// ---------------------------------------------------------------------------------------------------------------

/** Imports the module that schedules how often a model is asked again. */
export type Again = (times: number) => NonNullable<Rewoo.SequentialOptions["reask"]>

export const promptsIn = (options: OptionValues): { readonly prompts?: { readonly [key: string]: string } } => {
  const texts = options.texts("prompts")
  return texts === undefined ? {} : { prompts: texts }
}

/** Options of the ReAct loop, wherever it runs. */
export const loopValues = (options: OptionValues) => ({
  protocol: options.text("protocol") === "text" ? ("text" as const) : ("native" as const),
  maxRepeats: options.count("maxRepeats"),
  toolTimeout: options.millis("toolTimeout"),
  maxObservationChars: options.count("maxObservationChars")
})

export const reactValues = (options: OptionValues): ReAct.RunOptions => ({
  maxTurns: options.count("maxTurns"),
  maxToolCalls: options.count("maxToolCalls"),
  ...loopValues(options),
  ...promptsIn(options)
})

export const rewooValues = (options: OptionValues, again: Again): Rewoo.SequentialOptions => ({
  maxPlanLength: options.count("maxPlanLength"),
  toolTimeout: options.millis("toolTimeout"),
  maxEvidenceChars: options.count("maxEvidenceChars"),
  reask: again(options.count("reask")),
  ...promptsIn(options)
})

export const rewooParallelValues = (options: OptionValues, again: Again): Rewoo.ParallelOptions => ({
  ...rewooValues(options, again),
  concurrency: options.count("concurrency")
})

export const planAndExecuteValues = (
  options: OptionValues,
  again: Again
): Omit<PlanAndExecute.RunOptions, "executor"> => ({
  maxSteps: options.count("maxSteps"),
  maxPlanLength: options.count("maxPlanLength"),
  maxToolCalls: options.count("maxToolCalls"),
  executorSees: options.text("executorSees") === "all" ? "all" : "step",
  maxPromptChars: options.count("maxPromptChars"),
  reask: again(options.count("reask")),
  ...promptsIn(options)
})

export const planAndSolveValues = (
  options: OptionValues,
  again: Again
): Omit<PlanAndSolve.RunOptions<unknown>, "answerFormat"> => ({
  maxReasoningTokens: options.count("maxReasoningTokens"),
  reask: again(options.count("reask")),
  ...promptsIn(options)
})

export const adaptValues = (options: OptionValues, again: Again): Omit<Adapt.RunOptions, "executor" | "verify"> => ({
  maxDepth: options.count("maxDepth"),
  maxSubSteps: options.count("maxSubSteps"),
  maxToolCalls: options.count("maxToolCalls"),
  reask: again(options.count("reask")),
  ...promptsIn(options)
})

export const planAndSolveAgentValues = (options: OptionValues, again: Again): PlanAndSolveAgent.RunOptions => {
  const dataFlow = options.text("dataFlow")
  return {
    maxPlanLength: options.count("maxPlanLength"),
    maxReplans: options.count("maxReplans"),
    maxTurns: options.count("maxTurns"),
    dataFlow: dataFlow === "collected" || dataFlow === "declared" ? dataFlow : "results",
    react: loopValues(options),
    reask: again(options.count("reask")),
    ...promptsIn(options)
  }
}
