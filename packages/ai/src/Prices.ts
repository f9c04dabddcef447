/**
 * Lists what models cost, for a `Budget` in money and for the `cost` of a reply. Prices change: look at the date, and
 * give your own if it matters.
 */
import type { Llm, Reply, Role } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { wrap } from "./internal/wrap.js"

/** In US dollars for a million tokens. */
export interface Price {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
}

/** A price with where it comes from. Without discounts for batches and cached input, and for short contexts. */
export interface Listed extends Price {
  /** The page of the provider on which it stands. */
  readonly source: string
  /** When it was last looked up: `YYYY-MM` or `YYYY-MM-DD`. */
  readonly asOf: string
}

const openAi = { source: "https://openai.com/api/pricing", asOf: "2026-03" }
const anthropic = { source: "https://platform.claude.com/docs/en/about-claude/pricing", asOf: "2026-10" }
const google = { source: "https://ai.google.dev/gemini-api/docs/pricing", asOf: "2025-11" }

const list = (
  from: { readonly source: string; readonly asOf: string },
  prices: { readonly [model: string]: readonly [input: number, output: number] }
): ReadonlyArray<readonly [string, Listed]> =>
  Object.entries(prices).map(([model, [inputPerMillion, outputPerMillion]]) => [
    model,
    { inputPerMillion, outputPerMillion, ...from }
  ])

/** Prices by the model's name as its provider spells it. */
export const table: ReadonlyMap<string, Listed> = new Map([
  ...list(openAi, {
    "gpt-5.4": [2.5, 15],
    "gpt-5.1": [1.25, 10],
    "gpt-5": [1.25, 10],
    "gpt-5-mini": [0.25, 2],
    "gpt-5-nano": [0.05, 0.4],
    "gpt-4.1": [2, 8],
    "gpt-4.1-mini": [0.4, 1.6],
    "gpt-4.1-nano": [0.1, 0.4],
    "gpt-4o": [2.5, 10],
    "gpt-4o-mini": [0.15, 0.6],
    o3: [2, 8],
    "o3-mini": [1.1, 4.4],
    "o4-mini": [1.1, 4.4]
  }),
  ...list(anthropic, {
    "claude-opus-5-5": [4, 20],
    "claude-opus-5": [5, 25],
    "claude-opus-4-5": [5, 25],
    "claude-opus-4-1": [15, 75],
    "claude-sonnet-5-5": [2, 10],
    "claude-sonnet-5": [2, 10],
    "claude-haiku-4-5": [1, 5]
  }),
  ...list(google, {
    "gemini-2.5-pro": [1.25, 10],
    "gemini-2.5-flash": [0.3, 2.5],
    "gemini-2.5-flash-lite": [0.1, 0.4]
  })
])

/**
 * The listed price of a model, or `undefined` where none is known. A snapshot has the price of its model:
 * `gpt-4.1-2025-04-14` that of `gpt-4.1`. Nothing else is guessed.
 */
export const of = (model: string): Listed | undefined => table.get(model) ?? table.get(model.replace(snapshot, ""))

/** `-20250514`, `-2025-04-14` or `-latest` at the end. */
const snapshot = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/

/** Returns the cost of a number of tokens, in US dollars. */
export const cost = (price: Price, inputTokens: number, outputTokens: number): number =>
  (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000

/** A reply with its cost, where the provider counted its tokens. */
export const priced = (reply: Reply, price: Price): Reply => {
  const { inputTokens, outputTokens } = reply.usage
  return inputTokens === undefined || outputTokens === undefined
    ? reply
    : { ...reply, cost: cost(price, inputTokens, outputTokens) }
}

/** Gives every reply its cost by your own price, in place of a listed one. */
export const layer = (
  price: Price | ((role: Role) => Price)
): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm, E, R>) =>
  wrap((model) => ({
    ...model,
    complete: (request) =>
      Effect.map(model.complete(request), (reply) =>
        priced(reply, typeof price === "function" ? price(request.role) : price)
      )
  }))
