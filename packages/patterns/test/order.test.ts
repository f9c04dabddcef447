/** In which order the calls of one turn, and of one plan, run where some of them change things. */
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { ScriptedLlm, SimulationClock } from "@forethought/core/testing"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 200)

interface Span {
  readonly tool: string
  readonly input: string
  readonly startedAt: number
  endedAt: number
}

/** Tools that say that they change nothing, that they change something, or nothing about it. */
const kinds = { reads: true, writes: false, either: undefined } as const
type Kind = keyof typeof kinds

const tools = (spans: Array<Span>, takes: (input: string) => number, failing: ReadonlySet<string> = new Set()) =>
  Toolbox.layer(
    (["reads", "writes", "either", "writes_too"] as const).map((name) => {
      const readOnly = name === "writes_too" ? false : kinds[name]
      return Tool.make({
        name,
        description: "",
        ...(readOnly === undefined ? {} : { readOnly }),
        execute: (input) =>
          Effect.gen(function* () {
            const span: Span = { tool: name, input, startedAt: yield* Clock.currentTimeMillis, endedAt: Number.NaN }
            spans.push(span)
            yield* Effect.sleep(takes(input))
            span.endedAt = yield* Clock.currentTimeMillis
            return failing.has(input) ? yield* Effect.fail(new Error("no")) : `done ${input}`
          })
      })
    })
  )

const model = (...script: ReadonlyArray<ScriptedLlm.Line>) => Layer.succeed(Llm.Llm, ScriptedLlm.make(script))

const asks = (calls: ReadonlyArray<{ readonly tool: string; readonly arguments?: string }>) =>
  Llm.reply("", {
    toolCalls: calls.map(({ tool, arguments: given }, i) => ({
      id: `c${i}`,
      name: tool,
      arguments: given ?? JSON.stringify({ input: String(i) })
    }))
  })

const simulated = <A, E>(
  effect: Effect.Effect<A, E, Llm.Llm | Toolbox.Toolbox>,
  layer: Layer.Layer<Llm.Llm | Toolbox.Toolbox>
) =>
  Effect.runPromise(
    Effect.provide(effect, Layer.mergeAll(layer, Journal.layer(Journal.silent), SimulationClock.layer()))
  )

const overlap = (a: Span, b: Span) => a.startedAt < b.endedAt && b.startedAt < a.endedAt

describe("the calls of one turn of ReAct", () => {
  const turn = async (calls: ReadonlyArray<{ readonly kind: Kind; readonly takes: number }>) => {
    const spans: Array<Span> = []
    const answer = await simulated(
      ReAct.run("task", { maxToolCalls: 100 }),
      Layer.merge(
        tools(spans, (input) => calls[Number(input)]?.takes ?? 0),
        model(asks(calls.map(({ kind }) => ({ tool: kind }))), "Done.")
      )
    )
    return { spans, observed: answer.turns[0]?.calls.map(({ observation }) => observation) }
  }

  it("in any mixture: one that may change something runs alone, in its place; readers beside it run at once", async () => {
    const call = FastCheck.record({
      kind: FastCheck.constantFrom<Kind>("reads", "writes", "either"),
      takes: FastCheck.integer({ min: 1, max: 30 })
    })
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
        const { observed, spans } = await turn(calls)
        expect(observed).toEqual(calls.map((_, i) => `done ${i}`))
        const at = (i: number): Span => {
          const span = spans.find(({ input }) => input === String(i))
          if (span === undefined) throw new Error(`call ${i} did not run`)
          return span
        }
        for (const [i, one] of calls.entries()) {
          for (const [j, other] of calls.slice(0, i).entries()) {
            const between = calls.slice(j, i + 1)
            if (between.every(({ kind }) => kind === "reads")) expect(at(i).startedAt).toBe(at(j).startedAt)
            else
              expect(at(i).startedAt, `${other.kind} ${j} before ${one.kind} ${i}`).toBeGreaterThanOrEqual(
                at(j).endedAt
              )
          }
        }
      }),
      { numRuns }
    )
  })

  it("an edit after an edit sees what the first one wrote", async () => {
    let file = "a b c"
    const edit = Tool.make({
      name: "edit",
      description: "",
      execute: (input) =>
        Effect.gen(function* () {
          const before = file
          yield* Effect.sleep(10)
          file = before.replace(input, input.toUpperCase())
          return "ok"
        })
    })
    const calls = ["a", "b", "c"].map((input) => ({ tool: "edit", arguments: JSON.stringify({ input }) }))
    await simulated(ReAct.run("task"), Layer.merge(Toolbox.layer([edit]), model(asks(calls), "Done.")))
    expect(file).toBe("A B C")
  })

  it("what cannot run holds nobody up: an unknown tool, arguments that are no JSON", async () => {
    const spans: Array<Span> = []
    const calls = [{ tool: "reads" }, { tool: "nobody" }, { tool: "writes", arguments: "{not json" }, { tool: "reads" }]
    await simulated(
      ReAct.run("task"),
      Layer.merge(
        tools(spans, () => 10),
        model(asks(calls), "Done.")
      )
    )
    expect(spans.map(({ startedAt }) => startedAt)).toEqual([0, 0])
  })

  it("three equal calls in one turn are one repeat, not three", async () => {
    const spans: Array<Span> = []
    const same = { tool: "reads", arguments: '{"input":"x"}' }
    const run = (...turns: ReadonlyArray<number>) =>
      simulated(
        Effect.either(ReAct.run("task", { maxToolCalls: 100 })),
        Layer.merge(
          tools(spans, () => 1),
          Layer.succeed(Llm.Llm, {
            complete: ({ call }) => {
              const count = turns[Number(call.slice("turn-".length)) - 1]
              return Effect.succeed(
                count === undefined ? Llm.reply("found it") : asks(Array.from({ length: count }, () => same))
              )
            }
          })
        )
      )
    expect(await run(3)).toMatchObject({ _tag: "Right", right: { answer: "found it" } })
    expect(await run(3, 3)).toMatchObject({ _tag: "Right" })
    expect(await run(3, 1)).toMatchObject({ _tag: "Right" })
    expect(await run(3, 2, 1)).toMatchObject({ _tag: "Left", left: { _tag: "Stuck", kind: "repeat" } })
    expect(await run(1, 1, 1)).toMatchObject({ _tag: "Left", left: { _tag: "Stuck", kind: "repeat" } })
  })
})

