/**
 * Gives every pattern what it needs while it runs: stable ids, events, and the two ports with their events around them.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Tracer from "effect/Tracer"
import { at, CallPath, join } from "./CallPath.js"
import { type Surroundings, surroundings } from "./internal/fiberContext.js"
import { doubtfulEnd, replyEnd, requestOf } from "./internal/modelEvents.js"
import * as Outbox from "./internal/outbox.js"
import * as ToolHash from "./internal/toolHash.js"
import * as Journal from "./Journal.js"
import * as Llm from "./Llm.js"
import * as RunEvent from "./RunEvent.js"
import { RunKey } from "./RunKey.js"
import * as Toolbox from "./Toolbox.js"
import { isToolError, ToolFailed } from "./ToolError.js"
import * as ToolText from "./ToolText.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The ending of a tool call, for patterns to which an error text is a result too. */
export interface ToolOutcome {
  readonly outcome: "ok" | "error" | "timeout"
  /** The result, or the error in words. */
  readonly text: string
  readonly error?: Toolbox.ToolError
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. */
  readonly endedAt: number
}

/** One run of a pattern. Ids given to it are relative to its path. */
export interface Run {
  /** The path of this run: empty for the outermost. */
  readonly path: Llm.CallId
  /** The absolute id of a segment of this run. */
  readonly id: (segment: string) => Llm.CallId
  /** Tells the journal. */
  readonly emit: (event: RunEvent.NewEvent) => Effect.Effect<void>
  /** Asks the model, with events before and after. */
  readonly complete: (request: Llm.Request) => Effect.Effect<Llm.Reply, Llm.LlmError>
  /** Calls a tool, with events before and after; never fails. */
  readonly callTool: (toolbox: Toolbox.Service, request: Toolbox.CallRequest) => Effect.Effect<ToolOutcome>
}

/** Options of a run. */
export interface Settings {
  /** Returns the pattern's options as `RunStarted` tells them, such as by `Pattern.told`. Default: none. */
  readonly options?: () => NonNullable<RunEvent.RunStarted["options"]>
}

/**
 * The id of the outermost run, which every event has. Default: `undefined`, and each outermost run gets a random one.
 */
export class RunId extends Context.Reference<RunId>()("@forethought/core/RunId", {
  defaultValue: (): string | undefined => undefined
}) {}

/** Gives the outermost run in an effect an id of the caller's, instead of a random one. */
export const withId =
  (id: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, RunId, id)

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Runs a pattern's body between `RunStarted` and `RunEnded`. The outermost run has an id, a header and a journal; a run
 * inside another tells its events there, and its calls are named under the path that it runs at. A span is made only
 * where the app has a tracer of its own.
 */
export const run = <A, E, R>(
  pattern: string,
  task: string,
  body: (run: Run) => Effect.Effect<A, E, R>,
  settings: Settings = {}
): Effect.Effect<A, E, R | Llm.Llm> =>
  Effect.flatMap(surroundings, (around) => {
    const outer = outerOf(around)
    if (outer !== undefined) return between(around, outer, { pattern, task }, body)
    return Effect.flatMap(idOf(around), (id) => {
      const outbox = Outbox.make(id, around.runtime())
      const key = Context.get(around.context, RunKey) ?? Symbol(pattern)
      const started = { pattern, task, ...headerOf(around, settings) }
      return Effect.mapInputContext(
        Effect.ensuring(between(around, outbox, started, body), outbox.close),
        (context: Context.Context<R | Llm.Llm>) =>
          context.pipe(Context.add(RunKey, key), Context.add(Outbox.CurrentOutbox, outbox))
      )
    })
  })

