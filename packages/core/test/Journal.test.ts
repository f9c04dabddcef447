import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as CallPath from "@forethought/core/CallPath"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as JournalFile from "@forethought/core/node/JournalFile"
import * as Run from "@forethought/core/Run"
import type { RunEvent } from "@forethought/core/RunEvent"
import * as RunEvents from "@forethought/core/RunEvent"
import { Interruption } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Tracer from "effect/Tracer"

const llm = Llm.layer(() => Effect.succeed(Llm.reply("hello")))
const ask = Run.run("test", "the task", (run) =>
  run.complete({ role: "planner", call: "planner", messages: [{ role: "user", content: "hi" }] })
).pipe(Effect.provide(llm))
const routed = { _tag: "Routed", pattern: "react", reason: "", fallback: false } as const
const tags = (events: ReadonlyArray<RunEvent>) => events.map((event) => event._tag)

describe("Journal", () => {
  it.effect("with no set-up logs through Effect's logger", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      lines.push(`${logLevel.label} ${String(message)}`)
    })
    return Effect.gen(function* () {
      yield* ask
      yield* Journal.record({ _tag: "Warning", call: "x", at: 0, kind: "no_progress", message: "same plan" })
      expect(lines).toEqual([
        "INFO test starts on: the task",
        "INFO test succeeded",
        "WARN x: warning, no_progress: same plan"
      ])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Logger.withMinimumLogLevel(LogLevel.Info))
  })

  /** Every kind of event, with this in every field that a tool's input, result or error can reach. */
  const secret = "TOOL-SECRET"
  const error = { tag: "ToolFailed", message: `Lookup failed: ${secret}` }
  const evidence = { variable: "#E1", reason: "why", tool: "Lookup", input: "planned", status: "ok" } as const
  const cause = { id: "1", step: "look", result: secret, status: "failed" } as const
  const at = { call: "c", at: 5, run: "r", seq: 1 }
  const amounts = { inputTokens: 1, outputTokens: 2, money: 0.5 }
  const role = "planner"
  const kinds: { readonly [Tag in RunEvent["_tag"]]: Extract<RunEvent, { readonly _tag: Tag }> } = {
    RunStarted: { _tag: "RunStarted", ...at, call: "step-1/tool", pattern: "react", task: secret },
    RunEnded: { _tag: "RunEnded", ...at, pattern: "react", outcome: "failed", error },
    ModelCallStarted: { _tag: "ModelCallStarted", ...at, role },
    ReplyDelta: { _tag: "ReplyDelta", ...at, role, text: secret },
    ModelRetried: { _tag: "ModelRetried", ...at, error, delay: 500 },
    ModelWaited: { _tag: "ModelWaited", ...at, why: "requestsPerMinute", waited: 500 },
    FellBack: { _tag: "FellBack", ...at, from: "large", to: "small", error },
    CacheHit: { _tag: "CacheHit", ...at },
    BudgetSettled: { _tag: "BudgetSettled", ...at, used: amounts, spent: { calls: 2, ...amounts } },
    ModelCallEnded: { _tag: "ModelCallEnded", ...at, role, startedAt: 1, error, reply: Llm.reply(secret) },
    ReplyRejected: { _tag: "ReplyRejected", ...at, role, error, reask: true },
    ToolCallStarted: { _tag: "ToolCallStarted", ...at, tool: "Lookup", input: secret },
    ToolCallEnded: {
      _tag: "ToolCallEnded",
      ...at,
      tool: "Lookup",
      startedAt: 1,
      outcome: "error",
      text: secret,
      source: "live"
    },
    PlanMade: { _tag: "PlanMade", ...at, steps: [{ id: "1", text: "look", dependsOn: [] }] },
    PlanTruncated: { _tag: "PlanTruncated", ...at, kept: [], dropped: ["look"] },
    Replanned: { _tag: "Replanned", ...at, before: [], after: [{ id: "2", text: "look", dependsOn: [] }], cause },
    StepStarted: { _tag: "StepStarted", ...at, id: "1", index: 1, step: secret },
    StepEnded: { _tag: "StepEnded", ...at, id: "1", index: 1, step: secret, status: "completed", result: secret },
    EvidenceRecorded: {
      _tag: "EvidenceRecorded",
      ...at,
      evidence: { ...evidence, resolvedInput: secret, text: secret }
    },
    TaskStarted: { _tag: "TaskStarted", ...at, task: secret, depth: 1 },
    TaskDecomposed: { _tag: "TaskDecomposed", ...at, task: secret, depth: 1, logic: "and", subSteps: ["look"] },
    TaskEnded: { _tag: "TaskEnded", ...at, task: secret, depth: 1, status: "failed", detail: secret },
    TurnEnded: { _tag: "TurnEnded", ...at, turn: 1, text: secret, tools: ["Lookup"] },
    Routed: { _tag: "Routed", ...at, pattern: "react", reason: "one look-up", fallback: false },
    Warning: { _tag: "Warning", ...at, kind: "no_progress", message: "same plan" }
  }
  const inDebug = ["ToolCallStarted", "ToolCallEnded", "StepEnded", "EvidenceRecorded", "Replanned", "TaskEnded"]

  it.effect.each(Object.values(kinds))(
    "$_tag is logged without what a tool was given or gave, but at debug",
    (event) => {
      const lines: Array<{ readonly level: LogLevel.LogLevel; readonly text: string }> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push({ level: logLevel, text: String(message) })
      })
      return Effect.gen(function* () {
        yield* Journal.record(event)
        expect(lines.length).toBeGreaterThan(0)
        const shown = lines.filter(({ level }) => LogLevel.greaterThanEqual(level, LogLevel.Info))
        expect(shown.length).toBeLessThanOrEqual(1)
        for (const { text } of shown) {
          expect(text).not.toContain(secret)
          expect(text).toMatch(/\w/)
        }
        if (inDebug.includes(event._tag)) expect(lines.at(-1)?.text).toContain(secret)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Logger.withMinimumLogLevel(LogLevel.All))
    }
  )

  it.each(Object.values(kinds))("$_tag in words has its texts whole", (event) => {
    const long = "x".repeat(100_000)
    const text = JSON.stringify(event)
    const told = RunEvents.describe(JSON.parse(text.replaceAll(secret, long)))
    // What was split is told where its sub-steps' task started.
    expect(told.includes(long)).toBe(text.includes(secret) && event._tag !== "TaskDecomposed")
  })

  it("a headline says what it was about", () => {
    expect(Object.values(kinds).filter(RunEvents.isMajor).map(RunEvents.headline)).toEqual([
      "step-1/tool: react starts",
      "c: react failed, ToolFailed",
      "c: asks again in 500 ms, ToolFailed",
      "c: asks small in place of large, ToolFailed",
      "c: the planner's reply cannot be used, asking again: ToolFailed",
      "c: calls Lookup",
      "c: plan:\n  1. look",
      "c: plan cut to 0 steps, dropped:\n  - look",
      'c: replanned after "look" (failed)\nbefore:\n  (none)\nafter:\n  - look',
      "c: step 1 completed",
      "c: evidence #E1 (ok)",
      "c: splits (and):\n  - look",
      "c: failed",
      "c: routed to react: one look-up",
      "c: warning, no_progress: same plan"
    ])
  })

  it.effect("keeps the newest events in memory, and counts what it dropped", () => {
    const journal = Journal.memory({ capacity: 3 })
    return Effect.gen(function* () {
      for (let i = 0; i < 20; i++) {
        yield* Effect.provide(
          Journal.record({ _tag: "Warning", call: String(i), at: 0, kind: "k", message: "m" }),
          Journal.layer(journal)
        )
      }
      expect((yield* journal.events).map((event) => event.call)).toEqual(["17", "18", "19"])
      expect(yield* journal.dropped).toBe(17)
    })
  })

  it.effect(
    "PA-10: a sink that fails, dies or throws does no harm: the others get every event, and a warning tells",
    () => {
      const journal = Journal.memory()
      const broken: ReadonlyArray<Journal.Service> = [
        { record: () => Effect.fail("disk full") },
        { record: () => Effect.die("bug") },
        {
          record: () => {
            throw new Error("thrown")
          }
        }
      ]
      return Effect.gen(function* () {
        const reply = yield* Effect.provide(ask, Journal.layer(...broken, journal))
        expect(reply.text).toBe("hello")
        expect(tags(yield* journal.events)).toEqual(["RunStarted", "ModelCallStarted", "ModelCallEnded", "RunEnded"])
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)))
    }
  )

  it.effect("PA-10: a sink that fails on one event is told so", () => {
    const seen: Array<RunEvent> = []
    const sink: Journal.Service = {
      record: (event) =>
        event._tag === "ModelCallStarted" ? Effect.fail(new Error("hiccup")) : Effect.sync(() => void seen.push(event))
    }
    return Effect.gen(function* () {
      yield* Effect.provide(ask, Journal.layer(sink))
      expect(tags(seen)).toEqual(["RunStarted", "Warning", "ModelCallEnded", "RunEnded"])
      expect(seen[1]).toMatchObject({ kind: "journal_failed", message: expect.stringContaining("hiccup") })
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.none)))
  })

  it.scoped("writes JSON lines to a file", () => {
    const path = join(mkdtempSync(join(tmpdir(), "forethought-")), "events.jsonl")
    return Effect.gen(function* () {
      yield* Effect.provide(ask, JournalFile.layer(path))
      const events: ReadonlyArray<RunEvent> = readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(tags(events)).toEqual(["RunStarted", "ModelCallStarted", "ModelCallEnded", "RunEnded"])
      const error = yield* Effect.flip(Effect.provide(ask, JournalFile.layer("/no/such/folder/events.jsonl")))
      expect(error.message).toContain("/no/such/folder/events.jsonl cannot be written")
    })
  })

  it("has an event in the file before the run goes on, whatever yields", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "forethought-")), "events.jsonl")
    const written = () => readFileSync(path, "utf8").split("\n").length - 1
    const seen: Array<number> = []
    const look = Effect.sync(() => void seen.push(written()))
    const run = Run.run("test", "the task", (run) =>
      Effect.zipRight(
        look,
        Effect.zipRight(run.complete({ role: "planner", call: "planner", messages: [] }), run.emit(routed))
      )
    ).pipe(
      Effect.provideService(Llm.Llm, { complete: () => Effect.as(look, Llm.reply("hello")) }),
      Effect.zipRight(look),
      Effect.provide(JournalFile.layer(path))
    )
    const scheduler = Interruption.makeScheduler()
    const fiber = Effect.runFork(Effect.withScheduler(run, scheduler), { scheduler })
    await scheduler.settle()
    expect(fiber.unsafePoll()).toMatchObject({ _tag: "Success" })
    expect(seen).toEqual([1, 2, 5])
  })

  it.effect("writes nothing into another file that got the number of a closed one", () => {
    const folder = mkdtempSync(join(tmpdir(), "forethought-"))
    return Effect.gen(function* () {
      const closed = yield* Effect.scoped(JournalFile.make(join(folder, "events.jsonl")))
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => void logged.push(String(message)))
      const other = openSync(join(folder, "other"), "w")
      yield* ask.pipe(
        Effect.provide(Layer.merge(Journal.layer(closed), Logger.replace(Logger.defaultLogger, logger))),
        Effect.ensuring(Effect.sync(() => closeSync(other)))
      )
      expect(readFileSync(join(folder, "other"), "utf8")).toBe("")
      expect(logged[0]).toContain("events.jsonl is closed")
    })
  })

  it.effect("names calls under the path that a run stands in", () => {
    const journal = Journal.memory()
    return Effect.gen(function* () {
      yield* ask.pipe(CallPath.at("step-2/executor"), Effect.provide(Journal.layer(journal)))
      expect((yield* journal.events).map((event) => event.call)).toEqual([
        "step-2/executor",
        "step-2/executor/planner",
        "step-2/executor/planner",
        "step-2/executor"
      ])
    })
  })

  it.effect("makes spans only where the app has a tracer", () => {
    const spans: Array<string> = []
    const standard = Tracer.make({
      span: (name, ...rest) => {
        spans.push(name)
        return native.span(name, ...rest)
      },
      context: (run) => run()
    })
    let native: Tracer.Tracer
    return Effect.gen(function* () {
      native = yield* Effect.tracer
      yield* Effect.provide(ask, Journal.layer(Journal.silent))
      expect(spans).toEqual([])
      yield* ask.pipe(Effect.provide(Layer.merge(Journal.layer(Journal.silent), Layer.setTracer(standard))))
      expect(spans).toEqual(["forethought.test", "forethought.model"])
    })
  })
})
