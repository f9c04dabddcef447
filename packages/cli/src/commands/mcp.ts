/**
 * `forethought mcp`: the patterns as the tools of an MCP server, over standard input and output.
 */
import * as Journal from "@forethought/core/Journal"
import * as Pattern from "@forethought/core/Pattern"
import * as RunEvent from "@forethought/core/RunEvent"
import * as McpServer from "@forethought/tools/McpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { Flags } from "../config/flags.js"
import { handedOn, type PatternOption, readGiven } from "../config/options.js"
import { optionsOf, patterns, type RunError } from "../config/patterns.js"
import { prepare } from "../config/preparation.js"
import { reading } from "../config/reading.js"
import { readSettings } from "../config/settings.js"
import { ExitCode, UsageError } from "../errors.js"
import type { Process } from "../process.js"
import * as Findings from "../screen/findings.js"
import * as Screen from "../screen/screen.js"
import { oneLine } from "../screen/text.js"
import { announce, warnOn } from "./announcement.js"
import { approvals } from "./approvals.js"
import * as Equipment from "./equipment.js"

/** Serves until the input ends. */
export const mcp = (flags: Flags, version: string, process: Process): Effect.Effect<number, Equipment.NotReady> =>
  Effect.gen(function* () {
    const all = process.patterns ?? patterns
    const auto = all.find(({ routes }) => routes !== undefined)
    if (auto === undefined) return yield* Effect.fail(new UsageError("There is no Router."))
    const settings = yield* readSettings(flags, auto, process)
    const screen = Screen.make(process.stderr, process.env)
    if (flags.quiet !== true) announce(screen, settings, auto)
    const log = flags.quiet === true ? undefined : (line: string) => process.streams.err(`${line}\n`)
    const equipment = {
      ...settings,
      warn: warnOn(process),
      // Standard input belongs to the protocol: nobody can be asked there.
      ...approvals({ ...settings, approvePlan: false }, auto, screen, { ...process, terminal: undefined })
    }
    const equipped = yield* Equipment.load({ ...equipment, keepsLast: false })
    const keeping = yield* Equipment.load({ ...equipment, keepsLast: true })
    const shared = yield* equipped.shared
    const offers = all.map((pattern): McpServer.Offer => {
      const options = optionsOf(pattern)
      // What the operator has set is fixed.
      const fixed = pattern.routes === undefined ? handedOn(settings.options, options) : settings.options
      const open = options.filter(({ name }) => !fixed.has(name))
      const { perRun } = pattern.keepsLast === true ? keeping : equipped
      return {
        name: pattern.name,
        description: Pattern.description(pattern),
        options: Object.fromEntries(open.map((option) => [option.name, schemaOf(option)])),
        run: (input, given) =>
          Effect.gen(function* () {
            const read = yield* reading(() => readGiven(open, given))
            const ready = yield* prepare(pattern, new Map([...fixed, ...read]))
            return ready.answer(yield* Effect.mapError(ready.run(input), told))
          }).pipe(
            // Each run has its own budget, and its tools ask the model within it.
            Effect.provide(Layer.fresh(perRun(shared)))
          )
      }
    })
    log?.(`forethought ${version} serves ${all.length} patterns over standard input and output`)
    const record = (event: RunEvent.RunEvent) =>
      Effect.sync(() => {
        if (RunEvent.isMajor(event)) log?.(oneLine(RunEvent.headline(event), 200))
      })
    yield* Effect.provide(
      McpServer.stdio(offers, { version }),
      Layer.merge(Journal.layer({ record }), Logger.remove(Logger.defaultLogger))
    )
    return ExitCode.answered
  }).pipe(Effect.scoped)

/** An option as JSON Schema: prompts are texts, and a file is never named. */
const schemaOf = ({ choices, default: standard, description, kind, least }: PatternOption): object => {
  const about = { description, ...(standard === undefined ? {} : { default: standard }) }
  switch (kind) {
    case "count":
      return {
        type: "integer",
        minimum: least ?? 1,
        description,
        ...(standard === undefined ? {} : { default: Number(standard) })
      }
    case "switch":
      return { type: "boolean", description, ...(standard === undefined ? {} : { default: standard === "true" }) }
    case "choice":
      return { type: "string", enum: choices, ...about }
    case "list":
      return { type: "array", items: { type: "string", enum: choices }, minItems: 1, description }
    case "file":
      return {
        type: "object",
        properties: Object.fromEntries((choices ?? []).map((key) => [key, { type: "string" }])),
        additionalProperties: false,
        description: "prompts in place of the default ones"
      }
    default:
      return { type: "string", ...about }
  }
}

/** Returns why there is no answer, and what was found until then. */
const told = (error: RunError): { readonly message: string } => {
  const found = error.progress === undefined ? [] : Findings.lines(error.progress)
  const why = `Not answered (${error._tag}): ${error.message}`
  return { message: found.length === 0 ? why : `${why}\nGathered until then:\n${found.join("\n")}` }
}
