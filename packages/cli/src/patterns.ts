/**
 * The patterns that can be run, in the order in which they are listed. What a pattern needs to be listed stands here;
 * its code is loaded when it runs.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Toolbox from "@forethought/core/Toolbox"
import type * as Effect from "effect/Effect"
import type { OptionValues, PatternOption } from "./options.js"

/** What a run gave: the answer in words, and the whole result for `--json`. */
export interface Outcome {
  readonly answer: string
  readonly result: object
}

/** Every error of a pattern: tagged, with a message for people, and the work so far where there is any. */
export interface RunError extends Error {
  readonly _tag: string
  readonly progress?: unknown
}

/** Runs a pattern on a question. */
export type Runner = (
  question: string,
  options: OptionValues
) => Effect.Effect<Outcome, RunError, Llm.Llm | Toolbox.Toolbox>

export interface PatternEntry {
  /** As typed after `run`. */
  readonly name: string
  /** What it does, in one line. */
  readonly summary: string
  readonly chooseWhen: string
  readonly options: ReadonlyArray<PatternOption>
  readonly load: () => Promise<Runner>
}

const maxPlanLength: PatternOption = {
  name: "maxPlanLength",
  kind: "count",
  default: "8",
  description: "the most steps that a plan may have"
}
const toolTimeout: PatternOption = {
  name: "toolTimeout",
  kind: "duration",
  default: "30 seconds",
  description: "how long one tool call may take"
}
const maxEvidenceChars: PatternOption = {
  name: "maxEvidenceChars",
  kind: "count",
  default: "20000",
  description: "how many characters of one piece of evidence go on into a prompt"
}
const concurrency: PatternOption = {
  name: "concurrency",
  kind: "count",
  default: "4",
  description: "how many tool calls run at once, at the most"
}

const rewooOptions = (options: OptionValues) => ({
  maxPlanLength: options.count("maxPlanLength"),
  toolTimeout: options.millis("toolTimeout"),
  maxEvidenceChars: options.count("maxEvidenceChars")
})

export const patterns: ReadonlyArray<PatternEntry> = [
  {
    name: "rewoo",
    summary: "plans every tool call up front, runs them one after another, answers from the evidence",
    chooseWhen: "the look-ups can be listed before any is done, and each may need the ones before it",
    options: [maxPlanLength, toolTimeout, maxEvidenceChars],
    load: async () => {
      const [Rewoo, Effect] = await Promise.all([import("@forethought/patterns/Rewoo"), import("effect/Effect")])
      return (question, options) =>
        Effect.map(Rewoo.sequential(question, rewooOptions(options)), (result) => ({ answer: result.answer, result }))
    }
  },
  {
    name: "rewoo-parallel",
    summary: "plans every tool call up front, runs each as soon as its inputs are there, answers from the evidence",
    chooseWhen: "the look-ups can be listed before any is done, and several do not depend on each other",
    options: [maxPlanLength, toolTimeout, maxEvidenceChars, concurrency],
    load: async () => {
      const [Rewoo, Effect] = await Promise.all([import("@forethought/patterns/Rewoo"), import("effect/Effect")])
      return (question, options) =>
        Effect.map(
          Rewoo.parallel(question, { ...rewooOptions(options), concurrency: options.count("concurrency") }),
          (result) => ({ answer: result.answer, result })
        )
    }
  }
]

/** Every option of any pattern, each name once, with the patterns that have it. */
export const allOptions = (): ReadonlyArray<{
  readonly option: PatternOption
  readonly patterns: ReadonlyArray<PatternEntry>
}> => {
  const found = new Map<string, { readonly option: PatternOption; readonly patterns: Array<PatternEntry> }>()
  for (const pattern of patterns) {
    for (const option of pattern.options) {
      const known = found.get(option.name)
      if (known === undefined) found.set(option.name, { option, patterns: [pattern] })
      else known.patterns.push(pattern)
    }
  }
  return [...found.values()]
}
