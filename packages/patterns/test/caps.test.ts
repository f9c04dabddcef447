/** What an executor may use, whatever it is made of; what a failed step hands on; options that are wrong from the start. */
import { describe, expect, it } from "@effect/vitest"
import type { Executor, ExecutorResult } from "@forethought/core/Executor"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ToolCap from "@forethought/core/ToolCap"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { of, promptsOf, requests, toolCalls, warnings, withEvents, world } from "./world.js"

/** A model that asks for as many calls as it can: several at once, and again in each step, task and plan. */
const greedy = (perTurn: number, verdict: string): Llm.Service => {
  let asked = 0
  return {
    complete: (request) =>
      Effect.sync(() => {
        asked += 1
        if (request.format?.name === "decomposition") {
          return Llm.reply(JSON.stringify({ logic: "or", sub_steps: [`one ${asked}`, `two ${asked}`] }))
        }
        if (request.role === "planner") {
          return Llm.reply(
            request.messages[0]?.content.includes("#E1") === true
              ? Array.from({ length: perTurn }, (_, i) => `#E${i + 1} = T[x]`).join("\n")
              : "1. one\n2. two"
          )
        }
        if (request.role === "replanner") return Llm.reply('1. again\n{"remaining_steps":["again"]}')
        if (request.role !== "executor") return Llm.reply("done")
        const called = request.messages.filter(({ role }) => role === "tool").length
        if (called >= 3 * perTurn) return Llm.reply(verdict)
        const calls = Array.from({ length: perTurn }, (_, i) => ({
          id: `c${asked}-${i}`,
          name: "T",
          arguments: JSON.stringify({ input: `${asked}-${i}` })
        }))
        return Llm.reply("", { toolCalls: calls })
      })
  }
}

const said = (result: string): ExecutorResult => ({ status: "completed", result })

/** Options as a program without types might give them. */
const loose = (options: object) => JSON.parse(JSON.stringify(options))

const executors: ReadonlyArray<readonly [name: string, executor: Executor<unknown, Llm.Llm | Toolbox.Toolbox>]> = [
  ["ReAct", ReAct.executor],
  ["Rewoo", Rewoo.executor],
  ["Rewoo with other options", Rewoo.executorWith({ concurrency: 8 })],
  ["Adapt", Adapt.executor],
  ["Adapt, deep", Adapt.executorWith({ maxDepth: 4 })],
  ["PlanAndSolveAgent", PlanAndSolveAgent.executor],
  ["PlanAndSolveAgent, with calls of its own", PlanAndSolveAgent.executorWith({ react: { maxToolCalls: 50 } })],
  ["Adapt around PlanAndSolveAgent", Adapt.executorWith({ executor: PlanAndSolveAgent.executor })],
  ["Adapt around Rewoo", Adapt.executorWith({ executor: Rewoo.executor })]
]

