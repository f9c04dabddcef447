/** How the benchmark measures: medians and least values of interleaved batches, in wall time and in CPU time. */

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

const batch = async (once, size) => {
  const cpu = process.cpuUsage()
  const started = performance.now()
  for (let i = 0; i < size; i++) await once()
  const wall = performance.now() - started
  const used = process.cpuUsage(cpu)
  return { wall: (1000 * wall) / size, cpu: (used.user + used.system) / size }
}

/**
 * Runs every contender in turn, round after round, so that a noisy moment meets all of them. Gives for each the median
 * and the least wall time, and the median CPU time (all threads: garbage collection counts), in microseconds a run.
 *
 * @param contenders pairs of a name and an async function that is one run
 * @param options.slice how long one batch lasts, in milliseconds
 * @param options.warmUp how long each runs before it counts, in milliseconds
 */
export const race = async (contenders, { rounds = 15, slice = 60, warmUp = 1500 } = {}) => {
  const entries = []
  for (const [name, once] of contenders) {
    // Warm before its speed is taken: the size of a batch follows from it.
    const until = performance.now() + warmUp
    while (performance.now() < until) await once()
    const { wall } = await batch(once, 20)
    entries.push({ name, once, size: Math.max(5, Math.round((1000 * slice) / wall)), walls: [], cpus: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) {
      const { cpu, wall } = await batch(entry.once, entry.size)
      entry.walls.push(wall)
      entry.cpus.push(cpu)
    }
  }
  return entries.map(({ name, walls, cpus }) => ({
    name,
    wall: median(walls),
    least: Math.min(...walls),
    cpu: median(cpus)
  }))
}

/** A small seeded generator, so that every run measures the same inputs. */
export const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

/** A table on the terminal: numbers right, texts left. */
export const table = (title, rows) => {
  console.log(`\n${title}`)
  if (rows.length === 0) return console.log("  (nothing measured)")
  const columns = Object.keys(rows[0])
  const text = (value) =>
    value === undefined ? "" : typeof value === "number" && !Number.isInteger(value) ? short(value) : String(value)
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => text(row[column]).length)))
  const pad = (value, width, isText) => (isText ? value.padEnd(width) : value.padStart(width))
  const isText = columns.map((column) => rows.some((row) => typeof row[column] === "string"))
  console.log(`  ${columns.map((column, i) => pad(column, widths[i], isText[i])).join("  ")}`)
  for (const row of rows) {
    console.log(`  ${columns.map((column, i) => pad(text(row[column]), widths[i], isText[i])).join("  ")}`)
  }
}

const short = (value) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
