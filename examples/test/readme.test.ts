import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

it.each(["examples/src/quickstart.ts", "examples/test/quickstart.test.ts"])("the README shows %s as it is", (path) => {
  expect(file("README.md")).toContain(`\`\`\`ts\n${file(path)}\`\`\``)
})
