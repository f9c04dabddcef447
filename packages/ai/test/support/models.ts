/** Models for tests of the layers around one. */
import { type LlmError, type Reply, type Request, reply, type Service } from "@forethought/core/Llm"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export const request = (given: Partial<Request> = {}): Request => ({
  role: "executor",
  call: "turn-1",
  messages: [{ role: "user", content: "Work." }],
  ...given
})

/** A model that counts: its calls, how many ran at once, and how many were interrupted. */
export const counting = (
  answer: (request: Request) => Reply | LlmError = () => reply("Done."),
  takes?: Duration.DurationInput
) => {
  const seen: Array<Request> = []
  const counts = { active: 0, maxActive: 0, interrupted: 0 }
  const service: Service = {
    complete: (asked) =>
      Effect.suspend(() => {
        seen.push(asked)
        counts.active += 1
        counts.maxActive = Math.max(counts.maxActive, counts.active)
        const said = answer(asked)
        return Effect.zipRight(
          takes === undefined ? Effect.yieldNow() : Effect.sleep(takes),
          "_tag" in said ? Effect.fail(said) : Effect.succeed(said)
        )
      }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => (counts.interrupted += 1))),
        Effect.ensuring(Effect.sync(() => (counts.active -= 1)))
      )
  }
  return { service, seen, counts }
}
