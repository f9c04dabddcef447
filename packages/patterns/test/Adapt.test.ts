import { describe, expect, it } from "@effect/vitest"
import type { ExecutorInput } from "@forethought/core/Executor"
import * as Llm from "@forethought/core/Llm"
import { FakeTools } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { expectTypeOf } from "vitest"
import { of, promptsOf, requests, warnings, withEvents, world } from "./world.js"

// A whole run takes longer than the reading of a reply.
const numRuns = Math.ceil(Number(process.env["FORETHOUGHT_RUNS"] ?? 1000) / 5)

const split = (logic: string, ...subSteps: ReadonlyArray<unknown>) => JSON.stringify({ logic, sub_steps: subSteps })

/** A group of 4, `deep` levels deep. */
const nest = (deep: number): object => ({
  logic: "or",
  sub_steps: Array.from({ length: deep === 0 ? 2 : 4 }, (_, index) => (deep === 0 ? `try ${index}` : nest(deep - 1)))
})

/** Decompositions of few tasks, so that many of them repeat one. */
const { plan } = fc.letrec<{ plan: object; subStep: unknown }>((tie) => ({
  plan: fc.record({
    logic: fc.constantFrom("and", "or"),
    sub_steps: fc.array(tie("subStep"), { minLength: 1, maxLength: 4 })
  }),
  subStep: fc.oneof({ depthSize: "small", withCrossShrink: true }, fc.constantFrom("a", "b", "c", "d"), tie("plan"))
}))

/** An executor without a model: says what the table says of a task, and fails at any other. */
const stub = (verdicts: { readonly [task: string]: string }) => {
  const tried: Array<string> = []
  const executor = (input: ExecutorInput) =>
    Effect.sync(() => {
      const task = /<task>([\s\S]*?)<\/task>/.exec(input.step)?.[1] ?? ""
      tried.push(task)
      return { status: "completed" as const, result: verdicts[task] ?? `FAILURE: cannot ${task}` }
    })
  return { executor, tried }
}

