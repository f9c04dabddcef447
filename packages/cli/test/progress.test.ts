import type * as RunEvent from "@forethought/core/RunEvent"
import { describe, expect, it, vi } from "vitest"
import * as Progress from "../src/progress.js"
import * as Screen from "../src/screen.js"

const events: ReadonlyArray<RunEvent.RunEvent> = [
  { _tag: "RunStarted", call: "", at: 1_000, pattern: "rewoo-parallel", task: "How many?" },
  { _tag: "ToolCallStarted", call: "#E1", at: 1_000, tool: "Lookup", input: "a" },
  { _tag: "ToolCallStarted", call: "#E2", at: 1_000, tool: "Lookup", input: "b" },
  { _tag: "ToolCallEnded", call: "#E1", at: 1_400, tool: "Lookup", startedAt: 1_000, outcome: "ok", text: "1" },
  { _tag: "ToolCallEnded", call: "#E2", at: 1_800, tool: "Lookup", startedAt: 1_000, outcome: "error", text: "no" }
]

const show = (
  output: { readonly isTTY: boolean; readonly columns?: number },
  env: { readonly [name: string]: string }
) => {
  vi.useFakeTimers()
  try {
    const written: Array<string> = []
    const screen = Screen.make({ ...output, write: (text) => written.push(text) }, env)
    const progress = Progress.make(screen, () => 1_800)
    for (const event of events) progress.on(event)
    progress.end()
    return { written, text: written.join("") }
  } finally {
    vi.useRealTimers()
  }
}

describe("progress", () => {
  it("is plain lines with times where the output is no terminal", () => {
    const { text } = show({ isTTY: false }, {})
    expect(text.split("\n").slice(0, 5)).toEqual([
      "  0.00s  rewoo-parallel: How many?",
      "  0.00s  #E1 starts: Lookup[a]",
      "  0.00s  #E2 starts (while 1 other runs): Lookup[b]",
      "  0.40s  #E1 ended after 0.40 s: 1",
      "  0.80s  #E2 error after 0.80 s: no"
    ])
    expect(text).toContain(`#E1 |${"█".repeat(20)}${" ".repeat(20)}| 0.00 s to 0.40 s`)
    expect(text).toContain(`#E2 |${"█".repeat(40)}| 0.00 s to 0.80 s`)
    expect(text).not.toContain("\u001b")
  })

  it("draws the calls that run at once below the lines on a terminal", () => {
    const { text, written } = show({ isTTY: true, columns: 60 }, { NO_COLOR: "1" })
    expect(written.some((part) => / Lookup\[a\] .*\n.* Lookup\[b\] /.test(part))).toBe(true)
    expect(text).toContain("\u001b[3A\u001b[0J")
    expect(text).not.toContain("\u001b[31m")
  })

  it("uses colours only on a terminal that wants them", () => {
    expect(show({ isTTY: true }, {}).text).toContain("\u001b[33m")
    expect(show({ isTTY: true }, { TERM: "dumb" }).text).not.toContain("\u001b")
  })

  it("keeps a live line within the terminal, whatever the input", () => {
    const written: Array<string> = []
    const screen = Screen.make({ isTTY: true, columns: 40, write: (text) => written.push(text) }, { NO_COLOR: "1" })
    const progress = Progress.make(screen, () => 0)
    const input = `${"x".repeat(500)}\n\u001b[2J`
    progress.on({ _tag: "ToolCallStarted", call: "#E1", at: 0, tool: "T", input })
    progress.end()
    for (const line of written.join("").split("\n"))
      expect(line.replace("\u001b[1A\u001b[0J", "").length).toBeLessThan(40)
  })
})
