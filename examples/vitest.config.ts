import { fileURLToPath } from "node:url"
import { defineProject } from "vitest/config"

// Tests run on the sources, so that a stale build can never make them pass.
const packages = fileURLToPath(new URL("../packages/", import.meta.url))

export default defineProject({
  resolve: {
    alias: [
      { find: /^@forethought\/core\/testing$/, replacement: `${packages}core/src/testing/index.ts` },
      { find: /^@forethought\/(\w+)\/(.+)$/, replacement: `${packages}$1/src/$2.ts` },
      { find: /^@forethought\/(\w+)$/, replacement: `${packages}$1/src/index.ts` }
    ]
  },
  test: { name: "examples", include: ["test/**/*.test.ts"] }
})
