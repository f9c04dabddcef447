/** How a reply ended decides whether it is used, and every request keeps an order that strict chat templates take. */
import { describe, expect, it } from "@effect/vitest"
import type * as Llm from "@forethought/core/Llm"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import type * as Toolbox from "@forethought/core/Toolbox"
import type { ScriptedLlm } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import { requests, toolCalls, warnings, withEvents, world } from "./world.js"

const ended = (text: string, word: string | undefined, calls: ReadonlyArray<string> = []): ScriptedLlm.Line => ({
  text,
  toolCalls: calls.map((input, index) => ({
    id: `c${index}`,
    name: "Search",
    arguments: JSON.stringify({ input })
  })),
  finishReason: "other",
  ...(word === undefined ? {} : { rawFinishReason: word })
})

const calls = (...inputs: ReadonlyArray<string>): ScriptedLlm.Line => ({
  text: "",
  toolCalls: inputs.map((input, index) => ({ id: `c${index}`, name: "Search", arguments: JSON.stringify({ input }) })),
  finishReason: "tool-calls"
})

describe("how a reply ended", () => {
  it.effect.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "malformed_tool_use", "tool_use_failed"])(
    "NW-12: after %s the turn is asked for again, and the sentence is not the answer",
    (word) =>
      Effect.gen(function* () {
        expect(yield* ReAct.run("T")).toMatchObject({ answer: "Done." })
        expect((yield* requests)[1]?.messages.at(-1)?.content).toContain("could not be read")
      }).pipe(Effect.provide(world([ended("Let me look that up.", word), "Done."])))
  )

  it.effect("NW-12: a tool call that was announced and did not arrive is asked for again", () =>
    Effect.gen(function* () {
      expect(yield* ReAct.run("T")).toMatchObject({ answer: "Done." })
    }).pipe(Effect.provide(world([{ text: "I will look.", finishReason: "tool-calls" }, "Done."])))
  )

  it.effect.each(["MAX_TOKENS", "FinishReason.MAX_TOKENS", "Length", "max_output_tokens", "token_limit"])(
    "NW-08: a plan that ended by %s runs no step",
    (word) =>
      Effect.gen(function* () {
        const cut = ended("1. Fetch the list\n2. Delete the ol", word)
        const error = yield* Effect.flip(PlanAndExecute.run("G")).pipe(Effect.provide(world([cut, cut])))
        expect(error).toMatchObject({ _tag: "TruncatedReply", progress: { pastSteps: [] } })
      })
  )

  it.effect("NW-08: nor do the tool calls of such a reply", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(ReAct.run("T"))).toMatchObject({ _tag: "TruncatedReply" })
      expect(yield* toolCalls).toEqual([])
    }).pipe(Effect.provide(world([ended("", "MAX_TOKENS", ["x"]), ended("", "MAX_TOKENS", ["x"])])))
  )

  it.effect.each(["abort", "error", "insufficient_system_resource", "network_error"])(
    "a reply that broke off (%s) is an error that a retry may help, and nothing of it is used",
    (word) =>
      Effect.gen(function* () {
        const broken = ended("1. Fetch\n2. Delete", word, ["x"])
        const runs: ReadonlyArray<Effect.Effect<Error, unknown, Llm.Llm | Toolbox.Toolbox>> = [
          Effect.flip(ReAct.run("T")),
          Effect.flip(PlanAndExecute.run("G")),
          Effect.flip(Adapt.run("T"))
        ]
        for (const run of runs) {
          const error = yield* Effect.orDie(run).pipe(Effect.provide(world([broken])))
          expect(error).toMatchObject({ _tag: "LlmError", reason: { _tag: "Unavailable", isRetryable: true } })
          expect(error.message).toContain(word)
        }
      })
  )

  it.effect.each(["SAFETY", "blocked_by_policy", "refusal", "sensitive"])(
    "a filtered reply (%s) is a refusal",
    (word) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(ReAct.run("T"))
        expect(error).toMatchObject({ _tag: "LlmError", reason: { _tag: "Refused" } })
        expect(yield* toolCalls).toEqual([])
      }).pipe(Effect.provide(world([ended("Sure.", word, ["x"])])))
  )

  it.effect.each(["eos", "complete", undefined])(
    "any other end (%s) is accepted, with a warning that names it",
    (word) =>
      Effect.gen(function* () {
        const { events, value } = yield* withEvents(ReAct.run("T"))
        expect(value).toMatchObject({ answer: "Done." })
        expect(yield* toolCalls).toHaveLength(1)
        const told = warnings(events, "unknown_finish_reason")
        expect(told).toHaveLength(2)
        expect(told[0]).toContain(word ?? "no finish reason")
      }).pipe(Effect.provide(world([ended("", word, ["x"]), ended("Done.", word)])))
  )
})

