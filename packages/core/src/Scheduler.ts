/**
 * Runs a dependency graph on a bounded number of fibers.
 *
 * ```
 *  steps that wait      ready steps, longest path first      at most `concurrency` workers
 *  ┌───┬───┬───┐        ┌───┬───┐                            ┌────────────────────────┐
 *  │ D │ E │ F │        │ B │ C │ ─────────── take ────────▶ │ A                      │
 *  └───┴───┴───┘        └───┴───┘                            └────────────────────────┘
 *        └──── ready ──────▲                                              │ settle
 *              ▲                                                          │
 *              └──────── those that waited for nothing but A ◀────────────┘
 * ```
 *
 * A step starts the moment its last dependency settles and a worker is free. With one worker the next step is the first
 * in the order of the nodes. There are no waves, nothing polls, and a step that waits has no fiber.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import type { Dag, Node } from "./Dag.js"
import { Frontier, type Settled } from "./internal/frontier.js"
import * as Options from "./Options.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The result of a step. */
export type { Settled } from "./internal/frontier.js"

export interface RunOptions<N extends Node, A, E, R> {
  /** Maximum number of steps that run at once, at least 1. */
  readonly concurrency: number
  /** The work of a step. It starts after every step that it depends on has settled. */
  readonly run: (node: N, index: number) => Effect.Effect<A, E, R>
  /**
   * Decides about the steps that depend on a failed one: `skip` marks them, and only them, as skipped; `continue`
   * runs them all the same. A step that only comes `after` it runs in any case. Default: `skip`.
   */
  readonly onFailure?: "skip" | "continue"
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Runs every step and gives the outcomes in the order of the nodes. Failures are outcomes, so it never fails. When it
 * has ended, by an interruption at whatever moment too, no step runs or starts any more. What steps set in FiberRefs is
 * kept. A step that interrupts the fiber it runs in ends the run as interrupted. Throws an `InvalidOption` on an
 * unknown option or a bad concurrency.
 */
export const run = <N extends Node, A, E, R>(
  dag: Dag<N>,
  options: RunOptions<N, A, E, R>
): Effect.Effect<ReadonlyArray<Settled<A, E>>, never, R> => {
  Options.rejectUnknown("Scheduler.run", options, ["concurrency", "run", "onFailure"])
  const concurrency = Options.wholeNumber("Scheduler.run", "concurrency", options.concurrency)

  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.runtime<R>(), (runtime) => {
      const frontier = new Frontier<N, A, E>(dag, options.onFailure ?? "skip", concurrency === 1)
      if (dag.nodes.length === 0) return Effect.succeed(frontier.settled)
      const fork = Runtime.runFork(runtime)

      /** One worker alone works in the caller's fiber; several have one each, and are in here until they have ended. */
      const fibers = new Set<Fiber.RuntimeFiber<void>>()
      /** The FiberRefs of the workers that have ended. */
      const references: Array<FiberRefs.FiberRefs> = []
      /** Workers that were hired and have not started: each will take a ready step. */
      let starting = 0
      /** The run has ended: nobody takes another step. */
      let isOver = false
      let failure: Exit.Exit<void> | undefined
      let wake: ((done: Effect.Effect<void>) => void) | undefined

      /** Carries out one step. */
      const step = (index: number): Effect.Effect<void, never, R> => {
        const node = dag.nodes[index]
        if (node === undefined || frontier.skip(index)) return Effect.void
        return restore(
          Effect.matchCause(attempt(options.run, node, index), {
            onSuccess: (value) => frontier.settle(index, { _tag: "Completed", value }),
            onFailure: (cause) => frontier.settle(index, { _tag: "Failed", cause })
          })
        )
      }

      /** A worker takes one ready step after another. Before that it sees to it that others take what it cannot. */
      const work: Effect.Effect<void, never, R> = Effect.suspend(() =>
        Effect.whileLoop({
          while: () => frontier.ready > 0 && !isOver,
          // Done here and not in an effect, which others could come before.
          body: () => {
            if (!canHire()) return step(frontier.take())
            hire()
            return Effect.void
          },
          step: () => {}
        })
      )

      const canHire = (): boolean => concurrency > 1 && frontier.ready > 1 + starting && fibers.size < concurrency

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

      const hired = Effect.suspend(() => {
        starting--
        return Effect.zipRight(
          work,
          Effect.map(Effect.getFiberRefs, (refs) => void references.push(refs))
        )
      })

      /** Waits until the last worker has ended, or one was interrupted from within. */
      const workers = Effect.suspend(() => {
        hire()
        return restore(
          Effect.async<void>((resume) => {
            if (failure !== undefined || fibers.size === 0) resume(failure ?? Effect.void)
            else wake = resume
          })
        )
      })

      const stop = Effect.suspend(() => {
        isOver = true
        return fibers.size === 0 ? Effect.void : Fiber.interruptAll(fibers)
      })
      const inherit = Effect.suspend(() => Effect.forEach(references, Effect.inheritFiberRefs, { discard: true }))

      return (concurrency === 1 ? work : workers).pipe(
        Effect.onExit(() => stop),
        Effect.zipRight(inherit),
        Effect.as(frontier.settled)
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
