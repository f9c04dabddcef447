// Reads the recorded ADaPT runs of the paper, and tells whether a replay of one does what its record says. The script
// `replay-adapt.mjs` and a test of `Adapt` share it; each brings an `Adapt.run` of its own, built or from the sources.
//
// The records are the result files of the paper's repository (archiki/ADaPT, MIT): runs by name, in ALFWorld's file
// below a heading for each kind of task. A run's `plans` hold, in order, every attempt (`<task> at depth <n>, success:
// True|False`) and every decomposition (`['<sub-step>', …] at depth <n> and logic AND|OR`). Files without `plans` are
// left out.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Reads every run in a folder; none where there is no folder. The depth limit is that of the file: its deepest attempt. */
export const readRuns = (folder) =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const runs = runsIn(JSON.parse(readFileSync(join(folder, name), "utf8")), name)
      const maxDepth = Math.max(...runs.flatMap(({ lines }) => lines.map((line) => line.depth ?? 0)))
      return runs.map((run) => ({ ...run, maxDepth }))
    })

const runsIn = (value, name) => {
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value.plans)) return [{ name, lines: value.plans.map(readLine) }]
  return Object.entries(value).flatMap(([key, inner]) => runsIn(inner, `${name} ${key}`))
}

const readLine = (line) => {
  const attempt = /^([\s\S]*) at depth (\d+), success: (True|False)$/.exec(line)
  if (attempt !== null) {
    return { kind: "attempt", task: attempt[1], depth: Number(attempt[2]), succeeded: attempt[3] === "True" }
  }
  const split = /^\[([\s\S]*)\] at depth \d+ and logic (AND|OR)$/.exec(line)
  if (split !== null) return { kind: "split", subSteps: readTexts(split[1]), logic: split[2].toLowerCase() }
  throw new Error(`A line of a record that cannot be read: ${line}`)
}

/** Reads texts as Python prints them, with commas between. */
const readTexts = (source) => {
  const text = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs
  if (source.replaceAll(text, "").replaceAll(/[,\s]/g, "") !== "") throw new Error(`No list of texts: ${source}`)
  return source.match(text)?.map((quoted) => quoted.slice(1, -1).replaceAll(/\\(.)/gs, "$1")) ?? []
}

const fold = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/**
 * What a record comes to by the rules of `Adapt.run`, worked out from its lines alone. `stopAt` is the line at which the
 * rules stop following the record: a `decomposition` that they refuse, or a `split` of a repeat that was carried out.
 */
const follow = ({ lines, maxDepth, name }) => {
  let at = 0
  let stop
  const stopAt = (why) => {
    stop = { at, why }
    return undefined
  }
  const task = (path) => {
    const attempt = lines[at++]
    if (attempt?.kind !== "attempt") throw new Error(`${name}: line ${at} is not an attempt.`)
    if (attempt.succeeded) return true
    const split = lines[at]
    if (split?.kind !== "split") return false
    if (attempt.depth >= maxDepth) throw new Error(`${name}: line ${at + 1} splits a task at the deepest level.`)
    const own = fold(attempt.task)
    if (path.includes(own)) return stopAt("split")
    const below = [...path, own]
    const repeats = split.subSteps.map((subStep) => below.includes(fold(subStep)))
    if (split.logic === "or" ? repeats.includes(true) : repeats[0]) return stopAt("decomposition")
    at++
    for (const _ of split.subSteps) {
      const succeeded = task(below)
      if (succeeded !== (split.logic === "and")) return succeeded
    }
    return split.logic === "and"
  }
  const succeeded = task([])
  return { succeeded, stop, used: at }
}

const planned = "(a decomposition)"
const again = "(a decomposition, asked again)"

/** Replays a run with answers from its record: how it differs, or nothing. Behind the stop everything fails. */
const difference = async ({ lines, maxDepth }, { stop, succeeded, used }, adapt) => {
  const until = stop?.at ?? lines.length
  if (stop === undefined && used < lines.length) return "the record goes on after its end"
  const calls = []
  const outcome = await adapt(lines[0].task, maxDepth, {
    attempt: (task) => {
      const line = lines[calls.push(task) - 1]
      return calls.length <= until && line?.succeeded === true
    },
    plan: (isAgain) => {
      const line = lines[Math.min(calls.push(isAgain ? again : planned) - 1, until)]
      return { logic: line?.logic ?? "and", sub_steps: line?.subSteps ?? [] }
    }
  })
  const expected = [
    ...lines.slice(0, until).map((line) => (line.kind === "attempt" ? line.task : planned)),
    ...(stop?.why === "decomposition" ? [planned, again] : [])
  ]
  const at = expected.findIndex((call, index) => calls[index] !== call)
  if (at >= 0) return `call ${at + 1} is ${calls[at] ?? "not made"}, and ${expected[at]} in the record`
  const next = calls[expected.length]
  if (stop !== undefined) return next === planned ? "a task is split that must not be" : undefined
  if (next !== undefined) return `call ${expected.length + 1} is ${next}, and the record has ended`
  return outcome === succeeded ? undefined : `it ${outcome ? "succeeds" : "fails"}, unlike the record`
}

/**
 * Replays runs. `adapt` carries out a task to the depth limit with the given answers, and tells whether it succeeded:
 * `attempt` says whether an attempt succeeds, `plan` gives a decomposition, and is told whether it is asked again.
 */
export const replayAll = async (runs, adapt) => {
  const counts = { same: 0, decomposition: 0, split: 0 }
  const different = []
  for (const run of runs) {
    const expected = follow(run)
    const problem = await difference(run, expected, adapt)
    if (problem === undefined) counts[expected.stop?.why ?? "same"]++
    else different.push(`${run.name}: ${problem}`)
  }
  return { ...counts, different }
}

/** The counts in words. */
export const linesOf = ({ decomposition, different, same, split }) => [
  `${same} with the same calls and the same result`,
  `${decomposition + split} refused (${decomposition} with a decomposition that the rule refuses, ${split} whose record splits a repeat again that was carried out)`,
  `${different.length} different`,
  ...different.map((line) => `  ${line}`)
]
