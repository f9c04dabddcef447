/** The streamed form of a LanguageModel's reply: pieces put together into the parts that a whole reply has. */

import { asObject, asString } from "@forethought/core/Json"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** The stream ended before the reply was whole, or reported an error. */
export class BrokenStream extends Data.TaggedError("BrokenStream")<{ readonly problem: string }> {}

/** The parts of a streamed reply, told as they arrive. A stream without a finish was cut off. */
export const collect = <E, R>(
  stream: Stream.Stream<unknown, E, R>,
  tell: (text: string) => Effect.Effect<void>
): Effect.Effect<ReadonlyArray<unknown>, E | BrokenStream, R> =>
  Effect.suspend(() => {
    const text: Array<string> = []
    const reasoning: Array<string> = []
    const rest: Array<unknown> = []
    let finished = false
    const add = (value: unknown): Effect.Effect<void, BrokenStream> => {
      const part = asObject(value)
      const delta = asString(part?.["delta"]) ?? ""
      switch (part?.["type"]) {
        case "text-delta":
          text.push(delta)
          return delta === "" ? Effect.void : tell(delta)
        case "reasoning-delta":
          reasoning.push(delta)
          return Effect.void
        case "error":
          return Effect.fail(new BrokenStream({ problem: "the stream reported an error" }))
        case "finish":
          finished = true
      }
      rest.push(value)
      return Effect.void
    }
    return Effect.flatMap(Stream.runForEach(stream, add), () =>
      finished
        ? Effect.succeed([
            { type: "reasoning", text: reasoning.join("") },
            { type: "text", text: text.join("") },
            ...rest
          ])
        : Effect.fail(new BrokenStream({ problem: "the stream ended before the reply was whole" }))
    )
  })

/** The text of a reply that came in one piece. */
export const textOf = (parts: ReadonlyArray<unknown>): string =>
  parts.map((part) => (asObject(part)?.["type"] === "text" ? (asString(asObject(part)?.["text"]) ?? "") : "")).join("")
