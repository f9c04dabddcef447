/**
 * Tools that take longer than they need, for a demonstration in which time should be seen.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import { lift } from "@forethought/core/ToolOutcome"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

/** Lets every call of a tool take `millis` longer. */
export const slowed =
  (millis: number) =>
  (tool: Tool.Tool<Llm.Llm>): Tool.Tool<Llm.Llm> => ({
    ...tool,
    prepare: (input) =>
      Either.map(
        tool.prepare(input),
        (work) => (context) =>
          Effect.delay(
            Effect.suspend(() => lift(work(context))),
            millis
          )
      )
  })
