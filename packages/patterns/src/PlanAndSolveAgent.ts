/**
 * The Plan-and-Solve agent: plan, carry out each step with a ReAct sub-agent, replan only when a step failed, and
 * answer from all results.
 *
 * Use it for several steps with strong dependencies and a clear end. Where the next steps depend on what is found, use
 * `PlanAndExecute`, which replans after every step.
 *
 * Source: the digest in the specification. The prompts are ours.
 */
import * as Executor from "@forethought/core/Executor"
import * as Failure from "@forethought/core/Failure"
import * as Llm from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import { ParseError, type TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import type { PastStep, PlannedStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { prompt } from "./internal/ask.js"
import * as Calls from "./internal/calls.js"
import { execute as executeStep } from "./internal/execute.js"
import * as Plan from "./internal/plan.js"
import * as DataFlow from "./internal/planAndSolveAgent/dataFlow.js"
import * as formats from "./internal/planAndSolveAgent/formats.js"
import { info } from "./internal/planAndSolveAgent/info.js"
import { type Answered, type CollectedData, NotCompleted, type Progress } from "./internal/planAndSolveAgent/outcome.js"
import * as prompts from "./internal/planAndSolveAgent/prompts.js"
import * as shown from "./internal/planAndSolveAgent/shown.js"
import { warn } from "./internal/warn.js"
import * as ReAct from "./ReAct.js"

export * from "./internal/planAndSolveAgent/outcome.js"

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

export interface RunOptions {
  /** Maximum number of steps in a plan. A longer plan is asked for again, then cut, which an event says. Default: 7. */
  readonly maxPlanLength?: number
  /** Maximum number of replans. Default: 2. */
  readonly maxReplans?: number
  /** Maximum number of turns of the ReAct sub-agent in one step. Default: 8. */
  readonly maxTurns?: number
  /**
   * Chooses what a step sees of the steps before it. `results`: each with its result in full. `collected`: the values
   * that they named, and of one that named none its result, up to 2,000 characters of it. `declared`: the inputs that
   * the plan declares for it, validated before the first step. Default: `results`.
   */
  readonly dataFlow?: "results" | "collected" | "declared"
  /** Options of the sub-agent except its turns, see `ReAct.RunOptions`. */
  readonly react?: Omit<ReAct.RunOptions, "maxTurns" | "format">
  /** Prompts in place of the default ones; see the source of each for its holes. */
  readonly prompts?: {
    readonly planner?: string
    readonly executor?: string
    readonly replanner?: string
    readonly finalizer?: string
  }
  /** Asks planner and replanner again when a reply cannot be used, with the error appended. Default: once. */
  readonly reask?: Reask.Reask
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Plans, executes, replans on failure, finalises. With `n` steps and `r` replans: `2 + r` model calls and the
 * sub-agent's own, at most `n · maxTurns`. Roles: `planner`, `executor`, `replanner`, `finalizer`.
 *
 * A tool that fails is an observation of the sub-agent; only its own verdict, or a cap that it reached, fails a step. A
 * report without a verdict is a completed step, with a warning.
 */
export const run = (
  task: string,
  options: RunOptions = {}
): Effect.Effect<
  Answered,
  Failure.Failure<NotCompleted | PlanRefused | ParseError | TruncatedReply | Llm.LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox
> => {
  const settings = settingsOf(options)
  return Run.run(
    info.name,
    task,
    (run) => {
      const state: State = { pastSteps: [], collected: {}, given: [], plan: [], replans: 0, unresolved: [] }
      const agent: Agent = { run, task, settings, state, plan: planOf(run, task, settings, state) }
      return Effect.mapError(loop(agent), (error) => Failure.attach(error, progress(state)))
    },
    { options: () => Pattern.told(info.options, options) }
  )
}

/** The specification's parts: plan (1), execute (2), route (3), replan (4), finalise (5). */
const loop = (agent: Agent): Effect.Effect<Answered, Unfinished, Llm.Llm | Toolbox.Toolbox> =>
  Effect.gen(function* () {
    const { settings, state } = agent
    state.plan = yield* plan(agent)
    for (let step = state.plan[0]; step !== undefined; step = state.plan[0]) {
      const executed = yield* execute(agent, step)
      state.plan = state.plan.slice(1)
      if (state.cutShort !== undefined) break
      if (executed.status === "failed" && state.replans < settings.maxReplans) {
        const steps = yield* Effect.catchIf(replan(agent, step, executed), isBudgetExhausted, () =>
          Effect.succeed(undefined)
        )
        if (steps === undefined) break
        state.plan = steps
        state.unresolved = []
      }
    }
    return yield* finalise(agent)
  })

// ---------------------------------------------------------------------------------------------------------------
// parts
// ---------------------------------------------------------------------------------------------------------------

const plan = (agent: Agent) =>
  Effect.gen(function* () {
    const { tools } = yield* Toolbox.Toolbox
    const asked = prompt(agent.settings.planner, { ...common(agent), tools: `Tools: ${Toolbox.names(tools)}.` })
    return yield* agent.plan.first("planner", yield* ask(agent, "planner", "planner", asked))
  })

const planOf = (run: Run.Run, task: string, settings: Settings, state: State): Agent["plan"] =>
  Plan.make(run, {
    pattern: info.name,
    task,
    maxPlanLength: settings.maxPlanLength,
    shown: shownSteps,
    read: (edited) => Either.map(readPlan(settings, state, edited), ({ steps }) => steps),
    written: (steps) => (settings.dataFlow === "declared" ? DataFlow.writeDeclared(steps) : undefined)
  })

/** A step waits for what is planned with it; what it needs of the steps that have run is there. */
const shownSteps = (steps: ReadonlyArray<DataFlow.AgentStep>, from = 1): ReadonlyArray<PlannedStep> =>
  steps.map((step, index) => ({
    id: String(from + index),
    text: step.description,
    dependsOn: [...new Set(step.inputs.flatMap((input) => (input.step < from ? [] : [String(input.step)])))]
  }))

const readPlan = (
  { dataFlow }: Settings,
  { given }: State,
  reply: string
): Either.Either<DataFlow.AgentPlan, ParseError> =>
  dataFlow === "declared"
    ? DataFlow.readDeclared(
        reply,
        given.map((values) => values.map(([name]) => name))
      )
    : DataFlow.readList(reply)

/** Runs one step and keeps what it gave. A cap that the sub-agent reached fails the step; an `LlmError` the run. */
const execute = (
  agent: Agent,
  step: DataFlow.AgentStep
): Effect.Effect<PastStep, Llm.LlmError, Llm.Llm | Toolbox.Toolbox> => {
  const { run, settings, state, task } = agent
  const id = agent.plan.start()
  const index = state.pastSteps.length + 1
  const keep = (reported: Executor.ExecutorResult) =>
    Effect.gen(function* () {
      const { collected, hasVerdict, result, status } = read(settings, step, reported)
      const past: PastStep = { id, step: step.description, result, status }
      state.pastSteps.push(past)
      state.given.push(collected)
      const named = collected.map(([name, value]) => [name, { value, step: index }])
      state.collected = { ...state.collected, ...Object.fromEntries(named) }
      if (status === "failed") state.unresolved = [...state.unresolved, past]
      if (!hasVerdict) yield* warn(run, `step-${index}`, "no_verdict", noVerdict)
      return past
    })
  const text = PromptTemplate.render(settings.executor, {
    task,
    step: step.description,
    known: shown.known(settings.dataFlow, state, step),
    reply_format: settings.dataFlow === "results" ? prompts.verdictFormat : prompts.collectedFormat(step.outputs)
  })
  const { maxToolCalls } = settings
  return executeStep(
    run,
    reactWith(agent),
    { id, index, goal: task, step: step.description, prompt: text, pastSteps: [], maxToolCalls },
    keep
  )
}

const noVerdict = "The step's report does not say whether it was completed; it is taken for completed."

const replan = (agent: Agent, failed: DataFlow.AgentStep, executed: PastStep) =>
  Effect.gen(function* () {
    const { settings, state } = agent
    state.replans += 1
    const call = `replan-${state.replans}`
    const old = [failed, ...state.plan].map((step) => step.description)
    const asked = prompt(settings.replanner, {
      ...common(agent),
      plan: shown.numbered(old, state.pastSteps.length),
      completed: Executor.pastSteps(state.pastSteps, (past) => past.status === "completed"),
      failure: Executor.pastSteps(state.pastSteps, (past) => past.id === executed.id)
    })
    return yield* agent.plan.next(call, yield* ask(agent, "replanner", call, asked), executed)
  })

const isBudgetExhausted = <E extends Error>(error: E): error is E & Llm.LlmError =>
  error instanceof Llm.LlmError && error.reason._tag === "BudgetExhausted"

/** One call that answers from all results. With a step still failed the answer says so, whatever the model writes. */
const finalise = (agent: Agent): Effect.Effect<Answered, Unfinished> =>
  Effect.gen(function* () {
    const { run, settings, state, task } = agent
    const completed = state.unresolved.length === 0
    const written = yield* Reask.ask<string, ParseError>(run, {
      role: "finalizer",
      call: "finalizer",
      messages: prompt(settings.finalizer, {
        task,
        steps: Executor.pastSteps(state.pastSteps),
        verdict: completed ? prompts.completedVerdict : prompts.notCompletedVerdict
      }),
      reask: settings.reask,
      read: (reply) => Either.right(ReplyText.visible(reply))
    })
    if (completed) return { _tag: "Answered" as const, answer: written, ...progress(state) }
    const missing = [
      ...state.unresolved.map((step) => `${step.step} (${step.result})`),
      ...state.plan.map((step) => `${step.description} (not carried out)`)
    ]
    return yield* new NotCompleted({
      answer: `The task could not be completed. Missing: ${missing.join("; ")}\n\n${written}`,
      missing,
      ...(state.cutShort === undefined ? {} : { cause: state.cutShort })
    })
  })

// ---------------------------------------------------------------------------------------------------------------
// as a value
// ---------------------------------------------------------------------------------------------------------------

/** The agent as a value: see `Pattern`. */
export const pattern = Pattern.make({
  ...info,
  run,
  answer: ({ answer }) => answer,
  calls: (options, plan) => {
    const { maxPlanLength, maxReplans, maxToolCalls, maxTurns, reask } = settingsOf(options)
    const steps = (plan?.length ?? maxPlanLength) + maxReplans * maxPlanLength
    return {
      model: Calls.range(2 + (plan?.length ?? 1), (1 + maxReplans) * Calls.asks(reask) + steps * maxTurns + 1),
      tool: Calls.range(0, steps * maxToolCalls)
    }
  },
  codecs: async () => (await import("./internal/planAndSolveAgent/codec.js")).codecs
})

/** Makes an executor of the agent with other bounds than the defaults: see `Pattern.executor`. */
export const executorWith = (options: Omit<RunOptions, "maxTurns"> = {}) => Pattern.executor(pattern, options)

/** The agent as the executor of a step. */
export const executor = executorWith()

/** Makes a tool of the agent that takes a task: see `Pattern.asTool`. */
export const asTool = (presentation: Pattern.Presentation = {}, options: RunOptions = {}) =>
  Pattern.asTool(pattern, presentation, options)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

type Unfinished = NotCompleted | PlanRefused | ParseError | TruncatedReply | Llm.LlmError

const settingsOf = (options: RunOptions) => {
  const settings = Pattern.settings("PlanAndSolveAgent.run", info.options, options)
  const { executor, finalizer, replanner } = prompts
  const planner = settings.maxPlanLength > 3 ? prompts.planner : prompts.shortPlanner
  return {
    ...settings,
    maxToolCalls: settings.react?.maxToolCalls ?? info.options.react.options.maxToolCalls.default,
    ...PromptTemplate.overrides({ planner, executor, replanner, finalizer }, settings.prompts)
  }
}

type Settings = ReturnType<typeof settingsOf>

/** The state, as the specification calls it. */
interface State {
  readonly pastSteps: Array<PastStep>
  /** For each executed step the values that it named. */
  readonly given: Array<DataFlow.Report["collected"]>
  collected: CollectedData
  plan: ReadonlyArray<DataFlow.AgentStep>
  replans: number
  /** The steps that failed since the last replan. */
  unresolved: ReadonlyArray<PastStep>
  /** The error of a step that could not be paid any more: only the last call is left. */
  cutShort?: Llm.LlmError
}

interface Agent {
  readonly run: Run.Run
  readonly task: string
  readonly settings: Settings
  readonly state: State
  readonly plan: Plan.Plan<DataFlow.AgentStep, ParseError>
}

const progress = ({ collected, pastSteps }: State): Progress => ({
  pastSteps: [...pastSteps],
  collectedData: collected
})

const ask = (
  { run, settings, state }: Agent,
  role: "planner" | "replanner",
  call: string,
  messages: ReadonlyArray<Llm.Message>
) => {
  const { dataFlow, maxPlanLength, reask } = settings
  return Reask.ask(run, {
    role,
    call,
    messages,
    ...(dataFlow === "declared" ? { format: formats.declaredPlan } : {}),
    reask,
    read: (reply, attempt) =>
      Either.filterOrLeft(
        readPlan(settings, state, reply),
        ({ steps }) => steps.length <= maxPlanLength || attempt > 0,
        ({ steps }) =>
          new ParseError({
            problem: "plan_too_long",
            expected: `a plan of at most ${maxPlanLength} steps`,
            found: `${steps.length} steps`,
            reply
          })
      )
  })
}

/** What planner and replanner are told alike. */
const common = ({ settings: { dataFlow, maxPlanLength }, state, task }: Agent) => ({
  task,
  max_plan_length: String(maxPlanLength),
  reply_format: dataFlow === "declared" ? prompts.declaredFormat(state.pastSteps.length + 1) : prompts.listFormat
})

/** A step that cannot be paid any more has failed. What was reserved for the last call answers from the others. */
const reactWith =
  ({
    settings: { dataFlow, maxTurns, react },
    state
  }: Agent): Executor.Executor<ReAct.Error, Llm.Llm | Toolbox.Toolbox> =>
  ({ maxToolCalls, step }) =>
    ReAct.run(step, {
      ...react,
      maxTurns,
      maxToolCalls,
      ...(dataFlow === "results" ? {} : { format: formats.report })
    }).pipe(
      Effect.map(({ answer }): Executor.ExecutorResult => ({ status: "completed", result: answer })),
      Effect.catchIf(isBudgetExhausted, (error) => {
        state.cutShort = error
        return Effect.succeed({ status: "failed" as const, result: error.message })
      })
    )

/** A step that the sub-agent could not end by itself has failed; otherwise its own verdict decides. */
const read = ({ dataFlow }: Settings, step: DataFlow.AgentStep, reported: Executor.ExecutorResult): DataFlow.Report => {
  if (reported.status === "failed") return { ...reported, collected: [], hasVerdict: true }
  if (dataFlow === "results") return DataFlow.readVerdict(reported.result)
  return DataFlow.readCollected(reported.result, dataFlow === "declared" ? step.outputs : [])
}
