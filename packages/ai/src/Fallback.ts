/**
 * Another model where the first one cannot answer: a cheaper provider that is overloaded, a server at home that is
 * switched off.
 */
import * as Journal from "@forethought/core/Journal"
import { Llm, LlmError, type Reason, type Service } from "@forethought/core/Llm"
import * as RunEvent from "@forethought/core/RunEvent"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface Options {
  /**
   * The reasons for which the other model is asked. Default: `RateLimited`, `Unavailable` and `TimedOut`, that is after
   * the first model's own retries. The other reasons say that the request or the key is at fault, which is better seen
   * than hidden.
   */
  readonly on?: ReadonlyArray<Reason["_tag"]> | undefined
}

const passing: ReadonlyArray<Reason["_tag"]> = ["RateLimited", "Unavailable", "TimedOut"]

/** A service that asks `second` where `first` fails for a chosen reason, which `FellBack` tells. */
export const make = (first: Service, second: Service, options: Options = {}): Service => {
  const reasons = new Set(options.on ?? passing)
  return {
    complete: (request) =>
      Effect.catchAll(
        Effect.suspend(() => first.complete(request)),
        (error) =>
          reasons.has(error.reason._tag)
            ? Effect.flatMap(Journal.tell, (tell) => {
                const name = (service: Service) => service.model?.(request.role) ?? "a model without a name"
                const names = { from: name(first), to: name(second) }
                tell({ _tag: "FellBack", call: request.call, ...names, error: RunEvent.errorInfo(error) })
                return Effect.mapError(second.complete(request), (last) => both(error, last))
              })
            : Effect.fail(error)
      ),
    model: (role) => {
      const names = [first, second].map((service) => service.model?.(role))
      return names.includes(undefined) ? undefined : names.join(" or ")
    }
  }
}

/** The last error decides, and says why the first model was given up. */
const both = (first: LlmError, last: LlmError): LlmError =>
  new LlmError({
    ...last,
    detail: `${last.detail === undefined || last.detail === "" ? "" : `${last.detail}; `}another model was asked before: ${first.message}`
  })

/**
 * Asks the model of `second` where the model of the Layer fails for a chosen reason. Each is built once, as in
 * any Effect program. For a third model use it twice: `model.pipe(Fallback.layer(second), Fallback.layer(third))`.
 *
 * Two calls at the most. The reply's `model` says which one answered.
 */
export const layer =
  <E2, R2>(second: Layer.Layer<Llm, E2, R2>, options: Options = {}) =>
  <E, R>(first: Layer.Layer<Llm, E, R>): Layer.Layer<Llm, E | E2, R | R2> =>
    Layer.zipWith(first, second, (one, two) =>
      Context.add(one, Llm, make(Context.get(one, Llm), Context.get(two, Llm), options))
    )