describe("AU-09: the caller's maxToolCalls bounds all tool calls of an executor", () => {
  for (const [name, executor] of executors) {
    for (const maxToolCalls of [0, 1, 2, 5]) {
      for (const [perTurn, verdict] of [
        [1, "FAILURE: no"],
        [1, "SUCCESS: yes"],
        [8, "FAILURE: no"],
        [8, "SUCCESS: yes"]
      ] as const) {
        it.effect(`${name}, at most ${maxToolCalls}, ${perTurn} a turn, ${verdict}`, () => {
          let calls = 0
          const tool = Tool.make({
            name: "T",
            description: "",
            readOnly: true,
            execute: (input) =>
              Effect.as(
                Effect.sync(() => calls++),
                `r ${input}`
              )
          })
          const input = { goal: "g", step: "s", pastSteps: [], maxToolCalls, call: "step-1/executor" }
          return Effect.gen(function* () {
            yield* Effect.either(executor(input))
            expect(calls).toBeLessThanOrEqual(maxToolCalls)
            // As a step of a plan too, and each step has as many anew.
            calls = 0
            yield* Effect.either(PlanAndExecute.run("g", { executor, maxToolCalls, maxSteps: 3 }))
            expect(calls).toBeLessThanOrEqual(3 * maxToolCalls)
          }).pipe(
            Effect.provide(
              Layer.mergeAll(
                Toolbox.layer([tool]),
                Layer.succeed(Llm.Llm, greedy(perTurn, verdict)),
                Journal.layer(Journal.silent)
              )
            )
          )
        })
      }
    }
  }

  const runsOfTheirOwn: ReadonlyArray<readonly [string, Executor<unknown, Llm.Llm | Toolbox.Toolbox>]> = [
    ["a loop", ({ step }) => Effect.map(ReAct.run(step), ({ answer }) => said(answer))],
    ["a plan", ({ step }) => Effect.map(PlanAndExecute.run(step), ({ answer }) => said(answer))],
    [
      "calls of the toolbox",
      ({ call }) =>
        Effect.flatMap(Toolbox.Toolbox, (toolbox) =>
          Effect.as(
            Effect.forEach([1, 2, 3], (i) =>
              Effect.either(toolbox.call({ call: `${call}/${i}`, tool: "T", input: "" }))
            ),
            said("FAILURE: no")
          )
        )
    ]
  ]
  for (const [name, executor] of runsOfTheirOwn) {
    for (const maxToolCalls of [0, 1, 2]) {
      it.effect(`an executor of an app's own that does not look at its cap, ${name}, at most ${maxToolCalls}`, () => {
        let calls = 0
        const tool = Tool.make({ name: "T", description: "", execute: () => Effect.sync(() => String(calls++)) })
        return Effect.gen(function* () {
          yield* Effect.either(PlanAndExecute.run("g", { executor, maxToolCalls, maxSteps: 1 }))
          expect(calls).toBe(maxToolCalls)
          yield* Effect.either(Adapt.run("g", { executor, maxToolCalls, maxDepth: 1 }))
          expect(calls).toBe(2 * maxToolCalls)
        }).pipe(
          Effect.provide(
            Layer.mergeAll(
              Toolbox.layer([tool]),
              Layer.succeed(Llm.Llm, greedy(1, "FAILURE: no")),
              Journal.layer(Journal.silent)
            )
          )
        )
      })
    }
  }

  it("a bound that is no whole number is refused", () => {
    for (const most of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => ToolCap.within(most)).toThrow(RangeError)
      expect(() => ToolCap.make({ tools: [], call: () => Effect.succeed("") }, most)).toThrow(RangeError)
    }
  })

  it.effect("a call that was not made says so, and what may still be made is made", () =>
    Effect.gen(function* () {
      const result = yield* Rewoo.executor({ goal: "g", step: "s", pastSteps: [], maxToolCalls: 0, call: "c" })
      expect(result).toEqual({ status: "completed", result: "answer", toolCalls: { succeeded: 0, failed: 1 } })
      expect((yield* promptsOf("solver"))[0]).toContain(
        "Search failed: No tool call is allowed here, and none is left. The call was not made"
      )
      expect(yield* toolCalls).toEqual([])
    }).pipe(Effect.provide(world(["#E1 = Search[x]", "answer"])))
  )

  it.effect("a pattern that is offered as a tool is one call of its caller, and has caps of its own", () =>
    Effect.gen(function* () {
      const inner = ReAct.asTool({ name: "Sub" }, { maxToolCalls: 3 })
      const outer = Toolbox.layer([inner])
      const ask = (name: string, count: number) => ({
        toolCalls: Array.from({ length: count }, (_, i) => ({ id: `${i}`, name, arguments: `{"input":"${i}"}` }))
      })
      const run = PlanAndExecute.run("g", { maxToolCalls: 1 }).pipe(Effect.provide(outer))
      const { pastSteps } = yield* Effect.provide(
        Effect.zip(run, toolCalls),
        world(["1. use it", ask("Sub", 1), ask("Search", 3), "inner", "outer", '{"final_answer":"x"}'])
      ).pipe(
        Effect.map(([answered, calls]) => {
          expect(calls).toHaveLength(3)
          return answered
        })
      )
      expect(pastSteps).toMatchObject([{ status: "completed", result: "outer" }])
    })
  )
})

