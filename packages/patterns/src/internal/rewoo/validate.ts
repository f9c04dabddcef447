/**
 * Checks a ReWOO plan before anything runs, and finds everything that is wrong with it at once.
 *
 * @internal
 */
import * as Dag from "@forethought/core/Dag"
import * as Either from "effect/Either"
import type { PlanIssue } from "./issues.js"
import type { ParsedStep, PlanReading } from "./parse.js"

export interface ValidateOptions {
  /** The registered name for a name as written. No candidates: unknown; several: ambiguous. */
  readonly resolveTool: (name: string) => Either.Either<string, { readonly candidates: ReadonlyArray<string> }>
  /** The registered names, for the message. */
  readonly availableTools: ReadonlyArray<string>
  /** The most steps that a plan may have. */
  readonly maxPlanLength: number
}

/**
 * The steps with `tool` resolved to its registered name, or every issue: those of the reading first, then the plan's,
 * in plan order. A plan with one issue does not run at all.
 */
export const validate = (
  reading: PlanReading,
  options: ValidateOptions
): Either.Either<ReadonlyArray<ParsedStep>, ReadonlyArray<PlanIssue>> => {
  const { steps } = reading
  const issues: Array<PlanIssue> = [...reading.issues]
  if (steps.length === 0) issues.push({ _tag: "Empty" })
  if (steps.length > options.maxPlanLength) {
    issues.push({ _tag: "TooLong", length: steps.length, max: options.maxPlanLength })
  }
  const positions = new Map<string, number>()
  const duplicates = new Set<string>()
  steps.forEach((step, position) => {
    if (!positions.has(step.variable)) positions.set(step.variable, position)
    else duplicates.add(step.variable)
  })
  for (const variable of duplicates) issues.push({ _tag: "DuplicateVariable", variable })

  const dependencies = steps.map((step) => {
    const targets: Array<number> = []
    for (const variable of step.references) {
      const target = positions.get(variable)
      if (target !== undefined) targets.push(target)
    }
    return targets
  })
  const cycles = Dag.cycles(dependencies)
  const cycleOf = new Map<number, ReadonlyArray<number>>()
  for (const cycle of cycles) for (const position of cycle) cycleOf.set(position, cycle)

  const resolved: Array<ParsedStep> = []
  steps.forEach((step, position) => {
    const tool = options.resolveTool(step.tool)
    if (Either.isRight(tool)) {
      resolved.push({ ...step, tool: tool.right })
    } else if (tool.left.candidates.length > 1) {
      const { candidates } = tool.left
      issues.push({ _tag: "AmbiguousTool", variable: step.variable, tool: step.tool, candidates })
    } else {
      issues.push({
        _tag: "UnknownTool",
        variable: step.variable,
        tool: step.tool,
        available: options.availableTools
      })
    }
    for (const variable of step.references) {
      const target = positions.get(variable)
      if (target === undefined) {
        issues.push({ _tag: "UnknownVariable", variable, mentionedBy: step.variable })
      } else if (target > position && !(cycleOf.has(position) && cycleOf.get(position) === cycleOf.get(target))) {
        issues.push({ _tag: "LaterVariable", variable, mentionedBy: step.variable })
      }
    }
  })
  for (const cycle of cycles) {
    issues.push({ _tag: "Cycle", variables: cycle.flatMap((position) => steps[position]?.variable ?? []) })
  }
  return issues.length === 0 ? Either.right(resolved) : Either.left(issues)
}
