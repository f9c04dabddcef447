/**
 * A pattern as a value: what it is, which options it takes, how it runs and what its answer is in words. Option checks,
 * tools, executors, the Router, flags and published schemas all follow from it, so each fact is told once.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as CallPath from "./CallPath.js"
import * as Executor from "./Executor.js"
import * as Options from "./Options.js"
import * as PromptTemplate from "./PromptTemplate.js"
import * as Reask from "./Reask.js"
import type { Role } from "./Role.js"
import type { PlannedStep } from "./RunEvent.js"
import type { AnswerFormat } from "./reply/AnswerFormat.js"
import * as Tool from "./Tool.js"
import type * as Toolbox from "./Toolbox.js"
import * as ToolCap from "./ToolCap.js"

// ---------------------------------------------------------------------------------------------------------------
// option tables
// ---------------------------------------------------------------------------------------------------------------

interface About {
  /** Says what the option does, without its name, unit and default. Starts in lower case. */
  readonly description: string
}

/** A whole number of at least `least`. Default of `least`: 1. */
export interface Count extends About {
  readonly kind: "count"
  readonly least?: number
  readonly default?: number
}
export interface Switch extends About {
  readonly kind: "switch"
  readonly default?: boolean
}
export interface Text extends About {
  readonly kind: "text"
  readonly default?: string
}
/** A time longer than 0. */
export interface Span extends About {
  readonly kind: "duration"
  readonly default?: string
}
export interface Choice<Word extends string> extends About {
  readonly kind: "choice"
  readonly choices: ReadonlyArray<Word>
  readonly default?: Word
}
/** The holes of a prompt, such as `question` for `{{question}}`. */
export interface Holes {
  readonly all: ReadonlyArray<string>
  /** The one without which the model is not told what it is about. */
  readonly needed?: string
}
/** Prompts in place of the default ones. */
export interface Prompts<Key extends string> extends About {
  readonly kind: "prompts"
  readonly holes: { readonly [key in Key]: Holes }
}
/**
 * The number of times that a model is asked again because its reply cannot be used: a Schedule in code, a number
 * elsewhere.
 */
export interface Again extends About {
  readonly kind: "reask"
  readonly default: number
}
/** An `AnswerFormat` in code, `number`, `date`, `text` or `option:A,B` elsewhere. */
export interface Format extends About {
  readonly kind: "format"
  readonly default: string
}
/** An executor in code, the name of a pattern elsewhere. */
export interface Steps extends About {
  readonly kind: "executor"
  readonly default: string
}
/** The options of a pattern inside: elsewhere they are options of the outer one, unless it has one of the same name. */
export interface Group<O> extends About {
  readonly kind: "group"
  readonly options: Partial<Table<O>>
}
/** Only code can give it. */
export interface CodeOnly extends About {
  readonly kind: "code"
  readonly type?: "function"
}

type Fn = (...args: never) => unknown

/** The entries that fit an option's type. */
export type Entry<T> = [Duration.DurationInput] extends [T]
  ? Span
  : [T] extends [boolean]
    ? Switch
    : [T] extends [number]
      ? Count
      : [T] extends [string]
        ? string extends T
          ? Text
          : Choice<T>
        : [Reask.Reask] extends [T]
          ? Again
          : [T] extends [AnswerFormat<unknown>]
            ? Format
            : [T] extends [Fn]
              ? Steps | CodeOnly
              : [T] extends [{ readonly [key: string]: string | undefined }]
                ? Prompts<keyof T & string> | CodeOnly
                : [T] extends [object]
                  ? Group<T> | CodeOnly
                  : CodeOnly

/** One entry for each option of `O`, none left out and none too many. */
export type Table<O> = { readonly [K in keyof O]-?: Entry<NonNullable<O[K]>> }

/** Any entry. */
export type AnyEntry =
  | Count
  | Switch
  | Text
  | Span
  | Choice<string>
  | Prompts<string>
  | Again
  | Format
  | Steps
  | { readonly kind: "group"; readonly description: string; readonly options: AnyTable }
  | CodeOnly

/** Any table, by the names of the options. */
export interface AnyTable {
  readonly [name: string]: AnyEntry | undefined
}

