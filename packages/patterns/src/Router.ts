/**
 * The Router: one model call that chooses the pattern for a task.
 *
 * Use it where tasks of all kinds come in. Where you know the kind, run its pattern: that saves a call.
 *
 * Source: the table in the specification. The prompt is ours.
 */
import type * as Llm from "@forethought/core/Llm"
import { InvalidOption } from "@forethought/core/Options"
import * as Pattern from "@forethought/core/Pattern"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as Reask from "@forethought/core/Reask"
import * as Run from "@forethought/core/Run"
import * as Effect from "effect/Effect"
import { catalogue } from "./catalogue.js"
import { endsRun, prompt } from "./internal/ask.js"
import { oneOf, record, text } from "./internal/jsonSchema.js"
import { info } from "./internal/router/info.js"
import { readRoute } from "./internal/router/parse.js"
import * as prompts from "./internal/router/prompts.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A pattern to choose from: a `Pattern`, or what is known of one without loading it. */
export type Choice<Name extends string = string> = Pick<Pattern.Info<Name>, "name" | "chooseWhen">

export interface Route<Name extends string = string> {
  readonly pattern: Name
  /** The model's reason; for a fallback, why it was taken. */
  readonly reason: string
}

/** The choice, with the answer of the chosen pattern. */
export type Routed<P extends Pattern.Any> = P extends P
  ? Route<Pattern.NameOf<P>> & { readonly answer: string; readonly outcome: Pattern.AnsweredOf<P> }
  : never

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

interface Asking {
  /** The prompt in place of the default one. Its holes: `patterns`, `task`. */
  readonly prompts?: { readonly router?: string }
  /** Asks the router again when its reply cannot be used, with the error appended. Default: once. */
  readonly reask?: Reask.Reask
}

export interface RouteOptions<Patterns extends ReadonlyArray<Choice> = ReadonlyArray<Choice>> extends Asking {
  /** The patterns to choose from, at least one. Default: those of this package. */
  readonly patterns?: Patterns
  /** The name of what is chosen when the reply cannot be read. Default: the first of `patterns`. */
  readonly fallback?: NoInfer<Pattern.NameOf<Patterns[number]>>
}

export interface RunOptions<Patterns extends ReadonlyArray<Pattern.Any>> extends Asking {
  /** The patterns to choose from, at least one; `Pattern.withOptions` says how each runs. */
  readonly patterns: Patterns
  /** The name of what is chosen when the reply cannot be read. Default: the first of `patterns`. */
  readonly fallback?: NoInfer<Pattern.NameOf<Patterns[number]>>
}

// ---------------------------------------------------------------------------------------------------------------
// running
// ---------------------------------------------------------------------------------------------------------------

/**
 * Chooses a pattern. One model call, one more for each time the model is asked again. A reply that cannot be read gives
 * the fallback, and the event says so; a model that gives no reply is an `LlmError`.
 */
export const route = <const Patterns extends ReadonlyArray<Choice>>(
  task: string,
  options: RouteOptions<Patterns> = {}
): Effect.Effect<Route<Pattern.NameOf<Patterns[number]>>, Llm.LlmError, Llm.Llm> => {
  const settings = settingsOf("Router.route", options, options.patterns ?? catalogue)
  return Run.run(
    "router",
    task,
    (run) => Effect.map(choose(run, task, settings), ({ name, reason }) => ({ pattern: name, reason })),
    { options: () => told(settings) }
  ) as Effect.Effect<Route<Pattern.NameOf<Patterns[number]>>, Llm.LlmError, Llm.Llm>
}

/**
 * Chooses a pattern and runs it on the task. The pattern's calls are named under its name, such as `react/turn-1`.
 *
 * @example
 * ```ts
 * const routed = Router.run(task, { patterns: [ReAct.pattern, PlanAndExecute.pattern, mine], fallback: "react" })
 * ```
 */
export const run = <const Patterns extends ReadonlyArray<Pattern.Any>>(
  task: string,
  options: RunOptions<Patterns>
): Effect.Effect<
  Routed<Patterns[number]>,
  Llm.LlmError | Pattern.ErrorOf<Patterns[number]>,
  Llm.Llm | Pattern.RequirementsOf<Patterns[number]>
