/** What a person is told where a run has no answer, or cannot begin. */
import { describe, expect, it } from "vitest"
import { folder } from "./support/forethought.js"
import { inProcess, runScript } from "./support/inProcess.js"

describe("a reply that is not used", () => {
  it("one that was cut off is shown as far as it goes, with the flag that allows more", async () => {
    const cut = { text: "Let us see.\nFirst, 40", finishReason: "length" }
    const { code, err, out } = await runScript("plan-and-solve", [cut, cut])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("Let us see.\n")
    expect(err).toContain("First, 40")
    expect(err).toContain("--max-reasoning-tokens")
    expect(err).not.toContain("Nothing was gathered")
  })

  it("a refusal is shown in the model's words, and ends with 2", async () => {
    const { code, err } = await runScript("react", [{ text: "I would rather not.", finishReason: "content-filter" }])
    expect(code).toBe(2)
    expect(err).toContain("refused to answer")
    expect(err).toContain("I would rather not.")
  })

  it("an empty one ends with 2, for the model can be used", async () => {
    expect((await runScript("react", ["", ""])).code).toBe(2)
  })
})

describe("what cannot begin", () => {
  it.each([
    [["-m", "plannr=scripted:s.json"], '"plannr" is no role. Did you mean planner? Roles: planner, executor,'],
    [["-m", "zzz=scripted:s.json"], '"zzz" is no role. Roles: planner,'],
    [["-m", "scripted:s.json", "--fallback-model", "planner=scripted:s.json"], "--fallback-model takes no role"]
  ])("%j", async (flags, message) => {
    using files = folder({ "s.json": ["42"] })
    const { code, err } = await inProcess(["run", "react", "q", ...flags], { folder: files.path })
    expect(code).toBe(1)
    expect(err).toContain(message)
  })

  it.each(["rewoo", "rewoo-parallel"])("%s without tools, before any model is asked", async (pattern) => {
    using files = folder({ "s.json": ["unused"] })
    const args = [pattern, "q", "-m", "scripted:s.json", "--tools", "none"]
    for (const name of ["run", "explain"]) {
      const { code, err } = await inProcess([name, ...args], { folder: files.path })
      expect(code).toBe(1)
      expect(err).toContain(`${pattern} needs tools`)
    }
  })

  it("names the roles in the help", async () => {
    const { out } = await inProcess(["run", "--help"], { folder: "." })
    expect(out.replaceAll(/\s+/g, " ")).toContain("planner, executor, replanner, solver")
  })
})

it("a pattern that uses no tools is not announced with some", async () => {
  const { err } = await runScript("plan-and-solve", ["40 + 2 = 42", "42"])
  expect(err).toContain("tools: none")
})
