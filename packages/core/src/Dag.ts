/**
 * A validated dependency graph: every dependency exists, and nothing depends on itself in the end.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

export type DagIssue =
  | { readonly _tag: "DuplicateId"; readonly id: string }
  | { readonly _tag: "UnknownDependency"; readonly id: string; readonly dependency: string }
  /** `ids` in order: each depends on the next, and the last on the first. */
  | { readonly _tag: "Cycle"; readonly ids: ReadonlyArray<string> }

/** The nodes are not a dependency graph. Every issue is listed, not only the first. */
export class InvalidDag extends Data.TaggedError("InvalidDag")<{ readonly issues: ReadonlyArray<DagIssue> }> {
  override get message(): string {
    return this.issues.map(describe).join(" ")
  }
}

const describe = (issue: DagIssue): string => {
  switch (issue._tag) {
    case "DuplicateId":
      return `${issue.id} occurs more than once.`
    case "UnknownDependency":
      return `${issue.id} depends on ${issue.dependency}, which does not exist.`
    case "Cycle":
      return `${[...issue.ids, issue.ids[0]].join(" → ")} is a cycle.`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Node {
  readonly id: string
  /** The ids of the nodes that must settle before this one starts. */
  readonly dependsOn: ReadonlyArray<string>
  /** The ids of nodes that must settle too, whose results it does not use: that one of them fails is nothing to it. */
  readonly after?: ReadonlyArray<string>
  /** The time that the node is expected to take, in any unit that all nodes share. Default: 1. */
  readonly weight?: number
}

/** A graph without cycles. Numbers are positions in `nodes`. */
export interface Dag<N extends Node> {
  readonly nodes: ReadonlyArray<N>
  /** For each node, how many distinct nodes it waits for. */
  readonly inDegree: Int32Array
  /** The nodes that wait for node `i` are `children[offsets[i]]` up to, but without, `children[offsets[i + 1]]`. */
  readonly children: Int32Array
  /** For each place in `children` whether that node depends on it (1), or only comes after it (0). */
  readonly depends: Uint8Array
  readonly offsets: Int32Array
  /** For each node, the weight of the heaviest path that starts with it. */
  readonly remaining: Float64Array
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/** Validates nodes and makes their graph, in time linear in nodes and dependencies. */
export const make = <N extends Node>(nodes: ReadonlyArray<N>): Either.Either<Dag<N>, InvalidDag> => {
  const issues: Array<DagIssue> = []
  const position = new Map<string, number>()
  for (const [i, node] of nodes.entries()) {
    if (position.has(node.id)) issues.push({ _tag: "DuplicateId", id: node.id })
    else position.set(node.id, i)
  }
  const size = nodes.length
  const inDegree = new Int32Array(size)
  const offsets = new Int32Array(size + 1)
  const parents: Array<ReadonlyArray<number>> = []
  /** Number of parents that the node depends on; those that it only comes after stand behind them. */
  const dependencies = new Int32Array(size)
  for (const [i, node] of nodes.entries()) {
    const own = new Set<number>()
    const add = (ids: ReadonlyArray<string>): void => {
      for (const dependency of ids) {
        const parent = position.get(dependency)
        if (parent === undefined) issues.push({ _tag: "UnknownDependency", id: node.id, dependency })
        else own.add(parent)
      }
    }
    add(node.dependsOn)
    dependencies[i] = own.size
    if (node.after !== undefined) add(node.after)
    parents.push([...own])
  }
  let edges = 0
  for (const [i, own] of parents.entries()) {
    inDegree[i] = own.length
    edges += own.length
    for (const parent of own) offsets[parent + 1] = (offsets[parent + 1] ?? 0) + 1
  }
  for (let i = 0; i < size; i++) offsets[i + 1] = (offsets[i + 1] ?? 0) + (offsets[i] ?? 0)
  const children = new Int32Array(edges)
  const depends = new Uint8Array(edges)
  const next = offsets.slice(0, size)
  for (const [i, own] of parents.entries()) {
    for (const [k, parent] of own.entries()) {
      const slot = next[parent] ?? 0
      children[slot] = i
      if (k < (dependencies[i] ?? 0)) depends[slot] = 1
      next[parent] = slot + 1
    }
  }
  const order = topologicalOrder(size, inDegree, children, offsets)
  if (order.length < size) issues.push(...cycles(parents).map((knot) => cycleOf(nodes, parents, knot)))
  if (issues.length > 0) return Either.left(new InvalidDag({ issues }))

  const remaining = new Float64Array(size)
  for (let k = order.length - 1; k >= 0; k--) {
    const i = order[k] ?? 0
    let longest = 0
    for (let c = offsets[i] ?? 0; c < (offsets[i + 1] ?? 0); c++) {
      longest = Math.max(longest, remaining[children[c] ?? 0] ?? 0)
    }
    remaining[i] = longest + (nodes[i]?.weight ?? 1)
  }
  return Either.right({ nodes, inDegree, children, depends, offsets, remaining })
}

/** The weight of the heaviest path: no schedule can be shorter. */
export const criticalPath = <N extends Node>(dag: Dag<N>): number =>
  dag.remaining.reduce((longest, path) => Math.max(longest, path), 0)

/**
 * Finds the groups of nodes that reach each other, and the nodes that point at themselves; each group in ascending
 * order. `edges` holds for each node the positions that it points at. Tarjan's algorithm, in linear time, with a stack
 * of its own so that a long chain does not overflow the call stack.
 */
export const cycles = (edges: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<ReadonlyArray<number>> => {
  const order = new Int32Array(edges.length).fill(-1)
  const low = new Int32Array(edges.length)
  const isOpen = new Uint8Array(edges.length)
  const stack: Array<number> = []
  const cycles: Array<ReadonlyArray<number>> = []
  let entered = 0
  for (let root = 0; root < edges.length; root += 1) {
    if (at(order, root) >= 0) continue
    const path: Array<{ readonly node: number; next: number }> = []
    const enter = (node: number) => {
      order[node] = entered
      low[node] = entered
      entered += 1
      isOpen[node] = 1
      stack.push(node)
      path.push({ node, next: 0 })
    }
    enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top
      const target = edges[node]?.[top.next]
      if (target !== undefined) {
        top.next += 1
        if (at(order, target) < 0) enter(target)
        else if (isOpen[target] === 1) low[node] = Math.min(at(low, node), at(order, target))
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent !== undefined) low[parent.node] = Math.min(at(low, parent.node), at(low, node))
      if (low[node] !== order[node]) continue
      const group: Array<number> = []
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        isOpen[member] = 0
        group.push(member)
        if (member === node) break
      }
      if (group.length > 1 || edges[node]?.includes(node) === true) cycles.push(group.sort((a, b) => a - b))
    }
  }
  return cycles
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const topologicalOrder = (
  size: number,
  inDegree: Int32Array,
  children: Int32Array,
  offsets: Int32Array
): ReadonlyArray<number> => {
  const waiting = inDegree.slice()
  const order: Array<number> = []
  for (let i = 0; i < size; i++) if (waiting[i] === 0) order.push(i)
  for (let k = 0; k < order.length; k++) {
    const i = order[k] ?? 0
    for (let c = offsets[i] ?? 0; c < (offsets[i + 1] ?? 0); c++) {
      const child = children[c] ?? 0
      const left = (waiting[child] ?? 0) - 1
      waiting[child] = left
      if (left === 0) order.push(child)
    }
  }
  return order
}

/** One cycle in a knot: each depends on the next, and the last on the first. */
const cycleOf = (
  nodes: ReadonlyArray<Node>,
  parents: ReadonlyArray<ReadonlyArray<number>>,
  knot: ReadonlyArray<number>
): DagIssue => {
  const inside = new Set(knot)
  const walk = new Map<number, number>()
  let node = knot[0] ?? 0
  while (!walk.has(node)) {
    walk.set(node, walk.size)
    node = parents[node]?.find((parent) => inside.has(parent)) ?? node
  }
  return { _tag: "Cycle", ids: [...walk.keys()].slice(walk.get(node)).map((position) => nodes[position]?.id ?? "") }
}

const at = (numbers: Int32Array, index: number): number => numbers[index] ?? 0
