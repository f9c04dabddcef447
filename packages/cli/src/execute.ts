/**
 * Runs a pattern: provides the model, the tools and the journal, shows the progress, and ends with an exit code.
 */
import * as Journal from "@forethought/core/Journal"
import * as JournalFile from "@forethought/core/JournalFile"
import * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Gathered from "./gathered.js"
import type { Models } from "./models.js"
import { optionValues } from "./options.js"
import type { Outcome, PatternEntry, RunError } from "./patterns.js"
import * as Progress from "./progress.js"
import type { Screen } from "./screen.js"
import type { ToolEntry } from "./tools.js"
import { ExitCode } from "./UsageError.js"

/** One run. */
export interface Job {
  readonly pattern: PatternEntry
  readonly question: string
  readonly models: Models
  readonly tools: ReadonlyArray<ToolEntry>
  readonly options: ReadonlyMap<string, string | number>
  /** A file for one JSON line an event. */
  readonly events?: string | undefined
  /** Changes every tool, such as by a delay. */
  readonly eachTool?: (tool: Tool.Tool<Llm.Llm>) => Tool.Tool<Llm.Llm>
}

/** How a run ended. */
export type Ended = {
  readonly gathered: Gathered.Recorder
  /** What a person should know besides. */
  readonly notes: ReadonlyArray<string>
} & (
  | { readonly _tag: "Answered"; readonly outcome: Outcome }
  | { readonly _tag: "Failed"; readonly error: RunError; readonly code: number }
  | { readonly _tag: "Interrupted" }
)

/**
 * Runs the job. Aborting `signal` interrupts the run, which then ends as `Interrupted`. Rejects with a `UsageError`, or
 * with a `JournalFileError`, where the run cannot start.
 */
export const execute = async (job: Job, screen: Screen | undefined, signal: AbortSignal): Promise<Ended> => {
  const [run, models, tools] = await Promise.all([
    job.pattern.load(),
    loadModels(job.models),
    Promise.all(job.tools.map((tool) => tool.load()))
  ])
  const gathered = Gathered.make()
  const progress = screen === undefined ? undefined : Progress.make(screen, () => Date.now())
  const sink: Journal.Service = {
    record: (event) =>
      Effect.sync(() => {
        gathered.on(event)
        progress?.on(event)
      })
  }
  const toolbox = Toolbox.layer(job.eachTool === undefined ? tools : tools.map(job.eachTool))
  const journal = Layer.unwrapScoped(
    Effect.map(
      job.events === undefined ? Effect.succeed([]) : Effect.map(JournalFile.make(job.events), (file) => [file]),
      (files) => Journal.layer(sink, ...files)
    )
  )
  // Standard output is for the answer: what would be logged is an event, and shown as one.
  const quiet = Logger.remove(Logger.defaultLogger)
  const provided = toolbox.pipe(
    Layer.provideMerge(models.layer),
    Layer.provideMerge(journal),
    Layer.provideMerge(quiet)
  )
  const options = optionValues(job.pattern.options, job.options)
  const program = Effect.provide(
    Effect.suspend(() => run(job.question, options)),
    provided
  )
  const exit = await Effect.runPromiseExit(program, { signal })
  progress?.end()
  if (Exit.isSuccess(exit)) {
    return { _tag: "Answered", outcome: exit.value, gathered, notes: models.notes() }
  }
  if (Cause.isInterrupted(exit.cause)) return { _tag: "Interrupted", gathered, notes: [] }
  const failure = Cause.failureOption(exit.cause)
  if (failure._tag === "None") throw Cause.squash(exit.cause)
  const error = failure.value
  if (error._tag === "JournalFileError") throw error
  return { _tag: "Failed", error, code: codeOf(error), gathered, notes: hints(error, job.models) }
}

const loadModels = async (models: Models) => {
  const standard = await models.default.load()
  const own = await Promise.all([...models.roles].map(async ([role, model]) => ({ role, loaded: await model.load() })))
  const byRole = Object.fromEntries(own.map(({ loaded, role }) => [role, loaded.layer]))
  return {
    layer: own.length === 0 ? standard.layer : Llm.byRole({ default: standard.layer, ...byRole }),
    notes: () =>
      [standard, ...own.map(({ loaded }) => loaded)]
        .flatMap((loaded) => loaded.leftOver?.() ?? [])
        .map((left) => `A scripted reply was not asked for: ${left}`)
  }
}

const codeOf = (error: RunError): number => (error instanceof Llm.LlmError ? ExitCode.failed : ExitCode.notAnswered)

const hints = (error: RunError, models: Models): ReadonlyArray<string> => {
  if (!(error instanceof Llm.LlmError)) return []
  const model = (error.role === undefined ? undefined : models.roles.get(error.role)) ?? models.default
  const key = error.reason._tag === "Unauthorized" ? " The key is taken from FORETHOUGHT_API_KEY." : ""
  return [`The model is ${model.label}.${key}`]
}
