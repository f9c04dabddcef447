/**
 * The Router: one model call that chooses the pattern for a task.
 *
 * Use it where tasks of all kinds come in. Where you know the kind, run its pattern: that saves a call.
 *
 * Source: the table in the specification. The prompt is ours.
 */
import type * as Llm from "@forethought/core/Llm"
import * as Options from "@forethought/core/Options"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import * as Run from "@forethought/core/Run"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import type * as Toolbox from "@forethought/core/Toolbox"
import * as Effect from "effect/Effect"
import * as Adapt from "./Adapt.js"
import { readRoute } from "./internal/router/parse.js"
import * as prompts from "./internal/router/prompts.js"
import * as PlanAndExecute from "./PlanAndExecute.js"
import * as PlanAndSolve from "./PlanAndSolve.js"
import * as PlanAndSolveAgent from "./PlanAndSolveAgent.js"
import * as ReAct from "./ReAct.js"
import * as Rewoo from "./Rewoo.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The patterns by name. */
export type Pattern = keyof typeof prompts.whenToChoose

/** When to choose which pattern, in words. */
export const whenToChoose: { readonly [pattern in Pattern]: string } = prompts.whenToChoose

/** Every pattern's name, in a fixed order. */
export const patterns: ReadonlyArray<Pattern> = [
  "react",
  "plan-and-solve",
  "rewoo",
  "rewoo-parallel",
  "plan-and-solve-agent",
  "plan-and-execute",
  "adapt"
]

export interface Route {
  readonly pattern: Pattern
  /** The model's reason; for a fallback, why it was taken. */
  readonly reason: string
}

/** The chosen pattern's own success, beside the choice. */
export type Routed =
  | (Route & { readonly pattern: "react"; readonly outcome: ReAct.Answered })
  | (Route & { readonly pattern: "plan-and-solve"; readonly outcome: PlanAndSolve.Answered<unknown> })
  | (Route & { readonly pattern: "rewoo" | "rewoo-parallel"; readonly outcome: Rewoo.Answered })
  | (Route & { readonly pattern: "plan-and-solve-agent"; readonly outcome: PlanAndSolveAgent.Answered })
  | (Route & { readonly pattern: "plan-and-execute"; readonly outcome: PlanAndExecute.Answered })
  | (Route & { readonly pattern: "adapt"; readonly outcome: Adapt.Answered })

/** What the chosen pattern can fail with. */
export type Error =
  | Llm.LlmError
  | ReAct.Error
  | PlanAndSolve.Error
  | Rewoo.Error
  | PlanAndSolveAgent.Error
  | PlanAndExecute.Error
  | Adapt.Error

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

export interface RouteOptions {
  /** The patterns to choose from, at least one. Default: all. */
  readonly patterns?: ReadonlyArray<Pattern>
  /** What is chosen when the reply cannot be read. Default: `react`, or the first of `patterns` if it is not among them. */
  readonly fallback?: Pattern
  /** The prompt in place of the default one. Its holes: `patterns`, `task`. */
  readonly prompts?: { readonly router?: string }
  /** How often the router is asked again, with the error appended. Default: once. */
  readonly reask?: Reask.Reask
}

