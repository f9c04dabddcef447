/**
 * ReAct: a bounded loop in which a model thinks, calls tools and sees what they return, until it answers.
 *
 * Use it for one fact, for a task of fewer than three steps, and as the executor of the steps of other patterns.
 *
 * Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models". The prompts are ours.
 */
import * as Dag from "@forethought/core/Dag"
import type { ExecutorInput, ExecutorResult } from "@forethought/core/Executor"
import * as Failure from "@forethought/core/Failure"
import type * as Llm from "@forethought/core/Llm"
import type { LlmError } from "@forethought/core/Llm"
import * as Options from "@forethought/core/Options"
import * as PatternTool from "@forethought/core/PatternTool"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import * as RunEvent from "@forethought/core/RunEvent"
import * as Scheduler from "@forethought/core/Scheduler"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as executorPrompts from "./internal/executor.js"
import * as prompts from "./internal/react/prompts.js"
import * as Protocol from "./internal/react/protocol.js"
import * as Repeats from "./internal/react/repeats.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The loop ended at a cap, without an answer. */
export class CapReached extends Data.TaggedError("CapReached")<{
  readonly cap: "maxTurns" | "maxToolCalls"
  readonly limit: number
  /** What the model said last; empty if it only called tools. */
  readonly lastText: string
}> {
  override get message(): string {
    const what = this.cap === "maxTurns" ? `${this.limit} turns` : `${this.limit} tool calls`
    return `No final answer within ${what}.${this.lastText === "" ? "" : ` Last words: ${this.lastText}`}`
  }
}

/** The loop goes round in circles: the same call with the same result again and again, or replies of no use. */
export class Stuck extends Data.TaggedError("Stuck")<{
  readonly kind: "repeat" | "malformed"
  readonly detail: string
  readonly lastText: string
}> {
  override get message(): string {
    return `The run is stuck: ${this.detail}${this.lastText === "" ? "" : ` Last words: ${this.lastText}`}`
  }
}

/** What a run had done when it failed. */
export interface Progress {
  readonly turns: ReadonlyArray<Turn>
}

/** What a run can fail with. */
export type Error = Failure.Failure<CapReached | Stuck | TruncatedReply | LlmError, Progress>

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A tool call of a turn, with its one observation. */
export interface TurnCall {
  readonly tool: string
  readonly input: string
  readonly outcome: "ok" | "error" | "timeout"
  /** The result in full, or the error text. */
  readonly observation: string
}

export interface Turn {
  /** What the model said: a thought, or the answer. */
  readonly text: string
  /** In the order in which the model asked for them. */
  readonly calls: ReadonlyArray<TurnCall>
}

export interface Answered {
  readonly _tag: "Answered"
  readonly answer: string
  /** Every turn, the last of which is the answer. */
  readonly turns: ReadonlyArray<Turn>
}

