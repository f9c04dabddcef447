/**
 * An answer of one's own form: Plan-and-Solve reads it, and gives it in its type.
 */
import type * as Llm from "@forethought/core/Llm"
import { ParseError } from "@forethought/core/ReplyError"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

export interface Clock {
  readonly hours: number
  readonly minutes: number
}

/** A time of day such as `17:05`. A reply that holds none, or several, is asked for again with this error. */
export const timeOfDay = AnswerFormat.make(
  "time of day, written as hh:mm",
  (text): Either.Either<Clock, ParseError> => {
    const times = [...text.matchAll(/\b([01]\d|2[0-3]):([0-5]\d)\b/g)]
    const [time] = times
    return time !== undefined && times.length === 1
      ? Either.right({ hours: Number(time[1]), minutes: Number(time[2]) })
      : Either.left(
          new ParseError({
            problem: "no_time",
            expected: "one time of day, written as hh:mm",
            found: text.slice(0, 200)
          })
        )
  }
)

/** When the train arrives: `answer` is a {@link Clock}, `reasoning` the plan and its execution. */
export const arrival = (question: string): Effect.Effect<Clock, PlanAndSolve.Error, Llm.Llm> =>
  Effect.map(PlanAndSolve.run(question, { answerFormat: timeOfDay }), ({ answer }) => answer)
