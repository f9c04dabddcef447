import { PassThrough } from "node:stream"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Arriving from "../src/screen/replyLines.js"
import * as Screen from "../src/screen/screen.js"
import * as Terminal from "../src/screen/terminal.js"

const never = new AbortController().signal

describe("Terminal", () => {
  const open = () => {
    const input = new PassThrough()
    let written = ""
    const terminal = Terminal.make(input, (text) => {
      written += text
    })
    return { input, terminal, written: () => written }
  }

  it("asks, and reads a line", async () => {
    const { input, terminal, written } = open()
    const answer = terminal.ask("Sure? ", never)
    input.write("yes\n")
    expect(await answer).toBe("yes")
    expect(written()).toBe("Sure? ")
  })

  it("takes what was typed before a question for no answer to it", async () => {
    const { input, terminal } = open()
    const first = terminal.ask("1? ", never)
    input.write("one\ny\ny\n")
    expect(await first).toBe("one")
    const second = terminal.ask("2? ", never)
    input.write("two\n")
    expect(await second).toBe("two")
  })

  it("reads pasted lines one after the other where nothing is asked between them", async () => {
    const { input, terminal } = open()
    const first = terminal.ask("Write: ", never)
    input.write("a\nb\nc\n")
    expect([await first, await terminal.ask("", never), await terminal.ask("", never)]).toEqual(["a", "b", "c"])
  })

  it("gives nothing where the input ends, then and afterwards, and where the run is interrupted", async () => {
    const { input, terminal } = open()
    const stop = new AbortController()
    const interrupted = terminal.ask("1? ", stop.signal)
    stop.abort()
    expect(await interrupted).toBeUndefined()
    const ended = terminal.ask("2? ", never)
    input.end()
    expect(await ended).toBeUndefined()
    expect(await terminal.ask("3? ", never)).toBeUndefined()
  })
})

describe("Screen.during", () => {
  it("takes the live region away, and prints afterwards what came meanwhile", async () => {
    let written = ""
    const output = {
      write: (text: string) => {
        written += text
      },
      isTTY: true,
      columns: 80,
      rows: 24
    }
    const screen = Screen.make(output, { NO_COLOR: "1" })
    screen.draw(["running"])
    await Effect.runPromise(
      screen.during(
        Effect.sync(() => {
          written = ""
          screen.print("a line")
          screen.draw(["running on"])
          expect(written).toBe("")
        })
      )
    )
    expect(written).toBe("a line\nrunning on\n")
    await expect(Effect.runPromise(screen.during(Effect.fail(new Error("gone"))))).rejects.toThrow("gone")
    written = ""
    screen.print("goes on")
    expect(written).toContain("goes on\n")
  })
})

describe("Arriving", () => {
  const common = { run: "r", seq: 1, role: "executor" } as const
  const delta = (call: string, text: string) => ({ _tag: "ReplyDelta", call, text, at: 0, ...common }) as const
  const end = (call: string) => ({ _tag: "ModelCallEnded", call, startedAt: 0, at: 1, ...common }) as const

  it("gives each line once, when it is complete, and the rest at the end of the call", () => {
    const arriving = Arriving.make()
    expect(arriving.on(delta("a", "one\ntw"))).toEqual(["a │ one"])
    expect(arriving.on(delta("b", "other"))).toEqual([])
    expect(arriving.on(delta("a", "o\n\nthree"))).toEqual(["a │ two"])
    expect(arriving.open()).toEqual(["a │ three", "b │ other"])
    expect(arriving.on(end("a"))).toEqual(["a │ three"])
    expect(arriving.on(end("a"))).toEqual([])
    expect(arriving.open()).toEqual(["b │ other"])
  })

  it("shows no control characters, and cuts a line that does not end", () => {
    const arriving = Arriving.make()
    expect(arriving.on(delta("a", "\u001b[2J\n"))).toEqual(["a │ \\u{1b}[2J"])
    const lines = arriving.on(delta("a", "x".repeat(1_000)))
    expect(lines).toHaveLength(6)
    expect(
      lines
        .concat(arriving.on(end("a")))
        .join("")
        .split("x")
    ).toHaveLength(1_001)
  })
})
