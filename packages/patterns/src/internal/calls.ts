/**
 * Counting the calls that a run will make.
 *
 * @internal
 */
import type { Executor } from "@forethought/core/Executor"
import type * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"

/** From `least` to `most`, which is not a number where nothing bounds them; `Infinity` is a bound out of sight. */
export const range = (least: number, most: number): Pattern.Range => ({
  least,
  ...(Number.isNaN(most) ? {} : { most })
})

/** The most calls that one question makes, corrections included; not a number where its Schedule has no end. */
export const asks = (reask: Reask.Reask): number => 1 + (Reask.timesOf(reask) ?? Number.NaN)

/** The most model calls of one step; not a number where the executor does not say. */
export const ofStep = (executor: Pick<Executor<unknown, unknown>, "modelCalls">, maxToolCalls: number): number =>
  executor.modelCalls?.(maxToolCalls)?.most ?? Number.NaN
