import { describe, expect, it } from "@effect/vitest"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ToolPermits from "@forethought/core/ToolPermits"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"

/** Tools that take 10 ms, or what their input says, and count how many of their calls are active. */
const meter = () => {
  const started: Array<string> = []
  const active = new Map<string, number>()
  const most = new Map<string, number>()
  const tool = (name: string) =>
    Tool.make({
      name,
      description: "",
      execute: (input) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            started.push(input)
            const now = (active.get(name) ?? 0) + 1
            active.set(name, now)
            most.set(name, Math.max(most.get(name) ?? 0, now))
          }),
          () => (input === "fails" ? Effect.fail("broken") : Effect.as(Effect.sleep("10 millis"), input)),
          () => Effect.sync(() => active.set(name, (active.get(name) ?? 1) - 1))
        )
    })
  return { started, active, most, tool }
}
const limited = (options: ToolPermits.PermitOptions, ...tools: ReadonlyArray<Tool.Tool>) =>
  Layer.provide(ToolPermits.layer(options), Toolbox.layer(tools))
const call = (tool: string, input: string) =>
  Effect.flatMap(Toolbox.Toolbox, (toolbox) => toolbox.call({ call: input, tool, input }))

describe("ToolPermits", () => {
  it.effect("never lets more than n calls of a tool run, loses none, and keeps the order", () => {
    const { most, started, tool } = meter()
    const inputs = Array.from({ length: 200 }, (_, i) => `${i}`)
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.forEach(inputs, (i) => call("a", i), { concurrency: "unbounded" }))
      for (let i = 0; i < 25; i++) yield* TestClock.adjust("10 millis")
      expect(yield* Fiber.join(fiber)).toEqual(inputs)
      expect(most.get("a")).toBe(8)
      expect(started).toEqual(inputs)
    }).pipe(Effect.provide(limited({ tools: { a: 8 } }, tool("a"))))
  })
  it.effect("limits each tool on its own, and one that has no limit not at all", () => {
    const { most, tool } = meter()
    return Effect.gen(function* () {
      const calls = ["a", "b", "free"].flatMap((name) => ["1", "2", "3"].map((i) => call(name, i)))
      const fiber = yield* Effect.fork(Effect.all(calls, { concurrency: "unbounded" }))
      yield* TestClock.adjust("30 millis")
      yield* Fiber.join(fiber)
      expect([...most]).toEqual([
        ["a", 1],
        ["b", 2],
        ["free", 3]
      ])
    }).pipe(Effect.provide(limited({ tools: { a: 1, b: 2 } }, tool("a"), tool("b"), tool("free"))))
  })
  it.effect("holds for a name that is written differently", () => {
    const { most, tool } = meter()
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.all([call("Search", "1"), call("search()", "2")], { concurrency: 2 }))
      yield* TestClock.adjust("20 millis")
      yield* Fiber.join(fiber)
      expect(most.get("Search")).toBe(1)
    }).pipe(Effect.provide(limited({ each: 1 }, tool("Search"))))
  })
  it.effect("a failure and an interruption give the permit back, also while waiting", () => {
    const { active, started, tool } = meter()
    return Effect.gen(function* () {
      expect(yield* Effect.isFailure(call("a", "fails"))).toBe(true)
      const running = yield* Effect.fork(call("a", "running"))
      yield* Effect.yieldNow()
      const waiting = yield* Effect.fork(call("a", "given up"))
      const last = yield* Effect.fork(call("a", "last"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(running))).toBe(true)
      yield* TestClock.adjust("10 millis")
      expect(yield* Fiber.join(last)).toBe("last")
      expect(started).toEqual(["fails", "running", "last"])
      expect(active.get("a")).toBe(0)
    }).pipe(Effect.provide(limited({ each: 1 }, tool("a"))))
  })
  it.effect("no permit is lost when those who wait are interrupted at every moment", () => {
    const { active, tool } = meter()
    return Effect.gen(function* () {
      for (let yields = 0; yields < 30; yields++) {
        const holder = yield* Effect.fork(call("a", "holder"))
        const waiting = yield* Effect.fork(call("a", "waiting"))
        yield* Effect.yieldNow()
        yield* TestClock.adjust("10 millis")
        for (let i = 0; i < yields; i++) yield* Effect.yieldNow()
        yield* Fiber.interruptAll([holder, waiting])
      }
      expect(active.get("a")).toBe(0)
      const after = yield* Effect.fork(call("a", "after"))
      yield* TestClock.adjust("10 millis")
      expect(yield* Fiber.join(after)).toBe("after")
    }).pipe(Effect.provide(limited({ each: 1 }, tool("a"))))
  })
  it.effect("the time spent waiting is not part of the call's timeout", () => {
    const { tool } = meter()
    return Effect.gen(function* () {
      const toolbox = yield* Toolbox.Toolbox
      const timed = (input: string) => toolbox.call({ call: input, tool: "a", input, timeout: 15 })
      const fiber = yield* Effect.fork(Effect.forEach(["1", "2", "3"], timed, { concurrency: 3 }))
      yield* TestClock.adjust("30 millis")
      expect(yield* Fiber.join(fiber)).toEqual(["1", "2", "3"])
    }).pipe(Effect.provide(limited({ each: 1 }, tool("a"))))
  })
  it.effect("refuses a limit that is none, and a tool that is not there; an unknown tool fails as ever", () => {
    const { tool } = meter()
    return Effect.gen(function* () {
      const toolbox = yield* Toolbox.make([tool("a")])
      expect(() => ToolPermits.make(toolbox, { each: 0 })).toThrow(/at least 1/)
      expect(() => ToolPermits.make(toolbox, { tools: { a: 1.5 } })).toThrow(/whole number/)
      expect(() => ToolPermits.make(toolbox, { tools: { b: 1 } })).toThrow(/no tool "b".*Tools: a/)
      const error = yield* Effect.flip(ToolPermits.make(toolbox, { each: 1 }).call({ call: "c", tool: "b", input: "" }))
      expect(error._tag).toBe("UnknownTool")
    })
  })

  it.effect("lets a tool reach itself under the permit that it holds, and holds others back meanwhile", () => {
    const log: Array<string> = []
    const nested = (name: string, calls: string): Tool.Tool =>
      Tool.make({
        name,
        description: "",
        execute: (input) =>
          Effect.gen(function* () {
            log.push(`${name} ${input} begins`)
            yield* Effect.sleep("10 millis")
            const [first = "", ...rest] = input.split(">")
            const deeper = { call: input, tool: calls, input: rest.join(">") }
            const below = rest.length === 0 ? "" : yield* Effect.flatMap(world, (toolbox) => toolbox.call(deeper))
            log.push(`${name} ${input} ends`)
            return `${first}${below}`
          })
      })
    const world: Effect.Effect<Toolbox.Service> = Effect.runSync(
      Effect.cached(
        Effect.map(Toolbox.make([nested("a", "b"), nested("b", "a")]), (inner) => ToolPermits.make(inner, { each: 1 }))
      )
    )
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.all([call("a", "1>2>3"), call("a", "4")], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toEqual(["123", "4"])
      expect(log.indexOf("a 4 begins")).toBeGreaterThan(log.indexOf("a 1>2>3 ends"))
    }).pipe(Effect.provideServiceEffect(Toolbox.Toolbox, world))
  })
})

describe("Toolbox.around", () => {
  it.effect("is given the tool that was meant, and may call it, or answer in its place", () => {
    const seen: Array<readonly [string, string]> = []
    const echo = Tool.make({ name: "Echo", description: "", execute: (input) => `echo ${input}` })
    return Effect.gen(function* () {
      const inner = yield* Toolbox.make([echo])
      const toolbox = Toolbox.around((tool, request, run) => {
        seen.push([tool.name, request.tool])
        return request.input === "stop" ? Effect.succeed("stopped") : run
      })(inner)
      const ask = (tool: string, input: string) => toolbox.call({ call: "c", tool, input })
      expect(yield* ask(" echo()", "x")).toBe("echo x")
      expect(yield* ask("Echo", "stop")).toBe("stopped")
      expect(yield* Effect.flip(ask("Other", "x"))).toMatchObject({ _tag: "UnknownTool", tool: "Other" })
      expect(seen).toEqual([
        ["Echo", " echo()"],
        ["Echo", "Echo"]
      ])
    })
  })
})
