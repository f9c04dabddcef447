/**
 * An upper bound for what a run may use: calls, tokens, money and time. It is reserved before each call and settled
 * after it, so that parallel branches cannot overshoot.
 *
 * @example
 * ```ts
 * const model = OpenAi.layer({ model: "gpt-4.1-mini", apiKey }).pipe(
 *   Budget.layer({ calls: 20, money: 0.05, price: Prices.of("gpt-4.1-mini"), reserve: { calls: 1, outputTokens: 1_000 } })
 * )
 * ```
 */
import { timeoutFail } from "@forethought/core/Concurrency"
import * as Journal from "@forethought/core/Journal"
import {
  type CallId,
  Llm,
  LlmError,
  Reason,
  type Reply,
  type Request,
  type Role,
  roles,
  type Service
} from "@forethought/core/Llm"
import * as Options_ from "@forethought/core/Options"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as WaitingLine from "@forethought/core/WaitingLine"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type Account, type Amounts, type Limits, make as makeAccount, none, type Spent } from "./internal/account.js"
import * as estimate from "./internal/estimate.js"
import * as Prices from "./Prices.js"

export type { Limits, Spent } from "./internal/account.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The part that is kept for the calls that end a run. */
export interface Reserve extends Limits {
  /** Whose calls may use it. Default: `solver` and `finalizer`. */
  readonly roles?: ReadonlyArray<Role> | undefined
}

export interface Options extends Limits {
  /** Bounds for single roles, beside those for all. The time of a role counts from its first call. */
  readonly perRole?: { readonly [role in Role]?: Limits } | undefined
  /**
   * The part of the bounds for all that the other roles must leave, so that a run which is out of budget can still
   * answer from what it has. Default: nothing.
   */
  readonly reserve?: Reserve | undefined
  /** The price of the model, or of each role's if they have different ones. See `Prices.of`. */
  readonly price?: Prices.Price | ((role: Role) => Prices.Price) | undefined
  /**
   * The output tokens reserved for a request that has no `maxTokens` of its own. Where `outputTokens` or `money` is
   * bounded it is also sent as its `maxTokens`, because a reply could otherwise be arbitrarily long. Default: 4,096.
   */
  readonly maxReplyTokens?: number | undefined
}

/** The state of a budget. */
export interface State {
  readonly spent: Effect.Effect<Spent & { readonly perRole: { readonly [role in Role]?: Spent } }>
}

/** The budget in force, for whoever wants to see what is used. */
export class Budget extends Context.Tag("@forethought/ai/Budget")<Budget, State>() {}

/** Returns what has been used of the budget in force, in all and by each role that has called. */
export const spent = Effect.flatMap(Budget, (budget) => budget.spent)

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * Bounds everything that is asked through the Layer while it lives. For a budget for each run of an app that keeps its
 * model, see {@link within}.
 *
 * Before a call its input tokens are estimated from the characters, and its output tokens are its `maxTokens`; both are
 * reserved. After it the tokens that the provider reported are settled, or the estimate if it reported none. A call
 * that failed or was interrupted gives its tokens back and counts as a call. So the bounds hold for calls and output
 * tokens; input tokens and money can exceed theirs by what the estimate of the running calls was too low.
 *
 * A call that would fit but for the reservations of others waits for them, in order. Where less output is left than a
 * request wants, and nobody else holds a reservation, it is sent with what is left as its `maxTokens`; a reply that
 * this cuts off is not handed on.
 *
 * `BudgetSettled` tells of each call that was settled, and `ModelWaited` of each that waited. A reply without a cost
 * gets that of the given price.
 *
 * Fails with `LlmError`, reason `BudgetExhausted`, whose `limit` says what ran out and how much of it there was.
 */
export const layer = (options: Options): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm | Budget, E, R>) => {
  check(options)
  return (model) =>
    Layer.map(model, (context) => {
      const budgeted = make(Context.get(context, Llm), options)
      return context.pipe(Context.add(Llm, budgeted), Context.add(Budget, budgeted))
    })
}

