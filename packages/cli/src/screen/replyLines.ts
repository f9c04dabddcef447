/**
 * Replies while they arrive: the lines that are complete, and the ones that are not yet.
 */
import type * as RunEvent from "@forethought/core/RunEvent"
import { oneLine } from "./text.js"

export interface Arriving {
  /** The lines that the event completes, to be shown once. */
  readonly on: (event: RunEvent.RunEvent) => ReadonlyArray<string>
  /** Returns what has arrived of the line that each running call is at. */
  readonly open: () => ReadonlyArray<string>
}

/** A line without an end is cut here. */
const longest = 150

export const make = (): Arriving => {
  const buffers = new Map<string, string>()
  const shown = (call: string, line: string) => `${oneLine(call, 40)} │ ${oneLine(line, longest)}`

  const on = (event: RunEvent.RunEvent): ReadonlyArray<string> => {
    if (event._tag === "ModelCallEnded") {
      const rest = buffers.get(event.call) ?? ""
      buffers.delete(event.call)
      return rest.trim() === "" ? [] : [shown(event.call, rest)]
    }
    if (event._tag !== "ReplyDelta") return []
    const lines = ((buffers.get(event.call) ?? "") + event.text).split("\n").flatMap(pieces)
    buffers.set(event.call, lines.pop() ?? "")
    return lines.filter((line) => line.trim() !== "").map((line) => shown(event.call, line))
  }

  return {
    on,
    open: () => [...buffers].filter(([, text]) => text.trim() !== "").map(([call, text]) => shown(call, text))
  }
}

const pieces = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let from = 0; from === 0 || from < line.length; from += longest) found.push(line.slice(from, from + longest))
  return found
}
