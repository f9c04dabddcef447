/**
 * Reads what the planner and the replanner of Plan-and-Execute write.
 */

import { excerpt, ParseError } from "@forethought/core/ReplyError"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import * as NumberedList from "@forethought/core/reply/NumberedList"
import { trim } from "@forethought/core/reply/ReplyText"
import * as Either from "effect/Either"

/** The planner's steps, in order, and whether they stood on one line; see `NumberedList.readPlan`. */
export const readPlan: (text: string) => Either.Either<NumberedList.Plan, ParseError> = NumberedList.readPlan

/** The steps alone; see `NumberedList.read`. */
const readSteps: (text: string) => Either.Either<ReadonlyArray<string>, ParseError> = NumberedList.read

/**
 * The steps of a plan that a person wrote: a list as the planner writes it, or remaining steps as the replanner does.
 */
export const readEdited = (text: string): Either.Either<ReadonlyArray<string>, ParseError> =>
  Either.orElse(readSteps(text), (error) =>
    Either.match(readDecision(text, 0), {
      onLeft: () => Either.left(error),
      onRight: (decision) => (decision._tag === "Continue" ? Either.right(decision.remainingSteps) : Either.left(error))
    })
  )

/** What the replanner decided. `conflicting`: it said several things, and this is the last of them. */
export type Decision =
  | {
      readonly _tag: "Finish"
      readonly answer: string
      /** Steps that stood beside the answer. The answer wins; whoever reads this says so. */
      readonly ignoredSteps?: ReadonlyArray<string>
      readonly conflicting: boolean
    }
  | {
      readonly _tag: "Continue"
      readonly remainingSteps: ReadonlyArray<string>
      readonly conflicting: boolean
    }

const expected =
  'one JSON object, either {"final_answer": "..."} with the answer as text or {"remaining_steps": ["...", "..."]} with at least one step'

/** Words for what is wrong with a replanner's reply. */
export type DecisionProblem = JsonReply.Problem | "bad_answer" | "bad_steps" | "no_decision"

/**
 * Reads the replanner's reply as received. A final answer is text, a number or a boolean; blank text and null are none,
 * and so is `"null"` as text. Words such as `"None"` or `"N/A"` are none where `remaining_steps` is given beside them.
 * Steps are an array (see `NumberedList.fromArray`) or a text that holds a list. Objects that differ are an error on
 * the first attempt (`attempt` 0); later the last one counts.
 *
 * Fails with a `ParseError` as `JsonReply.read` does, or with `problem` `no_decision` (neither an answer nor a step),
 * `bad_answer` or `bad_steps` (another type).
 */
export const readDecision = (text: string, attempt: number): Either.Either<Decision, ParseError<DecisionProblem>> =>
  Either.flatMap(
    JsonReply.read(text, {
      keys: ["final_answer", "remaining_steps"],
      expected,
      onConflict: attempt === 0 ? "reject" : "last"
    }),
    ({ conflicting, value }): Either.Either<Decision, ParseError<DecisionProblem>> => {
      const fail = (problem: DecisionProblem, found: string) =>
        Either.left(new ParseError({ problem, expected, found, reply: text }))
      const answer = answerOf(value["final_answer"], Object.hasOwn(value, "remaining_steps"))
      const steps = stepsOf(value["remaining_steps"])
      if (answer === undefined)
        return fail("bad_answer", `a final_answer that is not text: ${json(value["final_answer"])}`)
      if (answer !== "") {
        const ignored = steps === undefined || steps.length === 0 ? {} : { ignoredSteps: steps }
        return Either.right({ _tag: "Finish", answer, ...ignored, conflicting })
      }
      if (steps === undefined)
        return fail("bad_steps", `remaining_steps that are not a list of texts: ${badSteps(value["remaining_steps"])}`)
      if (steps.length === 0) return fail("no_decision", `neither an answer nor a step: ${json(value)}`)
      return Either.right({ _tag: "Continue", remainingSteps: steps, conflicting })
    }
  )

/** Empty when there is none, undefined when it is of a type that is not an answer. */
const answerOf = (value: unknown, hasSteps: boolean): string | undefined => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") {
    const text = trim(value)
    return isAbsent(text, hasSteps) ? "" : text
  }
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}

/** Beside the other key, a word that fills the slot of a missing value; alone, `None` may be what was asked for. */
const isAbsent = (text: string, hasSteps: boolean): boolean => {
  if (text.length > 40) return false
  const word = text.toLowerCase().replaceAll(/[\s\p{P}`]/gu, "")
  return word === "null" || (hasSteps && absent.has(word))
}

const absent: ReadonlySet<string> = new Set([
  "none",
  "nil",
  "na",
  "undefined",
  "notapplicable",
  "notavailable",
  "notyet",
  "notyetavailable",
  "notyetknown",
  "tbd",
  "无",
  "無",
  "暂无",
  "なし"
])

/** Empty when there are none, undefined when they cannot be read. */
const stepsOf = (value: unknown): ReadonlyArray<string> | undefined => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return Either.getOrUndefined(NumberedList.fromArray(value))
  if (typeof value !== "string") return undefined
  if (trim(value) === "") return []
  return Either.getOrUndefined(NumberedList.readVisible(value, value))
}

/** Which element of a list is not a step, or the value that is not a list. */
const badSteps = (value: unknown): string => {
  const read = Array.isArray(value) ? NumberedList.fromArray(value) : undefined
  return read !== undefined && Either.isLeft(read) ? `${read.left.found} in ${json(value)}` : json(value)
}

const json = (value: unknown): string => excerpt(JSON.stringify(value) ?? "undefined")
