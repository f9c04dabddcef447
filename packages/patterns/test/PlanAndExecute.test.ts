import { describe, expect, it } from "@effect/vitest"
import type { ExecutorInput, ExecutorResult } from "@forethought/core/Executor"
import * as Llm from "@forethought/core/Llm"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schedule from "effect/Schedule"
import { expectTypeOf } from "vitest"
import { of, prompts, promptsOf, requests, toolCalls, warnings, withEvents, world } from "./world.js"

const list = (...steps: ReadonlyArray<string>) => steps.map((step, i) => `${i + 1}. ${step}`).join("\n")
const remaining = (...steps: ReadonlyArray<string>) => JSON.stringify({ remaining_steps: steps })
const final = (answer: unknown) => JSON.stringify({ final_answer: answer })

/** An executor without a model, that says what the function says. */
const stub = (says: (input: ExecutorInput) => string | ExecutorResult = (input) => `did: ${input.step}`) => {
  const seen: Array<ExecutorInput> = []
  const executor = (input: ExecutorInput) =>
    Effect.sync(() => {
      seen.push(input)
      const said = says(input)
      return typeof said === "string" ? { status: "completed" as const, result: said } : said
    })
  return { executor, seen }
}

describe("PlanAndExecute", () => {
  it.effect(
    "with a stub LLM whose planner returns 3 steps and whose replanner returns 1 remaining step, then a final_answer: the executor ran 2 steps and the final_answer is returned",
    () =>
      Effect.gen(function* () {
        const { answer, pastSteps } = yield* PlanAndExecute.run("Where?")
        expect(answer).toBe("Sexten")
        expect(pastSteps).toEqual([
          { id: "1", step: "Find the winner", result: "It is Ann.", status: "completed" },
          { id: "4", step: "Find Ann's town", result: "Sexten.", status: "completed" }
        ])
        expect((yield* requests).map((request) => request.call)).toEqual([
          "planner",
          "step-1/executor/turn-1",
          "step-1/replanner",
          "step-2/executor/turn-1",
          "step-2/replanner"
        ])
      }).pipe(
        Effect.provide(
          world([
            list("Find the winner", "Find the town", "Report it"),
            { role: "executor", says: "It is Ann." },
            remaining("Find Ann's town"),
            { role: "executor", says: "Sexten." },
            final("Sexten")
          ])
        )
      )
  )

  it.effect("sends the prompts of the specification, word for word", () => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      yield* PlanAndExecute.run("Where?", { executor })
      const [planner, replanner] = yield* prompts
      expect(planner).toBe(`For the goal below, write a step-by-step plan. Each step must be a
self-contained task that one worker with Search, Add can complete.
Use as few steps as possible. Do not add a step that only restates
the goal.

<goal>Where?</goal>

Respond as a numbered list. The last step should produce the final answer.`)
      expect(replanner).toBe(`Goal: Where?

Current plan:
1. B

Steps already completed, with results:
1. A
Result (completed):
\`\`\`result
did: A
\`\`\`

Update the plan. Remove steps that are done or no longer needed, and
add or change steps if the results require it. Do not repeat a
completed step.

If you can already answer the goal, respond with:
{"final_answer": "..."}
Otherwise respond with:
{"remaining_steps": ["...", "..."]}`)
      expect(seen.map((input) => input.step)).toEqual(["A"])
    }).pipe(Effect.provide(world([list("A", "B"), final("x")], { Search: "", Add: "" })))
  })

  it.effect("hands the executor its step alone, or everything when asked to", () => {
    const alone = stub()
    const all = stub()
    const script = [list("A", "B"), remaining("B"), final("x")]
    return Effect.gen(function* () {
      yield* Effect.provide(PlanAndExecute.run("G", { executor: alone.executor }), world(script))
      yield* Effect.provide(PlanAndExecute.run("G", { executor: all.executor, executorSees: "all" }), world(script))
      expect(alone.seen.map((input) => input.pastSteps.length)).toEqual([0, 0])
      expect(all.seen.map((input) => input.pastSteps.length)).toEqual([0, 1])
      expect(all.seen[1]).toMatchObject({ goal: "G", step: "B", maxToolCalls: 5, call: "step-2/executor" })
    })
  })

  it.effect("the default executor sees only its step", () =>
    Effect.gen(function* () {
      yield* PlanAndExecute.run("A secret goal")
      expect((yield* promptsOf("executor"))[0]).toBe("A")
    }).pipe(Effect.provide(world([list("A", "B"), "done", final("x")])))
  )

  it.effect("after the step cap asks the replanner once more, and returns past_steps and the unfinished plan", () => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndExecute.run("G", { executor, maxSteps: 2 }))
      expect(error._tag).toBe("StepCapReached")
      expect(error.progress.pastSteps.map((past) => past.step)).toEqual(["A", "B"])
      expect(error.progress.remainingPlan).toEqual(["C"])
      expect(error.message).toContain("not reached within 2 steps")
      expect(seen.length).toBe(2)
      expect((yield* requests).map((request) => request.role)).toEqual(["planner", "replanner", "replanner"])
      expect((yield* promptsOf("replanner"))[1]).toContain("2. B")
    }).pipe(Effect.provide(world([list("A", "B", "C"), remaining("B", "C"), remaining("C")])))
  })

  for (const maxSteps of [1, 2, 3]) {
    it.effect(`PE-18: a goal that the last of ${maxSteps} allowed steps reaches is answered`, () => {
      const { executor, seen } = stub(({ step }) => `done ${step}`)
      return Effect.gen(function* () {
        const { answer, pastSteps } = yield* PlanAndExecute.run("G", { executor, maxSteps })
        expect(answer).toBe("42")
        expect([pastSteps.length, seen.length]).toEqual([maxSteps, maxSteps])
        const asked = yield* promptsOf("replanner")
        expect(asked).toHaveLength(maxSteps)
        expect(asked.at(-1)).toContain(`done step ${maxSteps}`)
      }).pipe(
        Effect.provide(
          world([
            list("step 1"),
            ...Array.from({ length: maxSteps - 1 }, (_, i) => remaining(`step ${i + 2}`)),
            final("42")
          ])
        )
      )
    })
  }

  it.effect.each([
    ["1. Open the file 2. Count the rows", 1],
    ["Step 1: Open the file Step 2: Count the rows", 1],
    ["1. Open the file\n2. Count the rows", 0]
  ] as const)("VR-02: %s is carried out step by step, with %d warning", ([plan, told]) => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      const { events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      expect(of(events, "PlanMade")[0]?.steps.map((step) => step.text)).toEqual(["Open the file", "Count the rows"])
      expect(seen[0]?.step).toBe("Open the file")
      expect(warnings(events, "inline_list").length).toBe(told)
    }).pipe(Effect.provide(world([plan, final("2")])))
  })

  it.effect("VR-02: a line that can be read in two ways is asked for again", () => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      yield* PlanAndExecute.run("G", { executor })
      expect(seen.map((input) => input.step)).toEqual(["Multiply"])
    }).pipe(Effect.provide(world(["1. Multiply 2. 5 times", "1. Multiply", final("2")])))
  })

  it.effect("PE-18: a replanner that never comes to an end is stopped by the cap, with warnings on the way", () => {
    const { executor, seen } = stub(() => "no change")
    return Effect.gen(function* () {
      const { value: error, events } = yield* withEvents(
        Effect.flip(PlanAndExecute.run("G", { executor, maxSteps: 4 }))
      )
      expect(error._tag).toBe("StepCapReached")
      expect(seen.length).toBe(4)
      expect(error.progress.pastSteps.length).toBe(4)
      expect(warnings(events, "no_progress").length).toBe(3)
    }).pipe(
      Effect.provide(
        world([
          list("Check the price", "Report it"),
          ...Array.from({ length: 4 }, () => remaining("Check the price again"))
        ])
      )
    )
  })

  const unreadable: ReadonlyArray<readonly [name: string, planner: string, problem: string]> = [
    ["PE-11: items without text", "1. \n2. \n3. ", "empty_plan"],
    ["PE-12: no list", "No plan is needed: I cannot do this with the tools given.", "no_list"]
  ]
  it.effect.each(unreadable)(
    "%s: the planner is asked once more with the error, then the run fails",
    ([_, reply, problem]) => {
      const { executor, seen } = stub()
      return Effect.gen(function* () {
        const error = yield* Effect.flip(PlanAndExecute.run("G", { executor }))
        expect(error._tag).toBe("ParseError")
        if (error._tag !== "ParseError") return
        expect(error).toMatchObject({ problem, reply, progress: { pastSteps: [], remainingPlan: [] } })
        const [, again] = yield* requests
        expect(again?.call).toBe("planner/reask-1")
        expect(again?.messages.at(-1)?.content).toContain("numbered list")
        expect(seen).toEqual([])
      }).pipe(Effect.provide(world([reply, reply])))
    }
  )

  const badReplans: ReadonlyArray<readonly [name: string, reply: string]> = [
    ["PE-21: neither answer nor steps", '{"final_answer":null,"remaining_steps":[]}'],
    ["PE-22: an empty answer", '{"final_answer":"  "}'],
    ["JS-17: a schema instead of a reply", '{"type":"object","properties":{"final_answer":{"type":"string"}}}'],
    ["prose", "I think we are nearly done."],
    ["an answer that is no text", '{"final_answer":{"city":"Rome"}}']
  ]
  it.effect.each(badReplans)(
    "%s: the replanner is asked once more, then the run fails with its past steps",
    ([_, reply]) => {
      const { executor } = stub()
      return Effect.gen(function* () {
        const error = yield* Effect.flip(PlanAndExecute.run("G", { executor }))
        expect(error._tag).toBe("ParseError")
        expect(error.progress.pastSteps.map((past) => past.step)).toEqual(["A"])
        expect(error.progress.remainingPlan).toEqual(["B"])
        expect((yield* requests).at(-1)?.call).toBe("step-1/replanner/reask-1")
      }).pipe(Effect.provide(world([list("A", "B"), reply, reply])))
    }
  )

  it.effect("JS-14: a replan that was cut off is asked for again, and its steps are never executed", () => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      const cut = { text: '{"remaining_steps":["Book the hall","Send inv', finishReason: "length" as const }
      const error = yield* Effect.flip(PlanAndExecute.run("G", { executor })).pipe(
        Effect.provide(world([list("A", "B"), cut, cut]))
      )
      expect(error._tag).toBe("TruncatedReply")
      expect(error.progress.remainingPlan).toEqual(["B"])
      expect(seen.map((input) => input.step)).toEqual(["A"])
    })
  })

  it.effect("PE-16: a replan that is only reasoning keeps the remaining plan, and nothing in it is a step", () => {
    const { executor, seen } = stub()
    const reply = "<think>Perhaps 1. call search 2. read the page. Hmm.</think>"
    return Effect.gen(function* () {
      const error = yield* Effect.flip(PlanAndExecute.run("G", { executor }))
      expect(error._tag === "LlmError" && error.reason._tag).toBe("EmptyReply")
      expect(error.progress.remainingPlan).toEqual(["B"])
      expect(seen.length).toBe(1)
    }).pipe(Effect.provide(world([list("A", "B"), reply, reply])))
  })

  it.effect("JS-05: decisions that differ are asked for again, and then the last one holds, with a warning", () => {
    const { executor, seen } = stub()
    const conflict = 'Draft: {"final_answer":"7"}\nOn reflection: {"remaining_steps":["Recount"]}'
    return Effect.gen(function* () {
      const { value, events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      expect(value.answer).toBe("8")
      expect(seen.map((input) => input.step)).toEqual(["A", "Recount"])
      expect(warnings(events, "conflicting_reply").length).toBe(1)
    }).pipe(Effect.provide(world([list("A"), conflict, conflict, final("8")])))
  })

  it.effect(
    "PE-19: a step that succeeded is dropped from the plan, and the trace says so; one that failed may be tried again",
    () => {
      const { executor, seen } = stub((input) =>
        input.step.startsWith("Fetch") ? "1.1" : { status: "failed", result: "no rate" }
      )
      return Effect.gen(function* () {
        const { events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
        expect(seen.map((input) => input.step)).toEqual(["Fetch the EUR rate", "Convert 40 EUR", "Convert 40 EUR"])
        expect(warnings(events, "repeated_step")[0]).toContain("fetch the EUR rate!")
      }).pipe(
        Effect.provide(
          world([
            list("Fetch the EUR rate", "Convert 40 EUR"),
            remaining("fetch the EUR rate!", "Convert 40 EUR"),
            remaining("Convert 40 EUR"),
            final("44")
          ])
        )
      )
    }
  )

  it.effect("PE-20: a final answer wins over the steps beside it, with a warning that names them", () => {
    const { executor } = stub()
    return Effect.gen(function* () {
      const { value, events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      expect(value.answer).toBe("The parcel weighs 4 kg")
      expect(warnings(events, "conflicting_reply")[0]).toContain("Weigh the parcel")
    }).pipe(
      Effect.provide(
        world([list("A"), '{"final_answer":"The parcel weighs 4 kg","remaining_steps":["Weigh the parcel"]}'])
      )
    )
  })

  it.effect.each([
    [0, "0"],
    [false, "false"]
  ] as const)("PE-22: the answer %j is an answer", ([answer, text]) => {
    const { executor } = stub()
    return Effect.map(PlanAndExecute.run("G", { executor }), ({ answer }) => expect(answer).toBe(text)).pipe(
      Effect.provide(world([list("A"), final(answer)]))
    )
  })

  it.effect("truncates a plan over the cap, and logs it", () => {
    const { executor } = stub()
    return Effect.gen(function* () {
      const { events } = yield* withEvents(PlanAndExecute.run("G", { executor, maxPlanLength: 2 }))
      expect(of(events, "PlanTruncated").map(({ kept, dropped }) => ({ kept, dropped }))).toEqual([
        { kept: ["A", "B"], dropped: ["C"] },
        { kept: ["B", "D"], dropped: ["E"] }
      ])
      expect(of(events, "PlanMade")[0]?.steps.map((step) => step.text)).toEqual(["A", "B"])
    }).pipe(Effect.provide(world([list("A", "B", "C"), remaining("B", "D", "E"), final("x")])))
  })

  it.effect("a step keeps its id while its text is the same, and no id is used twice", () => {
    const { executor } = stub()
    return Effect.gen(function* () {
      const { events, value } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      const ids = (steps: ReadonlyArray<{ readonly id: string; readonly text: string }> = []) =>
        steps.map(({ id, text }) => `${id} ${text}`)
      expect(ids(of(events, "PlanMade")[0]?.steps)).toEqual(["1 A", "2 B", "3 C"])
      expect(of(events, "Replanned").map(({ after }) => ids(after))).toEqual([
        ["3 c.", "2 B", "4 D"],
        ["2 B", "5 E", "6 E"],
        ["5 E"]
      ])
      const executed = ["1", "3", "2", "5"]
      expect(of(events, "StepStarted").map(({ id }) => id)).toEqual(executed)
      expect(of(events, "StepEnded").map(({ id }) => id)).toEqual(executed)
      expect(value.pastSteps.map(({ id }) => id)).toEqual(executed)
    }).pipe(
      Effect.provide(
        world([list("A", "B", "C"), remaining("c.", "B", "D"), remaining("B", "E", "E"), remaining("E"), final("x")])
      )
    )
  })

  it.effect("logs the plan before and after every replan, next to the step result that caused the change", () => {
    const { executor } = stub()
    return Effect.gen(function* () {
      const { events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      expect(of(events, "Replanned").map(({ before, after, cause }) => ({ before, after, cause }))).toEqual([
        {
          before: [{ id: "2", text: "B", dependsOn: [] }],
          after: [{ id: "3", text: "C", dependsOn: [] }],
          cause: { id: "1", step: "A", result: "did: A", status: "completed" }
        }
      ])
    }).pipe(Effect.provide(world([list("A", "B"), remaining("C"), final("x")])))
  })

  it.effect(
    "when the executor hits its cap, records the error text as that step's result so the replanner can route around it",
    () =>
      Effect.gen(function* () {
        const { pastSteps } = yield* PlanAndExecute.run("G", { maxToolCalls: 1 })
        expect(pastSteps[0]).toMatchObject({ status: "failed" })
        expect(pastSteps[0]?.result).toContain("No final answer within 1 tool calls")
        expect(pastSteps[0]?.result).toContain("Still looking")
        expect((yield* promptsOf("replanner"))[0]).toContain("Result (failed):")
        expect((yield* toolCalls).length).toBe(1)
      }).pipe(
        Effect.provide(
          world([
            list("A", "B"),
            { text: "Looking", toolCalls: [{ id: "1", name: "Search", arguments: '{"input":"x"}' }] },
            { text: "Still looking", toolCalls: [{ id: "2", name: "Search", arguments: '{"input":"y"}' }] },
            final("x")
          ])
        )
      )
  )

  it.effect("PE-26: when a tool errors, the run goes on and the replanner sees the error", () =>
    Effect.gen(function* () {
      const { answer, pastSteps } = yield* PlanAndExecute.run("G")
      expect(answer).toBe("Not to be had.")
      expect(pastSteps.map((past) => past.result)).toEqual(["error: HTTP 403"])
      expect((yield* promptsOf("replanner"))[0]).toContain("error: HTTP 403")
    }).pipe(
      Effect.provide(
        world(
          [
            list("Open the page"),
            { toolCalls: [{ id: "1", name: "Open", arguments: '{"input":"x"}' }] },
            { role: "executor", says: "error: HTTP 403" },
            final("Not to be had.")
          ],
          { Open: { fails: "HTTP 403" } }
        )
      )
    )
  )

  it.effect("an executor of one's own that fails gives a failed step; only an LlmError ends the run", () =>
    Effect.gen(function* () {
      const broken = () => Effect.fail(new Error("out of paper"))
      const { pastSteps } = yield* Effect.provide(
        PlanAndExecute.run("G", { executor: broken }),
        world([list("A"), final("x")])
      )
      expect(pastSteps).toEqual([{ id: "1", step: "A", result: "out of paper", status: "failed" }])
      const down = () => Effect.fail(new Llm.LlmError({ reason: Llm.Reason.Unavailable() }))
      const error = yield* Effect.flip(PlanAndExecute.run("G", { executor: down })).pipe(
        Effect.provide(world([list("A", "B")]))
      )
      expect(error._tag).toBe("LlmError")
      expect(error.progress).toEqual({ pastSteps: [], remainingPlan: ["A", "B"] })
    })
  )

  it.effect("lets the planner, executor and replanner use separately configured models", () => {
    const model = (name: string, ...says: ReadonlyArray<string>) => {
      const replies = [...says]
      return Llm.layer((request) =>
        Effect.sync(() => {
          asked.push([name, request.role])
          return Llm.reply(replies.shift() ?? "")
        })
      )
    }
    const asked: Array<readonly [string, string]> = []
    const models = Llm.byRole({
      default: model("large", list("A")),
      executor: model("small", "done"),
      replanner: model("medium", final("x"))
    })
    return Effect.gen(function* () {
      yield* PlanAndExecute.run("G").pipe(Effect.provide(models))
      expect(asked).toEqual([
        ["large", "planner"],
        ["small", "executor"],
        ["medium", "replanner"]
      ])
    }).pipe(Effect.provide(world([])))
  })

  it.effect(
    "PE-29: the replanner's prompt stays under its cap for any number of past steps, and says what is cut",
    () => {
      const { executor } = stub(() => "z".repeat(20_000))
      const steps = 200
      return Effect.gen(function* () {
        const { pastSteps } = yield* PlanAndExecute.run("G", { executor, maxSteps: steps + 1, maxPromptChars: 50_000 })
        const last = (yield* prompts).at(-1) ?? ""
        expect(last.length).toBeLessThanOrEqual(50_000)
        expect(last).toContain("of 20,000 characters shown")
        expect(last).toContain("z".repeat(20_000))
        expect(pastSteps.every((past) => past.result.length === 20_000)).toBe(true)
      }).pipe(
        Effect.provide(
          world([
            list("step 0"),
            ...Array.from({ length: steps - 1 }, (_, i) => remaining(`step ${i + 1}`)),
            final("x")
          ])
        )
      )
    }
  )

  describe("AU-12: the replanner's prompt", () => {
    /** The last prompt of a run whose steps have the given results. */
    const promptAfter = (
      results: ReadonlyArray<string>,
      options: Pick<PlanAndExecute.RunOptions, "maxPromptChars" | "prompts"> & { readonly goal?: string },
      step = (i: number) => `step ${i}`
    ) => {
      const { goal = "G", ...rest } = options
      let i = 0
      const executor = () => Effect.sync(() => ({ status: "completed" as const, result: results[i++] ?? "" }))
      return Effect.gen(function* () {
        yield* PlanAndExecute.run(goal, { executor, maxSteps: results.length, maxPlanLength: 99, ...rest })
        return (yield* promptsOf("replanner")).at(-1) ?? ""
      }).pipe(
        Effect.provide(
          world([
            list(step(0), "later"),
            ...results.slice(1).map((_, k) => remaining(step(k + 1), "later")),
            final("x")
          ])
        )
      )
    }

    it.effect.each([
      ["one of 60,000 characters", ["n".repeat(60_000)]],
      ["a short one before it", ["short", "n".repeat(60_000)]],
      ["a long one before it", ["o".repeat(80_000), "n".repeat(60_000)]],
      ["nearly the whole of the room", ["short", "n".repeat(99_000)]],
      ["backticks", ["short", "`".repeat(30_000)]],
      ["fences in it", ["short", "```\n".repeat(15_000)]]
    ] as const)("has the newest result whole as long as it fits: %s", ([, results]) =>
      Effect.gen(function* () {
        const prompt = yield* promptAfter(results, { maxPromptChars: 100_000 })
        expect(prompt.length).toBeLessThanOrEqual(100_000)
        expect(prompt).toContain(results.at(-1))
      })
    )

    it.effect("cuts an older result and not the newest, and as little as it must", () =>
      Effect.gen(function* () {
        const prompt = yield* promptAfter(["o".repeat(90_000), "n".repeat(60_000)], { maxPromptChars: 100_000 })
        expect(prompt).toContain("of 90,000 characters shown")
        expect(prompt.length).toBeGreaterThan(99_000)
      })
    )

    const text = FastCheck.oneof(
      FastCheck.nat(20_000).map((length) => "r".repeat(length)),
      FastCheck.nat(20_000).map((length) => "`".repeat(length)),
      FastCheck.nat(5_000).map((length) => "```\n".repeat(length)),
      FastCheck.nat(5_000).map((length) => "😀".repeat(length)),
      FastCheck.string()
    )
    it("is never longer than its cap, and has the newest result whole where that fits", async () => {
      await FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(text, { minLength: 1, maxLength: 6 }),
          FastCheck.integer({ min: 1_000, max: 60_000 }),
          FastCheck.nat(2_000),
          FastCheck.constantFrom(undefined, "{{past_steps}} {{plan}} {{past_steps}} {{plan}} {{goal}}", "{{goal}}"),
          async (results, maxPromptChars, stepLength, replanner) => {
            const prompt = await Effect.runPromise(
              promptAfter(
                results,
                { maxPromptChars, ...(replanner === undefined ? {} : { prompts: { replanner } }) },
                (i) => `step ${i} ${"s".repeat(stepLength)}`
              )
            )
            expect(prompt.length).toBeLessThanOrEqual(maxPromptChars)
            const newest = results.at(-1) ?? ""
            if (replanner === undefined && newest.length * 3 + 2 * stepLength + 2_500 < maxPromptChars) {
              expect(prompt).toContain(newest.toWellFormed())
            }
          }
        ),
        { numRuns: Math.min(2_000, Number(process.env["FORETHOUGHT_RUNS"] ?? 150)) }
      )
    }, 60_000)

    it.effect.each([
      [5_000, 1_000],
      [99_900, 100_000],
      [200_000, undefined]
    ] as const)("is refused at once for a goal of %d characters under a cap of %s", ([length, maxPromptChars]) =>
      Effect.gen(function* () {
        const options = maxPromptChars === undefined ? {} : { maxPromptChars }
        const error = yield* Effect.flip(PlanAndExecute.run("g".repeat(length), options))
        expect(error).toMatchObject({
          _tag: "LlmError",
          reason: { _tag: "ContextOverflow" },
          progress: { pastSteps: [] }
        })
        expect(error.message).toMatch(/maxPromptChars, \d+, leaves no room .* give at least \d+, or shorten the goal/)
        expect(yield* requests).toEqual([])
      }).pipe(Effect.provide(world([])))
    )
  })

  it.effect("retries are Schedules: a schedule of three asks three times more", () => {
    const { executor } = stub()
    return Effect.gen(function* () {
      yield* PlanAndExecute.run("G", { executor, reask: Schedule.recurs(3) })
      expect((yield* requests).map((request) => request.call).slice(0, 4)).toEqual([
        "planner",
        "planner/reask-1",
        "planner/reask-2",
        "planner/reask-3"
      ])
    }).pipe(Effect.provide(world(["no", "no", "no", list("A"), final("x")])))
  })

  it.effect("PE-29: the whole prompt stays under its cap, whatever else is in it", () => {
    const { executor } = stub(() => "z".repeat(20_000))
    const goal = "g".repeat(3_000)
    return Effect.gen(function* () {
      yield* PlanAndExecute.run(goal, { executor, maxSteps: 30, maxPromptChars: 20_000 })
      for (const prompt of yield* promptsOf("replanner")) expect(prompt.length).toBeLessThanOrEqual(20_000)
    }).pipe(
      Effect.provide(
        world([
          list("s".repeat(500)),
          ...Array.from({ length: 20 }, (_, i) => remaining(`step ${i} ${"s".repeat(500)}`)),
          final("x")
        ])
      )
    )
  })

  it.effect("PE-26: a step runs again only if the replanner lists it again after it failed", () => {
    const { executor, seen } = stub((input) => (input.step === "B" ? { status: "failed", result: "HTTP 403" } : "ok"))
    return Effect.gen(function* () {
      yield* PlanAndExecute.run("G", { executor })
      expect(seen.map((input) => input.step)).toEqual(["A", "B", "B", "C"])
    }).pipe(Effect.provide(world([list("A", "B"), remaining("B"), remaining("B", "C"), remaining("C"), final("x")])))
  })

  it.effect("PE-18, PE-19: a plan of nothing but completed steps is kept, and never in silence", () => {
    const { executor, seen } = stub()
    return Effect.gen(function* () {
      const { events } = yield* withEvents(PlanAndExecute.run("G", { executor }))
      expect(seen.map((input) => input.step)).toEqual(["Fetch", "Fetch"])
      expect(warnings(events, "repeated_step")[0]).toContain("planned again, and nothing else: Fetch")
    }).pipe(Effect.provide(world([list("Fetch", "Convert"), remaining("Fetch"), final("x")])))
  })

  it.effect("an executor that says nothing has failed its step, and the run goes on", () =>
    Effect.gen(function* () {
      const { pastSteps } = yield* PlanAndExecute.run("G")
      expect(pastSteps).toMatchObject([{ step: "A", status: "failed" }])
      expect(pastSteps[0]?.result).toContain("empty reply")
    }).pipe(
      Effect.provide(world([list("A"), { role: "executor", says: "" }, { role: "executor", says: "" }, final("x")]))
    )
  )

  it("refuses wrong options where the program is built", () => {
    for (const options of [{ maxSteps: 0 }, { maxPlanLength: 1.5 }, { maxToolCalls: -1 }, { maxPromptChars: 10 }]) {
      expect(() => PlanAndExecute.run("G", options)).toThrow(RangeError)
    }
    expect(() => PlanAndExecute.run("G", JSON.parse('{"max_steps":3}'))).toThrow(/unknown option "max_steps"/)
    expect(() => PlanAndExecute.run("G", JSON.parse('{"executorSees":"none"}'))).toThrow(/"step" or "all"/)
  })

  it("has typed errors that carry the work so far", () => {
    const run = PlanAndExecute.run("G")
    type Tags = Effect.Effect.Error<typeof run>["_tag"]
    expectTypeOf<Tags>().toEqualTypeOf<
      "StepCapReached" | "PlanRefused" | "ParseError" | "TruncatedReply" | "LlmError"
    >()
    const caught = Effect.catchTag(run, "StepCapReached", (stop) => Effect.succeed(stop.progress.pastSteps))
    expectTypeOf<Effect.Effect.Success<typeof caught>>().toEqualTypeOf<
      PlanAndExecute.Answered | ReadonlyArray<PlanAndExecute.PastStep>
    >()
  })
})
