import { describe, expect, it } from "@effect/vitest"
import type { ExecutorInput } from "@forethought/core/Executor"
import * as Llm from "@forethought/core/Llm"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Effect from "effect/Effect"
import { expectTypeOf } from "vitest"
import { of, promptsOf, requests, warnings, withEvents, world } from "./world.js"

const split = (logic: string, ...subSteps: ReadonlyArray<unknown>) => JSON.stringify({ logic, sub_steps: subSteps })

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
        expect(tree).toMatchObject({ id: "1", status: "succeeded", attempt: { status: "failed", detail: "no flour" } })
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
        _tag: "Succeeded",
        result: "done",
        verified: true,
        tree: {
          _tag: "Task",
          id: "1",
          task: "T",
          depth: 1,
          status: "succeeded",
          result: "done",
          verified: true,
          attempt: { status: "succeeded", detail: "done", verified: true }
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
        { id: "1.1", status: "succeeded", result: "a" },
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

  it.effect("AD-01: a sub-step equal to the task or one above it counts as a failed plan", () => {
    const { executor, tried } = stub({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(Adapt.run("Bake the loaf", { executor }))
      expect(tried).toEqual(["Bake the loaf"])
      expect(error._tag === "TaskFailed" && error.reason).toContain("could not be split")
      expect((yield* requests).map((request) => request.call)).toEqual(["1/planner", "1/planner/reask-1"])
    }).pipe(
      Effect.provide(world([split("and", "Buy flour", "Bake the loaf"), split("and", "Buy flour", "bake  the LOAF.")]))
    )
  })

  it.effect("AD-01: also in a nested group and below", () => {
    const { executor, tried } = stub({})
    return Effect.gen(function* () {
      yield* Effect.flip(Adapt.run("T", { executor }))
      expect(tried).toEqual(["T", "A"])
    }).pipe(
      Effect.provide(
        world([split("and", "A", "B"), split("and", "x", { logic: "or", sub_steps: ["y", "t"] }), "nothing"])
      )
    )
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

  it.effect("more sub-steps than allowed are refused, not cut", () => {
    const { executor, tried } = stub({})
    return Effect.gen(function* () {
      yield* Effect.flip(Adapt.run("T", { executor, maxSubSteps: 2 }))
      expect(tried).toEqual(["T"])
      expect((yield* requests)[1]?.messages.at(-1)?.content).toContain("at most 2 sub-steps")
    }).pipe(Effect.provide(world([split("and", "A", "B", "C"), split("and", "A", "B", "C")])))
  })

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
            { status: "succeeded", result: "a" },
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
        ["1.1", "succeeded"],
        ["1.2", "succeeded"],
        ["1", "succeeded"]
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
    expectTypeOf<Effect.Effect.Success<typeof caught>>().toEqualTypeOf<Adapt.Succeeded | Adapt.TaskNode>()
  })
})
