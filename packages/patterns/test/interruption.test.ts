/** A run of any pattern, interrupted at every yield point: nothing of it goes on, and every run that started has an end. */
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import type { RunEvent } from "@forethought/core/RunEvent"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { Interruption } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Router from "@forethought/patterns/Router"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { patterns as allPatterns } from "./world.js"

const isFuzzing = Number(process.env["FORETHOUGHT_RUNS"] ?? 0) > 10_000
const distances = isFuzzing ? Array.from({ length: 28 }, (_, i) => i + 3) : [3, 4, 7]
/** More than any of these runs has yield points. */
const most = 20_000

/** What models and tools tell of themselves. */
const makeState = () => {
  let isOver = false
  const state = { models: 0, tools: 0, signals: 0, late: 0, finished: 0, events: [] as RunEvent["_tag"][] }
  const count = (what: "models" | "tools" | "signals", by: 1 | -1) =>
    Effect.sync(() => {
      state[what] += by
      if (isOver) state.late += 1
    })
  const during = (what: "models" | "tools", steps: number) =>
    Effect.acquireUseRelease(
      count(what, 1),
      () => Effect.repeatN(Effect.yieldNow(), steps),
      () => count(what, -1)
    )
  return {
    state,
    during,
    ended: () => {
      isOver = true
    }
  }
}
type World = ReturnType<typeof makeState>

/** Effects and Promises, read-only and not, each of which tells when it starts and when it ends. */
const toolsOf = ({ during, state }: World): ReadonlyArray<Tool.Tool> => [
  Tool.make({
    name: "Look",
    description: "",
    readOnly: true,
    execute: (input) => Effect.as(during("tools", 2), `saw ${input}`)
  }),
  Tool.make({
    name: "Write",
    description: "",
    readOnly: false,
    execute: (input) => Effect.as(during("tools", 1), `wrote ${input}`)
  }),
  Tool.make({
    name: "Fetch",
    description: "",
    execute: (input, { signal }) => {
      state.signals += 1
      return new Promise((resolve) => {
        const end = () => {
          signal.removeEventListener("abort", end)
          state.signals -= 1
          resolve(`fetched ${input}`)
        }
        signal.addEventListener("abort", end)
        Promise.resolve()
          .then(() => undefined)
          .then(() => (signal.aborted ? undefined : end()))
      })
    }
  })
]

const call = (id: number, name: string) => ({ id: `c${id}`, name, arguments: JSON.stringify({ input: String(id) }) })

/** A model that answers each role in a way that takes the pattern through all of its parts. */
const reply = (request: Llm.Request): Llm.Reply => {
  const isFirstTurn = !request.messages.some(({ role }) => role === "tool")
  switch (request.role) {
    case "planner":
      if (request.format?.name === "decomposition") {
        return Llm.reply('{"logic":"and","sub_steps":["look first","then write"]}')
      }
      return request.messages[0]?.content.includes("#E1") === true
        ? Llm.reply(
            "Plan: a\n#E1 = Look[a]\nPlan: b\n#E2 = Fetch[b]\nPlan: c\n#E3 = Write[#E1]\nPlan: d\n#E4 = Write[x]"
          )
        : Llm.reply("1. look\n2. write")
    case "replanner":
      return request.call.startsWith("step-2")
        ? Llm.reply('{"final_answer":"done"}')
        : Llm.reply('{"remaining_steps":["write"]}')
    case "executor":
      if (isFirstTurn)
        return Llm.reply("", { toolCalls: [call(1, "Look"), call(2, "Look"), call(3, "Write"), call(4, "Fetch")] })
      return Llm.reply(request.call.startsWith("1/") ? "FAILURE: too much" : "SUCCESS: done")
    case "router":
      return Llm.reply('{"pattern":"react","reason":"one look"}')
    case "extractor":
      return Llm.reply("42")
    default:
      return Llm.reply("done")
  }
}

const patterns: ReadonlyArray<
  readonly [name: string, run: Effect.Effect<unknown, unknown, Llm.Llm | Toolbox.Toolbox>]
> = [
  ["ReAct", ReAct.run("task")],
  ["Rewoo.sequential", Rewoo.sequential("task")],
  ["Rewoo.parallel", Rewoo.parallel("task")],
  ["PlanAndExecute", PlanAndExecute.run("task")],
  ["PlanAndSolve", PlanAndSolve.run("task", { answerFormat: AnswerFormat.number })],
  ["Adapt", Adapt.run("task")],
  ["PlanAndSolveAgent", PlanAndSolveAgent.run("task")],
  ["Router", Router.run("task", { patterns: allPatterns })],
  ["PlanAndExecute with Rewoo as executor", PlanAndExecute.run("task", { executor: Rewoo.executor })],
  ["PlanAndExecute with Adapt as executor", PlanAndExecute.run("task", { executor: Adapt.executor })]
]

describe("AU-01: interrupted at every yield point", () => {
  for (const [name, run] of patterns) {
    it(name, async () => {
      for (const every of distances) {
        const tried = await Interruption.everywhere(
          () => {
            const world = makeState()
            const model: Llm.Service = {
              complete: (request) => Effect.map(world.during("models", 1), () => reply(request))
            }
            const journal: Journal.Service = {
              record: () => Effect.void,
              unsafeRecord: ({ _tag }) => void world.state.events.push(_tag)
            }
            const context = Context.make(Llm.Llm, model).pipe(
              Context.add(Toolbox.Toolbox, Effect.runSync(Toolbox.make(toolsOf(world)))),
              Context.add(Journal.Journal, journal)
            )
            return { ...world, effect: Effect.exit(Effect.provide(run, context)) }
          },
          ({ exit, state, tasks }) => {
            const where = `a yield every ${every} operations, interrupted after ${tasks} tasks`
            expect(exit, `${where}: returns`).toBeDefined()
            expect([state.models, state.tools, state.signals, state.late], where).toEqual([0, 0, 0, 0])
            const count = (tag: RunEvent["_tag"]) => state.events.filter((other) => other === tag).length
            expect(count("RunEnded"), where).toBe(count("RunStarted"))
          },
          { every, most }
        )
        expect(tried).toBeGreaterThan(every === 3 ? 30 : 0)
      }
    }, 600_000)
  }

  it("and left alone each of them comes to its answer, so that all its parts are tried", async () => {
    for (const [name, run] of patterns) {
      const world = makeState()
      const exit = await Effect.runPromiseExit(
        Effect.provide(
          run,
          Context.make(Llm.Llm, {
            complete: (request: Llm.Request) => Effect.map(world.during("models", 1), () => reply(request))
          }).pipe(
            Context.add(Toolbox.Toolbox, Effect.runSync(Toolbox.make(toolsOf(world)))),
            Context.add(Journal.Journal, Journal.silent)
          )
        )
      )
      expect(Exit.isSuccess(exit), `${name}: ${String(exit)}`).toBe(true)
    }
  })
})
