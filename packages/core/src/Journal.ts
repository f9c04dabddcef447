/**
 * Where the events of a run go. With no set-up they go to Effect's logger; any other sink is a Layer.
 */

import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { CallId } from "./Llm.js"
import * as Options from "./Options.js"
import * as RunEvent from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/**
 * A sink of events. It never ends, holds up or changes a run: it is told in order, in a fiber beside the run, and where it
 * is slower than the run the events wait for it. When the outermost run has ended, it has 100 ms of real time for what
 * still waits. What a sink fails on, or misses, is a `Warning` of kind `journal_failed`.
 */
export interface Service {
  readonly record: (event: RunEvent.RunEvent) => Effect.Effect<void, unknown>
  /** The same where a sink can do it at once, which costs a run less. Only used if it is there. */
  readonly unsafeRecord?: (event: RunEvent.RunEvent) => void
  /** The sinks that this one is made of, where it only hands on: each is told at its own pace. Only used if it is there. */
  readonly sinks?: ReadonlyArray<Service>
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

/** Whether replies are also told piece by piece, as `ReplyDelta` events, while they arrive. Default: they are not. */
export class Streaming extends Context.Reference<Streaming>()("@forethought/core/Journal/Streaming", {
  defaultValue: (): boolean => false
}) {}

/** Tells replies piece by piece, for a display that shows them as they arrive. Providers then stream where they can. */
export const streaming: Layer.Layer<never> = Layer.succeed(Streaming, true)

/** Whether `ModelCallStarted` holds the request. Default: it does not. */
export class Requests extends Context.Reference<Requests>()("@forethought/core/Journal/Requests", {
  defaultValue: (): boolean => false
}) {}

/** Tells what each model is asked, for a record that can be read without the program. It can be large, and is never secret. */
export const requests: Layer.Layer<never> = Layer.succeed(Requests, true)

/**
 * Records an event in the sink of the current run, as the run itself does; outside of a run in the sink in context, which
 * is waited for: its `run` is then empty and its `seq` 0. A sink that fails, throws or dies is told so in a `Warning` of
 * kind `journal_failed`, which is also logged.
 */
export const record = (event: RunEvent.TimedEvent): Effect.Effect<void> =>
  Effect.flatMap(Effect.all([Journal, CurrentOutbox]), ([sink, outbox]) =>
    outbox === undefined
      ? recordIn(sink, { ...event, run: "", seq: 0 })
      : Effect.sync(() => outbox.tell(sink, { ...event, run: outbox.run, seq: outbox.next() }))
  )

/** Tells the current run what a layer does about one of its calls. Outside of a run nothing is told. Never throws. */
export type Tell = (event: RunEvent.LayerEvent) => void

/** How a layer tells what it does, such as a retry, in the journal of the run that the current fiber is in. */
export const tell: Effect.Effect<Tell> = Effect.withFiberRuntime((fiber) => {
  const context = fiber.getFiberRef(FiberRef.currentContext)
  const outbox = Context.get(context, CurrentOutbox)
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

/** What the layers tell of a call that is under way is part of its end. */
const keep = (note: ModelNote, { _tag }: RunEvent.LayerEvent): void => {
  if (_tag === "ModelRetried" || _tag === "FellBack") note.attempts += 1
  else if (_tag === "CacheHit") note.attempts = 0
}

/** Says that the result of a tool call is a kept or a recorded one, for a layer around the toolbox that has such results. */
export const toolSource = (call: CallId, source: "cache" | "record"): Effect.Effect<void> =>
  Effect.map(CurrentOutbox, (outbox) => {
    const note = outbox?.tools.get(call)
    if (note !== undefined) note.source = source
  })

const recordIn = (sink: Service, event: RunEvent.RunEvent): Effect.Effect<void> =>
  Effect.catchAllCause(
    Effect.suspend(() => sink.record(event)),
    (cause) => {
      const warning = failureOf(event, cause)
      return Effect.zipRight(ignored(sink, warning), Effect.logWarning(RunEvent.describe(warning)))
    }
  )

// ---------------------------------------------------------------------------------------------------------------
// beside a run
// ---------------------------------------------------------------------------------------------------------------

/** What layers tell of a model call that is under way. */
interface ModelNote {
  attempts: number
}

/**
 * What layers, and the tool itself, tell of a tool call that is under way.
 *
 * @internal
 */
export interface ToolNote {
  source: RunEvent.ToolCallEnded["source"]
  leftOut?: string
}

/**
 * The events of a run, and of the runs inside it, on their way to sinks.
 *
 * @internal
 */
export interface Outbox {
  /** The id of the outermost run. */
  readonly run: string
  /** The number of the next event. */
  readonly next: () => number
  /** The calls that are under way. */
  readonly models: Map<CallId, ModelNote>
  readonly tools: Map<CallId, ToolNote>
  readonly isEnded: () => boolean
  /** Tells a sink at once where that is possible. Never throws. */
  readonly tell: (sink: Service, event: RunEvent.RunEvent) => void
  /** Gives the sinks 100 ms for what still waits, and drops the rest. To be run once, after the last event. */
  readonly close: Effect.Effect<void>
}

/**
 * The outbox of the outermost run. Default: `undefined`, outside of any run.
 *
 * @internal
 */
export class CurrentOutbox extends Context.Reference<CurrentOutbox>()("@forethought/core/Journal/CurrentOutbox", {
  defaultValue: (): Outbox | undefined => undefined
}) {}

/**
 * Makes an outbox whose sinks run in the surroundings of a run: its logger, its Clock.
 *
 * @internal
 */
export const makeOutbox = (run: string, runtime: Runtime.Runtime<never>): Outbox => {
  const fork = (effect: Effect.Effect<void>) => Runtime.runFork(runtime)(Effect.interruptible(effect))
  const warn = (warning: RunEvent.Warning) => void fork(Effect.logWarning(RunEvent.describe(warning)))
  let last = 0
  let ended = false
  const boxes = new Map<Service, Mailbox>()
  const boxOf = (sink: Service): Mailbox => {
    const known = boxes.get(sink)
    if (known !== undefined) return known
    const box = new Mailbox(sink, fork, warn)
    boxes.set(sink, box)
    return box
  }
  const tell: Outbox["tell"] = (sink, event) => {
    if (sink.sinks === undefined) boxOf(sink).tell(event)
    else for (const part of sink.sinks) tell(part, event)
  }
  return {
    run,
    next: () => ++last,
    models: new Map(),
    tools: new Map(),
    isEnded: () => ended,
    tell,
    close: Effect.suspend(() => {
      ended = true
      const isBusy = () => [...boxes.values()].some((box) => box.isBusy)
      if (!isBusy()) return Effect.void
      return Effect.map(
        Effect.async<void>((resume) => {
          // The Clock of a test does not move by itself, and what a sink does takes real time.
          const sleep = Clock.make().sleep(Duration.millis(lastMillis))
          const timer = Effect.runFork(Effect.map(sleep, () => resume(Effect.void)))
          const onIdle = () => {
            if (isBusy()) return
            timer.unsafeInterruptAsFork(FiberId.none)
            resume(Effect.void)
          }
          for (const box of boxes.values()) box.onIdle = onIdle
          // They may have become so since they were looked at.
          onIdle()
        }),
        () => {
          for (const box of boxes.values()) box.drop()
        }
      )
    })
  }
}

/** How long the sinks of a run have after its end, in milliseconds. */
const lastMillis = 100

/** Events that wait for a slow sink, at the most: a sink that hangs must not fill the memory. */
const maxWaiting = 100_000

/** One sink's events, in order: one at a time is under way. */
class Mailbox {
  private readonly waiting: Array<RunEvent.RunEvent> = []
  private underWay: Fiber.RuntimeFiber<void> | undefined
  private missed = 0
  private isClosed = false
  onIdle: (() => void) | undefined
  constructor(
    private readonly sink: Service,
    private readonly fork: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>,
    private readonly warn: (warning: RunEvent.Warning) => void
  ) {}
  get isBusy(): boolean {
    return this.underWay !== undefined
  }
  tell(event: RunEvent.RunEvent): void {
    if (this.isClosed) return
    if (this.underWay === undefined) this.deliver(event)
    else if (this.waiting.length < maxWaiting) this.waiting.push(event)
    else this.missed += 1
  }
  drop(): void {
    if (this.underWay === undefined) return
    this.isClosed = true
    this.missed += this.waiting.length + 1
    this.waiting.length = 0
    this.underWay.unsafeInterruptAsFork(FiberId.none)
    this.warn(missedEvents(this.missed))
  }
  private deliver(event: RunEvent.RunEvent): void {
    try {
      if (this.sink.unsafeRecord !== undefined) {
        this.sink.unsafeRecord(event)
        return
      }
      const record = this.sink.record(event)
      this.runBeside(
        event,
        Effect.catchAllCause(record, (cause) => {
          // A Queue that was shut down interrupts whoever offers to it. The run has nothing to do with that.
          if (this.isClosed) return Effect.void
          const warning = failureOf(event, cause)
          this.warn(warning)
          return ignored(this.sink, warning)
        })
      )
    } catch (error) {
      const warning = failureOf(event, Cause.die(error))
      this.warn(warning)
      this.runBeside(event, ignored(this.sink, warning))
    }
  }
  private runBeside(event: RunEvent.RunEvent, effect: Effect.Effect<void>): void {
    const fiber = this.fork(effect)
    const ended = (exit: Exit.Exit<void>): void => {
      if (Exit.isFailure(exit) && !this.isClosed) this.warn(failureOf(event, exit.cause))
    }
    const done = fiber.unsafePoll()
    if (done !== null) ended(done)
    else {
      this.underWay = fiber
      fiber.addObserver((exit) => {
        ended(exit)
        this.underWay = undefined
        this.goOn()
      })
    }
  }
  private goOn(): void {
    while (this.underWay === undefined && !this.isClosed) {
      const next = this.waiting.shift()
      if (next !== undefined) {
        this.deliver(next)
        continue
      }
      if (this.missed > 0) this.warn(missedEvents(this.missed))
      this.missed = 0
      this.onIdle?.()
      return
    }
  }
}

/** Tells a sink of its own failure. That it does not take that either is no news. */
const ignored = (sink: Service, warning: RunEvent.Warning): Effect.Effect<void> =>
  Effect.catchAllCause(
    Effect.suspend(() => sink.record(warning)),
    () => Effect.void
  )

/** It has the number of the event that the sink has not taken, in whose place it stands. */
const failureOf = ({ _tag, at, call, run, seq }: RunEvent.RunEvent, cause: Cause.Cause<unknown>): RunEvent.Warning => ({
  _tag: "Warning",
  call,
  at,
  run,
  seq,
  kind: "journal_failed",
  message: `A journal sink failed on ${_tag}: ${RunEvent.errorInfo(Cause.squash(cause)).message}`
})

const missedEvents = (count: number): RunEvent.Warning => ({
  _tag: "Warning",
  call: "",
  at: 0,
  run: "",
  seq: 0,
  kind: "journal_failed",
  message: `A journal sink was too slow: it missed ${count} ${count === 1 ? "event" : "events"} of the run.`
})
