/**
 * Retries of the transport, in one place: a `Schedule` around an `Llm`. Patterns never retry a call that failed, so
 * the number of calls is bounded by `1 + maxRetries` for each request.
 */
import * as Journal from "@forethought/core/Journal"
import type { Llm, LlmError, Service } from "@forethought/core/Llm"
import * as Options_ from "@forethought/core/Options"
import * as RunEvent from "@forethought/core/RunEvent"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as Intervals from "effect/ScheduleIntervals"
import { wrap } from "./internal/wrap.js"

export interface Options {
  /** Maximum number of retries after a retryable failure, at least 0. Default: 2. */
  readonly maxRetries?: number | undefined
  /**
   * The longest wait before a repetition. Default: 60 seconds; at most 2^31 - 1 ms, the longest timer there is. A
   * longer backoff is cut to it. A provider that asks for a longer wait fails the call at once, with `retryAfter` in
   * its reason, so that the caller can decide.
   */
  readonly maxRetryDelay?: Duration.DurationInput | undefined
  /**
   * The wait before each repetition where the provider names none. Default: exponential from 500 ms, jittered by
   * 20 %. When it ends, the repetitions end too.
   */
  readonly backoff?: Schedule.Schedule<unknown, LlmError> | undefined
}

const longestTimer = 2 ** 31 - 1

const exponential = Schedule.exponential("500 millis").pipe(Schedule.jittered)

/** The schedule by which a failed call is repeated: retryable failures only, and waiting as long as they ask for. */
export const schedule = (options: Options = {}): Schedule.Schedule<unknown, LlmError> => bounded(options)

/** The schedule, which gives the error that it repeats for. */
const bounded = (options: Options): Schedule.Schedule<LlmError, LlmError> => {
  const maxRetries = Options_.wholeNumber("Retry", "maxRetries", options.maxRetries ?? 2, 0)
  const longest = Math.min(Duration.toMillis(options.maxRetryDelay ?? "60 seconds"), longestTimer)
  return Schedule.identity<LlmError>().pipe(
    Schedule.intersect(options.backoff ?? exponential),
    Schedule.intersect(Schedule.recurs(maxRetries)),
    Schedule.modifyDelay(([[error]], delay) => asked(error) ?? Math.min(Duration.toMillis(delay), longest)),
    Schedule.whileInput((error: LlmError) => error.isRetryable && (asked(error) ?? 0) <= longest),
    Schedule.map(([[error]]) => error)
  )
}

/** The wait in milliseconds that a provider asked for. */
const asked = (error: LlmError): number | undefined =>
  error.reason._tag === "RateLimited" || error.reason._tag === "Unavailable" ? error.reason.retryAfter : undefined

/**
 * Repeats the calls of a model service that fail for a reason that may pass; `ModelRetried` tells of each before the
 * wait. A wait is interrupted at once with its fiber; interruption and defects are never retried.
 */
export const retrying = (service: Service, options: Options = {}): Service => {
  const repeated = bounded(options)
  return {
    ...service,
    // Asked anew for each repetition: a model may begin its work where it is asked.
    complete: (request) =>
      Effect.retry(
        Effect.suspend(() => service.complete(request)),
        Schedule.onDecision(repeated, (error, decision) =>
          ScheduleDecision.isDone(decision)
            ? Effect.void
            : Effect.map(Effect.all([Journal.tell, Clock.currentTimeMillis]), ([tell, now]) => {
                const delay = Math.max(0, Math.round(Intervals.start(decision.intervals) - now))
                tell({ _tag: "ModelRetried", call: request.call, error: RunEvent.errorInfo(error), delay })
              })
        )
      )
  }
}

/**
 * {@link retrying} as a Layer around any other. Use it once: the providers of this package have it already. Throws a
 * `InvalidOption` on a wrong option.
 */
export const layer = (options: Options = {}): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm, E, R>) => {
  Options_.rejectUnknown("Retry", options, ["maxRetries", "maxRetryDelay", "backoff"])
  schedule(options)
  return wrap((model) => retrying(model, options))
}
