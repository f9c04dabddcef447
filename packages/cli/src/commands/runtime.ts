/**
 * Runs the Effect of a command.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ExitCode } from "../errors.js"

/** Runs a command until it ends or `signal` is aborted, and returns its exit code. Rejects with what it failed with. */
export const runCommand = async <E>(command: Effect.Effect<number, E>, signal: AbortSignal): Promise<number> => {
  const exit = await Effect.runPromiseExit(command, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.isInterrupted(exit.cause)) return ExitCode.interrupted
  throw Cause.squash(exit.cause)
}
