/** What every provider must do, checked against a loopback server that speaks its API. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as Loopback from "./support/Loopback.js"
import { key, type Options, type Provider, providers } from "./support/providers.js"

const request: Request = {
  role: "executor",
  call: "step-1/executor/turn-1",
  messages: [
    { role: "system", content: "You work." },
    { role: "user", content: "Work." }
  ]
}

const search = {
  name: "Search",
  description: "Searches.",
  parameters: {
    type: "object",
    properties: { input: { type: "string" }, depth: { $ref: "#/$defs/Depth" } },
    required: ["input"],
    additionalProperties: false,
    $defs: { Depth: { type: "integer" } }
  }
}

const ask = (
  provider: Provider,
  server: Pick<Loopback.Loopback, "url">,
  asked: Partial<Request> = {},
  options: Options = {}
) =>
  Llm.pipe(
    Effect.flatMap((llm) => llm.complete({ ...request, ...asked })),
    Effect.provide(provider.layer(server.url, { maxRetries: 0, timeout: "2 seconds", ...options }))
  )

/** Asks once, and gives the reply with the request as the server saw it. */
const once = (provider: Provider, turn: Parameters<Provider["reply"]>[0], asked: Partial<Request> = {}) =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(Loopback.json(provider.reply(turn)))
    const reply = yield* ask(provider, server, asked)
    return { reply, sent: provider.read(server.received[0]?.body ?? {}), received: server.received }
  })

