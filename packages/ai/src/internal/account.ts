/** One set of limits with what is spent and what is reserved of it. */
import * as Duration from "effect/Duration"
import { cost, type Price } from "../Prices.js"

/** Limits. What is not given is not bounded. */
export interface Limits {
  /** Requests to the model, those that fail included. The provider's own retries count as one with the first. */
  readonly calls?: number | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  /** In US dollars; needs a `price`. */
  readonly money?: number | undefined
  /**
   * Time from the first call on, tools and waits included. When it expires, model calls are cancelled and none are
   * started.
   */
  readonly wallTime?: Duration.DurationInput | undefined
}

/** Amounts used in settled calls. */
export interface Spent {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** In US dollars; 0 without a price. */
  readonly money: number
  /** Milliseconds since the first call. */
  readonly wallTime: number
}

export interface Amounts {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly money: number
}

export const none: Amounts = { calls: 0, inputTokens: 0, outputTokens: 0, money: 0 }

export type Verdict =
  /** It fits, with at most so many output tokens; `cutBy` says why they are fewer than wanted. */
  | { readonly _tag: "Fits"; readonly outputTokens: number; readonly cutBy?: string }
  /** It would fit if others gave back what they do not use. */
  | { readonly _tag: "Busy" }
  | { readonly _tag: "Exhausted"; readonly limit: string }

export interface Account {
  readonly boundsOutput: boolean
  readonly start: (now: number) => void
  readonly check: (wanted: Amounts, price: Price, mayUseReserve: boolean) => Verdict
  readonly reserve: (amounts: Amounts) => void
  readonly settle: (reserved: Amounts, used: Amounts) => void
  readonly timeLeft: (now: number, mayUseReserve: boolean) => { readonly millis: number; readonly limit: string }
  readonly spent: (now: number) => Spent
}

/** A reply of fewer tokens says nothing: with less left than this the budget is exhausted. */
const shortestReply = 16

export const make = (owner: string, limits: Limits, kept: Limits): Account => {
  let spent = none
  let reserved = none
  let startedAt: number | undefined
  const wallTime = limits.wallTime === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(limits.wallTime)
  const keptTime = Duration.toMillis(kept.wallTime ?? 0)

  const limitOf = (key: keyof Amounts, mayUseReserve: boolean): number =>
    (limits[key] ?? Number.POSITIVE_INFINITY) - (mayUseReserve ? 0 : (kept[key] ?? 0))
  const words = (key: keyof Amounts, mayUseReserve: boolean): string => {
    const unit = key === "money" ? " USD" : ""
    const kept_ = mayUseReserve || kept[key] === undefined ? "" : `, ${kept[key]} of them reserved`
    const taken = key === "calls" ? spent.calls + reserved.calls : spent[key]
    return `${owner}${key}: ${round(taken)} of ${limits[key]}${unit} used${kept_}`
  }
  /** The output tokens that the limits leave for a call with this input, and what bounds them. */
  const outputRoom = (wanted: Amounts, price: Price, mayUseReserve: boolean, taken: Amounts) => {
    const tokens = limitOf("outputTokens", mayUseReserve) - taken.outputTokens
    const left = limitOf("money", mayUseReserve) - taken.money - cost(price, wanted.inputTokens, 0)
    // The tolerance is for sums of fractions that end a hair below a whole token.
    const paid =
      price.outputPerMillion === 0
        ? left < 0
          ? left
          : Number.POSITIVE_INFINITY
        : Math.floor((left * 1_000_000) / price.outputPerMillion + 1e-6)
    return tokens <= paid ? { key: "outputTokens" as const, tokens } : { key: "money" as const, tokens: paid }
  }

  return {
    boundsOutput: limits.outputTokens !== undefined || limits.money !== undefined,
    start: (now) => {
      startedAt ??= now
    },
    check: (wanted, price, mayUseReserve) => {
      const need = Math.min(wanted.outputTokens, shortestReply)
      const taken = add(spent, reserved)
      // A call that runs counts whatever becomes of it, so there is nothing to wait for.
      if (1 > limitOf("calls", mayUseReserve) - taken.calls) {
        return { _tag: "Exhausted", limit: words("calls", mayUseReserve) }
      }
      const inputRoom = limitOf("inputTokens", mayUseReserve) - spent.inputTokens
      if (wanted.inputTokens > inputRoom) return { _tag: "Exhausted", limit: words("inputTokens", mayUseReserve) }
      const best = outputRoom(wanted, price, mayUseReserve, spent)
      if (best.tokens < need) return { _tag: "Exhausted", limit: words(best.key, mayUseReserve) }
      const fits = wanted.inputTokens <= inputRoom - reserved.inputTokens
      const now = outputRoom(wanted, price, mayUseReserve, taken)
      if (fits && now.tokens >= wanted.outputTokens) return { _tag: "Fits", outputTokens: wanted.outputTokens }
      if (reserved.calls > 0) return { _tag: "Busy" }
      return { _tag: "Fits", outputTokens: best.tokens, cutBy: words(best.key, mayUseReserve) }
    },
    reserve: (amounts) => {
      reserved = add(reserved, amounts)
    },
    settle: (was, used) => {
      reserved = add(reserved, was, -1)
      // Nothing is held: so a sum of fractions does not leave dust behind.
      if (reserved.calls === 0) reserved = none
      spent = add(spent, used)
    },
    timeLeft: (now, mayUseReserve) => ({
      millis: wallTime - (mayUseReserve ? 0 : keptTime) - (now - (startedAt ?? now)),
      limit: `${owner}wallTime: ${wallTime} ms${mayUseReserve || keptTime === 0 ? "" : `, ${keptTime} ms of them reserved`}`
    }),
    spent: (now) => ({ ...spent, wallTime: startedAt === undefined ? 0 : now - startedAt })
  }
}

const add = (left: Amounts, right: Amounts, sign = 1): Amounts => ({
  calls: left.calls + sign * right.calls,
  inputTokens: left.inputTokens + sign * right.inputTokens,
  outputTokens: left.outputTokens + sign * right.outputTokens,
  money: left.money + sign * right.money
})

const round = (value: number): number => Math.round(value * 1_000_000) / 1_000_000
