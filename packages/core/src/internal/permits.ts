/**
 * First come, first served permits. A permit that is given back goes straight to the one who has waited longest, so a
 * release costs the same with one waiter or with thousands.
 */
import * as Effect from "effect/Effect"

interface Waiter {
  granted: boolean
  resume: ((granted: Effect.Effect<void>) => void) | undefined
}

export interface Permits {
  /** Runs an effect while holding a permit. An interruption while waiting gives up the place. */
  readonly use: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** `size` permits: a whole number of at least 1. */
export const make = (size: number): Permits => {
  let free = size
  // In order of insertion, and a place in the middle is given up in constant time.
  const waiting = new Set<Waiter>()

  const enter = (): Waiter => {
    const waiter: Waiter = { granted: free > 0, resume: undefined }
    if (waiter.granted) free--
    else waiting.add(waiter)
    return waiter
  }
  const leave = (waiter: Waiter): void => {
    if (!waiter.granted) {
      waiting.delete(waiter)
      return
    }
    for (const next of waiting) {
      waiting.delete(next)
      next.granted = true
      next.resume?.(Effect.void)
      return
    }
    free++
  }
  const granted = (waiter: Waiter): Effect.Effect<void> =>
    Effect.async((resume) => {
      if (waiter.granted) resume(Effect.void)
      else waiter.resume = resume
    })

  return {
    use: (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const waiter = enter()
          const work = waiter.granted ? restore(effect) : Effect.zipRight(restore(granted(waiter)), restore(effect))
          // Whether the permit had been granted is read only here, so an interruption at any moment loses none.
          return Effect.ensuring(
            work,
            Effect.sync(() => leave(waiter))
          )
        })
      )
  }
}
