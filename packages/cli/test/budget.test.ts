/** What becomes of each pattern when its budget runs out, in every phase. */
import { expect, it } from "@effect/vitest"
import * as Budget from "@forethought/ai/Budget"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import type { RunEvent } from "@forethought/core/RunEvent"
import { FakeTools } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { patterns } from "./support/patterns.js"

/** A model that does each role's part well: steps of two turns, two of them. */
const able = (pattern: string) => {
  const counts = new Map<string, number>()
  const nth = (key: string) => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return counts.get(key) ?? 0
  }
  const text = (request: Llm.Request): string => {
    switch (request.role) {
      case "router":
        return '{"pattern": "react", "reason": "one look"}'
      case "planner":
        if (pattern.startsWith("rewoo")) return "Plan: Look.\n#E1 = Search[a]\nPlan: Look on.\n#E2 = Search[#E1]"
        if (pattern === "adapt") return '{"logic": "and", "sub_steps": ["Look here.", "Look there."]}'
        return "1. Look here.\n2. Look there."
      case "replanner":
        return nth("replanner") === 1 ? '{"remaining_steps": ["Look there."]}' : '{"final_answer": "Found."}'
      case "reasoner":
        return "The plan: add. 2 + 2 = 4."
      case "extractor":
        return "4"
      case "executor":
        if (pattern.endsWith("collected")) return '{"status": "completed", "result": "Found.", "collected": {"a": "b"}}'
        // ADaPT's first attempt fails, so that it has to split.
        return pattern === "adapt" && request.call.startsWith("1/") ? "FAILURE: too much" : "SUCCESS: found"
      case "solver":
      case "finalizer":
        return "Found."
    }
  }
  return Llm.layer((request) =>
    Effect.sync(() => {
      const first = request.role === "executor" && request.call.endsWith("turn-1")
      const id = `${request.call}/call`
      return first
        ? Llm.reply("", { toolCalls: [{ id, name: "Search", arguments: '{"input":"x"}' }] })
        : Llm.reply(text(request))
    })
  )
}

interface Ended {
  readonly events: ReadonlyArray<RunEvent>
  readonly spent: Budget.Spent
  readonly outcome: { readonly _tag: "Right" | "Left"; readonly left?: unknown; readonly right?: object }
}

const runWith = (name: string, run: (typeof patterns)[number][1], options: Budget.Options): Effect.Effect<Ended> =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    const { outcome, spent } = yield* run("Where is it?", "native").pipe(
      Effect.either,
      Effect.flatMap((outcome) => Effect.map(Budget.spent, (spent) => ({ outcome, spent }))),
      Budget.within(options),
      Effect.provide(Layer.mergeAll(able(name), FakeTools.layer({ Search: "found" }), Journal.layer(journal)))
    )
    return { outcome, spent, events: yield* journal.events }
  })

/** The work that the events tell of, and that an error must carry. */
const work = (events: ReadonlyArray<RunEvent>) => ({
  evidence: events.filter(({ _tag }) => _tag === "EvidenceRecorded").length,
  steps: events.filter(({ _tag }) => _tag === "StepEnded").length,
  turns: events.filter(({ _tag }) => _tag === "TurnEnded").length,
  tasks: events.filter(({ _tag }) => _tag === "TaskStarted").length
})

describe.each(patterns)("%s", (name, run) => {
  it.effect("stops in every phase with all that it has gathered, and not a call later", () =>
    Effect.gen(function* () {
      const whole = yield* runWith(name, run, {})
      expect(whole.outcome).toMatchObject({ _tag: "Right" })
      expect(whole.spent.calls).toBeGreaterThan(1)
      for (let calls = 0; calls < whole.spent.calls; calls++) {
        const { events, outcome, spent } = yield* runWith(name, run, { calls })
        expect(spent.calls).toBe(calls)
        expect(outcome).toMatchObject({
          _tag: "Left",
          left: {
            _tag: "LlmError",
            reason: { _tag: "BudgetExhausted", limit: `calls: ${calls} of ${calls} used` },
            role: expect.any(String)
          }
        })
        const carried = JSON.stringify(outcome.left)
        const done = work(events)
        const count = (what: string) => carried.split(what).length - 1
        if (name.startsWith("rewoo")) expect(count('"variable"')).toBe(done.evidence)
        if (name === "plan-and-execute" || name.startsWith("plan-and-solve-agent")) {
          expect(count('"step":"')).toBe(done.steps)
        }
        if (name === "react" || name === "router") expect(count('"calls":[')).toBe(done.turns)
        if (name === "adapt") expect(count('"_tag":"Task"')).toBe(Math.max(1, done.tasks))
        if (name === "plan-and-solve") expect(count('"reasoning"')).toBe(calls)
        // A step that was cut short in its second turn still shows the first one.
        const [last] = events.filter(({ _tag }) => _tag === "TurnEnded" || _tag === "StepEnded").slice(-1)
        if (last?._tag === "TurnEnded" && last.tools.length > 0) expect(carried).toContain('"observation":"found"')
      }
    })
  )

  it.effect("a budget of time and one of tokens end it in the same way", () =>
    Effect.gen(function* () {
      for (const options of [{ wallTime: 0 }, { outputTokens: 20, perRole: {} }, { inputTokens: 1 }]) {
        const { outcome } = yield* runWith(name, run, options)
        expect(outcome).toMatchObject({ _tag: "Left", left: { reason: { _tag: "BudgetExhausted" } } })
      }
    })
  )
})

it.effect.each(Array.from({ length: 11 }, (_, calls) => calls))(
  "AD-02: ADaPT whose planner only rephrases what fails keeps to a budget of %i calls, and carries its tree",
  (calls) =>
    Effect.gen(function* () {
      let rephrased = 0
      const unable = Llm.layer(({ role }) =>
        Effect.sync(() =>
          Llm.reply(
            role === "planner"
              ? JSON.stringify({ logic: "or", sub_steps: [`Do it, version ${++rephrased}`] })
              : "FAILURE: too much"
          )
        )
      )
      const { error, spent } = yield* Adapt.run("Do it", { maxDepth: 6 }).pipe(
        Effect.flip,
        Effect.flatMap((error) => Effect.map(Budget.spent, (spent) => ({ error, spent }))),
        Budget.within({ calls }),
        Effect.provide(Layer.mergeAll(unable, FakeTools.layer({}), Journal.layer(Journal.silent)))
      )
      // Six attempts and five decompositions are what the depth limit allows.
      expect(error._tag).toBe("LlmError")
      expect(spent.calls).toBe(calls)
      expect(JSON.stringify(error.progress.tree).split('"_tag":"Task"').length - 1).toBe(1 + Math.floor(calls / 2))
    })
)

describe("a reserve for the last call", () => {
  const named = (name: string) => {
    const found = patterns.find(([pattern]) => pattern === name)
    if (found === undefined) throw new Error(name)
    return found
  }

  it.effect.each(["rewoo", "rewoo-parallel"])("%s still answers from its evidence", (name) =>
    Effect.gen(function* () {
      const [, run] = named(name)
      const spend = { calls: 2, outputTokens: 300, reserve: { calls: 1, outputTokens: 200 } }
      expect((yield* runWith(name, run, spend)).outcome).toMatchObject({
        _tag: "Right",
        right: { answer: "Found.", evidence: [{ status: "ok" }, { status: "ok" }] }
      })
    })
  )
})