/** Checked options: with defaults, durations in milliseconds. What has no default is as it was given. */
export type Settings<O, T> = {
  readonly [K in keyof O & keyof T]-?: T[K] extends { readonly kind: "duration"; readonly default: unknown }
    ? number
    : T[K] extends { readonly kind: "count" | "switch" | "text" | "choice" | "reask"; readonly default: unknown }
      ? NonNullable<O[K]>
      : O[K]
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The plain data that is known of a pattern without loading it. */
export interface Info<Name extends string = string, T = AnyTable> {
  /** Lower case, with `-` between words: `plan-and-execute`. */
  readonly name: Name
  /** Says what it does, as the rest of a sentence that begins with its name. */
  readonly summary: string
  /** For which tasks it is meant, as the Router tells a model. */
  readonly chooseWhen: string
  readonly tools: "needed" | "optional" | "unused"
  /** The roles that it asks. */
  readonly roles: ReadonlyArray<Role>
  /** True if it shows a plan through `PlanApproval.approve` before anything runs. Default: false. */
  readonly plans?: boolean
  /** True if a last call answers from what was gathered: a part of a run's limits is kept for it. Default: false. */
  readonly keepsLast?: boolean
  /** Options that an executor gets from its caller: each is the caller's `maxToolCalls` and so many more. */
  readonly within?: { readonly [option: string]: number }
  readonly options: T
}

/** An error as every pattern has them. */
export interface Tagged extends Error {
  readonly _tag: string
}

/** The number of calls to expect. Without `most`, nothing bounds them. */
export interface Range {
  readonly least: number
  readonly most?: number
}

/** The calls of a run, those that make its plan included. */
export interface Calls {
  readonly model: Range
  readonly tool: Range
}

/** Codecs of what a run gives and fails with. */
export interface Codecs {
  readonly result: Schema.Schema.AnyNoContext
  readonly error: Schema.Schema.AnyNoContext
}

/** A pattern with options `O` that answers with `A`. */
export interface Pattern<Name extends string, O, A, E extends Tagged, R> extends Info<Name, Table<O>> {
  readonly run: (task: string, options?: O) => Effect.Effect<A, E, R>
  // Methods, so that a list of different patterns has a type.
  /** Returns the answer as text. */
  answer(answered: A): string
  /** Returns the calls to expect, more closely where the steps of the plan are known. */
  calls?(options: NoInfer<O>, plan: ReadonlyArray<PlannedStep> | undefined): Calls
  /** Returns how the tool calls of a run ended, if it counts them. */
  toolCalls?(answered: A): NonNullable<Executor.ExecutorResult["toolCalls"]>
  /** Loads the codecs. */
  codecs?(): Promise<Codecs>
}

/** Any pattern that needs `R`, or less. */
export interface Any<R = unknown> extends Info {
  readonly run: (task: string, options?: never) => Effect.Effect<unknown, Tagged, R>
  answer(answered: unknown): string
  calls?(options: unknown, plan: ReadonlyArray<PlannedStep> | undefined): Calls
  toolCalls?(answered: unknown): NonNullable<Executor.ExecutorResult["toolCalls"]>
  codecs?(): Promise<Codecs>
}

type RunOf<P> = P extends {
  readonly run: (task: string, options?: never) => Effect.Effect<infer A, infer E, infer R>
}
  ? readonly [A, E, R]
  : readonly [never, never, never]
export type OptionsOf<P> = P extends { readonly run: (task: string, options?: infer O) => unknown }
  ? NonNullable<O>
  : never
export type NameOf<P> = P extends { readonly name: infer Name extends string } ? Name : never
export type AnsweredOf<P> = P extends P ? RunOf<P>[0] : never
export type ErrorOf<P> = P extends P ? RunOf<P>[1] : never
export type RequirementsOf<P> = P extends P ? RunOf<P>[2] : never

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * Makes a pattern. Name, answer, errors and requirements are inferred from `run`; the table must have an entry for each
 * of its options.
 *
 * @example
 * ```ts
 * const echo = Pattern.make({
 *   name: "echo", summary: "says the task again", chooseWhen: "the task is to be repeated",
 *   tools: "unused", roles: [], options: {},
 *   run: (task: string, _options?: {}) => Effect.succeed({ _tag: "Answered" as const, answer: task }),
 *   answer: ({ answer }) => answer
 * })
 * ```
 */
export const make = <const Name extends string, O, A, E extends Tagged, R>(
  pattern: Omit<Pattern<Name, O, A, E, R>, "options"> & { readonly options: Table<NoInfer<O>> }
): Pattern<Name, O, A, E, R> => pattern

/** A pattern whose options come from outside of code: its table alone says which they are. */
export type Loose<R = unknown> = Pattern<string, object, unknown, Tagged, R> & Pick<Info, "options">

/**
 * Returns any pattern as one whose options come from outside; check them against its table, as {@link withOptions}
 * does.
 */
export const loose = <R>(pattern: Any<R>): Loose<R> => pattern as Loose<R>

/** Returns the pattern with other defaults, in its table too. Throws an `InvalidOption` on a wrong one. */
export const withOptions = <P extends Any>(pattern: P, defaults: OptionsOf<P>): P => {
  check(pattern, defaults)
  const given: { readonly [name: string]: unknown } = { ...defaults }
  const { calls, run } = loose(pattern)
  const options = Object.entries(pattern.options).map(([name, entry]) => {
    const isShown = entry !== undefined && "default" in entry && typeof entry.default === typeof given[name]
    return [name, isShown ? { ...entry, default: given[name] } : entry]
  })
  return Object.assign(
    { ...pattern },
    { run: (task: string, own?: object) => run(task, { ...defaults, ...own }), options: Object.fromEntries(options) },
    calls === undefined
      ? {}
      : { calls: (own: object, plan?: ReadonlyArray<PlannedStep>) => calls({ ...defaults, ...own }, plan) }
  )
}

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

/**
 * Checks options against a table, and returns them with defaults. Throws an `InvalidOption` on one that is unknown or
 * wrong.
 *
 * @param owner what takes the options, for the message: `ReAct.run`.
 */
export const settings = <O extends object, T extends object>(owner: string, table: T, options: O): Settings<O, T> => {
  const checked = checkTable(owner, table, options)
  // The one place where a mapped type is built key by key.
  return checked as Settings<O, T>
}

/** Checks options of a pattern as {@link settings} does. */
export const check = (
  pattern: { readonly name: string; readonly options: object },
  options: object,
  owner: string = pattern.name
): void => {
  checkTable(owner, pattern.options, options)
}

const checkTable = (owner: string, table: object, options: object): { readonly [name: string]: unknown } => {
  const entries: ReadonlyArray<[string, AnyEntry]> = Object.entries(table)
  Options.rejectUnknown(
    owner,
    options,
    entries.map(([name]) => name)
  )
  const given: { readonly [name: string]: unknown } = { ...options }
  return Object.fromEntries(entries.map(([name, entry]) => [name, setting(owner, name, entry, given[name])]))
}

const setting = (owner: string, name: string, entry: AnyEntry, given: unknown): unknown => {
  const standard = "default" in entry ? entry.default : undefined
  const value = given === undefined ? standard : given
  if (entry.kind === "reask" && given === undefined) return Reask.times(entry.default)
  if (value === undefined) return undefined
  switch (entry.kind) {
    case "count":
      return Options.wholeNumber(owner, name, value, entry.least)
    case "duration":
      return Options.positiveMillis(owner, name, value)
    case "choice":
      return Options.oneOf(owner, name, value, entry.choices)
    case "reask":
      return Options.schedule(owner, name, value)
    case "executor":
      return given === undefined ? undefined : Options.fn(owner, name, given)
    case "format":
      return given === undefined ? undefined : Options.answerFormat(owner, name, given)
    case "prompts":
      Options.rejectUnknown(`${owner}, ${name}`, Object(value), Object.keys(entry.holes))
      for (const [key, text] of Object.entries(Object(value))) {
        PromptTemplate.checkHoles(String(text), entry.holes[key]?.all ?? [])
      }
      return value
    case "group":
      checkTable(`${owner}, ${name}`, entry.options, Object(value))
      return value
    case "code":
      return entry.type === "function" ? Options.fn(owner, name, value) : value
    case "switch":
    case "text":
      return value
  }
}

/**
 * Returns the options that are data, as `RunStarted` tells them: durations in milliseconds, a Schedule that was given
 * as `"custom"`, an executor and a format by name. Prompts are left out where none is given.
 */
export const told = (table: object, options: object): { readonly [name: string]: unknown } => {
  const entries: ReadonlyArray<[string, AnyEntry]> = Object.entries(table)
  const given: { readonly [name: string]: unknown } = { ...options }
  return Object.fromEntries(
    entries.flatMap(([name, entry]) => {
      const value = toldOption(entry, given[name])
      return value === undefined ? [] : [[name, value]]
    })
  )
}

const toldOption = (entry: AnyEntry, value: unknown): unknown => {
  const standard = "default" in entry ? entry.default : undefined
  switch (entry.kind) {
    case "duration":
      return Options.positiveMillis("", "", value ?? standard)
    case "reask":
      return value === undefined ? standard : (Reask.timesOf(Options.schedule("", "", value)) ?? "custom")
    case "format":
    case "executor":
      return nameOf(value) ?? standard
    case "group":
      return told(entry.options, Object(value))
    case "code":
      return undefined
    default:
      return value ?? standard
  }
}

const nameOf = (value: unknown): unknown =>
  (typeof value === "object" || typeof value === "function") && value !== null && "name" in value
    ? value.name === ""
      ? "custom"
      : value.name
    : undefined

// ---------------------------------------------------------------------------------------------------------------
// as a tool, as an executor
// ---------------------------------------------------------------------------------------------------------------

/** The name and description of a pattern as a tool, for a model. */
export interface Presentation {
  /** Default: the pattern's name, with `_` for `-`. */
  readonly name?: string
  /** Default: what the pattern does, and when to choose it. */
  readonly description?: string
  /** Longest time one run may take. Default: no limit of its own. */
  readonly timeout?: Duration.DurationInput
}

/** Returns what a pattern does and when to choose it, for a model. */
export const description = ({ chooseWhen, summary }: Pick<Info, "chooseWhen" | "summary">): string =>
  `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. Choose it when: ${chooseWhen}.`

/**
 * Makes a tool that takes a task as its one string and gives the answer as text.
 *
 * The run's calls are named under the tool call, so that a replay gives the same ids. A failure of the run is the
 * tool's failure, in the error's words. To its caller the run is one tool call, whatever it does inside: it has caps of
 * its own. Throws an `InvalidOption` on a wrong option.
 */
export const asTool = <Name extends string, O extends object, A, E extends Tagged, R>(
  pattern: Pattern<Name, O, A, E, R>,
  presentation: Presentation = {},
  options?: NoInfer<O>
): Tool.Tool<R> => {
  const owner = `${pattern.name} as a tool`
  Options.rejectUnknown(owner, presentation, ["name", "description", "timeout"])
  check(pattern, options ?? {}, owner)
  return Tool.make({
    name: presentation.name ?? pattern.name.replaceAll("-", "_"),
    description: presentation.description ?? description(pattern),
    ...(presentation.timeout === undefined ? {} : { timeout: presentation.timeout }),
    execute: (task, { call }) =>
      Effect.map(pattern.run(task, options), (answered) => pattern.answer(answered)).pipe(CallPath.at(call))
  })
}

/**
 * Makes an executor that carries out a step by a run of the pattern. The caller's `maxToolCalls` bounds the tool calls
 * of the run, and gives the options that `within` names. Throws an `InvalidOption` on a wrong option.
 */
export const executor = <Name extends string, O extends object, A, E extends Tagged, R>(
  pattern: Pattern<Name, O, A, E, R>,
  options?: Partial<NoInfer<O>>
): Executor.Executor<E, R | Toolbox.Toolbox> => {
  const owner = `${pattern.name} as an executor`
  const within = Object.entries(pattern.within ?? {})
  const taken = Object.keys(pattern.options).filter((name) => pattern.within?.[name] === undefined)
  Options.rejectUnknown(owner, options ?? {}, taken)
  check(pattern, options ?? {}, owner)
  const table: AnyTable = pattern.options
  const bounds = (maxToolCalls: number) =>
    within.map(([name, more]) => [name, Math.max(leastOf(table[name]), maxToolCalls + more)] as const)
  // The table says that these are counts.
  const optionsOf = (maxToolCalls: number) => ({ ...options, ...Object.fromEntries(bounds(maxToolCalls)) }) as O
  const modelCalls = (maxToolCalls: number) => pattern.calls?.(optionsOf(maxToolCalls), undefined).model
  const execute: Executor.Executor<E, R | Toolbox.Toolbox> = (input) =>
    pattern.run(Executor.taskOf(input), optionsOf(input.maxToolCalls)).pipe(
      Effect.map((answered) => ({
        status: "completed" as const,
        result: pattern.answer(answered),
        ...(pattern.toolCalls === undefined ? {} : { toolCalls: pattern.toolCalls(answered) })
      })),
      ToolCap.within(input.maxToolCalls),
      CallPath.at(input.call)
    )
  return Object.defineProperty(Object.assign(execute, { modelCalls }), "name", { value: pattern.name })
}

const leastOf = (entry: AnyEntry | undefined): number => (entry?.kind === "count" ? (entry.least ?? 1) : 0)
