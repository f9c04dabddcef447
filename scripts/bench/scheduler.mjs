// Measures the scheduler: time and memory per node beside a plain-promise ready queue and p-graph, and the makespan on
// lognormal latencies against the lower bound and against waves.
//
//   node --expose-gc scripts/bench/scheduler.mjs [--quick] [--json]
//
// Needs the build (pnpm build).
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Dag from "../../packages/core/dist/Dag.js"
import * as Scheduler from "../../packages/core/dist/Scheduler.js"
import * as SimulationClock from "../../packages/core/dist/testing/SimulationClock.js"
import { median, random, table } from "./measure.mjs"

const shapes = {
  chain: (n) => Array.from({ length: n }, (_, i) => ({ id: `n${i}`, dependsOn: i === 0 ? [] : [`n${i - 1}`] })),
  fan: (n) => Array.from({ length: n }, (_, i) => ({ id: `n${i}`, dependsOn: i === 0 ? [] : ["n0"] })),
  random: (n) => {
    const next = random(1)
    return Array.from({ length: n }, (_, i) => ({
      id: `n${i}`,
      dependsOn: i === 0 ? [] : [...new Set([0, 1, 2].map(() => `n${Math.floor(next() * i)}`))]
    }))
  },
  local: (n) => {
    const next = random(2)
    return Array.from({ length: n }, (_, i) => ({
      id: `n${i}`,
      dependsOn: i === 0 ? [] : [...new Set([0, 1].map(() => `n${Math.max(0, i - 1 - Math.floor(next() * 20))}`))]
    }))
  }
}

/** What one would write without a library: a ready queue of promises, in order of readiness. */
const promiseQueue = (dag, concurrency, run) =>
  new Promise((resolve, reject) => {
    const waiting = dag.inDegree.slice()
    const ready = []
    for (let i = 0; i < waiting.length; i++) if (waiting[i] === 0) ready.push(i)
    let head = 0
    let active = 0
    let left = waiting.length
    const pump = () => {
      while (active < concurrency && head < ready.length) {
        const i = ready[head++]
        active++
        run(dag.nodes[i]).then(() => {
          active--
          if (--left === 0) return resolve()
          for (let c = dag.offsets[i]; c < dag.offsets[i + 1]; c++) {
            const child = dag.children[c]
            if (--waiting[child] === 0) ready.push(child)
          }
          pump()
        }, reject)
      }
    }
    pump()
  })

const gc = globalThis.gc ?? (() => {})
const best = async (times, body) => {
  let fastest = Number.POSITIVE_INFINITY
  for (let i = 0; i < times; i++) {
    const started = performance.now()
    await body()
    fastest = Math.min(fastest, performance.now() - started)
  }
  return fastest
}
/** The most that the heap grew by while the body ran, looked at now and then. */
const memory = async (body) => {
  gc()
  const before = process.memoryUsage().heapUsed
  let peak = before
  let steps = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  await body(() => {
    if (++steps % 256 === 0) look()
  })
  look()
  return peak - before
}

/**
 * Time and memory a node, best of several runs.
 *
 * @param pGraph p-graph's class, where the peers are installed
 */
export const nodes = async ({ pGraph, quick = false } = {}) => {
  const rows = []
  for (const [shape, nodesOf] of Object.entries(shapes)) {
    for (const n of quick ? [10, 10_000] : [10, 1_000, 10_000, 100_000]) {
      const nodes = nodesOf(n)
      const dag = Either.getOrThrow(Dag.make(nodes))
      for (const concurrency of [4, 64]) {
        const ours = () => Effect.runPromise(Scheduler.run(dag, { concurrency, run: () => Effect.void }))
        const watched = (look) => Effect.runPromise(Scheduler.run(dag, { concurrency, run: () => Effect.sync(look) }))
        const plain = () => promiseQueue(dag, concurrency, async () => {})
        const repeats = n >= 100_000 ? 3 : n >= 10_000 ? 10 : 200
        const time = await best(repeats, ours)
        const plainTime = await best(repeats, plain)
        const peerTime = pGraph === undefined ? undefined : await runPGraph(pGraph, nodes, concurrency)
        const grown = await memory(watched)
        rows.push({
          shape,
          n,
          concurrency,
          "µs/node": (1000 * time) / n,
          "plain µs/node": (1000 * plainTime) / n,
          "p-graph µs/node": peerTime === undefined ? undefined : (1000 * peerTime) / n,
          "× plain": time / plainTime,
          "total ms": time,
          MB: grown / 1e6,
          "bytes/node": Math.round(grown / n)
        })
      }
    }
  }
  return rows
}

