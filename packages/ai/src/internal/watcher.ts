/** Whoever wants to see a reply arrive. */
import type { Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import type { Watcher } from "../Delta.js"

/** Tells a watcher what has arrived. */
export const tell = (watcher: Watcher, { call, role }: Request, text: string, reasoning: string): Effect.Effect<void> =>
  Effect.zipRight(
    reasoning === "" ? Effect.void : watcher({ _tag: "Reasoning", role, call, text: reasoning }),
    text === "" ? Effect.void : watcher({ _tag: "Text", role, call, text })
  )

/** The watcher of a Layer and that of a request, which sees the text alone, as one; `undefined` where there is none. */
export const watcherOf = ({ onDelta }: Request, watcher: Watcher | undefined): Watcher | undefined => {
  if (onDelta === undefined) return watcher
  const own: Watcher = (delta) => (delta._tag === "Text" ? onDelta(delta.text) : Effect.void)
  return watcher === undefined ? own : (delta) => Effect.zipRight(watcher(delta), own(delta))
}
