// A pattern is told in one place: its own. What lists patterns takes them from the catalogue, and nothing else names one.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { catalogue, router } from "@forethought/patterns/catalogue"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const src = join(root, "packages/patterns/src")

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]
  )
const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")

describe("the catalogue", () => {
  it.each(catalogue)("loads $name as it is listed", async ({ load, ...listed }) => {
    expect(await load()).toMatchObject(listed)
  })

  it.each([...catalogue, router])("the README's table tells when to choose $name", ({ chooseWhen, name }) => {
    const rows = readFileSync(join(root, "README.md"), "utf8").split("\n")
    expect(rows.filter((row) => row.startsWith("|") && row.includes(`\`${name}\``))).toEqual([
      expect.stringContaining(`| ${chooseWhen} |`)
    ])
  })
})

it("no other source names a pattern", () => {
  const own = /patterns\/src\/internal\/\w+\/info\.ts$/
  const files = ["core", "patterns", "ai", "tools", "cli"].flatMap((name) =>
    filesIn(join(root, "packages", name, "src"))
  )
  expect(files.length).toBeGreaterThan(200)
  const named = files
    .filter((file) => !own.test(file))
    .flatMap((file) => {
      const text = withoutComments(readFileSync(file, "utf8"))
      const isNamed = (name: string) => text.includes(`"${name}"`) || (name.includes("-") && text.includes(name))
      return catalogue.flatMap(({ name }) => (isNamed(name) ? [`${file} names ${name}`] : []))
    })
  expect(named).toEqual([])
})

describe("the import of one pattern", () => {
  const modules = ["Adapt", "PlanAndExecute", "PlanAndSolve", "PlanAndSolveAgent", "ReAct", "Rewoo", "Router"]

  /** What a file loads at once: its imports and exports, but those of types. */
  const loaded = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(file)) return seen
    seen.add(file)
    const text = withoutComments(readFileSync(file, "utf8"))
    for (const [, path = ""] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from "(\.[^"]+)\.js"/gm)) {
      loaded(`${join(dirname(file), path)}.ts`, seen)
    }
    return seen
  }

  it.each(modules)("%s loads no other, but for ReAct", (module) => {
    const others = [...loaded(join(src, `${module}.ts`))].filter((file) =>
      modules.some((other) => other !== module && other !== "ReAct" && file === join(src, `${other}.ts`))
    )
    expect(others).toEqual([])
  })
})
