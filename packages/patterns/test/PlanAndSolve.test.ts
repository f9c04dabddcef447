import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import { ParseError } from "@forethought/core/ReplyError"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { expectTypeOf } from "vitest"
import { prompts, requests, world } from "./world.js"

const reasoning = "Plan:\n1. Count the rows: 32.\n2. Multiply by 30: 32 * 30 = 960.\nSo there are 960 seats."
const number = { answerFormat: AnswerFormat.number }

describe("PlanAndSolve", () => {
  it.effect(
    "with a stub LLM that returns a two-step plan with a worked result, then '960' from extraction: exactly two model calls and the answer is 960",
    () =>
      Effect.gen(function* () {
        const answered = yield* PlanAndSolve.run("How many seats?", number)
        expect(answered).toMatchObject({ answer: { value: 960 }, text: "960", reasoning })
        expect((yield* requests).map((request) => [request.role, request.call])).toEqual([
          ["reasoner", "reasoner"],
          ["extractor", "extractor"]
        ])
      }).pipe(Effect.provide(world([reasoning, "960"])))
  )

  it.effect("sends the prompts of the specification, word for word, and caps the reasoning", () =>
    Effect.gen(function* () {
      yield* PlanAndSolve.run("How many?", number)
      const [first, second] = yield* prompts
      expect(first).toBe(`Q: How many?

A: Let's first understand the problem, extract the relevant variables
and their values, and devise a plan. Then, let's carry out the plan,
calculate the intermediate values (paying attention to calculation
and common sense), solve the problem step by step, and show the answer.`)
      expect(second).toBe(`Q: How many?

${reasoning}

Therefore, the answer (a single number) is:`)
      expect((yield* requests).map((request) => request.maxTokens)).toEqual([1000, undefined])
      expect((yield* requests).every((request) => request.tools === undefined)).toBe(true)
    }).pipe(Effect.provide(world([reasoning, "960"])))
  )

  it.effect(
    "if the reasoning is truncated, retries once; if it is truncated again, the reasoning did not finish",
    () => {
      const cut = { text: "First we", finishReason: "length" as const }
      return Effect.gen(function* () {
        const { answer } = yield* Effect.provide(PlanAndSolve.run("Q", number), world([cut, reasoning, "960"]))
        expect(answer.value).toBe(960)
        const error = yield* Effect.flip(PlanAndSolve.run("Q", number)).pipe(Effect.provide(world([cut, cut])))
        expect(error).toMatchObject({ _tag: "TruncatedReply", text: "First we", role: "reasoner", progress: {} })
      })
    }
  )

  it.effect("if the answer is not in the format, retries the extraction once with the format error appended", () =>
    Effect.gen(function* () {
      const { answer } = yield* PlanAndSolve.run("Q", number)
      expect(answer.value).toBe(960)
      const last = (yield* requests).at(-1)
      expect(last?.call).toBe("extractor/reask-1")
      expect(last?.messages.at(-1)?.content).toContain("a single number")
    }).pipe(Effect.provide(world([reasoning, "nine hundred or so", "960"])))
  )

  it.effect("if it fails the format twice, no answer could be extracted, and the reasoning is kept", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolve.run("Q", number))
      expect(error).toMatchObject({ _tag: "ParseError", problem: "no_number", progress: { reasoning } })
      expect((yield* requests).length).toBe(3)
    }).pipe(Effect.provide(world([reasoning, "many", "very many"])))
  )

  it.effect("keeps the reasoning when the extractor cannot be reached", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolve.run("Q", number))
      expect(error).toMatchObject({ _tag: "LlmError", progress: { reasoning } })
    }).pipe(Effect.provide(world([reasoning, new Llm.LlmError({ reason: Llm.Reason.Unavailable() })])))
  )

  it.effect("thinking is no reasoning: a reply that only thinks is asked for again", () =>
    Effect.gen(function* () {
      const answered = yield* PlanAndSolve.run("Q", number)
      expect(answered.reasoning).toBe(reasoning)
    }).pipe(Effect.provide(world(["<think>960</think>", `<think>hm</think>${reasoning}`, "960"])))
  )

  it.effect("answers are typed by their format: a date, an option letter, and one of the user's own", () =>
    Effect.gen(function* () {
      const date = yield* Effect.provide(
        PlanAndSolve.run("When?", { answerFormat: AnswerFormat.date }),
        world([reasoning, "July 4, 2024"])
      )
      expect(date.answer).toBe("2024-07-04")
      const option = yield* Effect.provide(
        PlanAndSolve.run("Which?", { answerFormat: AnswerFormat.option(["A", "B"]) }),
        world([reasoning, "The answer is B."])
      )
      expectTypeOf(option.answer).toEqualTypeOf<"A" | "B">()
      expect(option.answer).toBe("B")
      const yesNo = AnswerFormat.make("yes or no", (text) =>
        text === "yes" || text === "no"
          ? Either.right(text === "yes")
          : Either.left(new ParseError({ problem: "no_yes_no", expected: "yes or no", found: text }))
      )
      const own = yield* Effect.gen(function* () {
        const { answer } = yield* PlanAndSolve.run("Is it?", { answerFormat: yesNo })
        expect((yield* prompts)[1]).toContain("the answer (a single yes or no) is:")
        return answer
      }).pipe(Effect.provide(world([reasoning, "yes"])))
      expectTypeOf(own).toEqualTypeOf<boolean>()
      expect(own).toBe(true)
    })
  )

  it.effect("an extractor that says nothing gives no answer; thinking that fills the cap did not finish", () => {
    const thinking = { text: "<think>960, or", finishReason: "length" as const }
    return Effect.gen(function* () {
      const silent = yield* Effect.flip(PlanAndSolve.run("Q", number)).pipe(Effect.provide(world([reasoning, "", ""])))
      expect(silent).toMatchObject({ _tag: "ParseError", problem: "empty_reply", progress: { reasoning } })
      const cut = yield* Effect.flip(PlanAndSolve.run("Q", number)).pipe(Effect.provide(world([thinking, thinking])))
      expect(cut).toMatchObject({ _tag: "TruncatedReply", role: "reasoner" })
    })
  })

  const symbolic = ["Therefore the shop earned $12n more on Friday.", "He must cover the last 9 km at 4 km per hour."]
  it.effect.each(symbolic)("PS-04, PS-05: %s is asked for again, and is never an answer", (reply) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndSolve.run("Q", number))
      expect(error._tag).toBe("ParseError")
      expect((yield* requests).length).toBe(3)
    }).pipe(Effect.provide(world([reasoning, reply, reply])))
  )

  it("needs a model only, no tools", () => {
    const run = PlanAndSolve.run("Q", number)
    expectTypeOf<Effect.Effect.Context<typeof run>>().toEqualTypeOf<Llm.Llm>()
    expectTypeOf<Effect.Effect.Error<typeof run>["_tag"]>().toEqualTypeOf<
      "ParseError" | "TruncatedReply" | "LlmError"
    >()
  })
})
