/** When a run has ended, nothing of it starts or goes on: tried at every yield point, with a yield at every third operation. */
import { describe, expect, it } from "@effect/vitest"
import * as Approval from "@forethought/core/Approval"
import * as Concurrency from "@forethought/core/Concurrency"
import * as Dag from "@forethought/core/Dag"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Run from "@forethought/core/Run"
import type { RunEvent } from "@forethought/core/RunEvent"
import * as Scheduler from "@forethought/core/Scheduler"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import type { Outcome } from "@forethought/core/ToolOutcome"
import * as ToolPermits from "@forethought/core/ToolPermits"
import { FakeTools, Interruption } from "@forethought/core/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as Tracer from "effect/Tracer"

/** More with `scripts/fuzz`: the distances between yields that are tried. */
const distances =
  Number(process.env["FORETHOUGHT_RUNS"] ?? 0) > 10_000 ? Array.from({ length: 28 }, (_, i) => i + 3) : [3, 4, 7]

/** What the work of a program tells of itself. */
const makeState = () => {
  let isOver = false
  const state = { started: 0, ended: 0, late: 0, finished: 0, most: 0 }
  return {
    state,
    ended: () => {
      isOver = true
    },
    start: () => {
      state.started += 1
      state.most = Math.max(state.most, state.started - state.ended)
      if (isOver) state.late += 1
    },
    end: () => {
      state.ended += 1
      if (isOver) state.late += 1
    }
  }
}
type World = ReturnType<typeof makeState>

/** A tracer that counts the spans which are open. */
const counting = (open: { spans: number }): Tracer.Tracer => {
  const native = Effect.runSync(Effect.tracer)
  return Tracer.make({
    span: (...given) => {
      const span = native.span(...given)
      const end = span.end.bind(span)
      open.spans += 1
      return Object.assign(span, {
        end: (...how: Parameters<typeof end>) => {
          open.spans -= 1
          end(...how)
        }
      })
    },
    context: (run) => run()
  })
}

/** Work that counts its start and its end; a `finish` of 0 never ends by itself. */
const work = (world: World, steps: number): Effect.Effect<string> =>
  Effect.acquireUseRelease(
    Effect.sync(world.start),
    () =>
      steps === 0
        ? Effect.never
        : Effect.map(Effect.repeatN(Effect.yieldNow(), steps), () => {
            world.state.finished += 1
            return "done"
          }),
    () => Effect.sync(world.end)
  )

const holds = async <A, E>(make: (world: World) => Effect.Effect<A, E>, atOnce = Infinity): Promise<void> => {
  for (const every of distances) {
    const tried = await Interruption.everywhere(
      () => {
        const world = makeState()
        return { ...world, effect: make(world) }
      },
      ({ exit, state, tasks }) => {
        const where = `yield every ${every} operations, interrupted after ${tasks} tasks`
        expect(exit, `${where}: the interruption returns`).toBeDefined()
        expect(state.started - state.ended, `${where}: still runs`).toBe(0)
        expect(state.late, `${where}: starts or ends after the end`).toBe(0)
        expect(state.most, `${where}: at once`).toBeLessThanOrEqual(atOnce)
      },
      { every, most: 5_000 }
    )
    expect(tried).toBeGreaterThan(every === 3 ? 10 : 0)
  }
}

const graph = (edges: { readonly [id: string]: ReadonlyArray<string> }) =>
  Either.getOrThrow(Dag.make(Object.entries(edges).map(([id, dependsOn]) => ({ id, dependsOn }))))
const shapes = {
  "three at once": graph({ a: [], b: [], c: [] }),
  "a diamond": graph({ a: [], b: ["a"], c: ["a"], d: ["b", "c"] }),
  "a chain": graph({ a: [], b: ["a"], c: ["b"] }),
  "forty at once": graph(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`n${i}`, []])))
}

