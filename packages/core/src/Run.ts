/**
 * What every pattern needs while it runs: stable ids, events, and the two ports with their events around them.
 */

import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import { CallPath, join } from "./CallPath.js"
import * as Journal from "./Journal.js"
import * as Llm from "./Llm.js"
import * as RunEvent from "./RunEvent.js"
import { RunKey } from "./RunKey.js"
import type * as Toolbox from "./Toolbox.js"

/** A request whose `call` is relative to the run. */
export type RunRequest = Llm.Request

/** How a tool call ended, for patterns to which an error text is a result too. */
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
  readonly complete: (request: RunRequest) => Effect.Effect<Llm.Reply, Llm.LlmError>
  /** Calls a tool, with events before and after; never fails. */
  readonly callTool: (toolbox: Toolbox.Service, request: Toolbox.CallRequest) => Effect.Effect<ToolOutcome>
}

/**
 * Runs a pattern's body between `RunStarted` and `RunEnded`. A span is made only where the app has a tracer of its
 * own.
 */
export const run = <A, E, R>(
  pattern: string,
  task: string,
  body: (run: Run) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Llm.Llm> =>
  Effect.flatMap(Effect.context<Llm.Llm>(), (context) =>
    Effect.flatMap(Effect.clock, (clock) =>
      Effect.flatMap(Effect.tracer, (tracer) => {
        const self = make(
          Context.get(context, Llm.Llm),
          Context.get(context, CallPath),
          Context.get(context, Journal.Journal),
          clock,
          tracer !== noTracer
        )
        const ended = (exit: Exit.Exit<A, E>): Effect.Effect<void> =>
          self.emit({ _tag: "RunEnded", pattern, ...outcome(exit) })
        const whole = Effect.zipRight(
          self.emit({ _tag: "RunStarted", pattern, task }),
          Effect.onExit(
            Effect.suspend(() => body(self)),
            ended
          )
        )
        const keyed =
          Context.get(context, RunKey) === undefined ? Effect.provideService(whole, RunKey, Symbol(pattern)) : whole
        return tracer === noTracer
          ? keyed
          : Effect.withSpan(keyed, `forethought.${pattern}`, { attributes: { "forethought.call": self.path } })
      })
    )
  )

const noTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

const outcome = (exit: Exit.Exit<unknown, unknown>): Pick<RunEvent.RunEnded, "outcome" | "error"> => {
  if (Exit.isSuccess(exit)) return { outcome: "succeeded" }
  if (Cause.isInterruptedOnly(exit.cause)) return { outcome: "interrupted" }
  return { outcome: "failed", error: RunEvent.errorInfo(Cause.squash(exit.cause)) }
}

const make = (
  llm: Llm.Service,
  path: Llm.CallId,
  journal: Journal.Service,
  clock: Clock.Clock,
  traced: boolean
): Run => {
  const emit: Run["emit"] = (event) =>
    Effect.suspend(() => Journal.recordIn(journal, { call: path, ...event, at: clock.unsafeCurrentTimeMillis() }))
  return {
    path,
    id: (segment) => join(path, segment),
    emit,
    complete: (given) =>
      Effect.suspend(() => {
        const request = { ...given, call: join(path, given.call) }
        const { call, role } = request
        const startedAt = clock.unsafeCurrentTimeMillis()
        const asked = Effect.suspend(() => llm.complete(request))
        return Effect.zipRight(
          emit({ _tag: "ModelCallStarted", call, role }),
          Effect.matchCauseEffect(
            traced
              ? Effect.withSpan(asked, "forethought.model", {
                  attributes: { "forethought.call": call, "forethought.role": role }
                })
              : asked,
            {
              onSuccess: (reply) => Effect.as(emit({ _tag: "ModelCallEnded", call, role, startedAt, reply }), reply),
              onFailure: (cause) =>
                Effect.zipRight(
                  emit({
                    _tag: "ModelCallEnded",
                    call,
                    role,
                    startedAt,
                    error: RunEvent.errorInfo(Cause.squash(cause))
                  }),
                  Effect.failCause(cause)
                )
            }
          )
        )
      }),
    callTool: (toolbox, given) =>
      Effect.suspend(() => {
        const request = { ...given, call: join(path, given.call) }
        const { call, input, tool } = request
        const startedAt = clock.unsafeCurrentTimeMillis()
        const called = Effect.suspend(() => toolbox.call(request))
        const end = (outcome: ToolOutcome["outcome"], text: string, error?: Toolbox.ToolError) =>
          Effect.suspend(() => {
            const endedAt = clock.unsafeCurrentTimeMillis()
            return Effect.as(emit({ _tag: "ToolCallEnded", call, tool, startedAt, outcome, text }), {
              outcome,
              text,
              startedAt,
              endedAt,
              ...(error === undefined ? {} : { error })
            })
          })
        return Effect.zipRight(
          emit({ _tag: "ToolCallStarted", call, tool, input }),
          Effect.matchEffect(
            traced
              ? Effect.withSpan(called, "forethought.tool", {
                  attributes: { "forethought.call": call, "forethought.tool": tool }
                })
              : called,
            {
              onSuccess: (text) => end("ok", text),
              onFailure: (error) => end(error._tag === "ToolTimeout" ? "timeout" : "error", error.message, error)
            }
          )
        )
      })
  }
}

/** Runs an effect, such as another pattern, so that its calls are named under a segment of this run. */
export const nested = <A, E, R>(run: Run, segment: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, CallPath, run.id(segment))
