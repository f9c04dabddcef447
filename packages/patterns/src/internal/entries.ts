/**
 * Entries of option tables that several patterns have.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"

/** A whole number with a default. */
export const count = (description: string, standard: number, least = 1) =>
  ({ kind: "count", description, default: standard, least }) as const

/** The holes of a prompt; the model is told what it is about by the first. */
export const holes = (needed: string, ...others: ReadonlyArray<string>): Pattern.Holes => ({
  needed,
  all: [needed, ...others]
})

export const prompts = <const Key extends string>(of: { readonly [key in Key]: Pattern.Holes }) =>
  ({ kind: "prompts", description: "prompts in place of the default ones", holes: of }) as const

export const reask = {
  kind: "reask",
  description: "how often a model is asked again because its reply cannot be used",
  default: 1
} as const

export const toolTimeout = {
  kind: "duration",
  description: "longest time one tool call may take",
  default: "30 seconds"
} as const

export const maxPlanLength = (standard: number) => count("maximum number of steps in a plan", standard)

export const maxToolCalls = (standard: number) =>
  count("maximum number of tool calls; of one step or attempt where there are several", standard, 0)
