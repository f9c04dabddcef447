/** `forethought mcp`, asked by our own client. */
import { spawn } from "node:child_process"
import { expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Mcp from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { patterns } from "../src/config/patterns.js"
import { command, everything, folder } from "./support/forethought.js"

const withServer = <A, E>(
  replies: ReadonlyArray<unknown>,
  flags: ReadonlyArray<string>,
  use: Effect.Effect<A, E, Toolbox.Toolbox>
) =>
  Effect.gen(function* () {
    const files = yield* Effect.acquireRelease(
      Effect.sync(() => folder({ "script.json": replies })),
      (files) => Effect.sync(() => files[Symbol.dispose]())
    )
    const server = Mcp.layer({
      command: command.command,
      args: [...command.args, "mcp", "-m", "scripted:script.json", ...flags],
      cwd: files.path
    })
    return yield* Effect.provide(use, Layer.merge(server, Journal.layer(Journal.silent)))
  }).pipe(Effect.scoped)

const call = (tool: string, input: string) =>
  Effect.flatMap(Toolbox.Toolbox, (toolbox) => toolbox.call({ call: "t", tool, input: JSON.stringify({ input }) }))

const plan = "#E1 = Lookup[population of France]"

describe("forethought mcp", () => {
  it.live("offers every pattern, and answers", () =>
    withServer(
      [plan, { role: "solver", text: "{{#E1 grouped}} people." }],
      [],
      Effect.gen(function* () {
        const { tools } = yield* Toolbox.Toolbox
        expect(tools.map(({ name }) => name)).toEqual(patterns.map(({ name }) => name))
        expect(tools.every(({ description }) => description.includes("Choose it when"))).toBe(true)
        expect(yield* call("rewoo", "How many?")).toBe("66,977,107 people.")
      })
    )
  )

  it.live("tells why there is no answer, and what was gathered", () =>
    withServer(
      [plan, { role: "solver", text: "cut", finishReason: "length" }],
      [],
      Effect.gen(function* () {
        const error = yield* Effect.flip(call("rewoo", "How many?"))
        expect(error.message).toContain("Not answered (TruncatedReply)")
        expect(error.message).toContain("#E1 Lookup[population of France] (ok): 66977107")
      })
    )
  )

  it.live("limits hold for each run, and tools may come from another server", () =>
    withServer(
      [
        ...[1, 2].flatMap((n) => [
          { call: "planner", role: "planner", text: `#E1 = echo[${n}]` },
          { call: "solver", role: "solver", text: "{{#E1}}" }
        ])
      ],
      ["--max-calls", "2", "--mcp", everything, "-t", "none"],
      Effect.gen(function* () {
        expect(yield* call("rewoo", "one")).toBe("Echo: 1")
        expect(yield* call("rewoo", "two")).toBe("Echo: 2")
      })
    )
  )

  it.live("a tool that would need approval is not called, for nobody can be asked", () =>
    withServer(
      ["#E1 = toggle-simulated-logging[{}]", { role: "solver", text: "{{#E1}}" }],
      ["--approve", "--mcp", everything, "-t", "none"],
      Effect.map(Effect.either(call("rewoo", "q")), (answer) =>
        expect(Either.getOrThrow(answer)).toBe("(no evidence for #E1)")
      )
    )
  )

  it("writes nothing but the protocol on standard output, and ends with its input", async () => {
    using files = folder({ "script.json": ["unused"] })
    const child = spawn(command.command, [...command.args, "mcp", "-m", "scripted:script.json"], {
      cwd: files.path,
      env: { PATH: process.env["PATH"] ?? "" }
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (text) => {
      out += String(text)
    })
    child.stderr.on("data", (text) => {
      err += String(text)
      if (err.includes("serves 8 patterns")) child.stdin.end()
    })
    const code = await new Promise((done) => child.on("close", done))
    expect({ code, out }).toEqual({ code: 0, out: "" })
  })
})
