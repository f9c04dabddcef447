import * as OpenAiCompatible from "@forethought/ai/OpenAiCompatible"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Calculator from "@forethought/tools/Calculator"
import * as Lookup from "@forethought/tools/Lookup"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Returns the answer, or what was found if there is none. */
export const program = Rewoo.parallel("How many people live in China and India together?").pipe(
  Effect.map(({ answer }) => answer),
  Effect.catchTag("InvalidPlan", (stop) => Effect.succeed(`No plan: ${stop.message}`)),
  Effect.catchTag("LlmError", "TruncatedReply", ({ message, progress }) =>
    Effect.succeed(`${message} Until then: ${progress.evidence.map(({ text }) => text).join(", ")}`)
  )
)

export const tools = Toolbox.layer([Lookup.tool, Calculator.tool])

export const main = program.pipe(
  Effect.provide(
    Layer.merge(tools, OpenAiCompatible.layerFetch({ baseUrl: "http://localhost:11434/v1", model: "qwen3" }))
  )
)
