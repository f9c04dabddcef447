import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import type { ScriptedLlm } from "@forethought/core/testing"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as Effect from "effect/Effect"
import { expectTypeOf } from "vitest"
import { of, promptsOf, requests, toolCalls, warnings, withEvents, world } from "./world.js"

const list = (...steps: ReadonlyArray<string>) => steps.map((step, i) => `${i + 1}. ${step}`).join("\n")
const asks = (name: string, input: string): ScriptedLlm.Line => ({
  toolCalls: [{ id: `${name}-${input}`, name, arguments: JSON.stringify({ input }) }]
})

/** The text between the fences of a prompt, in order: the results that a step was shown. */
const fenced = (prompt: string) =>
  [...prompt.matchAll(/```(?:result|value)\n([\s\S]*?)\n```/g)].map((match) => match[1])

describe("PlanAndSolveAgent", () => {
  it.effect("plans, executes each step, and finalises from all results", () =>
    Effect.gen(function* () {
      const { answer, pastSteps } = yield* PlanAndSolveAgent.run("T")
      expect(answer).toBe("AB.")
      expect(pastSteps).toEqual([
        { id: "1", step: "Do A", result: "a", status: "completed" },
        { id: "2", step: "Do B", result: "b", status: "completed" }
      ])
      expect((yield* requests).map((request) => [request.role, request.call])).toEqual([
        ["planner", "planner"],
        ["executor", "step-1/executor/turn-1"],
        ["executor", "step-2/executor/turn-1"],
        ["finalizer", "finalizer"]
      ])
    }).pipe(Effect.provide(world([list("Do A", "Do B"), "SUCCESS: a", "SUCCESS: b", "AB."])))
  )

  it.effect("tool failure is not step failure: the sub-agent works around it, and replans nothing", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndSolveAgent.run("T")
      expect(pastSteps[0]).toMatchObject({ status: "completed", result: "got it elsewhere" })
      expect((yield* toolCalls).map((call) => call.tool)).toEqual(["Broken", "Search"])
    }).pipe(
      Effect.provide(
        world([list("Get it"), asks("Broken", "x"), asks("Search", "x"), "SUCCESS: got it elsewhere", "Done."], {
          Broken: { fails: "Error: HTTP 500" },
          Search: "it"
        })
      )
    )
  )

  it.effect("a result that tells of an Error or a failure is a result, not a failed step", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndSolveAgent.run("T")
      expect(pastSteps.map((step) => step.status)).toEqual(["completed", "completed"])
    }).pipe(
      Effect.provide(
        world([
          list("Read the log", "Count"),
          "SUCCESS: The log says Error: disk failed, 3 failures",
          "Error Error failed. Nothing went wrong here.",
          "3."
        ])
      )
    )
  )

  it.effect(
    "a failed step replans the rest: the prompt carries the old plan, the completed results and the failure",
    () =>
      Effect.gen(function* () {
        const { value, events } = yield* withEvents(PlanAndSolveAgent.run("T"))
        expect(value.pastSteps.map((step) => [step.id, step.step, step.status])).toEqual([
          ["1", "A", "completed"],
          ["2", "B", "failed"],
          ["4", "B another way", "completed"],
          ["3", "C", "completed"]
        ])
        const [prompt = ""] = yield* promptsOf("replanner")
        for (const part of ["2. B\n3. C", "result of A", "site is down"]) expect(prompt).toContain(part)
        expect(of(events, "Replanned").map(({ before, after, cause }) => ({ before, after, cause }))).toEqual([
          {
            before: [{ id: "3", text: "C", dependsOn: [] }],
            after: [
              { id: "4", text: "B another way", dependsOn: [] },
              { id: "3", text: "C", dependsOn: [] }
            ],
            cause: { id: "2", step: "B", result: "site is down", status: "failed" }
          }
        ])
      }).pipe(
        Effect.provide(
          world([
            list("A", "B", "C"),
            "SUCCESS: result of A",
            "FAILURE: site is down",
            list("B another way", "C"),
            "SUCCESS: b",
            "SUCCESS: c",
            "All."
          ])
        )
      )
  )

  it.effect(
    "when replans ran out with a step still failed, says plainly that it could not be completed, and what is missing",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(PlanAndSolveAgent.run("T"))
        expect(error._tag).toBe("NotCompleted")
        if (error._tag !== "NotCompleted") return
        expect(error.answer).toContain("The task could not be completed.")
        expect(error.answer).toContain("I found a.")
        expect(error.missing).toEqual(["B3 (no)"])
        expect(error.progress.pastSteps.map((step) => step.status)).toEqual([
          "completed",
          "failed",
          "failed",
          "failed",
          "completed"
        ])
        const roles = (yield* requests).map((request) => request.role)
        expect(roles.filter((role) => role === "replanner").length).toBe(2)
        expect((yield* promptsOf("finalizer"))[0]).toContain("could not be completed")
      }).pipe(
        Effect.provide(
          world([
            list("A", "B"),
            "SUCCESS: a",
            "FAILURE: no",
            list("B2"),
            "FAILURE: no",
            list("B3", "C"),
            "FAILURE: no",
            "SUCCESS: c",
            "I found a."
          ])
        )
      )
  )

  it.effect("with no replans a failed step is not replanned", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T", { maxReplans: 0 }))
      expect(error._tag).toBe("NotCompleted")
    }).pipe(Effect.provide(world([list("A"), "FAILURE: no", "Nothing."])))
  )

  it.effect("a sub-agent that reaches its cap has failed its step, and its last words are kept", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T", { maxTurns: 1, maxReplans: 0 }))
      expect(error.progress.pastSteps[0]?.result).toContain("No final answer within 1 turns")
      expect(error.progress.pastSteps[0]?.result).toContain("Let me look")
    }).pipe(
      Effect.provide(
        world([
          list("A"),
          { text: "Let me look", toolCalls: [{ id: "1", name: "Search", arguments: '{"input":"x"}' }] },
          "Nothing."
        ])
      )
    )
  )

  it.effect("keeps its steps when a model cannot be reached", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T"))
      expect(error).toMatchObject({ _tag: "LlmError", progress: { pastSteps: [{ result: "a" }] } })
    }).pipe(
      Effect.provide(world([list("A", "B"), "SUCCESS: a", new Llm.LlmError({ reason: Llm.Reason.Unavailable() })]))
    )
  )

  it.effect("results: every later step sees each completed step in full, however long", () => {
    const long = `${"x".repeat(5000)} 1412175000`
    return Effect.gen(function* () {
      yield* PlanAndSolveAgent.run("T")
      expect(fenced((yield* promptsOf("executor"))[1] ?? "")).toEqual([long])
    }).pipe(Effect.provide(world([list("A", "B"), `SUCCESS: ${long}`, "SUCCESS: b", "AB."])))
  })

  it.effect("collected: later steps read the named values, each with its source step", () =>
    Effect.gen(function* () {
      const { collectedData } = yield* PlanAndSolveAgent.run("T", { dataFlow: "collected" })
      expect(collectedData).toEqual({
        china: { value: "1412175000", step: 1 },
        india: { value: "1417173173", step: 2 }
      })
      const [, second = ""] = yield* promptsOf("executor")
      expect(second).toContain("china (from step 1):\n```value\n1412175000\n```")
      expect(second).not.toContain("A long story")
    }).pipe(
      Effect.provide(
        world([
          list("A", "B"),
          '{"status":"completed","result":"A long story","collected":{"china":1412175000}}',
          '{"status":"completed","result":"b","collected":{"india":"1417173173"}}',
          "AB."
        ])
      )
    )
  )

  const declared = (...steps: ReadonlyArray<unknown>) => JSON.stringify({ steps })
  it.effect("declared: a step sees just its declared inputs", () =>
    Effect.gen(function* () {
      yield* PlanAndSolveAgent.run("T", { dataFlow: "declared" })
      const [, , third = ""] = yield* promptsOf("executor")
      expect(fenced(third)).toEqual(["2"])
      expect(third).not.toContain("secret")
    }).pipe(
      Effect.provide(
        world([
          declared(
            { step: "A", inputs: [], outputs: ["a"] },
            { step: "B", inputs: [], outputs: ["b"] },
            { step: "C", inputs: [{ step: 2, output: "b" }], outputs: [] }
          ),
          '{"status":"completed","result":"secret","collected":{"a":"secret"}}',
          '{"status":"completed","result":"2","collected":{"b":2}}',
          '{"status":"completed","result":"c","collected":{}}',
          "C."
        ])
      )
    )
  )

  it.effect("declared: the plan's data flow is validated before the first step runs, all faults at once", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T", { dataFlow: "declared" }))
      expect(error).toMatchObject({ _tag: "ParseError", problem: "bad_data_flow", progress: { pastSteps: [] } })
      const message = (yield* requests)[1]?.messages.at(-1)?.content ?? ""
      for (const part of ["step 1 needs an output of step 2", 'step 2 needs "x" of step 1'])
        expect(message).toContain(part)
    }).pipe(
      Effect.provide(
        world(
          Array.from({ length: 2 }, () =>
            declared(
              { step: "A", inputs: [{ step: 2, output: "b" }], outputs: [] },
              { step: "B", inputs: [{ step: 1, output: "x" }], outputs: ["b"] }
            )
          )
        )
      )
    )
  )

  it.effect("declared: a step that does not give its declared outputs has failed", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T", { dataFlow: "declared", maxReplans: 0 }))
      expect(error.progress.pastSteps[0]?.result).toContain("did not give a")
    }).pipe(
      Effect.provide(
        world([
          declared({ step: "A", inputs: [], outputs: ["a"] }),
          '{"status":"completed","result":"done","collected":{}}',
          "Nothing."
        ])
      )
    )
  )

  it.effect("VR-02: a plan on one line is carried out step by step, with a warning", () =>
    Effect.gen(function* () {
      const { events, value } = yield* withEvents(PlanAndSolveAgent.run("T"))
      expect(value.pastSteps.map((step) => step.step)).toEqual(["Open", "Count"])
      expect(warnings(events, "inline_list").length).toBe(1)
    }).pipe(Effect.provide(world(["1. Open 2. Count", "SUCCESS: a", "SUCCESS: b", "A."])))
  )

  it.effect("a plan over the cap is asked for again, then cut, and an event says so", () =>
    Effect.gen(function* () {
      const { events } = yield* withEvents(PlanAndSolveAgent.run("T", { maxPlanLength: 1 }))
      expect(of(events, "PlanTruncated")[0]).toMatchObject({ kept: ["A"], dropped: ["B"] })
    }).pipe(Effect.provide(world([list("A", "B"), list("A", "B"), "SUCCESS: a", "A."])))
  )

  it.effect("a step that no budget is left for has failed; what is reserved for the last call still answers", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolveAgent.run("T"))
      expect(error).toMatchObject({
        _tag: "NotCompleted",
        missing: [expect.stringContaining("B (The executor"), "C (not carried out)"],
        progress: { pastSteps: [{ status: "completed", result: "a" }, { status: "failed" }] }
      })
      expect(error._tag === "NotCompleted" && error.answer).toContain("I found a.")
    }).pipe(
      Effect.provide(
        world([
          list("A", "B", "C"),
          "SUCCESS: a",
          new Llm.LlmError({ reason: Llm.Reason.BudgetExhausted("calls"), role: "executor" }),
          "I found a."
        ])
      )
    )
  )

  it("has typed errors", () => {
    const run = PlanAndSolveAgent.run("T")
    expectTypeOf<Effect.Effect.Error<typeof run>["_tag"]>().toEqualTypeOf<
      "NotCompleted" | "PlanRefused" | "ParseError" | "TruncatedReply" | "LlmError"
    >()
    expect(() => PlanAndSolveAgent.run("T", { maxReplans: -1 })).toThrow(RangeError)
  })
})

