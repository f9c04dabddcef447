import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Mcp from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { build } from "esbuild"

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")
const script = fileURLToPath(new URL("./fixtures/mcp-server.mjs", import.meta.url))
const secret = "sk-not-to-be-seen-0123456789"
const server = (mode = "", options: Partial<Mcp.Stdio> = {}): Mcp.Stdio => ({
  command: process.execPath,
  args: [script, mode],
  ...options
})
const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "forethought-mcp-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)
const allowed = (name: string) => name.replaceAll(/\W/g, "_")
const connect = (options: Mcp.ServerOptions) =>
  Effect.map(
    Effect.flatMap(Mcp.tools(options), (tools) => Toolbox.make(tools)),
    (toolbox) => ({
      toolbox,
      call: (tool: string, input = "{}", timeout = 20_000) => toolbox.call({ call: "c", tool, input, timeout })
    })
  )

describe("Mcp over stdio", () => {
  it.live("offers a real server's tools as they are", () =>
    Effect.gen(function* () {
      const { call, toolbox } = yield* connect({ command: process.execPath, args: [everything, "stdio"] })
      expect(toolbox.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "get-sum"]))
      expect(yield* call("echo", '{"message":"hello"}')).toContain("hello")
      expect(yield* call("echo", "plain text")).toContain("plain text")
      expect(yield* call("get-sum", '{"a":2,"b":40}')).toContain("42")
      const error = yield* Effect.flip(call("get-sum", '{"a":"two"}'))
      expect(error).toMatchObject({ _tag: "ToolFailed", tool: "get-sum" })
      const image = yield* call("get-tiny-image")
      expect(image).toMatch(/\[image: image\/png, \d+ bytes\]/)
      expect(image.length).toBeLessThan(500)
    }).pipe(Effect.scoped)
  )
  it.live("AU-06: reads every page, maps names, and believes annotations only where told to", () =>
    Effect.gen(function* () {
      const { call, toolbox } = yield* connect(server("", { trustAnnotations: true }))
      expect(toolbox.tools.map(({ name }) => name)).toEqual([
        "env",
        "echo",
        "dotted_name_x",
        "fails",
        "hang",
        "cancelled",
        "die",
        "mixed",
        "big",
        "partial",
        "pid",
        "huge",
        "die-once",
        "die-once-read-only"
      ])
      const info = (name: string) => toolbox.tools.find((tool) => tool.name === name)
      expect(info("echo")).toMatchObject({ readOnly: true, idempotent: true, description: "The echo." })
      expect(info("dotted_name_x")).toMatchObject({ idempotent: true })
      expect(info("env")).toMatchObject({ idempotent: false })
      expect(yield* call("dotted_name_x", '{"a":1}')).toBe('{"a":1}')
      for (const trust of [{}, { trustAnnotations: false }]) {
        const wary = yield* Mcp.tools(server("", { ...trust, name: (name) => `s_${name.slice(0, 3)}` }))
        expect(wary[1]).toMatchObject({ name: "s_ech", idempotent: false, hints: { readOnly: true } })
        expect(wary[1]).not.toHaveProperty("readOnly")
        expect(wary[2]).toMatchObject({ idempotent: false, hints: { idempotent: true } })
      }
    }).pipe(Effect.scoped)
  )
  it.live("an error result is ToolFailed; what is no text is described; 10 MB arrive", () =>
    Effect.gen(function* () {
      const { call } = yield* connect(server())
      expect((yield* Effect.flip(call("fails"))).message).toBe("fails failed: out of paper")
      expect(yield* call("mixed")).toBe(
        [
          "first",
          "[image: image/png, 3000 bytes]",
          "[resource: file:///a.txt, text/plain]",
          "y".repeat(50),
          "[resource: file:///b, b]",
          "last"
        ].join("\n")
      )
      expect((yield* call("big")).length).toBe(10_000_000)
      expect((yield* Effect.flip(call("fails", "[1]")))._tag).toBe("InvalidToolInput")
    }).pipe(Effect.scoped)
  )
  it.live("a timeout and an interruption cancel the request, and the server goes on", () =>
    Effect.gen(function* () {
      const { call } = yield* connect(server())
      expect(yield* Effect.flip(call("hang", "{}", 50))).toMatchObject({ _tag: "ToolTimeout", after: 50 })
      const fiber = yield* Effect.fork(call("hang"))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(fiber)
      expect(yield* call("cancelled")).toBe("2")
      expect((yield* Effect.flip(call("partial", "{}", 200))).message).toContain("half of it")
      const env = { SERVER_KEY: Redacted.make(secret) }
      const { call: keyed } = yield* connect(server("", { env }))
      const message = (yield* Effect.flip(keyed("partial", "{}", 200))).message
      expect(message).toContain("half of it [redacted]")
    }).pipe(Effect.scoped)
  )
  it.live("a server that dies says so at once, and is started again by the next call", () =>
    Effect.gen(function* () {
      const warnings: Array<string> = []
      const onWarning = (text: string) => Effect.sync(() => void warnings.push(text))
      const { call } = yield* connect(server("", { server: "mortal", onWarning }))
      const first = yield* call("pid")
      const [dying, waiting] = yield* Effect.all([Effect.flip(call("die")), Effect.flip(call("hang"))], {
        concurrency: 2
      })
      for (const error of [dying, waiting]) {
        expect(error._tag).toBe("ToolFailed")
        expect(error.message).toContain("The connection has ended. It last wrote: out of memory")
        expect(error.message).toContain("the outcome is unknown")
      }
      expect(yield* call("echo", '{"text":"still here"}')).toBe('{"text":"still here"}')
      expect(yield* call("pid")).not.toBe(first)
      expect(warnings).toEqual(['MCP server "mortal": Its process has ended, and is started again.'])
    }).pipe(Effect.scoped)
  )
  it.live(
    "AU-06: a call is sent again when the server dies under it only where the server is believed to do no harm",
    () =>
      Effect.gen(function* () {
        const onWarning = () => Effect.void
        const ONCE = join(yield* temporary, "died")
        const { call: wary } = yield* connect(server("", { env: { ONCE }, onWarning }))
        expect((yield* Effect.flip(wary("die-once-read-only"))).message).toContain("the outcome is unknown")
        const env = { ONCE: join(yield* temporary, "died") }
        const { call } = yield* connect(server("", { env, onWarning, trustAnnotations: true }))
        expect(yield* call("die-once-read-only")).toBe("second time")
        expect((yield* Effect.flip(call("die-once"))).message).toContain("the outcome is unknown")
      }).pipe(Effect.scoped)
  )
  it.live("a server that dies again and again is not started for ever", () =>
    Effect.gen(function* () {
      const { call } = yield* connect(server("", { onWarning: () => Effect.void }))
      for (let n = 0; n < 4; n++) {
        expect((yield* Effect.flip(call("die"))).message).toContain("the outcome is unknown")
      }
      const error = yield* Effect.flip(call("echo"))
      expect(error.message).toContain("has ended 4 times within 10 minutes, and is not started again yet")
      expect(error.message).toContain("It last wrote: out of memory")
    }).pipe(Effect.scoped)
  )
  it.live("a server that is slow to start again is not stopped by a call that waits no longer", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const warnings: Array<string> = []
      const onWarning = (text: string) => Effect.sync(() => void warnings.push(text))
      const { call } = yield* connect(server("slow-again", { env: { ONCE: join(folder, "died") }, onWarning }))
      expect((yield* Effect.flip(call("die-once"))).message).toContain("the outcome is unknown")
      const fiber = yield* Effect.fork(call("pid"))
      expect((yield* Effect.flip(call("pid", "{}", 100)))._tag).toBe("ToolTimeout")
      yield* Fiber.interrupt(fiber)
      const pids = yield* Effect.all([call("pid"), call("pid")], { concurrency: 2 })
      expect(pids[0]).toBe(pids[1])
      expect(warnings).toHaveLength(1)
    }).pipe(Effect.scoped)
  )
  it.live("gives the child the environment that it was given, and keeps secrets out of results and errors", () =>
    Effect.gen(function* () {
      process.env["FORETHOUGHT_TEST_KEY"] = "our-own-key"
      const env = { SERVER_KEY: Redacted.make(secret), MODE: "production" }
      const { call } = yield* connect(server("", { env }))
      const seen: Record<string, string> = JSON.parse(yield* call("env"))
      expect(seen["SERVER_KEY"]).toBe("[redacted]")
      expect(seen["MODE"]).toBe("production")
      expect(seen["PATH"]).toBe(process.env["PATH"])
      expect(Object.keys(seen)).not.toContain("FORETHOUGHT_TEST_KEY")
      const error = yield* Effect.flip(Mcp.tools(server("crash", { env, server: "paper" })))
      expect(error.message).toContain('MCP server "paper": ')
      expect(error.message).toContain("cannot start: bad key [redacted]")
      expect(JSON.stringify(error)).not.toContain(secret)
    }).pipe(
      Effect.scoped,
      Effect.ensuring(Effect.sync(() => Reflect.deleteProperty(process.env, "FORETHOUGHT_TEST_KEY")))
    )
  )
  const refused: ReadonlyArray<readonly [string, Mcp.ServerOptions, RegExp]> = [
    ["is not there", { command: "no-such-command-anywhere" }, /"no-such-command-anywhere": The command was not found/],
    ["has no folder", server("", { cwd: "/no/such/folder" }), /Its folder \/no\/such\/folder does not exist\.$/],
    ["has its arguments in its command", { command: "node server.mjs" }, /not found\. Its arguments belong in "args"/],
    ["is no program", { command: tmpdir() }, /The command cannot be executed/],
    ["says why where messages belong", server("usage"), /has ended\. It last wrote: Usage: server <folder>$/],
    ["ends without a word", server("mute"), /has ended\. Its process exited with code 3\.$/],
    ["never answers", server("silent", { connectTimeout: "300 millis" }), /did not answer in time/],
    ["is given a bad name", server("", { name: (name) => `${name}!` }), /offered as "env!": a name must be/],
    ["has no address", { url: "not an address?key=k" }, /an invalid address/],
    ["does not listen", { url: `http://127.0.0.1:9/mcp/${secret}?key=k` }, /"127.0.0.1:9": .*fetch failed/]
  ]
  it.live.each(refused)("a server that %s fails with why", ([_, options, says]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Mcp.tools(options))
      expect(error._tag).toBe("McpError")
      expect(error.message).toMatch(says)
      expect(error.message).not.toContain("key=k")
      expect(error.message).not.toContain(secret)
    }).pipe(Effect.scoped)
  )
  it.live("an answer that is too long for the wire ends the connection, and says so", () =>
    Effect.gen(function* () {
      const { call } = yield* connect(server())
      const error = yield* Effect.flip(call("huge"))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toContain("exceeded maximum size of 16777216 bytes")
      expect(yield* call("echo", '{"text":"still here"}')).toBe('{"text":"still here"}')
    }).pipe(Effect.scoped)
  )
  it.live("several servers are one toolbox, unless two tools have one name", () =>
    Effect.gen(function* () {
      const second = server("", { name: (name) => `two_${allowed(name)}`, server: "second" })
      const names = yield* Effect.provide(
        Effect.map(Toolbox.Toolbox, ({ tools }) => tools.map(({ name }) => name)),
        Mcp.layer(server(), second)
      )
      expect(names).toEqual(expect.arrayContaining(["echo", "two_echo"]))
      const error = yield* Effect.flip(Layer.build(Mcp.layer(server("", { server: "first" }), server())))
      expect(error.message).toContain("It has a tool env, and so has first.")
    }).pipe(Effect.scoped)
  )
  it.live("the child ends with the scope", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.scoped(Effect.flatMap(connect(server()), ({ call }) => call("pid")))
      expect(Number(pid)).toBeGreaterThan(0)
      expect(() => process.kill(Number(pid), 0)).toThrow(/ESRCH/)
    })
  )
})