/** How a run is bounded. */
export interface RunOptions {
  /** The most model calls, corrections included. Default: 8. */
  readonly maxTurns?: number
  /** The most tool calls. The run ends at the first call beyond it. Default: 8. */
  readonly maxToolCalls?: number
  /**
   * How many times running the same call may give the same result before the run ends as `Stuck`; equal calls next to each
   * other in one turn count once. Default: 3.
   */
  readonly maxRepeats?: number
  /** `native` tool calling, or `text` for models without it. Default: `native`. */
  readonly protocol?: "native" | "text"
  /** How long one tool call may take. Default: 30 seconds. */
  readonly toolTimeout?: Duration.DurationInput
  /** How many characters of one observation the model is shown; the turns keep the whole. Default: 20,000. */
  readonly maxObservationChars?: number
  /** The JSON Schema of the answer that the task asks for: a hint for models that can be held to it. */
  readonly format?: Llm.ReplyFormat
  /** The system prompt in place of the default one. Its hole in the text protocol: `tool_descriptions`. */
  readonly prompts?: { readonly native?: string; readonly text?: string }
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Runs the loop on a task. At most `maxTurns` model calls.
 *
 * A reply that asks for no tool is the answer. In a turn, neighbouring calls of read-only tools run at once; a call of a
 * tool that is not marked `readOnly` waits for those before it and runs alone, in the order of the model's list. Each call
 * gets exactly one observation: an unknown tool, bad arguments, a tool error and a timeout are observations too. A turn that was cut
 * off never runs its calls. A reply that is cut off, empty or malformed is asked for once more.
 */
export const run = (
  task: string,
  options: RunOptions = {}
): Effect.Effect<
  Answered,
  Failure.Failure<CapReached | Stuck | TruncatedReply | LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox
> => {
  return runAt(undefined, task, options)
}

/** {@link run} at a path that is known already: it costs less than telling it by `CallPath.at`. */
const runAt = (
  path: Llm.CallId | undefined,
  task: string,
  options: RunOptions
): Effect.Effect<Answered, Error, Llm.Llm | Toolbox.Toolbox> => {
  Options.rejectUnknown("ReAct.run", options, optionKeys)
  const limits = settings(options)
  return Run.run(
    "react",
    task,
    (run) =>
      Effect.flatMap(Toolbox.Toolbox, (toolbox) => {
        const turns: Array<Turn> = []
        return Effect.mapError(loop(run, toolbox, task, limits, turns), (error) =>
          Failure.attach(error, { turns: [...turns] })
        )
      }),
    { path }
  )
}

const loop = (
  run: Run.Run,
  toolbox: Toolbox.Service,
  task: string,
  limits: Settings,
  turns: Array<Turn>
): Effect.Effect<Answered, CapReached | Stuck | TruncatedReply | LlmError> =>
  Effect.gen(function* () {
    const resolve = (name: string) => resolved(toolbox, name)
    const protocol = limits.protocol === "text" ? Protocol.text(resolve) : Protocol.native(toolbox, resolve)
    const messages: Array<Llm.Message> = [
      { role: "system", content: systemPrompt(toolbox, limits) },
      { role: "user", content: task }
    ]
    const repeats = Repeats.make()
    let callsLeft = limits.maxToolCalls
    let corrected = false
    let lastText = ""
    for (let turn = 1; turn <= limits.maxTurns; turn++) {
      const request = {
        role: "executor" as const,
        call: `turn-${turn}`,
        messages: [...messages],
        ...protocol.offer,
        ...limits.format
      }
      const reply = yield* run.complete(request)
      const move = protocol.read(request, reply)
      lastText = move.text === "" ? lastText : move.text
      if (move._tag === "Unusable") {
        const again = !corrected && turn < limits.maxTurns && canHelp(move.error)
        yield* run.emit(rejected(run.id(request.call), move, again))
        if (!again) return yield* Effect.fail(ending(move, lastText))
        corrected = true
        messages.push(...protocol.correct(reply, move))
        continue
      }
      corrected = false
      if (move._tag === "Answer") {
        turns.push({ text: move.text, calls: [] })
        yield* run.emit({ _tag: "TurnEnded", call: run.id(request.call), turn, text: move.text, tools: [] })
        return { _tag: "Answered" as const, answer: move.text, turns }
      }
      const observations = yield* act(run, toolbox, request.call, move.calls.slice(0, callsLeft), limits)
      turns.push({ text: move.text, calls: observations.map(recorded) })
      const tools = move.calls.map((call) => call.tool)
      yield* run.emit({ _tag: "TurnEnded", call: run.id(request.call), turn, text: move.text, tools })
      const stuck = Repeats.add(repeats, observations)
      if (stuck.times >= limits.maxRepeats) return yield* Effect.fail(repeated(stuck, lastText))
      if (move.calls.length > callsLeft) {
        return yield* Effect.fail(new CapReached({ cap: "maxToolCalls", limit: limits.maxToolCalls, lastText }))
      }
      callsLeft -= observations.length
      messages.push(...protocol.answer(reply, observations, limits.maxObservationChars))
    }
    return yield* Effect.fail(new CapReached({ cap: "maxTurns", limit: limits.maxTurns, lastText }))
  })

// ---------------------------------------------------------------------------------------------------------------
// as an executor
// ---------------------------------------------------------------------------------------------------------------

/**
 * ReAct as the executor of a step, with other bounds than the defaults. The caller's `maxToolCalls` holds. Throws a
 * `RangeError` on a wrong option.
 */
export const executorWith = (options: Omit<RunOptions, "maxToolCalls" | "maxTurns"> = {}) => {
  Options.rejectUnknown(
    "ReAct.executorWith",
    options,
    optionKeys.filter((key) => key !== "maxToolCalls" && key !== "maxTurns")
  )
  settings(options)
  return executing(options)
}

const executing =
  (options: Omit<RunOptions, "maxToolCalls" | "maxTurns">) =>
  (input: ExecutorInput): Effect.Effect<ExecutorResult, Error, Llm.Llm | Toolbox.Toolbox> =>
    Effect.map(
      runAt(input.call, executorPrompts.task(input), {
        ...options,
        maxToolCalls: input.maxToolCalls,
        // A turn for each call, one for the answer and one for a correction.
        maxTurns: input.maxToolCalls + 2
      }),
      ({ answer, turns }) => ({ status: "completed" as const, result: answer, toolCalls: count(turns) })
    )

/** ReAct as the executor of a step. The step is the task, word for word, unless the caller shows it past steps too. */
export const executor = executing({})

/** The pattern as a tool that takes a task; see `PatternTool.make`. */
export const asTool = (presentation: PatternTool.Presentation = {}, options: RunOptions = {}) => {
  Options.rejectUnknown("ReAct.asTool", options, optionKeys)
  settings(options)
  return PatternTool.make(presentation, {
    name: "react",
    description: "Works on a small task with tools and gives the answer. Takes the task.",
    run: (task) => run(task, options),
    answer: ({ answer }) => answer
  })
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Settings {
  readonly maxTurns: number
  readonly maxToolCalls: number
  readonly maxRepeats: number
  readonly protocol: "native" | "text"
  readonly toolTimeout: number
  readonly maxObservationChars: number
  readonly format: Pick<Llm.Request, "format">
  readonly native: typeof prompts.native
  readonly text: typeof prompts.text
}

const optionKeys = [
  "maxTurns",
  "maxToolCalls",
  "maxRepeats",
  "protocol",
  "toolTimeout",
  "maxObservationChars",
  "format",
  "prompts"
]

const settings = (options: RunOptions): Settings => {
  const owner = "ReAct.run"
  Options.rejectUnknownIn(owner, "prompts", options.prompts, ["native", "text"])
  return {
    maxTurns: Options.wholeNumber(owner, "maxTurns", options.maxTurns ?? 8),
    maxToolCalls: Options.wholeNumber(owner, "maxToolCalls", options.maxToolCalls ?? 8, 0),
    maxRepeats: Options.wholeNumber(owner, "maxRepeats", options.maxRepeats ?? 3, 2),
    protocol: Options.oneOf(owner, "protocol", options.protocol ?? "native", ["native", "text"]),
    toolTimeout: Options.positiveMillis(owner, "toolTimeout", options.toolTimeout ?? "30 seconds"),
    maxObservationChars: Options.wholeNumber(owner, "maxObservationChars", options.maxObservationChars ?? 20_000),
    format: options.format === undefined ? {} : { format: options.format },
    native: PromptTemplate.override(prompts.native, options.prompts?.native),
    text: PromptTemplate.override(prompts.text, options.prompts?.text)
  }
}

const systemPrompt = (toolbox: Toolbox.Service, limits: Settings): string =>
  limits.protocol === "native"
    ? PromptTemplate.render(limits.native, {})
    : PromptTemplate.render(limits.text, { tool_descriptions: Toolbox.descriptions(toolbox.describe) })

const resolved = (toolbox: Toolbox.Service, name: string): string | undefined =>
  Either.getOrUndefined(Toolbox.resolve(toolbox.describe, name))

/** Carries out the calls of a turn, each as soon as those that it must not overtake have ended. */
const act = (
  run: Run.Run,
  toolbox: Toolbox.Service,
  turn: string,
  calls: ReadonlyArray<Protocol.AskedCall>,
  limits: Settings
): Effect.Effect<ReadonlyArray<Protocol.Observation>> => {
  const carryOut = (call: Protocol.AskedCall, index: number) => {
    const { input } = call
    const tools = Either.isRight(input) ? toolbox : { ...toolbox, call: () => Effect.fail(input.left) }
    return Effect.map(
      run.callTool(tools, {
        call: `${turn}/tool-${index + 1}`,
        tool: call.tool,
        input: Either.isRight(input) ? input.right : input.left.input,
        timeout: limits.toolTimeout
      }),
      ({ outcome, text }): Protocol.Observation => ({ call, outcome, text })
    )
  }
  if (calls.length === 1) return Effect.forEach(calls, carryOut)
  return Effect.gen(function* () {
    const dag = yield* Effect.orDie(Dag.make(inOrder(calls, toolbox)))
    const outcomes = yield* Scheduler.run(dag, {
      concurrency: Math.max(1, calls.length),
      run: ({ call }, index) => carryOut(call, index)
    })
    return yield* Effect.forEach(outcomes, (outcome) => {
      if (outcome._tag === "Completed") return Effect.succeed(outcome.value)
      return outcome._tag === "Failed" ? Effect.failCause(outcome.cause) : Effect.dieMessage("A tool call was skipped.")
    })
  })
}

/**
 * The calls of a turn as a graph. A model that asks for several calls at once has an order in mind: one that may change
 * something waits for all before it, and those behind it wait for it. What cannot run, such as an unknown tool, changes
 * nothing.
 */
const inOrder = (calls: ReadonlyArray<Protocol.AskedCall>, toolbox: Toolbox.Service) => {
  const mayWrite = new Set(toolbox.describe.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name))
  let writer: ReadonlyArray<string> = []
  let readers: ReadonlyArray<string> = []
  return calls.map((call, index) => {
    const id = String(index)
    const writes = Either.isRight(call.input) && mayWrite.has(call.tool)
    const node = { id, dependsOn: [], after: writes ? [...writer, ...readers] : writer, call }
    if (writes) writer = [id]
    readers = writes ? [] : [...readers, id]
    return node
  })
}

const recorded = ({ call, outcome, text }: Protocol.Observation): TurnCall => ({
  tool: call.tool,
  input: Either.getOrElse(call.input, (error) => error.input),
  outcome,
  observation: text
})

const rejected = (call: Llm.CallId, move: Protocol.Unusable, reask: boolean): RunEvent.NewEvent => ({
  _tag: "ReplyRejected",
  call,
  role: "executor",
  error: typeof move.error === "string" ? { tag: "Malformed", message: move.error } : RunEvent.errorInfo(move.error),
  reask
})

const canHelp = (error: Protocol.Unusable["error"]): boolean => typeof error === "string" || Reask.canHelp(error)

const ending = (move: Protocol.Unusable, lastText: string): Stuck | TruncatedReply | LlmError =>
  typeof move.error === "string" ? new Stuck({ kind: "malformed", detail: move.error, lastText }) : move.error

const repeated = (repeat: Repeats.Repeat, lastText: string): Stuck =>
  new Stuck({
    kind: "repeat",
    detail: `${repeat.tool} was called ${repeat.times} times running with the same input and the same result.`,
    lastText
  })

const count = (turns: ReadonlyArray<Turn>): { readonly succeeded: number; readonly failed: number } => {
  const calls = turns.flatMap((turn) => turn.calls)
  const succeeded = calls.filter((call) => call.outcome === "ok").length
  return { succeeded, failed: calls.length - succeeded }
}
