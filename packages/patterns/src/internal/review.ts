/**
 * Showing a plan to whoever approves plans, before anything of it runs.
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
          service.review({ pattern: proposed.pattern, task: proposed.task, steps: proposed.steps(proposed.plan) }),
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

/** A list of steps as a plan is shown: numbered, without dependencies. */
export const listed = (steps: ReadonlyArray<string>): ReadonlyArray<PlannedStep> =>
  steps.map((text, index) => ({ id: String(index + 1), text, dependsOn: [] }))

/** The error of a list of steps that was refused; the list is its `reply`. */
export const refusedPlan = (reason: string, steps: ReadonlyArray<PlannedStep>): ParseError =>
  new ParseError({
    problem: "plan_refused",
    expected: "a plan that is approved",
    found: reason.trim() === "" ? "a refusal" : `a refusal: ${reason}`,
    reply: steps.map((step) => `${step.id}. ${step.text}`).join("\n")
  })
