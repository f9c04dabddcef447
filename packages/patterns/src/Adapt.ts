/**
 * ADaPT, as-needed decomposition: try the task, and split only what fails into sub-steps, recursively.
 *
 * Use it for a task of unknown difficulty, which may simply work, or fail in parts.
 *
 * Source: Prasad et al. 2023, "ADaPT: As-Needed Decomposition and Planning with Language Models". The prompts are
 * verbatim from the specification.
 */
import type { Executor, ExecutorResult } from "@forethought/core/Executor"
import * as Failure from "@forethought/core/Failure"
import type * as Llm from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import * as Run from "@forethought/core/Run"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Verdict from "@forethought/core/reply/Verdict"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { info } from "./internal/adapt/info.js"
import {
  type Answered,
  type Attempt,
  type GroupNode,
  type Progress,
  type Result,
  TaskFailed,
  type TaskNode
} from "./internal/adapt/outcome.js"
import type { Decomposition, Group } from "./internal/adapt/parse.js"
import * as prompts from "./internal/adapt/prompts.js"
import { inWords, readSplit, shownStep, shownSteps, written } from "./internal/adapt/split.js"
import { endsRun, prompt } from "./internal/ask.js"
import * as Calls from "./internal/calls.js"
import { attempt } from "./internal/execute.js"
import { fold } from "./internal/fold.js"
import { list, oneOf, record, text } from "./internal/jsonSchema.js"
import { warn } from "./internal/warn.js"
import * as ReAct from "./ReAct.js"

export * from "./internal/adapt/outcome.js"

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

