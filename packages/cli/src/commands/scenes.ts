/**
 * The scenes of the demonstration: one file each in the folder `demo`, run in the order of their names.
 */
import { readdir, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as Tool from "@forethought/core/Tool"
import * as Effect from "effect/Effect"
import { readOption } from "../config/options.js"
import { optionsOf, type PatternEntry, patterns } from "../config/patterns.js"
import { reading } from "../config/reading.js"
import { messageOf, UsageError } from "../errors.js"
import { pickTools, type ToolEntry } from "../tools/tools.js"

/** One run of the demonstration. */
export interface Scene {
  /** That of its file, without the ending. */
  readonly name: string
  readonly title: string
  readonly pattern: PatternEntry
  readonly question: string
  readonly tools: ReadonlyArray<ToolEntry>
  readonly options: ReadonlyMap<string, string | number>
  readonly replies: unknown
}

const folder = fileURLToPath(new URL("../../demo/", import.meta.url))

export const readScenes = Effect.gen(function* () {
  const names = yield* Effect.promise(() => readdir(folder))
  return yield* Effect.forEach(names.filter((file) => file.endsWith(".json")).sort(), (file) =>
    Effect.flatMap(
      Effect.promise(() => readFile(`${folder}${file}`, "utf8")),
      (text) => reading(() => readScene(file, text))
    )
  )
})

const readScene = (file: string, text: string): Scene => {
  const source = `The demonstration ${file}`
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${source} is not valid JSON: ${messageOf(error)}`)
  }
  const fields = entriesOf(data)
  const pattern = patterns.find(({ name }) => name === fields.get("pattern"))
  const question = fields.get("question")
  const title = fields.get("title")
  if (pattern === undefined || typeof question !== "string" || typeof title !== "string") {
    throw new UsageError(`${source} needs a "title", a known "pattern", a "question" and "replies".`)
  }
  const names = fields.get("tools")
  const facts = fields.get("facts")
  const options = [...entriesOf(fields.get("options"))].map(([name, value]): readonly [string, string | number] => {
    const option = optionsOf(pattern).find((candidate) => candidate.name === name)
    if (option === undefined) throw new UsageError(`${source} has the option ${name}, which ${pattern.name} has not.`)
    return [name, readOption(option, String(value), `${source}: ${name}`, folder)]
  })
  return {
    name: file.replace(/\.json$/, ""),
    title,
    pattern,
    question,
    tools: [
      ...(facts === undefined ? [] : [factsTool(entriesOf(facts))]),
      ...pickTools(Array.isArray(names) ? names.map(String) : ["lookup", "calculator"], source)
    ],
    options: new Map(options),
    replies: fields.get("replies")
  }
}

const entriesOf = (data: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof data === "object" && data !== null ? Object.entries(data) : [])

/** A tool over the facts that stand in a scene's own file: no fact of the world, and named so. */
const factsTool = (facts: ReadonlyMap<string, unknown>): ToolEntry => ({
  name: "facts (made up for this demonstration)",
  summary: "the facts in the demonstration's own file",
  load: async () =>
    Tool.make({
      name: "Facts",
      description: `Looks up one of these facts, made up for a demonstration: ${[...facts.keys()].join("; ")}`,
      idempotent: true,
      readOnly: true,
      execute: (asked) => {
        const fact = facts.get(asked.trim())
        return fact === undefined
          ? Effect.fail(new Error(`There is no such fact. Facts: ${[...facts.keys()].join("; ")}`))
          : Effect.succeed(String(fact))
      }
    })
})
