import { describe, expect, it } from "@effect/vitest"
import * as Dag from "@forethought/core/Dag"
import * as Scheduler from "@forethought/core/Scheduler"
import { SimulationClock } from "@forethought/core/testing"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

const graph = (edges: { readonly [id: string]: ReadonlyArray<string> }) =>
  Either.getOrThrow(Dag.make(Object.entries(edges).map(([id, dependsOn]) => ({ id, dependsOn }))))

/** Random graphs: node i may depend on any earlier ones; some nodes fail. */
const randomGraph = FastCheck.array(
  FastCheck.record({
    parents: FastCheck.array(FastCheck.nat(30), { maxLength: 4 }),
    takes: FastCheck.nat(20),
    fails: FastCheck.boolean()
  }),
  { maxLength: 30 }
).map((rows) =>
  rows.map((row, i) => ({
    id: `n${i}`,
    dependsOn: [...new Set(row.parents.filter((parent) => parent < i).map((parent) => `n${parent}`))],
    takes: row.takes,
    fails: row.fails && row.takes % 3 === 0
  }))
)

const simulate = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, SimulationClock.layer()))

interface Trace {
  readonly started: Map<string, number>
  readonly ended: Map<string, number>
  maxActive: number
}

const traced = (
  nodes: ReadonlyArray<{ id: string; dependsOn: ReadonlyArray<string>; takes: number; fails: boolean }>,
  concurrency: number,
  onFailure: "skip" | "continue"
) =>
  Effect.gen(function* () {
    const trace: Trace = { started: new Map(), ended: new Map(), maxActive: 0 }
    let active = 0
    const outcomes = yield* Scheduler.run(Either.getOrThrow(Dag.make(nodes)), {
      concurrency,
      onFailure,
      run: (node) =>
        Effect.gen(function* () {
          trace.started.set(node.id, yield* Clock.currentTimeMillis)
          trace.maxActive = Math.max(trace.maxActive, ++active)
          yield* Effect.sleep(node.takes)
          active--
          trace.ended.set(node.id, yield* Clock.currentTimeMillis)
          return node.fails ? yield* Effect.fail(node.id) : node.id
        })
    })
    return { outcomes, trace }
  })

