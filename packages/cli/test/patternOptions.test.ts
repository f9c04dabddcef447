// The runner's options mean what the library's do: the same defaults, as the docstring of each states them.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { ownOptions, patterns } from "../src/config/patterns.js"

/** The number that an option's docstring in a pattern's module gives as its default. */
const documented = (module: string, name: string): string | undefined => {
  const source = readFileSync(new URL(`../../patterns/src/${module}.ts`, import.meta.url), "utf8")
  const doc = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*readonly ${name}\\?:`).exec(source)?.[1]
  return /Default: ([\d,]+(?: seconds)?)/.exec(doc ?? "")?.[1]?.replaceAll(",", "")
}

const own = (name: string) =>
  patterns
    .filter((pattern) => pattern.name === name)
    .flatMap(ownOptions)
    .filter(({ kind, name }) => (kind === "count" || kind === "duration") && name !== "reask")
const loop = ["toolTimeout", "maxRepeats", "maxObservationChars", "maxToolCalls"]

describe.each([
  ["Rewoo", "rewoo-parallel"],
  ["ReAct", "react"],
  ["PlanAndExecute", "plan-and-execute"],
  ["PlanAndSolve", "plan-and-solve"],
  ["PlanAndSolveAgent", "plan-and-solve-agent"],
  ["Adapt", "adapt"]
] as const)("the defaults of %s", (module, name) => {
  it.each(own(name).map((option) => [option.name, option.default] as const))("%s is %s", (option, standard) => {
    const where = documented(module, option) === undefined && loop.includes(option) ? "ReAct" : module
    expect(standard).toBe(documented(where, option))
  })
})

it("50,000 characters of evidence go on, all pieces together, and the help says so", () => {
  const option = own("rewoo").find(({ name }) => name === "maxEvidenceChars")
  expect(option).toMatchObject({
    default: "50000",
    description: "maximum number of characters of all evidence together, in one later input and in the solver's prompt"
  })
})