describe.each(providers)("$name", (provider) => {
  const failed = (answer: Loopback.Answer, options: Options = {}) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(answer)
      const error = yield* Effect.flip(ask(provider, server, {}, options))
      expect(error).toMatchObject({ _tag: "LlmError", role: "executor", call: "step-1/executor/turn-1" })
      return { error, attempts: server.received.length, server }
    })

  it.scopedLive("text, usage, finish reason and model; the system prompt and the key arrive", () =>
    Effect.gen(function* () {
      const { received, reply, sent } = yield* once(provider, { text: "Done." })
      expect(reply).toMatchObject({
        text: "Done.",
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 7, outputTokens: 3 }
      })
      expect(reply.model).toBeTypeOf("string")
      expect(sent.system).toBe("You work.")
      expect(received.map(provider.keyOf)).toEqual([key])
    })
  )

  it.scopedLive("a reply that the token limit cut", () =>
    Effect.gen(function* () {
      const { reply } = yield* once(provider, { text: "1. Look", cut: true })
      expect(reply).toMatchObject({ text: "1. Look", finishReason: "length" })
    })
  )

  it.scopedLive("the token limit, the temperature and the stop sequences arrive", () =>
    Effect.gen(function* () {
      const { sent } = yield* once(provider, { text: "x" }, { maxTokens: 64, temperature: 0.5, stop: ["END"] })
      expect(sent).toMatchObject({ maxTokens: 64, temperature: 0.5 })
      if (provider.name !== "OpenAi") expect(sent.stop).toEqual(["END"])
    })
  )

  it.scopedLive("tools are offered, and calls come back with their arguments as text", () =>
    Effect.gen(function* () {
      const calls = [
        { name: "Search", input: { input: "Oslo" } },
        { name: "Search", input: { query: 1 } },
        { name: "search_web", input: {} }
      ]
      const { reply, sent } = yield* once(provider, { text: "So.", calls }, { tools: [search] })
      expect(sent.tools).toEqual([["Search", "object"]])
      expect(reply).toMatchObject({ text: "So.", finishReason: "tool-calls", usage: { inputTokens: 7 } })
      expect(reply.toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual(
        calls.map(({ input, name }) => [name, input])
      )
      expect(new Set(reply.toolCalls.map(({ id }) => id)).size).toBe(3)
    })
  )

  it.scopedLive("tool results arrive, matched to their calls", () =>
    Effect.gen(function* () {
      const { sent } = yield* once(
        provider,
        { text: "x" },
        {
          tools: [search],
          messages: [
            ...request.messages,
            {
              role: "assistant",
              content: "",
              toolCalls: [
                { id: "c1", name: "Search", arguments: '{"input":"a"}' },
                { id: "c2", name: "Search", arguments: "{oops" }
              ]
            },
            { role: "tool", content: "found", toolCallId: "c1", name: "Search" },
            { role: "tool", content: "not JSON", toolCallId: "c2", name: "Search" }
          ]
        }
      )
      expect(sent.results.map(([id]) => id)).toEqual(["c1", "c2"])
      expect(String(sent.results[0]?.[1])).toContain("found")
      expect(String(sent.results[1]?.[1])).toContain("not JSON")
    })
  )

  const format = {
    name: "route",
    schema: {
      type: "object",
      properties: { pattern: { type: "string", enum: ["react"] } },
      required: ["pattern"],
      additionalProperties: false
    }
  }

  it.scopedLive("a format is sent, and the reply is text with and without it", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider.formatted("route", { pattern: "react" })))
      const reply = yield* ask(provider, server, { format })
      expect(reply).toMatchObject({ toolCalls: [], finishReason: "stop", usage: { inputTokens: 7, outputTokens: 3 } })
      expect(JSON.parse(reply.text)).toEqual({ pattern: "react" })
      expect(provider.read(server.received[0]?.body ?? {}).format).toEqual(format.schema)
    })
  )

  it.scopedLive("a formatted reply that the token limit cut is no whole one", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider.formatted("route", { pattern: "re" }, true)))
      expect(yield* ask(provider, server, { format })).toMatchObject({ toolCalls: [], finishReason: "length" })
    })
  )

  it.scopedLive("no format beside tools, and none where that is off", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider.reply({ text: "x" })))
      yield* ask(provider, server, { format, tools: [search] })
      yield* ask(provider, server, { format }, { structured: "off" })
      expect(server.received.map(({ body }) => provider.read(body).format)).toEqual([undefined, undefined])
    })
  )

  it.scopedLive("a server that refuses a format is asked again once without it, and that is remembered", () =>
    Effect.gen(function* () {
      const refusal = Loopback.json(provider.error(400, provider.refusal), 400)
      const server = yield* Loopback.make(refusal, Loopback.json(provider.reply({ text: "{}" })))
      const replies = yield* Llm.pipe(
        Effect.flatMap((llm) => Effect.replicateEffect(llm.complete({ ...request, format }), 2)),
        Effect.provide(provider.layer(server.url, { maxRetries: 0 }))
      )
      expect(replies.map(({ text }) => text)).toEqual(["{}", "{}"])
      const sent = server.received.map(({ body }) => provider.read(body).format !== undefined)
      expect(sent).toEqual([true, false, false])
    })
  )

  it.scopedLive("another fault of a request with a format is told as it is", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider.error(400, "the model m does not exist"), 400))
      const error = yield* Effect.flip(ask(provider, server, { format }))
      expect(error).toMatchObject({ reason: { _tag: "BadRequest", status: 400 } })
      expect(server.received).toHaveLength(1)
    })
  )

  it.scopedLive.each([
    [401, { _tag: "Unauthorized" }],
    [429, { _tag: "RateLimited", retryAfter: 7000 }],
    [500, { _tag: "Unavailable", status: 500 }],
    [503, { _tag: "Unavailable", status: 503, retryAfter: 7000 }],
    [404, { _tag: "BadRequest", status: 404 }]
  ] as const)("HTTP %d, whatever the body is", ([status, reason]) =>
    Effect.gen(function* () {
      const message = `what is wrong with ${key}`
      const headers = status === 429 || status === 503 ? { "retry-after": "7" } : {}
      const own = yield* failed(Loopback.json(provider.error(status, message), status, headers))
      expect(own.error.reason).toMatchObject(reason)
      expect(own.error.detail).toContain("what is wrong")
      expect(JSON.stringify(own.error) + own.error.message).not.toContain(key)
      const foreign = yield* failed(Loopback.json({ odd: true }, status, headers))
      expect(foreign.error.reason).toMatchObject(reason)
      const html = yield* failed(Loopback.text("<html>", status, "text/html"))
      expect(html.error.reason._tag).toBe(reason._tag)
    })
  )

  it.scopedLive("a full context", () =>
    Effect.gen(function* () {
      const message = "prompt is too long: 210000 tokens > 200000 maximum"
      const { attempts, error } = yield* failed(Loopback.json(provider.error(400, message), 400), { maxRetries: 2 })
      expect(error.reason._tag).toBe("ContextOverflow")
      expect(attempts).toBe(1)
    })
  )

  it.scopedLive("retries are made in one place: 1 + maxRetries requests", () =>
    Effect.gen(function* () {
      const answer = Loopback.json(provider.error(503, "overloaded"), 503)
      const { attempts } = yield* failed(answer, { maxRetries: 2, maxRetryDelay: "2 millis" })
      expect(attempts).toBe(3)
    })
  )

  it.scopedLive.each([
    ["an empty body", Loopback.text("", 200, "application/json"), "Unavailable"],
    ["a connection that is cut", Loopback.cut(provider.reply({ text: "x" })), "Unavailable"],
    ["a connection that is dropped", Loopback.reset, "Unavailable"],
    ["an HTML page", Loopback.text("<html>", 200, "text/html"), "Unreadable"],
    ["JSON of another kind", Loopback.json({ hello: "world" }), "Unreadable"]
  ] as const)("%s", ([, answer, tag]) =>
    Effect.gen(function* () {
      const { error } = yield* failed(answer)
      expect(error.reason._tag).toBe(tag)
    })
  )

  it.live("nothing listens", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ask(provider, { url: yield* Loopback.refusing }))
      expect(error.reason._tag).toBe("Unavailable")
    })
  )

  it.scopedLive("a server that hangs: times out, and the socket is closed", () =>
    Effect.gen(function* () {
      const { error, server } = yield* failed(Loopback.hang, { timeout: "60 millis" })
      expect(error.reason).toMatchObject({ _tag: "TimedOut", after: 60 })
      yield* server.closed
    })
  )

  it.scopedLive("interruption closes the socket within 50 ms", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.hang)
      const fiber = yield* Effect.fork(ask(provider, server, {}, { maxRetries: 2 }))
      yield* server.arrived
      yield* Effect.sleep("10 millis")
      const start = performance.now()
      yield* fiber.interruptAsFork(fiber.id())
      yield* server.closed
      expect(performance.now() - start).toBeLessThan(50)
      yield* fiber.await
      expect(server.received).toHaveLength(1)
    })
  )
})

const byName = (name: string) => providers.filter((provider) => provider.name === name)

describe.each(byName("OpenAi"))("$name alone", (provider) => {
  it.scopedLive.each([
    ["server_error", { _tag: "Unavailable", status: 500 }],
    ["rate_limit_exceeded", { _tag: "RateLimited" }],
    ["invalid_prompt", { _tag: "BadRequest" }]
  ] as const)("a response that failed half-way: %s", ([code, reason]) =>
    Effect.gen(function* () {
      const body = { ...provider.reply({}), status: "failed", error: { code, message: "What went wrong." } }
      const server = yield* Loopback.make(Loopback.json(body))
      const error = yield* Effect.flip(ask(provider, server))
      expect(error).toMatchObject({ reason, detail: "What went wrong." })
    })
  )
})

describe.each(byName("Google"))("$name alone", (provider) => {
  it.scopedLive("a prompt that the filter blocked", () =>
    Effect.gen(function* () {
      const body = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 7 } }
      const server = yield* Loopback.make(Loopback.json(body))
      const error = yield* Effect.flip(ask(provider, server))
      expect(error).toMatchObject({ reason: { _tag: "Refused" }, detail: "the prompt was blocked: SAFETY" })
    })
  )
})
