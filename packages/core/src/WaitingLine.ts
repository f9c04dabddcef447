/**
 * A waiting line in front of something scarce: whoever does not fit now waits, and is woken alone when it fits. Nobody
 * overtakes within a group, and groups take turns. A rate limit, a budget, a model file and permits for tools all wait
 * in one.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/**
 * The decision about the first in line. `Admit` is final: whatever it takes is taken when this is returned. `Wait`
 * is asked again after each exit from the line, and after `millis` where given.
 */
export type Verdict<E> =
  | { readonly _tag: "Admit" }
  | { readonly _tag: "Wait"; readonly millis?: number }
  | { readonly _tag: "Fail"; readonly error: E }

export const admit: Verdict<never> = { _tag: "Admit" }
export const wait: Verdict<never> = { _tag: "Wait" }

interface Waiter<A, E> {
  readonly item: A
  readonly group: unknown
  admitted: boolean
  wake: (verdict: Effect.Effect<void, E>) => void
}

export interface Options<A, E> {
  /** Decides, and takes what `Admit` takes. */
  readonly judge: (item: A, now: number) => Verdict<E>
  /** Gives back. `exit` is absent where the item was admitted, but interrupted before it could run. */
  readonly leave: (item: A, exit: Exit.Exit<unknown, unknown> | undefined) => void
}

export interface WaitingLine<A, E> {
  /**
   * Runs `use` as soon as the item is admitted, with the milliseconds that it waited, and gives back in any case. An
   * interruption ends the wait at once.
   */
  readonly through: <B, E2, R>(
    item: A,
    use: (waited: number) => Effect.Effect<B, E2, R>,
    group?: unknown
  ) => Effect.Effect<B, E | E2, R>
}

/** Makes a line of so many permits, first come, first served. */
export const permits = (size: number): WaitingLine<void, never> => {
  let free = size
  return make({
    judge: () => {
      if (free === 0) return wait
      free -= 1
      return admit
    },
    leave: () => {
      free += 1
    }
  })
}

/** Makes a line. */
export const make = <A, E>(options: Options<A, E>): WaitingLine<A, E> => {
  /** Insertion order is the order of turns: a group that was served goes to the end. */
  const groups = new Map<unknown, Set<Waiter<A, E>>>()
  let timer: Fiber.RuntimeFiber<void> | undefined

  const first = (): Waiter<A, E> | undefined => {
    for (const waiters of groups.values()) for (const waiter of waiters) return waiter
    return undefined
  }
  const remove = (waiter: Waiter<A, E>, served: boolean): void => {
    const waiters = groups.get(waiter.group)
    if (waiters === undefined) return
    waiters.delete(waiter)
    if (waiters.size === 0) groups.delete(waiter.group)
    else if (served) {
      groups.delete(waiter.group)
      groups.set(waiter.group, waiters)
    }
  }
  const disarm = (): void => {
    if (timer !== undefined) Effect.runFork(Fiber.interruptFork(timer))
    timer = undefined
  }
  const advance = (clock: Clock.Clock): void => {
    disarm()
    for (let waiter = first(); waiter !== undefined; waiter = first()) {
      const verdict = options.judge(waiter.item, clock.unsafeCurrentTimeMillis())
      if (verdict._tag === "Wait") {
        if (verdict.millis !== undefined) {
          const again = Effect.sync(() => {
            timer = undefined
            advance(clock)
          })
          timer = Effect.runFork(
            Effect.zipRight(clock.sleep(Duration.millis(Math.max(1, Math.ceil(verdict.millis)))), again)
          )
        }
        return
      }
      waiter.admitted = verdict._tag === "Admit"
      remove(waiter, true)
      waiter.wake(verdict._tag === "Admit" ? Effect.void : Effect.fail(verdict.error))
    }
  }

  return {
    through: (item, use, group) =>
      Effect.flatMap(Effect.clock, (clock) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.suspend(() => {
            const since = clock.unsafeCurrentTimeMillis()
            const waiter: Waiter<A, E> = { item, group, admitted: false, wake: () => {} }
            const leave = (exit: Exit.Exit<unknown, unknown> | undefined) =>
              Effect.sync(() => {
                options.leave(item, exit)
                advance(clock)
              })
            const stand = Effect.async<void, E>((resume) => {
              waiter.wake = resume
              const waiters = groups.get(group)
              if (waiters === undefined) groups.set(group, new Set([waiter]))
              else waiters.add(waiter)
              // Those who stand already were told to wait; only the first of all is judged on arrival.
              if (first() === waiter) advance(clock)
            })
            const gone = Effect.suspend(() => {
              // Woken and interrupted at the same moment: what was taken for it is given back.
              if (waiter.admitted) return leave(undefined)
              remove(waiter, false)
              return Effect.sync(() => advance(clock))
            })
            return Effect.zipRight(
              Effect.onInterrupt(restore(stand), () => gone),
              Effect.onExit(restore(Effect.suspend(() => use(clock.unsafeCurrentTimeMillis() - since))), leave)
            )
          })
        )
      )
  }
}
