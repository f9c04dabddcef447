/**
 * Reads which pattern the router chose.
 */

import { excerpt, ParseError } from "@forethought/core/ReplyError"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import * as Either from "effect/Either"

/** The pattern chosen, by the name it was offered by, and why; an empty reason when none was given. */
export interface Route<P extends string = string> {
  readonly pattern: P
  readonly reason: string
}

/**
 * Reads the router's reply as received, against the names offered: case, spaces, `_` and `-` do not matter, and nothing
 * else is guessed. Objects that differ are an error.
 *
 * Fails with a `ParseError` as `JsonReply.read` does, or with `problem` `unknown_pattern`.
 */
export const readRoute = <P extends string>(
  text: string,
  patterns: ReadonlyArray<P>
): Either.Either<Route<P>, ParseError> => {
  const names = patterns.map((name) => `"${name}"`).join(", ")
  const expected = `one JSON object {"pattern": "...", "reason": "..."} with one of ${names} as pattern`
  return Either.flatMap(JsonReply.read(text, { keys: ["pattern", "reason"], expected }), ({ value }) => {
    const wanted = typeof value["pattern"] === "string" ? fold(value["pattern"]) : ""
    const pattern = patterns.find((name) => fold(name) === wanted)
    if (pattern === undefined) {
      const found = `the pattern ${excerpt(JSON.stringify(value["pattern"]) ?? "")}`
      return Either.left(new ParseError({ problem: "unknown_pattern", expected, found, reply: text }))
    }
    return Either.right({ pattern, reason: typeof value["reason"] === "string" ? value["reason"].trim() : "" })
  })
}

const fold = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, "")
