/**
 * Plan-and-Execute with a replanner: a planner writes the steps, an executor with tools carries out one at a time, and
 * after each result a replanner revises what remains, until it can answer the goal.
 *
 * Use it where the next steps depend on what is found. Where every look-up can be listed up front, `Rewoo` needs fewer
 * model calls; where only a failed step asks for a new plan, use `PlanAndSolveAgent`.
 *
 * Source: the prompts are verbatim from the specification.
 */
import type { Executor } from "@forethought/core/Executor"
import * as Failure from "@forethought/core/Failure"
import * as Llm from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import type { ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import type { PastStep, PlannedStep } from "@forethought/core/RunEvent"
import * as Toolbox from "@forethought/core/Toolbox"
import { partition } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { prompt } from "./internal/ask.js"
import * as Calls from "./internal/calls.js"
import { execute } from "./internal/execute.js"
import { fold } from "./internal/fold.js"
import { list, record, text } from "./internal/jsonSchema.js"
import * as Plan from "./internal/plan.js"
import { info } from "./internal/planAndExecute/info.js"
import { type Answered, type Progress, StepCapReached } from "./internal/planAndExecute/outcome.js"
import { type Decision, readDecision, readEdited, readPlan } from "./internal/planAndExecute/parse.js"
import * as prompts from "./internal/planAndExecute/prompts.js"
import { warn } from "./internal/warn.js"
import * as ReAct from "./ReAct.js"

export type { PastStep } from "@forethought/core/RunEvent"

export * from "./internal/planAndExecute/outcome.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Bounds of a run, and the executor of its steps. */
export interface RunOptions<E = ReAct.Error, R = Llm.Llm | Toolbox.Toolbox> {
  /** Maximum number of steps that are executed. Default: 10. */
  readonly maxSteps?: number
  /** Maximum number of steps in a plan. A longer plan is cut, which an event says. Default: 7. */
  readonly maxPlanLength?: number
  /** Maximum number of tool calls of the executor in one step. Default: 5. */
  readonly maxToolCalls?: number
  /** Carries out a step. Any pattern can be an executor. Default: `ReAct.executor`. */
  readonly executor?: Executor<E, R>
  /** Shows the executor its `step` alone, or the past steps and the goal too (`all`). Default: `step`. */
  readonly executorSees?: "step" | "all"
  /**
   * Maximum number of characters of the replanner's prompt, whatever is in it. What is added when a reply cannot be
   * used comes on top. The newest result is whole as long as it fits, older ones are cut with a marker; what the run
   * returns is whole. A goal that leaves no room for results fails with `ContextOverflow` before any model is asked.
   * Default: 100,000.
   */
  readonly maxPromptChars?: number
  /**
   * Prompts in place of the default ones. Holes of the planner's: `goal`, `tool_names`; of the replanner's: `goal`,
   * `plan`, `past_steps`.
   */
  readonly prompts?: { readonly planner?: string; readonly replanner?: string }
  /** Asks planner and replanner again when a reply cannot be used, with the error appended. Default: once. */
  readonly reask?: Reask.Reask
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Plans, executes one step, replans, and so on until the replanner gives the final answer.
 *
 * With `n` executed steps: one planner call, `n` replanner calls and the executor's own. After the last allowed step
 * the replanner is asked as well: it may answer, and steps that it still wants are left. A step that its executor
 * fails, or ends at a cap, is a failed past step: the replanner sees its error text and decides. Roles: `planner`,
 * `executor`, `replanner`, see `Llm.byRole`.
 */
export const run = <E = ReAct.Error, R = Llm.Llm | Toolbox.Toolbox>(
  goal: string,
  options: RunOptions<E, R> = {}
): Effect.Effect<
  Answered,
  Failure.Failure<StepCapReached | PlanRefused | ParseError | TruncatedReply | Llm.LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox | R
> => {
  const settings = settingsOf(options)
  return Run.run(
    info.name,
    goal,
    (run) => {
      const { maxPlanLength } = settings
      const plan = Plan.make(run, { pattern: info.name, task: goal, maxPlanLength, shown: listed, read: readEdited })
      const state: State = { pastSteps: [], remainingPlan: [] }
      return loop({ run, goal, settings, plan, state }, options.executor ?? ReAct.executor).pipe(
        Effect.mapError((error) => Failure.attach(error, { ...state }))
      )
    },
    { options: () => Pattern.told(info.options, options) }
  )
}

/** The specification's steps: plan (1), execute one step (2), keep its result (3), replan (4), answer or go on (5). */
const loop = <E, R>(
  agent: Agent,
  executor: Executor<E, R> | typeof ReAct.executor
): Effect.Effect<Answered, Unfinished, Llm.Llm | Toolbox.Toolbox | R> =>
  Effect.gen(function* () {
    const { goal, plan, run, settings, state } = agent
    const { executorSees, maxSteps, maxToolCalls } = settings
    yield* checkRoom(agent)
    state.remainingPlan = yield* askPlanner(agent)
    for (let index = 1; index <= maxSteps; index++) {
      const [step = "", ...rest] = state.remainingPlan
      const past = yield* execute<E | ReAct.Error, R | Llm.Llm | Toolbox.Toolbox>(run, executor, {
        id: plan.start(),
        index,
        goal,
        step,
        pastSteps: executorSees === "all" ? [...state.pastSteps] : [],
        maxToolCalls
      })
      state.remainingPlan = rest
      state.pastSteps.push(past)
      const decision = yield* askReplanner(agent, index)
      if (decision._tag === "Finish") {
        return { _tag: "Answered" as const, answer: decision.answer, pastSteps: state.pastSteps }
      }
      // What is left at the cap does not run, so nobody has to approve it.
      const revised =
        index === maxSteps
          ? decision.remainingSteps
          : yield* plan.approve(`step-${index}/replanner`, decision.remainingSteps)
      yield* plan.revised(`step-${index}`, revised, past)
      if (samePlan([past.step, ...rest], revised)) {
        yield* warn(run, `step-${index}`, "no_progress", noProgress)
      }
      state.remainingPlan = revised
    }
    return yield* new StepCapReached({ maxSteps })
  })

// ---------------------------------------------------------------------------------------------------------------
// as a value
// ---------------------------------------------------------------------------------------------------------------

const valueOf = <E, R>() =>
  Pattern.make({
    ...info,
    run: run<E, R>,
    answer: ({ answer }) => answer,
    calls: (options, plan) => {
      const { maxSteps, maxToolCalls, reask } = settingsOf(options)
      const step = Calls.ofStep(options.executor ?? ReAct.executor, maxToolCalls)
      const asks = Calls.asks(reask)
      return {
        model: Calls.range(1 + 2 * Math.min(plan?.length ?? 1, maxSteps), asks + maxSteps * (step + asks)),
        tool: Calls.range(0, maxSteps * maxToolCalls)
      }
    },
    codecs: async () => (await import("./internal/planAndExecute/codec.js")).codecs
  })

/** Plan-and-Execute as a value: see `Pattern`. */
export const pattern = valueOf<unknown, Llm.Llm | Toolbox.Toolbox>()

/** Makes a tool of Plan-and-Execute that takes a goal: see `Pattern.asTool`. */
export const asTool = (presentation: Pattern.Presentation = {}, options: RunOptions = {}) =>
  Pattern.asTool(pattern, presentation, options)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const settingsOf = <E, R>(options: RunOptions<E, R>) => {
  const settings = Pattern.settings("PlanAndExecute.run", info.options, options)
  const { planner, replanner } = prompts
  return { ...settings, ...PromptTemplate.overrides({ planner, replanner }, settings.prompts) }
}

type Settings = Omit<ReturnType<typeof settingsOf>, "executor">

type Unfinished = StepCapReached | PlanRefused | ParseError | TruncatedReply | Llm.LlmError

interface State {
  readonly pastSteps: Array<PastStep>
  remainingPlan: ReadonlyArray<string>
}

interface Agent {
  readonly run: Run.Run
  readonly goal: string
  readonly settings: Settings
  readonly plan: Plan.Plan<string, ParseError>
  readonly state: State
}

/** A prompt that holds the goal must have room left for what the run finds. */
const checkRoom = ({ goal, run, settings }: Agent): Effect.Effect<void, Llm.LlmError> => {
  const { maxPromptChars } = settings
  const least = promptOf(goal, "", "", settings).length + prompts.leastRoom
  if (least <= maxPromptChars) return Effect.void
  const detail = `maxPromptChars, ${maxPromptChars}, leaves no room for results beside a goal of ${goal.length} characters: give at least ${least}, or shorten the goal`
  return Effect.fail(
    new Llm.LlmError({ reason: Llm.Reason.ContextOverflow(), detail, role: "replanner", call: run.id("replanner") })
  )
}

const promptOf = (goal: string, plan: string, pastSteps: string, { replanner }: Settings): string =>
  PromptTemplate.render(replanner, { goal, plan, past_steps: pastSteps })

/** A list of steps as a plan is shown: numbered, without dependencies. */
const listed = (steps: ReadonlyArray<string>, from: number): ReadonlyArray<PlannedStep> =>
  steps.map((text, index) => ({ id: String(from + index), text, dependsOn: [] }))

const askPlanner = ({ goal, plan, run, settings }: Agent) =>
  Effect.gen(function* () {
    const { tools } = yield* Toolbox.Toolbox
    const written = yield* Reask.ask(run, {
      role: "planner",
      call: "planner",
      messages: prompt(settings.planner, { goal, tool_names: Toolbox.names(tools) }),
      reask: settings.reask,
      read: readPlan
    })
    return yield* plan.first("planner", written)
  })

const askReplanner = ({ goal, plan, run, settings, state }: Agent, index: number) =>
  Effect.gen(function* () {
    const call = `step-${index}/replanner`
    const { pastSteps, remainingPlan } = state
    const bare = promptOf(goal, "", "", settings).length
    // A prompt of one's own may have a hole twice, or not at all.
    const planTimes = promptOf(goal, "x", "", settings).length - bare
    const stepTimes = promptOf(goal, "", "x", settings).length - bare
    const room = settings.maxPromptChars - bare
    const planRoom = Math.max(room - prompts.leastRoom, Math.floor(room / 2))
    const shownPlan = prompts.shownPlan(remainingPlan, Math.floor(planRoom / Math.max(1, planTimes)))
    const stepRoom = room - planTimes * shownPlan.length
    const shownSteps = prompts.pastSteps(pastSteps, Math.floor(stepRoom / Math.max(1, stepTimes)))
    const decision = yield* Reask.ask(run, {
      role: "replanner",
      call,
      messages: prompt(settings.replanner, { goal, plan: shownPlan, past_steps: shownSteps }),
      format: replyFormat,
      reask: settings.reask,
      read: (reply, attempt) =>
        Either.map(readDecision(reply, attempt), (decision) => withoutCompleted(decision, pastSteps))
    })
    yield* tellOddities(run, call, decision)
    if (decision._tag === "Finish") return decision
    return { ...decision, remainingSteps: yield* plan.within(call, decision.remainingSteps) }
  })

const replyFormat: Llm.ReplyFormat = {
  name: "replan",
  schema: { anyOf: [record({ final_answer: text }), record({ remaining_steps: list(text, 1) })] }
}

type Revised = Decision & { readonly repeated: ReadonlyArray<string> }

/**
 * Drops steps that have succeeded already; a step that failed may be tried again. A replanner that asks for nothing
 * but completed steps wants them done again, as one that waits for a change does: the step cap bounds that.
 */
const withoutCompleted = (decision: Decision, pastSteps: ReadonlyArray<PastStep>): Revised => {
  if (decision._tag === "Finish") return { ...decision, repeated: [] }
  const completed = pastSteps.flatMap((past) => (past.status === "completed" ? [fold(past.step)] : []))
  const [remainingSteps, repeated] = partition(decision.remainingSteps, (step) => completed.includes(fold(step)))
  return remainingSteps.length === 0
    ? { ...decision, repeated: decision.remainingSteps }
    : { ...decision, remainingSteps, repeated }
}

const tellOddities = (run: Run.Run, call: string, decision: Revised) =>
  Effect.gen(function* () {
    const { repeated } = decision
    if (decision.conflicting) yield* warn(run, call, "conflicting_reply", conflict)
    if (decision._tag === "Finish" && decision.ignoredSteps !== undefined) {
      const ignored = decision.ignoredSteps.join("; ")
      yield* warn(
        run,
        call,
        "conflicting_reply",
        `The final answer wins over the remaining steps beside it: ${ignored}`
      )
    }
    if (repeated.length > 0) {
      const isAll = decision._tag === "Continue" && decision.remainingSteps === repeated
      const how = isAll ? "planned again, and nothing else" : "dropped from the plan"
      yield* warn(run, call, "repeated_step", `Completed steps were ${how}: ${repeated.join("; ")}`)
    }
  })

const conflict = "The replanner's reply holds several decisions that differ; the last one holds."

const noProgress = "The remaining plan is the same as before the step was executed."

const samePlan = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  left.length === right.length && left.every((step, index) => fold(step) === fold(right[index] ?? ""))