/** How each pattern runs when it is chosen. */
export interface RunOptions extends RouteOptions {
  readonly react?: ReAct.RunOptions
  /** Default of its `answerFormat`: `AnswerFormat.text`, any text. */
  readonly planAndSolve?: PlanAndSolve.RunOptions<unknown>
  readonly rewoo?: Rewoo.ParallelOptions
  readonly planAndSolveAgent?: PlanAndSolveAgent.RunOptions
  readonly planAndExecute?: PlanAndExecute.RunOptions<unknown, Llm.Llm | Toolbox.Toolbox>
  readonly adapt?: Adapt.RunOptions<unknown, Llm.Llm | Toolbox.Toolbox>
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Chooses a pattern. One model call, one more for each time the model is asked again. A reply that cannot be read gives
 * the fallback, and the event says so; a model that gives no reply is an `LlmError`.
 */
export const route = (task: string, options: RouteOptions = {}): Effect.Effect<Route, Llm.LlmError, Llm.Llm> => {
  Options.rejectUnknown("Router.route", options, routeKeys)
  const settings = check("Router.route", options)
  return Run.run("router", task, (run) => choose(run, task, settings))
}

/** Chooses a pattern and runs it on the task. The pattern's calls are named under its name, such as `react/turn-1`. */
export const run = (
  task: string,
  options: RunOptions = {}
): Effect.Effect<Routed, Error, Llm.Llm | Toolbox.Toolbox> => {
  Options.rejectUnknown("Router.run", options, [...routeKeys, ...runKeys])
  const settings = check("Router.run", options)
  // Made and not run: a wrong option of any pattern is seen here.
  if (options.rewoo !== undefined) Rewoo.parallel("", options.rewoo)
  for (const pattern of settings.patterns) runPattern(pattern, "", options, "")
  return Run.run("router", task, (run) =>
    Effect.flatMap(choose(run, task, settings), ({ pattern, reason }) =>
      Run.nested(run, pattern, runPattern(pattern, task, options, reason))
    )
  )
}

const runPattern = (
  pattern: Pattern,
  task: string,
  options: RunOptions,
  reason: string
): Effect.Effect<Routed, Error, Llm.Llm | Toolbox.Toolbox> => {
  switch (pattern) {
    case "react":
      return Effect.map(ReAct.run(task, options.react), (outcome) => ({ pattern, reason, outcome }))
    case "plan-and-solve":
      return Effect.map(
        PlanAndSolve.run<unknown>(task, options.planAndSolve ?? { answerFormat: AnswerFormat.text }),
        (outcome) => ({ pattern, reason, outcome })
      )
    case "rewoo": {
      const { concurrency: _, ...rewoo } = options.rewoo ?? {}
      return Effect.map(Rewoo.sequential(task, rewoo), (outcome) => ({ pattern, reason, outcome }))
    }
    case "rewoo-parallel":
      return Effect.map(Rewoo.parallel(task, options.rewoo), (outcome) => ({ pattern, reason, outcome }))
    case "plan-and-solve-agent":
      return Effect.map(PlanAndSolveAgent.run(task, options.planAndSolveAgent), (outcome) => ({
        pattern,
        reason,
        outcome
      }))
    case "plan-and-execute":
      return Effect.map(PlanAndExecute.run(task, options.planAndExecute), (outcome) => ({ pattern, reason, outcome }))
    case "adapt":
      return Effect.map(Adapt.run(task, options.adapt), (outcome) => ({ pattern, reason, outcome }))
  }
}

/** The answer of a routed run as text, whatever the pattern. */
export const answerText = (routed: Routed): string => {
  switch (routed.pattern) {
    case "plan-and-solve":
      return routed.outcome.text
    case "plan-and-solve-agent":
    case "plan-and-execute":
      return routed.outcome.answer
    case "adapt":
      return Adapt.resultText(routed.outcome.result)
    default:
      return routed.outcome.answer
  }
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Settings {
  readonly patterns: ReadonlyArray<Pattern>
  readonly fallback: Pattern
  readonly router: typeof prompts.router
  readonly reask: Reask.Reask
}

const routeKeys = ["patterns", "fallback", "prompts", "reask"]
const runKeys = ["react", "planAndSolve", "rewoo", "planAndSolveAgent", "planAndExecute", "adapt"]

const check = (owner: string, options: RouteOptions): Settings => {
  Options.rejectUnknownIn(owner, "prompts", options.prompts, ["router"])
  const offered = options.patterns ?? patterns
  for (const pattern of offered) Options.oneOf(owner, "patterns", pattern, patterns)
  const [first] = offered
  if (first === undefined) throw new RangeError(`${owner}: patterns must name at least one pattern.`)
  return {
    patterns: offered,
    fallback: Options.oneOf(
      owner,
      "fallback",
      options.fallback ?? (offered.includes("react") ? "react" : first),
      offered
    ),
    router: PromptTemplate.override(prompts.router, options.prompts?.router),
    reask: Options.schedule(owner, "reask", options.reask ?? Reask.once)
  }
}

const choose = (run: Run.Run, task: string, settings: Settings): Effect.Effect<Route, Llm.LlmError> =>
  Reask.ask(run, {
    role: "router",
    call: "router",
    messages: [
      {
        role: "user",
        content: PromptTemplate.render(settings.router, {
          task,
          patterns: settings.patterns.map((pattern) => `- ${pattern}: ${whenToChoose[pattern]}`).join("\n")
        })
      }
    ],
    format: {
      name: "route",
      schema: {
        type: "object",
        properties: { pattern: { type: "string", enum: settings.patterns }, reason: { type: "string" } },
        required: ["pattern", "reason"],
        additionalProperties: false
      }
    },
    reask: settings.reask,
    read: (reply) => readRoute(reply, settings.patterns)
  }).pipe(
    Effect.map((route) => ({ ...route, fallback: false })),
    Effect.catchAll((error) =>
      error._tag === "LlmError" && error.reason._tag !== "EmptyReply"
        ? Effect.fail(error)
        : Effect.succeed({ pattern: settings.fallback, reason: `Fallback: ${error.message}`, fallback: true })
    ),
    Effect.tap((route) => run.emit({ _tag: "Routed", ...route })),
    Effect.map(({ pattern, reason }) => ({ pattern, reason }))
  )
