/**
 * Waiting, timeouts and Promises that an interruption finds whole at every yield point.
 *
 * Effect's own `async` and `tryPromise` start their work one operation before its canceller is in place, and its races
 * can hang when they are interrupted while they start. Where nothing may go on after the end of a run, these stand in
 * for them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"

/**
 * Waits for a callback, as `Effect.async` does. `register` starts the work and returns how to end it; whatever
 * interrupts the wait, the work is ended once it was started. The first call of `resume` counts.
 */
export const async = <A, E = never>(
  register: (resume: (done: Effect.Effect<A, E>) => void) => Effect.Effect<void>
): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const waiting = makeWaiting<A, E>()
      const end = register(waiting.resume)
      return Effect.onInterrupt(restore(waiting.wait), () => end)
    })
  )

/**
 * Runs a Promise, as `Effect.tryPromise` does. Its signal is aborted when the wait is interrupted, also in the moment
 * in which it starts.
 */
export const tryPromise = <A, E>(options: {
  readonly try: (signal: AbortSignal) => PromiseLike<A>
  readonly catch: (error: unknown) => E
}): Effect.Effect<A, E> =>
  async((resume) => {
    const controller = new AbortController()
    const failed = (error: unknown) => resume(Effect.failSync(() => options.catch(error)))
    try {
      options.try(controller.signal).then((value) => resume(Effect.succeed(value)), failed)
    } catch (error) {
      failed(error)
    }
    return Effect.sync(() => controller.abort())
  })

/**
 * Fails with `onTimeout` when an effect takes longer than `duration`, as `Effect.timeoutFail` does: the effect is
 * interrupted, and waited for. What it sets in FiberRefs is kept. The time is the Clock's.
 */
export const timeoutFail = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  options: { readonly duration: Duration.DurationInput; readonly onTimeout: () => E2 }
): Effect.Effect<A, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    expiring(restore(effect), restore, Duration.toMillis(options.duration), options.onTimeout, "waits")
  )

/** Marks an interruptible part in an uninterruptible one, see `Effect.uninterruptibleMask`. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * {@link timeoutFail} inside of an uninterruptible region whose `restore` is given: `work` runs in a fiber of its own
 * and marks by itself what of it can be interrupted. With `leaves` a fiber that expired is interrupted but not waited
 * for: work that cannot be interrupted must not hold up the run. An interruption of the run waits in any case.
 * `expired` is called once, at the moment of the expiry.
 */
export const expiring = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  restore: Restore,
  millis: number,
  expired: () => E2,
  afterwards: "waits" | "leaves"
): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) => {
    const fork = Runtime.runFork(runtime)
    const worker = fork(work, { immediate: true })
    const result = (exit: Exit.Exit<A, E>): Effect.Effect<A, E> => Effect.zipRight(worker.inheritAll, exit)
    // Work that ends at once needs no timer, which is most of what a timeout costs.
    const done = worker.unsafePoll()
    if (done !== null) return result(done)
    const waiting = makeWaiting<A, E | E2>()
    let late: Effect.Effect<never, E2> | undefined
    const timer = fork(
      Effect.flatMap(Effect.interruptible(Effect.sleep(millis)), () =>
        Effect.sync(() => {
          late = Effect.fail(expired())
          if (afterwards === "leaves") waiting.resume(late)
          worker.unsafeInterruptAsFork(FiberId.none)
        })
      )
    )
    worker.addObserver((exit) => {
      timer.unsafeInterruptAsFork(FiberId.none)
      waiting.resume(late ?? result(exit))
    })
    return Effect.onInterrupt(restore(waiting.wait), () => Fiber.interruptAll([worker, timer]))
  })

interface Waiting<A, E> {
  readonly resume: (done: Effect.Effect<A, E>) => void
  readonly wait: Effect.Effect<A, E>
}

/** A place that is filled once, before or after somebody waits for it. */
const makeWaiting = <A, E>(): Waiting<A, E> => {
  let settled: Effect.Effect<A, E> | undefined
  let wake: ((done: Effect.Effect<A, E>) => void) | undefined
  return {
    resume: (done) => {
      if (settled !== undefined) return
      settled = done
      wake?.(done)
    },
    wait: Effect.async((resume) => {
      if (settled !== undefined) resume(settled)
      else wake = resume
    })
  }
}