> => {
  const settings = settingsOf("Router.run", options, options.patterns)
  const routed = Run.run(
    "router",
    task,
    (run) =>
      Effect.flatMap(choose(run, task, settings), ({ chosen, name, reason }) =>
        Effect.map(Run.nested(run, name, chosen.run(task)), (outcome) => ({
          pattern: name,
          reason,
          answer: chosen.answer(outcome),
          outcome
        }))
      ),
    { options: () => told(settings) }
  )
  // The one place where the list gives its types back to the result.
  return routed as Effect.Effect<
    Routed<Patterns[number]>,
    Llm.LlmError | Pattern.ErrorOf<Patterns[number]>,
    Llm.Llm | Pattern.RequirementsOf<Patterns[number]>
  >
}

/** The Router over some patterns as a value, such as for a runner: see `Pattern`. */
export const pattern = <R>(patterns: ReadonlyArray<Pattern.Any<R>>) =>
  Pattern.make({
    ...info,
    run: (task: string, options: Asking & { readonly fallback?: string } = {}) => run(task, { patterns, ...options }),
    answer: ({ answer }) => answer,
    codecs: async () => (await import("./internal/router/codec.js")).codecs(patterns)
  })

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Settings<C extends Choice> {
  readonly patterns: ReadonlyArray<C>
  readonly fallback: C
  readonly router: typeof prompts.router
  readonly reask: Reask.Reask
}

const listed = { kind: "code", description: "the patterns to choose from" } as const

const settingsOf = <C extends Choice>(
  owner: string,
  options: Asking & { readonly fallback?: string },
  patterns: ReadonlyArray<C>
): Settings<C> => {
  const { prompts: own, reask } = Pattern.settings(owner, { patterns: listed, ...info.options }, options)
  const problem = (option: string, problem: string) => new InvalidOption({ owner, option, problem })
  const names = patterns.map(({ name }) => name)
  const [first] = patterns
  if (first === undefined) throw problem("patterns", "patterns must hold at least one pattern.")
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw problem("patterns", `patterns holds two patterns named ${JSON.stringify(twice)}.`)
  const fallback = options.fallback === undefined ? first : patterns.find(({ name }) => name === options.fallback)
  if (fallback === undefined) {
    const known = names.map((name) => JSON.stringify(name)).join(" or ")
    throw problem("fallback", `fallback must be ${known}, got ${JSON.stringify(options.fallback)}.`)
  }
  return { patterns, fallback, reask, ...PromptTemplate.overrides({ router: prompts.router }, own) }
}

const told = ({ fallback, patterns, reask }: Settings<Choice>) => ({
  patterns: patterns.map(({ name }) => name),
  fallback: fallback.name,
  reask: Reask.timesOf(reask) ?? "custom"
})

const choose = <C extends Choice>(run: Run.Run, task: string, settings: Settings<C>) => {
  const { fallback, patterns, reask, router } = settings
  const names = patterns.map(({ name }) => name)
  return Reask.ask(run, {
    role: "router",
    call: "router",
    messages: prompt(router, {
      task,
      patterns: patterns.map(({ chooseWhen, name }) => `- ${name}: ${chooseWhen}`).join("\n")
    }),
    format: { name: "route", schema: record({ pattern: oneOf(names), reason: text }) },
    reask,
    read: (reply) => readRoute(reply, names)
  }).pipe(
    Effect.map((route) => ({ ...route, fallback: false })),
    Effect.catchAll((error) =>
      endsRun(error)
        ? Effect.fail(error)
        : Effect.succeed({ pattern: fallback.name, reason: `Fallback: ${error.message}`, fallback: true })
    ),
    Effect.tap((route) => run.emit({ _tag: "Routed", ...route })),
    Effect.map(({ pattern, reason }) => ({
      name: pattern,
      reason,
      chosen: patterns.find(({ name }) => name === pattern) ?? fallback
    }))
  )
}
