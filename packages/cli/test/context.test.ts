/** A tool runs in the context of its call: budgets, journals, spans and FiberRefs of the run that calls it are its own. */
import * as Budget from "@forethought/ai/Budget"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import type { RunEvent } from "@forethought/core/RunEvent"
import { RunKey } from "@forethought/core/RunKey"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as LlmWorker from "@forethought/tools/LlmWorker"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { describe, expect, it } from "vitest"

const silent = Journal.layer(Journal.silent)

/** A model that plans three calls of a tool, and answers everything else. */
const modelOf = (tool: string, seen: Array<Llm.Request> = []) =>
  Llm.layer((request) =>
    Effect.sync(() => {
      seen.push(request)
      if (request.role === "planner") {
        return Llm.reply(
          request.messages[0]?.content.includes("#E1") === true
            ? `Plan: a\n#E1 = ${tool}[a]\nPlan: b\n#E2 = ${tool}[b]\nPlan: c\n#E3 = ${tool}[c]`
            : "1. look"
        )
      }
      if (request.role === "replanner") return Llm.reply('{"final_answer":"done"}')
      const isFirst = request.tools !== undefined && !request.messages.some(({ role }) => role === "tool")
      return isFirst
        ? Llm.reply("", {
            toolCalls: ["a", "b"].map((id) => ({ id, name: tool, arguments: JSON.stringify({ input: id }) }))
          })
        : Llm.reply("SUCCESS: done")
    })
  )

const patterns: ReadonlyArray<
  readonly [name: string, run: Effect.Effect<unknown, unknown, Llm.Llm | Toolbox.Toolbox>]
> = [
  ["Rewoo.parallel", Rewoo.parallel("q")],
  ["Rewoo.sequential", Rewoo.sequential("q")],
  ["ReAct", ReAct.run("q")],
  ["PlanAndExecute", PlanAndExecute.run("q")],
  ["PlanAndSolveAgent", PlanAndSolveAgent.run("q")]
]

/** Tools that ask a model, made where the app's own model is there. */
const askers: ReadonlyArray<readonly [name: string, tool: Tool.Tool<Llm.Llm>]> = [
  ["LlmWorker", LlmWorker.make({ name: "Ask" })],
  [
    "a tool of one's own",
    Tool.make({
      name: "Ask",
      description: "",
      execute: (input) =>
        Effect.flatMap(Llm.Llm, (llm) =>
          llm.complete({ role: "solver", call: "own", messages: [{ role: "user", content: input }] })
        )
    })
  ],
  [
    "one with a timeout",
    Tool.make({
      name: "Ask",
      description: "",
      timeout: "1 minute",
      execute: (input) =>
        Effect.flatMap(Llm.Llm, (llm) =>
          llm.complete({ role: "solver", call: "own", messages: [{ role: "user", content: input }] })
        )
    })
  ]
]

describe("AU-03: Budget.within bounds everything that a run asks", () => {
  for (const [name, run] of patterns) {
    for (const [kind, tool] of askers) {
      it(`${name} with ${kind}`, async () => {
        const seen: Array<Llm.Request> = []
        const app = Layer.provideMerge(Toolbox.layer([tool]), Layer.merge(modelOf("Ask", seen), silent))
        const bounded = Effect.all([Effect.either(run), Budget.spent]).pipe(Budget.within({ calls: 2 }))
        const [, spent] = await Effect.runPromise(Effect.provide(bounded, app))
        expect(seen).toHaveLength(2)
        expect(spent.calls).toBe(2)
        // A budget for each run, and none outside of one.
        await Effect.runPromise(Effect.provide(Effect.either(run.pipe(Budget.within({ calls: 1 }))), app))
        expect(seen).toHaveLength(3)
      })
    }
  }

  it("a pattern as a tool asks within it too, and calls the tools that it was made with", async () => {
    const seen: Array<Llm.Request> = []
    const used: Array<string> = []
    const look = Tool.make({ name: "Look", description: "", execute: (input) => Effect.sync(() => used.push(input)) })
    const inner = Layer.provide(Toolbox.layer([ReAct.asTool({ name: "Sub" })]), Toolbox.layer([look]))
    const model = Llm.layer((request) =>
      Effect.sync(() => {
        seen.push(request)
        const offered = request.tools?.[0]?.name ?? ""
        return request.messages.some(({ role }) => role === "tool")
          ? Llm.reply(`${offered} done`)
          : Llm.reply("", { toolCalls: [{ id: "1", name: offered, arguments: '{"input":"x"}' }] })
      })
    )
    const app = Layer.provideMerge(inner, Layer.merge(model, silent))
    const answer = await Effect.runPromise(Effect.provide(ReAct.run("q").pipe(Budget.within({ calls: 4 })), app))
    expect(answer.answer).toBe("Sub done")
    expect(used).toEqual(["x"])
    expect(seen.map(({ call }) => call)).toEqual(["turn-1", "turn-1/tool-1/turn-1", "turn-1/tool-1/turn-2", "turn-2"])
  })
})

// ---------------------------------------------------------------------------------------------------------------
// what stands around a run
// ---------------------------------------------------------------------------------------------------------------

