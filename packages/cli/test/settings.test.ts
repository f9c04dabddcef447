import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Flags } from "../src/config/flags.js"
import { flagOf, readDuration, readOption, variableOf } from "../src/config/options.js"
import { allOptions, patterns } from "../src/config/patterns.js"
import { prepare } from "../src/config/preparation.js"
import { readSettings as settingsOf } from "../src/config/settings.js"
import { readModels } from "../src/model/models.js"
import { folder } from "./support/forethought.js"

const readSettings = (...args: Parameters<typeof settingsOf>) => Effect.runPromise(settingsOf(...args))

const parallel = patterns.find(({ name }) => name === "rewoo-parallel") ?? expect.fail("no such pattern")

const react = patterns.find(({ name }) => name === "react") ?? expect.fail("no such pattern")

const flags = (given: Partial<Flags> & { readonly option?: string } = {}): Flags => ({
  model: ["scripted:x.json"],
  options: new Map(given.option === undefined ? [] : [["concurrency", given.option]]),
  ...given
})

describe("readSettings", () => {
  it.each([
    { file: undefined, env: undefined, flag: undefined, concurrency: 4 },
    { file: 1, env: undefined, flag: undefined, concurrency: 1 },
    { file: "1", env: "2", flag: undefined, concurrency: 2 },
    { file: 1, env: "2", flag: "3", concurrency: 3 },
    { file: 1, env: "", flag: undefined, concurrency: 1 }
  ])("file $file, environment $env, flag $flag: $concurrency", async ({ concurrency, env, file, flag }) => {
    using files = folder({ "forethought.config.json": file === undefined ? {} : { concurrency: file } })
    const settings = await readSettings(flags(flag === undefined ? {} : { option: flag }), parallel, {
      folder: files.path,
      env: env === undefined ? {} : { FORETHOUGHT_CONCURRENCY: env }
    })
    const { options } = await Effect.runPromise(prepare(parallel, settings.options))
    expect(options["concurrency"]).toMatchObject({ default: concurrency })
  })

  it("reads tools as a list or as text, each once; none is none", async () => {
    using files = folder({ "forethought.config.json": { tools: ["Calculator", "lookup", "calculator"] } })
    const read = async (env: { readonly [name: string]: string }) =>
      (await readSettings(flags(), react, { folder: files.path, env })).tools.map(({ name }) => name)
    expect(await read({})).toEqual(["calculator", "lookup"])
    expect(await read({ FORETHOUGHT_TOOLS: "llm, lookup" })).toEqual(["llm", "lookup"])
    expect(await read({ FORETHOUGHT_TOOLS: "none" })).toEqual([])
  })

  it("a file's option of another pattern is left alone", async () => {
    using files = folder({ "forethought.config.json": { concurrency: 2, maxPlanLength: 3 } })
    const sequential = patterns.find(({ name }) => name === "rewoo") ?? parallel
    const settings = await readSettings(flags(), sequential, { folder: files.path, env: {} })
    expect([...settings.options]).toEqual([["maxPlanLength", 3]])
  })
})

describe("options", () => {
  it("have flags and variables that follow from their names", () => {
    expect(flagOf("maxPlanLength")).toBe("max-plan-length")
    expect(variableOf("maxPlanLength")).toBe("FORETHOUGHT_MAX_PLAN_LENGTH")
  })

  it("have defaults that can be read", () => {
    for (const { option, patterns: having } of allOptions(patterns)) {
      expect(having.length).toBeGreaterThan(0)
      if (option.default === undefined) continue
      const value = readOption(option, option.default, option.name, ".")
      if (option.kind === "choice") expect(option.choices).toContain(value)
      else if (option.kind === "count") expect(value).toBeGreaterThanOrEqual(option.least ?? 1)
      else if (option.kind === "duration") expect(value).toBeGreaterThan(0)
      else expect(value).not.toBe("")
    }
  })

  it.each([
    ["30 seconds", 30_000],
    ["30s", 30_000],
    ["500 ms", 500],
    ["1.5 minutes", 90_000],
    ["1 hour", 3_600_000]
  ])("read the duration %s as %i ms", (text, millis) => {
    expect(readDuration(text, "x")).toBe(millis)
  })

  it.each(["30", "", "0 s", "-1 s", "30 parsecs", "1e3 s", "constructor", "1 constructor", "99999 hours"])(
    "refuse the duration %s",
    (text) => {
      expect(() => readDuration(text, "--tool-timeout")).toThrow("--tool-timeout must be a duration")
    }
  )
})

describe("readModels", () => {
  const read = (...specs: ReadonlyArray<string>) =>
    Effect.runPromise(readModels(specs, "--model", { folder: "/", env: {} }))

  it.each([
    ["openai:gpt-4.1-mini", "openai:gpt-4.1-mini"],
    ["OLLAMA:qwen3:8b", "ollama:qwen3:8b"],
    ["gguf:some folder/small.gguf", "gguf:some folder/small.gguf"],
    ["openai-compatible:qwen3:8b@http://127.0.0.1:11434/v1/", "qwen3:8b at http://127.0.0.1:11434/v1"],
    ["openai-compatible:a@b@https://host/v1?key=hunter2", "a@b at https://host/v1"],
    ["scripted:some folder/file.json", "scripted replies from some folder/file.json"]
  ])("reads %s", async (spec, label) => {
    expect((await read(spec)).default.label).toBe(label)
  })

  it("takes one model for each role", async () => {
    const models = await read("scripted:a.json", "planner=scripted:b.json")
    expect(models.default.label).toContain("a.json")
    expect(models.roles.get("planner")?.label).toContain("b.json")
    await expect(read("scripted:a.json", "scripted:b.json")).rejects.toThrow("two models for every role")
    await expect(read("scripted:a.json", "planner=scripted:b", "planner=scripted:c")).rejects.toThrow(
      "the planner two models"
    )
  })
})
