/**
 * Codecs of the results and errors of every pattern, to store or send them. Errors decode to their classes, with their
 * `progress`. Kept apart from the patterns, so that a run that needs none of this does not load `effect/Schema`.
 *
 * @example
 * ```ts
 * const stored = Schema.encodeSync(Codec.PlanAndExecute.Error)(stop)
 * ```
 */
export * as Adapt from "./internal/adapt/codec.js"
export * as PlanAndExecute from "./internal/planAndExecute/codec.js"
export * as PlanAndSolve from "./internal/planAndSolve/codec.js"
export * as PlanAndSolveAgent from "./internal/planAndSolveAgent/codec.js"
export * as ReAct from "./internal/react/codec.js"
export * as Rewoo from "./internal/rewoo/codec.js"
export * as Router from "./internal/router/codec.js"