describe("The demonstration tasks", () => {
  const populations = { China: 1_412_175_000, "the United States": 333_287_557, India: 1_417_173_173 }
  const lookup = (input: string) =>
    `${"According to the census bureau's most recent estimate, which was published with the usual reservations, "}the population of ${input} is ${populations[input as keyof typeof populations]}.`

  /** A model that can only use the numbers in its prompt, and makes one up where it finds none. */
  const honest = (request: Llm.Request): string => {
    const prompt = request.messages[1]?.content ?? ""
    const numbers = fenced(prompt).map((text) => Number(/is (\d+)\./.exec(text ?? "")?.[1] ?? 1_000_000_000))
    const total = numbers.reduce((sum, value) => sum + value, 0)
    return `SUCCESS: total ${total}, share of China ${((100 * (numbers[0] ?? 0)) / total).toFixed(2)}%`
  }
  const script = (cutAt: number): ReadonlyArray<ScriptedLlm.Line> => {
    const observed = (request: Llm.Request) => {
      const observation = request.messages.at(-1)?.content ?? ""
      const text = /```observation\n([\s\S]*?)\n```/.exec(observation)?.[1] ?? ""
      return `SUCCESS: ${text.slice(0, cutAt)}`
    }
    return [
      list(...Object.keys(populations).map((name) => `Look up ${name}`), "Add up and divide"),
      ...Object.keys(populations).flatMap((name): ReadonlyArray<ScriptedLlm.Line> => [asks("Lookup", name), observed]),
      honest,
      (request) => fenced(request.messages[0]?.content ?? "").at(-1) ?? ""
    ]
  }

  it.effect("1: the populations of China, the United States and India, with results in full: right", () =>
    Effect.gen(function* () {
      const { answer } = yield* PlanAndSolveAgent.run("The total, and China's share?")
      expect(answer).toBe("total 3162635730, share of China 44.65%")
    }).pipe(Effect.provide(world(script(10_000), { Lookup: { gives: lookup } })))
  )

  it.effect("1: with results cut to 100 characters it goes wrong: the numbers are lost and made up", () =>
    Effect.gen(function* () {
      const { answer } = yield* PlanAndSolveAgent.run("The total, and China's share?")
      expect(answer).toBe("total 3000000000, share of China 33.33%")
    }).pipe(Effect.provide(world(script(100), { Lookup: { gives: lookup } })))
  )

  it.effect(
    "2: a phone's price in yuan: the calculator rejects a function it does not know, and the answer is right",
    () =>
      Effect.gen(function* () {
        const { answer, pastSteps } = yield* PlanAndSolveAgent.run("What does the phone cost in yuan?")
        expect(answer).toBe("The phone costs 7192.8 yuan.")
        expect(pastSteps.every((step) => step.status === "completed")).toBe(true)
        expect((yield* toolCalls).map((call) => [call.input, call.outcome])).toEqual([
          ["phone price in USD", "ok"],
          ["USD to CNY", "ok"],
          ["convert(999, 7.2)", "error"],
          ["999 * 7.2", "ok"]
        ])
      }).pipe(
        Effect.provide(
          world(
            [
              list("Find the price in US dollars", "Find the exchange rate", "Calculate the price in yuan"),
              asks("Lookup", "phone price in USD"),
              "SUCCESS: 999",
              asks("Lookup", "USD to CNY"),
              "SUCCESS: 7.2",
              asks("Calculator", "convert(999, 7.2)"),
              asks("Calculator", "999 * 7.2"),
              "SUCCESS: 7192.8",
              "The phone costs 7192.8 yuan."
            ],
            {
              Lookup: { gives: (input) => (input === "USD to CNY" ? "7.2" : "999") },
              Calculator: {
                gives: (input) =>
                  input.startsWith("convert") ? Effect.fail(new Error("unknown function convert")) : "7192.8"
              }
            }
          )
        )
      )
  )
})