describe("AU-01: the scheduler", () => {
  for (const [shape, dag] of Object.entries(shapes)) {
    for (const concurrency of [1, 2, 4]) {
      it(`${shape}, concurrency ${concurrency}: nothing starts or runs after its end`, async () => {
        await holds((world) => Scheduler.run(dag, { concurrency, run: () => work(world, 3) }), concurrency)
        await holds((world) => Scheduler.run(dag, { concurrency, run: () => work(world, 0) }), concurrency)
      })
    }
  }

  it("steps that fail, die, or interrupt themselves", async () => {
    const ends = [Effect.fail("no"), Effect.die("bug"), Effect.interrupt]
    for (const end of ends) {
      await holds((world) =>
        Scheduler.run(shapes["a diamond"], {
          concurrency: 3,
          onFailure: "continue",
          run: (node) => (node.id === "b" ? Effect.zipRight(work(world, 1), end) : work(world, 3))
        })
      )
    }
  })

  it("a run inside a step of a run", async () => {
    await holds((world) =>
      Scheduler.run(shapes["three at once"], {
        concurrency: 2,
        run: () => Scheduler.run(shapes["three at once"], { concurrency: 2, run: () => work(world, 2) })
      })
    )
  })

  const interruptsItsFiber = Effect.withFiberRuntime<never>((fiber) => {
    fiber.unsafeInterruptAsFork(fiber.id())
    return Effect.never
  })
  for (const [name, others] of [
    ["work on", 0],
    ["end", 2]
  ] as const) {
    for (const concurrency of [1, 2, 4]) {
      it.effect(
        `a worker that is interrupted from within ends the run, concurrency ${concurrency}, while others ${name}`,
        () =>
          Effect.gen(function* () {
            const world = makeState()
            const fiber = yield* Effect.fork(
              Scheduler.run(shapes["forty at once"], {
                concurrency,
                run: (node) => (node.id === "n1" ? interruptsItsFiber : work(world, concurrency === 1 ? 2 : others))
              })
            )
            const exit = yield* Fiber.await(fiber)
            expect(Exit.isInterrupted(exit)).toBe(true)
            expect(world.state.started).toBe(world.state.ended)
          })
      )
    }
  }

  it.effect("keeps what steps set in FiberRefs", () =>
    Effect.gen(function* () {
      for (const concurrency of [1, 3]) {
        const refs = ["a", "b", "c"].map(() => FiberRef.unsafeMake(0))
        yield* Scheduler.run(shapes["three at once"], {
          concurrency,
          run: (_, i) => Effect.zipRight(Effect.yieldNow(), FiberRef.set(refs[i] ?? FiberRef.unsafeMake(0), i + 1))
        })
        expect(yield* Effect.forEach(refs, FiberRef.get)).toEqual([1, 2, 3])
      }
    })
  )

  it.effect("runs without interruption where its caller cannot be interrupted", () =>
    Effect.gen(function* () {
      const world = makeState()
      const run = Scheduler.run(shapes["three at once"], { concurrency: 2, run: () => work(world, 5) })
      const fiber = yield* Effect.fork(Effect.uninterruptible(run))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(world.state.finished).toBe(3)
    })
  )
})

// ---------------------------------------------------------------------------------------------------------------
// tools
// ---------------------------------------------------------------------------------------------------------------

const kinds: ReadonlyArray<readonly [kind: string, execute: (world: World) => Tool.Tool]> = (
  [
    ["an Effect", (world) => work(world, 3)],
    ["an Effect that never ends", (world) => work(world, 0)],
    ["a Promise that heeds its signal", (world, signal) => heeding(world, signal, 1)],
    ["a Promise that never ends by itself", (world, signal) => heeding(world, signal, undefined)],
    [
      "an Effect with a part that cannot be interrupted",
      (world) => Effect.zipRight(Effect.uninterruptible(work(world, 2)), work(world, 2))
    ]
  ] satisfies ReadonlyArray<readonly [string, (world: World, signal: AbortSignal) => Outcome<never>]>
).map(
  ([kind, execute]) =>
    [
      kind,
      (world: World) => Tool.make({ name: "T", description: "", execute: (_, { signal }) => execute(world, signal) })
    ] as const
)

