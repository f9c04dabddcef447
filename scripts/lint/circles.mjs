// Finds circles between source files, imports of types counted. Prints each, and exits with 1 if there is one.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = fileURLToPath(new URL("../..", import.meta.url))

const filesIn = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return filesIn(path)
    return /\.m?[jt]s$/.test(name) ? [path] : []
  })

const folders = [
  ...readdirSync(join(root, "packages")).map((name) => join(root, "packages", name, "src")),
  join(root, "examples/src")
].filter((folder) => existsSync(folder))
const files = folders.flatMap(filesIn)
const known = new Set(files)

/** The file that a specifier means; nothing where it is a package of somebody else's. */
const target = (from, specifier) => {
  const own = /^@forethought\/(\w+)(?:\/(.+))?$/.exec(specifier)
  const path = specifier.startsWith(".")
    ? join(dirname(from), specifier).replace(/\.js$/, "")
    : own === null
      ? undefined
      : join(root, "packages", own[1], "src", own[2] ?? "index")
  return path === undefined
    ? undefined
    : [`${path}.ts`, `${path}.mjs`, path, join(path, "index.ts")].find((file) => known.has(file))
}

const edges = files.map((file) => {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, "utf8"), true, true)
  return [...new Set(importedFiles.flatMap(({ fileName }) => target(file, fileName) ?? []))].map((to) =>
    files.indexOf(to)
  )
})

// Tarjan's strongly connected components; the graph is small, so it may recurse.
const order = new Map()
const low = new Map()
const stack = []
const circles = []
const visit = (node) => {
  order.set(node, order.size)
  low.set(node, order.get(node))
  stack.push(node)
  for (const next of edges[node]) {
    if (!order.has(next)) visit(next)
    if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)))
  }
  if (low.get(node) !== order.get(node)) return
  const group = stack.splice(stack.indexOf(node))
  if (group.length > 1 || edges[node].includes(node)) circles.push(group)
}
for (const node of files.keys()) if (!order.has(node)) visit(node)

for (const circle of circles) {
  console.error(`A circle of ${circle.length} files:`)
  for (const node of circle) {
    const inside = edges[node].filter((next) => circle.includes(next)).map((next) => relative(root, files[next]))
    console.error(`  ${relative(root, files[node])} → ${inside.join(", ")}`)
  }
}
console.log(`${files.length} files, ${circles.length === 0 ? "no circles" : `${circles.length} circles`}`)
process.exitCode = circles.length === 0 ? 0 : 1
