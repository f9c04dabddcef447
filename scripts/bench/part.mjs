// One part of the benchmark: shows its tables and writes its results. Started by run.mjs.
import { writeFileSync } from "node:fs"
import { load } from "./peers.mjs"

const [part, file] = process.argv.slice(2)
const { all, show } = await import(`./${part}.mjs`)
const measured = await all({
  quick: process.argv.includes("--quick"),
  ...(part === "overhead" ? { peers: await load() } : {})
})
show(measured)
writeFileSync(file, JSON.stringify(measured))