/**
 * Bounds what an effect asks of the model in context, its tools included: a budget of its own for each time that it
 * runs.
 */
export const within = (
  options: Options
): (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Budget | Llm> | Llm>) => {
  check(options)
  return (effect) =>
    Effect.flatMap(Llm, (model) => {
      const budgeted = make(model, options)
      return Effect.provide(effect, Context.make(Llm, budgeted).pipe(Context.add(Budget, budgeted)))
    })
}

/** The service of {@link layer}. */
export const make = (model: Service, options: Options): Service & State => {
  const settings = check(options)
  const isPriced = options.price !== undefined
  const total = makeAccount("", options, settings.reserve)
  const byRole = new Map<Role, Account>()
  const accountOf = (role: Role): Account => {
    const known = byRole.get(role)
    if (known !== undefined) return known
    const account = makeAccount(`${role} `, options.perRole?.[role] ?? {}, {})
    byRole.set(role, account)
    return account
  }

  const line = WaitingLine.make<Held, Refusal>({
    judge: (held) => {
      let output = held.wanted.outputTokens
      held.cutBy = undefined
      let waits = false
      for (const account of held.accounts) {
        const verdict = account.check(held.wanted, held.price, held.mayUseReserve)
        if (verdict._tag === "Exhausted") return { _tag: "Fail", error: verdict }
        if (verdict._tag === "Busy") waits = true
        else if (verdict.outputTokens < output) {
          output = verdict.outputTokens
          held.cutBy = verdict.cutBy
        }
      }
      if (waits) return WaitingLine.wait
      held.granted = amounts(1, held.wanted.inputTokens, output, held.price)
      for (const account of held.accounts) account.reserve(held.granted)
      return WaitingLine.admit
    },
    leave: (held, exit) => {
      const used = held.used ?? (exit === undefined ? none : amounts(1, 0, 0, held.price))
      for (const account of held.accounts) account.settle(held.granted, used)
      if (exit === undefined) return
      const { wallTime: _, ...spent } = total.spent(0)
      const { calls: __, ...own } = used
      held.tell({ _tag: "BudgetSettled", call: held.call, used: own, spent })
    }
  })

  const ask = (request: Request, held: Held): Effect.Effect<Reply, LlmError> =>
    Effect.suspend(() => {
      const granted = held.granted.outputTokens
      const bounded = held.accounts.some((account) => account.boundsOutput)
      return Effect.flatMap(model.complete(bounded ? { ...request, maxTokens: granted } : request), (reply) => {
        const input = reported(reply.usage.inputTokens) ?? held.wanted.inputTokens
        const output = reported(reply.usage.outputTokens) ?? estimate.outputTokens(reply)
        held.used = amounts(1, input, output, held.price)
        const priced = reply.cost === undefined && isPriced ? Prices.priced(reply, held.price) : reply
        return held.cutBy !== undefined && reply.finishReason === "length"
          ? Effect.fail(
              exhausted(
                request,
                held.cutBy,
                `before this reply, which was cut off after ${output} tokens by what was left: ${ReplyText.cut(reply.text, 2_000)}`
              )
            )
          : Effect.succeed(priced)
      })
    })

  return {
    ...model,
    complete: (request) =>
      Effect.flatMap(Effect.all([Clock.currentTimeMillis, Journal.tell]), ([now, tell]) => {
        const held: Held = {
          call: request.call,
          tell,
          accounts: [total, accountOf(request.role)],
          price: settings.price(request.role),
          mayUseReserve: settings.lastRoles.has(request.role),
          wanted: {
            ...none,
            inputTokens: estimate.inputTokens(request),
            outputTokens: request.maxTokens ?? settings.maxReplyTokens
          },
          granted: none,
          cutBy: undefined,
          used: undefined
        }
        for (const account of held.accounts) account.start(now)
        const asked = (waited: number) => {
          if (waited > 0) tell({ _tag: "ModelWaited", call: request.call, why: "budget", waited })
          return ask(request, held)
        }
        const call = Effect.catchAll(line.through(held, asked), (error) =>
          Effect.fail(error._tag === "Exhausted" ? exhausted(request, error.limit) : error)
        )
        const ends = held.accounts.map((account) => account.timeLeft(now, held.mayUseReserve))
        const first = ends.reduce((soonest, end) => (end.millis < soonest.millis ? end : soonest))
        if (first.millis === Number.POSITIVE_INFINITY) return call
        const onTimeout = () => exhausted(request, first.limit)
        return first.millis <= 0
          ? Effect.fail(onTimeout())
          : timeoutFail(call, { duration: Duration.millis(first.millis), onTimeout })
      }),
    spent: Effect.map(Clock.currentTimeMillis, (now) => ({
      ...total.spent(now),
      perRole: Object.fromEntries([...byRole].map(([role, account]) => [role, account.spent(now)]))
    }))
  }
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

/** One call, from its estimate to what it used. */
interface Held {
  readonly call: CallId
  readonly tell: Journal.Tell
  readonly accounts: ReadonlyArray<Account>
  readonly price: Prices.Price
  readonly mayUseReserve: boolean
  readonly wanted: Amounts
  granted: Amounts
  /** The limit for which it was granted less than it wanted. */
  cutBy: string | undefined
  used: Amounts | undefined
}

interface Refusal {
  readonly _tag: "Exhausted"
  readonly limit: string
}

/** A count of tokens that can be added up: an adapter of an app's own may report anything. */
const reported = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined

const amounts = (calls: number, inputTokens: number, outputTokens: number, price: Prices.Price): Amounts => ({
  calls,
  inputTokens,
  outputTokens,
  money: Prices.cost(price, inputTokens, outputTokens)
})

const exhausted = ({ call, role }: Request, limit: string, detail?: string): LlmError =>
  new LlmError({ reason: Reason.BudgetExhausted(limit), role, call, ...(detail === undefined ? {} : { detail }) })

const free: Prices.Price = { inputPerMillion: 0, outputPerMillion: 0 }
const lastRoles: ReadonlyArray<Role> = ["solver", "finalizer"]
const limitKeys = ["calls", "inputTokens", "outputTokens", "money", "wallTime"] as const

const millisOf = (limit: Duration.DurationInput): number | undefined =>
  Option.getOrUndefined(Option.map(Duration.decodeUnknown(limit), Duration.toMillis))

const check = (options: Options) => {
  Options_.rejectUnknown("Budget", options, [...limitKeys, "perRole", "reserve", "price", "maxReplyTokens"])
  Options_.rejectUnknown("Budget.perRole", options.perRole ?? {}, roles)
  const { roles: last = lastRoles, ...reserve } = options.reserve ?? {}
  const all: ReadonlyArray<readonly [string, Limits]> = [
    ["Budget", options],
    ["Budget.reserve", reserve],
    ...roles.map((role) => [`Budget.perRole.${role}`, options.perRole?.[role] ?? {}] as const)
  ]
  for (const [owner, limits] of all) {
    if (owner !== "Budget") Options_.rejectUnknown(owner, limits, limitKeys)
    for (const key of limitKeys) {
      const limit = limits[key]
      const value = limit === undefined ? 0 : typeof limit === "number" ? limit : millisOf(limit)
      if (value === undefined || !(value >= 0)) {
        const what = key === "wallTime" ? 'a duration, such as "2 minutes"' : "a number of at least 0"
        Options_.refuse(owner, key, `${key} must be ${what}, got ${JSON.stringify(limit)}.`)
      }
    }
    if (limits.money !== undefined && options.price === undefined) {
      Options_.refuse(owner, "money", `a limit in money needs a price, such as Prices.of("gpt-4.1-mini").`)
    }
  }
  for (const role of last) Options_.oneOf("Budget.reserve", "roles", role, roles)
  const { price = free } = options
  return {
    reserve,
    lastRoles: new Set(last),
    price: typeof price === "function" ? price : () => price,
    maxReplyTokens: Options_.wholeNumber("Budget", "maxReplyTokens", options.maxReplyTokens ?? 4_096)
  }
}
