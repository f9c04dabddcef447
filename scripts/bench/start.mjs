// Measures cold starts: the import of one pattern by subpath, and of the runner, each in fresh processes.
//
//   node scripts/bench/start.mjs [--quick] [--json]
//
// Needs the build (pnpm build). Import time is taken inside the process, around the import alone; the runner's is the
// whole process. CPU time is of all threads.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { median, table } from "./measure.mjs"

const folder = (path) => fileURLToPath(new URL(path, import.meta.url))
const patterns = folder("../../packages/patterns/")
const cli = folder("../../packages/cli/")
const peers = folder("peers/")

const imports = [
  { who: "effect/Effect", from: patterns, module: "effect/Effect" },
  { who: "effect (barrel)", from: patterns, module: "effect" },
  { who: "effect/Effect + effect/Schema", from: patterns, module: ["effect/Effect", "effect/Schema"] },
  ...["ReAct", "PlanAndExecute", "PlanAndSolve", "Adapt", "Rewoo", "PlanAndSolveAgent", "Router"].map((name) => ({
    who: `@forethought/patterns/${name}`,
    from: patterns,
    module: `@forethought/patterns/${name}`
  })),
  { who: "@forethought/patterns", from: patterns, module: "@forethought/patterns" },
  { who: "Vercel AI SDK (ai)", from: peers, module: "ai" },
  { who: "LangGraph.js", from: peers, module: "@langchain/langgraph" },
  { who: "Mastra (@mastra/core/workflows)", from: peers, module: "@mastra/core/workflows" }
]

const program = (modules) => `
const names = ${JSON.stringify([modules].flat())}
const rss = process.memoryUsage().rss
const cpu = process.cpuUsage()
const started = performance.now()
for (const name of names) await import(name)
const wall = performance.now() - started
const used = process.cpuUsage(cpu)
console.log(JSON.stringify({ wall, cpu: (used.user + used.system) / 1000, rss: (process.memoryUsage().rss - rss) / 1e6 }))`

const importing = ({ from, module }) => {
  const done = spawnSync(process.execPath, ["--input-type=module", "--eval", program(module)], {
    cwd: from,
    encoding: "utf8"
  })
  return done.status === 0 ? JSON.parse(done.stdout) : undefined
}

const running = (args) => {
  const started = performance.now()
  const done = spawnSync(process.execPath, args, { encoding: "utf8" })
  return done.status === 0 ? { wall: performance.now() - started } : undefined
}

/** In turn, round after round, so that a noisy moment meets all. */
export const all = ({ quick = false } = {}) => {
  const rounds = quick ? 5 : 15
  const entries = imports.filter(({ from }) => from !== peers || existsSync(`${peers}node_modules`))
  const programs = [
    { who: "node, an empty program", args: ["--eval", ""] },
    { who: "forethought --help", args: [`${cli}bin/forethought.mjs`, "--help"] },
    { who: "forethought --version", args: [`${cli}bin/forethought.mjs`, "--version"] }
  ]
  const taken = new Map([...entries, ...programs].map(({ who }) => [who, []]))
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) taken.get(entry.who).push(importing(entry))
    for (const { args, who } of programs) taken.get(who).push(running(args))
  }
  const values = (who, key) =>
    taken
      .get(who)
      .filter((value) => value !== undefined)
      .map((value) => value[key])
  const row = (who) => (values(who, "wall").length === 0 ? undefined : { who })
  const base = median(values("effect/Effect", "cpu"))
  return {
    imports: entries
      .map(({ who }) => row(who))
      .filter((row) => row !== undefined)
      .map(({ who }) => ({
        who,
        "import ms": median(values(who, "wall")),
        least: Math.min(...values(who, "wall")),
        "CPU ms": median(values(who, "cpu")),
        "× effect/Effect, CPU": median(values(who, "cpu")) / base,
        "RSS MB": median(values(who, "rss"))
      })),
    programs: programs
      .map(({ who }) => row(who))
      .filter((row) => row !== undefined)
      .map(({ who }) => ({ who, "process ms": median(values(who, "wall")), least: Math.min(...values(who, "wall")) }))
  }
}

export const show = ({ imports, programs }) => {
  table("Cold start: importing a module in a fresh process (medians; RSS: what the import adds)", imports)
  table("Cold start: a whole process", programs)
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const measured = all({ quick: process.argv.includes("--quick") })
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured, null, 2))
  else show(measured)
}