describe("Scheduler", () => {
  it("keeps its promises on random graphs: order, bound, outcomes, skips", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(randomGraph, FastCheck.integer({ min: 1, max: 6 }), async (nodes, concurrency) => {
        const { outcomes, trace } = await simulate(traced(nodes, concurrency, "skip"))
        expect(outcomes.length).toBe(nodes.length)
        expect(trace.maxActive).toBeLessThanOrEqual(concurrency)
        const failed = new Set<string>()
        for (const [i, node] of nodes.entries()) {
          const doomed = node.dependsOn.some((id) => failed.has(id))
          const outcome = outcomes[i]
          if (doomed) expect(outcome?._tag).toBe("Skipped")
          else expect(outcome?._tag).toBe(node.fails ? "Failed" : "Completed")
          if (doomed || node.fails) failed.add(node.id)
          if (doomed) expect(trace.started.has(node.id)).toBe(false)
          for (const id of node.dependsOn) {
            if (!doomed) expect(trace.started.get(node.id)).toBeGreaterThanOrEqual(trace.ended.get(id) ?? Infinity)
          }
        }
      }),
      { numRuns: Math.min(numRuns, 2000) }
    )
  }, 60_000)

  it("with one permit runs in the order of the nodes", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(randomGraph, async (nodes) => {
        const { trace } = await simulate(traced(nodes, 1, "continue"))
        expect([...trace.started.keys()]).toEqual(nodes.map((node) => node.id))
      }),
      { numRuns: Math.min(numRuns, 500) }
    )
  }, 60_000)

  it("starts a step the moment its own dependencies have settled, not when a wave has", async () => {
    const nodes = [
      { id: "slow", dependsOn: [], takes: 100, fails: false },
      { id: "fast", dependsOn: [], takes: 10, fails: false },
      { id: "after-fast", dependsOn: ["fast"], takes: 10, fails: false }
    ]
    const { trace } = await simulate(traced(nodes, 2, "skip"))
    expect(trace.started.get("after-fast")).toBe(10)
  })

  it("takes the longest remaining path first", async () => {
    const step = (id: string, dependsOn: ReadonlyArray<string>) => ({ id, dependsOn, takes: 10, fails: false })
    const { trace } = await simulate(
      traced([step("x", []), step("y", []), step("a", []), step("b", ["a"]), step("c", ["b"])], 2, "skip")
    )
    expect(trace.started.get("a")).toBe(0)
    expect(trace.ended.get("c")).toBe(30)
  })

  it.effect("names every failed step that a skipped one depends on, through skipped ones too", () =>
    Effect.gen(function* () {
      const outcomes = yield* Scheduler.run(graph({ a: [], b: [], c: ["a", "b"], d: ["c"], e: [] }), {
        concurrency: 4,
        run: (node) => (node.id === "a" || node.id === "b" ? Effect.fail("no") : Effect.succeed(node.id))
      })
      expect(outcomes[3]).toEqual({ _tag: "Skipped", because: ["a", "b"] })
      expect(outcomes[4]).toEqual({ _tag: "Completed", value: "e" })
    })
  )

  it.effect("names at most ten failed steps, and a step that only comes after a failed one runs", () =>
    Effect.gen(function* () {
      const failing = Array.from({ length: 30 }, (_, i) => `f${i}`)
      const nodes = [
        ...failing.map((id) => ({ id, dependsOn: [] })),
        { id: "needs", dependsOn: failing },
        { id: "after", dependsOn: [], after: failing },
        { id: "both", dependsOn: ["after"], after: ["needs"] }
      ]
      const outcomes = yield* Scheduler.run(Either.getOrThrow(Dag.make(nodes)), {
        concurrency: 3,
        run: ({ id }) => (id.startsWith("f") ? Effect.fail("no") : Effect.succeed(id))
      })
      expect(outcomes[30]).toEqual({ _tag: "Skipped", because: expect.any(Array) })
      expect(outcomes[30]).toMatchObject({ because: { length: 10 } })
      expect(outcomes.slice(31)).toEqual([
        { _tag: "Completed", value: "after" },
        { _tag: "Completed", value: "both" }
      ])
    })
  )

  it.effect("with onFailure continue runs the dependants of a failed step", () =>
    Effect.gen(function* () {
      const outcomes = yield* Scheduler.run(graph({ a: [], b: ["a"] }), {
        concurrency: 1,
        onFailure: "continue",
        run: (node) => (node.id === "a" ? Effect.fail("no") : Effect.succeed(node.id))
      })
      expect(outcomes.map((outcome) => outcome._tag)).toEqual(["Failed", "Completed"])
    })
  )

  it.effect("turns a step that throws or dies into a failed outcome", () =>
    Effect.gen(function* () {
      const outcomes = yield* Scheduler.run(graph({ throws: [], dies: [], fine: [] }), {
        concurrency: 2,
        run: (node) => {
          if (node.id === "throws") throw new Error("thrown")
          return node.id === "dies" ? Effect.die("died") : Effect.succeed(1)
        }
      })
      expect(outcomes.map((outcome) => outcome._tag)).toEqual(["Failed", "Failed", "Completed"])
      const [first] = outcomes
      expect(first?._tag === "Failed" && Cause.pretty(first.cause)).toContain("thrown")
    })
  )

  it.effect("reaches every running step with an interruption, and starts none after it", () =>
    Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      let started = 0
      const interrupted: Array<string> = []
      const fiber = yield* Effect.fork(
        Scheduler.run(graph({ a: [], b: [], c: [], d: [], e: ["a"] }), {
          concurrency: 3,
          run: (node) =>
            Effect.suspend(() => {
              started++
              return started === 3 ? Deferred.succeed(running, undefined) : Effect.void
            }).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Effect.sync(() => interrupted.push(node.id)))
            )
        })
      )
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      expect(started).toBe(3)
      expect(interrupted.length).toBe(3)
    })
  )

  it("refuses a concurrency that is no positive whole number, and options it does not have", () => {
    for (const concurrency of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => Scheduler.run(graph({ a: [] }), { concurrency, run: () => Effect.void })).toThrow(RangeError)
    }
    const misplaced = { concurrency: 2, run: () => Effect.void, configurable: { maxConcurrency: 2 } }
    expect(() => Scheduler.run(graph({ a: [] }), misplaced)).toThrow(/unknown option "configurable"/)
  })

  it.effect("runs an empty graph", () =>
    Effect.map(Scheduler.run(graph({}), { concurrency: 1, run: () => Effect.void }), (outcomes) =>
      expect(outcomes).toEqual([])
    )
  )
})

describe("Dag", () => {
  it("lists every issue at once", () => {
    const result = Dag.make([
      { id: "a", dependsOn: ["c"] },
      { id: "b", dependsOn: ["nowhere", "a"] },
      { id: "c", dependsOn: ["b"] },
      { id: "c", dependsOn: [] },
      { id: "d", dependsOn: ["d"] }
    ])
    const issues = Either.isLeft(result) ? result.left.issues : []
    expect(issues.map((issue) => issue._tag).sort()).toEqual(["Cycle", "Cycle", "DuplicateId", "UnknownDependency"])
    const cycle = issues.find((issue) => issue._tag === "Cycle")
    // Each depends on the next, and the last on the first.
    expect(["a,c,b", "c,b,a", "b,a,c"]).toContain(cycle?._tag === "Cycle" && cycle.ids.join())
  })

  it("knows the heaviest path", () => {
    const dag = Dag.make([
      { id: "a", dependsOn: [], weight: 5 },
      { id: "b", dependsOn: ["a"], weight: 2 },
      { id: "c", dependsOn: [], weight: 6 }
    ])
    expect(Dag.criticalPath(Either.getOrThrow(dag))).toBe(7)
  })
})
