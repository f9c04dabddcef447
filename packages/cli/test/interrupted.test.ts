/** Interruption while an MCP server does not answer: the program ends, and so does the server. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import fs, { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { command, folder, forethought } from "./support/forethought.js"

/** Never answers, never reads, and writes down who it is. */
const deaf = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)
require("node:fs").writeFileSync("pid", String(process.pid))`

const isAlive = (pid: number): boolean => {
  try {
    // A process that has ended and that nobody has asked about still has its number.
    if (existsSync("/proc/self/stat")) return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("a signal while a tool of an MCP server runs", () => {
  const fixture = fileURLToPath(new URL("../../tools/test/fixtures/mcp-server.mjs", import.meta.url))
  const run = async (...signals: ReadonlyArray<NodeJS.Signals>) => {
    using files = folder({ "script.json": ["#E1 = pid[{}]\n#E2 = hang[{}]", { role: "solver", text: "never" }] })
    const args = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "none", "--events", "events.jsonl"]
    const left = [...signals]
    const { code, err, out } = await forethought([...args, "--mcp", `"${process.execPath}" "${fixture}"`], {
      cwd: files.path,
      onErr: (text, child) => {
        // The first while the tool runs, the next once the run has ended and its servers are being stopped.
        const isDue = left.length === signals.length ? text.includes("#E2 starts") : text.includes("rewoo interrupted")
        const [next] = left
        if (!isDue || next === undefined) return
        left.shift()
        child.kill(next)
      }
    })
    const events: ReadonlyArray<{ readonly [key: string]: unknown }> = readFileSync(files.file("events.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
    const server = Number(events.find(({ _tag }) => _tag === "ToolCallEnded")?.["text"])
    expect(server).toBeGreaterThan(0)
    return { code, err, out, events, server }
  }

  it.each<readonly [string, number, ReadonlyArray<NodeJS.Signals>]>([
    ["SIGINT", 130, ["SIGINT"]],
    ["SIGTERM", 143, ["SIGTERM"]],
    ["SIGHUP", 129, ["SIGHUP"]],
    ["a terminal that is closed, which sends SIGHUP twice", 129, ["SIGHUP", "SIGHUP"]]
  ])("%s: exits %d, with its events whole and the server ended", async (_, exit, signals) => {
    const { code, err, events, out, server } = await run(...signals)
    expect({ code, out }).toEqual({ code: exit, out: "" })
    expect(err).toContain("Interrupted.\nGathered until then:")
    expect(events.at(-1)).toMatchObject({ _tag: "RunEnded", call: "", outcome: "interrupted" })
    await expect.poll(() => isAlive(server), { timeout: 2_000 }).toBe(false)
  })
})

describe("a second signal while a server does not let go", () => {
  it.each<readonly [NodeJS.Signals, NodeJS.Signals, number]>([
    ["SIGINT", "SIGINT", 130],
    ["SIGTERM", "SIGTERM", 143],
    ["SIGHUP", "SIGTERM", 143],
    ["SIGTERM", "SIGINT", 130],
    ["SIGINT", "SIGHUP", 129]
  ])("%s and then %s: ends at once with %d, and so does the server", async (first, second, exit) => {
    const stays = `${deaf}; process.stdin.on("end", () => require("node:fs").writeFileSync("asked", "to end")).resume()`
    using files = folder({ "stays.cjs": stays })
    let child: ChildProcess | undefined
    const left = [
      { file: "pid", signal: first },
      { file: "asked", signal: second }
    ]
    const watch = fs.watch(files.path, () => {
      const [next] = left
      if (
        next === undefined ||
        !existsSync(files.file(next.file)) ||
        readFileSync(files.file(next.file), "utf8") === ""
      )
        return
      left.shift()
      child?.kill(next.signal)
    })
    const { code } = await forethought(["tools", "--mcp", `"${process.execPath}" stays.cjs`], {
      cwd: files.path,
      onStart: (started) => {
        child = started
      }
    })
    watch.close()
    expect(code).toBe(exit)
    const pid = Number(readFileSync(files.file("pid"), "utf8"))
    await expect.poll(() => isAlive(pid), { timeout: 2_000 }).toBe(false)
  })
})

describe("a signal while the question is read from standard input", () => {
  it.each<readonly [NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ])("%s: ends at once with %d", async (signal, exit) => {
    using files = folder({ "script.json": ["42"] })
    const args = [...command.args, "run", "react", "-", "-m", "scripted:script.json"]
    const child = spawn(command.command, args, { cwd: files.path, stdio: ["pipe", "ignore", "ignore"] })
    child.stdin.on("error", () => {})
    // More than a pipe holds: when it is written, the program reads.
    child.stdin.write("x".repeat(300_000), () => child.kill(signal))
    const code = await new Promise((done) => void child.on("exit", done))
    child.stdin.destroy()
    expect(code).toBe(exit)
  })
})

/** `script` gives a program a terminal, and closes it when it is killed itself. */
const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0

/** Starts a program as the shell of a terminal does, hands on that the terminal was closed, and tells how it ended. */
const shell = `const child = require("node:child_process").spawn(process.argv[2], process.argv.slice(3), { stdio: "inherit" })
process.on("SIGHUP", () => child.kill("SIGHUP"))
child.on("exit", (code, signal) => {
  require("node:fs").writeFileSync("ended", String(signal ?? code))
  process.kill(process.pid, "SIGKILL")
})`

describe.skipIf(!hasScript)("a terminal that is closed (skipped without the program script)", () => {
  it.each([
    ["while a server is connected to", ["run", "react", "q", "--mcp", "node deaf.cjs"], "pid"],
    ["at a question", ["run", "plan-and-execute", "q", "-t", "none", "--approve-plan"], "asked"]
  ])("%s: ends the program, which does not crash", { timeout: 20_000 }, async (_, args, begun) => {
    using files = folder({ "deaf.cjs": deaf, "script.json": ["1. A"], "shell.cjs": shell })
    const line = ["node", "shell.cjs", command.command, ...command.args, ...args, "-m", "scripted:script.json"]
    const quoted = line.map((word) => `'${word}'`).join(" ")
    const terminal = spawn("script", ["-qfec", quoted, "/dev/null"], {
      cwd: files.path,
      stdio: ["pipe", "pipe", "ignore"]
    })
    let shown = ""
    terminal.stdout.on("data", (text) => {
      shown += String(text)
    })
    const hasBegun = () => shown.includes("Run this plan?") || existsSync(files.file(begun))
    await expect.poll(hasBegun, { timeout: 10_000 }).toBe(true)
    terminal.kill("SIGKILL")
    const ended = () => (existsSync(files.file("ended")) ? readFileSync(files.file("ended"), "utf8") : "")
    await expect.poll(ended, { timeout: 10_000 }).toBe("SIGHUP")
  })
})

describe("Ctrl-C while an MCP server is connected to", () => {
  it.each([
    { times: 1, args: ["tools"] },
    { times: 2, args: ["tools"] },
    { times: 1, args: ["run", "react", "q", "-m", "scripted:script.json", "-q"] }
  ])("$args.0, pressed $times times", { timeout: 20_000 }, async ({ args, times }) => {
    using files = folder({ "deaf.cjs": deaf, "script.json": ["42"] })
    const server = `"${process.execPath}" deaf.cjs`
    let presses = 0
    const { code, out } = await forethought([...args, "--mcp", server], {
      cwd: files.path,
      onStart: (child) => {
        const press = setInterval(() => {
          if (!existsSync(files.file("pid")) || readFileSync(files.file("pid"), "utf8") === "") return
          child.kill("SIGINT")
          if (++presses === times) clearInterval(press)
        }, 50)
      }
    })
    expect({ code, out }).toEqual({ code: 130, out: "" })
    const pid = Number(readFileSync(files.file("pid"), "utf8"))
    expect(pid).toBeGreaterThan(0)
    // A process that was killed may take its time to end on a busy machine.
    await expect.poll(() => isAlive(pid), { timeout: 2_000 }).toBe(false)
  })
})
