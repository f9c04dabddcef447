#!/usr/bin/env node
import { existsSync } from "node:fs"

const bundle = new URL("../dist/bundle/main.js", import.meta.url)
if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  process.stderr.write("forethought is not built yet. Run scripts/demo or scripts/test once, or: npm run build\n")
  process.exitCode = 1
}
