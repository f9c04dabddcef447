/** Calls that change things, in order, with servers that people use: several edits in one turn, a read behind a write. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import { ScriptedLlm } from "@forethought/core/testing"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Mcp from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"

const installed = createRequire(new URL("../../tools/package.json", import.meta.url))
const script = (name: string): string => installed.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)

/** Runs a pattern with a server's tools, as the script has it. */
const withServer = <A, E>(
  server: Mcp.ServerOptions,
  script: ReadonlyArray<ScriptedLlm.Line>,
  run: Effect.Effect<A, E, Llm.Llm | Toolbox.Toolbox>
): Promise<A> => {
  const tools = Layer.scoped(
    Toolbox.Toolbox,
    Effect.flatMap(Mcp.tools(server), (tools) => Toolbox.make(tools))
  )
  const model = Layer.succeed(Llm.Llm, ScriptedLlm.make(script))
  return Effect.runPromise(Effect.provide(run, Layer.mergeAll(tools, model, Journal.layer(Journal.silent))))
}

const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "forethought-")))
  try {
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const asks = (...calls: ReadonlyArray<readonly [tool: string, input: object]>) => ({
  toolCalls: calls.map(([name, input], i) => ({ id: `c${i}`, name, arguments: JSON.stringify(input) }))
})

for (const trustAnnotations of [false, true]) {
  describe(`a server that is ${trustAnnotations ? "" : "not "}believed`, () => {
    it("server-filesystem: three edits of one file in one turn, and all three are in it", () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.txt")
        writeFileSync(path, "one\ntwo\nthree\n")
        const edit = (oldText: string) =>
          ["edit_file", { path, edits: [{ oldText, newText: oldText.toUpperCase() }] }] as const
        const read = ["read_text_file", { path }] as const
        const { turns } = await withServer(
          { command: process.execPath, args: [script("filesystem"), folder], trustAnnotations },
          [asks(read, edit("one"), edit("two"), edit("three"), read), "Done."],
          ReAct.run("Write it in capitals.")
        )
        expect(readFileSync(path, "utf8")).toBe("ONE\nTWO\nTHREE\n")
        const calls = turns[0]?.calls ?? []
        expect(calls.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok", "ok", "ok"])
        // What is read stands where the model put it: before all edits, and behind them.
        expect([calls[0]?.observation, calls[4]?.observation]).toEqual(["one\ntwo\nthree\n", "ONE\nTWO\nTHREE\n"])
      }))

    it("server-memory: a read behind two writes sees both, in one turn", () =>
      inFolder(async (folder) => {
        const entity = (name: string) =>
          ["create_entities", { entities: [{ name, entityType: "person", observations: ["known"] }] }] as const
        const { turns } = await withServer(
          {
            command: process.execPath,
            args: [script("memory")],
            env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
            trustAnnotations
          },
          [
            asks(entity("Ada"), entity("Bob"), ["read_graph", {}], entity("Cy"), ["open_nodes", { names: ["Cy"] }]),
            "Done."
          ],
          ReAct.run("Remember them.", { maxToolCalls: 8 })
        )
        const observed = turns[0]?.calls.map(({ observation }) => observation) ?? []
        expect(observed[2]).toContain("Ada")
        expect(observed[2]).toContain("Bob")
        expect(observed[2]).not.toContain("Cy")
        expect(observed[4]).toContain("Cy")
      }))

    it("server-filesystem: three edits without references in a parallel plan, and all three are in the file", () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.txt")
        writeFileSync(path, "one\ntwo\nthree\n")
        const steps = ["one", "two", "three"].map(
          (oldText, i) =>
            `Plan: edit\n#E${i + 1} = edit_file[${JSON.stringify({ path, edits: [{ oldText, newText: oldText.toUpperCase() }] })}]`
        )
        const { evidence } = await withServer(
          { command: process.execPath, args: [script("filesystem"), folder], trustAnnotations },
          [steps.join("\n"), "Done."],
          Rewoo.parallel("Write it in capitals.")
        )
        expect(evidence.map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
        expect(readFileSync(path, "utf8")).toBe("ONE\nTWO\nTHREE\n")
      }))
  })
}
