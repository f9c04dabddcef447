/**
 * The plan of a run: kept to its cap, shown to whoever approves it before anything of it runs, and told with the ids of
 * its steps.
 *
 * @internal
 */
import * as PlanApproval from "@forethought/core/PlanApproval"
import type { Run } from "@forethought/core/Run"
import type { PastStep, PlannedStep } from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import { fold } from "./fold.js"
import { warn } from "./warn.js"

/** The steps that are planned in one run, through all its plans. */
export interface Plan<Step, E> {
  /** Cuts steps that are over the cap, and says so; tells too where they were told apart on one line. */
  readonly within: (call: string, steps: ReadonlyArray<Step>, isInline?: boolean) => Effect.Effect<ReadonlyArray<Step>>
  /** Returns the steps as they were approved; what a person wrote keeps to the cap as well. */
  readonly approve: (
    call: string,
    steps: ReadonlyArray<Step>
  ) => Effect.Effect<ReadonlyArray<Step>, E | PlanApproval.PlanRefused>
  /** Returns the first plan as it was cut and approved, once it has been told. */
  readonly first: (
    call: string,
    written: { readonly steps: ReadonlyArray<Step>; readonly isInline: boolean }
  ) => Effect.Effect<ReadonlyArray<Step>, E | PlanApproval.PlanRefused>
  /** Returns a later plan as it was cut and approved, once it has been told beside the result that caused it. */
  readonly next: (
    call: string,
    written: { readonly steps: ReadonlyArray<Step>; readonly isInline: boolean },
    cause: PastStep
  ) => Effect.Effect<ReadonlyArray<Step>, E | PlanApproval.PlanRefused>
  /** Tells the plan before and after, beside the result that caused the change. */
  readonly revised: (call: string, steps: ReadonlyArray<Step>, cause: PastStep) => Effect.Effect<void>
  /**
   * Starts the first step that is left and returns its id, which no other step gets. To run it once more needs a new
   * approval.
   */
  readonly start: () => string
}

/**
 * Makes the plan of a run. Shown are the first plan, and each later one that adds to the approved steps that have not
 * run. A step keeps its id as long as its text stays, and new text gets a new one.
 */
export const make = <Step, E>(
  run: Run,
  about: {
    readonly pattern: string
    readonly task: string
    readonly maxPlanLength: number
    /** The steps as they are shown; the first is number `from` of the run. */
    readonly shown: (steps: ReadonlyArray<Step>, from: number) => ReadonlyArray<PlannedStep>
    readonly read: (edited: string) => Either.Either<ReadonlyArray<Step>, E>
    readonly written?: (steps: ReadonlyArray<Step>) => string | undefined
  }
): Plan<Step, E> => {
  const { maxPlanLength, pattern, read, task } = about
  let left: ReadonlyArray<PlannedStep> = []
  let lastId = 0
  let next = 1
  let approved: ReadonlyArray<PlannedStep> | undefined
  let done: ReadonlyArray<string> = []
  const shown = (steps: ReadonlyArray<Step>) => about.shown(steps, next)

  const within: Plan<Step, E>["within"] = (call, steps, isInline = false) =>
    Effect.gen(function* () {
      if (isInline) {
        const message = "The plan stood on one line; its steps were told apart by their labels."
        yield* warn(run, call, "inline_list", message)
      }
      if (steps.length <= maxPlanLength) return steps
      const texts = shown(steps).map(({ text }) => text)
      const [kept, dropped] = [texts.slice(0, maxPlanLength), texts.slice(maxPlanLength)]
      yield* run.emit({ _tag: "PlanTruncated", call: run.id(call), kept, dropped })
      return steps.slice(0, maxPlanLength)
    })

  const approve: Plan<Step, E>["approve"] = (call, steps) =>
    Effect.gen(function* () {
      const service = yield* PlanApproval.PlanApproval
      if (service === PlanApproval.acceptAll) return steps
      const previous = approved
      const proposed = shown(steps)
      if (previous !== undefined && PlanApproval.changes({ previous, done, steps: proposed }).added.length === 0) {
        return steps
      }
      const written = about.written?.(steps)
      const accepted = yield* PlanApproval.approve(steps, {
        pattern,
        task,
        steps: shown,
        previous,
        done,
        written,
        read
      })
      approved = shown(accepted)
      done = []
      return yield* within(call, accepted)
    })

  /** Puts steps in the place of what is left: one with the text of one that is left keeps that one's id. */
  const take = (steps: ReadonlyArray<Step>): ReadonlyArray<PlannedStep> => {
    const plan = shown(steps)
    const kept = left.map(({ id, text }) => ({ id, key: fold(text) }))
    const ids = new Map(
      plan.map(({ id, text }) => {
        const same = kept.findIndex(({ key }) => key === fold(text))
        return [id, kept.splice(same, same < 0 ? 0 : 1)[0]?.id ?? String(++lastId)]
      })
    )
    const idOf = (id: string) => ids.get(id) ?? id
    left = plan.map((step) => ({ ...step, id: idOf(step.id), dependsOn: step.dependsOn.map(idOf) }))
    return left
  }

  const start = (): string => {
    const [first, ...rest] = left
    left = rest
    next += 1
    // Nothing was shown, so nothing is kept account of.
    if (approved !== undefined && first !== undefined) {
      const waiting = approved.filter(({ id }) => !done.includes(id))
      const { dropped: others } = PlanApproval.changes({ previous: waiting, steps: [{ ...first, dependsOn: [] }] })
      done = [...done, ...waiting.filter((step) => !others.includes(step)).map(({ id }) => id)]
    }
    return first?.id ?? String(++lastId)
  }

  const revised: Plan<Step, E>["revised"] = (call, steps, cause) =>
    Effect.suspend(() => {
      const before = left
      return run.emit({ _tag: "Replanned", call: run.id(call), before, after: take(steps), cause })
    })

  return {
    within,
    approve,
    next: (call, written, cause) =>
      Effect.gen(function* () {
        const steps = yield* approve(call, yield* within(call, written.steps, written.isInline))
        yield* revised(call, steps, cause)
        return steps
      }),
    first: (call, written) =>
      Effect.gen(function* () {
        const steps = yield* approve(call, yield* within(call, written.steps, written.isInline))
        yield* run.emit({ _tag: "PlanMade", steps: take(steps) })
        return steps
      }),
    revised,
    start
  }
}
