/**
 * Showing a plan to somebody before it runs: a service that patterns consult, and that an app or a runner answers.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
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

/** The plan was refused when it was reviewed. Nothing of it has run. */
export class PlanRefused extends Data.TaggedError("PlanRefused")<{
  readonly pattern: string
  /** Why, in the reviewer's words; may be empty. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason.trim() === "" ? "The plan was refused." : `The plan was refused: ${this.reason}`
  }
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

/** Who reviews plans. Default: every plan is accepted. */
export class PlanApproval extends Context.Reference<PlanApproval>()("@forethought/core/PlanApproval", {
  defaultValue: (): Service => ({ review: () => Effect.succeed(accept) })
}) {}

/** A Layer of a reviewer, in place of the default. */
export const layer = (review: Service["review"]): Layer.Layer<never> => Layer.succeed(PlanApproval, { review })

/** Asks the current reviewer. */
export const review = (plan: ProposedPlan): Effect.Effect<Review> =>
  Effect.flatMap(PlanApproval, (service) => service.review(plan))
