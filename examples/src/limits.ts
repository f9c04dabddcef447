/**
 * A question to a model at home, with one in the cloud behind it, within limits: at most two calls at once and thirty a
 * minute, another model where the first cannot be reached, nothing asked twice, and a budget for each run that always
 * leaves the last call enough for an answer.
 */
import * as Budget from "@forethought/ai/Budget"
import * as Cache from "@forethought/ai/Cache"
import * as Fallback from "@forethought/ai/Fallback"
import * as Prices from "@forethought/ai/Prices"
import * as RateLimit from "@forethought/ai/RateLimit"
import type { Llm } from "@forethought/core/Llm"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

/** The layers around two models. The order says what a call goes through, from the last line to the first. */
export const limited = <E, R>(first: Layer.Layer<Llm, E, R>, second: Layer.Layer<Llm, E, R>): Layer.Layer<Llm, E, R> =>
  first.pipe(
    RateLimit.layer({ maxConcurrent: 2, requestsPerMinute: 30 }),
    Fallback.layer(second, { on: ["Unavailable", "TimedOut", "RateLimited"] }),
    Cache.layer({ capacity: 500 })
  )

/** A run with a budget of its own. The planner may not use up what the solver needs. */
export const answer = (question: string) =>
  Rewoo.parallel(question).pipe(
    Effect.map(({ answer }) => answer),
    Effect.zip(Budget.spent),
    Budget.within({
      calls: 4,
      money: 0.02,
      wallTime: "2 minutes",
      price: Prices.of("gpt-4.1-mini") ?? { inputPerMillion: 0.4, outputPerMillion: 1.6 },
      reserve: { calls: 1, money: 0.01 }
    })
  )
