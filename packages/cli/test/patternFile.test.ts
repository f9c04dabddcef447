// A pattern of a user's own, from a file: as a newcomer writes it, in a folder with nothing else in it.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { folder, forethought } from "./support/forethought.js"

const source = ({ name = "mine", options = "" } = {}) => `
import * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"
import * as Run from "@forethought/core/Run"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
export const pattern = Pattern.make({
  name: ${JSON.stringify(name)},
  summary: "asks once",
  chooseWhen: "nothing else fits",
  tools: "unused",
  roles: ["solver"],
  options: {
    times: { kind: "count", description: "how often it says so", default: 2 },
    isLoud: { kind: "switch", description: "whether it shouts", default: false },
    prompts: { kind: "prompts", description: "prompts", holes: { solver: { needed: "task", all: ["task"] } } },
    ${options}
  },
  run: (task, options = {}) =>
    Run.run(${JSON.stringify(name)}, task, (run) =>
      Effect.map(
        Reask.ask(run, {
          role: "solver",
          call: "solver",
          messages: [{ role: "user", content: \`\${options.prompts?.solver ?? "say"} \${task} \${options.times ?? 2} \${options.isLoud === true}\` }],
          read: (text) => Either.right(text)
        }),
        (answer) => ({ _tag: "Answered", answer })
      )
    ),
  answer: ({ answer }) => answer
})
`

const model = ["-m", "scripted:s.json"]
const files = (more: { readonly [name: string]: unknown } = {}) =>
  folder({ "mine.mjs": source(), "s.json": ["", "hello"], ...more })
const route = [{ role: "router", text: '{"pattern":"mine","reason":"odd"}' }, "hello"]

describe("run ./my-pattern.mjs", () => {
  it("runs it; an empty reply is asked for again, because effect and the packages are the runner's", async () => {
    using place = files()
    const events = ["--events", "e.jsonl"]
    const { code, err, out } = await forethought(["run", "./mine.mjs", "q", ...model, ...events], { cwd: place.path })
    expect({ code, out }).toEqual({ code: 0, out: "hello\n" })
    expect(err).toContain("asking again")
    expect(readFileSync(place.file("e.jsonl"), "utf8")).toContain('"solver/reask-1"')
  })

  it("its options are flags, which may stand anywhere, variables, and keys of the config file", async () => {
    using place = files({
      "s.json": [{ role: "solver", text: "ok" }],
      "forethought.config.json": { times: 5 },
      "p.json": { solver: "PROMPT {{task}}" }
    })
    const asked = async (args: ReadonlyArray<string>, env: { readonly [name: string]: string } = {}) => {
      const { code, err } = await forethought(["run", ...args, ...model, "--events", "e.jsonl"], {
        cwd: place.path,
        env
      })
      expect(err.includes("forethought:") ? err : code).toBe(0)
      return readFileSync(place.file("e.jsonl"), "utf8")
    }
    const told = await asked(["--times", "3", "--is-loud", "./mine.mjs", "q", "--prompts", "p.json"], {
      FORETHOUGHT_TIMES: "4"
    })
    expect(told).toContain("solver")
    const { out } = await forethought(["run", "./mine.mjs", "--help"], { cwd: place.path })
    expect(out).toMatch(/--times <count> +how often it says so \(default: 2\)/)
    expect(out).toMatch(/--is-loud +whether it shouts/)
    const wrong = await forethought(["run", "./mine.mjs", "q", ...model, "--times", "0"], { cwd: place.path })
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("--times must be a whole number") })
  })

  it.each<readonly [what: string, file: string, text: string, says: string]>([
    ["no file", "none.mjs", "", "none.mjs does not exist"],
    ["a file without a pattern", "a.mjs", "export const x = 1", "a.mjs has no pattern"],
    ["a pattern that is none", "a.mjs", "export default { name: 'a' }", "a.mjs has no pattern"],
    ["a file that throws", "a.mjs", "throw new Error('broken here')", "a.mjs cannot be loaded: broken here"],
    ["a syntax error", "a.mjs", "export const (", "a.mjs cannot be loaded"],
    ["a pattern's name", "a.mjs", source({ name: "react" }), 'another pattern named "react"'],
    ["a name with a space", "a.mjs", source({ name: "my own" }), "lower-case letters"],
    [
      "a flag of the runner",
      "a.mjs",
      source({ options: 'maxCalls: { kind: "count", description: "x" }' }),
      "--max-calls"
    ],
    [
      "a wrong default",
      "a.mjs",
      source({ options: 'n: { kind: "count", description: "x", default: -1 }' }),
      "default of"
    ]
  ])("%s is an error with the file's name", async (_, name, text, says) => {
    using place = files(text === "" ? {} : { [name]: text })
    const { code, err } = await forethought(["run", `./${name}`, "q", ...model], { cwd: place.path })
    expect(code).toBe(1)
    expect(err).toContain(says)
    expect(err).toContain(name)
    expect(err.trim().split("\n")).toHaveLength(1)
  })

  it("TypeScript on a Node that does not run it is a clear error", async () => {
    using place = files({ "a.ts": "export const pattern: number = 1" })
    const { code, err } = await forethought(["run", "./a.ts", "q", ...model], { cwd: place.path })
    expect(code).toBe(1)
    expect(err).toContain("typescript" in process.features ? "a.ts" : "Compile it to JavaScript")
  })
})

describe("--pattern-file", () => {
  it.each([
    ["a flag", ["--pattern-file", "mine.mjs"], {}, {}],
    ["the environment", [], { FORETHOUGHT_PATTERN_FILE: "mine.mjs" }, {}],
    ["the config file", [], {}, { "forethought.config.json": { patternFile: ["mine.mjs"] } }]
  ] as const)("by %s: the Router can choose it, and its options are handed on", async (_, flags, env, more) => {
    using place = files({ "s.json": route, ...more })
    const args = ["run", "auto", "q", ...model, ...flags, "--times", "7"]
    expect(await forethought(args, { cwd: place.path, env })).toMatchObject({ code: 0, out: "hello\n" })
  })

  it("stands in the lists, in explain, and carries out steps", async () => {
    using place = files({ "s.json": ["1. A", "done", '{"final_answer": "all"}'] })
    const own = ["--pattern-file", "mine.mjs"]
    const listed = await forethought(["patterns", "--json", ...own], { cwd: place.path })
    expect(JSON.parse(listed.out).at(-2)).toMatchObject({
      name: "mine",
      tools: "unused",
      roles: ["solver"],
      options: [{ name: "times", kind: "count", default: "2", least: 1 }, { name: "isLoud" }, { name: "prompts" }]
    })
    const explained = await forethought(["explain", "./mine.mjs", "q", ...model], { cwd: place.path })
    expect(explained.out).toContain("mine shows no plan before it works: it asks once.")
    const run = ["run", "plan-and-execute", "q", ...model, ...own, "--executor", "mine", "--times", "3"]
    expect(await forethought(run, { cwd: place.path })).toMatchObject({ code: 0, out: "all\n" })
  })
})
