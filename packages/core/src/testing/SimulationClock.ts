/**
 * A Clock that jumps to the next wake-up as soon as nothing else is left to do, for simulations of thousands of steps.
 * Time in it is exact and costs nothing. It does not wait for real I/O: use it with effects alone.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface Sleeper {
  readonly wakeAt: number
  readonly order: number
  readonly wake: () => void
}

/** Makes a clock that starts at `startAt` epoch milliseconds. Default: 0. */
export const make = (startAt = 0): Clock.Clock => {
  let now = startAt
  let order = 0
  let sleepers: Array<Sleeper> = []
  let armed = false

  const arm = (): void => {
    if (armed || sleepers.length === 0) return
    armed = true
    // Fibers run in microtasks: when a later phase of the event loop comes round, all of them wait.
    setImmediate(() => setImmediate(advance))
  }
  const advance = (): void => {
    armed = false
    let next = Number.POSITIVE_INFINITY
    for (const sleeper of sleepers) next = Math.min(next, sleeper.wakeAt)
    if (next === Number.POSITIVE_INFINITY) return
    now = Math.max(now, next)
    const due = sleepers.filter((sleeper) => sleeper.wakeAt <= now)
    sleepers = sleepers.filter((sleeper) => sleeper.wakeAt > now)
    due.sort((a, b) => a.wakeAt - b.wakeAt || a.order - b.order)
    for (const sleeper of due) sleeper.wake()
    arm()
  }

  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1_000_000)),
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1_000_000))),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const millis = Duration.toMillis(duration)
        if (millis === Number.POSITIVE_INFINITY) return
        const sleeper: Sleeper = { wakeAt: now + millis, order: order++, wake: () => resume(Effect.void) }
        sleepers.push(sleeper)
        arm()
        return Effect.sync(() => {
          sleepers = sleepers.filter((other) => other !== sleeper)
        })
      })
  }
}

/** The clock in place of the real one, for everything that runs with this Layer. */
export const layer = (startAt = 0): Layer.Layer<never> => Layer.suspend(() => Layer.setClock(make(startAt)))
