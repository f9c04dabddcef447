/**
 * Showing a plan to somebody before it runs: a service that patterns consult, and that an app or a runner answers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PlannedStep } from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A plan that waits for a review. Nothing of it has run. */
export interface ProposedPlan {
  /** The pattern that made it, as `RunStarted` names it. */
  readonly pattern: string
  /** The question, goal or task. */
  readonly task: string
  /** The steps in plan order. `PlanGraph` shows how they hang together. */
  readonly steps: ReadonlyArray<PlannedStep>
}

/**
 * What becomes of a plan. An edited plan is text in the form that the pattern's planner writes; the pattern reads and
 * validates it as if the planner had written it.
 */
export type Review =
  | { readonly _tag: "Accept" }
  | { readonly _tag: "Edit"; readonly plan: string }
  | { readonly _tag: "Refuse"; readonly reason: string }

export interface Service {
  readonly review: (plan: ProposedPlan) => Effect.Effect<Review>
}

// ---------------------------------------------------------------------------------------------------------------
// reviews
// ---------------------------------------------------------------------------------------------------------------

/** The plan runs as it is. */
export const accept: Review = { _tag: "Accept" }

/** The given plan runs in its place, once it has been read and validated. */
export const edit = (plan: string): Review => ({ _tag: "Edit", plan })

/** Nothing runs. */
export const refuse = (reason: string): Review => ({ _tag: "Refuse", reason })

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** Accepts every plan. */
export const acceptAll: Service = { review: () => Effect.succeed(accept) }

/**
 * Who reviews plans. Default: {@link acceptAll}. A refused plan ends the run before anything of it has run: as
 * `InvalidPlan` with the issue `Refused` in ReWOO, as `ParseError` with the problem `plan_refused` elsewhere.
 */
export class PlanApproval extends Context.Reference<PlanApproval>()("@forethought/core/PlanApproval", {
  defaultValue: (): Service => acceptAll
}) {}

/** A Layer of a reviewer, in place of the default. */
export const layer = (review: Service["review"]): Layer.Layer<never> => Layer.succeed(PlanApproval, { review })

/** Asks the current reviewer. */
export const review = (plan: ProposedPlan): Effect.Effect<Review> =>
  Effect.flatMap(PlanApproval, (service) => service.review(plan))
