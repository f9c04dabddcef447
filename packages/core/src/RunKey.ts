/**
 * Which run a call belongs to, for layers that treat the runs of an app fairly. It is a key for this process alone:
 * never part of an id, an event or a record.
 */
import * as Context from "effect/Context"

/** The key of the outermost run; a run inside another has the same. Default: `undefined`, outside of any run. */
export class RunKey extends Context.Reference<RunKey>()("@forethought/core/RunKey", {
  defaultValue: (): symbol | undefined => undefined
}) {}
