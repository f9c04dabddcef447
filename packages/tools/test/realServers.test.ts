/** Servers that people use, run for real: `server-filesystem` and `server-memory`, each in a folder of its own. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import type { Tool } from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Mcp from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"

const script = (name: string): string =>
  createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)

const temporary = Effect.acquireRelease(
  // A server resolves links, and so do we.
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "forethought-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The filesystem server on a folder of its own. */
const filesystem = (options: Partial<Mcp.Common> = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const server = { command: process.execPath, args: [script("filesystem"), folder], ...options }
    return { folder, tools: yield* Mcp.tools(server) }
  })

/** The memory server with a file of its own. */
const memory = (options: Partial<Mcp.Common> = {}) =>
  Effect.gen(function* () {
    const file = join(yield* temporary, "memory.jsonl")
    const env = { MEMORY_FILE_PATH: file }
    return { file, tools: yield* Mcp.tools({ command: process.execPath, args: [script("memory")], env, ...options }) }
  })

const caller = (tools: ReadonlyArray<Tool>) =>
  Effect.map(
    Toolbox.make(tools),
    (toolbox) => (tool: string, input: object) => toolbox.call({ call: tool, tool, input: JSON.stringify(input) })
  )

const named = (tools: ReadonlyArray<Tool>, isWanted: (tool: Tool) => boolean) =>
  tools.filter(isWanted).map(({ name }) => name)

const writers = {
  filesystem: ["write_file", "edit_file", "create_directory", "move_file"],
  memory: [
    ...["create_entities", "create_relations", "add_observations"],
    ...["delete_entities", "delete_observations", "delete_relations"]
  ]
}

describe.each([
  { name: "filesystem", connect: filesystem, writes: writers.filesystem, reads: ["read_text_file", "list_directory"] },
  { name: "memory", connect: memory, writes: writers.memory, reads: ["read_graph", "search_nodes", "open_nodes"] }
])("server-$name", ({ connect, reads, writes }) => {
  it.scopedLive("AU-06: its word that a tool writes counts, that one reads only where it is believed", () =>
    Effect.gen(function* () {
      const { tools: wary } = yield* connect()
      expect(named(wary, ({ readOnly }) => readOnly === false)).toEqual(writes)
      expect(named(wary, ({ readOnly }) => readOnly === true)).toEqual([])
      expect(named(wary, ({ idempotent }) => idempotent)).toEqual([])
      const { tools } = yield* connect({ trustAnnotations: true })
      expect(named(tools, ({ readOnly }) => readOnly === false)).toEqual(writes)
      expect(named(tools, ({ readOnly }) => readOnly === true)).toEqual(expect.arrayContaining(reads))
      expect(named(tools, ({ readOnly }) => readOnly === undefined)).toEqual([])
    })
  )
})

it.scopedLive("server-filesystem writes, edits and reads a file in its folder, and nothing outside", () =>
  Effect.gen(function* () {
    const { folder, tools } = yield* filesystem()
    const call = yield* caller(tools)
    const path = join(folder, "a.txt")
    yield* call("write_file", { path, content: "one\ntwo\n" })
    yield* call("edit_file", { path, edits: [{ oldText: "two", newText: "three" }] })
    expect(readFileSync(path, "utf8")).toBe("one\nthree\n")
    writeFileSync(join(folder, "b.txt"), "from outside")
    expect(yield* call("read_text_file", { path: join(folder, "b.txt") })).toBe("from outside")
    expect(yield* call("list_directory", { path: folder })).toContain("[FILE] a.txt")
    const error = yield* Effect.flip(call("read_text_file", { path: join(folder, "..", "other.txt") }))
    expect(error).toMatchObject({ _tag: "ToolFailed", tool: "read_text_file" })
  })
)

it.scopedLive("server-memory keeps an entity, and gives it back", () =>
  Effect.gen(function* () {
    const { file, tools } = yield* memory()
    const call = yield* caller(tools)
    const entity = { name: "Ada", entityType: "person", observations: ["wrote a program"] }
    yield* call("create_entities", { entities: [entity] })
    expect(JSON.parse(yield* call("read_graph", {}))).toMatchObject({ entities: [entity], relations: [] })
    expect(readFileSync(file, "utf8")).toContain("wrote a program")
  })
)
