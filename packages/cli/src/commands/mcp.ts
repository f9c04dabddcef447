/**
 * `forethought mcp`: the patterns as the tools of an MCP server, over standard input and output.
 */
import * as Journal from "@forethought/core/Journal"
import * as Pattern from "@forethought/core/Pattern"
import * as RunEvent from "@forethought/core/RunEvent"
import * as McpServer from "@forethought/tools/McpServer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { handedOn, type PatternOption, readGiven } from "../config/options.js"
import { optionsOf, type PatternEntry, prepare, type RunError } from "../config/patterns.js"
import { ExitCode, messageOf } from "../errors.js"
import * as Gathered from "../screen/findings.js"
import { oneLine } from "../screen/text.js"
import * as Services from "./equipment.js"

export interface Served {
  readonly equipment: Services.Equipment
  readonly patterns: ReadonlyArray<PatternEntry>
  readonly options: ReadonlyMap<string, string | number>
  readonly version: string
  /** Takes one line about what happens; nothing where it is to be quiet. */
  readonly log: ((line: string) => void) | undefined
}

/** Serves until the input ends or `signal` is aborted. Rejects where the model or a server cannot be used. */
export const serve = async (
  { equipment, log, options, patterns, version }: Served,
  signal: AbortSignal
): Promise<number> => {
  const [services, keeping] = await Promise.all([
    Services.load({ ...equipment, keepsLast: false }),
    Services.load({ ...equipment, keepsLast: true })
  ])
  const sink: Journal.Service =
    log === undefined
      ? Journal.silent
      : {
          record: (event) =>
            Effect.sync(() => {
              if (RunEvent.isMajor(event)) log(oneLine(RunEvent.headline(event), 200))
            })
        }
  const program = Effect.scoped(
    Effect.flatMap(services.shared, (shared) => {
      const offers = patterns.map((pattern): McpServer.Offer => {
        const all = optionsOf(pattern)
        // What the operator has set is fixed.
        const fixed = pattern.routes === undefined ? handedOn(options, all) : options
        const open = all.filter(({ name }) => !fixed.has(name))
        const perRun = (pattern.keepsLast === true ? keeping : services).perRun
        return {
          name: pattern.name,
          description: Pattern.description(pattern),
          options: Object.fromEntries(open.map((option) => [option.name, schemaOf(option)])),
          run: (input, given) =>
            Effect.gen(function* () {
              const read = yield* Effect.try({ try: () => readGiven(open, given), catch: usageError })
              const ready = yield* Effect.promise(() => prepare(pattern, new Map([...fixed, ...read])))
              return ready.answer(yield* Effect.mapError(ready.run(input), told))
            }).pipe(
              // Each run has its own budget, and its tools ask the model within it.
              Effect.provide(Layer.fresh(perRun(shared)))
            )
        }
      })
      log?.(`forethought ${version} serves ${patterns.length} patterns over standard input and output`)
      return McpServer.stdio(offers, { version })
    })
  ).pipe(Effect.provide(Layer.mergeAll(Journal.layer(sink), Logger.remove(Logger.defaultLogger))))
  const exit = await Effect.runPromiseExit(program, { signal })
  if (Exit.isSuccess(exit)) return ExitCode.answered
  if (Cause.isInterrupted(exit.cause)) return ExitCode.interrupted
  throw Cause.squash(exit.cause)
}

const usageError = (error: unknown): { readonly message: string } => ({ message: messageOf(error) })

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

/** Why there is no answer, and what was found until then. */
const told = (error: RunError): { readonly message: string } => {
  const found = error.progress === undefined ? [] : Gathered.lines(error.progress)
  const why = `Not answered (${error._tag}): ${error.message}`
  return { message: found.length === 0 ? why : `${why}\nGathered until then:\n${found.join("\n")}` }
}
