/**
 * The two ways in which a reply that did arrive can be of no use: it cannot be read, or it was cut off.
 * Patterns re-ask on both (see `Reask`) and then fail with them.
 */
import * as Data from "effect/Data"
import type { Role } from "./Llm.js"

/** The fields of a {@link ParseError}. */
export interface ParseFields<Problem extends string = string> {
  /**
   * A short word for the kind of problem, stable across versions: `no_list`, `empty_plan`, `no_number`, `ambiguous`, …
   */
  readonly problem: Problem
  /** The reader's expectation, in words that quote the format. */
  readonly expected: string
  /** An excerpt of what stood there instead, at most 200 characters, or a description such as `an empty reply`. */
  readonly found: string
  /** Character offset of the excerpt in the reply as received. */
  readonly at?: number
  /** The whole reply as received. */
  readonly reply?: string
}

/**
 * A model's reply is not what the prompt asked for. The message is written for the model as well as for a person:
 * it is what a re-ask appends. Each reader exports the words for its problems as the type `Problem`.
 */
export class ParseError<Problem extends string = string> extends Data.TaggedError("ParseError")<ParseFields> {
  declare readonly problem: Problem
  // Only narrows the type of its fields.
  constructor(fields: ParseFields<Problem>) {
    super(fields)
  }
  override get message(): string {
    const place = this.at === undefined ? "" : ` at character ${this.at}`
    return `Expected ${this.expected}, but found ${this.found}${place}.`
  }
}

/** A reply that ended because it reached the token limit. What is there is kept, and never read as if it were whole. */
export class TruncatedReply extends Data.TaggedError("TruncatedReply")<{
  /** The text up to the cut. */
  readonly text: string
  /** Which of the run's model roles was cut off. */
  readonly role: Role
}> {
  override get message(): string {
    return `The ${this.role}'s reply was cut off by the token limit after ${this.text.length} characters. Allow more output tokens, or ask for less.`
  }
}

/** At most 200 characters of a reply, quoted on one line, for `ParseError.found`. */
export const excerpt = (text: string, at = 0): string => {
  const limit = 200
  let end = Math.min(text.length, at + limit)
  const last = text.charCodeAt(end - 1)
  if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1
  const piece = text.slice(at, end).trim()
  if (piece === "") return "nothing"
  return `${JSON.stringify(piece.toWellFormed())}${end < text.length ? "…" : ""}`
}
