/**
 * What Plan-and-Solve prompting is, as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { count, holes, prompts, reask } from "../entries.js"

export const info = {
  name: "plan-and-solve",
  summary: "plans and reasons in one reply, then reads the answer off it; uses no tools",
  chooseWhen: "everything needed is in the question, several reasoning steps",
  tools: "unused",
  roles: ["reasoner", "extractor"],
  options: {
    answerFormat: {
      kind: "format",
      description: "what the answer must be: number, date, text, or options such as option:A,B,C",
      default: "text"
    },
    maxReasoningTokens: count("maximum number of output tokens of the reasoning", 1_000),
    prompts: prompts({
      reasoner: holes("question"),
      extractor: holes("question", "reasoning", "answer_format")
    }),
    reask
  }
} as const satisfies Pattern.Info
