/**
 * How far a graph of steps has come: which steps are ready, and what settled ones mean for those that wait for them.
 *
 * @internal
 */
import type * as Cause from "effect/Cause"
import type { Dag, Node } from "../Dag.js"
import { Heap } from "./heap.js"

/** The result of a step. */
export type Settled<A, E> =
  | { readonly _tag: "Completed"; readonly value: A }
  | { readonly _tag: "Failed"; readonly cause: Cause.Cause<E> }
  /** Never started, since a step that it depends on failed. `because` names the failed steps, at most ten. */
  | { readonly _tag: "Skipped"; readonly because: ReadonlyArray<string> }

export class Frontier<N extends Node, A, E> {
  /** In the order of the nodes. */
  readonly settled: Array<Settled<A, E>>
  private readonly waiting: Int32Array
  private readonly because = new Map<number, ReadonlyArray<string>>()
  private readonly heap: Heap

  /**
   * @param inOrder the next step is the first in the order of the nodes, not the one with the longest remaining path.
   */
  constructor(
    private readonly dag: Dag<N>,
    private readonly onFailure: "skip" | "continue",
    inOrder: boolean
  ) {
    const size = dag.nodes.length
    this.settled = new Array<Settled<A, E>>(size)
    this.waiting = dag.inDegree.slice()
    this.heap = new Heap(size, inOrder ? undefined : dag.remaining)
    for (let i = 0; i < size; i++) if (this.waiting[i] === 0) this.heap.push(i)
  }

  /** How many steps wait for a worker. */
  get ready(): number {
    return this.heap.size
  }

  /** Takes the next ready step; `ready` must be above 0. */
  take(): number {
    return this.heap.pop()
  }

  /** Settles a step that depends on a failed one as skipped, and says whether it did. */
  skip(index: number): boolean {
    const because = this.because.get(index)
    if (because === undefined) return false
    this.settle(index, { _tag: "Skipped", because })
    return true
  }

  /** Keeps what came of a step. A step that waited for nothing else is ready now. */
  settle(index: number, settled: Settled<A, E>): void {
    const { children, depends, nodes, offsets } = this.dag
    this.settled[index] = settled
    const failed =
      this.onFailure === "continue" || settled._tag === "Completed"
        ? undefined
        : settled._tag === "Failed"
          ? [nodes[index]?.id ?? ""]
          : settled.because
    for (let c = offsets[index] ?? 0; c < (offsets[index + 1] ?? 0); c++) {
      const child = children[c] ?? 0
      if (failed !== undefined && depends[c] === 1) this.because.set(child, merge(this.because.get(child), failed))
      const left = (this.waiting[child] ?? 0) - 1
      this.waiting[child] = left
      if (left === 0) this.heap.push(child)
    }
  }
}

const merge = (known: ReadonlyArray<string> | undefined, more: ReadonlyArray<string>): ReadonlyArray<string> =>
  known === undefined ? more : [...new Set([...known, ...more])].slice(0, 10)
