/**
 * One run: provides the model, the tools and the journal to a pattern, shows the progress, and tells how it ended.
 */
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as JournalFile from "@forethought/core/node/JournalFile"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { PatternEntry, Ready, RunError } from "../config/patterns.js"
import { prepare } from "../config/preparation.js"
import { ExitCode, messageOf, type UsageError } from "../errors.js"
import { keyHint } from "../model/models.js"
import type { Ended } from "../screen/ending.js"
import * as Findings from "../screen/findings.js"
import * as Progress from "../screen/progress.js"
import type { Screen } from "../screen/screen.js"
import * as Equipment from "./equipment.js"

export interface Job extends Equipment.Equipment {
  readonly pattern: PatternEntry
  readonly question: string
  /** The pattern with its options, where it is another than `pattern` with `options`. */
  readonly ready?: Ready
  readonly options: ReadonlyMap<string, string | number>
  /** A file for one JSON line an event. */
  readonly events?: string | undefined
  /** True to show replies as they arrive. */
  readonly stream?: boolean | undefined
  /** Asked before a plan runs. Without one, every plan is accepted. */
  readonly planReview?: PlanApproval.Service["review"] | undefined
  /** Called with each event besides. */
  readonly watch?: ((event: Parameters<Findings.Recorder["on"]>[0]) => void) | undefined
}

/**
 * The errors that keep a run from starting: a model or an MCP server that cannot be used, a file that cannot be
 * written.
 */
export type NotStarted = UsageError | Equipment.NotReady | JournalFile.JournalFileError

/**
 * Runs the job, and returns what `report` makes of its ending. That is told of an interrupted run too, which then goes
 * on to be interrupted.
 */
export const run = <A>(
  job: Job,
  screen: Screen | undefined,
  report: (ended: Ended) => A
): Effect.Effect<A, NotStarted> =>
  Effect.gen(function* () {
    const pattern = job.ready ?? (yield* prepare(job.pattern, job.options))
    const equipped = yield* Equipment.load({ keepsLast: job.pattern.keepsLast ?? false, ...job })
    const findings = Findings.make()
    const progress = screen === undefined ? undefined : Progress.make(screen, () => Date.now())
    const sink: Journal.Service = {
      record: (event) =>
        Effect.sync(() => {
          findings.on(event)
          progress?.on(event)
          job.watch?.(event)
        })
    }
    let unwritten: string | undefined
    const file = (path: string) =>
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
      Effect.map(Effect.forEach(job.events === undefined ? [] : [job.events], file), (files) =>
        Journal.layer(sink, ...files)
      )
    )
    const watched = Layer.mergeAll(
      journal,
      job.stream === true ? Journal.streaming : Layer.empty,
      job.events === undefined ? Layer.empty : Journal.requests,
      job.planReview === undefined ? Layer.empty : PlanApproval.layer(job.planReview),
      // Standard output is for the answer: what would be logged is an event, and shown as one.
      Logger.remove(Logger.defaultLogger)
    )
    const program = Effect.provide(
      Effect.map(pattern.run(job.question), (result) => ({ answer: pattern.answer(result), result })),
      Layer.provideMerge(Layer.unwrapScoped(Effect.map(equipped.shared, equipped.perRun)), watched)
    )
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.exit(restore(program)), (exit): Effect.Effect<A, NotStarted> => {
        progress?.end()
        if (unwritten !== undefined) job.warn?.(unwritten)
        if (Exit.isSuccess(exit)) {
          return Effect.sync(() => report({ _tag: "Answered", ...exit.value, findings, notes: equipped.notes() }))
        }
        if (Cause.isInterrupted(exit.cause)) {
          return Effect.sync(() => report({ _tag: "Interrupted", findings, notes: [] }))
        }
        const failure = Cause.failureOption(exit.cause)
        if (failure._tag === "None") return Effect.failCause(Cause.die(Cause.squash(exit.cause)))
        const error = failure.value
        if (isNotStarted(error)) return Effect.fail(error)
        return Effect.sync(() =>
          report({ _tag: "Failed", error, code: codeOf(error), findings, notes: hints(error, job) })
        )
      })
    )
  })

const isNotStarted = (error: RunError | NotStarted): error is NotStarted =>
  ["UsageError", "JournalFileError", "ModelNotUsable", "McpError"].includes(error._tag)

const isExhausted = (error: Llm.LlmError): boolean => error.reason._tag === "BudgetExhausted"

/**
 * A limit that the person set is an ending of the run like the pattern's own, and so is a model that replies with
 * nothing or with a refusal; a model that fails is not.
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