export interface RunOptions<E = ReAct.Error, R = Llm.Llm | Toolbox.Toolbox> {
  /** Depth at which a failed task is not split any more. The root is at 1, so 1 is the executor alone. Default: 3. */
  readonly maxDepth?: number
  /** Maximum number of sub-steps of one decomposition, those of the groups in it included. Default: 4. */
  readonly maxSubSteps?: number
  /** Maximum number of tool calls of the executor in one attempt. Default: 8. */
  readonly maxToolCalls?: number
  /** Tries a task. It is given the Executor prompt as its step. Default: `ReAct.executor`. */
  readonly executor?: Executor<E, R>
  /** Checks a reported success; false makes it a failure. Default: the report is believed. */
  readonly verify?: (claim: { readonly task: string; readonly result: string }) => Effect.Effect<boolean, never, R>
  /**
   * Prompts in place of the default ones. Holes of the executor's: `task`, `tool_descriptions`; of the planner's:
   * `task`, `reason`, `max_sub_steps`.
   */
  readonly prompts?: { readonly executor?: string; readonly planner?: string }
  /** Asks the planner again when its reply cannot be used, with the error appended. Default: once. */
  readonly reask?: Reask.Reask
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Tries the task, and splits it as needed. Sub-steps run in order: *and* stops at the first that fails, *or* at the
 * first that succeeds.
 *
 * A sub-step that repeats its own task or a task above it (case, spaces and punctuation aside) is carried out only
 * behind another sub-step of an *and* group, which may have removed the blocker: once, and never split again, so its
 * failure is the sub-step's. As the first sub-step to be carried out, or in an *or* group, nothing has changed since
 * the task failed: the planner is asked again, and then the task has failed. A group in an *and* group stands behind
 * what is in front of it: `and[prep, and[task, rest]]` is carried out, `and[and[task, rest], more]` and
 * `and[prep, or[task, other]]` are not.
 *
 * Each decomposition is shown to `PlanApproval` before its first sub-step runs. One that is refused, or edited into
 * what cannot be carried out, ends the run as `TaskFailed`: no other sub-step is tried, approved or not.
 *
 * With `d` tasks that were split at most `1 + d · maxSubSteps` attempts. The planner is called once for each task that
 * failed above `maxDepth` and is not a repeat, and once more each time it is asked again. Roles: `executor`, `planner`.
 */
export const run = <E = ReAct.Error, R = Llm.Llm | Toolbox.Toolbox>(
  task: string,
  options: RunOptions<E, R> = {}
): Effect.Effect<Answered, Failure.Failure<TaskFailed | Llm.LlmError, Progress>, Llm.Llm | Toolbox.Toolbox | R> => {
  const settings = settingsOf(options)
  return Run.run(
    info.name,
    task,
    (run) =>
      Effect.flatMap(Toolbox.Toolbox, ({ tools }) => {
        const root = draft("1", task, 1)
        const toolDescriptions = Toolbox.descriptions(tools)
        const world: World<Llm.Llm | Toolbox.Toolbox | R> = {
          run,
          settings,
          task,
          tryTask: (node) => tryTask(run, options, settings, node, task, toolDescriptions)
        }
        return solve(world, root, []).pipe(
          Effect.map(({ result, verified }) => ({
            _tag: "Answered" as const,
            answer: resultText(result),
            result,
            tree: root,
            verified
          })),
          Effect.mapError((error) =>
            Failure.attach(error instanceof Failed ? new TaskFailed({ reason: error.reason }) : error, { tree: root })
          )
        )
      }),
    { options: () => Pattern.told(info.options, options) }
  )
}

/**
 * The specification's steps: try (1), succeed (2), else split (3), run the sub-steps (4), and return the result (5).
 */
const solve = <R>(world: World<R>, node: Draft, ancestors: ReadonlyArray<string>): Solving<R> =>
  Effect.gen(function* () {
    const { depth, id, task } = node
    const about = { call: world.run.id(id), task, depth }
    yield* world.run.emit({ _tag: "TaskStarted", ...about })
    const tried = yield* world.tryTask(node)
    if (tried.status === "completed") return { result: tried.detail, verified: tried.verified }
    const isRepeat = ancestors.includes(fold(task))
    if (depth >= world.settings.maxDepth || isRepeat) return yield* new Failed({ reason: tried.detail })
    const path = [...ancestors, fold(task)]
    const plan = yield* approve(world, node, tried.detail, path, yield* askPlanner(world, node, tried.detail, path))
    const { logic } = plan
    yield* world.run.emit({ _tag: "TaskDecomposed", ...about, logic, subSteps: plan.subSteps.map(inWords) })
    return yield* runGroup(world, node, plan, id, path, (group) => {
      node.subSteps = group
    })
  }).pipe(
    Effect.tap(({ result, verified }) => end(world, node, { status: "completed", result, verified })),
    Effect.tapErrorTag("Failed", ({ reason }) => end(world, node, { status: "failed", reason }))
  )

/** Runs sub-steps in order until one decides. A nested group is evaluated in place and adds no depth. */
const runGroup = <R>(
  world: World<R>,
  parent: Draft,
  { logic, subSteps }: Group,
  id: string,
  path: ReadonlyArray<string>,
  place: (group: GroupDraft) => void
): Solving<R> =>
  Effect.gen(function* () {
    const group: GroupDraft = { _tag: "Group", id, logic, planned: subSteps.map(inWords), children: [] }
    place(group)
    const add = (node: Draft | GroupDraft) => void group.children.push(node)
    const results: Array<Solved> = []
    const reasons: Array<string> = []
    for (const [index, subStep] of subSteps.entries()) {
      const place = `${id}.${index + 1}`
      const node = typeof subStep === "string" ? draft(place, subStep, parent.depth + 1) : subStep
      if ("_tag" in node) add(node)
      const solving = "_tag" in node ? solve(world, node, path) : runGroup(world, parent, node, place, path, add)
      // An alternative is tried where one failed, unless somebody refused what was to run.
      const outcome = yield* logic === "and"
        ? solving
        : Effect.catchIf(solving, isAlternative, (error) => Effect.succeed(error))
      if (outcome instanceof Failed) reasons.push(outcome.reason)
      else if (logic === "or") return outcome
      else results.push(outcome)
    }
    if (logic === "or") return yield* new Failed({ reason: reasons.join("\n") })
    return { result: results.map(({ result }) => result), verified: results.every(({ verified }) => verified) }
  })

// ---------------------------------------------------------------------------------------------------------------
// asking
// ---------------------------------------------------------------------------------------------------------------

/** One attempt. Only the verdict decides: no verdict is a failure with the whole reply as its reason. */
const tryTask = <E, R>(
  run: Run.Run,
  { executor, verify }: RunOptions<E, R>,
  settings: Settings,
  node: Draft,
  goal: string,
  toolDescriptions: string
): Effect.Effect<Attempt, Llm.LlmError, Llm.Llm | Toolbox.Toolbox | R> =>
  Effect.gen(function* () {
    const step = PromptTemplate.render(settings.executor, { task: node.task, tool_descriptions: toolDescriptions })
    const reported = yield* attempt<E | ReAct.Error, R | Llm.Llm | Toolbox.Toolbox>(
      run,
      executor ?? ReAct.executor,
      `${node.id}/executor`,
      { goal, step, pastSteps: [], maxToolCalls: settings.maxToolCalls }
    )
    const verdict = read(reported)
    const accepted =
      verdict.status === "completed" && verify !== undefined
        ? yield* verify({ task: node.task, result: verdict.detail })
        : undefined
    node.attempt =
      accepted === false
        ? { status: "failed", detail: `The result did not pass verification: ${verdict.detail}`, verified: false }
        : { ...verdict, verified: verdict.status === "completed" && (accepted === true || usedToolsWell(reported)) }
    return node.attempt
  })

const read = (reported: ExecutorResult): Pick<Attempt, "status" | "detail"> => {
  const verdict = reported.status === "failed" ? undefined : Either.getOrUndefined(Verdict.read(reported.result))
  if (verdict === undefined) return { status: "failed", detail: reported.result }
  return verdict._tag === "Success"
    ? { status: "completed", detail: verdict.result }
    : { status: "failed", detail: verdict.reason === "" ? reported.result : verdict.reason }
}

const usedToolsWell = ({ toolCalls }: ExecutorResult): boolean =>
  toolCalls === undefined || toolCalls.succeeded > 0 || toolCalls.failed === 0

/** Splits a task. A planner that cannot be read fails the task; only a model that gives no reply ends the run. */
const askPlanner = <R>(
  { run, settings }: World<R>,
  node: Draft,
  reason: string,
  path: ReadonlyArray<string>
): Effect.Effect<Decomposition, Failed | Llm.LlmError> => {
  const call = `${node.id}/planner`
  return Reask.ask(run, {
    role: "planner",
    call,
    messages: prompt(settings.planner, {
      task: node.task,
      reason: ReplyText.cut(reason, maxReasonChars),
      max_sub_steps: String(settings.maxSubSteps)
    }),
    format: replyFormat,
    reask: settings.reask,
    read: (reply, attempt) => readSplit(reply, attempt, settings.maxSubSteps, path)
  }).pipe(
    Effect.mapError((error) =>
      endsRun(error) ? error : new Failed({ reason: `${reason}\nThe task could not be split: ${error.message}` })
    ),
    Effect.tap(({ conflicting }) => (conflicting ? warn(run, call, "conflicting_reply", conflict) : Effect.void))
  )
}

/**
 * Shows a decomposition to whoever approves plans, with the sub-step that it splits; the root is not a step of a plan.
 */
const approve = <R>(
  { settings, task }: World<R>,
  node: Draft,
  reason: string,
  path: ReadonlyArray<string>,
  plan: Group
): Effect.Effect<Group, Failed> =>
  PlanApproval.approve<Group, Failed>(plan, {
    pattern: info.name,
    task,
    steps: (group) => shownSteps(group, node.id),
    previous: node.depth === 1 ? undefined : [shownStep(node.id, node.task)],
    written: written(plan),
    read: (edited) =>
      Either.mapLeft(
        readSplit(edited, 0, settings.maxSubSteps, path),
        (error) =>
          new Failed({
            reason: `${reason}\nThe edited decomposition cannot be carried out: ${error.message}`,
            isRefused: true
          })
      )
  }).pipe(
    Effect.catchTag("PlanRefused", ({ reason: why }) =>
      Effect.fail(
        new Failed({
          reason: `${reason}\nThe decomposition was refused${why.trim() === "" ? "." : `: ${why}`}`,
          isRefused: true
        })
      )
    )
  )

const conflict = "The planner's reply holds several decompositions that differ; the last one holds."

const replyFormat: Llm.ReplyFormat = {
  name: "decomposition",
  schema: record({ logic: oneOf(["and", "or"]), sub_steps: list(text, 2) })
}

const maxReasonChars = 20_000

/** A result as text: the text itself, or the results of an *and* one below the other. */
export const resultText = (result: Result): string =>
  typeof result === "string" ? result : result.map(resultText).join("\n")

// ---------------------------------------------------------------------------------------------------------------
// as a value
// ---------------------------------------------------------------------------------------------------------------

const valueOf = <E, R>() =>
  Pattern.make({
    ...info,
    run: run<E, R>,
    answer: ({ answer }) => answer,
    calls: (options) => {
      const { maxDepth, maxSubSteps, maxToolCalls, reask } = settingsOf(options)
      // One task at the root, `maxSubSteps` under each that is split; those at the last depth are not.
      const inner = (maxSubSteps ** (maxDepth - 1) - 1) / (maxSubSteps - 1)
      const tasks = inner + maxSubSteps ** (maxDepth - 1)
      const attempt = Calls.ofStep(options.executor ?? ReAct.executor, maxToolCalls)
      return {
        model: Calls.range(1, tasks * attempt + inner * Calls.asks(reask)),
        tool: Calls.range(0, tasks * maxToolCalls)
      }
    },
    codecs: async () => (await import("./internal/adapt/codec.js")).codecs
  })

/** ADaPT as a value: see `Pattern`. */
export const pattern = valueOf<unknown, Llm.Llm | Toolbox.Toolbox>()

/** Makes an executor of ADaPT with other bounds than the defaults: see `Pattern.executor`. */
export const executorWith = <E = ReAct.Error, R = Llm.Llm | Toolbox.Toolbox>(
  options: Omit<RunOptions<E, R>, "maxToolCalls"> = {}
) => Pattern.executor(valueOf<E, R>(), options)

/** ADaPT as the executor of a step. */
export const executor = executorWith()

/** Makes a tool of ADaPT that takes a task: see `Pattern.asTool`. */
export const asTool = (presentation: Pattern.Presentation = {}, options: RunOptions = {}) =>
  Pattern.asTool(pattern, presentation, options)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const settingsOf = <E, R>(options: RunOptions<E, R>) => {
  const { prompts: own, ...settings } = Pattern.settings("Adapt.run", info.options, options)
  return { ...settings, ...PromptTemplate.overrides(prompts, own) }
}

type Settings = Pick<ReturnType<typeof settingsOf>, "maxDepth" | "maxSubSteps" | "maxToolCalls" | "reask"> &
  Pick<typeof prompts, "executor" | "planner">

interface World<R> {
  readonly run: Run.Run
  readonly settings: Settings
  /** The root task. */
  readonly task: string
  readonly tryTask: (node: Draft) => Effect.Effect<Attempt, Llm.LlmError, R>
}

/** The result of a task or a group. */
interface Solved {
  readonly result: Result
  readonly verified: boolean
}

/** The failure of a task or a group. If somebody refused what was to run, no alternative is tried. */
class Failed extends Data.TaggedError("Failed")<{ readonly reason: string; readonly isRefused?: true }> {}

type Solving<R> = Effect.Effect<Solved, Failed | Llm.LlmError, R>

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The tree while it grows: whatever ends the run, it is there. */
interface Draft extends Mutable<Omit<TaskNode, "subSteps">> {
  subSteps?: GroupDraft
}
interface GroupDraft extends Omit<GroupNode, "children"> {
  readonly children: Array<Draft | GroupDraft>
}

/** Whether another alternative may be tried. */
const isAlternative = (error: Failed | Llm.LlmError): error is Failed =>
  error._tag === "Failed" && error.isRefused !== true

const draft = (id: string, task: string, depth: number): Draft => ({ _tag: "Task", id, task, depth, status: "running" })

type Ended = Pick<TaskNode, "result" | "verified" | "reason"> & Pick<Attempt, "status">

/** Keeps how a task ended, and tells it. */
const end = <R>({ run }: World<R>, node: Draft, ended: Ended) => {
  Object.assign(node, ended)
  const { depth, id, task } = node
  const { reason = "", result = reason, status } = ended
  const detail = typeof result === "string" ? result : JSON.stringify(result)
  return run.emit({ _tag: "TaskEnded", call: run.id(id), task, depth, status, detail })
}
