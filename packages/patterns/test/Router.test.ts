import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Router from "@forethought/patterns/Router"
import * as Effect from "effect/Effect"
import { of, patterns, prompts, requests, withEvents, world } from "./world.js"

const chooses = (pattern: string) => ({ role: "router" as const, says: JSON.stringify({ pattern, reason: "because" }) })

describe("Router", () => {
  it.effect("chooses by the table, which its prompt shows", () =>
    Effect.gen(function* () {
      expect(yield* Router.route("T")).toEqual({ pattern: "adapt", reason: "because" })
      const [prompt = ""] = yield* prompts
      for (const { chooseWhen, name } of patterns) expect(prompt).toContain(`- ${name}: ${chooseWhen}`)
      expect((yield* requests)[0]?.format?.schema).toMatchObject({ required: ["pattern", "reason"] })
    }).pipe(Effect.provide(world([chooses("adapt")])))
  )

  it.effect("asks again once, then falls back, and says so", () =>
    Effect.gen(function* () {
      const { value, events } = yield* withEvents(Router.route("T", { fallback: "rewoo" }))
      expect(value.pattern).toBe("rewoo")
      expect(of(events, "Routed")).toMatchObject([{ pattern: "rewoo", fallback: true }])
      expect((yield* requests)[1]?.messages.at(-1)?.content).toContain('"plan-and-execute"')
    }).pipe(Effect.provide(world(["Use magic.", chooses("magic")])))
  )

  it.effect("offers only the patterns it is given, and falls back to one of them", () =>
    Effect.gen(function* () {
      const { pattern } = yield* Router.route("T", { patterns: [Rewoo.sequentialPattern, Adapt.pattern] })
      expect(pattern).toBe("rewoo")
    }).pipe(Effect.provide(world([chooses("react"), chooses("react")])))
  )

  it.effect("a model that cannot be reached is no reason to fall back", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Router.route("T"))
      expect(error.reason._tag).toBe("Unavailable")
    }).pipe(Effect.provide(world([new Llm.LlmError({ reason: Llm.Reason.Unavailable() })])))
  )

  const runs: ReadonlyArray<readonly [string, ReadonlyArray<string>, string, string]> = [
    ["react", ["4"], "4", "react/turn-1"],
    ["plan-and-solve", ["2 + 2 = 4", "4"], "4", "plan-and-solve/reasoner"],
    ["rewoo", ["#E1 = Search[x]", "4"], "4", "rewoo/planner"],
    ["rewoo-parallel", ["#E1 = Search[x]", "4"], "4", "rewoo-parallel/planner"],
    ["plan-and-solve-agent", ["1. A", "SUCCESS: 4", "4"], "4", "plan-and-solve-agent/planner"],
    ["plan-and-execute", ["1. A", "4", '{"final_answer":"4"}'], "4", "plan-and-execute/planner"],
    ["adapt", ["SUCCESS: 4"], "4", "adapt/1/executor/turn-1"]
  ]
  it.effect.each(runs)("runs %s when it is chosen, and names its calls under it", ([pattern, script, answer, call]) =>
    Effect.gen(function* () {
      const routed = yield* Router.run("T", { patterns })
      expect(routed.pattern).toBe(pattern)
      expect(routed.answer).toBe(answer)
      expect((yield* requests)[1]?.call).toBe(call)
    }).pipe(Effect.provide(world([chooses(pattern), ...script])))
  )

  it.effect("demonstration task 3: 2^10 + 3^5 goes to ReAct, and is one calculation", () =>
    Effect.gen(function* () {
      const routed = yield* Router.run("What is 2^10 + 3^5?", { patterns })
      expect(routed.pattern).toBe("react")
      expect(routed.answer).toBe("1267")
      expect((yield* requests).length).toBe(3)
    }).pipe(
      Effect.provide(
        world(
          [
            chooses("react"),
            { toolCalls: [{ id: "1", name: "Calculator", arguments: '{"input":"2^10 + 3^5"}' }] },
            "1267"
          ],
          { Calculator: "1267" }
        )
      )
    )
  )

  it("refuses wrong options where the program is built", () => {
    expect(() => Router.route("T", { patterns: [] })).toThrow(/at least one pattern/)
    expect(() => Router.route("T", JSON.parse('{"patterns":[{"name":"adapt"}],"fallback":"react"}'))).toThrow(
      RangeError
    )
    expect(() => Router.run("T", { patterns, ...JSON.parse('{"reAct":{}}') })).toThrow(/unknown option "reAct"/)
  })
})