/** A run that was told to have started is told to have ended, whatever ends it and whenever. */
const between = <A, E, R>(
  around: Surroundings,
  outbox: Outbox.Outbox,
  started: Omit<RunEvent.RunStarted, "_tag" | "at" | "call" | "run" | "seq">,
  body: (run: Run) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Llm.Llm> => {
  const { pattern } = started
  const self = runIn(around, outbox, Context.get(around.context, CallPath))
  const whole = Effect.uninterruptibleMask((restore) =>
    Effect.zipRight(
      self.emit({ _tag: "RunStarted", ...started }),
      Effect.onExit(restore(Effect.suspend(() => body(self))), (exit) =>
        self.emit({ _tag: "RunEnded", pattern, ...outcome(exit) })
      )
    )
  )
  return around.isTraced ? inSpan(whole, `forethought.${pattern}`, { "forethought.call": self.path }) : whole
}

/** The journal of the run around, if there is one. Outside of a run there is no key either. */
const outerOf = ({ context }: Surroundings): Outbox.Outbox | undefined =>
  Context.get(context, RunKey) === undefined ? undefined : Context.get(context, Outbox.CurrentOutbox)

/**
 * The run that the current fiber is in, for a tool that asks the model itself: `complete` asks under the very id that
 * it is given, and the journal hears of it. Outside of a run the id of the run in its events is empty.
 */
export const current: Effect.Effect<Run, never, Llm.Llm> = Effect.map(surroundings, (around) =>
  runIn(around, Context.get(around.context, Outbox.CurrentOutbox) ?? Outbox.make("", around.runtime()), "")
)

/** Runs an effect, such as another pattern, so that its calls are named under a segment of this run. */
export const nested = <A, E, R>(run: Run, segment: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  at(run.id(segment))(effect)

// ---------------------------------------------------------------------------------------------------------------
// header
// ---------------------------------------------------------------------------------------------------------------

const idOf = ({ context }: Surroundings): Effect.Effect<string> => {
  const id = Context.get(context, RunId)
  return id === undefined ? randomId : Effect.succeed(id)
}

/** 13 hexadecimal digits: as many as a random number has. */
const randomId = Effect.map(Random.next, (number) =>
  Math.floor(number * 2 ** 52)
    .toString(16)
    .padStart(13, "0")
)

/** The fields of the outermost `RunStarted` that are needed to read the events and to tell two runs apart. */
const headerOf = ({ context }: Surroundings, { options }: Settings) => {
  const llm = Context.get(context, Llm.Llm)
  const models: { [role in Llm.Role]?: string } = {}
  for (const role of llm.model === undefined ? [] : Llm.roles) {
    const name = llm.model?.(role)
    if (name !== undefined) models[role] = name
  }
  const toolbox = Context.getOption(context, Toolbox.Toolbox)
  return {
    schema: 2 as const,
    library,
    ...(options === undefined ? {} : { options: options() }),
    models,
    ...(Option.isNone(toolbox) ? {} : { tools: ToolHash.of(toolbox.value.tools) })
  }
}

/** This package, as a test compares it with its package.json. */
const library = "@forethought/core 0.1.0"

const outcome = (exit: Exit.Exit<unknown, unknown>): Pick<RunEvent.RunEnded, "outcome" | "error"> => {
  if (Exit.isSuccess(exit)) return { outcome: "succeeded" }
  if (Cause.isInterruptedOnly(exit.cause)) return { outcome: "interrupted" }
  return { outcome: "failed", error: RunEvent.errorInfo(Cause.squash(exit.cause)) }
}

// ---------------------------------------------------------------------------------------------------------------
// calls
// ---------------------------------------------------------------------------------------------------------------

const runIn = ({ clock, context, isTraced }: Surroundings, outbox: Outbox.Outbox, path: Llm.CallId): Run => {
  const llm = Context.get(context, Llm.Llm)
  const sink = Context.get(context, Journal.Journal)
  const isStreaming = Context.get(context, Journal.Streaming)
  const tellsRequests = Context.get(context, Journal.Requests)
  const now = () => clock.unsafeCurrentTimeMillis()
  const say = (event: RunEvent.NewEvent): void =>
    outbox.tell(sink, { call: path, ...event, at: now(), run: outbox.run, seq: outbox.next() })
  const emit: Run["emit"] = (event) => Effect.sync(() => say(event))
  return {
    path,
    id: (segment) => join(path, segment),
    emit,
    complete: (given) =>
      Effect.suspend(() => {
        const call = join(path, given.call)
        const { role } = given
        const startedAt = now()
        let firstPieceAt: number | undefined
        const onDelta = (text: string) =>
          Effect.sync(() => {
            firstPieceAt ??= now()
            say({ _tag: "ReplyDelta", call, role, text })
          })
        const request = isStreaming ? { ...given, call, onDelta } : { ...given, call }
        const asked = Effect.suspend(() => llm.complete(request))
        const note = { attempts: 1 }
        outbox.models.set(call, note)
        const end = (rest: Partial<RunEvent.ModelCallEnded>) => {
          outbox.models.delete(call)
          const first = firstPieceAt === undefined ? {} : { firstPieceAfter: firstPieceAt - startedAt }
          say({ _tag: "ModelCallEnded", call, role, startedAt, ...rest, attempts: note.attempts, ...first })
        }
        say({ _tag: "ModelCallStarted", call, role, ...(tellsRequests ? { request: requestOf(given) } : {}) })
        return Effect.matchCauseEffect(isTraced ? spanned(asked, "model", call, role) : asked, {
          onSuccess: (reply) => {
            end(replyEnd(reply, llm.model?.(role)))
            const doubt = doubtfulEnd(reply)
            if (doubt !== undefined) say({ ...doubt, call })
            return Effect.succeed(reply)
          },
          onFailure: (cause) => {
            const model = llm.model?.(role)
            end({ error: RunEvent.errorInfo(Cause.squash(cause)), ...(model === undefined ? {} : { model }) })
            return Effect.failCause(cause)
          }
        })
      }),
    callTool: (toolbox, given) =>
      Effect.suspend(() => {
        const request = { ...given, call: join(path, given.call) }
        const { call, input, tool } = request
        const startedAt = now()
        const called = Effect.suspend(() => toolbox.call(request))
        const note: Outbox.ToolNote = { source: "live" }
        outbox.tools.set(call, note)
        const end = (outcome: ToolOutcome["outcome"], text: string, error?: Toolbox.ToolError) => {
          const endedAt = now()
          outbox.tools.delete(call)
          say({ _tag: "ToolCallEnded", call, tool, startedAt, outcome, text, ...note })
          return Effect.succeed({ outcome, text, startedAt, endedAt, ...(error === undefined ? {} : { error }) })
        }
        say({ _tag: "ToolCallStarted", call, tool, input })
        return Effect.matchCauseEffect(isTraced ? spanned(called, "tool", call, tool) : called, {
          // A toolbox of an app's own can give and fail with anything at run time.
          onSuccess: (text) => end("ok", ToolText.fromUnknown(text)),
          onFailure: (cause) => {
            const failure: unknown = Option.getOrUndefined(Cause.failureOption(cause))
            const error = isToolError(failure) ? failure : broken(tool, cause)
            return end(error._tag === "ToolTimeout" ? "timeout" : "error", error.message, error)
          }
        })
      })
  }
}

/** The error of a call whose toolbox broke, such as by a Layer around it that throws. The run goes on. */
const broken = (tool: string, cause: Cause.Cause<unknown>): ToolFailed => {
  if (Cause.isInterruptedOnly(cause)) return new ToolFailed({ tool, detail: "The tool was interrupted.", cause })
  const defect = Cause.squash(cause)
  return new ToolFailed({ tool, detail: ToolText.describeFailure(defect), cause: defect })
}

const spanned = <A, E>(effect: Effect.Effect<A, E>, kind: "model" | "tool", call: Llm.CallId, who: string) =>
  inSpan(effect, `forethought.${kind}`, {
    "forethought.call": call,
    [kind === "model" ? "forethought.role" : "forethought.tool"]: who
  })

/**
 * Runs an effect in a span that ends whenever it was started: `withSpan` alone starts it one operation before its end
 * is in place.
 */
const inSpan = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  name: string,
  attributes: Readonly<Record<string, string>>
): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
  Effect.uninterruptibleMask((restore) => Effect.withSpan(restore(effect), name, { attributes }))
