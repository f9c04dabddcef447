/**
 * ReAct: a bounded loop in which a model thinks, calls tools and sees what they return, until it answers.
 *
 * Use it for one fact, for a task of fewer than three steps, and as the executor of the steps of other patterns.
 *
 * Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models". The prompts are ours.
 */
import * as Dag from "@forethought/core/Dag"
import * as Failure from "@forethought/core/Failure"
import type * as Llm from "@forethought/core/Llm"
import type { LlmError } from "@forethought/core/Llm"
import * as Pattern from "@forethought/core/Pattern"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import * as RunEvent from "@forethought/core/RunEvent"
import * as Scheduler from "@forethought/core/Scheduler"
import * as Toolbox from "@forethought/core/Toolbox"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { info } from "./internal/react/info.js"
import { type Answered, CapReached, type Progress, Stuck, type Turn, type TurnCall } from "./internal/react/outcome.js"
import * as prompts from "./internal/react/prompts.js"
import * as Protocol from "./internal/react/protocol.js"
import * as Repeats from "./internal/react/repeats.js"

export * from "./internal/react/outcome.js"

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

/** Bounds of a run. */
export interface RunOptions {
  /** Maximum number of model calls, corrections included. Default: 8. */
  readonly maxTurns?: number
  /** Maximum number of tool calls. The run ends at the first call beyond it. Default: 8. */
  readonly maxToolCalls?: number
  /**
   * Number of times in a row that the same call may give the same result before the run ends as `Stuck`; equal calls
   * next to each other in one turn count once. Default: 3.
   */
  readonly maxRepeats?: number
  /** `native` tool calling, or `text` for models without it. Default: `native`. */
  readonly protocol?: "native" | "text"
  /** Longest time one tool call may take. Default: 30 seconds. */
  readonly toolTimeout?: Duration.DurationInput
  /**
   * Maximum number of characters of one observation that the model is shown. The turns keep the whole. Default: 20,000.
   */
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
 * A reply that asks for no tool is the answer. In a turn, neighbouring calls of read-only tools run at once; a call of
 * a tool that is not marked `readOnly` waits for those before it and runs alone, in the order of the model's list. Each
 * call gets exactly one observation: an unknown tool, bad arguments, a tool error and a timeout are observations too. A
 * turn that was cut off never runs its calls. A reply that is cut off, empty or malformed is asked for once more.
 */
export const run = (
  task: string,
  options: RunOptions = {}
): Effect.Effect<
  Answered,
  Failure.Failure<CapReached | Stuck | TruncatedReply | LlmError, Progress>,
  Llm.Llm | Toolbox.Toolbox
> => {
  const settings = Pattern.settings("ReAct.run", info.options, options)
  const templates = PromptTemplate.overrides({ native: prompts.native, text: prompts.text }, settings.prompts)
  return Run.run(
    info.name,
    task,
    (run) =>
      Effect.flatMap(Toolbox.Toolbox, (toolbox) => {
        const turns: Array<Turn> = []
        return Effect.mapError(loop(run, toolbox, task, { ...settings, templates }, turns), (error) =>
          Failure.attach(error, { turns: [...turns] })
        )
      }),
    { options: () => Pattern.told(info.options, options) }
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
        ...(limits.format === undefined ? {} : { format: limits.format })
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
// as a value
// ---------------------------------------------------------------------------------------------------------------

/** ReAct as a value: see `Pattern`. */
export const pattern = Pattern.make({
  ...info,
  run,
  answer: ({ answer }) => answer,
  calls: (options) => {
    const { maxToolCalls, maxTurns } = Pattern.settings("ReAct.run", info.options, options)
    return { model: { least: 1, most: maxTurns }, tool: { least: 0, most: maxToolCalls } }
  },
  toolCalls: ({ turns }) => count(turns),
  codecs: async () => (await import("./internal/react/codec.js")).codecs
})

/** Makes an executor of ReAct with other bounds than the defaults: see `Pattern.executor`. */
export const executorWith = (options: Omit<RunOptions, "maxToolCalls" | "maxTurns"> = {}) =>
  Pattern.executor(pattern, options)

/** ReAct as the executor of a step. The step is the task, word for word, unless the caller shows it past steps too. */
export const executor = executorWith()

/** Makes a tool of ReAct that takes a task: see `Pattern.asTool`. */
export const asTool = (presentation: Pattern.Presentation = {}, options: RunOptions = {}) =>
  Pattern.asTool(pattern, presentation, options)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

type Settings = Pattern.Settings<RunOptions, typeof info.options> & {
  readonly templates: Pick<typeof prompts, "native" | "text">
}

const systemPrompt = (toolbox: Toolbox.Service, limits: Settings): string =>
  limits.protocol === "native"
    ? PromptTemplate.render(limits.templates.native, {})
    : PromptTemplate.render(limits.templates.text, { tool_descriptions: Toolbox.descriptions(toolbox.tools) })

const resolved = (toolbox: Toolbox.Service, name: string): string | undefined => Toolbox.find(toolbox.tools, name)

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
  const mayWrite = new Set(toolbox.tools.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name))
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
