/**
 * Reads which pattern the router chose.
 */

import { excerpt, ParseError } from "@forethought/core/ReplyError"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import { trim, unfence, visible } from "@forethought/core/reply/ReplyText"
import * as Either from "effect/Either"

/** The pattern chosen, by the name it was offered by, and why; an empty reason when none was given. */
export interface Route<P extends string = string> {
  readonly pattern: P
  readonly reason: string
}

/** Words for what is wrong with a route. */
export type Problem = JsonReply.Problem | "unknown_pattern"

/**
 * Reads the router's reply as received, against the names offered: case, spaces, `_` and `-` do not matter. A reply
 * that is nothing but a name counts. So does a pattern of several words in which exactly one name stands, whole, and
 * nothing is negated: `Plan-and-Execute with a replanner`. Objects that differ are an error.
 *
 * Fails with a `ParseError` as `JsonReply.read` does, or with `problem` `unknown_pattern`.
 */
export const readRoute = <P extends string>(
  text: string,
  patterns: ReadonlyArray<P>
): Either.Either<Route<P>, ParseError<Problem>> => {
  const names = patterns.map((name) => `"${name}"`).join(", ")
  const expected = `one JSON object {"pattern": "...", "reason": "..."} with one of ${names} as pattern`
  const shown = visible(text)
  return Either.match(JsonReply.readVisible(shown, text, { keys: ["pattern", "reason"], expected }), {
    onLeft: (error) => {
      const pattern = error.problem === "no_json" ? bareName(shown, patterns) : undefined
      return pattern === undefined ? Either.left(error) : Either.right({ pattern, reason: "" })
    },
    onRight: ({ value }) => {
      const named = typeof value["pattern"] === "string" ? value["pattern"] : ""
      const pattern = exactly(named, patterns) ?? inside(named, patterns)
      if (pattern === undefined) {
        const found = `the pattern ${excerpt(JSON.stringify(value["pattern"]) ?? "")}`
        return Either.left(new ParseError({ problem: "unknown_pattern", expected, found, reply: text }))
      }
      return Either.right({ pattern, reason: typeof value["reason"] === "string" ? value["reason"].trim() : "" })
    }
  })
}

/** No name that is offered is longer, whatever stands around it. */
const maxLength = 200

const exactly = <P extends string>(text: string, patterns: ReadonlyArray<P>): P | undefined =>
  text.length > maxLength ? undefined : patterns.find((name) => nameKey(name) === nameKey(text))

/** The name that a reply is, in a fence, quotes or emphasis, with a full stop, or behind `Pattern:`. */
const bareName = <P extends string>(shown: string, patterns: ReadonlyArray<P>): P | undefined => {
  if (shown.length > maxLength) return undefined
  const name = trim(unfence(shown))
    .replace(/^[\W_]{0,3}pattern[*_"'`]{0,3}\s?[:：]/i, "")
    .replaceAll(/[*"'`“”‘’.!]/g, "")
  return exactly(name, patterns)
}

/** The only name whose words stand in the text one after the other. A name inside a longer one does not count. */
const inside = <P extends string>(text: string, patterns: ReadonlyArray<P>): P | undefined => {
  if (text.length > maxLength) return undefined
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== "")
  if (words.some((word) => negations.has(word) || word.endsWith("n't"))) return undefined
  const found: Array<{ readonly name: P; readonly from: number; readonly to: number }> = []
  for (const name of patterns) {
    const wanted = nameKey(name)
    for (let from = 0; from < words.length; from++) {
      let joined = ""
      let to = from
      while (to < words.length && joined.length < wanted.length) joined += words[to++]
      if (joined === wanted) found.push({ name, from, to })
    }
  }
  const widest = found.filter(
    (a) => !found.some((b) => b.name !== a.name && b.from <= a.from && b.to >= a.to && b.to - b.from > a.to - a.from)
  )
  const chosen = new Set(widest.map(({ name }) => name))
  return chosen.size === 1 ? widest[0]?.name : undefined
}

const negations: ReadonlySet<string> = new Set([
  "not",
  "no",
  "never",
  "neither",
  "nor",
  "none",
  "except",
  "but",
  "instead",
  "rather",
  "avoid",
  "cannot",
  "than"
])

const nameKey = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, "")
