/**
 * Counting the calls that a run will make.
 *
 * @internal
 */
import type { Executor } from "@forethought/core/Executor"
import type * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"

/** From `least` to `most`, where something bounds them. */
export const range = (least: number, most: number): Pattern.Range => ({
  least,
  ...(Number.isFinite(most) ? { most } : {})
})

/** The most calls that one question makes, corrections included. */
export const asks = (reask: Reask.Reask): number => 1 + (Reask.timesOf(reask) ?? Number.POSITIVE_INFINITY)

/** The most model calls of one step. */
export const ofStep = (executor: Pick<Executor<unknown, unknown>, "modelCalls">, maxToolCalls: number): number =>
  executor.modelCalls?.(maxToolCalls)?.most ?? Number.POSITIVE_INFINITY
