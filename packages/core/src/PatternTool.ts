/**
 * A pattern offered as a tool, so that one pattern can call another and any Toolbox can hold one.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CallPath from "./CallPath.js"
import * as Options from "./Options.js"
import * as Tool from "./Tool.js"

/** How the tool presents itself to a model. */
export interface Presentation {
  /** Default: the pattern's name. */
  readonly name?: string
  /** Default: when to choose the pattern. */
  readonly description?: string
  /** How long one run may take. Default: no limit of its own. */
  readonly timeout?: Duration.DurationInput
}

/**
 * Makes a tool that takes a task as its one string and gives the answer as text. The run's calls are named under the
 * tool call, so replays give the same ids. What the run fails with is the tool's failure, in the error's words. To its
 * caller the run is one tool call, whatever it does inside: it has caps of its own. Throws a `RangeError` on an unknown
 * key, such as an option of the pattern's.
 */
export const make = <A, E, R>(
  given: Presentation,
  pattern: {
    readonly name: string
    readonly description: string
    readonly run: (task: string) => Effect.Effect<A, E, R>
    readonly answer: (value: A) => string
  }
): Tool.Tool<R> => {
  Options.rejectUnknown("PatternTool", given, ["name", "description", "timeout"])
  return Tool.make({
    name: given.name ?? pattern.name,
    description: given.description ?? pattern.description,
    ...(given.timeout === undefined ? {} : { timeout: given.timeout }),
    execute: (task, { call }) => Effect.map(pattern.run(task), pattern.answer).pipe(CallPath.at(call))
  })
}
