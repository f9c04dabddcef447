/** Replies of the providers behind `@effect/ai`, watched as they arrive. */
import * as AiModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import * as LanguageModel from "../src/LanguageModel.js"
import * as Loopback from "./support/Loopback.js"
import { request } from "./support/models.js"
import { providers } from "./support/providers.js"

const watching = () => {
  const told: Array<string> = []
  return { told, onDelta: (text: string) => Effect.sync(() => told.push(text)) }
}

const finish: Response.StreamPartEncoded = {
  type: "finish",
  reason: "stop",
  usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
}

const text = (...deltas: ReadonlyArray<string>): ReadonlyArray<Response.StreamPartEncoded> => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
  { type: "text-end", id: "t" }
]

const ask = (parts: ReadonlyArray<Response.StreamPartEncoded>, asked: Partial<Request>) =>
  Llm.pipe(
    Effect.flatMap((llm) => llm.complete(request(asked))),
    Effect.provide(
      Layer.provide(
        LanguageModel.layer({ maxRetries: 0 }),
        Layer.effect(
          AiModel.LanguageModel,
          AiModel.make({
            generateText: () =>
              Effect.succeed<Array<Response.PartEncoded>>([
                { type: "text", text: "whole" },
                { type: "finish", reason: "stop", usage: finish.usage }
              ]),
            streamText: () => Stream.fromIterable(parts)
          })
        )
      )
    )
  )

describe("a LanguageModel", () => {
  it.effect("is streamed, and the reply is the same", () =>
    Effect.gen(function* () {
      const { onDelta, told } = watching()
      const parts: ReadonlyArray<Response.StreamPartEncoded> = [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "reasoning-end", id: "r" },
        ...text("One, ", "two."),
        { type: "tool-call", id: "c", name: "Search", params: { input: "x" } },
        finish
      ]
      const tools = [{ name: "Search", description: "Searches.", parameters: { type: "object" } }]
      expect(yield* ask(parts, { onDelta, tools })).toMatchObject({
        text: "One, two.",
        reasoning: "Hm.",
        finishReason: "stop",
        toolCalls: [{ id: "c", name: "Search", arguments: '{"input":"x"}' }],
        usage: { inputTokens: 7, outputTokens: 3 }
      })
      expect(told).toEqual(["One, ", "two."])
    })
  )

  it.effect("comes in one piece with a format, and where a part of the stream cannot be read", () =>
    Effect.gen(function* () {
      const formatted = watching()
      const format = { name: "f", schema: { type: "object" } }
      expect(yield* ask([], { ...formatted, format })).toMatchObject({ text: "whole" })
      expect(formatted.told).toEqual(["whole"])
      const unknown = watching()
      const parts: ReadonlyArray<Response.StreamPartEncoded> = [
        { type: "tool-call", id: "c", name: "no_such_tool", params: {} },
        finish
      ]
      expect(yield* ask(parts, { ...unknown })).toMatchObject({ text: "whole" })
    })
  )

  it.effect("a stream that ends early or reports an error is no shorter reply", () =>
    Effect.gen(function* () {
      const { onDelta } = watching()
      for (const parts of [text("One"), [...text("One"), { type: "error" as const, error: "overloaded" }]]) {
        expect(yield* Effect.flip(ask(parts, { onDelta }))).toMatchObject({ reason: { _tag: "Unavailable" } })
      }
    })
  )
})

const events =
  (all: ReadonlyArray<object>, named = true): Loopback.Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of all) {
      response.write(`${named && "type" in event ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }

const anthropic = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-20250514",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      container: null,
      context_management: null,
      usage: {
        input_tokens: 7,
        cache_creation: null,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 1,
        server_tool_use: null,
        service_tier: "standard"
      }
    }
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "One, " } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "two." } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    context_management: null,
    delta: { stop_reason: "end_turn", stop_sequence: null, container: null },
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 3,
      server_tool_use: null
    }
  },
  { type: "message_stop" }
]

const google = ["One, ", "two."].map((text, index) => ({
  candidates: [
    { content: { role: "model", parts: [{ text }] }, ...(index === 1 ? { finishReason: "STOP" } : {}), index: 0 }
  ],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  modelVersion: "gemini-2.5-flash",
  responseId: "r1"
}))

const openAiReply = (name: string) => {
  const provider = providers.find((candidate) => candidate.name === name)
  if (provider === undefined) throw new Error(name)
  return provider
}

const part = { item_id: "msg_1", output_index: 0, content_index: 0 }
const message = { type: "message", id: "msg_1", role: "assistant" }
const openAi = [
  {
    type: "response.created",
    sequence_number: 0,
    response: { ...openAiReply("OpenAi").reply({}), status: "in_progress", usage: null }
  },
  {
    type: "response.output_item.added",
    sequence_number: 1,
    output_index: 0,
    item: { ...message, status: "in_progress", content: [] }
  },
  { type: "response.output_text.delta", sequence_number: 2, ...part, delta: "One, ", logprobs: [] },
  { type: "response.output_text.delta", sequence_number: 3, ...part, delta: "two.", logprobs: [] },
  {
    type: "response.output_item.done",
    sequence_number: 4,
    output_index: 0,
    item: {
      ...message,
      status: "completed",
      content: [{ type: "output_text", text: "One, two.", annotations: [], logprobs: [] }]
    }
  },
  { type: "response.completed", sequence_number: 5, response: openAiReply("OpenAi").reply({ text: "One, two." }) }
]

describe.each([
  ["OpenAi", events(openAi)],
  ["Anthropic", events(anthropic)],
  ["Google", events(google, false)]
] as const)("%s", (name, answer) => {
  it.scopedLive("streams what its server streams", () =>
    Effect.gen(function* () {
      const { onDelta, told } = watching()
      const server = yield* Loopback.make(answer)
      const reply = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request({ onDelta }))),
        Effect.provide(openAiReply(name).layer(server.url, { maxRetries: 0, timeout: "2 seconds" }))
      )
      expect(reply).toMatchObject({
        text: "One, two.",
        finishReason: "stop",
        usage: { inputTokens: 7, outputTokens: 3 }
      })
      expect(told).toEqual(["One, ", "two."])
    })
  )

  it.scopedLive("interruption in the middle of a stream closes the socket", () =>
    Effect.gen(function* () {
      const { onDelta } = watching()
      const server = yield* Loopback.make((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(": keep-alive\n\n")
      })
      const fiber = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request({ onDelta }))),
        Effect.provide(openAiReply(name).layer(server.url, { maxRetries: 0 })),
        Effect.fork
      )
      yield* server.arrived
      yield* Effect.sleep("20 millis")
      yield* fiber.interruptAsFork(fiber.id())
      yield* Effect.timeout(server.closed, "1 second")
    })
  )

  it.scopedLive("a failure before the stream is told as it is", () =>
    Effect.gen(function* () {
      const { onDelta } = watching()
      const server = yield* Loopback.make(
        Loopback.json(openAiReply(name).error(429, "slow down"), 429, { "retry-after": "7" })
      )
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request({ onDelta }))),
        Effect.provide(openAiReply(name).layer(server.url, { maxRetries: 0, timeout: "2 seconds" })),
        Effect.flip
      )
      expect(error).toMatchObject({ reason: { _tag: "RateLimited", retryAfter: 7000 } })
    })
  )
})
