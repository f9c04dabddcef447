/**
 * At most so many tool calls in all: what a caller allows a run inside its own, however deep that goes.
 */
import * as Effect from "effect/Effect"
import * as Options from "./Options.js"
import * as Toolbox from "./Toolbox.js"
import { ToolFailed } from "./ToolError.js"

/**
 * Bounds the tool calls of an effect, and of everything inside it that calls the Toolbox in context. A call beyond the
 * bound fails with `ToolFailed` and is not made. What a tool does inside of one call is one call: a pattern that is
 * offered as a tool has bounds of its own.
 *
 * @param most how many calls may be made: a whole number of at least 0; otherwise it throws an `InvalidOption`.
 */
export const within = (
  most: number
): (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Toolbox.Toolbox>) => {
  Options.wholeNumber("ToolCap", "most", most, 0)
  return (effect) =>
    Effect.flatMap(Toolbox.Toolbox, (toolbox) => Effect.provideService(effect, Toolbox.Toolbox, make(toolbox, most)))
}

/** A toolbox that makes so many calls and no more. Throws an `InvalidOption` as {@link within}. */
export const make = (inner: Toolbox.Service, most: number): Toolbox.Service => {
  let left = Options.wholeNumber("ToolCap", "most", most, 0)
  return {
    tools: inner.tools,
    call: (request) =>
      Effect.suspend(() => {
        if (left <= 0) {
          const allowed = most === 0 ? "No tool call is" : most === 1 ? "One tool call is" : `${most} tool calls are`
          return Effect.fail(
            new ToolFailed({
              tool: request.tool,
              detail: `${allowed} allowed here, and none is left. The call was not made: finish with what you have.`
            })
          )
        }
        left -= 1
        return inner.call(request)
      })
  }
}