describe("a failed step hands on the errors of its tool calls", () => {
  const asks = (...inputs: ReadonlyArray<string>) => ({
    toolCalls: inputs.map((input, i) => ({ id: `${i}`, name: "Search", arguments: JSON.stringify({ input }) }))
  })
  const down = { Search: { fails: "HTTP 503" } }

  it.effect("to the replanner, where every call failed and the cap is reached", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndExecute.run("G", { maxToolCalls: 2 })
      expect(pastSteps[0]?.status).toBe("failed")
      expect(pastSteps[0]?.result).toBe(
        "No final answer within 2 tool calls.\nIts tool calls failed:\n- Search failed: HTTP 503"
      )
      expect((yield* promptsOf("replanner"))[0]).toContain("Search failed: HTTP 503")
    }).pipe(Effect.provide(world(["1. look", asks("a"), asks("b"), asks("c"), '{"final_answer":"x"}'], down)))
  )

  it.effect("where the loop is stuck, or its last reply is of no use, and each error once", () =>
    Effect.gen(function* () {
      const stuck = yield* Effect.provide(
        PlanAndExecute.run("G", { maxToolCalls: 5 }),
        world(["1. look", asks("a"), asks("a"), asks("a"), '{"final_answer":"x"}'], down)
      )
      expect(stuck.pastSteps[0]?.result.match(/HTTP 503/g)).toHaveLength(1)
      expect(stuck.pastSteps[0]?.result).toContain("stuck")
      const empty = yield* Effect.provide(
        PlanAndExecute.run("G"),
        world(["1. look", asks("a"), "", "", '{"final_answer":"x"}'], down)
      )
      expect(empty.pastSteps[0]?.result).toContain("HTTP 503")
    })
  )

  it.effect("of the calls of a plan too, where its solver says nothing", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndExecute.run("G", { executor: Rewoo.executor })
      expect(pastSteps[0]?.status).toBe("failed")
      expect(pastSteps[0]?.result).toContain("Its tool calls failed:\n- Search failed: HTTP 503")
      expect(pastSteps[0]?.result).not.toContain("Skipped")
    }).pipe(Effect.provide(world(["1. look", "#E1 = Search[a]\n#E2 = Search[#E1]", "", '{"final_answer":"x"}'], down)))
  )

  it.effect("not those of calls that succeeded, and at most ten of them, each cut", () =>
    Effect.gen(function* () {
      const inputs = Array.from({ length: 20 }, (_, i) => `e${i}`)
      const gives = (input: string) => (input === "e3" ? "fine" : Effect.fail(`${input} ${"x".repeat(5_000)}`))
      const { pastSteps } = yield* Effect.provide(
        PlanAndExecute.run("G", { maxToolCalls: 20 }),
        world(["1. look", asks(...inputs), asks("more"), '{"final_answer":"x"}'], { Search: { gives } })
      )
      const result = pastSteps[0]?.result ?? ""
      expect(result).not.toContain("fine")
      expect(result).toContain("(9 earlier errors)")
      expect(result).toContain("e19 ")
      expect(result.length).toBeLessThan(11_000)
    })
  )

  it.effect("to the agent's replanner, and to ADaPT's planner", () =>
    Effect.gen(function* () {
      const agent = Effect.zipRight(PlanAndSolveAgent.run("T", { maxTurns: 1 }), promptsOf("replanner"))
      const [replanner] = yield* Effect.provide(
        agent,
        world(["1. look", asks("a"), "1. other", "SUCCESS: x", "done"], down)
      )
      expect(replanner).toContain("Search failed: HTTP 503")
      const adapt = Effect.zipRight(
        Effect.either(Adapt.run("T", { maxToolCalls: 1, maxDepth: 2 })),
        promptsOf("planner")
      )
      const [planner] = yield* Effect.provide(adapt, world([asks("a"), asks("b"), "no plan", "no plan"], down))
      expect(planner).toContain("Search failed: HTTP 503")
    })
  )
})

