import { describe, expect, it } from "@effect/vitest"
import * as Approval from "@forethought/core/Approval"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"

const setup = (decide: (request: Approval.ToolRequest) => Effect.Effect<Approval.Decision>) => {
  const ran: Array<string> = []
  const asked: Array<Approval.ToolRequest> = []
  const tool = (name: string, readOnly: boolean) =>
    Tool.make({
      name,
      description: "",
      readOnly,
      timeout: 50,
      execute: (input) => {
        ran.push(input)
        return `did ${input}`
      }
    })
  const approval: Approval.Service = {
    tool: (request) => {
      asked.push(request)
      return decide(request)
    }
  }
  const layer = (service: Approval.Service = approval) =>
    Approval.tools.pipe(
      Layer.provide(Toolbox.layer([tool("read", true), tool("write", false)])),
      Layer.provide(Approval.layer(service))
    )
  return { approval, asked, layer, ran }
}
const call = (tool: string, input: string) =>
  Effect.flatMap(Toolbox.Toolbox, (toolbox) => toolbox.call({ call: `step-1/${input}`, tool, input }))

describe("Approval of tools", () => {
  it.effect("asks before a tool that is not read-only, with what is about to happen", () => {
    const { asked, layer, ran } = setup(() => Effect.succeed("allow"))
    return Effect.gen(function* () {
      expect(yield* call("read", "a")).toBe("did a")
      expect(asked).toEqual([])
      expect(yield* call("WRITE()", "b")).toBe("did b")
      expect(asked).toMatchObject([{ call: "step-1/b", tool: { name: "write" }, input: "b" }])
      expect(ran).toEqual(["a", "b"])
    }).pipe(Effect.provide(layer()))
  })
  it.effect("a denied call does not run, and its reason is what the model reads", () => {
    const { layer, ran } = setup(({ input }) => Effect.succeed({ deny: input }))
    return Effect.gen(function* () {
      const error = yield* Effect.flip(call("write", "not on a Friday"))
      expect(error).toMatchObject({ _tag: "ToolFailed", tool: "write" })
      expect(error.message).toBe("write failed: The call was not approved: not on a Friday")
      expect((yield* Effect.flip(call("write", " "))).message).toBe("write failed: The call was not approved.")
      expect(ran).toEqual([])
    }).pipe(Effect.provide(layer()))
  })
  const broken: ReadonlyArray<readonly [string, () => Effect.Effect<Approval.Decision>]> = [
    ["dies", () => Effect.die("no screen")],
    ["interrupts itself", () => Effect.interrupt],
    [
      "throws",
      () => {
        throw new Error("no screen")
      }
    ]
  ]
  it.effect.each(broken)("nothing runs where the asking %s", ([_, decide]) => {
    const { layer, ran } = setup(decide)
    return Effect.gen(function* () {
      const error = yield* Effect.flip(call("write", "x"))
      expect(error.message).toBe("write failed: The call was not made: asking for its approval failed.")
      expect(ran).toEqual([])
    }).pipe(Effect.provide(layer()))
  })
  it.effect("the time it takes to decide is not part of the tool's timeout", () => {
    const { layer } = setup(() => Effect.as(Effect.sleep("1 hour"), "allow"))
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(call("write", "x"))
      yield* TestClock.adjust("1 hour")
      expect(yield* Fiber.join(fiber)).toBe("did x")
    }).pipe(Effect.provide(layer()))
  })
  it.effect("an interruption while somebody decides runs nothing", () => {
    const { layer, ran } = setup(() => Effect.never)
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(call("write", "x"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(ran).toEqual([])
    }).pipe(Effect.provide(layer()))
  })
  it.effect("oneAtATime asks about parallel calls one after the other", () => {
    let open = 0
    let most = 0
    const { approval, asked, layer } = setup(() =>
      Effect.gen(function* () {
        most = Math.max(most, ++open)
        yield* Effect.sleep("1 second")
        open--
        return "allow" as const
      })
    )
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(
        Effect.forEach(["1", "2", "3"], (i) => call("write", i), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      expect(most).toBe(1)
      expect(asked.map(({ input }) => input)).toEqual(["1", "2", "3"])
    }).pipe(Effect.provide(layer(Approval.oneAtATime(approval))))
  })
  it.effect("an unknown tool is the toolbox's to refuse, without asking", () => {
    const { asked, layer } = setup(() => Effect.succeed("allow"))
    return Effect.gen(function* () {
      expect((yield* Effect.flip(call("erase", "x")))._tag).toBe("UnknownTool")
      expect(asked).toEqual([])
    }).pipe(Effect.provide(layer()))
  })
})

describe("PlanApproval", () => {
  const plan = { pattern: "rewoo", task: "t", steps: [{ id: "#E1", text: "", dependsOn: [] }] }
  it.effect("accepts every plan where nobody reviews", () =>
    Effect.map(PlanApproval.review(plan), (review) => expect(review).toEqual({ _tag: "Accept" }))
  )
  it.effect("asks the reviewer of the Layer", () =>
    Effect.gen(function* () {
      expect(yield* PlanApproval.review(plan)).toEqual({ _tag: "Edit", plan: "Plan: #E1" })
      expect(yield* PlanApproval.review({ ...plan, steps: [] })).toEqual({ _tag: "Refuse", reason: "empty" })
    }).pipe(
      Effect.provide(
        PlanApproval.layer(({ steps }) =>
          Effect.succeed(steps.length === 0 ? PlanApproval.refuse("empty") : PlanApproval.edit(`Plan: ${steps[0]?.id}`))
        )
      )
    )
  )
})
