/**
 * Showing a plan to somebody before it runs: a service that patterns consult, and that an app or a runner answers.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { PlannedStep } from "./RunEvent.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A plan that waits for a review, the first of a run or a changed one. Nothing of it has run. */
export interface ProposedPlan {
  /** The pattern that made it, as `RunStarted` names it. */
  readonly pattern: string
  /** The question, goal or task of the run; of ADaPT the root task. */
  readonly task: string
  /**
   * The steps that are to run, in plan order, numbered as in the run. `PlanGraph` shows how they hang together. Of
   * ADaPT the sub-steps of one decomposition, those of its groups included, with their places in the tree as ids.
   */
  readonly steps: ReadonlyArray<PlannedStep>
  /**
   * The approved steps: the plan as it was last accepted, whole; of ADaPT the approved sub-step that is split now.
   * Absent for the first plan of a run. {@link changes} tells what `steps` make of those that have not run.
   */
  readonly previous?: ReadonlyArray<PlannedStep>
  /** The ids of those in `previous` that have run. Absent where none has. */
  readonly done?: ReadonlyArray<string>
  /**
   * The plan as the pattern's planner writes it, where `steps` do not tell all of it: ADaPT's logic and groups, the
   * inputs and outputs that the Plan-and-Solve agent's plan declares. An edit starts from it.
   */
  readonly written?: string
}

/**
 * The decision about a plan. An edited plan is text in the form that the pattern's planner writes; the pattern reads
 * and validates it as if the planner had written it. Whatever stands in it is approved; what is over the pattern's cap
 * of steps does not run for now.
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

/** Nothing of the plan runs, and the run ends. */
export const refuse = (reason: string): Review => ({ _tag: "Refuse", reason })

// ---------------------------------------------------------------------------------------------------------------
// comparing
// ---------------------------------------------------------------------------------------------------------------

/** The difference between a plan and the approved steps that have not run. */
export interface Changes {
  /** Its steps that are none of the approved ones, in plan order: new, changed, or run before. All of a first plan. */
  readonly added: ReadonlyArray<PlannedStep>
  /** The approved steps that are none of its own, in their order. */
  readonly dropped: ReadonlyArray<PlannedStep>
}

/**
 * Compares a plan with the approved steps that have not run: an approval holds for one execution. Two steps are the
 * same where their tools and inputs are equal, and their texts but for case, the width of letters, white space,
 * quotation marks, and full stops, commas, colons and semicolons at the end of a word: "1.5" is not "15". A step that
 * occurs twice needs two approved ones.
 */
export const changes = ({
  done = [],
  previous = [],
  steps
}: Pick<ProposedPlan, "done" | "previous" | "steps">): Changes => {
  const waiting = previous.filter(({ id }) => !done.includes(id))
  const approved = new Map<string, Array<PlannedStep>>()
  for (const step of waiting) {
    const key = keyOf(step)
    const same = approved.get(key)
    if (same === undefined) approved.set(key, [step])
    else same.push(step)
  }
  const added = steps.filter((step) => approved.get(keyOf(step))?.shift() === undefined)
  const left = new Set([...approved.values()].flat())
  return { added, dropped: waiting.filter((step) => left.has(step)) }
}

const keyOf = ({ input, text, tool }: PlannedStep): string =>
  JSON.stringify([sameWidth(text).toLowerCase().split(/\s+/).map(bare).filter(Boolean), tool, input])

/** Folds wide letters, and nothing that means something else: "10²" is not "102". */
const sameWidth = (text: string): string =>
  text.normalize("NFC").replaceAll(/[\uff01-\uff5e]/g, (sign) => sign.normalize("NFKC"))

/** A word without what people write around it. One of nothing else, such as `..`, is what it is. */
const bare = (word: string): string => {
  const isMark = (at: number, marks: string) => marks.includes(word.charAt(at))
  let [start, end] = [0, word.length]
  while (start < end && isMark(start, quotes)) start++
  while (end > start && isMark(end - 1, quotes + stops)) end--
  return start === end ? word : word.slice(start, end)
}

const quotes = "\"'`“”„‟‘’‚«»「」『』"
const stops = ".,:;…。，：；、"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The plan was refused where it was shown, so nothing more of it runs. */
export class PlanRefused extends Data.TaggedError("PlanRefused")<{
  /** Why, in the words of whoever refused it; empty where none were given. */
  readonly reason: string
  /** The plan as it was shown. */
  readonly plan: string
}> {
  override get message(): string {
    return this.reason.trim() === "" ? "The plan was refused." : `The plan was refused: ${this.reason}`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** Accepts every plan, without being asked. */
export const acceptAll: Service = { review: () => Effect.succeed(accept) }

/**
 * The reviewer of plans. Default: {@link acceptAll}. Whatever runs was approved: each first plan is shown, each replan
 * that adds a step to the approved ones that have not run or changes one of them, and each decomposition of ADaPT. A
 * replan that only leaves out or reorders approved steps is not shown. What an edit brings in is approved, what it
 * leaves out is not any more.
 *
 * A refused plan ends the run before anything of it has run, with the work so far as its progress: as
 * {@link PlanRefused}, in ADaPT as `TaskFailed`.
 */
export class PlanApproval extends Context.Reference<PlanApproval>()("@forethought/core/PlanApproval", {
  defaultValue: (): Service => acceptAll
}) {}

/** A Layer of a reviewer, in place of the default. */
export const layer = (review: Service["review"]): Layer.Layer<never> => Layer.succeed(PlanApproval, { review })

/** Returns a plan in the form in which planners write it: `1. step`, or `Plan: reason` over `#E1 = Tool[input]`. */
export const textOf = (steps: ReadonlyArray<PlannedStep>): string =>
  steps
    .map(({ id, input, text, tool }) =>
      tool === undefined ? `${id}. ${text}` : `${text === "" ? "" : `Plan: ${text}\n`}${id} = ${tool}[${input ?? ""}]`
    )
    .join("\n")

/** Asks the current reviewer. */
export const review = (plan: ProposedPlan): Effect.Effect<Review> =>
  Effect.flatMap(PlanApproval, (service) => service.review(plan))

/**
 * Shows a plan to the current reviewer, for a pattern. Returns the plan as it was accepted, or as `read` reads what was
 * written in its place. Fails with {@link PlanRefused}, or with what `read` fails with.
 */
export const approve = <Plan, E>(
  plan: Plan,
  about: Omit<ProposedPlan, "steps" | "previous" | "written"> & {
    readonly steps: (plan: Plan) => ReadonlyArray<PlannedStep>
    readonly previous?: ReadonlyArray<PlannedStep> | undefined
    readonly written?: string | undefined
    readonly read: (edited: string) => Either.Either<Plan, E>
  }
): Effect.Effect<Plan, E | PlanRefused> =>
  Effect.flatMap(PlanApproval, (service) => {
    if (service === acceptAll) return Effect.succeed(plan)
    const { done = [], pattern, previous, read, task, written } = about
    const steps = about.steps(plan)
    const proposed = {
      pattern,
      task,
      steps,
      ...(previous === undefined ? {} : { previous }),
      ...(done.length === 0 ? {} : { done }),
      ...(written === undefined ? {} : { written })
    }
    return Effect.flatMap(service.review(proposed), (decision): Effect.Effect<Plan, E | PlanRefused> => {
      switch (decision._tag) {
        case "Accept":
          return Effect.succeed(plan)
        case "Edit":
          return read(decision.plan)
        case "Refuse":
          return Effect.fail(new PlanRefused({ reason: decision.reason, plan: textOf(steps) }))
      }
    })
  })
