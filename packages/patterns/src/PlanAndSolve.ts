/**
 * Plan-and-Solve prompting: one reply writes a plan and carries it out, a second call reads the bare answer off it.
 *
 * Use it where everything needed is in the question. It uses no tools: a question that needs look-ups is for a pattern
 * with tools.
 *
 * Source: Wang et al. 2023, "Plan-and-Solve Prompting" (PS+). The prompts are verbatim from the specification.
 */
import * as Failure from "@forethought/core/Failure"
import type * as Llm from "@forethought/core/Llm"
import * as Options from "@forethought/core/Options"
import * as Pattern from "@forethought/core/Pattern"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import { ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { prompt } from "./internal/ask.js"
import * as Calls from "./internal/calls.js"
import { info } from "./internal/planAndSolve/info.js"
import * as prompts from "./internal/planAndSolve/prompts.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The work of a run that failed. */
export interface Progress {
  /** The whole reasoning, once there is one. */
  readonly reasoning?: string
}

/**
 * The errors of a run: `TruncatedReply` of the reasoner when the reasoning did not finish, `ParseError` when no
 * answer could be extracted, `LlmError` when a model gave no reply.
 */
export type Error = Failure.Failure<TruncatedReply | ParseError | Llm.LlmError, Progress>

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Answered<A> {
  readonly _tag: "Answered"
  /** The answer, in the type of its format. */
  readonly answer: A
  /** The extractor's reply that the answer was read from. */
  readonly text: string
  /** The plan and its execution, so that a wrong answer can be traced to the step that went wrong. */
  readonly reasoning: string
}

export interface RunOptions<A> {
  /** The form of the answer, such as `AnswerFormat.number`. */
  readonly answerFormat: AnswerFormat.AnswerFormat<A>
  /** Maximum number of output tokens of the reasoning. Default: 1000. */
  readonly maxReasoningTokens?: number
  /**
   * Prompts in place of the default ones. Holes of the reasoner's: `question`; of the extractor's: `question`,
   * `reasoning`, `answer_format`.
   */
  readonly prompts?: { readonly reasoner?: string; readonly extractor?: string }
  /** Asks each model again when its reply was cut off or is not in the format. Default: once. */
  readonly reask?: Reask.Reask
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/** Reasons, extracts, validates. Two model calls, one more for each time a model is asked again. */
export const run = <A>(
  question: string,
  options: RunOptions<A>
): Effect.Effect<Answered<A>, Failure.Failure<TruncatedReply | ParseError | Llm.LlmError, Progress>, Llm.Llm> => {
  const settings = settingsOf(options)
  return Run.run(
    info.name,
    question,
    (run) =>
      Effect.gen(function* () {
        const reasoning = yield* Effect.mapError(askReasoner(run, question, settings), (error) =>
          Failure.attach<typeof error, Progress>(error, {})
        )
        const { answer, text } = yield* Effect.mapError(askExtractor(run, question, reasoning, settings), (error) =>
          Failure.attach<typeof error, Progress>(error, { reasoning })
        )
        return { _tag: "Answered" as const, answer, text, reasoning }
      }),
    { options: () => Pattern.told(info.options, options) }
  )
}

// ---------------------------------------------------------------------------------------------------------------
// as a value
// ---------------------------------------------------------------------------------------------------------------

const valueOf = <A>(standard: AnswerFormat.AnswerFormat<A>) =>
  Pattern.make({
    ...info,
    run: (question: string, options: Partial<RunOptions<A>> = {}) =>
      run(question, { answerFormat: standard, ...options }),
    answer: ({ answer, text }) => valueText(answer, text),
    calls: (options) => {
      const asks = Calls.asks(settingsOf({ answerFormat: standard, ...options }).reask)
      return { model: Calls.range(2, 2 * asks), tool: Calls.range(0, 0) }
    },
    codecs: async () => (await import("./internal/planAndSolve/codec.js")).codecs
  })

/** Plan-and-Solve as a value, whose answer is any text where no other format is given: see `Pattern`. */
export const pattern = valueOf<unknown>(AnswerFormat.text)

/** Makes a tool of Plan-and-Solve that takes a question: see `Pattern.asTool`. */
export const asTool = <A>(options: RunOptions<A>, presentation: Pattern.Presentation = {}) =>
  Pattern.asTool(valueOf(settingsOf(options).answerFormat), presentation, options)

/** The value that was read, with its unit; the extractor's words if it is more than that. */
const valueText = (answer: unknown, text: string): string => {
  if (typeof answer !== "object" || answer === null) return String(answer)
  return "value" in answer ? `${String(answer.value)}${"unit" in answer ? String(answer.unit) : ""}` : text
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const settingsOf = <A>(options: RunOptions<A>) => {
  const owner = "PlanAndSolve.run"
  const settings = Pattern.settings(owner, info.options, options)
  Options.answerFormat(owner, "answerFormat", options.answerFormat)
  const { extractor, reasoner } = PromptTemplate.overrides(prompts, settings.prompts)
  return { ...settings, extractor, reasoner }
}

type Settings<A> = ReturnType<typeof settingsOf<A>>

const askReasoner = <A>(run: Run.Run, question: string, settings: Settings<A>) =>
  Reask.ask<string, never>(run, {
    role: "reasoner",
    call: "reasoner",
    messages: prompt(settings.reasoner, { question }),
    maxTokens: settings.maxReasoningTokens,
    reask: settings.reask,
    // Thinking that used up all tokens is reasoning that did not finish.
    nothing: (reply) =>
      reply.finishReason === "length"
        ? new TruncatedReply({ text: reply.text, role: "reasoner" })
        : Reask.empty({ role: "reasoner", call: run.id("reasoner") }, reply),
    read: (reply) => Either.right(ReplyText.visible(reply))
  })

const askExtractor = <A>(run: Run.Run, question: string, reasoning: string, settings: Settings<A>) =>
  Reask.ask(run, {
    role: "extractor",
    call: "extractor",
    messages: prompt(settings.extractor, { question, reasoning, answer_format: settings.answerFormat.name }),
    reask: settings.reask,
    nothing: (reply) =>
      new ParseError({
        problem: "empty_reply",
        expected: `a single ${settings.answerFormat.name}`,
        found: "an empty reply",
        reply: reply.text
      }),
    read: (reply) =>
      Either.map(settings.answerFormat.read(reply), (answer) => ({ answer, text: ReplyText.visible(reply) }))
  })
