/**
 * Pieces of a reply, for whoever wants to watch it arrive. Patterns see whole replies only.
 */
import type { CallId, Role } from "@forethought/core/Llm"
import type * as Effect from "effect/Effect"

/** One piece of the reply to a call; `text` is never empty. */
export type Delta = { readonly role: Role; readonly call: CallId } & (
  | { readonly _tag: "Started" /* An attempt begins: what an earlier one of this call has shown is void. */ }
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Reasoning"; readonly text: string }
)

/** Is told each piece in order. The next one is read when it is done, so it should be quick. */
export type Watcher = (delta: Delta) => Effect.Effect<void>
