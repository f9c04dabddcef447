/**
 * Readers of what a person wrote, as Effects.
 */
import * as Effect from "effect/Effect"
import { UsageError } from "../errors.js"

/** Runs a reader. What it throws as a `UsageError` fails the Effect; anything else is a defect. */
export const reading = <A>(read: () => A): Effect.Effect<A, UsageError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return error instanceof UsageError ? Effect.fail(error) : Effect.die(error)
    }
  })
