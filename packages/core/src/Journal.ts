/**
 * Receives the events of a run. Without set-up they go to Effect's logger; any other sink is a Layer.
 */

import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type { Sink } from "./internal/outbox.js"
import * as Outbox from "./internal/outbox.js"
import type { CallId } from "./Llm.js"
import * as Options from "./Options.js"
import * as RunEvent from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A sink of events, see `record`. */
export type Service = Sink

/** A sink that keeps the newest events in memory. */
export interface Memory extends Service {
  /** The events kept, oldest first. */
  readonly events: Effect.Effect<ReadonlyArray<RunEvent.RunEvent>>
  /** Number of older events that were dropped to stay within the capacity. */
  readonly dropped: Effect.Effect<number>
}

// ---------------------------------------------------------------------------------------------------------------
// sinks
// ---------------------------------------------------------------------------------------------------------------

/**
 * Logs each event through Effect's logger: warnings as warnings, what a run does as info, the rest as debug. What a
 * tool was given or gave, and the text of an error, which can quote it, are in lines of level debug alone; a plan is
 * shown with the inputs that it has.
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
  const capacity = Options.wholeNumber("Journal.memory", "capacity", options.capacity ?? 10_000)
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

/** Sends each event to every sink; one that fails, or is slow, does not keep it from the others. */
export const all = (...sinks: ReadonlyArray<Service>): Service => ({
  sinks,
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

/** If true, replies are also told piece by piece as they arrive, as `ReplyDelta` events. Default: false. */
export class Streaming extends Context.Reference<Streaming>()("@forethought/core/Journal/Streaming", {
  defaultValue: (): boolean => false
}) {}

/** Tells replies piece by piece, for a display that shows them as they arrive. Providers then stream if they can. */
export const streaming: Layer.Layer<never> = Layer.succeed(Streaming, true)

/** If true, `ModelCallStarted` holds the request. Default: false. */
export class Requests extends Context.Reference<Requests>()("@forethought/core/Journal/Requests", {
  defaultValue: (): boolean => false
}) {}

/**
 * Tells what each model is asked, for a record that can be read without the program. It can be large, and is never
 * secret.
 */
export const requests: Layer.Layer<never> = Layer.succeed(Requests, true)

/**
 * Records an event in the sink of the current run, as the run itself does; outside of a run in the sink in context,
 * which is waited for: its `run` is then empty and its `seq` 0. A sink that fails, throws or dies is told so in a
 * `Warning` of kind `journal_failed`, which is also logged.
 */
export const record = (event: RunEvent.TimedEvent): Effect.Effect<void> =>
  Effect.flatMap(Effect.all([Journal, Outbox.CurrentOutbox]), ([sink, outbox]) =>
    outbox === undefined
      ? recordIn(sink, { ...event, run: "", seq: 0 })
      : Effect.sync(() => outbox.tell(sink, { ...event, run: outbox.run, seq: outbox.next() }))
  )

/** Tells the current run what a layer does about one of its calls. Outside of a run nothing is told. Never throws. */
export type Tell = (event: RunEvent.LayerEvent) => void

/** Returns a function with which a layer tells what it does, such as a retry, in the journal of the current run. */
export const tell: Effect.Effect<Tell> = Effect.withFiberRuntime((fiber) => {
  const context = fiber.getFiberRef(FiberRef.currentContext)
  const outbox = Context.get(context, Outbox.CurrentOutbox)
  if (outbox === undefined) return Effect.succeed(() => {})
  const sink = Context.get(context, Journal)
  const clock = Context.get(fiber.getFiberRef(DefaultServices.currentServices), Clock.Clock)
  return Effect.succeed((event) => {
    // A call that runs share can outlive the one that made it.
    if (outbox.isEnded()) return
    const note = outbox.models.get(event.call)
    if (note !== undefined) keep(note, event)
    outbox.tell(sink, { ...event, at: clock.unsafeCurrentTimeMillis(), run: outbox.run, seq: outbox.next() })
  })
})

/** Keeps what the layers tell of a call that is under way: it is part of the call's end. */
const keep = (note: Outbox.ModelNote, { _tag }: RunEvent.LayerEvent): void => {
  if (_tag === "ModelRetried" || _tag === "FellBack") note.attempts += 1
  else if (_tag === "CacheHit") note.attempts = 0
}

/**
 * Says that the result of a tool call is a kept or a recorded one, for a layer around the toolbox that has such
 * results.
 */
export const toolSource = (call: CallId, source: "cache" | "record"): Effect.Effect<void> =>
  Effect.map(Outbox.CurrentOutbox, (outbox) => {
    const note = outbox?.tools.get(call)
    if (note !== undefined) note.source = source
  })

const recordIn = (sink: Service, event: RunEvent.RunEvent): Effect.Effect<void> =>
  Effect.catchAllCause(
    Effect.suspend(() => sink.record(event)),
    (cause) => {
      const warning = Outbox.failureOf(event, cause)
      return Effect.zipRight(Outbox.ignored(sink, warning), Effect.logWarning(RunEvent.describe(warning)))
    }
  )
