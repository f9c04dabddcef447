/**
 * The prompt of the Router, ours, with the table of the specification.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"

export const router = PromptTemplate.make(`Choose the pattern that should work on the task below.

Patterns:
{{patterns}}

<task>{{task}}</task>

Respond in JSON:
{"pattern": "...", "reason": "..."}`)

/** When to choose which pattern. */
export const whenToChoose = {
  react: "one fact, one tool call, fewer than 3 steps, or open-ended with fuzzy borders",
  "plan-and-solve": "everything needed is in the question, several reasoning steps",
  rewoo: "several look-ups that can be listed up front, later ones using earlier evidence",
  "rewoo-parallel": "several look-ups that can be listed up front, and some of them are independent of each other",
  "plan-and-solve-agent": "several steps with strong dependencies and a clear end",
  "plan-and-execute": "the next steps depend on what is found",
  adapt: "a task of unknown difficulty that may simply work, or parts of it fail"
} as const
