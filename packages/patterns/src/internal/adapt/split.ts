/**
 * How a task may be split: reading a decomposition within its bounds, and showing it.
 *
 * @internal
 */
import { ParseError } from "@forethought/core/ReplyError"
import type { PlannedStep } from "@forethought/core/RunEvent"
import * as Either from "effect/Either"
import { fold } from "../fold.js"
import { type Decomposition, type Problem as DecompositionProblem, type Group, readDecomposition } from "./parse.js"

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

/** Words for what is wrong with a split. */
export type Problem = DecompositionProblem | "too_many_sub_steps" | "repeated_task"

/**
 * Reads a decomposition that can be carried out, or fails with a `ParseError`: as `readDecomposition` does, or with
 * `problem` `too_many_sub_steps` (however they are nested) or `repeated_task`. `path` is the task and those above it,
 * folded. A repeat of one of them is refused unless another sub-step of an *and* group stands before it or its group.
 */
export const readSplit = (
  reply: string,
  attempt: number,
  maxSubSteps: number,
  path: ReadonlyArray<string>
): Either.Either<Decomposition, ParseError<Problem>> =>
  Either.flatMap(readDecomposition(reply, attempt), (plan) => {
    const problem = faultOf(plan, maxSubSteps, path)
    return problem === undefined
      ? Either.right(plan)
      : Either.left(new ParseError({ ...problem, expected: expectedPlan(maxSubSteps), reply }))
  })

const expectedPlan = (maxSubSteps: number): string =>
  `{"logic": "and" | "or", "sub_steps": ["...", "..."]} with at most ${maxSubSteps} sub-steps in all, in which the task itself and the tasks above it stand only behind another sub-step of an "and"`

const faultOf = (
  plan: Group,
  maxSubSteps: number,
  path: ReadonlyArray<string>
): { readonly problem: Problem; readonly found: string } | undefined => {
  const count = countOf(plan)
  if (count > maxSubSteps) return { problem: "too_many_sub_steps", found: `${count} sub-steps` }
  const repeat = unchangedRepeat(plan, path, false)
  return repeat === undefined
    ? undefined
    : {
        problem: "repeated_task",
        found: `a task that was tried already, with nothing before it that could change its outcome: ${JSON.stringify(repeat.slice(0, 200))}`
      }
}

const countOf = (subStep: string | Group): number =>
  typeof subStep === "string" ? 1 : subStep.subSteps.reduce((count, inner) => count + countOf(inner), 0)

/** A sub-step that is on the path, and that nothing stands before; `isBehind`: something stands before the group. */
const unchangedRepeat = (
  { logic, subSteps }: Group,
  path: ReadonlyArray<string>,
  isBehind: boolean
): string | undefined => {
  for (const [index, subStep] of subSteps.entries()) {
    // An alternative is tried because the one before it failed, which changes nothing that it could count on.
    const follows = logic === "and" && (isBehind || index > 0)
    if (typeof subStep !== "string") {
      const inner = unchangedRepeat(subStep, path, follows)
      if (inner !== undefined) return inner
    } else if (!follows && path.includes(fold(subStep))) return subStep
  }
  return undefined
}

// ---------------------------------------------------------------------------------------------------------------
// showing
// ---------------------------------------------------------------------------------------------------------------

/** A sub-step as the planner wrote it; a group as its logic and sub-steps. */
export const inWords = (subStep: string | Group): string =>
  typeof subStep === "string" ? subStep : `(${subStep.subSteps.map(inWords).join(` ${subStep.logic} `)})`

/** The sub-steps of a group and of the groups in it, as a plan is shown: with their places in the tree. */
export const shownSteps = ({ subSteps }: Group, id: string): ReadonlyArray<PlannedStep> =>
  subSteps.flatMap((subStep, index) => {
    const place = `${id}.${index + 1}`
    return typeof subStep === "string" ? [shownStep(place, subStep)] : shownSteps(subStep, place)
  })

export const shownStep = (id: string, text: string): PlannedStep => ({ id, text, dependsOn: [] })

/** A group in the form that the planner writes. */
export const written = (group: Group): string => JSON.stringify(inJson(group))

const inJson = (subStep: string | Group): unknown =>
  typeof subStep === "string" ? subStep : { logic: subStep.logic, sub_steps: subStep.subSteps.map(inJson) }
