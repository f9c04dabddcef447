/**
 * Runs a dependency graph on a bounded number of fibers.
 *
 * A step starts the moment its last dependency settles and a permit is free; of several ready steps the one with the
 * longest remaining path goes first (with one permit: the first in the order of the nodes). No waves, no polling, and
 * no fiber for a step that waits: at most `concurrency` workers take ready steps from a heap.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import type { Dag, Node } from "./Dag.js"
import * as Options from "./Options.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** What came of a step. */
export type Settled<A, E> =
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
   * runs them all the same. A step that only comes `after` it runs in any case. Default: `skip`.
   */
  readonly onFailure?: "skip" | "continue"
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Runs every step and gives the outcomes in the order of the nodes. Failures are outcomes, so it never fails. When it has
 * ended, by an interruption at whatever moment too, no step runs or starts any more. What steps set in FiberRefs is kept.
 * A step that interrupts the fiber it runs in ends the run as interrupted. Throws an `InvalidOption` on an unknown option or a
 * bad concurrency.
 */
export const run = <N extends Node, A, E, R>(
  dag: Dag<N>,
  options: RunOptions<N, A, E, R>
): Effect.Effect<ReadonlyArray<Settled<A, E>>, never, R> => {
  Options.rejectUnknown("Scheduler.run", options, ["concurrency", "run", "onFailure"])
  const concurrency = Options.wholeNumber("Scheduler.run", "concurrency", options.concurrency)
  const skipping = options.onFailure !== "continue"

  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.runtime<R>(), (runtime) => {
      const { nodes, children, depends, offsets } = dag
      const size = nodes.length
      const outcomes = new Array<Settled<A, E>>(size)
      if (size === 0) return Effect.succeed(outcomes)
      const fork = Runtime.runFork(runtime)
      const waiting = dag.inDegree.slice()
      const because = new Map<number, ReadonlyArray<string>>()
      const ready = new Heap(size, concurrency === 1 ? undefined : dag.remaining)
      for (let i = 0; i < size; i++) if (waiting[i] === 0) ready.push(i)

      /** One worker alone works in the caller's fiber; several have one each, and are in here until they have ended. */
      const fibers = new Set<Fiber.RuntimeFiber<void>>()
      /** What the workers that ended have set. */
      const references: Array<FiberRefs.FiberRefs> = []
      /** Workers that were hired and have not started: each will take a ready step. */
      let starting = 0
      /** The run has ended: nobody takes another step. */
      let isOver = false
      let failure: Exit.Exit<void> | undefined
      let wake: ((done: Effect.Effect<void>) => void) | undefined

      const settle = (index: number, outcome: Settled<A, E>): void => {
        outcomes[index] = outcome
        const blocked =
          skipping && outcome._tag !== "Completed"
            ? outcome._tag === "Failed"
              ? [nodes[index]?.id ?? ""]
              : outcome.because
            : undefined
        for (let c = offsets[index] ?? 0; c < (offsets[index + 1] ?? 0); c++) {
          const child = children[c] ?? 0
          if (blocked !== undefined && depends[c] === 1) because.set(child, merge(because.get(child), blocked))
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
        return restore(
          Effect.matchCause(attempt(options.run, node, index), {
            onSuccess: (value) => settle(index, { _tag: "Completed", value }),
            onFailure: (cause) => settle(index, { _tag: "Failed", cause })
          })
        )
      }

      /** Hires another worker and enters it in one go: there is no moment in which an interruption could miss it. */
      const hire = (): void => {
        starting++
        const fiber = fork(hired, { immediate: false })
        fibers.add(fiber)
        fiber.addObserver((exit) => {
          fibers.delete(fiber)
          // Interrupted from within, as by a step that interrupts its own fiber, a worker would leave the rest undone.
          if (Exit.isFailure(exit)) {
            failure ??= exit
            isOver = true
          }
          if (failure !== undefined || fibers.size === 0) wake?.(failure ?? Effect.void)
        })
      }

      const canHire = (): boolean => concurrency > 1 && ready.size > 1 + starting && fibers.size < concurrency

      const work: Effect.Effect<void, never, R> = Effect.suspend(() =>
        Effect.whileLoop({
          while: () => ready.size > 0 && !isOver,
          // A worker first sees to it that others take what it cannot take itself.
          // Both are done here and not in an effect, which others could come before.
          body: () => {
            if (!canHire()) return step(ready.pop())
            hire()
            return Effect.void
          },
          step: () => {}
        })
      )

      const hired = Effect.suspend(() => {
        starting--
        return Effect.zipRight(
          work,
          Effect.map(Effect.getFiberRefs, (refs) => void references.push(refs))
        )
      })

      const workers = Effect.suspend(() => {
        hire()
        return restore(
          Effect.async<void>((resume) => {
            if (failure !== undefined || fibers.size === 0) resume(failure ?? Effect.void)
            else wake = resume
          })
        )
      })

      const over = Effect.suspend(() => {
        isOver = true
        return fibers.size === 0 ? Effect.void : Fiber.interruptAll(fibers)
      })

      return (concurrency === 1 ? work : workers).pipe(
        Effect.onExit(() => over),
        Effect.zipRight(Effect.suspend(() => Effect.forEach(references, Effect.inheritFiberRefs, { discard: true }))),
        Effect.as(outcomes)
      )
    })
  )
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