/** What strict chat templates refuse: two users in a row, a user behind a tool's result, an empty turn of the model. */
const faults = (messages: ReadonlyArray<Llm.Message>): ReadonlyArray<string> =>
  messages.flatMap((message, index) => {
    const before = messages[index - 1]?.role
    const isEmpty = message.role === "assistant" && message.content === "" && (message.toolCalls ?? []).length === 0
    return [
      ...(message.role === "user" && (before === "user" || before === "tool")
        ? [`${index}: user behind ${before}`]
        : []),
      ...(message.role === "assistant" && before === "assistant" ? [`${index}: two turns in a row`] : []),
      ...(isEmpty ? [`${index}: an empty turn`] : [])
    ]
  })

describe("NW-29: the order of messages", () => {
  const plan = "Plan: look\n#E1 = Search[x]"
  type Case = readonly [
    name: string,
    run: Effect.Effect<unknown, unknown, Llm.Llm | Toolbox.Toolbox>,
    script: ReadonlyArray<ScriptedLlm.Line>
  ]
  const cases: ReadonlyArray<Case> = [
    ["native: an empty reply behind a tool's result", ReAct.run("T"), [calls("x"), "", "Done."]],
    ["native: an empty reply at once", ReAct.run("T"), ["", "Done."]],
    ["native: thinking alone", ReAct.run("T"), [calls("x"), "<think>hm</think>", "Done."]],
    ["native: a call in text", ReAct.run("T"), [calls("x"), '<tool_call>{"name":"Search"}</tool_call>', "Done."]],
    ["native: a malformed call", ReAct.run("T"), [calls("x"), ended("", "MALFORMED_FUNCTION_CALL"), "Done."]],
    ["native: a cut call", ReAct.run("T"), [ended("", "length", ["x"]), "Done."]],
    ["text: an empty reply", ReAct.run("T", { protocol: "text" }), ["", "Final Answer: Done."]],
    [
      "text: an empty reply behind an observation",
      ReAct.run("T", { protocol: "text" }),
      ["Action: Search\nAction Input: x", "", "Final Answer: Done."]
    ],
    ["an empty plan", PlanAndExecute.run("G"), ["", "1. Do", "Done.", '{"final_answer": "x"}']],
    ["an empty ReWOO plan", Rewoo.parallel("Q"), ["", plan, "Done."]],
    ["empty reasoning", PlanAndSolve.run("Q", { answerFormat: AnswerFormat.number }), ["", "It is 4.", "4"]],
    ["an empty plan of the agent", PlanAndSolveAgent.run("T"), ["", "1. Do", "Done.", "Done."]]
  ]
  it.effect.each(cases)("%s", ([_, run, script]) =>
    Effect.gen(function* () {
      yield* Effect.exit(run)
      const sent = yield* requests
      expect(sent.length).toBeGreaterThan(1)
      expect(sent.flatMap(({ call, messages }) => faults(messages).map((fault) => `${call} ${fault}`))).toEqual([])
    }).pipe(Effect.provide(world(script)))
  )
})
