/**
 * Where the events of a run go. With no set-up they go to Effect's logger; any other sink is a Layer.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RunEvent from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A sink of events. One that fails or throws does no harm to the run: see {@link record}. */
export interface Service {
  readonly record: (event: RunEvent.RunEvent) => Effect.Effect<void, unknown>
  /** The same where a sink can do it at once, which costs a run less. Only used if it is there. */
  readonly unsafeRecord?: (event: RunEvent.RunEvent) => void
}

/** A sink that keeps the newest events in memory. */
export interface Memory extends Service {
  /** The events kept, oldest first. */
  readonly events: Effect.Effect<ReadonlyArray<RunEvent.RunEvent>>
  /** How many older events were dropped to stay within the capacity. */
  readonly dropped: Effect.Effect<number>
}

// ---------------------------------------------------------------------------------------------------------------
// sinks
// ---------------------------------------------------------------------------------------------------------------

/**
 * Logs each event through Effect's logger: warnings as warnings, what a run does as info, the rest as debug. What a tool
 * was given or gave, and the text of an error, which can quote it, are in lines of level debug alone; a plan is shown
 * with the inputs that it has.
 */
export const logging: Service = {
  record: (event) => {
    if (event._tag === "Warning") return Effect.logWarning(RunEvent.describe(event))
    const whole = Effect.suspend(() => Effect.logDebug(RunEvent.describe(event)))
    if (!RunEvent.isMajor(event)) return whole
    const headline = Effect.logInfo(RunEvent.headline(event))
    return RunEvent.isAbridged(event) ? Effect.zipRight(headline, whole) : headline
  }
}

/** Drops every event. */
export const silent: Service = { record: () => Effect.void, unsafeRecord: () => {} }

/**
 * Keeps the newest events in memory.
 *
 * @param options.capacity how many events are kept at the most. Default: 10,000.
 */
export const memory = (options: { readonly capacity?: number } = {}): Memory => {
  const capacity = options.capacity ?? 10_000
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new RangeError(`Journal.memory: capacity must be a whole number of at least 1, got ${capacity}.`)
  }
  let kept: Array<RunEvent.RunEvent> = []
  let dropped = 0
  const unsafeRecord = (event: RunEvent.RunEvent): void => {
    kept.push(event)
    // Dropping in batches keeps the cost of an event constant.
    if (kept.length >= 2 * capacity) {
      dropped += kept.length - capacity
      kept = kept.slice(-capacity)
    }
  }
  return {
    unsafeRecord,
    record: (event) => Effect.sync(() => unsafeRecord(event)),
    events: Effect.sync(() => kept.slice(-capacity)),
    dropped: Effect.sync(() => dropped + Math.max(0, kept.length - capacity))
  }
}

/** Writes each event as one line of JSON, line break included. See `JournalFile` for a file. */
export const jsonLines = (write: (line: string) => Effect.Effect<void, unknown>): Service => ({
  record: (event) => Effect.suspend(() => write(`${JSON.stringify(event)}\n`))
})

/** Sends each event to every sink in turn; one that fails does not keep it from the others. */
export const all = (...sinks: ReadonlyArray<Service>): Service => ({
  record: (event) => Effect.forEach(sinks, (sink) => recordIn(sink, event), { discard: true })
})

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** The sink of the current run. Default: {@link logging}. */
export class Journal extends Context.Reference<Journal>()("@forethought/core/Journal", {
  defaultValue: (): Service => logging
}) {}

/** A Layer of one or several sinks, in place of the default. */
export const layer = (...sinks: ReadonlyArray<Service>): Layer.Layer<never> => {
  const [only] = sinks
  return Layer.succeed(Journal, only !== undefined && sinks.length === 1 ? only : all(...sinks))
}

/** Whether replies are also told piece by piece, as `ReplyDelta` events, while they arrive. Default: they are not. */
export class Streaming extends Context.Reference<Streaming>()("@forethought/core/Journal/Streaming", {
  defaultValue: (): boolean => false
}) {}

/** Tells replies piece by piece, for a display that shows them as they arrive. Providers then stream where they can. */
export const streaming: Layer.Layer<never> = Layer.succeed(Streaming, true)

/**
 * Records an event in a sink. A sink that fails, throws or dies is told so in a `Warning` of kind `journal_failed`,
 * which is also logged; the run goes on, and only interruption passes through.
 */
export const recordIn = (sink: Service, event: RunEvent.RunEvent): Effect.Effect<void> =>
  Effect.suspend(() => recordNow(sink, event) ?? Effect.void)

/** {@link recordIn} at once: what is left to do, or nothing where the sink could record the event. */
export const recordNow = (sink: Service, event: RunEvent.RunEvent): Effect.Effect<void> | undefined => {
  try {
    if (sink.unsafeRecord === undefined) {
      return Effect.catchAllCause(sink.record(event), (cause) => tellFailure(sink, event, cause))
    }
    sink.unsafeRecord(event)
    return undefined
  } catch (error) {
    return tellFailure(sink, event, Cause.die(error))
  }
}

const tellFailure = (sink: Service, event: RunEvent.RunEvent, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
  const warning: RunEvent.Warning = {
    _tag: "Warning",
    call: event.call,
    at: event.at,
    kind: "journal_failed",
    message: `A journal sink failed on ${event._tag}: ${RunEvent.errorInfo(Cause.squash(cause)).message}`
  }
  return Effect.suspend(() => sink.record(warning)).pipe(
    Effect.catchAllCause(() => Effect.void),
    Effect.zipRight(Effect.logWarning(RunEvent.describe(warning)))
  )
}

/** Records an event in the current run's sink, see {@link recordIn}. */
export const record = (event: RunEvent.RunEvent): Effect.Effect<void> =>
  Effect.flatMap(Journal, (sink) => recordIn(sink, event))
