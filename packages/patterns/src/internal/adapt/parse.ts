/**
 * Reads what the planner of ADaPT writes when it splits a task. The executor's verdict is `Verdict.read`.
 */

import { excerpt, ParseError } from "@forethought/core/ReplyError"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import * as NumberedList from "@forethought/core/reply/NumberedList"
import * as Either from "effect/Either"

/** Sub-steps, and whether all of them must succeed (`and`) or any one is enough (`or`). */
export interface Group {
  readonly logic: "and" | "or"
  /** At least one. A group inside is evaluated in place: it adds no depth. */
  readonly subSteps: ReadonlyArray<string | Group>
}

/** A decomposition. `conflicting`: the reply held several that differ, and this is the last of them. */
export interface Decomposition extends Group {
  readonly conflicting: boolean
}

const expected =
  'one JSON object {"logic": "and", "sub_steps": ["...", "..."]}, with "and" or "or" as logic and texts as sub-steps'

const keys = ["logic", "sub_steps"]
const maxGroups = 8

/** Words for what is wrong with a decomposition. */
export type Problem = JsonReply.Problem | Fault["problem"]

/**
 * Reads the planner's reply as received. `logic` is `and` or `or` in any case of letters; it is never assumed, and not
 * needed for a single sub-step, where both mean the same. Sub-steps are texts, objects with one text (see
 * `NumberedList.elements`), or groups of the same form, nested up to 8 deep; a text that holds a list is read as
 * one. Blank sub-steps are dropped. Objects that differ are an error on the first attempt (`attempt` 0); later the last
 * one counts.
 *
 * Fails with a `ParseError` as `JsonReply.read` does, or with `problem` `bad_logic`, `bad_sub_steps` or `empty_plan`.
 */
export const readDecomposition = (text: string, attempt: number): Either.Either<Decomposition, ParseError<Problem>> =>
  Either.flatMap(
    JsonReply.read(text, { keys, expected, onConflict: attempt === 0 ? "reject" : "last" }),
    ({ conflicting, value }) =>
      Either.mapBoth(groupOf(value, 1), {
        onLeft: ({ found, problem }) => new ParseError({ problem, expected, found, reply: text }),
        onRight: (group) => ({ ...group, conflicting })
      })
  )

interface Fault {
  readonly problem: "bad_logic" | "bad_sub_steps" | "empty_plan"
  readonly found: string
}

const groupOf = (value: Readonly<Record<string, unknown>>, depth: number): Either.Either<Group, Fault> => {
  const logic = logicOf(value["logic"])
  if (logic === undefined) return Either.left({ problem: "bad_logic", found: `another logic: ${json(value)}` })
  const listed = arrayOf(value["sub_steps"])
  if (listed === undefined || depth > maxGroups) {
    return Either.left({ problem: "bad_sub_steps", found: `sub_steps that are not a list of texts: ${json(value)}` })
  }
  const subSteps: Array<string | Group> = []
  const stepsAt = NumberedList.elements(listed)
  for (const [index, item] of listed.entries()) {
    const nested = JsonReply.named(item, keys)
    if (nested !== undefined && (Object.hasOwn(nested, "logic") || Object.hasOwn(nested, "sub_steps"))) {
      const group = groupOf(nested, depth + 1)
      if (Either.isLeft(group)) return group
      subSteps.push(group.right)
      continue
    }
    const steps = stepsAt(index)
    if (Either.isLeft(steps)) return Either.left({ problem: "bad_sub_steps", found: steps.left.found })
    for (const step of steps.right) subSteps.push(step)
  }
  if (subSteps.length === 0) return Either.left({ problem: "empty_plan", found: `no sub-step: ${json(value)}` })
  // Of a single sub-step and and or mean the same.
  if (logic === "none" && subSteps.length > 1) {
    return Either.left({ problem: "bad_logic", found: `no logic: ${json(value)}` })
  }
  return Either.right({ logic: logic === "none" ? "and" : logic, subSteps })
}

const logicOf = (value: unknown): "and" | "or" | "none" | undefined => {
  if (value === undefined || value === null) return "none"
  if (typeof value !== "string") return undefined
  const word = value.trim().toLowerCase()
  if (word === "and" || word === "or") return word
  return absent.has(word) ? "none" : undefined
}

/** What fills the slot of a logic that is not given. */
const absent: ReadonlySet<string> = new Set(["", "null", "none", "nil", "n/a", "-", "undefined"])

const arrayOf = (value: unknown): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(value)) return value
  return typeof value === "string" ? Either.getOrUndefined(NumberedList.readVisible(value, value)) : undefined
}

const json = (value: unknown): string => excerpt(JSON.stringify(value) ?? "undefined")
