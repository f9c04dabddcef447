/**
 * A run whose every event is written to a file, and what can be read off it later.
 */
import * as JournalFile from "@forethought/core/node/JournalFile"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"

/** Each event is a line of JSON, written before the run goes on. */
export const recorded = (question: string, file: string) =>
  Effect.provide(Rewoo.parallel(question), JournalFile.layer(file))

/** Reads the events back, each checked against its Schema. */
export const readEvents = (file: string) => Effect.map(JournalFile.read(file), ({ events }) => events)

/** Returns how long each tool call took, in milliseconds. */
export const toolTimes = (file: string) =>
  Effect.map(readEvents(file), (events) =>
    events.flatMap((event) =>
      event._tag === "ToolCallEnded" ? [{ call: event.call, tool: event.tool, millis: event.at - event.startedAt }] : []
    )
  )
