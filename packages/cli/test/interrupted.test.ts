/** Interruption while an MCP server does not answer: the program ends, and so does the server. */
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { folder, forethought } from "./support/forethought.js"

/** Never answers, never reads, and writes down who it is. */
const deaf = `require("node:fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000)
process.on("SIGTERM", () => {})`

const isAlive = (pid: number): boolean => {
  try {
    // A process that has ended and that nobody has asked about still has its number.
    if (existsSync("/proc/self/stat")) return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

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
