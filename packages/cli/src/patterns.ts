/**
 * The patterns that can be run, in the order in which they are listed. What a pattern needs to be listed stands here;
 * its code is loaded when it runs.
 */
import type * as Llm from "@forethought/core/Llm"
import type { AnswerFormat } from "@forethought/core/reply/AnswerFormat"
import type * as Toolbox from "@forethought/core/Toolbox"
import type * as Effect from "effect/Effect"
import type { Gathered } from "./gathered.js"
import { labelsOf, type OptionValues, type PatternOption } from "./options.js"
import * as Options from "./patternOptions.js"

/** What a run gave: the answer in words, and the whole result for `--json`. */
export interface Outcome {
  readonly answer: string
  readonly result: object
}

/** Every error of a pattern: tagged, with a message for people, and the work so far where there is any. */
export interface RunError extends Error {
  readonly _tag: string
  readonly progress?: Gathered
}

/** Runs a pattern on a question. */
export type Runner = (
  question: string,
  options: OptionValues
) => Effect.Effect<Outcome, RunError, Llm.Llm | Toolbox.Toolbox>

export interface PatternEntry {
  /** As typed after `run`. */
  readonly name: string
  /** What it does, in one line. */
  readonly summary: string
  readonly chooseWhen: string
  readonly options: ReadonlyArray<PatternOption>
  /** Whether a solver or a finalizer answers, for which a part of the run's limits is kept. */
  readonly keepsLast?: boolean
  /** Whether it works with tools. Default: it can. */
  readonly tools?: "needed" | "unused"
  readonly load: () => Promise<Runner>
}

const effect = () => import("effect/Effect")

/** How often a model is asked again, as the patterns take it. */
const again = async (): Promise<Options.Again> => (await import("effect/Schedule")).recurs

/** The answer of Plan-and-Solve as text: the value that was read, with its unit. */
const valueText = (answer: unknown): string => {
  if (typeof answer !== "object" || answer === null || !("value" in answer)) return String(answer)
  return `${String(answer.value)}${"unit" in answer ? String(answer.unit) : ""}`
}

const answerFormat = async (written: string): Promise<AnswerFormat<unknown>> => {
  const AnswerFormat = await import("@forethought/core/reply/AnswerFormat")
  switch (written) {
    case "number":
      return AnswerFormat.number
    case "date":
      return AnswerFormat.date
    case "text":
      return AnswerFormat.text
    default:
      return AnswerFormat.option(labelsOf(written))
  }
}

