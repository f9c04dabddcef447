/** The streamed form of a LanguageModel's reply: pieces put together into the parts that a whole reply has. */
import type { Request } from "@forethought/core/Llm"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Watcher } from "../Delta.js"
import { asObject, asString } from "./json.js"
import { tell } from "./watcher.js"

/** The stream ended before the reply was whole, or reported an error. */
export class BrokenStream extends Data.TaggedError("BrokenStream")<{ readonly problem: string }> {}

/** The parts of a streamed reply, told as they arrive. A stream without a finish was cut off. */
export const collect = <E, R>(
  stream: Stream.Stream<unknown, E, R>,
  request: Request,
  watcher: Watcher
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
          return tell(watcher, request, delta, "")
        case "reasoning-delta":
          reasoning.push(delta)
          return tell(watcher, request, "", delta)
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

/** Tells the text and the reasoning of a reply that came in one piece. */
export const tellParts = (watcher: Watcher, request: Request, parts: ReadonlyArray<unknown>): Effect.Effect<void> => {
  const texts = (type: string) =>
    parts.map((part) => (asObject(part)?.["type"] === type ? (asString(asObject(part)?.["text"]) ?? "") : "")).join("")
  return tell(watcher, request, texts("text"), texts("reasoning"))
}
