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
import { source as noSource, wrong } from "../config/sources.js"
import { messageOf, UsageError } from "../errors.js"
import { defaultTools } from "../tools/toolKinds.js"
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

export const readScenes: Effect.Effect<ReadonlyArray<Scene>, UsageError> = Effect.gen(function* () {
  const names = yield* Effect.promise(() => readdir(folder))
  return yield* Effect.forEach(names.filter((file) => file.endsWith(".json")).sort(), (file) =>
    Effect.flatMap(
      Effect.promise(() => readFile(`${folder}${file}`, "utf8")),
      (text) => readScene(file, text)
    )
  )
})

const readScene = (file: string, text: string): Effect.Effect<Scene, UsageError> =>
  Effect.gen(function* () {
    const source = `The demonstration ${file}`
    const fields = yield* Effect.try({
      try: () => entriesOf(JSON.parse(text)),
      catch: (error) => new UsageError(`${source} is not valid JSON: ${messageOf(error)}`)
    })
    const pattern = patterns.find(({ name }) => name === fields.get("pattern"))
    const question = fields.get("question")
    const title = fields.get("title")
    if (pattern === undefined || typeof question !== "string" || typeof title !== "string") {
      return yield* wrong(`${source} needs a "title", a known "pattern", a "question" and "replies".`)
    }
    const names = fields.get("tools")
    const facts = fields.get("facts")
    const options = yield* Effect.forEach(entriesOf(fields.get("options")), ([name, value]) => {
      const option = optionsOf(pattern).find((candidate) => candidate.name === name)
      return option === undefined
        ? wrong(`${source} has the option ${name}, which ${pattern.name} has not.`)
        : reading(() => [name, readOption(option, String(value), `${source}: ${name}`, folder)] as const)
    })
    const picked = yield* pickTools(Array.isArray(names) ? names.map(String) : defaultTools, source, {
      folder,
      env: {}
    }).pipe(Effect.withConfigProvider(noSource(() => undefined)))
    return {
      name: file.replace(/\.json$/, ""),
      title,
      pattern,
      question,
      tools: [...(facts === undefined ? [] : [factsTool(entriesOf(facts))]), ...picked],
      options: new Map(options),
      replies: fields.get("replies")
    }
  })

const entriesOf = (data: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof data === "object" && data !== null ? Object.entries(data) : [])

/** A tool over the facts that stand in a scene's own file: no fact of the world, and named so. */
const factsTool = (facts: ReadonlyMap<string, unknown>): ToolEntry => ({
  name: "facts (made up for this demonstration)",
  load: Effect.sync(() =>
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
  )
})
