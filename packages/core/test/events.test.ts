/** What every event has, and what the outermost run tells of itself. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as TestClock from "effect/TestClock"
import * as ToolHash from "../src/internal/toolHash.js"
import * as Journal from "../src/Journal.js"
import * as Llm from "../src/Llm.js"
import * as JournalFile from "../src/node/JournalFile.js"
import * as Run from "../src/Run.js"
import type { RunEvent } from "../src/RunEvent.js"
import * as RunTree from "../src/RunTree.js"
import * as Tool from "../src/Tool.js"
import * as Toolbox from "../src/Toolbox.js"

const model = Layer.succeed(Llm.Llm, {
  complete: () => Effect.succeed(Llm.reply("hi", { model: "m-1", provider: "p", cost: 0.5 })),
  model: (role) => (role === "planner" ? "large" : undefined)
})
const messages: ReadonlyArray<Llm.Message> = [{ role: "user", content: "Hello." }]
const asking = (call: string) => (run: Run.Run) => run.complete({ role: "planner", call, messages, maxTokens: 5 })

const told = <A, E>(run: Effect.Effect<A, E, Llm.Llm>, rest: Layer.Layer<never> = Layer.empty) =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    yield* Effect.provide(run, Layer.mergeAll(model, Journal.layer(journal), rest))
    return yield* journal.events
  })
const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

describe("every event", () => {
  it.effect("has the id of the outermost run and the number in which it was told, through all runs inside", () =>
    Effect.gen(function* () {
      const inner = (name: string, run: Run.Run) => Run.nested(run, name, Run.run("inner", "t", asking("planner")))
      const events = yield* told(
        Run.run("outer", "t", (run) =>
          Effect.all([inner("a", run), inner("b", run), asking("c")(run)], { concurrency: "unbounded" })
        ).pipe(Run.withId("mine"))
      )
      expect(events).toHaveLength(12)
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(new Set(events.map(({ run }) => run))).toEqual(new Set(["mine"]))
    })
  )

  it.effect("has an id from Effect's Random where nobody gave one", () =>
    Effect.gen(function* () {
      const seeded = (seed: string) =>
        Effect.map(
          told(Run.run("r", "t", asking("a")).pipe(Effect.withRandom(Random.make(seed)))),
          ([first]) => first?.run
        )
      const id = yield* seeded("a")
      expect(id).toMatch(/^[0-9a-f]{13}$/)
      expect(yield* seeded("a")).toBe(id)
      expect(yield* seeded("b")).not.toBe(id)
    })
  )
})

describe("the outermost RunStarted", () => {
  const tool = Tool.make({ name: "T", description: "d", execute: (input) => input })

  it.effect("tells schema, library, options, models by role and tools; one inside it does not", () =>
    Effect.gen(function* () {
      const inner = Run.run("inner", "t", asking("planner"), { options: () => ({ b: 2 }) })
      const events = yield* told(
        Run.run("outer", "t", (run) => Run.nested(run, "in", inner), { options: () => ({ a: 1 }) }).pipe(
          Effect.provide(Toolbox.layer([tool]))
        )
      )
      const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      const [outer, nested] = of(events, "RunStarted")
      expect(outer).toMatchObject({
        schema: 2,
        library: `@forethought/core ${version}`,
        options: { a: 1 },
        models: { planner: "large" },
        tools: ToolHash.of([tool])
      })
      expect(Object.keys(nested ?? {}).sort()).toEqual(["_tag", "at", "call", "pattern", "run", "seq", "task"])
    })
  )

  it("a tool's hash follows its description and schema, not the order of their keys", () => {
    const hash = (parameters: Tool.ToolInfo["parameters"], description = "d") =>
      ToolHash.of([{ ...tool, parameters, description }])[0]?.hash
    const first = hash({ type: "object", properties: { a: { type: "string", title: "A" } } })
    expect(first).toMatch(/^[0-9a-f]{16}$/)
    expect(hash({ properties: { a: { title: "A", type: "string" } }, type: "object" })).toBe(first)
    expect(hash({ type: "object", properties: { a: { type: "number", title: "A" } } })).not.toBe(first)
    expect(hash({ type: "object", properties: { a: { type: "string", title: "A" } } }, "e")).not.toBe(first)
    const tools = [tool]
    expect(ToolHash.of(tools)).toBe(ToolHash.of(tools))
  })
})

describe("a model call", () => {
  const run = Run.run("r", "t", asking("planner"))

  it.effect("tells its request where that is asked for, without what only a provider reads", () =>
    Effect.gen(function* () {
      expect(of(yield* told(run), "ModelCallStarted")[0]).not.toHaveProperty("request")
      const providerState = { from: "p", value: "signed" }
      const history: ReadonlyArray<Llm.Message> = [
        ...messages,
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "1", name: "T", arguments: "{}", providerState }],
          providerState
        }
      ]
      const asked = Run.run("r", "t", (run) =>
        run.complete({ role: "planner", call: "p", messages: history, stop: ["x"] })
      )
      expect(of(yield* told(asked, Journal.requests), "ModelCallStarted")[0]?.request).toEqual({
        messages: [
          ...messages,
          { role: "assistant", content: "", toolCalls: [{ id: "1", name: "T", arguments: "{}" }] }
        ],
        stop: ["x"]
      })
    })
  )

  it.effect("ends with who answered, the attempts and the cost", () =>
    Effect.gen(function* () {
      expect(of(yield* told(run), "ModelCallEnded")[0]).toMatchObject({
        provider: "p",
        model: "m-1",
        attempts: 1,
        cost: 0.5,
        reply: { text: "hi" }
      })
      const failing = Layer.succeed(Llm.Llm, {
        complete: () => Effect.fail(new Llm.LlmError({ reason: Llm.Reason.Unauthorized() })),
        model: () => "asked"
      })
      const failed = yield* told(Effect.ignore(Effect.provide(run, failing)))
      expect(of(failed, "ModelCallEnded")[0]).toMatchObject({ model: "asked", attempts: 1, error: { tag: "LlmError" } })
    })
  )

  it.effect("tells when the first piece of a streamed reply came", () =>
    Effect.gen(function* () {
      const slow = Layer.succeed(Llm.Llm, {
        complete: ({ onDelta }) =>
          Effect.forEach(["a", "b"], (text) => Effect.zipRight(Effect.sleep(100), onDelta?.(text) ?? Effect.void)).pipe(
            Effect.as(Llm.reply("ab"))
          )
      })
      const streamed = (rest?: Layer.Layer<never>) =>
        Effect.map(told(Effect.provide(run, slow), rest), (events) => of(events, "ModelCallEnded")[0])
      expect(yield* streamed(Journal.streaming).pipe(withTime)).toMatchObject({ firstPieceAfter: 100 })
      expect(yield* streamed().pipe(withTime)).not.toHaveProperty("firstPieceAfter")
    })
  )
})

const withTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

describe("a tool call", () => {
  it.effect("tells where its result is from, and what the tool left out", () =>
    Effect.gen(function* () {
      const cutting = Tool.make({
        name: "T",
        description: "d",
        execute: (input, { leftOut }) => {
          leftOut("7 of 9 lines")
          return input
        }
      })
      const toolbox = yield* Toolbox.make([cutting])
      const cached: Toolbox.Service = {
        ...toolbox,
        call: ({ call }) => Effect.as(Journal.toolSource(call, "cache"), "kept")
      }
      const events = yield* told(
        Run.run("r", "t", (run) =>
          Effect.all([
            run.callTool(toolbox, { call: "a", tool: "T", input: "x" }),
            run.callTool(cached, { call: "b", tool: "T", input: "x" })
          ])
        )
      )
      expect(of(events, "ToolCallEnded")).toMatchObject([
        { call: "a", source: "live", leftOut: "7 of 9 lines", text: "x" },
        { call: "b", source: "cache", text: "kept" }
      ])
      expect(of(events, "ToolCallEnded")[1]).not.toHaveProperty("leftOut")
    })
  )
})

describe("Run.current", () => {
  it.effect("asks under the id that it is given, as a part of the run around it", () =>
    Effect.gen(function* () {
      const asks = Tool.make({
        name: "T",
        description: "d",
        execute: (_, { call }) => Effect.flatMap(Run.current, (run) => Effect.as(asking(call)(run), "x"))
      })
      const toolbox = yield* Effect.provide(Toolbox.make([asks]), model)
      const events = yield* told(
        Run.run("r", "t", (run) => run.callTool(toolbox, { call: "a", tool: "T", input: "x" })),
        Journal.requests
      )
      expect(events.map(({ _tag, call, seq }) => [seq, _tag, call])).toEqual([
        [1, "RunStarted", ""],
        [2, "ToolCallStarted", "a"],
        [3, "ModelCallStarted", "a"],
        [4, "ModelCallEnded", "a"],
        [5, "ToolCallEnded", "a"],
        [6, "RunEnded", ""]
      ])
      expect(of(events, "ModelCallStarted")[0]?.request).toMatchObject({ messages, maxTokens: 5 })
    })
  )

  it.effect("tells the journal outside of a run too", () =>
    Effect.gen(function* () {
      const events = yield* told(Effect.flatMap(Run.current, asking("a")))
      expect(events).toMatchObject([
        { _tag: "ModelCallStarted", run: "", call: "a" },
        { _tag: "ModelCallEnded", run: "", call: "a" }
      ])
    })
  )
})

describe("JournalFile.read", () => {
  const file = (text: string) => {
    const path = join(mkdtempSync(join(tmpdir(), "forethought-")), "events.jsonl")
    writeFileSync(path, text)
    return path
  }
  const one = (rest: object) =>
    JSON.stringify({ _tag: "Warning", call: "", at: 1, run: "r", seq: 1, kind: "k", message: "m", ...rest })

  it.effect("gives back what a run wrote", () =>
    Effect.gen(function* () {
      const path = file("")
      const events = yield* told(
        Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* Journal.Journal
            const sink = yield* JournalFile.make(path)
            yield* Effect.provide(Run.run("r", "t", asking("a")), Journal.layer(journal, sink))
          })
        ),
        Journal.requests
      )
      expect(events.length).toBeGreaterThan(3)
      expect(yield* JournalFile.read(path)).toEqual({ events, skipped: [] })
    })
  )

  it.effect("passes over a kind of event that it does not know, and a last line that was cut off", () =>
    Effect.gen(function* () {
      const later = one({ _tag: "Applauded" })
      const { events, skipped } = yield* JournalFile.read(file(`${one({})}\n${later}\n\n${one({ seq: 2 })}\n{"_ta`))
      expect(events.map(({ seq }) => seq)).toEqual([1, 2])
      expect(skipped).toEqual([
        { line: 2, text: later },
        { line: 5, text: '{"_ta' }
      ])
    })
  )

  it.effect.each([
    [
      "an earlier version",
      JSON.stringify({ _tag: "RunStarted", call: "", at: 1, pattern: "react", task: "t" }),
      /line 1: .*earlier version.*again/
    ],
    ["a later version", one({ _tag: "RunStarted", schema: 3, pattern: "react", task: "t" }), /schema 3.*reads 2/],
    ["no events", "hello\nworld", /line 1: it is not an event/],
    ["other JSON", "[1]", /it is not an event/],
    ["an event without its fields", one({ message: 5 }), /line 1: .*message/s]
  ] as const)("refuses %s", ([_, text, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(JournalFile.read(file(`${text}\n`)))
      expect(error._tag).toBe("UnreadableEvents")
      expect(error.message).toMatch(problem)
    })
  )

  it.effect("refuses a file that is not there", () =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(JournalFile.read("/no/such/file"))).message).toContain("/no/such/file cannot be read")
    })
  )
})

describe("RunTree", () => {
  it.effect("keeps runs apart that stand in one file, and passes over what it does not know", () =>
    Effect.gen(function* () {
      const run = (id: string) => Run.run("r", id, asking("a")).pipe(Run.withId(id))
      const both = yield* Effect.all([told(run("one")), told(run("two"))])
      const tree = RunTree.make()
      const later: RunEvent = JSON.parse('{"_tag":"Applauded","call":"","at":1,"run":"one","seq":9}')
      for (const event of [...both[0].flatMap((event, index) => [event, both[1][index] ?? event]), later])
        tree.on(event)
      expect(tree.roots).toMatchObject([
        { kind: "run", task: "one", status: "done", items: [{ kind: "model", status: "done" }] },
        { kind: "run", task: "two", status: "done", items: [{ kind: "model", status: "done" }] }
      ])
      expect(tree.runOf({ run: "two", call: "a" })).toMatchObject({ task: "two" })
    })
  )
})
