// For esbuild: takes the other packages from their sources, so that a bundle is never older than they are.
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("..", import.meta.url))

export const workspace = {
  name: "workspace",
  setup({ onResolve }) {
    onResolve({ filter: /^@forethought\// }, ({ path }) => {
      const [, name, ...rest] = path.split("/")
      const module = rest.length === 0 ? "index" : rest[0] === "testing" ? "testing/index" : rest.join("/")
      return { path: `${packages}${name}/src/${module}.ts`, sideEffects: false }
    })
  }
}
