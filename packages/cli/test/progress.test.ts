import type * as RunEvent from "@forethought/core/RunEvent"
import { describe, expect, it, vi } from "vitest"
import * as Progress from "../src/screen/progress.js"
import * as Screen from "../src/screen/screen.js"

const told = { at: 0, run: "r", seq: 1 }

const events: ReadonlyArray<RunEvent.RunEvent> = [
  { _tag: "RunStarted", call: "", ...told, at: 1_000, pattern: "rewoo-parallel", task: "How many?" },
  { _tag: "ToolCallStarted", call: "#E1", ...told, at: 1_000, tool: "Lookup", input: "a" },
  { _tag: "ToolCallStarted", call: "#E2", ...told, at: 1_000, tool: "Lookup", input: "b" },
  {
    _tag: "ToolCallEnded",
    call: "#E1",
    ...told,
    at: 1_400,
    tool: "Lookup",
    startedAt: 1_000,
    outcome: "ok",
    source: "live",
    text: "1"
  },
  {
    _tag: "ToolCallEnded",
    call: "#E2",
    ...told,
    at: 1_800,
    tool: "Lookup",
    startedAt: 1_000,
    outcome: "error",
    source: "live",
    text: "no"
  }
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
    progress.on({ _tag: "ToolCallStarted", call: "#E1", ...told, tool: "T", input })
    progress.end()
    for (const line of written.join("").split("\n"))
      expect(line.replace("\u001b[1A\u001b[0J", "").length).toBeLessThan(40)
  })

  const play = (
    told: ReadonlyArray<RunEvent.RunEvent>,
    output: { readonly isTTY: boolean; readonly rows?: number }
  ) => {
    const written: Array<string> = []
    const screen = Screen.make({ columns: 80, ...output, write: (text) => written.push(text) }, { NO_COLOR: "1" })
    const progress = Progress.make(screen, () => 0)
    for (const event of told) progress.on(event)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what clears the region is left out
    const frame = (written.at(-1) ?? "").replace(/^\u001b\[\d+A\u001b\[0J/, "").replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "▸")
    progress.end()
    return { frame: frame.split("\n").map((line) => line.replace(/ +0\.00 s$/, "")), text: written.join("") }
  }
  const replanned: ReadonlyArray<RunEvent.RunEvent> = [
    { _tag: "RunStarted", call: "", ...told, pattern: "plan-and-execute", task: "G" },
    {
      _tag: "PlanMade",
      call: "",
      ...told,
      steps: ["A", "B"].map((text, index) => ({ id: String(index + 1), text, dependsOn: [] }))
    },
    { _tag: "StepStarted", call: "step-1", ...told, id: "1", index: 1, step: "A" },
    { _tag: "StepEnded", call: "step-1", ...told, id: "1", index: 1, step: "A", status: "failed", result: "no" },
    {
      _tag: "Replanned",
      call: "step-1",
      ...told,
      before: [{ id: "2", text: "B", dependsOn: [] }],
      after: [
        { id: "3", text: "A again", dependsOn: [] },
        { id: "2", text: "B", dependsOn: [] }
      ],
      cause: { id: "1", step: "A", status: "failed", result: "no" }
    },
    { _tag: "StepStarted", call: "step-2", ...told, id: "3", index: 2, step: "A again" },
    { _tag: "RunStarted", call: "step-2/executor", ...told, pattern: "react", task: "A again" },
    { _tag: "ModelCallStarted", call: "step-2/executor/turn-1", ...told, role: "executor" },
    { _tag: "ToolCallStarted", call: "step-2/executor/turn-1/tool-1", ...told, tool: "T", input: "x" }
  ]

  it("a plan is a list that changes at each replan, with marks and the nested run under its step", () => {
    expect(play(replanned, { isTTY: true }).frame).toEqual([
      "▸ plan-and-execute: G",
      "  plan of 3 steps, changed once",
      "  ✘ A → no",
      "  ▸ A again",
      "    ▸ react",
      "      ▸ turn-1",
      "        ▸ T[x]",
      "  · B",
      ""
    ])
    const lines = play(replanned, { isTTY: false }).text.split("\n")
    expect(lines).toContain("         ✘ A")
    expect(lines).toContain("         · A again")
    expect(lines).toContain("  0.00s    turn-1/tool-1 starts: T[x]")
  })

  it("ADaPT is a tree, with the status of each task", () => {
    const task = (call: string, name: string, depth: number) => ({ call, ...told, task: name, depth })
    const { frame } = play(
      [
        { _tag: "RunStarted", call: "", ...told, pattern: "adapt", task: "T" },
        { _tag: "TaskStarted", ...task("1", "T", 1) },
        { _tag: "TaskDecomposed", ...task("1", "T", 1), logic: "and", subSteps: ["A", "(B or C)", "D"] },
        { _tag: "TaskStarted", ...task("1.1", "A", 2) },
        { _tag: "TaskEnded", ...task("1.1", "A", 2), status: "completed", detail: "a" },
        { _tag: "TaskStarted", ...task("1.2.1", "B", 2) },
        { _tag: "TaskEnded", ...task("1.2.1", "B", 2), status: "failed", detail: "no" },
        { _tag: "TaskStarted", ...task("1.2.2", "C", 2) }
      ],
      { isTTY: true }
    )
    expect(frame).toEqual([
      "▸ adapt: T",
      "  ▸ 1 T",
      "    splits (and)",
      "    ✔ 1.1 A → a",
      "    · 1.2 (B or C)",
      "      ✘ 1.2.1 B → no",
      "      ▸ 1.2.2 C",
      "    · 1.3 D",
      ""
    ])
  })

  it("never draws more lines than the terminal has, and keeps what runs in sight", () => {
    const long: ReadonlyArray<RunEvent.RunEvent> = [
      { _tag: "RunStarted", call: "", ...told, pattern: "plan-and-execute", task: "G" },
      {
        _tag: "PlanMade",
        call: "",
        ...told,
        steps: Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, text: `S${index}`, dependsOn: [] }))
      },
      ...Array.from(
        { length: 50 },
        (_, index): ReadonlyArray<RunEvent.RunEvent> => [
          { _tag: "StepStarted", call: `step-${index}`, ...told, id: `${index}`, index, step: `S${index}` },
          {
            _tag: "StepEnded",
            call: `step-${index}`,
            ...told,
            id: `${index}`,
            index,
            step: `S${index}`,
            status: "completed",
            result: "r"
          }
        ]
      ).flat(),
      { _tag: "StepStarted", call: "step-50", ...told, id: "50", index: 50, step: "S50" }
    ]
    const { frame } = play(long, { isTTY: true, rows: 12 })
    expect(frame.length).toBeLessThanOrEqual(11)
    expect(frame.join("\n")).toMatch(/lines above[\s\S]*▸ S50[\s\S]*lines below/)
  })
})
