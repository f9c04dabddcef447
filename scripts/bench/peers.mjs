/** The peers: what the benchmark compares with. They are installed in a folder of their own on first use. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("peers/", import.meta.url))

/** Installs the pinned peers with npm, once. Gives false, and says why, where that is not possible. */
export const install = () => {
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return true
  console.error("Installing the peers into scripts/bench/peers/node_modules (once, about 320 MB) …")
  // Not in this workspace, and without scripts: none of the peers needs its own.
  const done = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8"
  })
  if (done.status === 0) return true
  console.error(`The peers cannot be installed: ${done.error?.message ?? done.stderr.trim().slice(0, 500)}`)
  return false
}

/** The modules of the peers for the overhead cases. One that cannot be loaded is left out, which is said. */
export const load = async (names = ["langgraph", "ai-sdk", "mastra"]) => {
  if (!install()) return []
  const loaded = []
  for (const name of names) {
    try {
      loaded.push(await import(new URL(`peers/${name}.mjs`, import.meta.url).href))
    } catch (error) {
      console.error(`Goes on without the peer ${name}: ${String(error?.message ?? error).slice(0, 300)}`)
    }
  }
  return loaded
}
