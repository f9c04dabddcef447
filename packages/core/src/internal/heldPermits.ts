/**
 * The permits that a call holds while it runs.
 *
 * @internal
 */
import * as Context from "effect/Context"

/** The waiting lines that the call in which this runs has come through. Default: none. */
export class HeldPermits extends Context.Reference<HeldPermits>()("@forethought/core/HeldPermits", {
  defaultValue: (): ReadonlySet<unknown> => new Set()
}) {}
