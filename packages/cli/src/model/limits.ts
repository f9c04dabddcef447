/**
 * Reads what a run may use, and makes the Layers that keep it.
 */
import * as ListedPrices from "@forethought/ai/Prices"
import type * as Llm from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { readOption } from "../config/options.js"
import { reading } from "../config/reading.js"
import { type Given, optional, text, wrong } from "../config/sources.js"
import { UsageError } from "../errors.js"
import type { Model, Models } from "./models.js"

type Price = ListedPrices.Price

export interface Limits {
  readonly calls?: number
  readonly outputTokens?: number
  /** In US dollars. */
  readonly money?: number
  /** In milliseconds. */
  readonly wallTime?: number
  readonly maxConcurrent?: number
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  /** The price of every model, in place of the listed ones. */
  readonly price?: Price
}

/** Reads the limits and checks them. */
export const readLimits: Effect.Effect<Limits, UsageError> = Effect.suspend(() => {
  const number = (name: string, kind: "count" | "duration") =>
    optional(name, ({ source, value }) =>
      typeof value === "string" || typeof value === "number"
        ? reading(() => Number(readOption({ name, description: "", kind }, value, source, ".")))
        : wrong(`${source} must be a string or a number.`)
    )
  return Effect.map(
    Effect.all({
      calls: number("maxCalls", "count"),
      outputTokens: number("maxOutputTokens", "count"),
      money: optional("maxCost", readMoney),
      wallTime: number("maxTime", "duration"),
      maxConcurrent: number("maxConcurrent", "count"),
      requestsPerMinute: number("requestsPerMinute", "count"),
      tokensPerMinute: number("tokensPerMinute", "count"),
      price: optional("price", readPrice)
    }),
    defined
  )
})

const defined = (limits: { readonly [name in keyof Limits]: Limits[name] | undefined }): Limits =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))

const amount = (written: string): number => {
  const plain = written.trim().replace(/^\$/, "")
  return /^\d{1,9}(\.\d{1,9})?$/.test(plain) ? Number(plain) : Number.NaN
}

const readMoney = ({ source, value }: Given): Effect.Effect<number, UsageError> => {
  const money = amount(String(value))
  return money > 0
    ? Effect.succeed(money)
    : wrong(`${source} must be US dollars, such as 0.05, got ${JSON.stringify(value)}.`)
}

const readPrice = (given: Given): Effect.Effect<Price, UsageError> =>
  Effect.flatMap(text(given), (written) => {
    const parts = written.split(",").map(amount)
    const [inputPerMillion = Number.NaN, outputPerMillion = Number.NaN] = parts
    return parts.length === 2 && !Number.isNaN(inputPerMillion) && !Number.isNaN(outputPerMillion)
      ? Effect.succeed({ inputPerMillion, outputPerMillion })
      : wrong(
          `${given.source} must be US dollars for a million input and output tokens, such as 0.4,1.6, got ${JSON.stringify(given.value)}.`
        )
  })

/** Returns what a model costs: as given, as listed, nothing if it runs at home; `undefined` if nobody knows. */
const priceOf = (model: Model, limits: Limits): Price | undefined => {
  if (limits.price !== undefined) return limits.price
  const { spec } = model
  if (spec === undefined || "file" in spec || spec.kind === "ollama") return { inputPerMillion: 0, outputPerMillion: 0 }
  // A gateway can ask another price for a model of the same name.
  if (spec.kind === "openai-compatible") return undefined
  return ListedPrices.of(spec.model)
}

export interface Prices {
  /** Returns what a role's model costs; of one with a fallback the dearer of the two; `undefined` if nobody knows. */
  readonly of: (role: Llm.Role) => Price | undefined
  /** The models of which nobody knows it. */
  readonly unknown: ReadonlyArray<Model>
}

/** Looks up what the models cost. */
export const pricesOf = (models: Models, limits: Limits): Prices => {
  const all = [models.default, ...models.roles.values(), ...(models.fallback === undefined ? [] : [models.fallback])]
  const prices = new Map(all.map((model) => [model, priceOf(model, limits)]))
  const price = (role: Llm.Role): Price | undefined => {
    const first = prices.get(models.roles.get(role) ?? models.default)
    if (models.fallback === undefined) return first
    const second = prices.get(models.fallback)
    if (first === undefined || second === undefined) return undefined
    return {
      inputPerMillion: Math.max(first.inputPerMillion, second.inputPerMillion),
      outputPerMillion: Math.max(first.outputPerMillion, second.outputPerMillion)
    }
  }
  return { of: price, unknown: all.filter((model) => prices.get(model) === undefined) }
}

type Wrap = <E>(model: Layer.Layer<Llm.Llm, E>) => Layer.Layer<Llm.Llm, E>

/** The Layers of the limits. */
export interface Limiting {
  /** Keeps the rates and the number of calls at once, for everything that asks the models. */
  readonly rates: Wrap
  /** Keeps the calls, tokens, money and time of one run. */
  readonly budget: Wrap
}

/**
 * Makes the Layers. Where `keepsLast`, a part of each bound is kept for the call that answers, by the solver or the
 * finalizer: one call, and a fifth of the tokens, the money and the time.
 */
export const limiting = (limits: Limits, models: Models, keepsLast: boolean): Effect.Effect<Limiting, UsageError> =>
  Effect.gen(function* () {
    const { calls, maxConcurrent, money, outputTokens, price, requestsPerMinute, tokensPerMinute, wallTime } = limits
    const rate = { maxConcurrent, requestsPerMinute, tokensPerMinute }
    const bounds = { calls, outputTokens, money, wallTime }
    const isSet = (values: object) => Object.values(values).some((value) => value !== undefined)
    const fifth = (bound: number | undefined) => (bound === undefined ? undefined : bound / 5)
    const reserve = {
      calls: calls === undefined || calls < 2 ? undefined : 1,
      outputTokens: outputTokens === undefined ? undefined : Math.floor(outputTokens / 5),
      money: fifth(money),
      wallTime: fifth(wallTime)
    }
    const prices = money === undefined ? {} : { price: yield* knownPrices(models, limits) }
    const priced: Wrap = price === undefined ? (model) => model : ListedPrices.layer(price)
    const RateLimit = isSet(rate) ? yield* Effect.promise(() => import("@forethought/ai/RateLimit")) : undefined
    const Budget = isSet(bounds) ? yield* Effect.promise(() => import("@forethought/ai/Budget")) : undefined
    return {
      rates: (model) => (RateLimit === undefined ? priced(model) : RateLimit.layer(rate)(priced(model))),
      budget: Budget?.layer({ ...bounds, ...prices, ...(keepsLast ? { reserve } : {}) }) ?? ((model) => model)
    }
  })

const knownPrices = (models: Models, limits: Limits): Effect.Effect<(role: Llm.Role) => Price, UsageError> => {
  const prices = pricesOf(models, limits)
  const [unknown] = prices.unknown
  return unknown === undefined
    ? Effect.succeed((role) => prices.of(role) ?? { inputPerMillion: 0, outputPerMillion: 0 })
    : Effect.fail(
        new UsageError(
          `--max-cost needs the price of ${unknown.label}, which is not listed. Give it with --price <in,out>, in US dollars for a million tokens.`
        )
      )
}