/** Undefined for 100,000 nodes at the second concurrency: it takes seconds, and says nothing new. */
const runPGraph = (pGraph, nodes, concurrency) => {
  if (nodes.length > 10_000 && concurrency > 4) return undefined
  const map = new Map(nodes.map(({ id }) => [id, { run: async () => {} }]))
  const edges = nodes.flatMap(({ dependsOn, id }) => dependsOn.map((before) => [before, id]))
  return best(nodes.length > 1_000 ? 1 : 20, () => new pGraph(map, edges).run({ concurrency }))
}

const wavesMakespan = (nodes, takes, concurrency) => {
  const level = new Map()
  for (const node of nodes) level.set(node.id, 1 + Math.max(-1, ...node.dependsOn.map((id) => level.get(id))))
  let total = 0
  for (let wave = 0; wave <= Math.max(...level.values()); wave++) {
    const workers = new Array(concurrency).fill(0)
    for (const node of nodes.filter((candidate) => level.get(candidate.id) === wave)) {
      workers.sort((a, b) => a - b)
      workers[0] += takes.get(node.id)
    }
    total += Math.max(...workers)
  }
  return total
}
/**
 * Random graphs with lognormal latencies (sigma 0.8) of one tool, or of three tools whose means differ; then the
 * estimate is the tool's mean. `hops` counts every step as 1.
 */
const makespans = async (n, graphs, concurrency, means) => {
  const next = random(n)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const ratios = { hops: [], estimates: [], waves: [] }
  for (let g = 0; g < graphs; g++) {
    const takes = new Map()
    const base = Array.from({ length: n }, (_, i) => {
      const mean = means[Math.floor(next() * means.length)]
      const id = `n${i}`
      takes.set(id, mean * Math.exp(0.8 * normal() - 0.32))
      const parents = i === 0 ? 0 : Math.floor(next() * 3)
      return {
        id,
        weight: mean,
        dependsOn: [...new Set(Array.from({ length: parents }, () => `n${Math.floor(next() * i)}`))]
      }
    })
    const real = Either.getOrThrow(Dag.make(base.map((node) => ({ ...node, weight: takes.get(node.id) }))))
    const work = [...takes.values()].reduce((sum, value) => sum + value, 0)
    const bound = Math.max(Dag.criticalPath(real), work / concurrency)
    const simulate = async (nodes) => {
      const clock = SimulationClock.make()
      await Effect.runPromise(
        Effect.withClock(
          Scheduler.run(Either.getOrThrow(Dag.make(nodes)), {
            concurrency,
            run: (node) => Effect.sleep(takes.get(node.id))
          }),
          clock
        )
      )
      return clock.unsafeCurrentTimeMillis()
    }
    ratios.hops.push((await simulate(base.map(({ id, dependsOn }) => ({ id, dependsOn })))) / bound)
    ratios.estimates.push((await simulate(base)) / bound)
    ratios.waves.push(wavesMakespan(base, takes, concurrency) / bound)
  }
  return ratios
}

/** Makespan over the lower bound: median of random graphs. */
export const makespan = async ({ graphs = 100 } = {}) => {
  const rows = []
  for (const [tools, means] of [
    ["one", [400]],
    ["three", [150, 400, 1000]]
  ]) {
    const all = { hops: [], estimates: [], waves: [] }
    const row = (n, ratios) => ({
      tools,
      n: String(n),
      concurrency: 4,
      ...Object.fromEntries(Object.entries(ratios).map(([name, values]) => [name, median(values)]))
    })
    for (const n of [20, 50, 100]) {
      const ratios = await makespans(n, graphs, 4, means)
      for (const name of Object.keys(all)) all[name].push(...ratios[name])
      rows.push(row(n, ratios))
    }
    rows.push(row("20–100", all))
  }
  return rows
}

export const all = async ({ quick = false } = {}) => {
  const { pGraph } = await import("./peers/p-graph.mjs").catch((error) => {
    console.error(`Goes on without the peer p-graph: ${error.message}`)
    return {}
  })
  return { nodes: await nodes({ pGraph, quick }), makespan: await makespan({ graphs: quick ? 30 : 100 }) }
}

export const show = ({ makespan, nodes }) => {
  table("Scheduler, instant steps: best of several runs, beside a plain-promise ready queue and p-graph", nodes)
  table(
    "Makespan over max(critical path, work / concurrency), median over random graphs with lognormal latencies",
    makespan.map((row) => ({
      ...row,
      hops: row.hops.toFixed(3),
      estimates: row.estimates.toFixed(3),
      waves: row.waves.toFixed(3)
    }))
  )
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const measured = await all({ quick: process.argv.includes("--quick") })
  if (process.argv.includes("--json")) console.log(JSON.stringify(measured, null, 2))
  else show(measured)
}
