import { createServer, type RequestListener } from "node:http"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Run from "@forethought/core/Run"
import type * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { ScriptedLlm } from "@forethought/core/testing"
import * as HttpGet from "@forethought/tools/HttpGet"
import * as Mcp from "@forethought/tools/Mcp"
import * as WebSearch from "@forethought/tools/WebSearch"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import { hider } from "../src/internal/secrets.js"

const secret = "sk-live-0123456789abcdef"
const apiKey = Redacted.make(secret)
const script = fileURLToPath(new URL("./fixtures/mcp-server.mjs", import.meta.url))
const stdio = (mode: string): Mcp.Stdio => ({
  command: process.execPath,
  args: [script, mode],
  env: { SERVER_KEY: apiKey }
})

const listening = (answer: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** A server that says back everything that it was sent, the key with it. */
const parrot = listening((request, response) => {
  response.writeHead(401, JSON.stringify(request.headers).slice(0, 2000), { "x-you-sent": secret })
  response.end(JSON.stringify(request.headers))
})

describe("No secret", () => {
  it.live("is in any event, log line, error or result of a run", () => {
    const journal = Journal.memory()
    const written: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void written.push(`${String(message)} ${Cause.pretty(cause)}`))
    const everywhere = Layer.mergeAll(
      ScriptedLlm.layer([]),
      Journal.layer(journal, Journal.logging),
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.All)
    )
    return Effect.gen(function* () {
      const { url } = yield* parrot
      const tools: ReadonlyArray<Tool.Tool> = [
        ...(yield* Mcp.tools(stdio(""))),
        WebSearch.brave({ apiKey, url, name: "brave" }),
        WebSearch.tavily({ apiKey, url, name: "tavily" }),
        HttpGet.make({ hosts: [new URL(url).host], allowPrivate: true })
      ]
      const toolbox = yield* Toolbox.make(tools)
      const outcomes = yield* Run.run("test", "T", (run) =>
        Effect.forEach(
          [
            ["env", "{}"],
            ["brave", "x"],
            ["tavily", "x"],
            ["HttpGet", url],
            ["die", "{}"],
            ["env", "{}"]
          ] as const,
          ([tool, input], i) => run.callTool(toolbox, { call: `c${i}`, tool, input })
        )
      )
      // The server that died is started again.
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(["ok", ...Array(4).fill("error"), "ok"])
      const crash = yield* Effect.flip(Mcp.tools(stdio("crash")))
      const refused = yield* Effect.flip(Mcp.tools({ url, headers: { authorization: apiKey } }))
      const seen = [
        ...(yield* journal.events).map((event) => JSON.stringify(event)),
        ...written,
        ...outcomes.map(({ error, text }) => `${text} ${JSON.stringify(error)} ${error?.stack}`),
        ...[crash, refused].map((error) => `${error.message} ${JSON.stringify(error)} ${error.stack}`)
      ]
      expect(written.length).toBeGreaterThan(10)
      for (const text of seen) expect(text).not.toContain(secret)
    }).pipe(Effect.scoped, Effect.provide(everywhere))
  })
  it.live.each([
    ["?key=SECRET", "SECRET"],
    ["?SECRETKEY", "SECRETKEY"],
    ["?user=me&key=se%2Fcr%2Bet", "se%2Fcr%2Bet"],
    ["?key=se%2Fcr%2Bet", "se/cr+et"],
    [`/${secret}`, secret]
  ])(
    "AU-13: nothing secret of an MCP address that ends in %s is in an error, though the server says %j",
    ([end, said]) =>
      Effect.gen(function* () {
        const server = yield* listening((_, response) => {
          response.writeHead(400)
          response.end(`not here: ${said}`)
        })
        const error = yield* Effect.flip(Mcp.tools({ url: `${server.url}/mcp${end}` }))
        expect(error.message).toContain("not here: [redacted]")
        expect(error.message).not.toContain(said)
      }).pipe(Effect.scoped)
  )

  it.live.each(
    (["http", "sse"] as const).flatMap((transport) =>
      [301, 302, 303, 307, 308, "endpoint" as const].map((answer) => [transport, answer] as const)
    )
  )("AU-04: nothing is sent where an MCP server (%s) points elsewhere (%s)", ([transport, answer]) =>
    Effect.gen(function* () {
      const reached: Array<string | undefined> = []
      const other = yield* listening((request, response) => {
        reached.push(request.url)
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end("event: endpoint\ndata: /messages\n\n")
      })
      const server = yield* listening((_, response) => {
        if (answer !== "endpoint") return response.writeHead(answer, { location: `${other.url}/?k=${secret}` }).end()
        response.writeHead(200, { "content-type": "text/event-stream" })
        return response.end(`event: endpoint\ndata: ${other.url}/messages\n\n`)
      })
      const target = { url: server.url, transport, headers: { authorization: apiKey } }
      const error = yield* Effect.flip(Mcp.tools({ ...target, connectTimeout: "5 seconds" }))
      expect(reached).toEqual([])
      expect(error.message).not.toContain(secret)
    }).pipe(Effect.scoped)
  )

  it("a value inside another goes with it, and a word is no secret", () => {
    const hide = hider(["abcdef", Redacted.make("abcdefgh"), "ab", "$&"])
    expect(hide("abcdefgh abcdef ab $&")).toBe("[redacted] [redacted] ab $&")
  })
})
