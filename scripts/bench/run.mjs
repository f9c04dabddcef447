// The benchmark: what a run costs beside its model, the scheduler, the readers, cold starts, and growth; against what
// people would pick instead, measured in the same run.
//
//   pnpm bench [--only overhead|scheduler|readers|start|growth] [--quick] [--json <file>]
//
// Each part runs in a process of its own, so that none meets the heap or the compiled code of another.
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { install } from "./peers.mjs"

const parts = ["overhead", "scheduler", "readers", "start", "growth"]
const { values } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false }, json: { type: "string" } }
})
if (values.only !== undefined && !parts.includes(values.only)) {
  console.error(`--only takes one of ${parts.join(", ")}.`)
  process.exit(2)
}

const machine = `node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GB`
console.log(`Forethought benchmark: ${machine}. Times are medians unless said otherwise.`)
install()

const folder = mkdtempSync(join(tmpdir(), "forethought-bench-"))
const run = (part) =>
  new Promise((resolve) => {
    const file = join(folder, `${part}.json`)
    const args = ["--expose-gc", fileURLToPath(new URL("part.mjs", import.meta.url)), part, file]
    const child = spawn(process.execPath, values.quick ? [...args, "--quick"] : args, { stdio: "inherit" })
    child.on("close", (code) => resolve({ code, file }))
  })

const results = {}
for (const part of values.only === undefined ? parts : [values.only]) {
  const { code, file } = await run(part)
  try {
    results[part] = JSON.parse(readFileSync(file, "utf8"))
  } catch {
    console.error(`The part ${part} gave no result (exit code ${code}).`)
  }
  if (code !== 0) process.exitCode = 1
}
rmSync(folder, { recursive: true })
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ machine, quick: values.quick, ...results }, null, 2)}\n`)
}
