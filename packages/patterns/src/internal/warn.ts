/**
 * Telling of what a person should know although the run goes on.
 *
 * @internal
 */
import type { Run } from "@forethought/core/Run"
import type * as Effect from "effect/Effect"

/** Tells a warning about a call, by its segment. */
export const warn = (run: Run, segment: string, kind: string, message: string): Effect.Effect<void> =>
  run.emit({ _tag: "Warning", call: run.id(segment), kind, message })
