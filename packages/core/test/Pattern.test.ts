import { describe, expect, it } from "@effect/vitest"
import * as Options from "@forethought/core/Options"
import * as Pattern from "@forethought/core/Pattern"
import * as Reask from "@forethought/core/Reask"
import * as Toolbox from "@forethought/core/Toolbox"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"

interface RunOptions {
  readonly maxWords?: number
  readonly isLoud?: boolean
  readonly tone?: "plain" | "warm"
  readonly patience?: Duration.DurationInput
  readonly reask?: Reask.Reask
  readonly prompts?: { readonly solver?: string }
}

const options = {
  maxWords: { kind: "count", description: "maximum number of words", default: 5 },
  isLoud: { kind: "switch", description: "whether it shouts", default: false },
  tone: { kind: "choice", description: "how it sounds", choices: ["plain", "warm"], default: "plain" },
  patience: { kind: "duration", description: "how long it waits", default: "2 seconds" },
  reask: { kind: "reask", description: "how often it is asked again", default: 1 },
  prompts: { kind: "prompts", description: "prompts", holes: { solver: { needed: "task", all: ["task"] } } }
} as const satisfies Pattern.Table<RunOptions>

const settings = (given: RunOptions) => Pattern.settings("Echo.run", options, given)

const echo = Pattern.make({
  name: "echo-twice",
  summary: "says the task again",
  chooseWhen: "the task is to be repeated",
  tools: "optional",
  roles: [],
  within: { maxWords: 2 },
  options,
  run: (task: string, given: RunOptions = {}) =>
    Effect.map(Toolbox.Toolbox, () => {
      const { isLoud, maxWords } = settings(given)
      const words = task.split(" ").slice(0, maxWords).join(" ")
      return { _tag: "Answered" as const, answer: isLoud ? words.toUpperCase() : words }
    }),
  answer: ({ answer }) => answer,
  calls: (given) => {
    const { maxWords } = settings(given)
    return { model: { least: 0, most: maxWords }, tool: { least: 0 } }
  }
})

const world = Layer.merge(FakeTools.layer({}), ScriptedLlm.layer([]))

describe("settings", () => {
  it("have the defaults of the table, and durations in milliseconds", () => {
    const { isLoud, maxWords, patience, reask, tone } = settings({})
    expect({ isLoud, maxWords, patience, tone }).toEqual({ isLoud: false, maxWords: 5, patience: 2_000, tone: "plain" })
    expect(Reask.timesOf(reask)).toBe(1)
    expect(settings({ patience: "1 minute" }).patience).toBe(60_000)
  })

  const wrong: ReadonlyArray<readonly [given: object, option: string, says: string]> = [
    [{ maxWords: 0 }, "maxWords", "a whole number of at least 1"],
    [{ maxWords: 1.5 }, "maxWords", "a whole number of at least 1"],
    [{ tone: "cold" }, "tone", '"plain" or "warm"'],
    [{ patience: "soon" }, "patience", "a duration longer than 0"],
    [{ reask: 3 }, "reask", "a Schedule"],
    [{ maxWord: 3 }, "maxWord", "Options are maxWords"],
    [{ prompts: { solver: "{{tasks}}" } }, "prompts", "{{tasks}} is not a hole"],
    [{ prompts: { planner: "x" } }, "planner", "Options are solver"]
  ]
  it.each(wrong)("%j is an InvalidOption with its owner, option and problem", (given, option, says) => {
    const thrown = Either.try(() => Pattern.check(echo, given, "Echo.run"))
    const error = Either.getOrThrow(Either.flip(thrown))
    expect(error).toBeInstanceOf(Options.InvalidOption)
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toMatchObject({ _tag: "InvalidOption", option, problem: expect.stringContaining(says) })
  })

  it("are told as plain data; what code alone can say is named, or left out", () => {
    expect(Pattern.told(options, { patience: 5, isLoud: true })).toEqual({
      maxWords: 5,
      isLoud: true,
      tone: "plain",
      patience: 5,
      reask: 1
    })
    expect(Pattern.told(options, { reask: Schedule.recurs(2) })).toMatchObject({ reask: "custom" })
    expect(Pattern.told(options, { reask: Reask.times(4) })).toMatchObject({ reask: 4 })
  })
})

describe("a pattern", () => {
  const loud = Pattern.withOptions(echo, { isLoud: true, maxWords: 2 })

  it.effect("with other defaults runs with them, shows them in its table, and lets a call say otherwise", () =>
    Effect.gen(function* () {
      expect((yield* loud.run("a b c")).answer).toBe("A B")
      expect((yield* loud.run("a b c", { isLoud: false })).answer).toBe("a b")
      expect(loud.options).toMatchObject({ maxWords: { default: 2 }, isLoud: { default: true } })
      expect(loud.calls?.({}, undefined)).toEqual({ model: { least: 0, most: 2 }, tool: { least: 0 } })
      expect(echo.options.maxWords).toMatchObject({ default: 5 })
      expect(() => Pattern.withOptions(echo, { maxWords: 0 })).toThrow("maxWords must be a whole number")
    }).pipe(Effect.provide(world))
  )

  it.effect("as a tool has its name, says when to choose it, and answers in text", () =>
    Effect.gen(function* () {
      const tool = Pattern.asTool(echo, {}, { maxWords: 1 })
      expect(tool).toMatchObject({
        name: "echo_twice",
        description: "Says the task again. Choose it when: the task is to be repeated."
      })
      const toolbox = yield* Toolbox.make([tool])
      expect(yield* toolbox.call({ call: "c", tool: "echo_twice", input: "a b" })).toBe("a")
      expect(() => Pattern.asTool(echo, { timeout: -1 })).toThrow("timeout")
      expect(() => Pattern.asTool(echo, {}, { maxWords: -1 })).toThrow("echo-twice as a tool: maxWords")
    }).pipe(Effect.provide(world))
  )

  it.effect("as an executor takes its caller's bound for the options that are within it", () =>
    Effect.gen(function* () {
      const execute = Pattern.executor(echo, { isLoud: true })
      const step = { goal: "G", step: "a b c d", pastSteps: [], maxToolCalls: 1, call: "step-1" }
      expect(yield* execute(step)).toEqual({ status: "completed", result: "A B C" })
      expect(execute.modelCalls?.(1)).toEqual({ least: 0, most: 3 })
      expect(execute.name).toBe("echo-twice")
      expect(() => Pattern.executor(echo, { maxWords: 3 })).toThrow("maxWords")
    }).pipe(Effect.provide(world))
  )

  it("has a table with one entry of the right kind for each option, or does not compile", () => {
    // @ts-expect-error: `tone` is left out
    const short = { ...options, tone: undefined } satisfies Pattern.Table<RunOptions>
    // @ts-expect-error: a count is not a switch
    const other = { ...options, isLoud: options.maxWords } satisfies Pattern.Table<RunOptions>
    expect([short, other].every((table) => "maxWords" in table)).toBe(true)
  })
})