describe("the calls of a plan in parallel ReWOO", () => {
  const planOf = (steps: ReadonlyArray<{ readonly tool: string; readonly input: string }>) =>
    steps.map(({ input, tool }, i) => `Plan: step\n#E${i + 1} = ${tool}[${input}]`).join("\n")

  it("references decide; a tool that says that it writes runs its own steps in plan order", async () => {
    const step = FastCheck.record({
      tool: FastCheck.constantFrom("reads", "writes", "writes_too", "either"),
      takes: FastCheck.integer({ min: 1, max: 30 }),
      needs: FastCheck.option(FastCheck.nat(7))
    })
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const spans: Array<Span> = []
        const needs = steps.map(({ needs }, i) => (needs === null || needs >= i ? undefined : needs))
        const plan = planOf(
          steps.map(({ tool }, i) => ({
            tool,
            input: needs[i] === undefined ? `s${i}` : `s${i} #E${(needs[i] ?? 0) + 1}`
          }))
        )
        const number = (input: string) => Number(/^s(\d+)/.exec(input)?.[1])
        await simulated(
          Rewoo.parallel("q", { concurrency: 8 }),
          Layer.merge(
            tools(spans, (input) => steps[number(input)]?.takes ?? 0),
            model(plan, "answer")
          )
        )
        const at = new Map(spans.map((span) => [number(span.input), span]))
        for (const [i, { tool }] of steps.entries()) {
          const own = at.get(i)
          const before = [
            ...(needs[i] === undefined ? [] : [needs[i]]),
            ...(tool.startsWith("writes") ? [steps.slice(0, i).findLastIndex((other) => other.tool === tool)] : [])
          ].filter((j) => j !== undefined && j >= 0)
          // Not a moment later either: what does not say that it writes waits for its references alone.
          expect(own?.startedAt).toBe(Math.max(0, ...before.map((j) => at.get(j ?? 0)?.endedAt ?? Number.NaN)))
        }
      }),
      { numRuns }
    )
  })

  it("a step of such a tool runs also behind one that failed", async () => {
    const spans: Array<Span> = []
    const plan = planOf([
      { tool: "writes", input: "a" },
      { tool: "writes", input: "b" },
      { tool: "reads", input: "#E1" }
    ])
    const { evidence } = await simulated(
      Rewoo.parallel("q"),
      Layer.merge(
        tools(spans, () => 5, new Set(["a"])),
        model(plan, "answer")
      )
    )
    expect(evidence.map(({ status }) => status)).toEqual(["error", "ok", "skipped"])
    expect(spans.some((a) => spans.some((b) => a !== b && overlap(a, b)))).toBe(false)
  })
})
