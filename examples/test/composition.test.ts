import * as AiModel from "@effect/ai/LanguageModel"
import { expect, it } from "@effect/vitest"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { adaptOverReAct, chat, planAndExecuteOverAdapt, reactWithResearch } from "../src/composition.js"

const calls = Effect.flatMap(ScriptedLlm.ScriptedLlm, ({ requests }) =>
  Effect.map(requests, (all) => all.map(({ call }) => call))
)

it.effect("Plan-and-Execute over ADaPT: a step that fails is split", () =>
  Effect.gen(function* () {
    const { answer, pastSteps } = yield* planAndExecuteOverAdapt("G")
    expect(answer).toBe("Done.")
    expect(pastSteps).toEqual([{ id: "1", step: "Do A", result: "x\ny", status: "completed" }])
    expect(yield* calls).toEqual([
      "planner",
      "step-1/executor/1/executor/turn-1",
      "step-1/executor/1/planner",
      "step-1/executor/1.1/executor/turn-1",
      "step-1/executor/1.2/executor/turn-1",
      "step-1/replanner"
    ])
  }).pipe(
    Effect.provide(
      Layer.merge(
        ScriptedLlm.layer([
          "1. Do A",
          "FAILURE: too much at once",
          '{"logic":"and","sub_steps":["Do X","Do Y"]}',
          "SUCCESS: x",
          "SUCCESS: y",
          '{"final_answer":"Done."}'
        ]),
        FakeTools.layer({})
      )
    )
  )
)

it.effect("ADaPT over ReAct, tools called by text", () =>
  Effect.gen(function* () {
    const { result } = yield* adaptOverReAct("T")
    expect(result).toBe("the key is under the mat")
  }).pipe(
    Effect.provide(
      Layer.merge(
        ScriptedLlm.layer([
          "Thought: look\nAction: Search\nAction Input: key",
          "Thought: done\nFinal Answer: SUCCESS: the key is under the mat"
        ]),
        FakeTools.layer({ Search: "under the mat" })
      )
    )
  )
)

const plan = "Plan: one\n#E1 = Lookup[population of France]\nPlan: two\n#E2 = Lookup[population of Spain]"

it.effect("ReAct calls a pattern as a tool, and its calls are named under the tool call", () =>
  Effect.gen(function* () {
    const { answer, turns } = yield* reactWithResearch("Which has more people, France or Spain?")
    expect(answer).toBe("France.")
    expect(turns[0]?.calls).toEqual([
      { tool: "Research", input: "France and Spain", outcome: "ok", observation: "66977107 and 46796540" }
    ])
    expect(yield* calls).toEqual(["turn-1", "turn-1/tool-1/planner", "turn-1/tool-1/solver", "turn-2"])
  }).pipe(
    Effect.provide(
      ScriptedLlm.layer([
        { toolCalls: [{ id: "1", name: "Research", arguments: '{"input":"France and Spain"}' }] },
        plan,
        "66977107 and 46796540",
        "France."
      ])
    )
  )
)

it.effect("a pattern is a tool of a LanguageModel of @effect/ai", () =>
  Effect.gen(function* () {
    const model = yield* AiModel.make({
      generateText: () =>
        Effect.succeed([
          { type: "tool-call" as const, id: "c1", name: "Research", params: { input: "France and Spain" } }
        ]),
      streamText: () => Stream.empty
    })
    const results = yield* Effect.provideService(chat("Which has more people?"), AiModel.LanguageModel, model)
    expect(results).toEqual(["Research: 66977107 and 46796540"])
  }).pipe(Effect.provide(ScriptedLlm.layer([plan, "66977107 and 46796540"])))
)