export const patterns: ReadonlyArray<PatternEntry> = [
  {
    name: "react",
    summary: "thinks, calls tools, sees what they return, and so on until it answers",
    chooseWhen: "it is one fact or one tool call, or open-ended with fuzzy borders",
    options: Options.react,
    load: async () => {
      const [ReAct, Effect] = await Promise.all([import("@forethought/patterns/ReAct"), effect()])
      return (task, options) =>
        Effect.map(ReAct.run(task, Options.reactValues(options)), (result) => ({ answer: result.answer, result }))
    }
  },
  {
    name: "plan-and-solve",
    summary: "plans and reasons in one reply, then reads the answer off it; uses no tools",
    chooseWhen: "everything needed is in the question, and it takes several reasoning steps",
    options: Options.planAndSolve,
    tools: "unused",
    load: async () => {
      const [PlanAndSolve, Effect, recurs] = await Promise.all([
        import("@forethought/patterns/PlanAndSolve"),
        effect(),
        again()
      ])
      return (question, options) =>
        Effect.flatMap(
          Effect.promise(() => answerFormat(options.text("answerFormat"))),
          (answerFormat) =>
            Effect.map(
              PlanAndSolve.run(question, { answerFormat, ...Options.planAndSolveValues(options, recurs) }),
              (result) => ({ answer: valueText(result.answer), result })
            )
        )
    }
  },
  {
    name: "rewoo",
    summary: "plans every tool call up front, runs them one after another, answers from the evidence",
    chooseWhen: "the look-ups can be listed before any is done, and each may need the ones before it",
    options: Options.rewoo,
    keepsLast: true,
    tools: "needed",
    load: async () => {
      const [Rewoo, Effect, recurs] = await Promise.all([import("@forethought/patterns/Rewoo"), effect(), again()])
      return (question, options) =>
        Effect.map(Rewoo.sequential(question, Options.rewooValues(options, recurs)), (result) => ({
          answer: result.answer,
          result
        }))
    }
  },
  {
    name: "rewoo-parallel",
    summary: "plans every tool call up front, runs each as soon as its inputs are there, answers from the evidence",
    chooseWhen: "the look-ups can be listed before any is done, and several do not depend on each other",
    options: Options.rewooParallel,
    keepsLast: true,
    tools: "needed",
    load: async () => {
      const [Rewoo, Effect, recurs] = await Promise.all([import("@forethought/patterns/Rewoo"), effect(), again()])
      return (question, options) =>
        Effect.map(Rewoo.parallel(question, Options.rewooParallelValues(options, recurs)), (result) => ({
          answer: result.answer,
          result
        }))
    }
  },
  {
    name: "plan-and-solve-agent",
    summary: "plans, carries out each step with tools, replans only when a step failed, answers from all results",
    chooseWhen: "there are several steps with strong dependencies and a clear end",
    options: Options.planAndSolveAgent,
    keepsLast: true,
    load: async () => {
      const [Agent, Effect, recurs] = await Promise.all([
        import("@forethought/patterns/PlanAndSolveAgent"),
        effect(),
        again()
      ])
      return (task, options) =>
        Effect.map(Agent.run(task, Options.planAndSolveAgentValues(options, recurs)), (result) => ({
          answer: result.answer,
          result
        }))
    }
  },
  {
    name: "plan-and-execute",
    summary: "plans, carries out one step, revises the plan from its result, and so on",
    chooseWhen: "the next steps depend on what is found",
    options: Options.planAndExecute,
    load: async () => {
      const [PlanAndExecute, { executorOf }, Effect, recurs] = await Promise.all([
        import("@forethought/patterns/PlanAndExecute"),
        import("./executors.js"),
        effect(),
        again()
      ])
      return (goal, options) =>
        Effect.map(
          PlanAndExecute.run(goal, {
            ...Options.planAndExecuteValues(options, recurs),
            executor: executorOf(options, recurs)
          }),
          (result) => ({ answer: result.answer, result })
        )
    }
  },
  {
    name: "adapt",
    summary: "tries the task, and splits only what fails into sub-steps, again and again",
    chooseWhen: "the task is of unknown difficulty: it may simply work, or parts of it fail",
    options: Options.adapt,
    load: async () => {
      const [Adapt, { executorOf }, Effect, recurs] = await Promise.all([
        import("@forethought/patterns/Adapt"),
        import("./executors.js"),
        effect(),
        again()
      ])
      return (task, options) =>
        Effect.map(
          Adapt.run(task, { ...Options.adaptValues(options, recurs), executor: executorOf(options, recurs) }),
          (result) => ({ answer: Adapt.resultText(result.result), result })
        )
    }
  },
  {
    name: "auto",
    summary: "asks a model which pattern fits, and runs that one",
    chooseWhen: "tasks of all kinds come in",
    options: Options.auto,
    keepsLast: true,
    load: async () => {
      const [Router, { routerValues }, Effect, recurs] = await Promise.all([
        import("@forethought/patterns/Router"),
        import("./router.js"),
        effect(),
        again()
      ])
      return (task, options) =>
        Effect.flatMap(
          Effect.promise(() => answerFormat(options.text("answerFormat"))),
          (format) =>
            Effect.map(Router.run(task, routerValues(options, recurs, format)), (result) => ({
              answer:
                result.pattern === "plan-and-solve" ? valueText(result.outcome.answer) : Router.answerText(result),
              result
            }))
        )
    }
  }
]

/** One option as the patterns have it: its default may differ between them. */
export interface SharedOption {
  readonly option: PatternOption
  readonly patterns: ReadonlyArray<PatternEntry>
  /** `8`, or `7; rewoo 8` where patterns differ. */
  readonly default: string | undefined
}

/** Every option of any pattern, each name once, with the patterns that have it. */
export const allOptions = (): ReadonlyArray<SharedOption> => {
  const names = new Set(patterns.flatMap(({ options }) => options.map(({ name }) => name)))
  return [...names].flatMap((name): ReadonlyArray<SharedOption> => {
    const uses = patterns.flatMap((pattern) =>
      pattern.options.filter((option) => option.name === name).map((option) => ({ pattern, option }))
    )
    const [first] = uses
    if (first === undefined) return []
    // What the Router hands on is the chosen pattern's.
    const own = uses.filter(({ pattern }) => pattern.name !== "auto" || Options.isRouters(name))
    const standard = first.option.default
    const others = own.filter(({ option }) => option.default !== standard)
    return [
      {
        option: { ...first.option, choices: [...new Set(uses.flatMap(({ option }) => option.choices ?? []))] },
        patterns: uses.map(({ pattern }) => pattern),
        default:
          others.length === 0
            ? standard
            : `${standard ?? "none"}; ${others.map(({ option, pattern }) => `${pattern.name} ${option.default}`).join(", ")}`
      }
    ]
  })
}
