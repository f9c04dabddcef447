/**
 * Showing plans to whoever approves them, before anything of them runs.
 *
 * @internal
 */
import * as PlanApproval from "@forethought/core/PlanApproval"
import { ParseError } from "@forethought/core/ReplyError"
import type { PlannedStep } from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"

/** The plan as it was accepted, or as it was edited and read again; a refusal is the pattern's own error. */
export const review = <Plan, E>(
  proposed: {
    readonly pattern: string
    readonly task: string
    readonly plan: Plan
    readonly steps: (plan: Plan) => ReadonlyArray<PlannedStep>
    readonly previous?: ReadonlyArray<PlannedStep> | undefined
    readonly done?: ReadonlyArray<string>
    readonly written?: string | undefined
  },
  answer: {
    readonly read: (edited: string) => Either.Either<Plan, E>
    readonly refused: (reason: string, steps: ReadonlyArray<PlannedStep>) => E
  }
): Effect.Effect<Plan, E> =>
  Effect.flatMap(PlanApproval.PlanApproval, (service) =>
    service === PlanApproval.acceptAll
      ? Effect.succeed(proposed.plan)
      : Effect.flatMap(
          service.review({
            pattern: proposed.pattern,
            task: proposed.task,
            steps: proposed.steps(proposed.plan),
            ...(proposed.previous === undefined ? {} : { previous: proposed.previous }),
            ...(proposed.done === undefined || proposed.done.length === 0 ? {} : { done: proposed.done }),
            ...(proposed.written === undefined ? {} : { written: proposed.written })
          }),
          (decision): Effect.Effect<Plan, E> => {
            switch (decision._tag) {
              case "Accept":
                return Effect.succeed(proposed.plan)
              case "Edit":
                return answer.read(decision.plan)
              case "Refuse":
                return Effect.fail(answer.refused(decision.reason, proposed.steps(proposed.plan)))
            }
          }
        )
  )

/** The plans of one run, each reviewed where it is not approved already. */
export interface Reviews<Plan, E> {
  readonly review: (plan: Plan) => Effect.Effect<Plan, E>
  /** Notes that an approved step runs: to run it once more needs a new approval. */
  readonly started: (text: string) => void
}

/** Shows the first plan, and each later one that adds to the approved steps that have not run. */
export const reviews = <Plan, E>(
  proposed: {
    readonly pattern: string
    readonly task: string
    /** The steps as they are shown; the first is number `from` of the run. */
    readonly steps: (plan: Plan, from: number) => ReadonlyArray<PlannedStep>
    readonly written?: (plan: Plan) => string | undefined
  },
  answer: Parameters<typeof review<Plan, E>>[1]
): Reviews<Plan, E> => {
  let next = 1
  let approved: ReadonlyArray<PlannedStep> | undefined
  let done: ReadonlyArray<string> = []
  const steps = (plan: Plan) => proposed.steps(plan, next)
  return {
    review: (plan) =>
      Effect.flatMap(PlanApproval.PlanApproval, (service) => {
        if (service === PlanApproval.acceptAll) return Effect.succeed(plan)
        const previous = approved
        if (previous !== undefined && PlanApproval.changes({ previous, done, steps: steps(plan) }).added.length === 0) {
          return Effect.succeed(plan)
        }
        const { pattern, task } = proposed
        return Effect.tap(
          review({ pattern, task, plan, steps, previous, done, written: proposed.written?.(plan) }, answer),
          (accepted) =>
            Effect.sync(() => {
              approved = steps(accepted)
              done = []
            })
        )
      }),
    started: (text) => {
      next += 1
      // Nothing was shown, so nothing is kept account of.
      if (approved === undefined) return
      const waiting = approved.filter(({ id }) => !done.includes(id))
      const { dropped: others } = PlanApproval.changes({ previous: waiting, steps: [{ id: "", text, dependsOn: [] }] })
      done = [...done, ...waiting.filter((step) => !others.includes(step)).map(({ id }) => id)]
    }
  }
}

/** A list of steps as a plan is shown: numbered, without dependencies. */
export const listed = (steps: ReadonlyArray<string>, from = 1): ReadonlyArray<PlannedStep> =>
  steps.map((text, index) => ({ id: String(from + index), text, dependsOn: [] }))

/** The error of a list of steps that was refused; the list is its `reply`. */
export const refusedPlan = (reason: string, steps: ReadonlyArray<PlannedStep>): ParseError =>
  new ParseError({
    problem: "plan_refused",
    expected: "a plan that is approved",
    found: reason.trim() === "" ? "a refusal" : `a refusal: ${reason}`,
    reply: steps.map((step) => `${step.id}. ${step.text}`).join("\n")
  })
