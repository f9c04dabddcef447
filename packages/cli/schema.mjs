// Writes the JSON Schemas of what the program prints: schema/result.schema.json and schema/event.schema.json.
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { workspace } from "./workspace.mjs"

const here = fileURLToPath(new URL(".", import.meta.url))
const bundle = `${here}dist/schemas.mjs`
await build({
  absWorkingDir: here,
  entryPoints: ["src/screen/documentSchema.ts"],
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
  splitting: false,
  logLevel: "warning",
  plugins: [workspace]
})
const { schemas } = await import(bundle)
rmSync(bundle)
mkdirSync(`${here}schema`, { recursive: true })
for (const [name, schema] of Object.entries(await schemas())) {
  writeFileSync(`${here}schema/${name}.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`)
}
