/**
 * The warning that a plan was written on one line.
 *
 * @internal
 */
import type * as Run from "@forethought/core/Run"
import * as Effect from "effect/Effect"

/** Tells that the steps of a plan stood on one line and were told apart by their labels, where they were. */
export const tellInline = (run: Run.Run, call: string, plan: { readonly isInline: boolean }): Effect.Effect<void> =>
  plan.isInline
    ? run.emit({
        _tag: "Warning",
        call: run.id(call),
        kind: "inline_list",
        message: "The plan stood on one line; its steps were told apart by their labels."
      })
    : Effect.void
