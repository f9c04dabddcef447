/**
 * Shows how the steps of a plan hang together: what can run at once, what the whole waits for, and a picture of it.
 */
import * as Either from "effect/Either"
import * as Dag from "./Dag.js"
import type { PlannedStep } from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface PlanGraph {
  /** The steps in plan order. */
  readonly steps: ReadonlyArray<PlannedStep>
  /**
   * The steps by when they could start if all took equally long: those of the first wave depend on nothing, and each
   * other step stands one wave after the latest of its dependencies. Plan order within a wave.
   */
  readonly waves: ReadonlyArray<ReadonlyArray<PlannedStep>>
  /** The size of the largest wave: a bound on concurrency above it is hardly ever of use. 0 for an empty plan. */
  readonly width: number
  /** The longest chain of dependencies, first step first; of several the one that comes first in plan order. */
  readonly criticalPath: ReadonlyArray<PlannedStep>
  /** Number of steps that call a tool, in all and by tool in the order of first use. */
  readonly toolCalls: { readonly total: number; readonly byTool: ReadonlyMap<string, number> }
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * The graph of a plan's steps, in time linear in steps and dependencies; what is not a graph fails with every issue.
 */
export const make = (steps: ReadonlyArray<PlannedStep>): Either.Either<PlanGraph, Dag.InvalidDag> =>
  Either.map(Dag.make(steps), (dag) => {
    const waves = wavesOf(dag)
    return {
      steps,
      waves,
      width: waves.reduce((widest, wave) => Math.max(widest, wave.length), 0),
      criticalPath: longestChain(dag),
      toolCalls: countCalls(steps)
    }
  })

// ---------------------------------------------------------------------------------------------------------------
// showing
// ---------------------------------------------------------------------------------------------------------------

/**
 * The graph as a Mermaid flowchart, top down; the critical path has thick borders. Texts of the plan are escaped and
 * cut to one line of `maxLabelChars` characters, so nothing in them is read as Mermaid or HTML.
 *
 * @param options.maxLabelChars how long a line of a label may be. Default: 60.
 */
export const mermaid = (graph: PlanGraph, options: { readonly maxLabelChars?: number } = {}): string => {
  const most = options.maxLabelChars ?? 60
  const node = new Map(graph.steps.map((step, i) => [step.id, `s${i + 1}`]))
  const critical = graph.criticalPath.map((step) => node.get(step.id) ?? "")
  const lines = graph.steps.map((step) => `  ${node.get(step.id)}["${label(step, most)}"]`)
  for (const step of graph.steps) {
    for (const dependency of new Set(step.dependsOn)) {
      lines.push(`  ${node.get(dependency)} --> ${node.get(step.id)}`)
    }
  }
  if (critical.length > 0) {
    lines.push("  classDef critical stroke-width:3px", `  class ${critical.join(",")} critical`)
  }
  return ["flowchart TD", ...lines].join("\n")
}

/**
 * The graph as text: a line for each step, wave after wave, with the steps that it waits for and a `*` on the critical
 * path. Texts of the plan are cut to one line of `maxLabelChars` characters.
 *
 * @param options.maxLabelChars how long a text may be. Default: 60.
 */
export const outline = (graph: PlanGraph, options: { readonly maxLabelChars?: number } = {}): string => {
  const most = options.maxLabelChars ?? 60
  const critical = new Set(graph.criticalPath)
  return graph.waves
    .flatMap((wave, i) =>
      wave.map((step) => {
        const call = step.tool === undefined ? [] : [cut(`${step.tool}[${step.input ?? ""}]`, most)]
        const after = step.dependsOn.length === 0 ? [] : [`after ${[...new Set(step.dependsOn)].join(", ")}`]
        const parts = [step.id, ...call, cut(step.text, most), ...after].filter((part) => part !== "")
        return `${i + 1}. ${critical.has(step) ? "*" : " "} ${parts.join("  ")}`
      })
    )
    .join("\n")
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const wavesOf = (dag: Dag.Dag<PlannedStep>): ReadonlyArray<ReadonlyArray<PlannedStep>> => {
  const { children, nodes, offsets } = dag
  const waiting = dag.inDegree.slice()
  const waves: Array<Array<number>> = []
  let wave = [...nodes.keys()].filter((i) => waiting[i] === 0)
  while (wave.length > 0) {
    waves.push(wave.sort((a, b) => a - b))
    const next: Array<number> = []
    for (const i of wave) {
      for (let c = offsets[i] ?? 0; c < (offsets[i + 1] ?? 0); c++) {
        const child = children[c] ?? 0
        const left = (waiting[child] ?? 0) - 1
        waiting[child] = left
        if (left === 0) next.push(child)
      }
    }
    wave = next
  }
  return waves.map((positions) => positions.flatMap((i) => nodes[i] ?? []))
}

const longestChain = (dag: Dag.Dag<PlannedStep>): ReadonlyArray<PlannedStep> => {
  const { children, nodes, offsets, remaining } = dag
  const chain: Array<PlannedStep> = []
  let candidates: ReadonlyArray<number> = [...nodes.keys()]
  while (candidates.length > 0) {
    let best = candidates[0] ?? 0
    for (const i of candidates) {
      const gain = (remaining[i] ?? 0) - (remaining[best] ?? 0)
      if (gain > 0 || (gain === 0 && i < best)) best = i
    }
    const step = nodes[best]
    if (step !== undefined) chain.push(step)
    candidates = [...children.subarray(offsets[best] ?? 0, offsets[best + 1] ?? 0)]
  }
  return chain
}

const countCalls = (steps: ReadonlyArray<PlannedStep>): PlanGraph["toolCalls"] => {
  const byTool = new Map<string, number>()
  let total = 0
  for (const { tool } of steps) {
    if (tool === undefined) continue
    total++
    byTool.set(tool, (byTool.get(tool) ?? 0) + 1)
  }
  return { total, byTool }
}

const label = (step: PlannedStep, most: number): string => {
  const call = step.tool === undefined ? [] : [`${step.tool}: ${step.input ?? ""}`]
  const lines = step.text.trim() === "" ? call : [...call, step.text]
  const [first = "", ...others] = lines
  return [`${step.id} ${first}`, ...others].map((line) => escape(cut(line, most))).join("<br/>")
}

const cut = (text: string, most: number): string => {
  const line = text.replaceAll(/\s/g, " ").trim()
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line
}

/** Mermaid writes character references with `#` in place of `&#`. Everything that is not plain becomes one. */
const escape = (text: string): string =>
  text.replaceAll(/[^\p{L}\p{M}\p{N} .,:?!'…-]/gu, (char) => `#${char.codePointAt(0)};`)