describe("Adapt", () => {
  it.effect(
    "with a stub LLM whose executor fails the top task, then succeeds on both of 2 and-sub-steps: one planner call, three executor calls and a success result",
    () =>
      Effect.gen(function* () {
        const { result, tree } = yield* Adapt.run("Bake a cake")
        expect(result).toEqual(["flour", "cake"])
        const roles = (yield* requests).map((request) => request.role)
        expect(roles.filter((role) => role === "planner").length).toBe(1)
        expect(roles.filter((role) => role === "executor").length).toBe(3)
        expect(tree).toMatchObject({ id: "1", status: "completed", attempt: { status: "failed", detail: "no flour" } })
        expect((yield* requests).map((request) => request.call)).toEqual([
          "1/executor/turn-1",
          "1/planner",
          "1.1/executor/turn-1",
          "1.2/executor/turn-1"
        ])
      }).pipe(
        Effect.provide(
          world([
            "I tried.\nFAILURE: no flour",
            split("and", "Buy flour", "Mix and bake"),
            "SUCCESS: flour",
            "SUCCESS: cake"
          ])
        )
      )
  )

  it.effect("sends the prompts of the specification, word for word", () =>
    Effect.gen(function* () {
      yield* Effect.flip(Adapt.run("Bake", { maxDepth: 2 }))
      expect((yield* promptsOf("executor"))[0]).toBe(`Complete the task below using the tools. Work step by step.

<task>Bake</task>
<tools>Search[input]: Fake Search.</tools>

When you finish, end with exactly one line:
SUCCESS: <the result>
or, if you cannot complete the task as a whole,
FAILURE: <what blocked you>`)
      expect((yield* promptsOf("planner"))[0]).toBe(`An executor tried this task and could not complete it.

<task>Bake</task>
<failure>no oven</failure>

Split the task into 2 to 4 smaller sub-steps that avoid
the blocker. Say whether all of them must succeed (and) or any one
is enough (or).

Respond in JSON:
{"logic": "and" | "or", "sub_steps": ["...", "..."]}`)
    }).pipe(Effect.provide(world(["FAILURE: no oven", split("and", "A", "B"), "FAILURE: no"])))
  )

  it.effect("if the executor reports success, returns its result and plans nothing", () => {
    const { executor } = stub({ T: "SUCCESS: done" })
    return Effect.gen(function* () {
      expect(yield* Adapt.run("T", { executor })).toEqual({
        _tag: "Answered",
        answer: "done",
        result: "done",
        verified: true,
        tree: {
          _tag: "Task",
          id: "1",
          task: "T",
          depth: 1,
          status: "completed",
          result: "done",
          verified: true,
          attempt: { status: "completed", detail: "done", verified: true }
        }
      })
    }).pipe(Effect.provide(world([])))
  })

  it.effect("AD-12: with or, stops at the first that succeeds; its result is the parent's", () => {
    const { executor, tried } = stub({ "Plan B": "SUCCESS: by B" })
    return Effect.gen(function* () {
      const { result } = yield* Adapt.run("T", { executor, maxDepth: 2 })
      expect(result).toBe("by B")
      expect(tried).toEqual(["T", "Plan A", "Plan B"])
    }).pipe(Effect.provide(world([split("or", "Plan A", "Plan B", "Plan C")])))
  })

  it.effect("with and, stops at the first sub-step that fails, and the failure carries the whole tree", () => {
    const { executor, tried } = stub({ A: "SUCCESS: a" })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 2 }))
      expect(tried).toEqual(["T", "A", "B"])
      expect(error).toMatchObject({ _tag: "TaskFailed", reason: "cannot B" })
      const { subSteps } = error.progress.tree
      expect(subSteps?.planned).toEqual(["A", "B", "C"])
      expect(subSteps?.children).toMatchObject([
        { id: "1.1", status: "completed", result: "a" },
        { id: "1.2", status: "failed", reason: "cannot B", depth: 2 }
      ])
    }).pipe(Effect.provide(world([split("and", "A", "B", "C")])))
  })

  it.effect("with or, a task fails when all of its sub-steps have failed, with every reason", () => {
    const { executor } = stub({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 2 }))
      expect(error._tag === "TaskFailed" && error.reason).toBe("cannot A\ncannot B")
    }).pipe(Effect.provide(world([split("or", "A", "B")])))
  })

  it.effect("splits recursively, one level deeper, down to the depth limit", () => {
    const { executor, tried } = stub({ A2: "SUCCESS: a2", B: "SUCCESS: b" })
    return Effect.gen(function* () {
      const { result } = yield* Adapt.run("T", { executor })
      expect(tried).toEqual(["T", "A", "A1", "A2", "B"])
      expect(result).toEqual(["a2", "b"])
    }).pipe(Effect.provide(world([split("and", "A", "B"), split("or", "A1", "A2")])))
  })

  it.effect.each([1, 2, 3])("stops at depth %i: a failed task there is not split", (maxDepth) => {
    const { executor, tried } = stub({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("1", { executor, maxDepth }))
      expect(error._tag).toBe("TaskFailed")
      expect(tried.length).toBe(maxDepth)
    }).pipe(Effect.provide(world(Array.from({ length: maxDepth - 1 }, (_, i) => split("and", `${i}a`, `${i}b`)))))
  })

  describe("AD-01: a repeat of the task", () => {
    const or = (...subSteps: ReadonlyArray<unknown>) => ({ logic: "or", sub_steps: subSteps })
    const and = (...subSteps: ReadonlyArray<unknown>) => ({ logic: "and", sub_steps: subSteps })

    it.effect.each<[plan: unknown, tried: ReadonlyArray<string>]>([
      [and("p", "T"), ["p", "T"]],
      [and("p", "«t».", "q"), ["p", "«t»."]],
      [and("p", "T", "q"), ["p", "T"]],
      [and("p", "q", "T"), ["p", "q", "T"]],
      [and("p", and("T", "q")), ["p", "T"]],
      [and(and("p", "q"), "T"), ["p", "q", "T"]],
      [and(and("p"), and(and("T"), "q")), ["p", "T"]],
      [and(or("p", "q"), "T"), ["p", "T"]],
      [or(and("p", "T"), "q"), ["p", "T", "q"]],
      [or(and("p", and("T", "q")), "q"), ["p", "T", "q"]]
    ])("behind another sub-step, as in %j, is carried out once and never split", ([plan, expected]) => {
      const { executor, tried } = stub({ p: "SUCCESS: p", q: "SUCCESS: q" })
      return Effect.gen(function* () {
        const outcome = yield* Effect.either(Adapt.run("T", { executor }))
        expect(tried).toEqual(["T", ...expected])
        expect((yield* requests).map((request) => request.call)).toEqual(["1/planner"])
        if (outcome._tag === "Left")
          expect(outcome.left).toMatchObject({ _tag: "TaskFailed", reason: `cannot ${expected.at(-1)}` })
      }).pipe(Effect.provide(world([JSON.stringify(plan)])))
    })

    it.effect.each([
      [and("T", "p")],
      [and("t!", "p")],
      [and(and("T", "p"), "q")],
      [and(and(and("T", "p"), "p"), "q")],
      [and("T")],
      [or("T", "p")],
      [or("p", "T")],
      [or("p", and("T", "q"))],
      [and("p", or("T", "q"))],
      [and("p", or("q", "T"))],
      [and("p", or("q", and("T", "p")))],
      [and("p", and("q", or("T", "q")))]
    ])("with nothing before it that could help, as in %j, is refused: the planner is asked again, once", ([plan]) => {
      const { executor, tried } = stub({ p: "SUCCESS: p", q: "SUCCESS: q" })
      return Effect.gen(function* () {
        const error = yield* Effect.flip(Adapt.run("T", { executor }))
        expect(tried).toEqual(["T"])
        expect(error._tag === "TaskFailed" && error.reason).toContain("could not be split")
        const asked = yield* requests
        expect(asked.map((request) => request.call)).toEqual(["1/planner", "1/planner/reask-1"])
        const correction = asked[1]?.messages.at(-1)?.content
        expect(correction).toContain("a task that was tried already")
        expect(correction).toContain('stand only behind another sub-step of an "and"')
      }).pipe(Effect.provide(world([JSON.stringify(plan), JSON.stringify(plan)])))
    })

    it.effect("succeeds where what is before it has changed the world", () => {
      const tried: Array<string> = []
      const executor = ({ step }: ExecutorInput) =>
        Effect.sync(() => {
          const task = /<task>([\s\S]*?)<\/task>/.exec(step)?.[1] ?? ""
          const hasFlour = tried.includes("Buy flour")
          tried.push(task)
          const said = task === "Bake the loaf" && !hasFlour ? "FAILURE: no flour" : "SUCCESS: done"
          return { status: "completed" as const, result: said }
        })
      return Effect.gen(function* () {
        const { result } = yield* Adapt.run("Bake the loaf", { executor })
        expect(result).toEqual(["done", "done"])
        expect(tried).toEqual(["Bake the loaf", "Buy flour", "Bake the loaf"])
      }).pipe(Effect.provide(world([split("and", "Buy flour", "Bake the loaf")])))
    })

    it.effect("counts at every level below, and a sub-step that merely occurred elsewhere is none", () => {
      const { executor, tried } = stub({ p: "SUCCESS: p", C: "SUCCESS: c" })
      return Effect.gen(function* () {
        yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 4 }))
        expect(tried).toEqual(["T", "p", "A", "p", "B", "p", "T"])
        expect((yield* requests).map((request) => request.call)).toEqual(["1/planner", "1.2/planner", "1.2.2/planner"])
      }).pipe(Effect.provide(world([split("and", "p", "A"), split("and", "p", "B"), split("and", "p", "T", "C")])))
    })
  })

  it.effect("AD-02: planners that only rephrase are stopped by the depth limit", () => {
    const { executor, tried } = stub({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("Do it", { executor, maxDepth: 3 }))
      expect(error._tag).toBe("TaskFailed")
      expect(tried).toEqual(["Do it", "Do it well", "Do it really well"])
    }).pipe(Effect.provide(world([split("and", "Do it well"), split("and", "Do it really well")])))
  })

  it.effect("AD-06: a success after no successful tool call is marked as not verified", () =>
    Effect.gen(function* () {
      const { verified, result } = yield* Adapt.run("Save the report")
      expect({ verified, result }).toEqual({ verified: false, result: "report saved" })
    }).pipe(
      Effect.provide(
        world([{ toolCalls: [{ id: "1", name: "Save", arguments: '{"input":"x"}' }] }, "SUCCESS: report saved"], {
          Save: { fails: "disk full" }
        })
      )
    )
  )

  it.effect("AD-06: a verify hook has the last word", () => {
    const { executor } = stub({ T: "SUCCESS: done" })
    return Effect.gen(function* () {
      const asked: Array<unknown> = []
      const no = (claim: unknown) =>
        Effect.sync(() => {
          asked.push(claim)
          return false
        })
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 1, verify: no }))
      expect(asked).toEqual([{ task: "T", result: "done" }])
      expect(error._tag === "TaskFailed" && error.reason).toContain("did not pass verification")
    }).pipe(Effect.provide(world([])))
  })

  it.effect("AD-07: tool errors on the way do not outweigh the verdict", () =>
    Effect.gen(function* () {
      const { verified, result } = yield* Adapt.run("Bring up the page")
      expect({ verified, result }).toEqual({ verified: true, result: "page is up" })
    }).pipe(
      Effect.provide(
        world(
          [
            ...[1, 2, 3].map((i) => ({
              toolCalls: [{ id: String(i), name: "Deploy", arguments: `{"input":"try ${i}"}` }]
            })),
            "SUCCESS: page is up"
          ],
          { Deploy: { gives: (input) => (input === "try 3" ? "ok" : Effect.fail(new Error("503"))) } }
        )
      )
    )
  )

  it.effect("AD-09: the last verdict line wins", () => {
    const { executor } = stub({ T: "SUCCESS: part one\nFAILURE: part two refused" })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 1 }))
      expect(error._tag === "TaskFailed" && error.reason).toBe("part two refused")
    }).pipe(Effect.provide(world([])))
  })

  it.effect("AD-10: no verdict is a failure with the whole reply as its reason", () => {
    const text = "I have looked at the page and will continue later."
    const { executor } = stub({ T: text })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 1 }))
      expect(error._tag === "TaskFailed" && error.reason).toBe(text)
    }).pipe(Effect.provide(world([])))
  })

  it.effect("AD-13: nested groups are evaluated in place and add no depth", () => {
    const { executor, tried } = stub({ "Open shop": "SUCCESS: open", "Pay card": "SUCCESS: paid" })
    return Effect.gen(function* () {
      const { result, tree } = yield* Adapt.run("T", { executor, maxDepth: 2 })
      expect(tried).toEqual(["T", "Open shop", "Pay cash", "Pay card"])
      expect(result).toEqual(["open", "paid"])
      expect(tree.subSteps?.planned).toEqual(["Open shop", "(Pay cash or Pay card)"])
      expect(tree.subSteps?.children).toMatchObject([
        { id: "1.1", depth: 2 },
        { _tag: "Group", id: "1.2", logic: "or", children: [{ id: "1.2.1" }, { id: "1.2.2", depth: 2 }] }
      ])
    }).pipe(Effect.provide(world([split("and", "Open shop", { logic: "or", sub_steps: ["Pay cash", "Pay card"] })])))
  })

  it.effect(
    "if the planner's JSON cannot be parsed, retries once with the parse error appended, then the task failed",
    () => {
      const { executor, tried } = stub({ A: "SUCCESS: a", B: "SUCCESS: b" })
      return Effect.gen(function* () {
        const { result } = yield* Effect.provide(
          Adapt.run("T", { executor }),
          world(["Try A, then B.", split("and", "A", "B")])
        )
        expect(result).toEqual(["a", "b"])
        const error = yield* Effect.flip(Adapt.run("T", { executor })).pipe(
          Effect.provide(world(["Try A.", '{"logic":"maybe","sub_steps":["A","B"]}']))
        )
        expect(error._tag === "TaskFailed" && error.reason).toMatch(/^cannot T\nThe task could not be split/)
        expect(tried).toEqual(["T", "A", "B", "T"])
      })
    }
  )

  it.effect.each([
    [["A", "B", "C"], 2, 3],
    [["A", { logic: "or", sub_steps: ["B", "C"] }], 2, 3],
    [[nest(2), nest(2)], 4, 64],
    [[nest(0), nest(0), "A"], 4, 5],
    [["A", { logic: "or", sub_steps: [{ logic: "and", sub_steps: [{ logic: "or", sub_steps: ["B", "C"] }] }] }], 2, 3]
  ] as const)("AU-10: more sub-steps than allowed are refused, not cut, however they are nested", (row) => {
    const [subSteps, maxSubSteps, found] = row
    const { executor, tried } = stub({})
    const plan = split("and", ...subSteps)
    return Effect.gen(function* () {
      yield* Effect.flip(Adapt.run("T", { executor, maxSubSteps }))
      expect(tried).toEqual(["T"])
      const correction = (yield* requests)[1]?.messages.at(-1)?.content
      expect(correction).toContain(`at most ${maxSubSteps} sub-steps in all`)
      expect(correction).toContain(`${found} sub-steps`)
    }).pipe(Effect.provide(world([plan, plan])))
  })

  it.effect("AU-10: as many as allowed are carried out, however they are nested", () => {
    const { executor, tried } = stub({ A: "SUCCESS: a", C: "SUCCESS: c", D: "SUCCESS: d" })
    return Effect.gen(function* () {
      yield* Adapt.run("T", { executor, maxDepth: 2 })
      expect(tried).toEqual(["T", "A", "B", "C", "D"])
    }).pipe(Effect.provide(world([split("and", "A", { logic: "or", sub_steps: ["B", "C"] }, "D")])))
  })

  it.effect.prop(
    "AU-10, AD-01, AD-02: attempts, depth and splits stay within their bounds, whatever planner and executor say",
    { maxDepth: fc.integer({ min: 1, max: 4 }), maxSubSteps: fc.integer({ min: 2, max: 4 }), plans: fc.array(plan) },
    ({ maxDepth, maxSubSteps, plans }) =>
      Effect.gen(function* () {
        const left = [...plans]
        let tries = 0
        const model = Llm.layer(() => Effect.sync(() => Llm.reply(JSON.stringify(left.pop() ?? "none"))))
        const { events } = yield* withEvents(
          Effect.exit(
            Adapt.run("a", {
              maxDepth,
              maxSubSteps,
              executor: () =>
                Effect.sync(() => ({
                  status: tries++ % 3 === 1 ? ("completed" as const) : ("failed" as const),
                  result: "SUCCESS: x"
                }))
            })
          )
        ).pipe(Effect.provide(Layer.merge(model, FakeTools.layer({}))))
        const splits = of(events, "TaskDecomposed")
        expect(of(events, "TaskStarted").length).toBeLessThanOrEqual(1 + splits.length * maxSubSteps)
        for (const { depth } of of(events, "TaskStarted")) expect(depth).toBeLessThanOrEqual(maxDepth)
        for (const { call, task } of splits) {
          const above = splits.filter((other) => call !== other.call && call.startsWith(`${other.call}.`))
          expect(above.map((other) => other.task)).not.toContain(task)
        }
      }),
    { fastCheck: { numRuns } }
  )

  it.effect("a model that cannot be reached ends the run with the tree so far", () => {
    const { executor } = stub({ A: "SUCCESS: a" })
    return Effect.gen(function* () {
      const down = new Llm.LlmError({ reason: Llm.Reason.Unavailable(503) })
      const error = yield* Effect.flip(Adapt.run("T", { executor })).pipe(
        Effect.provide(world([split("and", "A", "B"), down]))
      )
      expect(error._tag).toBe("LlmError")
      expect(error.progress.tree).toMatchObject({
        status: "running",
        subSteps: {
          children: [
            { status: "completed", result: "a" },
            { status: "running", task: "B" }
          ]
        }
      })
    })
  })

  it.effect("tells of every task and decomposition", () => {
    const { executor } = stub({ A: "SUCCESS: a", B: "SUCCESS: b" })
    return Effect.gen(function* () {
      const { events } = yield* withEvents(Adapt.run("T", { executor }))
      expect(of(events, "TaskStarted").map((event) => [event.call, event.task, event.depth])).toEqual([
        ["1", "T", 1],
        ["1.1", "A", 2],
        ["1.2", "B", 2]
      ])
      expect(of(events, "TaskDecomposed").map((event) => [event.call, event.logic, event.subSteps])).toEqual([
        ["1", "and", ["A", "B"]]
      ])
      expect(of(events, "TaskEnded").map((event) => [event.call, event.status])).toEqual([
        ["1.1", "completed"],
        ["1.2", "completed"],
        ["1", "completed"]
      ])
      expect(warnings(events, "conflicting_reply")).toEqual([])
    }).pipe(Effect.provide(world([split("and", "A", "B")])))
  })

  it.effect("an executor that says nothing has failed its task, which is then split", () =>
    Effect.gen(function* () {
      const { result } = yield* Adapt.run("T")
      expect(result).toEqual(["a", "b"])
    }).pipe(Effect.provide(world(["", "", split("and", "A", "B"), "SUCCESS: a", "SUCCESS: b"])))
  )

  it.effect("a failed attempt is never marked as verified", () => {
    const { executor } = stub({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("T", { executor, maxDepth: 1 }))
      expect(error.progress.tree.attempt).toMatchObject({ status: "failed", verified: false })
    }).pipe(Effect.provide(world([])))
  })

  it("has typed errors that carry the tree", () => {
    const run = Adapt.run("T")
    expectTypeOf<Effect.Effect.Error<typeof run>["_tag"]>().toEqualTypeOf<"TaskFailed" | "LlmError">()
    const caught = Effect.catchTag(run, "TaskFailed", (error) => Effect.succeed(error.progress.tree))
    expectTypeOf<Effect.Effect.Success<typeof caught>>().toEqualTypeOf<Adapt.Answered | Adapt.TaskNode>()
  })
})