describe("our own server, by our own client", () => {
  const packages = fileURLToPath(new URL("../../", import.meta.url))
  it.live("calls, failures and timeouts go through", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const outfile = join(folder, "server.mjs")
      yield* Effect.promise(() =>
        build({
          entryPoints: [fileURLToPath(new URL("./fixtures/own-server.ts", import.meta.url))],
          outfile,
          bundle: true,
          platform: "node",
          format: "esm",
          logLevel: "error",
          alias: { "@forethought/core": `${packages}core/src`, "@forethought/tools": `${packages}tools/src` },
          banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' }
        })
      )
      const { call, toolbox } = yield* connect({
        command: process.execPath,
        args: [outfile],
        trustAnnotations: true
      })
      expect(toolbox.tools.map(({ name, readOnly }) => [name, readOnly])).toEqual([
        ["shout", true],
        ["fails", undefined],
        ["hang", undefined]
      ])
      expect(yield* call("shout", "hello, world")).toBe("HELLO, WORLD")
      expect((yield* Effect.flip(call("fails", "x"))).message).toBe("fails failed: nothing to say")
      expect((yield* Effect.flip(call("hang", "x", 50)))._tag).toBe("ToolTimeout")
      expect(yield* call("shout", "still here")).toBe("STILL HERE")
    }).pipe(Effect.scoped)
  )
})

