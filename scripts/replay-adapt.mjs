// Replays recorded ADaPT runs through `Adapt` with a scripted model, and counts how many make the same calls in the
// same order and come to the same result.
//
//   node scripts/replay-adapt.mjs [folder or files]     default: ../shared/data/adapt beside the project
//
// The records are the result files of the ADaPT paper's repository (archiki/ADaPT, MIT): for each run, in order, every
// attempt (`<task> at depth <n>, success: <bool>`) and every decomposition (`[…] at depth <n> and logic AND|OR`).
// Needs the build (pnpm build). Exits with 0 and a message where there are no records.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Journal from "../packages/core/dist/Journal.js"
import * as Llm from "../packages/core/dist/Llm.js"
import * as Toolbox from "../packages/core/dist/Toolbox.js"
import * as Adapt from "../packages/patterns/dist/Adapt.js"

/** Reads the Python literals that the records are written in: lists, dicts, strings. */
const readPython = (source) => {
  let at = 0
  const blanks = () => {
    while (/\s/.test(source[at] ?? "")) at++
  }
  const string = () => {
    const quote = source[at++]
    let text = ""
    while (at < source.length && source[at] !== quote) {
      if (source[at] === "\\") at++
      text += source[at++]
    }
    at++
    return text
  }
  const items = (close, item) => {
    const list = []
    at++
    for (blanks(); at < source.length && source[at] !== close; blanks()) {
      list.push(item())
      blanks()
      if (source[at] === ",") at++
    }
    at++
    return list
  }
  const value = () => {
    blanks()
    if (source[at] === "[") return items("]", value)
    if (source[at] === "{") {
      return Object.fromEntries(
        items("}", () => {
          const key = value()
          blanks()
          at++
          return [key, value()]
        })
      )
    }
    return string()
  }
  return value()
}

const group = (steps, logic) => ({
  logic: logic.toLowerCase(),
  sub_steps: steps.map((step) => (typeof step === "string" ? step : group(step.steps, step.logic ?? "AND")))
})

const readLine = (line) => {
  const attempt = /^([\s\S]*) at depth (\d+), success: (True|False)$/.exec(line)
  if (attempt !== null) {
    return { kind: "attempt", task: attempt[1], depth: Number(attempt[2]), success: attempt[3] === "True" }
  }
  const split = /^([\s\S]*) at depth (\d+) and logic (AND|OR)$/.exec(line)
  if (split !== null) return { kind: "split", plan: group(readPython(split[1]), split[3]) }
  throw new Error(`A record that cannot be read: ${line}`)
}

/** What the record comes to, worked out from its lines alone: an attempt, or the split that follows its failure. */
const recordedResult = (lines) => {
  let at = 0
  const task = () => {
    const attempt = lines[at++]
    if (attempt === undefined) return undefined
    if (attempt.success) return true
    return lines[at]?.kind === "split" ? split(lines[at++].plan) : false
  }
  const split = ({ logic, sub_steps }) => {
    for (const step of sub_steps) {
      const result = typeof step === "string" ? task() : split(step)
      if (result === undefined) return undefined
      if (result !== (logic === "and")) return result
    }
    return logic === "and"
  }
  return { result: task(), used: at }
}

const fold = (step) => step.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

const replay = async (lines, maxDepth) => {
  let at = 0
  const differences = []
  const next = (kind) => {
    const line = lines[at]
    if (line?.kind !== kind) {
      differences.push(`call ${at + 1}: the record has ${line?.kind ?? "nothing"}, Adapt made a call of kind ${kind}`)
      return undefined
    }
    at++
    return line
  }
  let refused = false
  const planner = Llm.layer((request) =>
    Effect.sync(() => {
      if (request.call.includes("/reask-")) {
        refused = true
        return Llm.reply(JSON.stringify(lines[at - 1]?.plan ?? {}))
      }
      return Llm.reply(JSON.stringify(next("split")?.plan ?? {}))
    })
  )
  const executor = ({ step }) =>
    Effect.sync(() => {
      const task = /<task>([\s\S]*?)<\/task>/.exec(step)?.[1] ?? ""
      const line = next("attempt")
      if (line !== undefined && fold(line.task) !== fold(task)) differences.push(`call ${at}: ${line.task} ≠ ${task}`)
      return {
        status: "completed",
        result: line?.success === true ? "SUCCESS: done" : "FAILURE: not done"
      }
    })
  const outcome = await Effect.runPromise(
    Adapt.run(lines[0].task, { maxDepth, maxSubSteps: 1000, executor }).pipe(
      Effect.match({ onSuccess: () => true, onFailure: () => false }),
      Effect.provide(Layer.mergeAll(planner, Toolbox.empty, Journal.layer(Journal.silent)))
    )
  )
  return { outcome, used: at, differences, refused }
}

const given = process.argv.slice(2)
const folders = given.length > 0 ? given : [fileURLToPath(new URL("../../shared/data/adapt", import.meta.url))]
const files = folders
  .filter((path) => existsSync(path))
  .flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => name.endsWith(".json"))
          .map((name) => join(path, name))
      : [path]
  )
if (files.length === 0) {
  console.log(`Nothing to replay: no recorded runs in ${folders.join(", ")}.`)
  process.exit(0)
}

let failed = false
for (const file of files) {
  const runs = Object.entries(JSON.parse(readFileSync(file, "utf8"))).filter(([, run]) => Array.isArray(run.plans))
  const counts = { same: 0, refused: 0, cut: 0, different: 0 }
  for (const [name, run] of runs) {
    const lines = run.plans.map(readLine)
    const recorded = recordedResult(lines)
    const maxDepth = Math.max(
      ...lines.map((line) => line.depth ?? 0),
      ...(lines.some((l) => l.kind === "split") ? [] : [1])
    )
    const { differences, outcome, refused, used } = await replay(lines, maxDepth)
    if (refused) counts.refused++
    else if (recorded.result === undefined || recorded.used < lines.length) counts.cut++
    else if (differences.length === 0 && used === lines.length && outcome === recorded.result) counts.same++
    else {
      counts.different++
      failed = true
      console.log(`  ${name} differs: ${[...differences, `${used} of ${lines.length} calls, ${outcome}`].join("; ")}`)
    }
  }
  console.log(
    `${file}: ${runs.length} runs, ${counts.same} with the same calls and the same result, ${counts.different} different, ` +
      `${counts.refused} with a decomposition that names its own task or one above it, which Adapt refuses, ` +
      `${counts.cut} whose record ends in the middle.`
  )
}
process.exit(failed ? 1 : 0)
