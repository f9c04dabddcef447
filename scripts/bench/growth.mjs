// Measures growth: time and memory over the number of steps with 20 kB results, and the heap that is kept after many
// runs.
//
//   node --expose-gc scripts/bench/growth.mjs [--quick] [--json]
//
// Needs the build (pnpm build).
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Journal from "../../packages/core/dist/Journal.js"
import * as Llm from "../../packages/core/dist/Llm.js"
import * as Tool from "../../packages/core/dist/Tool.js"
import * as Toolbox from "../../packages/core/dist/Toolbox.js"
import * as PlanAndExecute from "../../packages/patterns/dist/PlanAndExecute.js"
import * as ReAct from "../../packages/patterns/dist/ReAct.js"
import * as Rewoo from "../../packages/patterns/dist/Rewoo.js"
import { table } from "./measure.mjs"
import { cases as overhead, runtimeFor } from "./overhead.mjs"

const gc = globalThis.gc ?? (() => {})
const heap = () => {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}

const resultSize = 20_000
/** A flat string of its own, of one byte a character, as a result from the network is. */
const result = (seed) => Buffer.alloc(resultSize, `result ${seed} `).toString("latin1")
const numberIn = (text) => Number(/\d+/.exec(text)?.[0] ?? 0)

const model = (says) =>
  Llm.layer((request) => {
    const said = says(request)
    return Effect.succeed(typeof said === "string" ? Llm.reply(said) : said)
  })

const patterns = {
  "Plan-and-Execute": {
    model: (n) =>
      model(({ call, role }) => {
        const step = numberIn(call)
        if (role === "planner") return "1. look at part 0"
        if (role === "executor") return result(step)
        return step >= n ? '{"final_answer":"x"}' : `{"remaining_steps":["look at part ${step}"]}`
      }),
    run: (n) => PlanAndExecute.run("goal", { maxSteps: n + 1 })
  },
  ReAct: {
    model: (n) =>
      model(({ call }) => {
        const turn = numberIn(call)
        if (turn > n) return "done"
        return Llm.reply("", { toolCalls: [{ id: String(turn), name: "Search", arguments: `{"input":"${turn}"}` }] })
      }),
    run: (n) => ReAct.run("task", { maxTurns: n + 1, maxToolCalls: n })
  },
  "ReWOO parallel": {
    model: (n) =>
      model(({ role }) =>
        role === "planner"
          ? Array.from({ length: n }, (_, i) => `#E${i + 1} = Search[${i === 0 ? "q" : `#E${i} more`}]`).join("\n")
          : "answer"
      ),
    run: (n) => Rewoo.parallel("question", { maxPlanLength: n })
  }
}

const world = ({ model }, n) => {
  const journal = Journal.memory({ capacity: 10_000 })
  let calls = 0
  const search = Tool.make({ name: "Search", description: "Finds.", execute: () => result(calls++) })
  return {
    journal,
    runtime: ManagedRuntime.make(Layer.mergeAll(model(n), Toolbox.layer([search]), Journal.layer(journal)))
  }
}

/** In a function of its own, so that nothing of it is alive when the heap is looked at. */
const timeOf = async (pattern, n) => {
  const { runtime } = world(pattern, n)
  await runtime.runPromise(pattern.run(n))
  const times = []
  for (let i = 0; i < 3; i++) {
    const cpu = process.cpuUsage()
    const started = performance.now()
    await runtime.runPromise(pattern.run(n))
    const used = process.cpuUsage(cpu)
    times.push({ wall: performance.now() - started, cpu: (used.user + used.system) / 1000 })
  }
  await runtime.dispose()
  return { wall: Math.min(...times.map(({ wall }) => wall)), cpu: Math.min(...times.map(({ cpu }) => cpu)) }
}

/** The heap held by a run's result and its events once it has ended. A function of its own for the same reason. */
const heldBy = async (pattern, n) => {
  // What an earlier run left behind goes in more than one turn of the event loop.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    gc()
  }
  const before = heap()
  const { journal, runtime } = world(pattern, n)
  const answered = await runtime.runPromise(pattern.run(n))
  const held = heap() - before
  if (answered._tag !== "Answered") throw new Error("no answer")
  const events = (await Effect.runPromise(journal.events)).length
  await runtime.dispose()
  return { held, events }
}

const overSteps = async (quick) => {
  const rows = []
  for (const [name, pattern] of Object.entries(patterns)) {
    for (const n of quick ? [10, 100] : [10, 50, 100, 200, 500]) {
      const { cpu, wall } = await timeOf(pattern, n)
      await heldBy(pattern, n)
      const { events, held } = await heldBy(pattern, n)
      rows.push({
        pattern: name,
        steps: n,
        "ms/run": wall,
        "CPU ms": cpu,
        "ms/step": wall / n,
        "text MB": (n * resultSize) / 1e6,
        "held MB": held / 1e6,
        "held / text": held / (n * resultSize),
        events
      })
    }
  }
  return rows
}

/** The heap after many runs of one program: equal, but for what the engine compiles. */
const overRuns = async (quick) => {
  const rows = []
  const counts = quick ? [500, 1_500] : [1_000, 10_000]
  for (const name of ["plan-and-execute", "rewoo-parallel", "react"]) {
    const { model, run, title } = overhead[name]
    const capacity = 1_000
    const journal = Journal.memory({ capacity })
    const runtime = runtimeFor(model, journal)
    const row = { pattern: title }
    let done = 0
    for (const count of counts) {
      for (; done < count; done++) await runtime.runPromise(run())
      row[`MB after ${count} runs`] = (heap() / 1e6).toFixed(2)
    }
    row["events kept"] = (await Effect.runPromise(journal.events)).length
    row["of at most"] = capacity
    await runtime.dispose()
    rows.push(row)
  }
  return rows
}

export const all = async ({ quick = false } = {}) => ({ steps: await overSteps(quick), runs: await overRuns(quick) })

export const show = ({ runs, steps }) => {
  table("Growth over steps with results of 20 kB (held: by the result and the events, after the run)", steps)
  table("Heap after many runs, events of the newest kept in memory", runs)
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const measured = await all({ quick: process.argv.includes("--quick") })
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured, null, 2))
  else show(measured)
}