/** Starts at once, and ends after some turns of the event loop or when it is told to. */
const heeding = (world: World, signal: AbortSignal, turns: number | undefined): Promise<string> => {
  world.start()
  return new Promise((resolve) => {
    let isDone = false
    const end = () => {
      if (isDone) return
      isDone = true
      world.end()
      resolve("done")
    }
    signal.addEventListener("abort", end)
    if (turns !== undefined) Promise.resolve().then(end)
  })
}

const layersAround: ReadonlyArray<readonly [name: string, around: (toolbox: Toolbox.Service) => Toolbox.Service]> = [
  ["bare", (toolbox) => toolbox],
  ["with permits", (toolbox) => ToolPermits.make(toolbox, { each: 1 })],
  [
    "with approval, one at a time",
    (toolbox) =>
      Effect.runSync(
        Effect.map(
          Layer.build(
            Layer.provide(
              Approval.tools,
              Layer.merge(
                Layer.succeed(Toolbox.Toolbox, toolbox),
                Approval.layer(Approval.oneAtATime({ tool: () => Effect.as(Effect.yieldNow(), "allow" as const) }))
              )
            )
          ),
          Layer.succeedContext
        ).pipe(
          Effect.flatMap((layer) => Effect.provide(Toolbox.Toolbox, layer)),
          Effect.scoped
        )
      )
  ]
]

describe("AU-01: the toolbox", () => {
  for (const [kind, tool] of kinds) {
    for (const [name, around] of layersAround) {
      for (const timeout of [undefined, "10 seconds"] as const) {
        it(`${kind}, ${name}, timeout ${timeout ?? "none"}: two calls at once`, async () => {
          await holds((world) => {
            const toolbox = around(Effect.runSync(Toolbox.make([tool(world)])))
            const call = (id: string) =>
              toolbox.call({ call: id, tool: "T", input: "x", ...(timeout === undefined ? {} : { timeout }) })
            return Scheduler.run(graph({ a: [], b: [] }), { concurrency: 2, run: ({ id }) => call(id) })
          })
        })
      }
    }
  }

  it("a fake tool records an end for each start", async () => {
    for (const every of distances) {
      await Interruption.everywhere(
        () => {
          const { recorder, tools } = FakeTools.make({ T: { gives: () => Effect.as(Effect.yieldNow(), "x") } })
          const toolbox = Effect.runSync(Toolbox.make(tools))
          return { state: recorder, effect: toolbox.call({ call: "c", tool: "T", input: "x", timeout: 1000 }) }
        },
        ({ state }) => {
          for (const { outcome } of Effect.runSync(state.calls)) expect(outcome).toBeDefined()
        },
        { every }
      )
    }
  })
})

