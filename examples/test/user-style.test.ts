/**
 * A test as a user of the library would write it: an app with a tool and a rule of its own, tried without a network,
 * without a model, and without waiting.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"

// ---------------------------------------------------------------------------------------------------------------
// the app
// ---------------------------------------------------------------------------------------------------------------

class Warehouse extends Context.Tag("Warehouse")<
  Warehouse,
  { readonly stock: (item: string) => Effect.Effect<number> }
>() {}

const stock = Tool.make({
  name: "Stock",
  description: "How many of an item there are. Takes the item.",
  execute: (item) => Effect.flatMap(Warehouse, (warehouse) => warehouse.stock(item))
})

const tools = Toolbox.layer([stock])

/** Answers within a minute, or says what was found until then. */
const answer = (question: string) =>
  Rewoo.parallel(question, { toolTimeout: "10 seconds" }).pipe(
    Effect.map((result) => result.answer),
    Effect.catchTag("LlmError", ({ progress }) =>
      Effect.succeed(`No answer. Found: ${progress.evidence.map(({ text }) => text).join(", ")}`)
    ),
    Effect.timeoutTo({ duration: "1 minute", onSuccess: (text) => text, onTimeout: () => "No answer in time." })
  )

// ---------------------------------------------------------------------------------------------------------------
// its stubs
// ---------------------------------------------------------------------------------------------------------------

const plan = "Plan: Count the apples.\n#E1 = Stock[apples]\nPlan: Count the pears.\n#E2 = Stock[pears]"

const model = (solver: (prompt: string) => Effect.Effect<string, Llm.LlmError>) =>
  Llm.layer(({ messages, role }) => {
    const prompt = messages.map(({ content }) => content).join("\n")
    return Effect.map(role === "planner" ? Effect.succeed(plan) : solver(prompt), (text) => Llm.reply(text))
  })

const counts: { readonly [item: string]: number } = { apples: 3, pears: 4 }

/** A warehouse in which counting takes its time. */
const warehouse = (takes: string) =>
  Layer.succeed(Warehouse, {
    stock: (item) => Effect.delay(Effect.succeed(counts[item] ?? 0), takes === "slow" ? "8 seconds" : "1 minute")
  })

const app = (llm: Layer.Layer<Llm.Llm>, takes = "slow") =>
  Layer.mergeAll(Layer.provide(tools, warehouse(takes)), llm, Journal.layer(Journal.silent))

const sum = (prompt: string) =>
  Effect.succeed(`${[...prompt.matchAll(/^\d+$/gm)].reduce((total, [count]) => total + Number(count), 0)} pieces`)

/** Starts the app, lets time pass, and gives what it said. */
const after = (passes: "8 seconds" | "10 seconds" | "1 minute", layer: ReturnType<typeof app>) =>
  Effect.gen(function* () {
    const running = yield* Effect.fork(Effect.provide(answer("How much fruit is there?"), layer))
    yield* TestClock.adjust(passes)
    return yield* Fiber.join(running)
  })

// ---------------------------------------------------------------------------------------------------------------
// the tests
// ---------------------------------------------------------------------------------------------------------------

describe("answer", () => {
  it.effect("counts what does not depend on each other at the same time: 8 seconds, not 16", () =>
    Effect.gen(function* () {
      expect(yield* after("8 seconds", app(model(sum)))).toBe("7 pieces")
    })
  )

  it.effect("a count that takes too long is a timeout in the evidence", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const watching = model((prompt) => {
        seen.push(prompt)
        return Effect.succeed("unknown")
      })
      expect(yield* after("10 seconds", app(watching, "stuck"))).toBe("unknown")
      expect(seen[0]).toContain("Stock timed out after 10000 ms")
    })
  )

  it.effect("keeps what was found when the model fails", () =>
    Effect.gen(function* () {
      const failing = model(() => Effect.fail(new Llm.LlmError({ reason: Llm.Reason.Unavailable(503) })))
      expect(yield* after("8 seconds", app(failing))).toBe("No answer. Found: 3, 4")
    })
  )

  it.effect("gives up after a minute", () =>
    Effect.gen(function* () {
      expect(yield* after("1 minute", app(model(() => Effect.never)))).toBe("No answer in time.")
    })
  )
})
