/**
 * Replays the recorded ADaPT runs of the paper through `Adapt.run` with a scripted model, and counts those that make the
 * same calls in the same order and come to the same result.
 *
 *     node scripts/replay-adapt.mjs [folder of records]
 *
 * Default: `../shared/data/adapt/runs` beside the project. Needs a build. Exits 0 with a message where there are no
 * records, 1 where a run differs from its record. What the records are: `lib/adapt-runs.mjs`.
 */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { linesOf, readRuns, replayAll } from "./lib/adapt-runs.mjs"

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL("../../shared/data/adapt/runs", import.meta.url)))
const runs = readRuns(folder)
if (runs.length === 0) {
  console.log(`No recorded runs in ${folder}: nothing was replayed.`)
  process.exit(0)
}
const [Journal, Llm, Toolbox, Adapt] = await Promise.all(
  ["core/dist/Journal", "core/dist/Llm", "core/dist/Toolbox", "patterns/dist/Adapt"].map(
    (module) => import(new URL(`../packages/${module}.js`, import.meta.url))
  )
)

const adapt = (task, maxDepth, answers) => {
  const executor = ({ step }) =>
    Effect.sync(() => {
      const tried = /<task>([\s\S]*?)<\/task>/.exec(step)?.[1] ?? ""
      return { status: "completed", result: answers.attempt(tried) ? "SUCCESS: done" : "FAILURE: not done" }
    })
  const planner = Llm.layer(({ call }) =>
    Effect.sync(() => Llm.reply(JSON.stringify(answers.plan(call.includes("/reask-")))))
  )
  return Adapt.run(task, { maxDepth, maxSubSteps: 100, executor }).pipe(
    Effect.isSuccess,
    Effect.provide(Layer.mergeAll(planner, Toolbox.empty, Journal.layer(Journal.silent))),
    Effect.runPromise
  )
}

const counts = await replayAll(runs, adapt)
console.log(linesOf(counts).join("\n"))
process.exit(counts.different.length === 0 ? 0 : 1)
