/**
 * A pattern of one's own, in one file: Least-to-Most prompting. A planner splits the question into simpler ones, and a
 * solver answers them in order, each with the answers before it; the last one is the question itself.
 *
 * Compiled to JavaScript it runs in the runner: `forethought run ./leastToMost.js "…"`, and beside the built-in
 * patterns with `--pattern-file ./leastToMost.js`.
 *
 * Source: Zhou et al. 2022, "Least-to-Most Prompting Enables Complex Reasoning in Large Language Models". The prompts
 * are ours.
 */
import * as Executor from "@forethought/core/Executor"
import * as Failure from "@forethought/core/Failure"
import * as Pattern from "@forethought/core/Pattern"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import { ParseError } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import type { PastStep, PlannedStep } from "@forethought/core/RunEvent"
import * as NumberedList from "@forethought/core/reply/NumberedList"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

// ---------------------------------------------------------------------------------------------------------------
// what it is
// ---------------------------------------------------------------------------------------------------------------

export interface RunOptions {
  /** Maximum number of simpler questions. A longer list is asked for again. Default: 5. */
  readonly maxQuestions?: number
  /** Prompts in place of the default ones. */
  readonly prompts?: { readonly planner?: string; readonly solver?: string }
  /** Asks each model again when its reply cannot be used. Default: once. */
  readonly reask?: Reask.Reask
}

export interface Answered {
  readonly _tag: "Answered"
  readonly answer: string
  /** Every question with its answer, in order; the last is the question itself. */
  readonly pastSteps: ReadonlyArray<PastStep>
}

const info = {
  name: "least-to-most",
  summary: "splits a question into simpler ones and answers them in order, each with the answers before it",
  chooseWhen: "everything needed is in the question, and it is harder than its parts",
  tools: "unused",
  roles: ["planner", "solver"],
  plans: true,
  options: {
    maxQuestions: { kind: "count", description: "maximum number of simpler questions", default: 5 },
    prompts: {
      kind: "prompts",
      description: "prompts in place of the default ones",
      holes: {
        planner: { needed: "question", all: ["question", "max_questions"] },
        solver: { needed: "question", all: ["question", "answers"] }
      }
    },
    reask: { kind: "reask", description: "how often a model is asked again", default: 1 }
  }
} as const satisfies Pattern.Info

const templates = {
  planner: PromptTemplate.make(`Which simpler questions must be answered before this one can be? List at most
{{max_questions}}, the simplest first, as a numbered list and nothing else.

Question: {{question}}`),
  solver: PromptTemplate.make(`Answer the question. Use the answers found so far.

{{answers}}

Question: {{question}}`)
}

// ---------------------------------------------------------------------------------------------------------------
// how it runs
// ---------------------------------------------------------------------------------------------------------------

/** Splits the question and answers its parts: with `n` simpler questions `2 + n` model calls. */
export const run = (question: string, options: RunOptions = {}) => {
  const { maxQuestions, prompts, reask } = Pattern.settings("LeastToMost.run", info.options, options)
  const { planner, solver } = PromptTemplate.overrides(templates, prompts)
  const read = (text: string) =>
    Either.filterOrLeft(
      NumberedList.read(text),
      (list) => list.length <= maxQuestions,
      ({ length }) =>
        new ParseError({
          problem: "too_many_questions",
          expected: `a numbered list of at most ${maxQuestions} questions`,
          found: `${length} questions`
        })
    )

  return Run.run(
    info.name,
    question,
    (run) => {
      const pastSteps: Array<PastStep> = []
      return Effect.gen(function* () {
        const asked = yield* Reask.ask(run, {
          role: "planner",
          call: "planner",
          messages: [
            {
              role: "user",
              content: PromptTemplate.render(planner, { question, max_questions: String(maxQuestions) })
            }
          ],
          reask,
          read
        })
        const plan = yield* PlanApproval.approve(asked, { pattern: info.name, task: question, steps: shown, read })
        yield* run.emit({ _tag: "PlanMade", steps: shown(plan) })
        let answer = ""
        for (const [index, step] of [...plan, question].entries()) {
          const id = String(index + 1)
          const about = { call: run.id(`step-${id}`), id, index: index + 1, step }
          yield* run.emit({ _tag: "StepStarted", ...about })
          const answers = Executor.pastSteps(pastSteps)
          answer = yield* Reask.ask<string, never>(run, {
            role: "solver",
            call: `step-${id}/solver`,
            messages: [{ role: "user", content: PromptTemplate.render(solver, { question: step, answers }) }],
            reask,
            read: (text) => Either.right(ReplyText.visible(text))
          })
          pastSteps.push({ id, step, result: answer, status: "completed" })
          yield* run.emit({ _tag: "StepEnded", ...about, status: "completed", result: answer })
        }
        return { _tag: "Answered", answer, pastSteps } satisfies Answered
      }).pipe(Effect.mapError((error) => Failure.attach(error, { pastSteps: [...pastSteps] })))
    },
    { options: () => Pattern.told(info.options, options) }
  )
}

const shown = (questions: ReadonlyArray<string>): ReadonlyArray<PlannedStep> =>
  questions.map((text, index) => ({
    id: String(index + 1),
    text,
    dependsOn: index === 0 ? [] : [String(index)]
  }))

// ---------------------------------------------------------------------------------------------------------------
// as a value
// ---------------------------------------------------------------------------------------------------------------

/** Least-to-Most as a value: the Router, the runner, MCP servers, tools and executors take it from here. */
export const pattern = Pattern.make({
  ...info,
  run,
  answer: ({ answer }) => answer,
  calls: (options, plan) => {
    const { maxQuestions, reask } = Pattern.settings("LeastToMost.run", info.options, options)
    const again = Reask.timesOf(reask)
    const questions = plan?.length ?? maxQuestions
    return {
      model: {
        least: 2 + (plan?.length ?? 1),
        ...(again === undefined ? {} : { most: (2 + questions) * (1 + again) })
      },
      tool: { least: 0, most: 0 }
    }
  }
})
