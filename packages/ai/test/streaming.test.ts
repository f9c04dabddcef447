import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as Wire from "./support/chatWire.js"
import * as Loopback from "./support/Loopback.js"

const request: Request = { role: "solver", call: "solver", messages: [{ role: "user", content: "Solve." }] }

const ask = (url: string, options: Partial<OpenAiCompatible.Options> = {}) =>
  Effect.gen(function* () {
    const deltas: Array<string> = []
    const onDelta = (text: string) => Effect.sync(() => void deltas.push(text))
    const result = yield* Llm.pipe(
      Effect.flatMap((llm) => llm.complete({ ...request, onDelta })),
      Effect.provide(
        OpenAiCompatible.layerFetch({
          baseUrl: url,
          model: "m",
          maxRetries: 0,
          timeout: "2 seconds",
          ...options
        })
      ),
      Effect.either
    )
    return { deltas, result }
  })

const chunk = (delta: object, rest: object = {}, finish_reason: string | null = null) => ({
  id: "c",
  object: "chat.completion.chunk",
  model: "m-1",
  choices: [{ index: 0, delta, finish_reason }],
  ...rest
})

const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }]
})

const usage = { choices: [], model: "m-1", usage: { prompt_tokens: 7, completion_tokens: 3 } }

/** Sends the events in pieces that end anywhere, in the middle of a character too. */
const events =
  (
    chunks: ReadonlyArray<object>,
    options: { readonly done?: boolean; readonly newline?: string } = {}
  ): Loopback.Answer =>
  (response) => {
    const newline = options.newline ?? "\n"
    const lines = chunks.map((event) => `data: ${JSON.stringify(event)}${newline}${newline}`)
    if (options.done !== false) lines.push(`data: [DONE]${newline}${newline}`)
    const bytes = Buffer.from(`: keep-alive${newline}${newline}${lines.join("")}`, "utf8")
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
    const size = 7
    const send = (at: number): void => {
      if (at >= bytes.length) response.end()
      else response.write(bytes.subarray(at, at + size), () => send(at + size))
    }
    send(0)
  }

const whole = [chunk({ role: "assistant", content: "" }), chunk({ content: "Ærl" }), chunk({ content: "ig…" })]
const stop = chunk({}, {}, "stop")

describe("streaming", () => {
  it.scopedLive.each(["\n", "\r\n"])("shows the pieces as they arrive and gives the whole reply (%j)", (newline) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(
        events([chunk({ reasoning_content: "Hm." }), ...whole, stop, usage], { newline })
      )
      const { deltas, result } = yield* ask(server.url)
      expect(deltas).toEqual(["Ærl", "ig…"])
      expect(result).toMatchObject({
        right: {
          text: "Ærlig…",
          reasoning: "Hm.",
          toolCalls: [],
          finishReason: "stop",
          usage: { inputTokens: 7, outputTokens: 3 },
          model: "m-1"
        }
      })
      expect(server.received[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    })
  )

  it.scopedLive.each([
    [
      "pieces that share an index (OpenAI, vLLM, llama.cpp)",
      [
        call(0, "a", "Search", ""),
        call(0, undefined, undefined, '{"in'),
        call(0, undefined, undefined, 'put":"x"}'),
        call(1, "b", "Add", "{}")
      ]
    ],
    ["whole calls that are all numbered 0", [call(0, "a", "Search", '{"input":"x"}'), call(0, "b", "Add", "{}")]],
    ["whole calls without numbers", [call(undefined, "a", "Search", { input: "x" }), call(undefined, "b", "Add", {})]]
  ] as const)("tool calls: %s", ([, deltas]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(events([...deltas.map((delta) => chunk(delta)), chunk({}, {}, "tool_calls")]))
      const { result } = yield* ask(server.url)
      expect(result).toMatchObject({
        right: {
          finishReason: "tool-calls",
          toolCalls: [
            { id: "a", name: "Search", arguments: '{"input":"x"}' },
            { id: "b", name: "Add", arguments: "{}" }
          ]
        }
      })
    })
  )

  it.scopedLive("a server that does not stream is shown as one piece", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(Wire.ollama({ content: "All.", reasoning: "Hm." })))
      const { deltas } = yield* ask(server.url)
      expect(deltas).toEqual(["All."])
    })
  )

  it.scopedLive("a stream that ends early is no shorter reply: it is asked again, and the watcher is told", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(events(whole, { done: false }), events([...whole, stop]))
      const { deltas, result } = yield* ask(server.url, { maxRetries: 1, maxRetryDelay: "1 millis" })
      expect(deltas).toEqual(["Ærl", "ig…", "Ærl", "ig…"])
      expect(result).toMatchObject({ right: { text: "Ærlig…" } })
    })
  )

  it.scopedLive.each([
    ["ends early", events(whole, { done: false }), { _tag: "Unavailable" }],
    ["breaks", Loopback.cut({}), { _tag: "Unavailable" }],
    ["reports an error", events([...whole, { error: { code: 429, message: "slow down" } }]), { _tag: "RateLimited" }],
    ["refuses", events([chunk({ refusal: "I can't." }), stop]), { _tag: "Refused", text: "I can't." }],
    ["never begins", Loopback.json(Wire.openAiError("no", "e", "invalid_api_key"), 401), { _tag: "Unauthorized" }]
  ] as const)("a stream that %s", ([, answer, reason]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(answer)
      expect((yield* ask(server.url)).result).toMatchObject({ left: { reason, role: "solver", call: "solver" } })
    })
  )

  it.scopedLive("a server that refuses stream_options is asked without it", () =>
    Effect.gen(function* () {
      const refusal = Wire.openAiError("Unknown field: stream_options", "invalid_request_error", null)
      const server = yield* Loopback.make(Loopback.json(refusal, 400), events([...whole, stop]))
      expect((yield* ask(server.url)).result).toMatchObject({ right: { text: "Ærlig…" } })
      expect(server.received.map(({ body }) => "stream_options" in body)).toEqual([true, false])
    })
  )

  it.scopedLive(
    "interruption in the middle of a stream closes the socket within 50 ms",
    () =>
      Effect.gen(function* () {
        const server = yield* Loopback.make((response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(`data: ${JSON.stringify(chunk({ content: "x" }))}\n\n`)
        })
        const fiber = yield* Effect.fork(ask(server.url))
        yield* server.arrived
        yield* Effect.sleep("20 millis")
        const start = performance.now()
        yield* fiber.interruptAsFork(fiber.id())
        yield* server.closed
        expect(performance.now() - start).toBeLessThan(50)
      }),
    // A busy machine can be late by itself.
    { retry: 3 }
  )
})
