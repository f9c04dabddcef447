/**
 * `forethought mcp`: the patterns as the tools of an MCP server, over standard input and output.
 */
import * as Journal from "@forethought/core/Journal"
import * as RunEvent from "@forethought/core/RunEvent"
import * as McpServer from "@forethought/tools/McpServer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Gathered from "./gathered.js"
import { handedOn, optionValues } from "./options.js"
import { patterns, type RunError } from "./patterns.js"
import * as Services from "./services.js"
import { oneLine } from "./text.js"
import { ExitCode } from "./UsageError.js"

export interface Served {
  readonly equipment: Services.Equipment
  readonly options: ReadonlyMap<string, string | number>
  readonly version: string
  /** Takes one line about what happens; nothing where it is to be quiet. */
  readonly log: ((line: string) => void) | undefined
}

/** Serves until the input ends or `signal` is aborted. Rejects where the model or a server cannot be used. */
export const serve = async ({ equipment, log, options, version }: Served, signal: AbortSignal): Promise<number> => {
  const [services, keeping, runners] = await Promise.all([
    Services.load({ ...equipment, keepsLast: false }),
    Services.load({ ...equipment, keepsLast: true }),
    Promise.all(patterns.map(async (pattern) => ({ pattern, run: await pattern.load() })))
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
      const offers = runners.map(({ pattern, run }): McpServer.Offer => {
        const given = optionValues(
          pattern.options,
          pattern.name === "auto" ? options : handedOn(options, pattern.options)
        )
        const perRun = (pattern.keepsLast === true ? keeping : services).perRun
        return {
          name: pattern.name,
          description: `${sentence(pattern.summary)} Choose it when ${pattern.chooseWhen}.`,
          run: (input) =>
            Effect.suspend(() => run(input, given)).pipe(
              Effect.map(({ answer }) => answer),
              Effect.mapError(told),
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

const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`

/** Why there is no answer, and what was found until then. */
const told = (error: RunError): { readonly message: string } => {
  const found = error.progress === undefined ? [] : Gathered.lines(error.progress)
  const why = `Not answered (${error._tag}): ${error.message}`
  return { message: found.length === 0 ? why : `${why}\nGathered until then:\n${found.join("\n")}` }
}
