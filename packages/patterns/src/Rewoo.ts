/**
 * ReWOO: reasoning without observation. One planner call writes every tool call up front, plain code runs them, and
 * one solver call answers from the evidence.
 *
 * Use it where the look-ups can be listed before any is done. Where the next step depends on what is found, use
 * `PlanAndExecute`.
 *
 * Source: Xu et al. 2023, "ReWOO: Decoupling Reasoning from Observations for Efficient Augmented Language Models".
 */
import * as Dag from "@forethought/core/Dag"
import * as Failure from "@forethought/core/Failure"
import type * as Llm from "@forethought/core/Llm"
import type { LlmError } from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import * as RunEvent from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Scheduler from "@forethought/core/Scheduler"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { prompt } from "./internal/ask.js"
import * as Calls from "./internal/calls.js"
import { resolve } from "./internal/rewoo/evidence.js"
import * as infos from "./internal/rewoo/info.js"
import { type Answered, type Error, InvalidPlan, type Progress } from "./internal/rewoo/outcome.js"
import { type ParsedStep, readPlan } from "./internal/rewoo/parse.js"
import * as prompts from "./internal/rewoo/prompts.js"
import { validate } from "./internal/rewoo/validate.js"
import { warn } from "./internal/warn.js"

export type Evidence = RunEvent.Evidence
export { issueMessage, type PlanIssue } from "./internal/rewoo/issues.js"

export * from "./internal/rewoo/outcome.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Bounds of both variants. */
export interface SequentialOptions {
  /** Maximum number of steps in a plan. A longer plan is not valid. Default: 8. */
  readonly maxPlanLength?: number
  /** Longest time one tool call may take. Default: 30 seconds. */
  readonly toolTimeout?: Duration.DurationInput
  /**
   * Maximum number of characters of evidence in one later input, and in the solver's prompt. What is longer is cut with
   * a marker that states its size, the longest pieces first. The result keeps the whole text. Default: 50,000.
   */
  readonly maxEvidenceChars?: number
  /**
   * Prompts in place of the default ones. Holes of the planner's: `tool_descriptions`, `question`; of the solver's:
   * `question`, `plan_with_evidence`.
   */
  readonly prompts?: { readonly planner?: string; readonly solver?: string }
  /** Asks the planner again when its plan cannot be used, with the errors appended. Default: once. */
  readonly reask?: Reask.Reask
}

