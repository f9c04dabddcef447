import { PassThrough } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import * as McpServer from "@forethought/tools/McpServer"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"

class Greeting extends Context.Tag("Greeting")<Greeting, string>() {}

const offers = (interrupted: () => void): ReadonlyArray<McpServer.Offer<Greeting>> => [
  {
    name: "greet",
    description: "Greets.",
    readOnly: true,
    run: (input) => Effect.map(Greeting, (greeting) => `${greeting} ${input}`)
  },
  { name: "fails", description: "Fails.", run: () => Effect.fail(new Error("no answer could be read")) },
  { name: "dies", description: "Dies.", run: () => Effect.die(new Error("a bug")) },
  { name: "never", description: "Hangs.", run: () => Effect.onInterrupt(Effect.never, () => Effect.sync(interrupted)) }
]

const connected = (interrupted: () => void = () => {}) =>
  Effect.gen(function* () {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = yield* Effect.fork(
      McpServer.serve(offers(interrupted), theirs).pipe(Effect.provideService(Greeting, "Hello"))
    )
    const client = new Client({ name: "test", version: "1" })
    yield* Effect.promise(() => client.connect(ours))
    const call = (name: string, given: Record<string, unknown> = {}, options = {}) =>
      Effect.promise((signal) => client.callTool({ name, arguments: given }, undefined, { signal, ...options }))
    return { call, client, server }
  })
const said = (text: string, isError = true) =>
  isError ? { content: [{ type: "text", text }], isError } : { content: [{ type: "text", text }] }

describe("McpServer", () => {
  it.live("offers each as a tool that takes one text", () =>
    Effect.gen(function* () {
      const { call, client } = yield* connected()
      const { tools } = yield* Effect.promise(() => client.listTools())
      expect(tools.map(({ name }) => name)).toEqual(["greet", "fails", "dies", "never"])
      expect(tools[0]).toMatchObject({
        description: "Greets.",
        annotations: { readOnlyHint: true },
        inputSchema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] }
      })
      expect(yield* call("greet", { input: "world" })).toEqual(said("Hello world", false))
    })
  )
  const bad: ReadonlyArray<readonly [name: string, given: Record<string, unknown>, text: string]> = [
    ["fails", { input: "" }, "no answer could be read"],
    ["dies", { input: "" }, "a bug"],
    ["greet", {}, 'The arguments must be {"input": "<text>"}.'],
    ["greet", { input: 3 }, 'The arguments must be {"input": "<text>"}.'],
    ["other", { input: "" }, 'There is no tool "other".']
  ]
  it.live.each(bad)("%s given %j is an error result, and the server goes on", ([name, given, text]) =>
    Effect.gen(function* () {
      const { call } = yield* connected()
      expect(yield* call(name, given)).toEqual(said(text))
      expect(yield* call("greet", { input: "again" })).toEqual(said("Hello again", false))
    })
  )
  it.live("a cancelled call is interrupted; so is what runs when the client goes, and serving ends", () =>
    Effect.gen(function* () {
      const twice = yield* Deferred.make<void>()
      let interrupted = 0
      const { call, client, server } = yield* connected(() => {
        interrupted++
        if (interrupted === 2) Deferred.unsafeDone(twice, Effect.void)
      })
      const first = yield* Effect.fork(call("never", { input: "" }))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(first)
      yield* Effect.sleep("50 millis")
      expect(interrupted).toBe(1)
      yield* Effect.fork(Effect.ignore(call("never", { input: "" })))
      yield* Effect.sleep("50 millis")
      yield* Effect.promise(() => client.close())
      yield* Deferred.await(twice)
      yield* Fiber.join(server)
    })
  )
  it.effect("gives signs of life to a client that asks for progress", () =>
    Effect.gen(function* () {
      const { call } = yield* connected()
      const heard: Array<number> = []
      const onprogress = ({ progress }: { progress: number }) => void heard.push(progress)
      const fiber = yield* Effect.fork(call("never", { input: "" }, { onprogress }))
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("30 seconds")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      expect(heard).toEqual([1, 2, 3])
      yield* Fiber.interrupt(fiber)
    })
  )
  it.live("stdio ends with its input, and writes nothing but the protocol", () =>
    Effect.gen(function* () {
      const stdin = new PassThrough()
      const stdout = new PassThrough()
      const server = yield* Effect.fork(
        McpServer.stdio(
          offers(() => {}),
          { name: "ours", version: "9", stdin, stdout }
        ).pipe(Effect.provideService(Greeting, "Hi"))
      )
      const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      send({
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } }
      })
      send({ method: "notifications/initialized" })
      send({ id: 2, method: "tools/call", params: { name: "greet", arguments: { input: "you" } } })
      yield* Effect.sleep("100 millis")
      stdin.end()
      yield* Fiber.join(server)
      const replies: ReadonlyArray<{ id: number; result: Record<string, unknown> }> = String(stdout.read())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(replies.map(({ id }) => id)).toEqual([1, 2])
      expect(replies[0]?.result["serverInfo"]).toEqual({ name: "ours", version: "9" })
      expect(replies[1]?.result).toEqual(said("Hi you", false))
    })
  )
})
