/** What becomes of an answer, and of events, that cannot be written. */
import { spawn } from "node:child_process"
import { existsSync, openSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { command, folder, forethought } from "./support/forethought.js"

const full = "/dev/full"

/** Runs the program with its standard output on a device that is full. */
const onFull = (args: ReadonlyArray<string>, cwd: string) =>
  new Promise<{ readonly code: number | null; readonly err: string }>((done) => {
    const child = spawn(command.command, [...command.args, ...args], {
      cwd,
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", openSync(full, "w"), "pipe"]
    })
    let err = ""
    child.stderr?.on("data", (text) => {
      err += String(text)
    })
    child.on("close", (code) => done({ code, err }))
  })

describe.skipIf(!existsSync(full))("a full disk", () => {
  it.each([[[]], [["--json"]]])("an answer that cannot be written is told, and ends with 1: %j", async (flags) => {
    using files = folder({ "script.json": ["42"] })
    const args = ["run", "react", "q", "-m", "scripted:script.json", "-q", ...flags]
    const { code, err } = await onFull(args, files.path)
    expect(code).toBe(1)
    expect(err).toMatch(/^forethought: The answer could not be written: .*ENOSPC.*\n$/)
  })

  it.each([
    ["run", "react", "42\n"],
    ["explain", "plan-and-execute", "nothing of it has run"]
  ])("events that cannot be written are told once, and %s goes on", async (name, pattern, told) => {
    using files = folder({ "script.json": [name === "run" ? "42" : '{"steps": ["a"]}'] })
    const args = [name, pattern, "q", "-m", "scripted:script.json", "-q", "--events", full]
    const { code, err, out } = await forethought(args, { cwd: files.path })
    expect(out).toContain(told)
    expect(code).toBe(0)
    expect(err).toMatch(/^forethought: The event file \/dev\/full is not whole: .*ENOSPC.*\n$/)
  })
})

describe("a reader that goes away", () => {
  it("ends the program quietly, and not as if it had answered", async () => {
    using files = folder({ "script.json": [{ text: "x".repeat(1_000_000), after: "100 ms" }] })
    const args = [...command.args, "run", "react", "q", "-m", "scripted:script.json", "-q"]
    const child = spawn(command.command, args, { cwd: files.path, env: { PATH: process.env["PATH"] ?? "" } })
    let err = ""
    child.stderr.on("data", (text) => {
      err += String(text)
    })
    child.stdout.destroy()
    const code = await new Promise((done) => child.on("close", done))
    expect({ code, err }).toEqual({ code: 1, err: "" })
  })
})