describe("the agent's report", () => {
  it.effect("without a verdict is a completed step, with a warning", () =>
    Effect.gen(function* () {
      for (const [report, told] of [
        ["I found it: 42", 1],
        ["SUCCESS: 42", 0]
      ] as const) {
        const { events, value } = yield* Effect.provide(
          withEvents(PlanAndSolveAgent.run("T")),
          world(["1. look", report, "done"])
        )
        expect(value.pastSteps).toMatchObject([{ status: "completed" }])
        expect(warnings(events, "no_verdict")).toHaveLength(told)
      }
      const { events } = yield* Effect.provide(
        withEvents(PlanAndSolveAgent.run("T", { dataFlow: "collected" })),
        world([
          "1. a\n2. b\n3. c",
          '{"result":"x","collected":{}}',
          "plain",
          '{"status":"completed","result":"y"}',
          "done"
        ])
      )
      expect(warnings(events, "no_verdict")).toHaveLength(2)
      expect(of(events, "StepEnded").map(({ status }) => status)).toEqual(["completed", "completed", "completed"])
    })
  )

  const statuses: ReadonlyArray<readonly [status: unknown, became: "completed" | "failed", warnings: number]> = [
    ["completed", "completed", 0],
    ["Complete.", "completed", 0],
    ["SUCCESS", "completed", 0],
    ["done", "completed", 0],
    ["failed", "failed", 0],
    ["Failure", "failed", 0],
    ["error", "failed", 0],
    ["in progress", "completed", 1],
    ["partial", "completed", 1],
    ["", "completed", 1],
    [null, "completed", 1],
    [true, "completed", 1]
  ]
  for (const dataFlow of ["collected", "declared"] as const) {
    it.effect.each(statuses)(`${dataFlow}, in JSON, with the status %j is %s`, ([status, became, told]) =>
      Effect.gen(function* () {
        const plan = dataFlow === "declared" ? '{"steps":[{"step":"a","inputs":[],"outputs":[]}]}' : "1. a"
        const report = JSON.stringify({ status, result: "x", collected: {} })
        const { events } = yield* Effect.provide(
          withEvents(Effect.either(PlanAndSolveAgent.run("T", { dataFlow, maxReplans: 0 }))),
          world([plan, report, "done"])
        )
        expect(of(events, "StepEnded").map((event) => event.status)).toEqual([became])
        expect(warnings(events, "no_verdict")).toHaveLength(told)
      })
    )
  }

  it.effect("that names no value hands on its result, cut; one that names values hands on those", () =>
    Effect.gen(function* () {
      yield* PlanAndSolveAgent.run("T", { dataFlow: "collected" })
      const asked = (yield* requests).filter(({ role }) => role === "executor")
      const last = asked.at(-1)?.messages.find(({ role }) => role === "user")?.content ?? ""
      expect(last).toContain("of 5,000 characters shown")
      expect(last).toContain("seen ".repeat(100))
      expect(last).toContain("n (from step 2)")
      expect(last).not.toContain("told elsewhere")
    }).pipe(
      Effect.provide(
        world([
          "1. a\n2. b\n3. c",
          JSON.stringify({ status: "completed", result: "seen ".repeat(1_000), collected: {} }),
          '{"status":"completed","result":"told elsewhere","collected":{"n":"5"}}',
          '{"status":"completed","result":"end","collected":{}}',
          "done"
        ])
      )
    )
  )

  it.effect("its planner is asked for 3 to maxPlanLength steps, independent where they can be", () =>
    Effect.gen(function* () {
      for (const [maxPlanLength, says] of [
        [undefined, "Write 3 to 7 steps"],
        [12, "Write 3 to 12 steps"],
        [4, "Write 3 to 4 steps"],
        [3, "Write at most 3 steps"],
        [1, "Write at most 1 steps"]
      ] as const) {
        const options = maxPlanLength === undefined ? {} : { maxPlanLength }
        const [prompt] = yield* Effect.provide(
          Effect.zipRight(PlanAndSolveAgent.run("T", options), promptsOf("planner")),
          world(["1. look", "SUCCESS: x", "done"])
        )
        expect(prompt).toContain(says)
        expect(prompt).toContain("independent")
      }
    })
  )
})