describe("waiting", () => {
  it("async: what was started is ended", () =>
    holds((world) =>
      Concurrency.async(() => {
        world.start()
        return Effect.sync(world.end)
      })
    ))

  it("tryPromise: its signal is aborted from the moment in which it starts", () =>
    holds((world) =>
      Concurrency.tryPromise({ try: (signal) => heeding(world, signal, undefined), catch: (error) => error })
    ))

  it("timeoutFail: nothing of the effect goes on", async () => {
    await holds((world) => Concurrency.timeoutFail(work(world, 3), { duration: "10 seconds", onTimeout: () => "late" }))
    await holds((world) => Concurrency.timeoutFail(work(world, 0), { duration: "10 seconds", onTimeout: () => "late" }))
  })

  it.live("timeoutFail: as Effect's own, and keeps what was set in FiberRefs", () =>
    Effect.gen(function* () {
      const world = makeState()
      const late = yield* Effect.flip(Concurrency.timeoutFail(work(world, 0), { duration: 5, onTimeout: () => "late" }))
      expect([late, world.state.started, world.state.ended]).toEqual(["late", 1, 1])
      const ref = FiberRef.unsafeMake(0)
      const sets = Effect.zipRight(Effect.sleep(1), FiberRef.set(ref, 1))
      yield* Concurrency.timeoutFail(sets, { duration: 1000, onTimeout: () => "late" })
      expect(yield* FiberRef.get(ref)).toBe(1)
      const fails = Concurrency.timeoutFail(Effect.fail("no"), { duration: 1000, onTimeout: () => "late" })
      expect(yield* Effect.flip(fails)).toBe("no")
    })
  )

  it.effect.each(["waits", "leaves"] as const)(
    "expiring: tells of its expiry once, at that moment (%s)",
    (afterwards) =>
      Effect.gen(function* () {
        const told: Array<string> = []
        const expired = () => {
          told.push("expired")
          return "late"
        }
        const slow = Effect.onInterrupt(Effect.never, () => Effect.sleep(50))
        const run = (work: Effect.Effect<number>) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.either(Concurrency.expiring(restore(work), restore, 100, expired, afterwards))
          )
        const fiber = yield* Effect.fork(run(slow))
        yield* TestClock.adjust(99)
        expect(told).toEqual([])
        yield* TestClock.adjust(1)
        expect(told).toEqual(["expired"])
        yield* TestClock.adjust(1_000)
        expect(yield* fiber).toEqual(Either.left("late"))
        expect(yield* run(Effect.succeed(1))).toEqual(Either.right(1))
        yield* TestClock.adjust(1_000)
        expect(told).toEqual(["expired"])
      })
  )

  it.effect("tryPromise: a Promise that rejects, and a function that throws", () =>
    Effect.gen(function* () {
      const run = (evaluate: () => Promise<string>) =>
        Effect.either(Concurrency.tryPromise({ try: evaluate, catch: (error) => `caught ${error}` }))
      expect(yield* run(() => Promise.resolve("a"))).toEqual(Either.right("a"))
      expect(yield* run(() => Promise.reject("b"))).toEqual(Either.left("caught b"))
      const throws = (): Promise<string> => {
        throw "c"
      }
      expect(yield* run(throws)).toEqual(Either.left("caught c"))
    })
  )
})

// ---------------------------------------------------------------------------------------------------------------
// events
// ---------------------------------------------------------------------------------------------------------------

const model: Llm.Service = { complete: () => Effect.as(Effect.yieldNow(), Llm.reply("hello")) }
const asking = Run.run("test", "task", (run) =>
  Effect.zipRight(
    run.complete({ role: "planner", call: "planner", messages: [] }),
    Run.nested(
      run,
      "inner",
      Run.run("inner", "part", (inner) => inner.complete({ role: "solver", call: "s", messages: [] }))
    )
  )
)

const sinks: ReadonlyArray<readonly [name: string, sink: (told: (event: RunEvent) => void) => Journal.Service]> = [
  ["at once", (told) => ({ record: (event) => Effect.sync(() => told(event)), unsafeRecord: told })],
  ["an Effect", (told) => ({ record: (event) => Effect.sync(() => told(event)) })],
  [
    "takes a moment",
    (told) => ({
      record: (event) =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => told(event))
        )
    })
  ],
  [
    "beside one that fails",
    (told) => Journal.all({ record: () => Effect.fail("full") }, { record: (e) => Effect.sync(() => told(e)) })
  ],
  [
    "beside one that hangs",
    (told) => Journal.all({ record: () => Effect.never }, { record: (e) => Effect.sync(() => told(e)) })
  ]
]

const quiet = Logger.replace(Logger.defaultLogger, Logger.none)

describe("AU-03: spans", () => {
  it("that were started are ended: those of a run, of its models and of its tools", async () => {
    const tool = Tool.make({ name: "T", description: "", execute: () => Effect.as(Effect.yieldNow(), "done") })
    const toolbox = Effect.runSync(Toolbox.make([tool]))
    for (const every of distances) {
      const tried = await Interruption.everywhere(
        () => {
          const state = { spans: 0 }
          const effect = Run.run("test", "task", (run) =>
            Effect.zipRight(
              run.complete({ role: "planner", call: "planner", messages: [] }),
              run.callTool(toolbox, { call: "tool", tool: "T", input: "" })
            )
          ).pipe(
            Effect.provideService(Llm.Llm, { complete: () => Effect.as(Effect.yieldNow(), Llm.reply("ok")) }),
            Effect.provideService(Journal.Journal, Journal.silent),
            Effect.withTracer(counting(state))
          )
          return { state, effect }
        },
        ({ exit, state, tasks }) => {
          expect(exit).toBeDefined()
          expect(state.spans, `a yield every ${every} operations, interrupted after ${tasks} tasks`).toBe(0)
        },
        { every }
      )
      expect(tried).toBeGreaterThan(every <= 7 ? 20 : 0)
    }
  })
})

