/**
 * Keeps to what a provider allows: requests and tokens per minute, and calls at once.
 */
import * as Journal from "@forethought/core/Journal"
import type { Llm, LlmError, Reply, Request, Service } from "@forethought/core/Llm"
import * as Options_ from "@forethought/core/Options"
import { RunKey } from "@forethought/core/RunKey"
import * as WaitingLine from "@forethought/core/WaitingLine"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as estimate from "./internal/estimate.js"
import { wrap } from "./internal/wrap.js"

export interface Options {
  /** Maximum number of calls that begin within any 60 seconds. Default: no limit. */
  readonly requestsPerMinute?: number | undefined
  /**
   * Maximum number of tokens, input and output together, of the calls that begin within any 60 seconds. They are
   * estimated before a call, and put right by what the provider reports. A call that is larger than the limit goes
   * alone. Default: any number.
   */
  readonly tokensPerMinute?: number | undefined
  /** Maximum number of calls that run at once. Default: no limit. */
  readonly maxConcurrent?: number | undefined
  /** Number of output tokens that is estimated for a request without `maxTokens`. Default: 1,024. */
  readonly replyTokens?: number | undefined
}

/**
 * Lets calls wait until they are within the limits.
 *
 * Calls of one run keep their order, and runs take turns: one that asks for much does not hold up the others. A call
 * that waits can be interrupted at any time. The provider's own retries count as one call with the first, and hold its
 * place while they wait.
 *
 * A call that had to wait is told as `ModelWaited`, with the limit that it waited for last: `requestsPerMinute`,
 * `tokensPerMinute` or `maxConcurrent`.
 *
 * The limits are those of the Layer: give one Layer to every role that shares the provider's account.
 */
export const layer = (options: Options): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm, E, R>) => {
  check(options)
  return wrap((model) => make(model, options))
}

/** The service of {@link layer}. */
export const make = (model: Service, options: Options): Service => {
  const { maxConcurrent, replyTokens, requestsPerMinute, tokensPerMinute } = check(options)
  let running = 0
  /** The calls that began within the last minute, oldest first. */
  let recent: Array<Call> = []
  let tokens = 0

  const line = WaitingLine.make<Call, never>({
    judge: (call, now) => {
      let expired = 0
      for (const past of recent) {
        if (now - past.startedAt < minute) break
        expired += 1
        tokens -= past.tokens
      }
      if (expired > 0) recent = recent.slice(expired)
      if (running >= maxConcurrent) {
        call.waitsFor = "maxConcurrent"
        return WaitingLine.wait
      }
      const [oldest] = recent
      if (oldest !== undefined && (recent.length >= requestsPerMinute || tokens + call.tokens > tokensPerMinute)) {
        call.waitsFor = recent.length >= requestsPerMinute ? "requestsPerMinute" : "tokensPerMinute"
        return { _tag: "Wait", millis: oldest.startedAt + minute - now }
      }
      running += 1
      call.startedAt = now
      if (windowed) {
        recent.push(call)
        tokens += call.tokens
      }
      return WaitingLine.admit
    },
    leave: () => {
      running -= 1
    }
  })
  const windowed = requestsPerMinute !== Number.POSITIVE_INFINITY || tokensPerMinute !== Number.POSITIVE_INFINITY

  const ask = (request: Request, call: Call): Effect.Effect<Reply, LlmError> =>
    // A model may begin its work where it is asked, so it is asked when it is its turn.
    Effect.tap(
      Effect.suspend(() => model.complete(request)),
      ({ usage }) =>
        Effect.sync(() => {
          if (usage.inputTokens === undefined || usage.outputTokens === undefined) return
          const used = usage.inputTokens + usage.outputTokens
          if (recent.includes(call)) tokens += used - call.tokens
          call.tokens = used
        })
    )

  return {
    ...model,
    complete: (request) =>
      Effect.flatMap(Effect.all([RunKey, Journal.tell]), ([run, tell]) => {
        const call: Call = {
          tokens: windowed ? estimate.inputTokens(request) + (request.maxTokens ?? replyTokens) : 0,
          startedAt: 0,
          // Who came behind others is not judged before it is its turn.
          waitsFor: "others before it"
        }
        const asked = (waited: number) => {
          if (waited > 0) tell({ _tag: "ModelWaited", call: request.call, why: call.waitsFor, waited })
          return ask(request, call)
        }
        return line.through(call, asked, run)
      })
  }
}

interface Call {
  tokens: number
  /** Epoch milliseconds. */
  startedAt: number
  waitsFor: string
}

const minute = 60_000

const check = (options: Options) => {
  const owner = "RateLimit"
  Options_.rejectUnknown(owner, options, ["requestsPerMinute", "tokensPerMinute", "maxConcurrent", "replyTokens"])
  const limit = (name: "requestsPerMinute" | "tokensPerMinute" | "maxConcurrent") => {
    const value = options[name]
    return value === undefined ? Number.POSITIVE_INFINITY : Options_.wholeNumber(owner, name, value)
  }
  return {
    requestsPerMinute: limit("requestsPerMinute"),
    tokensPerMinute: limit("tokensPerMinute"),
    maxConcurrent: limit("maxConcurrent"),
    replyTokens: Options_.wholeNumber(owner, "replyTokens", options.replyTokens ?? 1_024)
  }
}
