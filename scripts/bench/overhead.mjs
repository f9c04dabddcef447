// Measures what a run costs beside its model: instant stubs, events on, no tracer. Beside it the same work as plain
// async code and as the peers' graphs, loops and workflows.
//
//   node scripts/bench/overhead.mjs [--only <name>] [--quick] [--json]
//
// Needs the build (pnpm build). See measure.mjs for what the figures are.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Journal from "../../packages/core/dist/Journal.js"
import * as Llm from "../../packages/core/dist/Llm.js"
import * as Tool from "../../packages/core/dist/Tool.js"
import * as Toolbox from "../../packages/core/dist/Toolbox.js"
import * as Adapt from "../../packages/patterns/dist/Adapt.js"
import * as PlanAndExecute from "../../packages/patterns/dist/PlanAndExecute.js"
import * as ReAct from "../../packages/patterns/dist/ReAct.js"
import * as Rewoo from "../../packages/patterns/dist/Rewoo.js"
import { race, table } from "./measure.mjs"
import * as simple from "./simple.mjs"

const search = Tool.make({ ...simple.toolInfo, execute: () => "found" })

/** A model that answers at once. */
const instant = (says) =>
  Llm.layer((request) => {
    const said = says(request)
    return Effect.succeed(typeof said === "string" ? Llm.reply(said) : said)
  })

const stepOf = (request) => Number(/^step-(\d+)/.exec(request.call)?.[1] ?? 0)
const turnOf = (request) => Number(/turn-(\d+)$/.exec(request.call)?.[1] ?? 0)
const rewooModel = instant((request) => (request.role === "planner" ? simple.rewooPlan : "answer"))

/** `calls`: model and tool calls of a run. */
export const cases = {
  "plan-and-execute": {
    title: "Plan-and-Execute, 10 steps (21 model calls)",
    calls: 21,
    model: instant((request) =>
      request.role === "planner" ? simple.plan : request.role === "executor" ? "done" : simple.decision(stepOf(request))
    ),
    run: () => PlanAndExecute.run("goal", { maxSteps: 11 }),
    plain: () => simple.planAndExecute("goal", simple.planAndExecuteModel)
  },
  "rewoo-sequential": {
    title: "ReWOO sequential, 8 steps (2 model and 8 tool calls)",
    calls: 10,
    model: rewooModel,
    run: () => Rewoo.sequential("question"),
    plain: () => simple.rewooSequential("question", simple.rewooModel)
  },
  "rewoo-parallel": {
    title: "ReWOO parallel, 8 steps (2 model and 8 tool calls)",
    calls: 10,
    model: rewooModel,
    run: () => Rewoo.parallel("question"),
    plain: () => simple.rewooParallel("question", simple.rewooModel)
  },
  react: {
    title: "ReAct, 10 turns (10 model and 9 tool calls)",
    calls: 19,
    model: instant((request) => {
      const { calls, text } = simple.turn(turnOf(request))
      return calls === undefined ? text : Llm.reply("", { toolCalls: calls })
    }),
    run: () => ReAct.run("task", { maxTurns: 10, maxToolCalls: 10 }),
    plain: () => simple.react("task", simple.reactModel)
  },
  adapt: {
    title: "ADaPT, depth 3 (7 attempts, 3 plans)",
    calls: 10,
    model: instant((request) =>
      request.role === "planner"
        ? JSON.stringify({ logic: "and", sub_steps: [`${request.call} a`, `${request.call} b`] })
        : request.call.split("/")[0].length >= 5
          ? "SUCCESS: ok"
          : "FAILURE: no"
    ),
    run: () => Adapt.run("task"),
    plain: () => simple.adapt("task", simple.adaptModel)
  }
}

/** A runtime with everything on that is on by default, but events kept in memory rather than logged. */
export const runtimeFor = (model, journal = Journal.memory({ capacity: 1000 })) =>
  ManagedRuntime.make(Layer.mergeAll(model, Toolbox.layer([search]), Journal.layer(journal)))

/**
 * One case: plain code, ours, and the peers.
 *
 * @param peers modules with a function `contenders(case)`
 */
export const measure = async (name, peers, options) => {
  const { calls, model, plain, run, title } = cases[name]
  const runtime = runtimeFor(model)
  const contenders = [
    ["plain async code", plain],
    ["Forethought", () => runtime.runPromise(run())],
    ...peers.flatMap((peer) => peer.contenders(name))
  ]
  const results = await race(contenders, options)
  await runtime.dispose()
  const own = results[1]
  const rows = results.map((result) => ({
    who: result.name,
    "µs/run": result.wall,
    least: result.least,
    "CPU µs": result.cpu,
    "µs/call": result.wall / calls,
    "× Forethought": result.wall / own.wall
  }))
  return { name, title, rows }
}

export const all = async ({ only, quick = false, peers = [] } = {}) => {
  const measured = []
  for (const name of Object.keys(cases)) {
    if (only !== undefined && !name.includes(only)) continue
    measured.push(await measure(name, peers, quick ? { rounds: 5, slice: 40, warmUp: 700 } : {}))
  }
  return measured
}

export const show = (measured) => {
  for (const { rows, title } of measured) table(title, rows)
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const at = process.argv.indexOf("--only")
  const measured = await all({
    only: at < 0 ? undefined : process.argv[at + 1],
    quick: process.argv.includes("--quick"),
    peers: await (await import("./peers.mjs")).load()
  })
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured, null, 2))
  else show(measured)
}
