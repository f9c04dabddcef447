import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Reask from "@forethought/core/Reask"
import { ParseError } from "@forethought/core/ReplyError"
import * as Run from "@forethought/core/Run"
import { ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"

const noYes = (reply: string) => new ParseError({ problem: "no_yes", expected: "the word `yes`", found: "no", reply })

const askYes = (reask?: Reask.Reask) =>
  Run.run("test", "task", (run) =>
    Reask.ask(run, {
      role: "planner",
      call: "planner",
      messages: [{ role: "user", content: "Say yes." }],
      ...(reask === undefined ? {} : { reask }),
      read: (text, attempt) => (text.includes("yes") ? Either.right({ text, attempt }) : Either.left(noYes(text)))
    })
  )

const scripted = (...script: ReadonlyArray<ScriptedLlm.Line>) =>
  Effect.provide(Layer.merge(ScriptedLlm.layer(script), Journal.layer(Journal.silent)))
const requests = Effect.flatMap(ScriptedLlm.ScriptedLlm, (model) => model.requests)

describe("Reask", () => {
  it.effect("gives the first reply that can be read", () =>
    Effect.map(askYes(), (read) => expect(read).toEqual({ text: "yes", attempt: 0 })).pipe(scripted("yes"))
  )

  it.effect("never asks again where that is chosen", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(askYes(Reask.never))).toMatchObject({ _tag: "ParseError", problem: "no_yes" })
      expect(yield* requests).toHaveLength(1)
    }).pipe(scripted("no"))
  )

  it.effect("asks again with the reply and the error appended", () =>
    Effect.gen(function* () {
      expect(yield* askYes()).toEqual({ text: "yes", attempt: 1 })
      const [, again] = yield* requests
      expect(again?.call).toBe("planner/reask-1")
      expect(again?.messages).toEqual([
        { role: "user", content: "Say yes." },
        { role: "assistant", content: "no" },
        {
          role: "user",
          content:
            "Your reply could not be used.\nExpected the word `yes`, but found no.\nReply again, in the format asked for and with nothing else."
        }
      ])
    }).pipe(scripted("no", "yes"))
  )

  it.effect("shows the model its first reply and then its second, each with its own error", () =>
    Effect.gen(function* () {
      yield* askYes(Schedule.recurs(2))
      const third = (yield* requests)[2]
      expect(
        third?.messages.filter((message) => message.role === "assistant").map((message) => message.content)
      ).toEqual(["second no"])
    }).pipe(scripted("first no", "second no", "yes"))
  )

  it.effect("fails with the last error when the schedule ends", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(askYes())
      expect(error).toMatchObject({ _tag: "ParseError", reply: "no again" })
    }).pipe(scripted("no", "no again"))
  )

  it.effect("waits as long as the schedule says", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(askYes(Schedule.fixed("1 second")))
      yield* TestClock.adjust("999 millis")
      expect((yield* requests).length).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect((yield* Fiber.join(fiber)).attempt).toBe(1)
    }).pipe(scripted("no", "yes"))
  )

  const length = "length" as const
  const unusable: ReadonlyArray<readonly [name: string, reply: ScriptedLlm.Line, error: object, says: string]> = [
    [
      "cut off",
      { text: "ye", finishReason: length },
      { _tag: "TruncatedReply", text: "ye", role: "planner" },
      "cut off"
    ],
    ["cut off, though it could be read", { text: "yes", finishReason: length }, { _tag: "TruncatedReply" }, "cut off"],
    ["empty", "", { _tag: "LlmError", reason: { _tag: "EmptyReply", onlyReasoning: false } }, "empty"],
    ["white space", " \n\u200b", { _tag: "LlmError", reason: { _tag: "EmptyReply" } }, "empty"],
    [
      "only thinking",
      "<think>yes</think>",
      { _tag: "LlmError", reason: { _tag: "EmptyReply", onlyReasoning: true } },
      "empty"
    ],
    [
      "JS-13: cut off in its thinking",
      { text: '<think>Let me consider {"final_answer":"yes"} but', finishReason: length },
      {
        _tag: "LlmError",
        reason: { _tag: "EmptyReply", finishReason: length, onlyReasoning: true },
        detail: "truncated in reasoning: allow more output tokens"
      },
      "empty"
    ],
    [
      "RA-17: empty beside a long reasoning field",
      { text: "", reasoning: "I think yes", finishReason: "stop" },
      { _tag: "LlmError", reason: { _tag: "EmptyReply", onlyReasoning: true, finishReason: "stop" } },
      "empty"
    ],
    [
      "RA-15: an abort of the provider",
      { text: "", finishReason: "other", rawFinishReason: "MALFORMED_FUNCTION_CALL" },
      { _tag: "LlmError", reason: { _tag: "EmptyReply", rawFinishReason: "MALFORMED_FUNCTION_CALL" } },
      "empty"
    ]
  ]
  it.effect.each(unusable)("a reply that is %s is asked for once more, then the error", ([_, reply, error, says]) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(askYes())).toMatchObject(error)
      const sent = yield* requests
      expect(sent.length).toBe(2)
      expect(sent[1]?.messages.at(-1)?.content).toContain(says)
    }).pipe(scripted(reply, reply))
  )

  const final: ReadonlyArray<readonly [name: string, reply: ScriptedLlm.Line, reason: string]> = [
    ["a filtered reply", { text: "yes, half a sent", finishReason: "content-filter" }, "Refused"],
    ["a refusal", new Llm.LlmError({ reason: Llm.Reason.Refused("no") }), "Refused"],
    ["a rate limit", new Llm.LlmError({ reason: Llm.Reason.RateLimited(1000) }), "RateLimited"],
    ["a wrong key", new Llm.LlmError({ reason: Llm.Reason.Unauthorized() }), "Unauthorized"]
  ]
  it.effect.each(final)("RA-18: %s is not asked for again", ([_, reply, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(askYes())
      expect(error._tag === "LlmError" && error.reason._tag).toBe(reason)
      expect((yield* requests).length).toBe(1)
    }).pipe(scripted(reply))
  )

  it.effect("tells the journal what was wrong and whether it asks again", () => {
    const journal = Journal.memory()
    return Effect.gen(function* () {
      yield* Effect.flip(Effect.provide(askYes(), Journal.layer(journal)))
      const rejected = (yield* journal.events).filter((event) => event._tag === "ReplyRejected")
      expect(rejected.map(({ call, reask }) => ({ call, reask }))).toEqual([
        { call: "planner", reask: true },
        { call: "planner/reask-1", reask: false }
      ])
    }).pipe(scripted("no", "no"))
  })
})