/** A tracer that keeps every span, and where each hangs. */
const makeTracer = () => {
  const spans: Array<Tracer.Span> = []
  let id = 0
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind): Tracer.Span => {
      const attributes = new Map<string, unknown>()
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: String(++id),
        traceId: "t",
        parent,
        context,
        links,
        kind,
        sampled: true,
        status: { _tag: "Started", startTime },
        attributes,
        end: () => {},
        attribute: (key, value) => void attributes.set(key, value),
        event: () => {},
        addLinks: () => {}
      }
      spans.push(span)
      return span
    },
    context: (run) => run()
  })
  const nameOf = (span: Tracer.AnySpan): string => (span._tag === "Span" ? span.name : "external")
  const pathOf = (span: Tracer.AnySpan): string =>
    span._tag === "Span" && Option.isSome(span.parent) ? `${pathOf(span.parent.value)} > ${nameOf(span)}` : nameOf(span)
  return { layer: Layer.setTracer(tracer), paths: () => spans.map(pathOf) }
}

describe("AU-03: what stands around a run holds in its tools", () => {
  const search = Tool.make({
    name: "Ask",
    description: "",
    execute: (input) => Effect.withSpan(Effect.as(Effect.sleep(1), `found ${input}`), "my.search")
  })

  for (const [name, run] of patterns) {
    it(`${name}: spans of a tool, and of a model inside one, hang under the call`, async () => {
      for (const tool of [search, LlmWorker.make({ name: "Ask" })]) {
        const { layer, paths } = makeTracer()
        const model = Llm.layer((request) =>
          Effect.withSpan(
            Effect.flatMap(Effect.provide(Llm.Llm, modelOf("Ask")), (llm) => llm.complete(request)),
            "my.model"
          )
        )
        await Effect.runPromise(
          run.pipe(
            Effect.withSpan("request"),
            // The toolbox is built inside a span of the app's, which has nothing to do with the run.
            Effect.provide(Layer.withSpan(Toolbox.layer([tool]), "start-up")),
            Effect.provide(Layer.mergeAll(model, silent)),
            Effect.provide(layer)
          )
        )
        const inner = tool === search ? "my.search" : "my.model"
        const inTools = paths().filter((path) => path.endsWith(inner) && path.includes("forethought.tool"))
        expect(inTools.length).toBeGreaterThan(0)
        for (const path of inTools) {
          expect(path).toMatch(/^request > forethought\..*forethought\.tool > /)
          expect(path).not.toContain("start-up")
        }
        const models = paths().filter((path) => path.endsWith("my.model"))
        for (const path of models) expect(path).toMatch(/forethought\.(?:model|tool) > my\.model$/)
      }
    })

    it(`${name}: events, RunKey, log annotations and services are the caller's`, async () => {
      class Database extends Context.Tag("Database")<Database, string>() {}
      const seen: Array<unknown> = []
      const asks = LlmWorker.make({ name: "Ask" })
      const looks = Tool.make({
        name: "Look",
        description: "",
        execute: () =>
          Effect.gen(function* () {
            const annotations = yield* Effect.logAnnotations
            seen.push([
              yield* Database,
              typeof (yield* RunKey),
              Option.getOrUndefined(HashMap.get(annotations, "user"))
            ])
            return "seen"
          })
      })
      const app = Journal.memory()
      const own = Journal.memory()
      const built = Toolbox.layer<Llm.Llm | Database>([asks, looks]).pipe(
        Layer.provide(Layer.succeed(Database, "the app's"))
      )
      for (const tool of ["Ask", "Look"]) {
        await Effect.runPromise(
          run.pipe(
            Effect.annotateLogs("user", "ann"),
            Effect.provide(Journal.layer(own)),
            Effect.provide(built),
            Effect.provide(modelOf(tool)),
            Effect.provide(Journal.layer(app))
          )
        )
      }
      const calls = (events: ReadonlyArray<RunEvent>) => events.filter(({ _tag }) => _tag === "ModelCallStarted")
      expect(await Effect.runPromise(app.events)).toEqual([])
      const told = calls(await Effect.runPromise(own.events))
      expect(told.some(({ call }) => call.includes("#E1") || call.includes("tool-1"))).toBe(true)
      expect(seen.length).toBeGreaterThan(0)
      for (const one of seen) expect(one).toEqual(["the app's", "symbol", "ann"])
      // A service that the caller has stands before that of the place where the toolbox was made.
      seen.length = 0
      await Effect.runPromise(
        run.pipe(
          Effect.provideService(Database, "the run's"),
          Effect.provide(built),
          Effect.provide(Layer.merge(modelOf("Look"), silent))
        )
      )
      for (const one of seen) expect(one).toEqual(["the run's", "symbol", undefined])
    })

    it(`${name}: a FiberRef that a tool sets is kept`, async () => {
      const cost = FiberRef.unsafeMake(0)
      const pays = Tool.make({
        name: "Ask",
        description: "",
        execute: () => Effect.zipRight(Effect.sleep(1), FiberRef.set(cost, 7))
      })
      const total = Effect.zipRight(run, FiberRef.get(cost))
      const layer = Layer.mergeAll(Toolbox.layer([pays]), modelOf("Ask"), silent)
      expect(await Effect.runPromise(Effect.provide(total, layer))).toBe(7)
    })
  }
})
