import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import type { PlanRefused } from "@forethought/core/PlanApproval"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import type { RunEvent } from "@forethought/core/RunEvent"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { expectTypeOf } from "vitest"

const planOf = (...calls: ReadonlyArray<string>): string =>
  calls.map((call, i) => `Plan: step ${i + 1}\n#E${i + 1} = ${call}`).join("\n")

type Fakes = Parameters<typeof FakeTools.layer>[0]

const world = (script: ReadonlyArray<ScriptedLlm.Line>, fakes: Fakes = { Search: "found" }) =>
  Layer.mergeAll(ScriptedLlm.layer(script), FakeTools.layer(fakes), Journal.layer(Journal.silent))

const calls = Effect.flatMap(FakeTools.FakeTools, (tools) => tools.calls)
const prompts = Effect.flatMap(ScriptedLlm.ScriptedLlm, (model) => model.prompts)

/** Runs the test under a virtual clock and moves time on until the effect is done. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>, step = "100 millis", steps = 20) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    for (let i = 0; i < steps; i++) yield* TestClock.adjust(step as "100 millis")
    return yield* Fiber.join(fiber)
  })

const variants = [
  ["sequential", Rewoo.sequential],
  ["parallel", Rewoo.parallel]
] as const

const plannerPrompt = (
  tools: string,
  question: string
) => `For the question below, make a plan of tool calls that will gather
everything needed. Write the whole plan now. You will not see any
tool output before the plan is executed.

Tools:
${tools}

Format, one pair per step:
Plan: a short reason for this step
#E1 = Tool[input]

A later step may use the output of an earlier one by writing its
variable (#E1, #E2, ...) inside its input.

Question: ${question}`

describe.each(variants)("Rewoo.%s", (_name, rewoo) => {
  it.effect(
    "with a stub LLM that plans 3 steps and fake tools: exactly two model calls (one planner, one solver), and the third tool receives the first two results in place of #E1 and #E2",
    () =>
      Effect.gen(function* () {
        const { answer, evidence } = yield* rewoo("How old together?")
        expect(answer).toBe("Together they are 70, as 40 and 30 add up to 70.")
        expect(evidence.map((piece) => piece.text)).toEqual(["40", "30", "70"])
        const model = yield* ScriptedLlm.ScriptedLlm
        const requests = yield* model.requests
        expect(requests.map((request) => request.role)).toEqual(["planner", "solver"])
        const third = (yield* calls).find((call) => call.tool === "Add")
        expect(third?.input).toBe("40 + 30")
      }).pipe(
        Effect.provide(
          world(
            [
              planOf("Search[age of Ann]", "Search[age of Ben]", "Add[#E1 + #E2]"),
              "Together they are 70, as 40 and 30 add up to 70."
            ],
            { Search: { gives: (input) => (input.includes("Ann") ? "40" : "30") }, Add: "70" }
          )
        )
      )
  )

  it.effect("sends the prompts of the specification, word for word", () =>
    Effect.gen(function* () {
      yield* rewoo("Who?")
      const [first, second] = yield* prompts
      expect(first).toBe(plannerPrompt("Search[input]: Finds pages.", "Who?"))
      expect(second).toBe(`Solve the question using only the plan and the evidence below. If the
evidence is missing or contradictory, say so instead of guessing.

Question: Who?

Plan and evidence:
Plan: step 1
#E1 = Search[who]
Evidence for #E1:
\`\`\`evidence
found
\`\`\`

Give the final answer with one sentence of justification.`)
    }).pipe(
      Effect.provide(
        world([planOf("Search[who]"), "It is Ann."], { Search: { gives: "found", description: "Finds pages." } })
      )
    )
  )

  it.effect("takes prompts of the user's own, and refuses a hole that would stay empty", () =>
    Effect.gen(function* () {
      yield* rewoo("Who?", {
        prompts: { planner: "Plan for {{question}} {{question}}", solver: "{{plan_with_evidence}}" }
      })
      const [first] = yield* prompts
      expect(first).toBe("Plan for Who? Who?")
      expect(() => rewoo("Who?", { prompts: { planner: "{{goal}}" } })).toThrow(/\{\{goal\}\} is not a hole/)
    }).pipe(Effect.provide(world([planOf("Search[who]"), "Ann."])))
  )

  it.effect("a question that looks like a hole or a replacement pattern stays text", () =>
    Effect.gen(function* () {
      const question = "What is {{tool_descriptions}} and $& or $1?"
      yield* rewoo(question)
      const [first, second] = yield* prompts
      expect(first).toContain(`Question: ${question}`)
      expect(second).toContain(`Question: ${question}`)
    }).pipe(Effect.provide(world([planOf("Search[who]"), "Ann."])))
  )

  it.effect("retries the planner once with the errors appended, all of them", () =>
    Effect.gen(function* () {
      const { answer } = yield* rewoo("Q")
      expect(answer).toBe("done")
      const model = yield* ScriptedLlm.ScriptedLlm
      const [, again] = yield* model.requests
      expect(again?.call).toBe("planner/reask-1")
      const correction = again?.messages.at(-1)?.content ?? ""
      for (const part of ["Nope", "#E7", "#E1 is assigned twice", "Search"]) expect(correction).toContain(part)
      expect(again?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"])
    }).pipe(Effect.provide(world(["#E1 = Nope[x]\n#E2 = Search[#E7]\n#E1 = Search[y]", planOf("Search[x]"), "done"])))
  )

  it.effect("if the plan fails validation twice, stops before any tool runs with the validation errors", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q"))
      expect(error._tag).toBe("InvalidPlan")
      if (error._tag !== "InvalidPlan") return
      expect(error.issues.map((issue) => issue._tag)).toEqual(["UnknownTool", "UnknownVariable"])
      expect(error.reply).toBe("#E1 = Nope[#E4]")
      expect(error.message).toContain("Use one of: Search.")
      expect(error.progress).toEqual({ evidence: [] })
      expect(yield* calls).toEqual([])
    }).pipe(Effect.provide(world(["No idea.", "#E1 = Nope[#E4]"])))
  )

  const invalid: ReadonlyArray<readonly [name: string, plan: string, tags: ReadonlyArray<string>]> = [
    ["no plan at all", "I cannot plan this.", ["Empty"]],
    ["a tool that does not exist", "#E1 = Fly[x]", ["UnknownTool"]],
    ["a variable used twice", "#E1 = Search[x]\n#E1 = Search[y]", ["DuplicateVariable"]],
    ["a reference to no step", "#E1 = Search[x]\n#E2 = Search[#E9]", ["UnknownVariable"]],
    ["a reference to a later step", "#E1 = Search[#E2]\n#E2 = Search[x]", ["LaterVariable"]],
    ["a dependency cycle", "#E1 = Search[#E2]\n#E2 = Search[#E1]", ["Cycle"]],
    ["a step that uses itself", "#E1 = Search[#E1]", ["Cycle"]],
    ["a plan over the cap", planOf("Search[a]", "Search[b]", "Search[c]"), ["TooLong"]]
  ]
  it.effect.each(invalid)("rejects %s before any tool runs", ([_, plan, tags]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q", { maxPlanLength: 2 }))
      expect(error._tag === "InvalidPlan" && error.issues.map((issue) => issue._tag)).toEqual(tags)
      expect(yield* calls).toEqual([])
    }).pipe(Effect.provide(world([plan, plan])))
  )

  it.effect("keeps the evidence when the solver cannot be reached", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q"))
      expect(error._tag).toBe("LlmError")
      expect(error.progress.evidence.map((piece) => piece.text)).toEqual(["found"])
    }).pipe(Effect.provide(world([planOf("Search[x]"), new Llm.LlmError({ reason: Llm.Reason.Unavailable(503) })])))
  )

  it.effect("calls the solver once only: a reply that was cut off is not an answer", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q"))
      expect(error._tag).toBe("TruncatedReply")
      expect(error.progress.evidence.length).toBe(1)
    }).pipe(Effect.provide(world([planOf("Search[x]"), { text: "The answer is 4", finishReason: "length" }])))
  )

  it.effect("a plan that was cut off never runs, even where it could be read", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q"))
      expect(error._tag).toBe("TruncatedReply")
      expect(yield* calls).toEqual([])
      const model = yield* ScriptedLlm.ScriptedLlm
      const [, again] = yield* model.requests
      expect(again?.messages.at(-1)?.content).toContain("cut off")
    }).pipe(
      Effect.provide(
        world([
          { text: planOf("Search[x]"), finishReason: "length" },
          { text: planOf("Search[x]"), finishReason: "length" }
        ])
      )
    )
  )

  it.effect("logs the plan, each substituted tool input and each piece of evidence", () =>
    Effect.gen(function* () {
      const journal = Journal.memory()
      yield* Effect.provide(rewoo("Q"), Journal.layer(journal))
      const events = yield* journal.events
      const of = <Tag extends RunEvent["_tag"]>(tag: Tag) =>
        events.filter((event): event is Extract<RunEvent, { _tag: Tag }> => event._tag === tag)
      expect(of("PlanMade")[0]?.steps.map((step) => step.input)).toEqual(["x", "more on #E1"])
      expect(of("ToolCallStarted").map((event) => event.input)).toEqual(["x", "more on found"])
      expect(of("EvidenceRecorded").map((event) => event.evidence.text)).toEqual(["found", "found"])
      expect(events.map((event) => event.call)).toEqual([
        "",
        "planner",
        "planner",
        "",
        ...["#E1", "#E1", "#E1", "#E2", "#E2", "#E2"],
        "solver",
        "solver",
        ""
      ])
      expect(events.at(-1)).toMatchObject({ _tag: "RunEnded", outcome: "succeeded" })
    }).pipe(Effect.provide(world([planOf("Search[x]", "Search[more on #E1]"), "ok"])))
  )

  it("refuses wrong options where the program is built", () => {
    const wrong: ReadonlyArray<readonly [Rewoo.SequentialOptions, RegExp]> = [
      [{ maxPlanLength: 0 }, /maxPlanLength must be a whole number of at least 1, got 0/],
      [{ maxPlanLength: Number.NaN }, /got NaN/],
      [{ toolTimeout: 0 }, /toolTimeout must be a duration/],
      [JSON.parse('{"toolTimeout":"soon"}'), /toolTimeout must be a duration/],
      [JSON.parse('{"maxConcurrency":2}'), /unknown option "maxConcurrency"/]
    ]
    for (const [options, message] of wrong) expect(() => rewoo("Q", options)).toThrow(message)
  })
})

describe("Rewoo.sequential", () => {
  it.effect(
    "when a tool call errors or times out, stores the error text as that variable's evidence and keeps going, so the solver can say what it could not determine",
    () =>
      Effect.gen(function* () {
        const { evidence } = yield* inTime(Rewoo.sequential("Q", { toolTimeout: "1 second" }))
        expect(evidence.map((piece) => piece.status)).toEqual(["error", "timeout", "ok"])
        expect(evidence[0]?.text).toBe("Search failed: HTTP 503")
        const late =
          "Slow timed out after 1000 ms. The outcome is unknown: the action may have happened. Find out before you repeat it."
        expect(evidence[1]?.text).toBe(late)
        expect((yield* calls).at(-1)?.input).toBe(`Search failed: HTTP 503 / ${late}`)
        const last = (yield* prompts).at(-1)
        expect(last).toContain("Search failed: HTTP 503")
        expect(last).toContain("Slow timed out after 1000 ms.")
      }).pipe(
        Effect.provide(
          world([planOf("Search[x]", "Slow[y]", "Note[#E1 / #E2]"), "unknown"], {
            Search: { fails: "HTTP 503" },
            Slow: { takes: "1 hour" },
            Note: "noted"
          })
        )
      )
  )

  it.effect("runs the steps one after the other, in plan order", () =>
    Effect.gen(function* () {
      yield* inTime(Rewoo.sequential("Q"))
      const tools = yield* FakeTools.FakeTools
      expect(yield* tools.maxActive).toBe(1)
      expect((yield* tools.calls).map((call) => call.input)).toEqual(["a", "b", "c"])
    }).pipe(
      Effect.provide(world([planOf("Search[a]", "Search[b]", "Search[c]"), "ok"], { Search: { takes: "100 millis" } }))
    )
  )
})

describe("Rewoo.parallel", () => {
  it.effect(
    "PA-09: with a stub planner and two fake 100 ms search tools: both searches started before either finished and the calculator started only after both",
    () =>
      Effect.gen(function* () {
        const { evidence } = yield* inTime(Rewoo.parallel("Q"))
        const [left, right, sum] = evidence
        const firstEnd = Math.min(left?.endedAt ?? 0, right?.endedAt ?? 0)
        expect(left?.startedAt).toBeLessThan(firstEnd)
        expect(right?.startedAt).toBeLessThan(firstEnd)
        expect(sum?.startedAt).toBeGreaterThanOrEqual(Math.max(left?.endedAt ?? 0, right?.endedAt ?? 0))
        expect([left?.startedAt, left?.endedAt, sum?.startedAt]).toEqual([0, 100, 100])
      }).pipe(
        Effect.provide(
          world([planOf("SearchA[x]", "SearchB[y]", "Calculator[#E1 + #E2]"), "3"], {
            SearchA: { gives: "1", takes: "100 millis" },
            SearchB: { gives: "2", takes: "100 millis" },
            Calculator: "3"
          })
        )
      )
  )

  it.effect(
    "if a tool call errors, marks every step that depends on it as skipped, with the reason, in the evidence",
    () =>
      Effect.gen(function* () {
        const { evidence } = yield* Rewoo.parallel("Q")
        expect(evidence.map((piece) => piece.status)).toEqual(["error", "skipped", "skipped", "ok"])
        expect(evidence[1]?.text).toBe("Skipped: it depends on #E1, which failed.")
        expect(evidence[2]?.text).toContain("#E1")
        expect(evidence[1]?.startedAt).toBeUndefined()
        expect((yield* calls).map((call) => call.input)).toEqual(["x", "w"])
        const last = (yield* prompts).at(-1)
        expect(last).toContain("Evidence for #E1 (error):\n```evidence\nBroken failed: HTTP 503\n```")
        expect(last).toContain("Evidence for #E2 (skipped):")
      }).pipe(
        Effect.provide(
          world([planOf("Broken[x]", "Search[#E1]", "Search[#E2]", "Search[w]"), "partly"], {
            Broken: { fails: "HTTP 503" },
            Search: "found"
          })
        )
      )
  )

  it.effect("caps the concurrent tool calls", () =>
    Effect.gen(function* () {
      yield* inTime(Rewoo.parallel("Q", { concurrency: 3 }))
      expect(yield* Effect.flatMap(FakeTools.FakeTools, (tools) => tools.maxActive)).toBe(3)
    }).pipe(
      Effect.provide(
        world([planOf(..."abcdefg".split("").map((letter) => `Search[${letter}]`)), "ok"], {
          Search: { takes: "100 millis" }
        })
      )
    )
  )

  it.effect("PA-08: lists evidence in plan order regardless of completion order", () =>
    Effect.gen(function* () {
      const { evidence } = yield* inTime(Rewoo.parallel("Q"), "5 millis", 40)
      expect(evidence.map((piece) => piece.variable)).toEqual(["#E1", "#E2"])
      expect(evidence.map((piece) => piece.endedAt)).toEqual([50, 5])
      const last = (yield* prompts).at(-1) ?? ""
      expect(last.indexOf("slow result")).toBeLessThan(last.indexOf("quick result"))
    }).pipe(
      Effect.provide(
        world([planOf("Slow[x]", "Quick[y]"), "ok"], {
          Slow: { gives: "slow result", takes: "50 millis" },
          Quick: { gives: "quick result", takes: "5 millis" }
        })
      )
    )
  )

  it.effect("reaches every running tool with an interruption and says in its last event that it was interrupted", () =>
    Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      const stopped: Array<string> = []
      let started = 0
      const hang = Tool.make({
        name: "Hang",
        description: "Never ends.",
        execute: (input) =>
          Effect.suspend(() => (++started === 2 ? Deferred.succeed(running, undefined) : Effect.void)).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => stopped.push(input)))
          )
      })
      const journal = Journal.memory()
      const fiber = yield* Effect.fork(
        Rewoo.parallel("Q").pipe(
          Effect.provide(
            Layer.mergeAll(
              ScriptedLlm.layer([planOf("Hang[a]", "Hang[b]"), "never asked"]),
              Toolbox.layer([hang]),
              Journal.layer(journal)
            )
          )
        )
      )
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      expect(stopped.sort()).toEqual(["a", "b"])
      expect((yield* journal.events).at(-1)).toMatchObject({ _tag: "RunEnded", outcome: "interrupted" })
    })
  )

  it("has typed errors and needs a model and tools, nothing else", () => {
    const run = Rewoo.parallel("Q")
    expectTypeOf<Effect.Effect.Context<typeof run>>().toEqualTypeOf<Llm.Llm | Toolbox.Toolbox>()
    type Tags = Effect.Effect.Error<typeof run>["_tag"]
    expectTypeOf<Tags>().toEqualTypeOf<"InvalidPlan" | "PlanRefused" | "TruncatedReply" | "LlmError">()
    const caught = run.pipe(
      Effect.catchTag("InvalidPlan", (error) => Effect.succeed(error.progress.evidence.length + error.issues.length))
    )
    expectTypeOf<Effect.Effect.Error<typeof caught>>().toEqualTypeOf<
      | (PlanRefused & { readonly progress: Rewoo.Progress })
      | (TruncatedReply & { readonly progress: Rewoo.Progress })
      | (Llm.LlmError & { readonly progress: Rewoo.Progress })
    >()
  })
})
