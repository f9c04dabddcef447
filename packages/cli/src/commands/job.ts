/**
 * Runs a pattern: provides the model, the tools and the journal, shows the progress, and ends with an exit code.
 */
import * as Journal from "@forethought/core/Journal"
import * as JournalFile from "@forethought/core/JournalFile"
import * as Llm from "@forethought/core/Llm"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { type PatternEntry, prepare, type Ready, type RunError } from "../config/patterns.js"
import { ExitCode, messageOf } from "../errors.js"
import { keyHint } from "../model/models.js"
import * as Gathered from "../screen/findings.js"
import * as Progress from "../screen/progress.js"
import type { Screen } from "../screen/screen.js"
import * as Services from "./equipment.js"

/** One run. */
export interface Job extends Services.Equipment {
  readonly pattern: PatternEntry
  readonly question: string
  /** The pattern with its options, where it is another than `pattern` with `options`. */
  readonly ready?: Ready
  readonly options: ReadonlyMap<string, string | number>
  /** A file for one JSON line an event. */
  readonly events?: string | undefined
  /** Whether replies are shown while they arrive. */
  readonly stream?: boolean | undefined
  /** Who is asked before a plan runs; every plan is accepted where there is nobody. */
  readonly planReview?: PlanApproval.Service["review"] | undefined
  /** Is told each event besides. */
  readonly watch?: ((event: Parameters<Gathered.Recorder["on"]>[0]) => void) | undefined
}

/** What a run gave: the answer in words, and the whole result for `--json`. */
export interface Outcome {
  readonly answer: string
  readonly result: unknown
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
 * with what kept the run from starting: a model or an MCP server that cannot be used, a file that cannot be written.
 */
export const execute = async (job: Job, screen: Screen | undefined, signal: AbortSignal): Promise<Ended> => {
  const [pattern, services] = await Promise.all([
    job.ready ?? prepare(job.pattern, job.options),
    Services.load({ keepsLast: job.pattern.keepsLast ?? false, ...job })
  ])
  const gathered = Gathered.make()
  const progress = screen === undefined ? undefined : Progress.make(screen, () => Date.now())
  const sink: Journal.Service = {
    record: (event) =>
      Effect.sync(() => {
        gathered.on(event)
        progress?.on(event)
        job.watch?.(event)
      })
  }
  let unwritten: string | undefined
  const watchedFile = (path: string) =>
    Effect.map(
      JournalFile.make(path),
      (file): Journal.Service => ({
        record: (event) =>
          Effect.tapErrorCause(file.record(event), (cause) =>
            Effect.sync(() => {
              unwritten ??= `The event file ${path} is not whole: ${messageOf(Cause.squash(cause))}`
            })
          )
      })
    )
  const journal = Layer.unwrapScoped(
    Effect.map(
      job.events === undefined ? Effect.succeed([]) : Effect.map(watchedFile(job.events), (file) => [file]),
      (files) => Journal.layer(sink, ...files)
    )
  )
  // Standard output is for the answer: what would be logged is an event, and shown as one.
  const quiet = Logger.remove(Logger.defaultLogger)
  const watched = Layer.mergeAll(
    journal,
    job.stream === true ? Journal.streaming : Layer.empty,
    job.events === undefined ? Layer.empty : Journal.requests,
    job.planReview === undefined ? Layer.empty : PlanApproval.layer(job.planReview)
  )
  const equipped = Layer.unwrapScoped(Effect.map(services.shared, services.perRun))
  const provided = equipped.pipe(Layer.provideMerge(watched), Layer.provideMerge(quiet))
  const program = Effect.provide(
    Effect.map(pattern.run(job.question), (result) => ({ answer: pattern.answer(result), result })),
    provided
  )
  const exit = await Effect.runPromiseExit(program, { signal })
  progress?.end()
  if (unwritten !== undefined) job.warn?.(unwritten)
  if (Exit.isSuccess(exit)) {
    return { _tag: "Answered", outcome: exit.value, gathered, notes: services.notes() }
  }
  if (Cause.isInterrupted(exit.cause)) return { _tag: "Interrupted", gathered, notes: [] }
  const failure = Cause.failureOption(exit.cause)
  if (failure._tag === "None") throw Cause.squash(exit.cause)
  const error: RunError = failure.value
  if (error._tag === "JournalFileError" || error._tag === "ModelNotUsable" || error._tag === "McpError") throw error
  return { _tag: "Failed", error, code: codeOf(error), gathered, notes: hints(error, job) }
}

const isExhausted = (error: Llm.LlmError): boolean => error.reason._tag === "BudgetExhausted"

/**
 * A limit that the person set is an ending of the run like the pattern's own, and so is a model that replies with nothing
 * or with a refusal; a model that fails is not.
 */
const codeOf = (error: RunError): number =>
  error instanceof Llm.LlmError && !isExhausted(error) && !hasReplied(error) ? ExitCode.failed : ExitCode.notAnswered

const hasReplied = ({ reason }: Llm.LlmError): boolean => reason._tag === "EmptyReply" || reason._tag === "Refused"

const hints = (error: RunError, { models, pattern }: Job): ReadonlyArray<string> => {
  if (error._tag === "TruncatedReply" && "role" in error && error.role === "reasoner") {
    const own = "maxReasoningTokens" in pattern.options
    return own ? ["Allow more with --max-reasoning-tokens <count>."] : []
  }
  if (!(error instanceof Llm.LlmError) || isExhausted(error)) return []
  const model = (error.role === undefined ? undefined : models.roles.get(error.role)) ?? models.default
  return [`The model is ${model.label}.${error.reason._tag === "Unauthorized" ? keyHint(model) : ""}`]
}
