// Measures what a run costs beside its model: instant stubs, events on, no tracer.
//
//   node scripts/bench/overhead.mjs [--json] [--only <name>]
//
// Needs the build (pnpm build). Each figure is in microseconds a run.
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

const planOf = (n) => Array.from({ length: n }, (_, i) => `${i + 1}. step number ${i + 1}`).join("\n")
const search = Tool.make({ name: "Search", description: "Finds.", execute: () => "found" })

/** A model that answers at once: what it says depends on the role and how often the run asked. */
const instant = (says) =>
  Llm.layer((request) => {
    const said = says(request)
    return Effect.succeed(typeof said === "string" ? Llm.reply(said) : said)
  })

const rewooPlan = Array.from(
  { length: 8 },
  (_, i) => `Plan: look\n#E${i + 1} = Search[${i < 4 ? `q${i}` : `#E${i - 3} more`}]`
).join("\n")
const stepOf = (request) => Number(/^step-(\d+)/.exec(request.call)?.[1] ?? 0)
const turnOf = (request) => Number(/turn-(\d+)$/.exec(request.call)?.[1] ?? 0)

export const cases = {
  "plan-and-execute, 10 steps (20 model calls)": {
    calls: 20,
    model: instant((request) =>
      request.role === "planner"
        ? planOf(7)
        : request.role === "executor"
          ? "done"
          : stepOf(request) >= 10
            ? '{"final_answer":"x"}'
            : JSON.stringify({ remaining_steps: [`step number ${stepOf(request) + 100}`] })
    ),
    run: () => PlanAndExecute.run("goal", { maxSteps: 11 })
  },
  "rewoo sequential, 8 steps (10 calls)": {
    calls: 10,
    model: instant((request) => (request.role === "planner" ? rewooPlan : "answer")),
    run: () => Rewoo.sequential("question")
  },
  "rewoo parallel, 8 steps (10 calls)": {
    calls: 10,
    model: instant((request) => (request.role === "planner" ? rewooPlan : "answer")),
    run: () => Rewoo.parallel("question")
  },
  "react, 10 turns (19 calls)": {
    calls: 19,
    model: instant((request) =>
      turnOf(request) === 10
        ? "done"
        : Llm.reply("", {
            toolCalls: [{ id: "1", name: "Search", arguments: `{"input":"q${turnOf(request)}"}` }]
          })
    ),
    run: () => ReAct.run("task", { maxTurns: 10, maxToolCalls: 10 })
  },
  "adapt, depth 3 (7 attempts, 3 plans)": {
    calls: 10,
    model: instant((request) =>
      request.role === "planner"
        ? JSON.stringify({ logic: "and", sub_steps: [`${request.call} a`, `${request.call} b`] })
        : request.call.split("/")[0].length >= 5
          ? "SUCCESS: ok"
          : "FAILURE: no"
    ),
    run: () => Adapt.run("task")
  }
}

/**
 * The time a run takes, in microseconds: the tenth percentile of short batches. A higher one would measure what else
 * the machine is doing.
 */
export const measure = async (once, { batches = 120, size = 20 } = {}) => {
  for (let i = 0; i < 20 * size; i++) await once()
  const times = []
  for (let b = 0; b < batches; b++) {
    const started = performance.now()
    for (let i = 0; i < size; i++) await once()
    times.push((1000 * (performance.now() - started)) / size)
  }
  times.sort((a, b) => a - b)
  return times[Math.floor(batches / 10)]
}

export const ours = async (only) => {
  const rows = []
  for (const [name, { calls, model, run }] of Object.entries(cases)) {
    if (only !== undefined && !name.includes(only)) continue
    const journal = Journal.memory({ capacity: 1000 })
    const runtime = ManagedRuntime.make(Layer.mergeAll(model, Toolbox.layer([search]), Journal.layer(journal)))
    const time = await measure(() => runtime.runPromise(run()))
    rows.push({ name, "µs/run": time, "µs/call": time / calls })
    await runtime.dispose()
  }
  return rows
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const at = process.argv.indexOf("--only")
  const rows = await ours(at < 0 ? undefined : process.argv[at + 1])
  if (process.argv.includes("--json")) console.log(JSON.stringify(rows, null, 2))
  else
    console.table(
      rows.map((row) => ({ ...row, "µs/run": row["µs/run"].toFixed(1), "µs/call": row["µs/call"].toFixed(1) }))
    )
}
