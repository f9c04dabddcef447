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

/** Waits for code to be loaded and used. What that rejects with as a `UsageError` fails the Effect. */
export const loading = <A>(load: () => Promise<A>): Effect.Effect<A, UsageError> =>
  Effect.catchAll(Effect.tryPromise({ try: load, catch: (error) => error }), (error) =>
    error instanceof UsageError ? Effect.fail(error) : Effect.die(error)
  )
