import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The first model file in `../shared/models` beside the project, or `undefined`. */
export const modelFile = (): string | undefined => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (folder !== dirname(folder) && !existsSync(join(folder, "pnpm-workspace.yaml"))) folder = dirname(folder)
  const models = join(dirname(folder), "shared", "models")
  const file = existsSync(models) ? readdirSync(models).find((name) => name.endsWith(".gguf")) : undefined
  return file === undefined ? undefined : join(models, file)
}

export const absent = "no model file in ../shared/models beside the project"
