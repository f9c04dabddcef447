/** The test doubles: strict where a test would else pass for the wrong reason. */
import { describe, expect, it } from "@effect/vitest"
import * as Failure from "@forethought/core/Failure"
import * as Llm from "@forethought/core/Llm"
import { ParseError } from "@forethought/core/ReplyError"
import * as Toolbox from "@forethought/core/Toolbox"
import { FakeTools, Interruption, ScriptedLlm, SimulationClock } from "@forethought/core/testing"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

const ask = (role: Llm.Role, call: string) =>
  Effect.flatMap(Llm.Llm, (llm) => llm.complete({ role, call, messages: [] }))

const defectOf = <A, E>(exit: Exit.Exit<A, E>) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined)

describe("ScriptedLlm", () => {
  it.effect("gives the first unused line that fits, and fails on a call that none fits", () =>
    Effect.gen(function* () {
      const said = yield* Effect.all([ask("solver", "s"), ask("planner", "p"), ask("planner", "q")]).pipe(
        Effect.map((replies) => replies.map(({ text }) => text)),
        Effect.provide(ScriptedLlm.layer([{ role: "planner", says: "plan" }, { call: "q", says: "q" }, "any"]))
      )
      expect(said).toEqual(["any", "plan", "q"])
      const exit = yield* Effect.exit(
        Effect.provide(ask("solver", "s"), ScriptedLlm.layer([{ role: "planner", says: "plan" }]))
      )
      expect(defectOf(exit)).toBeInstanceOf(ScriptedLlm.UnexpectedCall)
    })
  )

  it.effect("fails where replies are left over", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provide(ask("solver", "s"), ScriptedLlm.layer(["one", "two"])))
      expect(defectOf(exit)).toMatchObject({ _tag: "UnusedReplies", left: ['"two"'] })
    })
  )
})

it.effect("FakeTools count how many calls run at once", () =>
  Effect.gen(function* () {
    const call = (input: string) =>
      Effect.flatMap(Toolbox.Toolbox, (toolbox) => toolbox.call({ call: input, tool: "T", input }))
    yield* Effect.forEach(["a", "b", "c", "d"], call, { concurrency: 3 })
    const recorder = yield* FakeTools.FakeTools
    expect(yield* recorder.maxActive).toBe(3)
    expect((yield* recorder.calls).map(({ input, outcome }) => [input, outcome])).toEqual(
      ["a", "b", "c", "d"].map((input) => [input, "ok"])
    )
  }).pipe(Effect.provide(FakeTools.layer({ T: { gives: () => Effect.as(Effect.yieldNow(), "x") } })))
)

it("SimulationClock: hours cost nothing, and time is exact", async () => {
  const before = performance.now()
  const times = await Effect.runPromise(
    Effect.forEach(
      ["3 hours", "1 hour", "1 millis"] as const,
      (wait) => Effect.zipRight(Effect.sleep(wait), Clock.currentTimeMillis),
      {
        concurrency: 3
      }
    ).pipe(Effect.provide(SimulationClock.layer()))
  )
  expect(times).toEqual([10_800_000, 3_600_000, 1])
  expect(performance.now() - before).toBeLessThan(60_000)
})

it("Failure.attach makes the error anew: the same error in two runs has each run's work", () => {
  const error = new ParseError({ problem: "p", expected: "e", found: "f", reply: "r" })
  const [one, two] = [Failure.attach(error, { steps: 1 }), Failure.attach(error, { steps: 2 })]
  expect([one.progress, two.progress, "progress" in error]).toEqual([{ steps: 1 }, { steps: 2 }, false])
  expect(one).toBeInstanceOf(ParseError)
  expect(one.message).toBe(error.message)
  // An inner run's error stays whole behind the outer one.
  expect(Failure.attach(one, { steps: 3 })).toMatchObject({ progress: { steps: 3 }, cause: { progress: { steps: 1 } } })
  expect(Failure.attach(one, { steps: 3 }, "another")).toMatchObject({ progress: { steps: 3 }, cause: "another" })
})

describe("Interruption.everywhere", () => {
  it("tries each point once, up to the program's own end, and finds a program that does not hold", async () => {
    const endings: Array<string> = []
    const tried = await Interruption.everywhere(
      () => {
        const state = { opened: 0, closed: 0 }
        // Effect.async starts its work before its canceller is in place.
        const effect = Effect.async<void>(() => {
          state.opened += 1
          return Effect.sync(() => {
            state.closed += 1
          })
        })
        return { state, effect: Effect.zipRight(Effect.void, effect) }
      },
      ({ exit, state, tasks }) => {
        endings.push(`${tasks} ${exit?._tag} ${state.opened - state.closed}`)
      }
    )
    expect(tried).toBe(endings.length - 1)
    expect(endings.some((ending) => ending.endsWith(" 1"))).toBe(true)
    expect(endings.every((ending) => ending.includes("Failure"))).toBe(true)
  })

  it("stops after `most`", async () => {
    const make = () => ({ state: undefined, effect: Effect.forever(Effect.yieldNow()) })
    expect(await Interruption.everywhere(make, () => {}, { most: 20 })).toBe(20)
  })
})
