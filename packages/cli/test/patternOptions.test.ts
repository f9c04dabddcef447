// The runner's options mean what the library's do: the same defaults, as the docstring of each states them.
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { PatternOption } from "../src/options.js"
import * as Options from "../src/patternOptions.js"

/** The number that an option's docstring in a pattern's module gives as its default. */
const documented = (module: string, name: string): string | undefined => {
  const source = readFileSync(new URL(`../../patterns/src/${module}.ts`, import.meta.url), "utf8")
  const doc = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*readonly ${name}\\?:`).exec(source)?.[1]
  return /Default: ([\d,]+(?: seconds)?)/.exec(doc ?? "")?.[1]?.replaceAll(",", "")
}

const own = (options: ReadonlyArray<PatternOption>) =>
  options.filter(({ kind, name }) => (kind === "count" || kind === "duration") && name !== "reask")
const loop = ["toolTimeout", "maxRepeats", "maxObservationChars"]

describe.each([
  ["Rewoo", Options.rewooParallel],
  ["ReAct", Options.react],
  ["PlanAndExecute", Options.planAndExecute],
  ["PlanAndSolve", Options.planAndSolve],
  ["PlanAndSolveAgent", Options.planAndSolveAgent],
  ["Adapt", Options.adapt]
] as const)("the defaults of %s", (module, options) => {
  it.each(own(options).map((option) => [option.name, option.default] as const))("%s is %s", (name, standard) => {
    const where = module !== "Rewoo" && loop.includes(name) ? "ReAct" : module
    expect(standard).toBe(documented(where, name))
  })
})

it("50,000 characters of evidence go on, all pieces together, and the help says so", () => {
  const option = Options.rewoo.find(({ name }) => name === "maxEvidenceChars")
  expect(option).toMatchObject({
    default: "50000",
    description: "how many characters of evidence go into one later input, and into the solver's prompt"
  })
})
