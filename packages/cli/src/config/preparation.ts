/**
 * Loads a pattern with the options that were given to it.
 */
import * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"
import * as Effect from "effect/Effect"
import { handedOn, labelsOf, textsIn } from "./options.js"
import { executorOptions, type Given, optionsOf, type PatternEntry, type Ready } from "./patterns.js"

/** Loads a pattern with its options, those of its executor and of its routes among them. */
export const prepare = (entry: PatternEntry, given: Given): Effect.Effect<Ready> =>
  Effect.gen(function* () {
    if (entry.routes === undefined) {
      const pattern = yield* Effect.promise(() => entry.load())
      return Pattern.withOptions(Pattern.loose(pattern), yield* optionValues(entry.options, entry, given))
    }
    const Router = yield* Effect.promise(() => import("@forethought/patterns/Router"))
    const { options, routes } = yield* routing(entry, given)
    const ready = yield* Effect.forEach(routes, (route) => prepare(route, handedOn(given, optionsOf(route))))
    return Pattern.withOptions(Pattern.loose(Router.pattern(ready)), options)
  })

/** Returns what the Router is to choose from, and its own options. */
export const routing = (entry: PatternEntry, given: Given) => {
  const chosen = given.get("patterns")
  const names = chosen === undefined ? undefined : String(chosen).split(",")
  const routes = (entry.routes ?? []).filter(({ name }) => names?.includes(name) !== false)
  return Effect.map(optionValues(entry.options, entry, given), (options) => ({ routes, options }))
}

/** The values for a table, as code gives them. */
const optionValues = (table: Pattern.AnyTable, owner: PatternEntry, given: Given): Effect.Effect<object> =>
  Effect.map(
    Effect.forEach(Object.entries(table), ([name, entry]) =>
      Effect.map(valueOf(name, entry, owner, given), (value) => [name, value] as const)
    ),
    (values) => Object.fromEntries(values.filter(([, value]) => value !== undefined))
  )

const valueOf = (
  name: string,
  entry: Pattern.AnyEntry | undefined,
  owner: PatternEntry,
  given: Given
): Effect.Effect<unknown> => {
  const value = given.get(name)
  if (entry?.kind === "executor") return executorOf(owner, String(value ?? entry.default), given)
  if (entry?.kind === "group") {
    const inner = Object.entries(entry.options).filter(([option]) => owner.options[option] === undefined)
    return optionValues(Object.fromEntries(inner), owner, given)
  }
  if (value === undefined || entry === undefined) return Effect.succeed(undefined)
  return entry.kind === "format" ? answerFormat(String(value)) : Effect.sync(() => inCode(entry.kind, value))
}

const inCode = (kind: Pattern.AnyEntry["kind"], value: string | number): unknown => {
  switch (kind) {
    case "code":
      return undefined
    case "reask":
      return Reask.times(Number(value))
    case "prompts":
      return textsIn(String(value))
    case "switch":
      return value === "true"
    case "count":
    case "duration":
      return Number(value)
    default:
      return value
  }
}

/** The executor that is chosen, with those of the options that are its own. */
const executorOf = (owner: PatternEntry, name: string, given: Given) =>
  Effect.gen(function* () {
    const entry = owner.executors().find((other) => other.name === name)
    if (entry === undefined) return undefined
    const own = executorOptions(entry)
    const named = [...handedOn(given, own)].filter(([option]) => own.some((other) => other.name === option))
    const pattern = yield* Effect.promise(() => entry.load())
    return Pattern.executor(Pattern.loose(pattern), yield* optionValues(entry.options, entry, new Map(named)))
  })

const answerFormat = (written: string) =>
  Effect.map(
    Effect.promise(() => import("@forethought/core/reply/AnswerFormat")),
    ({ date, number, option, text }) =>
      new Map<string, unknown>(Object.entries({ date, number, text })).get(written) ?? option(labelsOf(written))
  )