describe("a wrong option is refused where an executor or a tool is made", () => {
  const format = AnswerFormat.number
  const made: ReadonlyArray<readonly [name: string, make: (wrong: object) => unknown]> = [
    ["ReAct.asTool", (wrong) => ReAct.asTool({}, wrong)],
    ["ReAct.executorWith", (wrong) => ReAct.executorWith(wrong)],
    ["Rewoo.asTool", (wrong) => Rewoo.asTool({}, wrong)],
    ["Rewoo.executorWith", (wrong) => Rewoo.executorWith(wrong)],
    ["PlanAndExecute.asTool", (wrong) => PlanAndExecute.asTool({}, wrong)],
    ["PlanAndSolve.asTool", (wrong) => PlanAndSolve.asTool({ answerFormat: format, ...wrong })],
    ["Adapt.asTool", (wrong) => Adapt.asTool({}, wrong)],
    ["Adapt.executorWith", (wrong) => Adapt.executorWith(wrong)],
    ["PlanAndSolveAgent.asTool", (wrong) => PlanAndSolveAgent.asTool({}, wrong)],
    ["PlanAndSolveAgent.executorWith", (wrong) => PlanAndSolveAgent.executorWith(wrong)]
  ]
  for (const [name, make] of made) {
    it(name, () => {
      expect(() => make({})).not.toThrow()
      for (const wrong of [{ maxStep: 3 }, { prompts: { planer: "x" } }, { prompts: { planner: "{{nobody}}" } }]) {
        expect(() => make(wrong), JSON.stringify(wrong)).toThrow(RangeError)
      }
      if (!name.startsWith("ReAct")) expect(() => make({ reask: 3 })).toThrow(RangeError)
    })
  }

  it("what the caller of an executor decides is no option of it", () => {
    expect(() => ReAct.executorWith(loose({ maxToolCalls: 3 }))).toThrow(RangeError)
    expect(() => ReAct.executorWith(loose({ maxTurns: 3 }))).toThrow(RangeError)
    expect(() => Rewoo.executorWith(loose({ maxPlanLength: 3 }))).toThrow(RangeError)
    expect(() => Adapt.executorWith(loose({ maxToolCalls: 3 }))).toThrow(RangeError)
    expect(() => PlanAndSolveAgent.executorWith(loose({ maxTurns: 3 }))).toThrow(RangeError)
  })

  it("an option in the place of the name and the description", () => {
    for (const make of [ReAct, Rewoo, PlanAndExecute, Adapt, PlanAndSolveAgent]) {
      expect(() => make.asTool(loose({ maxTurns: 3 }))).toThrow(/unknown option "maxTurns"/)
    }
  })

  it("values too, also those of what is inside", () => {
    expect(() => ReAct.executorWith({ maxRepeats: 1 })).toThrow(RangeError)
    expect(() => Rewoo.executorWith({ concurrency: 0 })).toThrow(RangeError)
    expect(() => Rewoo.asTool({}, { maxPlanLength: 0 })).toThrow(RangeError)
    expect(() => Adapt.executorWith({ maxDepth: 0 })).toThrow(RangeError)
    expect(() => PlanAndSolveAgent.executorWith({ react: loose({ maxStep: 1 }) })).toThrow(RangeError)
    expect(() => PlanAndSolveAgent.asTool({}, { react: loose({ maxTurns: 3 }) })).toThrow(RangeError)
    expect(() => PlanAndSolveAgent.asTool({}, { react: loose({ format: {} }) })).toThrow(RangeError)
    expect(() => PlanAndExecute.asTool({}, loose({ executor: "react" }))).toThrow(/executor must be a function/)
    expect(() => Adapt.asTool({}, loose({ executor: {} }))).toThrow(/executor must be a function/)
    expect(() => Adapt.executorWith(loose({ verify: true }))).toThrow(/verify must be a function/)
    expect(() => PlanAndSolveAgent.asTool({}, { maxReplans: -1 })).toThrow(RangeError)
    expect(() => PlanAndExecute.asTool({}, { maxSteps: 0 })).toThrow(RangeError)
    expect(() => PlanAndSolve.asTool({ answerFormat: format, maxReasoningTokens: 0 })).toThrow(RangeError)
  })
})
