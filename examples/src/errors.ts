/**
 * Handles a run that ends without an answer: every stop is a tagged error that carries the work so far.
 */
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import * as Match from "effect/Match"
import * as Schedule from "effect/Schedule"

/** One kind of stop is an answer too: what was done until then. The others stay in the type. */
export const partial = (goal: string) =>
  PlanAndExecute.run(goal, { maxSteps: 3 }).pipe(
    Effect.map(({ answer }) => answer),
    Effect.catchTag("StepCapReached", ({ progress }) =>
      Effect.succeed(`Not finished. Done: ${progress.pastSteps.map(({ result }) => result).join("; ")}`)
    )
  )

/** The whole run again, after a second, where a plan could not be read; never after a model's failure. */
export const again = (question: string) =>
  Rewoo.parallel(question).pipe(
    Effect.retry({
      schedule: Schedule.intersect(Schedule.recurs(2), Schedule.spaced("1 second")),
      while: (error) => error._tag === "InvalidPlan"
    })
  )

/** Another pattern where the first one ends without an answer. */
export const otherwise = (question: string) =>
  Rewoo.parallel(question).pipe(
    Effect.map(({ answer }) => answer),
    Effect.orElse(() => Effect.map(ReAct.run(question), ({ answer }) => answer))
  )

/** One value to switch on, checked to be complete. */
export const told = (task: string) =>
  ReAct.run(task, { maxTurns: 4 }).pipe(
    Effect.merge,
    Effect.map(
      Match.typeTags<Effect.Effect.Success<ReturnType<typeof ReAct.run>> | ReAct.Error>()({
        Answered: ({ answer }) => answer,
        CapReached: ({ limit, progress }) => `No answer within ${limit}; ${progress.turns.length} turns were made.`,
        Stuck: ({ detail }) => `It went round in circles: ${detail}`,
        TruncatedReply: ({ role }) => `The ${role}'s reply was cut off.`,
        LlmError: ({ reason }) => `The model failed: ${reason._tag}`
      })
    )
  )
