/**
 * The ids of the steps of one run, through all its plans.
 *
 * @internal
 */
import type { PlannedStep } from "@forethought/core/RunEvent"
import { fold } from "./fold.js"

export interface StepIds {
  /**
   * Puts a plan, whatever its ids, in place of what is left, and gives it its ids: a step with the text of one that is
   * left keeps that one's, others get new ones.
   */
  readonly take: (plan: ReadonlyArray<PlannedStep>) => ReadonlyArray<PlannedStep>
  /** The steps that have not started. */
  readonly left: () => ReadonlyArray<PlannedStep>
  /** Starts the first step that is left and gives its id, which no other step gets. */
  readonly start: () => string
}

export const make = (): StepIds => {
  let left: ReadonlyArray<PlannedStep> = []
  let last = 0
  return {
    take: (plan) => {
      const kept = left.map(({ id, text }) => ({ id, key: fold(text) }))
      const ids = new Map(
        plan.map(({ id, text }) => {
          const same = kept.findIndex(({ key }) => key === fold(text))
          return [id, kept.splice(same, same < 0 ? 0 : 1)[0]?.id ?? String(++last)]
        })
      )
      const idOf = (id: string) => ids.get(id) ?? id
      left = plan.map((step) => ({ ...step, id: idOf(step.id), dependsOn: step.dependsOn.map(idOf) }))
      return left
    },
    left: () => left,
    start: () => {
      const [first, ...rest] = left
      left = rest
      return first?.id ?? String(++last)
    }
  }
}
