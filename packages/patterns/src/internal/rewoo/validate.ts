/**
 * Checks a ReWOO plan before anything runs, and finds everything that is wrong with it at once.
 *
 * @internal
 */
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

  const dependencies = steps.map((step) => step.references.flatMap((variable) => positions.get(variable) ?? []))
  const cycles = findCycles(dependencies)
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
      } else if (target > position && (cycleOf.get(position) ?? []) !== cycleOf.get(target)) {
        issues.push({ _tag: "LaterVariable", variable, mentionedBy: step.variable })
      }
    }
  })
  for (const cycle of cycles) {
    issues.push({ _tag: "Cycle", variables: cycle.flatMap((position) => steps[position]?.variable ?? []) })
  }
  return issues.length === 0 ? Either.right(resolved) : Either.left(issues)
}

/**
 * The groups of nodes that reach each other, and the nodes that point at themselves, each in ascending order (Tarjan,
 * with a stack of its own so that a long chain does not overflow the call stack).
 */
const findCycles = (edges: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<ReadonlyArray<number>> => {
  const order = new Map<number, number>()
  const low = new Map<number, number>()
  const stack: Array<number> = []
  const open = new Set<number>()
  const cycles: Array<ReadonlyArray<number>> = []
  const lower = (node: number, to: number) => low.set(node, Math.min(low.get(node) ?? to, to))
  for (const root of edges.keys()) {
    if (order.has(root)) continue
    const path: Array<{ readonly node: number; next: number }> = []
    const enter = (node: number) => {
      order.set(node, order.size)
      low.set(node, order.size - 1)
      open.add(node)
      stack.push(node)
      path.push({ node, next: 0 })
    }
    enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top
      const target = edges[node]?.[top.next]
      if (target !== undefined) {
        top.next += 1
        if (!order.has(target)) enter(target)
        else if (open.has(target)) lower(node, order.get(target) ?? 0)
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent !== undefined) lower(parent.node, low.get(node) ?? 0)
      if (low.get(node) !== order.get(node)) continue
      const group: Array<number> = []
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        open.delete(member)
        group.push(member)
        if (member === node) break
      }
      if (group.length > 1 || edges[node]?.includes(node) === true) cycles.push(group.sort((a, b) => a - b))
    }
  }
  return cycles
}