describe("Mcp over streamable HTTP", () => {
  const freePort = Effect.async<number>((resume) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      probe.close(() => resume(Effect.succeed(port)))
    })
  })
  const listening = (port: number) =>
    Effect.acquireRelease(
      Effect.async<ChildProcess>((resume) => {
        const child = spawn(process.execPath, [everything, "streamableHttp"], {
          env: { PATH: process.env["PATH"], PORT: String(port) },
          stdio: ["ignore", "ignore", "pipe"]
        })
        child.stderr?.on("data", (chunk) => {
          if (String(chunk).includes("listening")) resume(Effect.succeed(child))
        })
      }),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
  it.live("a real server, and an error once it is gone", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const child = yield* listening(port)
      const headers = { authorization: Redacted.make(`Bearer ${secret}`) }
      const { call } = yield* connect({ url: `http://127.0.0.1:${port}/mcp`, headers })
      expect(yield* call("echo", '{"message":"over HTTP"}')).toContain("over HTTP")
      expect(yield* call("get-sum", '{"a":1,"b":2}')).toContain("3")
      child.kill("SIGKILL")
      yield* Effect.sleep("200 millis")
      const error = yield* Effect.flip(call("echo", '{"message":"x"}'))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toContain("ECONNREFUSED")
      expect(error.message).not.toContain(secret)
    }).pipe(Effect.scoped)
  )
})
