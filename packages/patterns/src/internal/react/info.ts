/**
 * ReAct as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, maxToolCalls, prompts, toolTimeout } from "../entries.js"

/** Options of the loop, wherever it runs. */
export const loop = {
  maxRepeats: count("how many times running the same call may give the same result before ReAct is stuck", 3, 2),
  protocol: {
    kind: "choice",
    description: "how ReAct calls tools: natively, or by text for models without tool calling",
    choices: ["native", "text"],
    default: "native"
  },
  toolTimeout,
  maxObservationChars: count("maximum number of characters of one tool result that ReAct's model is shown", 20_000)
} as const

export const info = {
  name: "react",
  summary: "thinks, calls tools, sees what they return, and so on until it answers",
  chooseWhen: "one fact, one tool call, fewer than 3 steps, or open-ended with fuzzy borders",
  tools: "optional",
  roles: ["executor"],
  // A turn for each call, one for the answer and one for a correction.
  within: { maxToolCalls: 0, maxTurns: 2 },
  options: {
    maxTurns: count("maximum number of turns of the ReAct loop", 8),
    maxToolCalls: maxToolCalls(8),
    ...loop,
    format: { kind: "code", description: "the JSON Schema of the answer, a hint for models that can be held to it" },
    prompts: prompts({ native: { all: [] }, text: { all: ["tool_descriptions"] } })
  }
} as const satisfies Pattern.Info

/** The option that says what carries out the steps of another pattern. */
export const executor = {
  kind: "executor",
  description: "the pattern that carries out each step",
  default: info.name
} as const
