/** What a person is told where a run has no answer, or cannot begin. */
import { describe, expect, it } from "vitest"
import { ownOptions, patterns } from "../src/config/patterns.js"
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
    [["-m", "plannr=scripted:s.json"], '"plannr" is not a role. Did you mean planner? Roles: planner, executor,'],
    [["-m", "zzz=scripted:s.json"], '"zzz" is not a role. Roles: planner,'],
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

describe("what is written wrongly", () => {
  const model = ["-m", "scripted:s.json"]
  const run = (pattern: string, ...flags: ReadonlyArray<string>) => ["run", pattern, "q", ...model, ...flags]

  it.each<[args: ReadonlyArray<string>, message: string]>([
    [run("react", "--max-turns", "9".repeat(20)), "--max-turns must be a whole number of at most 999999999999999."],
    [["help", "nope"], 'There is no command "nope". Commands: run, explain,'],
    [["help", "patern"], "Did you mean patterns?"],
    [run("auto", "--patterns", "react", "--fallback", "adapt"), `\nforethought: fallback must be "react"`],
    [
      run("react", "-t", "http-get", "--allow-host", "a b/"),
      `\nforethought: --allow-host cannot be used: "a b/" is not a host.`
    ],
    [
      run("rewoo", "--prompts", "key.json"),
      'the file key.json has the key "plannr", which is not known. Did you mean planner?'
    ],
    [run("rewoo", "--prompts", "number.json"), 'the file number.json must hold a text as "planner".'],
    [run("rewoo", "--prompts", "hole.json"), '"planner" leaves out {{question}}'],
    [run("rewoo", "--prompts", "hole.json"), "The holes of this prompt are {{question}}, {{tool_descriptions}}."]
  ])("%j: %s", async (args, message) => {
    using files = folder({
      "s.json": ["unused"],
      "key.json": { plannr: "{{question}}" },
      "number.json": { planner: 1 },
      "hole.json": { planner: "Plan something." }
    })
    const { code, err, out } = await inProcess(args, { folder: files.path })
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain(message)
  })

  it("help for a command that there is", async () => {
    expect((await inProcess(["help", "run"], { folder: "." })).out).toContain("forethought run")
  })

  it("a config file may begin with a byte order mark", async () => {
    using files = folder({ "s.json": ["42"], "c.json": '\uFEFF{"maxTurns": 2}' })
    const { code, out } = await inProcess(run("react", "-c", "c.json", "-q"), { folder: files.path })
    expect({ code, out }).toEqual({ code: 0, out: "42\n" })
  })

  it("a bound that is out of sight is not called infinite", async () => {
    using files = folder({ "s.json": ["unused"] })
    const args = ["explain", "adapt", "q", ...model, "--max-depth", "1000000", "-q"]
    const { code, out } = await inProcess(args, { folder: files.path })
    expect(code).toBe(0)
    expect(out).toContain("model calls: 1 to more than 1000000000")
    const json = JSON.parse((await inProcess([...args, "--json"], { folder: files.path })).out)
    expect(json.modelCalls).toEqual({ least: 1, over: 1_000_000_000 })
  })
})

describe("prompts of one's own", () => {
  const keys = patterns.flatMap((pattern) =>
    ownOptions(pattern).flatMap(({ holes = {} }) =>
      Object.entries(holes).map(([key, { all }]) => ({ name: pattern.name, key, all }))
    )
  )

  it.each(keys)("$name, $key: every hole that is listed is one", async ({ all, key, name }) => {
    const file = { "prompts.json": { [key]: all.map((hole) => `{{ ${hole} }}`).join("\n") } }
    const { err } = await runScript(name, [], ["--prompts", "prompts.json"], file)
    expect(err).toContain("no scripted reply")
  })
})
