/**
 * Tools that do what a test says and record how they were called.
 */

import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Tool from "../Tool.js"
import * as Toolbox from "../Toolbox.js"
import { lift, type Outcome } from "../ToolOutcome.js"

/** A recorded call. Times are epoch milliseconds of the run's Clock. */
export interface FakeCall {
  readonly tool: string
  readonly input: string
  readonly call: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly outcome?: "ok" | "error" | "interrupted"
}

/** The behaviour of a fake tool: gives a text, or whatever the function makes of the input. */
export interface Fake {
  /** Default: `a <name> result`. */
  readonly gives?: string | ((input: string) => Outcome<never>)
  /** Fails with this text in place of a result. */
  readonly fails?: string
  /** Time that a call takes. Default: no time. */
  readonly takes?: Duration.DurationInput
  readonly description?: string
  /** See `ToolInfo`. Default: not said. */
  readonly readOnly?: boolean
}

/** The fake tools as a test sees them. */
export interface Recorder {
  /** Every call, in the order in which they started. */
  readonly calls: Effect.Effect<ReadonlyArray<FakeCall>>
  /** The largest number of calls that ran at once. */
  readonly maxActive: Effect.Effect<number>
}

/** The recorder of the fake tools in the current test. */
export class FakeTools extends Context.Tag("@forethought/core/testing/FakeTools")<FakeTools, Recorder>() {}

/** Makes the tools, named by their keys, and their recorder. */
export const make = (fakes: {
  readonly [name: string]: Fake | string
}): { readonly tools: ReadonlyArray<Tool.Tool>; readonly recorder: Recorder } => {
  const calls: Array<FakeCall> = []
  let active = 0
  let maxActive = 0
  const tools = Object.entries(fakes).map(([name, given]) => {
    const fake: Fake = typeof given === "string" ? { gives: given } : given
    const gives = fake.gives ?? `a ${name} result`
    return Tool.make({
      name,
      description: fake.description ?? `Fake ${name}.`,
      ...(fake.readOnly === undefined ? {} : { readOnly: fake.readOnly }),
      execute: (input, context) =>
        // A call that is recorded as started is recorded as ended, whatever interrupts it and when.
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
            const slot = calls.push({ tool: name, input, call: context.call, startedAt }) - 1
            maxActive = Math.max(maxActive, ++active)
            const result =
              fake.fails !== undefined
                ? Effect.fail(new Error(fake.fails))
                : Effect.suspend(() => lift(typeof gives === "string" ? gives : gives(input)))
            return Effect.onExit(
              restore(fake.takes === undefined ? result : Effect.zipRight(Effect.sleep(fake.takes), result)),
              (exit) =>
                Effect.map(Clock.currentTimeMillis, (endedAt) => {
                  active--
                  calls[slot] = {
                    tool: name,
                    input,
                    call: context.call,
                    startedAt,
                    endedAt,
                    outcome: Exit.isSuccess(exit) ? "ok" : Exit.isInterrupted(exit) ? "interrupted" : "error"
                  }
                })
            )
          })
        )
    })
  })
  return {
    tools,
    recorder: { calls: Effect.sync(() => [...calls]), maxActive: Effect.sync(() => maxActive) }
  }
}

/** A toolbox of fake tools, and their recorder. */
export const layer = (fakes: { readonly [name: string]: Fake | string }): Layer.Layer<Toolbox.Toolbox | FakeTools> =>
  Layer.suspend(() => {
    const { recorder, tools } = make(fakes)
    return Layer.merge(Toolbox.layer(tools), Layer.succeed(FakeTools, recorder))
  })
