/**
 * Runs a dependency graph on a bounded number of fibers.
 *
 * A step starts the moment its last dependency settles and a permit is free; of several ready steps the one with the
 * longest remaining path goes first (with one permit: the first in the order of the nodes). No waves, no polling, and
 * no fiber for a step that waits: at most `concurrency` workers take ready steps from a heap.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Dag, Node } from "./Dag.js"
import * as Options from "./Options.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** What came of a step. */
export type Outcome<A, E> =
  | { readonly _tag: "Completed"; readonly value: A }
  | { readonly _tag: "Failed"; readonly cause: Cause.Cause<E> }
  /** Never started, since a step that it depends on failed. `because` names the failed steps, at most ten. */
  | { readonly _tag: "Skipped"; readonly because: ReadonlyArray<string> }

export interface RunOptions<N extends Node, A, E, R> {
  /** How many steps run at once, at the most: a whole number of at least 1. */
  readonly concurrency: number
  /** The work of a step. It starts after every step that it depends on has settled. */
  readonly run: (node: N, index: number) => Effect.Effect<A, E, R>
  /**
   * What happens to the steps that depend on a failed one: `skip` marks them, and only them, as skipped; `continue`
   * runs them all the same. Default: `skip`.
   */
  readonly onFailure?: "skip" | "continue"
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Runs every step and gives the outcomes in the order of the nodes. Failures are outcomes, so it never fails; an
 * interruption reaches every running step. Throws a `RangeError` on an unknown option or a bad concurrency.
 */
export const run = <N extends Node, A, E, R>(
  dag: Dag<N>,
  options: RunOptions<N, A, E, R>
): Effect.Effect<ReadonlyArray<Outcome<A, E>>, never, R> => {
  Options.rejectUnknown("Scheduler.run", options, ["concurrency", "run", "onFailure"])
  const concurrency = Options.wholeNumber("Scheduler.run", "concurrency", options.concurrency)
  const skipping = options.onFailure !== "continue"

  return Effect.suspend(() => {
    const { nodes, children, offsets } = dag
    const size = nodes.length
    const outcomes = new Array<Outcome<A, E>>(size)
    if (size === 0) return Effect.succeed(outcomes)
    const waiting = dag.inDegree.slice()
    const because = new Map<number, ReadonlyArray<string>>()
    const ready = new Heap(size, concurrency === 1 ? undefined : dag.remaining)
    for (let i = 0; i < size; i++) if (waiting[i] === 0) ready.push(i)

    const fibers = new Set<Fiber.RuntimeFiber<void>>()
    let workers = 1
    /** Workers that were hired and have not started: each will take a ready step. */
    let starting = 0
    let unsettled = size
    let finish: ((done: Effect.Effect<void>) => void) | undefined

    const settle = (index: number, outcome: Outcome<A, E>): void => {
      outcomes[index] = outcome
      unsettled--
      const blocked =
        skipping && outcome._tag !== "Completed"
          ? outcome._tag === "Failed"
            ? [nodes[index]?.id ?? ""]
            : outcome.because
          : undefined
      for (let c = offsets[index] ?? 0; c < (offsets[index + 1] ?? 0); c++) {
        const child = children[c] ?? 0
        if (blocked !== undefined) because.set(child, merge(because.get(child), blocked))
        const left = (waiting[child] ?? 0) - 1
        waiting[child] = left
        if (left === 0) ready.push(child)
      }
    }

    const step = (index: number): Effect.Effect<void, never, R> => {
      const reasons = because.size === 0 ? undefined : because.get(index)
      if (reasons !== undefined) {
        settle(index, { _tag: "Skipped", because: reasons })
        return Effect.void
      }
      const node = nodes[index]
      if (node === undefined) return Effect.die(new Error("Scheduler: a step outside the graph"))
      return Effect.matchCause(attempt(options.run, node, index), {
        onSuccess: (value) => settle(index, { _tag: "Completed", value }),
        onFailure: (cause) => settle(index, { _tag: "Failed", cause })
      })
    }

    const work: Effect.Effect<void, never, R> = Effect.suspend(() =>
      Effect.whileLoop({
        while: () => ready.size > 0,
        // A worker first sees to it that others take what it cannot take itself.
        body: () => (ready.size > 1 + starting && workers < concurrency ? hire : step(ready.pop())),
        step: () => {}
      })
    )

    const hired = Effect.suspend(() => {
      starting--
      return work
    })

    const hire: Effect.Effect<void, never, R> = Effect.suspend(() => {
      workers++
      starting++
      return Effect.map(Effect.forkDaemon(hired), (fiber) => {
        fibers.add(fiber)
        fiber.addObserver((exit) => {
          fibers.delete(fiber)
          workers--
          if (Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause)) finish?.(exit)
          else if (unsettled === 0) finish?.(Effect.void)
        })
      })
    })

    const others = Effect.async<void>((resume) => {
      finish = resume
      if (unsettled === 0) resume(Effect.void)
    })

    const own = Effect.suspend(() => {
      workers--
      return unsettled === 0 ? Effect.void : others
    })

    return Effect.zipRight(work, own).pipe(
      Effect.onInterrupt(() => Effect.suspend(() => Fiber.interruptAll(fibers))),
      Effect.as(outcomes)
    )
  })
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const attempt = <N, A, E, R>(
  run: (node: N, index: number) => Effect.Effect<A, E, R>,
  node: N,
  index: number
): Effect.Effect<A, E, R> => {
  try {
    return run(node, index)
  } catch (defect) {
    return Effect.die(defect)
  }
}

const merge = (known: ReadonlyArray<string> | undefined, more: ReadonlyArray<string>): ReadonlyArray<string> =>
  known === undefined ? more : [...new Set([...known, ...more])].slice(0, 10)

/** Positions by falling priority; of equal ones the lowest first. Without priorities: the lowest first. */
class Heap {
  private readonly items: Int32Array
  size = 0
  constructor(
    capacity: number,
    private readonly priority: Float64Array | undefined
  ) {
    this.items = new Int32Array(capacity)
  }
  private before(a: number, b: number): boolean {
    if (this.priority !== undefined) {
      const left = this.priority[a] ?? 0
      const right = this.priority[b] ?? 0
      if (left !== right) return left > right
    }
    return a < b
  }
  push(item: number): void {
    let i = this.size++
    while (i > 0) {
      const parent = (i - 1) >> 1
      const above = this.items[parent] ?? 0
      if (!this.before(item, above)) break
      this.items[i] = above
      i = parent
    }
    this.items[i] = item
  }
  pop(): number {
    const top = this.items[0] ?? 0
    const last = this.items[--this.size] ?? 0
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= this.size) break
      if (child + 1 < this.size && this.before(this.items[child + 1] ?? 0, this.items[child] ?? 0)) child++
      const below = this.items[child] ?? 0
      if (!this.before(below, last)) break
      this.items[i] = below
      i = child
    }
    this.items[i] = last
    return top
  }
}