describe("AU-07: sinks", () => {
  for (const [name, sink] of sinks) {
    it(`${name}: every RunStarted has a RunEnded, wherever the run is interrupted`, async () => {
      const hangs = name.includes("hangs")
      await Interruption.everywhere(
        () => {
          const state: Array<string> = []
          const journal = sink((event) => void state.push(event._tag))
          // A context and no Layer: Effect builds those with its own concurrency.
          const context = Context.make(Llm.Llm, model).pipe(Context.add(Journal.Journal, journal))
          return { state, effect: Effect.provide(asking, context).pipe(Logger.withMinimumLogLevel(LogLevel.None)) }
        },
        async ({ exit, state, tasks }) => {
          const count = (tag: string) => state.filter((other) => other === tag).length
          // The one that hangs has 100 ms of real time.
          if (!hangs) expect(exit, `after ${tasks} tasks`).toBeDefined()
          expect(count("RunEnded"), `after ${tasks} tasks: ${state}`).toBe(count("RunStarted"))
        },
        { most: hangs ? 100 : 400 }
      )
    })
  }

  const run = (sink: Journal.Service, log: Array<string> = []) => {
    const logger = Logger.make(({ message }) => void log.push(String(message)))
    return asking.pipe(
      Effect.provide(
        Layer.mergeAll(Layer.succeed(Llm.Llm, model), Journal.layer(sink), Logger.replace(Logger.defaultLogger, logger))
      )
    )
  }

  for (const [name, record] of [
    ["interrupts whoever tells it, as a Queue that was shut down does", () => Effect.interrupt],
    [
      "interrupts the fiber it runs in",
      () =>
        Effect.withFiberRuntime<void>((fiber) => {
          fiber.unsafeInterruptAsFork(fiber.id())
          return Effect.never
        })
    ],
    ["fails", () => Effect.fail(new Error("full"))],
    ["dies", () => Effect.die(new Error("bug"))]
  ] as const) {
    it.effect(`one that ${name} does not end the run, and is told of in a warning`, () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const reply = yield* run({ record }, log)
        expect(reply.text).toBe("hello")
        expect(log.length).toBeGreaterThanOrEqual(8)
        expect(log.every((line) => line.includes("journal_failed"))).toBe(true)
      })
    )
  }

  it.effect(
    "one that never takes an event holds up no call, and its end by 100 ms of real time, whatever the Clock says",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const before = performance.now()
        const reply = yield* run({ record: () => Effect.never }, log)
        expect(reply.text).toBe("hello")
        expect(performance.now() - before).toBeLessThan(5_000)
        expect(log).toEqual(["warning, journal_failed: A journal sink was too slow: it missed 8 events of the run."])
      })
  )

  it.live(
    "one that takes its time gets every event, in order, as long as 100 ms are enough for what is left at the end",
    () =>
      Effect.gen(function* () {
        const told: Array<string> = []
        yield* run({
          record: (event) =>
            Effect.zipRight(
              Effect.sleep(1),
              Effect.sync(() => void told.push(event._tag))
            )
        })
        expect(told).toEqual([
          "RunStarted",
          "ModelCallStarted",
          "ModelCallEnded",
          "RunStarted",
          "ModelCallStarted",
          "ModelCallEnded",
          "RunEnded",
          "RunEnded"
        ])
      })
  )

  it.live("an outer timeout returns although a sink takes long over the end", () =>
    Effect.gen(function* () {
      const sink: Journal.Service = {
        record: (event) => (event._tag === "RunEnded" ? Effect.sleep("1 hour") : Effect.void)
      }
      const hangs = Layer.succeed(Llm.Llm, { complete: () => Effect.never })
      const exit = yield* asking.pipe(
        Effect.provide(Layer.mergeAll(hangs, Journal.layer(sink), quiet)),
        Effect.timeoutOption(50)
      )
      expect(Option.isNone(exit)).toBe(true)
    })
  )
})
