/**
 * What is beside a run: the events on their way to the sinks, one mailbox for each sink, so that a slow one holds up
 * neither the run nor the others.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import type { CallId } from "../Llm.js"
import * as RunEvent from "../RunEvent.js"

/**
 * A sink of events. It never ends, holds up or changes a run: it is told in order, in a fiber beside the run, and where
 * it is slower than the run the events wait for it. When the outermost run has ended, it has 100 ms of real time for
 * what still waits. What a sink fails on, or misses, is a `Warning` of kind `journal_failed`.
 */
export interface Sink {
  readonly record: (event: RunEvent.RunEvent) => Effect.Effect<void, unknown>
  /** The same where a sink can do it at once, which costs a run less. Only used if it is there. */
  readonly unsafeRecord?: (event: RunEvent.RunEvent) => void
  /**
   * The sinks that this one is made of, where it only hands on: each is told at its own pace. Only used if it is there.
   */
  readonly sinks?: ReadonlyArray<Sink>
}

/** What layers tell of a model call that is under way. */
export interface ModelNote {
  attempts: number
}

/** What layers, and the tool itself, tell of a tool call that is under way. */
export interface ToolNote {
  source: RunEvent.ToolCallEnded["source"]
  leftOut?: string
}

/** The events of a run, and of the runs inside it, on their way to sinks. */
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
  readonly tell: (sink: Sink, event: RunEvent.RunEvent) => void
  /** Gives the sinks 100 ms for what still waits, and drops the rest. To be run once, after the last event. */
  readonly close: Effect.Effect<void>
}

/** The outbox of the outermost run. Default: `undefined`, outside of any run. */
export class CurrentOutbox extends Context.Reference<CurrentOutbox>()("@forethought/core/Journal/CurrentOutbox", {
  defaultValue: (): Outbox | undefined => undefined
}) {}

/** Makes an outbox whose sinks run in the surroundings of a run: its logger, its Clock. */
export const make = (run: string, runtime: Runtime.Runtime<never>): Outbox => {
  const fork = (effect: Effect.Effect<void>) => Runtime.runFork(runtime)(Effect.interruptible(effect))
  const warn = (warning: RunEvent.Warning) => void fork(Effect.logWarning(RunEvent.describe(warning)))
  let last = 0
  let ended = false
  const boxes = new Map<Sink, Mailbox>()
  const boxOf = (sink: Sink): Mailbox => {
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
    private readonly sink: Sink,
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

/** Tells a sink of its own failure. If it does not take that either, nothing more is told. */
export const ignored = (sink: Sink, warning: RunEvent.Warning): Effect.Effect<void> =>
  Effect.catchAllCause(
    Effect.suspend(() => sink.record(warning)),
    () => Effect.void
  )

/** It has the number of the event that the sink has not taken, in whose place it stands. */
export const failureOf = (
  { _tag, at, call, run, seq }: RunEvent.RunEvent,
  cause: Cause.Cause<unknown>
): RunEvent.Warning => ({
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
