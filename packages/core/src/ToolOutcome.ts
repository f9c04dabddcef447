/**
 * The values that a tool's `execute` may return.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** An Effect, a Promise or a string. A value that is not a string becomes text, see `ToolText.fromUnknown`. */
export type Outcome<R> = Effect.Effect<unknown, unknown, R> | PromiseLike<unknown> | string

/** An outcome as an effect. A Promise that settles after an interruption is dropped, and never unhandled. */
export const lift = <R>(outcome: Outcome<R>): Effect.Effect<unknown, unknown, R> => {
  if (Effect.isEffect(outcome)) return outcome
  if (!Predicate.isPromiseLike(outcome)) return Effect.succeed(outcome)
  return Effect.async((resume) => {
    outcome.then(
      (value) => resume(Effect.succeed(value)),
      (error) => resume(Effect.fail(error))
    )
  })
}
