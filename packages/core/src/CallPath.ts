/**
 * The place of a model or tool call in a run. A pattern names its calls relative to the path it runs under, so a
 * pattern inside another gives the same ids on every replay.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CallId } from "./Llm.js"

/** The path that ids of the current run start with. Default: empty, the outermost run. */
export class CallPath extends Context.Reference<CallPath>()("@forethought/core/CallPath", {
  defaultValue: (): CallId => ""
}) {}

/** Joins two paths with `/`; an empty one adds nothing. */
export const join = (base: CallId, segment: string): CallId =>
  base === "" ? segment : segment === "" ? base : `${base}/${segment}`

/** Runs an effect, such as another pattern, under `path`: its calls are named `path/…`. The path is absolute. */
export const at =
  (path: CallId) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CallPath, path)