/** Bounds of the parallel variant. */
export interface ParallelOptions extends SequentialOptions {
  /** Maximum number of tool calls that run at once. Default: 4. */
  readonly concurrency?: number
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Plans, runs the calls in plan order, and solves.
 *
 * A call that errors or times out leaves the error text as its evidence, and the run goes on. Two model calls, one
 * more for each time the planner is asked again. Prompts are verbatim from the specification.
 */
export const sequential = (
  question: string,
  options: SequentialOptions = {}
): Effect.Effect<
  Answered,
  Failure.Failure<InvalidPlan | PlanApproval.PlanRefused | TruncatedReply | LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox
> => {
  const settings = Pattern.settings("Rewoo.sequential", infos.sequential.options, options)
  const told = () => Pattern.told(infos.sequential.options, options)
  return solve(infos.sequential.name, question, { ...settings, told }, { concurrency: 1, onFailure: "continue" })
}

/**
 * Plans, runs each call as soon as the evidence that it needs is there, and solves.
 *
 * At most `concurrency` calls run at once. The calls of a tool that says that it changes something (`readOnly: false`)
 * run one after another, in plan order. A call that errors or times out leaves the error text as its evidence, and the
 * calls that depend on it are skipped, with the reason as theirs. Evidence is in plan order whatever ended first. Two
 * model calls, one more for each time the planner is asked again.
 */
export const parallel = (
  question: string,
  options: ParallelOptions = {}
): Effect.Effect<
  Answered,
  Failure.Failure<InvalidPlan | PlanApproval.PlanRefused | TruncatedReply | LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox
> => {
  const settings = Pattern.settings("Rewoo.parallel", infos.parallel.options, options)
  const told = () => Pattern.told(infos.parallel.options, options)
  return solve(
    infos.parallel.name,
    question,
    { ...settings, told },
    { concurrency: settings.concurrency, onFailure: "skip" }
  )
}

/** The specification's steps: plan (1–3), run the calls (4), solve (5). */
const solve = (
  pattern: string,
  question: string,
  given: Given,
  mode: Mode
): Effect.Effect<Answered, Error, Llm.Llm | Toolbox.Toolbox> => {
  const { planner, solver } = PromptTemplate.overrides(
    { planner: prompts.planner, solver: prompts.solver },
    given.prompts
  )
  const settings: Settings = { ...given, pattern, planner, solver }
  return Run.run(
    pattern,
    question,
    (run) =>
      Effect.flatMap(Toolbox.Toolbox, (toolbox) => {
        const gathered: Array<Evidence | undefined> = []
        const progress = (): Progress => ({ evidence: gathered.filter((piece) => piece !== undefined) })
        return Effect.gen(function* () {
          const plan = yield* makePlan(run, toolbox, question, settings)
          const evidence = yield* runPlan(run, toolbox, plan, settings, mode, gathered)
          const answer = yield* askSolver(run, question, evidence, settings)
          return { _tag: "Answered" as const, answer, evidence }
        }).pipe(Effect.mapError((error) => Failure.attach(error, progress())))
      }),
    { options: () => settings.told() }
  )
}

// ---------------------------------------------------------------------------------------------------------------
// as values
// ---------------------------------------------------------------------------------------------------------------

const common = {
  answer: ({ answer }: Answered) => answer,
  calls: (options: SequentialOptions, plan?: ReadonlyArray<RunEvent.PlannedStep>) => {
    const settings = Pattern.settings("Rewoo", infos.parallel.options, options)
    // A planned call of the model as a worker is a model call too.
    const least = 2 + (plan ?? []).filter(({ tool }) => tool?.toLowerCase() === "llm").length
    const most = plan === undefined ? Number.NaN : least - 1 + Calls.asks(settings.reask)
    const tools = plan?.length ?? 0
    return {
      model: Calls.range(least, most),
      tool: Calls.range(tools, plan === undefined ? settings.maxPlanLength : tools)
    }
  },
  toolCalls: ({ evidence }: Answered) => ({
    succeeded: evidence.filter(({ status }) => status === "ok").length,
    failed: evidence.filter(({ status }) => status === "error" || status === "timeout").length
  }),
  codecs: async () => (await import("./internal/rewoo/codec.js")).codecs
}

/** Sequential ReWOO as a value: see `Pattern`. */
export const sequentialPattern = Pattern.make({ ...infos.sequential, ...common, run: sequential })

/** Parallel ReWOO as a value: see `Pattern`. */
export const parallelPattern = Pattern.make({ ...infos.parallel, ...common, run: parallel })

/** Makes an executor of parallel ReWOO with other bounds than the defaults: see `Pattern.executor`. */
export const executorWith = (options: Omit<ParallelOptions, "maxPlanLength"> = {}) =>
  Pattern.executor(parallelPattern, options)

/** Parallel ReWOO as the executor of a step. */
export const executor = executorWith()

/** Makes a tool of parallel ReWOO that takes a question: see `Pattern.asTool`. */
export const asTool = (presentation: Pattern.Presentation = {}, options: ParallelOptions = {}) =>
  Pattern.asTool(parallelPattern, presentation, options)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Given extends Pattern.Settings<SequentialOptions, typeof infos.sequential.options> {
  readonly told: () => { readonly [name: string]: unknown }
}

interface Settings extends Given {
  readonly pattern: string
  readonly planner: typeof prompts.planner
  readonly solver: typeof prompts.solver
}

interface Mode {
  readonly concurrency: number
  readonly onFailure: "skip" | "continue"
}

const makePlan = (run: Run.Run, toolbox: Toolbox.Service, question: string, settings: Settings) => {
  const read = (reply: string): Either.Either<ReadonlyArray<ParsedStep>, InvalidPlan> =>
    Either.mapLeft(
      validate(readPlan(reply), {
        maxPlanLength: settings.maxPlanLength,
        availableTools: toolbox.tools.map((tool) => tool.name),
        resolveTool: (name) =>
          Either.mapLeft(Toolbox.resolve(toolbox.tools, name), (error) => ({ candidates: error.candidates ?? [] }))
      }),
      (issues) => new InvalidPlan({ issues, reply })
    )
  return Reask.ask(run, {
    role: "planner",
    call: "planner",
    messages: prompt(settings.planner, { question, tool_descriptions: Toolbox.descriptions(toolbox.tools) }),
    reask: settings.reask,
    nothing: (reply) => new InvalidPlan({ issues: [{ _tag: "Empty" }], reply: reply.text }),
    read
  }).pipe(
    Effect.flatMap((plan) =>
      PlanApproval.approve(plan, { pattern: settings.pattern, task: question, steps: shownSteps, read })
    ),
    Effect.tap((plan) => tellPlan(run, plan))
  )
}

const shownSteps = (plan: ReadonlyArray<ParsedStep>): ReadonlyArray<RunEvent.PlannedStep> =>
  plan.map((step) => ({
    id: step.variable,
    text: step.reason,
    dependsOn: step.references,
    tool: step.tool,
    input: step.input
  }))

const tellPlan = (run: Run.Run, plan: ReadonlyArray<ParsedStep>) =>
  Effect.zipRight(
    run.emit({ _tag: "PlanMade", steps: shownSteps(plan) }),
    Effect.forEach(
      plan.filter((step) => step.unclosed === true),
      ({ variable }) =>
        warn(
          run,
          variable,
          "unclosed_input",
          `The input of ${variable} has no closing bracket; it was read up to the next step.`
        ),
      { discard: true }
    )
  )

const runPlan = (
  run: Run.Run,
  toolbox: Toolbox.Service,
  plan: ReadonlyArray<ParsedStep>,
  settings: Settings,
  mode: Mode,
  gathered: Array<Evidence | undefined>
): Effect.Effect<ReadonlyArray<Evidence>> =>
  Effect.gen(function* () {
    const dag = yield* Effect.orDie(Dag.make(inOrder(plan, toolbox)))
    const texts = new Map<string, string>()
    const keep = (index: number, evidence: Evidence) => {
      gathered[index] = evidence
      texts.set(evidence.variable, evidence.text)
      return run.emit({ _tag: "EvidenceRecorded", call: run.id(evidence.variable), evidence })
    }
    const outcomes = yield* Scheduler.run(dag, {
      ...mode,
      run: ({ step }, index) =>
        callTool(run, toolbox, step, texts, settings).pipe(
          // Whatever dies on the way, there is evidence of the step.
          Effect.catchAllCause((cause) => Effect.succeed(broken(step, cause))),
          Effect.flatMap((evidence) =>
            Effect.zipRight(
              keep(index, evidence),
              evidence.status === "ok" ? Effect.void : Effect.fail(evidence.status)
            )
          )
        )
    })
    for (const [index, outcome] of outcomes.entries()) {
      const step = plan[index]
      if (outcome._tag === "Skipped" && step !== undefined) yield* keep(index, skipped(step, outcome.because))
    }
    return gathered.filter((piece) => piece !== undefined)
  })

const callTool = (
  run: Run.Run,
  toolbox: Toolbox.Service,
  step: ParsedStep,
  texts: ReadonlyMap<string, string>,
  settings: Settings
): Effect.Effect<Evidence> =>
  Effect.suspend(() => {
    const tool = toolbox.tools.find((candidate) => candidate.name === step.tool)
    const { input, resolvedInput } = resolve(step, tool, texts, settings.maxEvidenceChars)
    return Effect.map(
      run.callTool(toolbox, { call: step.variable, tool: step.tool, input, timeout: settings.toolTimeout }),
      ({ endedAt, outcome, startedAt, text }) => ({
        ...planned(step),
        resolvedInput,
        status: outcome,
        text,
        startedAt,
        endedAt
      })
    )
  })

/**
 * The steps as a graph. References say what waits for what; besides, the steps of a tool that says that it changes
 * something come one after another, in plan order.
 */
const inOrder = (plan: ReadonlyArray<ParsedStep>, toolbox: Toolbox.Service) => {
  const writers = new Set(toolbox.tools.filter(({ readOnly }) => readOnly === false).map(({ name }) => name))
  const last = new Map<string, string>()
  return plan.map((step) => {
    const before = last.get(step.tool)
    if (writers.has(step.tool)) last.set(step.tool, step.variable)
    return { id: step.variable, dependsOn: step.references, after: before === undefined ? [] : [before], step }
  })
}

const broken = (step: ParsedStep, cause: Cause.Cause<never>): Evidence => ({
  ...planned(step),
  status: "error",
  text: `${step.tool} failed: ${RunEvent.errorInfo(Cause.squash(cause)).message}`
})

const planned = ({ input, reason, tool, variable }: ParsedStep) => ({ variable, reason, tool, input })

const skipped = (step: ParsedStep, because: ReadonlyArray<string>): Evidence => ({
  ...planned(step),
  status: "skipped",
  text: `Skipped: it depends on ${because.join(" and ")}, which failed.`
})

const askSolver = (
  run: Run.Run,
  question: string,
  evidence: ReadonlyArray<Evidence>,
  settings: Settings
): Effect.Effect<string, TruncatedReply | LlmError> =>
  Reask.ask<string, never>(run, {
    role: "solver",
    call: "solver",
    messages: prompt(settings.solver, {
      question,
      plan_with_evidence: prompts.planWithEvidence(evidence, settings.maxEvidenceChars)
    }),
    // The specification stops after the solver's single call.
    reask: Reask.never,
    read: (reply) => Either.right(ReplyText.visible(reply))
  })
