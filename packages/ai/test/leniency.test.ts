/** What is new or odd in a provider's response never loses the reply: NW-39 and its kind, for each provider. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as Loopback from "./support/Loopback.js"
import { providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Say hi." }] }

const ask = (name: string, answer: Loopback.Answer, asked: Partial<Request> = {}) =>
  Effect.gen(function* () {
    const provider = providers.find((candidate) => candidate.name === name)
    if (provider === undefined) return yield* Effect.dieMessage(name)
    const server = yield* Loopback.make(answer)
    return yield* Llm.pipe(
      Effect.flatMap((llm) => llm.complete({ ...request, ...asked })),
      Effect.provide(provider.layer(server.url, { maxRetries: 0 }))
    )
  })

const message = { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "hi" }] }
const response = { object: "response", status: "completed", model: "m", output: [message] }

const openAi: ReadonlyArray<readonly [string, object]> = [
  ["NW-39: an unknown tier", { ...response, service_tier: "ultra" }],
  [
    "NW-39: an annotation of unknown type",
    {
      ...response,
      output: [{ ...message, content: [{ type: "output_text", text: "hi", annotations: [{ type: "hologram" }] }] }]
    }
  ],
  ["NW-39: an unknown item beside the message", { ...response, output: [{ type: "dream", id: "d" }, message] }],
  [
    "an unknown part of the message",
    { ...response, output: [{ ...message, content: [...message.content, { type: "smell" }] }] }
  ],
  [
    "reasoning without a summary",
    { ...response, output: [{ type: "reasoning", id: "r", content: [{ type: "output_text", text: "hm" }] }, message] }
  ],
  [
    "LiteLLM: null where a number was expected",
    {
      ...response,
      usage: {
        input_tokens: 7,
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: null },
        input_tokens_details: null
      }
    }
  ],
  ["almost nothing", { status: "completed", output: [message] }],
  [
    "nulls everywhere",
    { ...response, error: null, incomplete_details: null, instructions: null, usage: null, tools: null, metadata: null }
  ]
]

const block = { type: "text", text: "hi" }
const reply = { type: "message", role: "assistant", model: "m", content: [block], stop_reason: "end_turn" }

const anthropic: ReadonlyArray<readonly [string, object]> = [
  ["an unknown block", { ...reply, content: [{ type: "hologram", data: 1 }, block] }],
  [
    "an unknown tier, null usage",
    { ...reply, usage: { input_tokens: 7, output_tokens: 3, service_tier: "ultra", cache_creation_input_tokens: null } }
  ],
  [
    "thinking with a null signature",
    { ...reply, content: [{ type: "thinking", thinking: "hm", signature: null }, block] }
  ],
  ["citations of an unknown kind", { ...reply, content: [{ ...block, citations: [{ type: "dream" }] }] }],
  ["no type, no role", { content: [block], stop_reason: "end_turn" }]
]

const google: ReadonlyArray<readonly [string, object]> = [
  [
    "an unknown modality and rating",
    {
      candidates: [
        { content: { parts: [{ text: "hi" }] }, finishReason: "STOP", safetyRatings: [{ category: "NEW" }] }
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokensDetails: [{ modality: "SMELL" }] }
    }
  ],
  [
    "an unknown part",
    { candidates: [{ content: { parts: [{ hologram: {} }, { text: "hi" }] }, finishReason: "STOP" }] }
  ],
  [
    "a thought part",
    { candidates: [{ content: { parts: [{ text: "hm", thought: true }, { text: "hi" }] }, finishReason: "STOP" }] }
  ],
  ["no role, no metadata", { candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }] }]
]

const compatible: ReadonlyArray<readonly [string, object]> = [
  [
    "annotations and audio of unknown kinds",
    { choices: [{ message: { content: "hi", annotations: [{ type: "x" }], audio: {} }, finish_reason: "stop" }] }
  ],
  [
    "an unknown part of the content",
    { choices: [{ message: { content: [{ type: "smell" }, { type: "text", text: "hi" }] }, finish_reason: "stop" }] }
  ],
  [
    "usage with nulls",
    {
      choices: [{ message: { content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: null, completion_tokens_details: null }
    }
  ]
]

describe.each([
  ["OpenAi", openAi],
  ["Anthropic", anthropic],
  ["Google", google],
  ["OpenAiCompatible", compatible]
] as const)("%s", (name, rows) => {
  it.scopedLive.each(rows)("%s", ([, body]) =>
    Effect.gen(function* () {
      expect(yield* ask(name, Loopback.json(body))).toMatchObject({ text: "hi", toolCalls: [], finishReason: "stop" })
      // The same where a stream was asked for: a gateway that does not stream.
      expect(yield* ask(name, Loopback.json(body), { onDelta: () => Effect.void })).toMatchObject({ text: "hi" })
    })
  )
})

describe("what ends a reply", () => {
  it.scopedLive("NW-10: Anthropic's full window is a cut", () =>
    Effect.gen(function* () {
      const body = {
        ...reply,
        content: [{ type: "text", text: "1. Fetch the li" }],
        stop_reason: "model_context_window_exceeded"
      }
      expect(yield* ask("Anthropic", Loopback.json(body))).toMatchObject({ finishReason: "length" })
    })
  )

  it.scopedLive("NW-08: a cut in any case and with any prefix", () =>
    Effect.gen(function* () {
      for (const word of ["MAX_TOKENS", "FinishReason.MAX_TOKENS", "Length", "max_output_tokens"]) {
        const body = { choices: [{ message: { content: "1. Fetch the list\n2. Delete the ol" }, finish_reason: word }] }
        expect(yield* ask("OpenAiCompatible", Loopback.json(body))).toMatchObject({ finishReason: "length" })
      }
    })
  )

  it.scopedLive("NW-12: Gemini's malformed call is kept as its word", () =>
    Effect.gen(function* () {
      const body = {
        candidates: [
          { content: { parts: [{ text: "Let me look that up." }] }, finishReason: "MALFORMED_FUNCTION_CALL" }
        ]
      }
      expect(yield* ask("Google", Loopback.json(body))).toMatchObject({
        finishReason: "other",
        rawFinishReason: "MALFORMED_FUNCTION_CALL",
        toolCalls: []
      })
    })
  )

  it.scopedLive("Groq's refusal of its own model's call is one too", () =>
    Effect.gen(function* () {
      const body = {
        error: {
          message: "Failed to call a function.",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: "<function=x"
        }
      }
      expect(yield* ask("OpenAiCompatible", Loopback.json(body, 400))).toMatchObject({
        text: "",
        rawFinishReason: "tool_use_failed"
      })
    })
  )

  it.scopedLive.each([
    ["OpenAiCompatible", { choices: [{ message: { content: "half" }, finish_reason: "error" }] }],
    [
      "OpenAiCompatible",
      { choices: [{ message: { content: "half" }, finish_reason: "insufficient_system_resource" }] }
    ],
    ["OpenAi", { ...response, status: "cancelled" }],
    ["OpenAi", { ...response, status: "in_progress" }],
    ["Google", { candidates: [{ content: { parts: [{ text: "half" }] }, finishReason: "OTHER" }] }]
  ] as const)("a reply that broke off is unavailable: %s %j", ([name, body]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ask(name, Loopback.json(body)))
      expect(error.reason).toMatchObject({ _tag: "Unavailable", isRetryable: true })
      expect(error.message).toContain("broke off")
    })
  )

  it.scopedLive("a refusal of OpenAI, whole and streamed", () =>
    Effect.gen(function* () {
      const refused = { ...response, output: [{ ...message, content: [{ type: "refusal", refusal: "I can't." }] }] }
      const streamed: Loopback.Answer = (served) => {
        served.writeHead(200, { "content-type": "text/event-stream" })
        for (const event of [
          { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
          { type: "response.refusal.delta", output_index: 0, delta: "I " },
          { type: "response.refusal.delta", output_index: 0, delta: "can't." },
          { type: "response.completed", response: { status: "completed" } }
        ]) {
          served.write(`data: ${JSON.stringify(event)}\n\n`)
        }
        served.end()
      }
      for (const answer of [Loopback.json(refused), streamed]) {
        const error = yield* Effect.flip(ask("OpenAi", answer, { onDelta: () => Effect.void }))
        expect(error.reason).toMatchObject({ _tag: "Refused", text: "I can't." })
      }
    })
  )

  it.scopedLive("a response that failed in the stream is what its code says", () =>
    Effect.gen(function* () {
      const failed =
        (error: object): Loopback.Answer =>
        (served) => {
          served.writeHead(200, { "content-type": "text/event-stream" })
          served.end(
            `data: ${JSON.stringify({ type: "response.failed", response: { id: "r", error, output: [], status: "failed" } })}\n\n`
          )
        }
      for (const [error, tag] of [
        [{ code: "rate_limit_exceeded", message: "slow" }, "RateLimited"],
        [{ code: "server_error", message: "boom" }, "Unavailable"],
        [{ code: "invalid_prompt", message: "no" }, "BadRequest"]
      ] as const) {
        const found = yield* Effect.flip(ask("OpenAi", failed(error), { onDelta: () => Effect.void }))
        expect(found.reason._tag).toBe(tag)
      }
    })
  )

  it.scopedLive("a prompt that Gemini blocked, whole and streamed", () =>
    Effect.gen(function* () {
      const body = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: {} }
      const streamed: Loopback.Answer = (served) => {
        served.writeHead(200, { "content-type": "text/event-stream" })
        served.end(`data: ${JSON.stringify(body)}\r\n\r\n`)
      }
      for (const answer of [Loopback.json(body), streamed]) {
        const error = yield* Effect.flip(ask("Google", answer, { onDelta: () => Effect.void }))
        expect(error).toMatchObject({
          reason: { _tag: "Refused" },
          detail: "the prompt was blocked: PROHIBITED_CONTENT"
        })
      }
    })
  )
})
