/** Streams of gateways that leave out, repeat or renumber what their protocol says, and still hold a whole reply. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as Loopback from "./support/Loopback.js"
import { providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

const stream =
  (events: ReadonlyArray<object>): Loopback.Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(
      [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("")
    )
  }

const call = { type: "function_call", call_id: "c", name: "f", arguments: "" }
const done = { type: "response.completed", response: { status: "completed", output: [] } }
const added = (item: object, index = 0) => ({ type: "response.output_item.added", output_index: index, item })
const chunk = (choice: object) => ({ choices: [{ index: 0, delta: {}, ...choice }] })
const block = (event: object) => ({ index: 0, ...event })

const rows: ReadonlyArray<readonly [string, string, ReadonlyArray<object>, object]> = [
  [
    "OpenAi",
    "arguments at the end alone",
    [added(call), { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' }, done],
    { toolCalls: [{ name: "f", arguments: '{"a":1}' }] }
  ],
  [
    "OpenAi",
    "text at the end alone",
    [added({ type: "message" }), { type: "response.output_text.done", output_index: 0, text: "hi" }, done],
    { text: "hi" }
  ],
  [
    "OpenAi",
    "text in pieces and at the end",
    [
      added({ type: "message" }),
      { type: "response.output_text.delta", output_index: 0, delta: "hi" },
      { type: "response.output_text.done", output_index: 0, text: "hi" },
      done
    ],
    { text: "hi" }
  ],
  [
    "OpenAi",
    "all items under one index",
    [
      added({ type: "reasoning", summary: [] }),
      { type: "response.output_item.done", output_index: 0, item: { type: "reasoning", summary: [] } },
      added({ type: "message" }),
      { type: "response.output_text.delta", output_index: 0, delta: "hi" },
      added(call),
      { type: "response.function_call_arguments.delta", output_index: 0, delta: "{}" },
      done
    ],
    { text: "hi", toolCalls: [{ name: "f", arguments: "{}" }] }
  ],
  [
    "OpenAiCompatible",
    "a call in the form before tools",
    [
      chunk({ delta: { function_call: { name: "f", arguments: "" } } }),
      chunk({ delta: { function_call: { arguments: '{"a":1}' } } }),
      chunk({ finish_reason: "function_call" })
    ],
    { toolCalls: [{ name: "f", arguments: '{"a":1}' }], finishReason: "tool-calls" }
  ],
  [
    "OpenAiCompatible",
    "text in a second choice, and its end",
    [chunk({}), chunk({ index: 1, delta: { content: "hi" }, finish_reason: "stop" })],
    { text: "hi", finishReason: "stop" }
  ],
  [
    "OpenAiCompatible",
    "the whole message once more at the end",
    [chunk({ delta: { content: "hi" } }), { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }],
    { text: "hi" }
  ],
  [
    "OpenAiCompatible",
    "a cut that only the gateway's provider names",
    [chunk({ delta: { content: "1. a" }, finish_reason: "stop", native_finish_reason: "MAX_TOKENS" })],
    { finishReason: "length" }
  ],
  [
    "Anthropic",
    "input as an object, and a block that nobody knows",
    [
      { type: "message_start", message: {} },
      block({ type: "content_block_start", content_block: { type: "odd" } }),
      block({ type: "content_block_delta", delta: { type: "odd_delta", text: "no" } }),
      { ...block({ type: "content_block_start", content_block: { type: "tool_use", id: "t", name: "f" } }), index: 1 },
      { ...block({ type: "content_block_delta", delta: { partial_json: { a: 1 } } }), index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" }
    ],
    { text: "", toolCalls: [{ name: "f", arguments: '{"a":1}' }] }
  ]
]

describe("a stream with", () => {
  it.scopedLive.each(rows)("%s: %s", ([name, , events, expected]) =>
    Effect.gen(function* () {
      const provider = providers.find((one) => one.name === name)
      if (provider === undefined) return yield* Effect.dieMessage(name)
      const server = yield* Loopback.make(stream(events))
      const told: Array<string> = []
      const onDelta = (text: string) => Effect.sync(() => told.push(text))
      const reply = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete({ ...request, onDelta })),
        Effect.provide(provider.layer(server.url, { maxRetries: 0 }))
      )
      expect(reply).toMatchObject(expected)
      expect(told.join("")).toBe(reply.text)
    })
  )
})
