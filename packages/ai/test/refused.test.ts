/** Fields that a server refuses: asked again without them or in their other form, once, and remembered. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as Wire from "./support/chatWire.js"
import * as Loopback from "./support/Loopback.js"
import { type Provider, providers } from "./support/providers.js"

const request: Request = {
  role: "planner",
  call: "planner",
  messages: [
    { role: "system", content: "You plan." },
    { role: "user", content: "Plan. Reply in JSON." }
  ],
  maxTokens: 100,
  temperature: 0.5,
  stop: ["END"],
  format: { name: "plan", schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } }
}

type Body = Loopback.Received["body"]

/** A server that refuses as long as `refuses` says so, and answers a client that it understands. */
const picky =
  (refuses: (body: Body) => boolean, refusal: Loopback.Answer, received: ReadonlyArray<Loopback.Received>[]) =>
  (response: Parameters<Loopback.Answer>[0], asked: Parameters<Loopback.Answer>[1]) => {
    const last = received[0]?.at(-1)
    const answer =
      last !== undefined && refuses(last.body) ? refusal : Loopback.json(Wire.openAi({ content: "fine END of it" }))
    answer(response, asked)
  }

/** Asks twice, and gives what was sent. */
const twice = (refuses: (body: Body) => boolean, refusal: Loopback.Answer, asked: Partial<Request> = {}) =>
  Effect.gen(function* () {
    const received: Array<ReadonlyArray<Loopback.Received>> = []
    const server = yield* Loopback.make(picky(refuses, refusal, received))
    received.push(server.received)
    const llm = yield* Effect.provide(
      Llm,
      OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })
    )
    const replies = [yield* llm.complete({ ...request, ...asked }), yield* llm.complete({ ...request, ...asked })]
    return { replies, sent: server.received.map(({ body }) => body) }
  })

const openAi = (message: string, param: string | null = null, code: string | null = null, status = 400) =>
  Loopback.json(Wire.openAiError(message, "invalid_request_error", code, param), status)

const has = (field: string) => (body: Body) => field in body
const systemIn = (body: Body) => JSON.stringify(body["messages"]).includes('"system"')

const rows: ReadonlyArray<readonly [string, (body: Body) => boolean, Loopback.Answer]> = [
  [
    "NW-26: stop, OpenAI's reasoning models",
    has("stop"),
    openAi("Unsupported parameter: 'stop' is not supported with this model.", "stop", "unsupported_parameter")
  ],
  ["NW-26: stop, xAI", has("stop"), openAi("Argument not supported on this model: stop")],
  ["NW-26: stop, a sentence", has("stop"), openAi('This model does not support parameter "stop".', null, null, 422)],
  ["NW-26: stop, Vertex", has("stop"), openAi("the model does not support the stopSequences parameter")],
  [
    "NW-26: stop, FastAPI",
    has("stop"),
    Loopback.json(
      {
        detail: [
          { type: "extra_forbidden", loc: ["body", "stop"], msg: "Extra inputs are not permitted", input: ["END"] }
        ]
      },
      422
    )
  ],
  ["NW-26: stop, with a 500", has("stop"), openAi("internal: unexpected keyword argument 'stop'", null, null, 500)],
  [
    "temperature, OpenAI",
    has("temperature"),
    openAi(
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "temperature",
      "unsupported_value"
    )
  ],
  ["stop, by its field alone", has("stop"), openAi("Unsupported parameter", "stop")],
  ["stop, in a list of LiteLLM", has("stop"), openAi("x does not support parameters: [stop], for model=y")],
  ["stop, one that is a list", has("stop"), openAi("stop must be a string")],
  ["stop, in Chinese", has("stop"), openAi("不支持参数 stop")],
  [
    "temperature, FastAPI in one sentence",
    has("temperature"),
    Loopback.json({ detail: "Unsupported parameter: temperature" }, 400)
  ],
  ["temperature, Anthropic's words", has("temperature"), openAi("`temperature` is deprecated for this model.")],
  [
    "max_tokens, by its code",
    has("max_tokens"),
    openAi(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter"
    )
  ],
  [
    "max_tokens, by a sentence of a gateway",
    has("max_tokens"),
    openAi("Use 'max_completion_tokens' instead of max_tokens", null, "invalid_request", 422)
  ],
  [
    "max_tokens, inside a 200",
    has("max_tokens"),
    Loopback.json({
      error: { message: "max_tokens is not supported, use max_completion_tokens", type: "invalid_request_error" }
    })
  ],
  [
    "response_format, llama-cpp-python with a 500",
    (body) => JSON.stringify(body["response_format"] ?? "").includes("json_schema"),
    Loopback.json(
      {
        error: {
          message:
            "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {'expected': \"'text' or 'json_object'\"}}]",
          type: "internal_server_error",
          param: null,
          code: null
        }
      },
      500
    )
  ],
  [
    "response_format, DeepSeek",
    (body) => JSON.stringify(body["response_format"] ?? "").includes("json_schema"),
    openAi("This response_format type is unavailable now")
  ],
  [
    "response_format, Groq",
    has("response_format"),
    openAi("This model does not support response format `json_schema`.")
  ],
  ["response_format, llama.cpp", has("response_format"), openAi("failed to parse grammar", null, null, 500)],
  ["system role, Gemma's template", systemIn, openAi("System role not supported", null, null, 500)],
  ["NW-31: system role", systemIn, openAi("System role not supported")],
  ["NW-31: developer instruction", systemIn, openAi("Developer instruction is not enabled for models/gemma-3-27b-it")],
  [
    "NW-31: roles must alternate",
    systemIn,
    openAi("Conversation roles must alternate user/assistant/user/assistant/...")
  ],
  ["NW-31: even roles", systemIn, openAi("the role of message with even index in the messages must be user")],
  ["NW-31: two roles", systemIn, openAi("role must be one of user, assistant")],
  ["NW-31: turns", systemIn, openAi("Please ensure that multiturn requests alternate between user and model.")],
  ["NW-31: by its field", systemIn, openAi("Input should be 'user' or 'assistant'", "messages.0.role")],
  [
    "NW-31: FastAPI",
    systemIn,
    Loopback.json(
      { detail: [{ loc: ["body", "messages", 0, "role"], msg: "Input should be 'user' or 'assistant'" }] },
      422
    )
  ],
  ["NW-31: an unexpected role", systemIn, openAi("Unexpected message role: system")],
  [
    "several at once",
    (body) => has("stop")(body) || has("temperature")(body),
    openAi("Unsupported parameters: 'stop', 'temperature'.")
  ],
  [
    "one after another",
    (body) => has("stop")(body) || has("temperature")(body),
    (response, asked) => openAi("'stop' and `temperature` are not supported")(response, asked)
  ]
]

describe("a refused field", () => {
  it.scopedLive.each(rows)("%s", ([, refuses, refusal]) =>
    Effect.gen(function* () {
      const { replies, sent } = yield* twice(refuses, refusal)
      expect(replies.map(({ text }) => text)).toEqual(["fine ", "fine "])
      // Refused once, and never sent again.
      expect(sent.map(refuses)).toEqual([true, false, false])
      for (const body of sent) {
        // Nothing is lost on the way: the system text is still there.
        expect(JSON.stringify(body["messages"])).toContain("You plan.")
      }
    })
  )

  it.scopedLive("stream_options, and any other field of ours that is named", () =>
    Effect.gen(function* () {
      const streamed: Loopback.Answer = (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end('data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
      }
      const server = yield* Loopback.make(
        Loopback.json({ detail: [{ loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] }, 422),
        streamed
      )
      const reply = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete({ ...request, onDelta: () => Effect.void })),
        Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 }))
      )
      expect(reply.text).toBe("hi")
      expect(server.received.map(({ body }) => "stream_options" in body)).toEqual([true, false])
    })
  )

  it.scopedLive("a token limit that is too large is lowered to what the model takes", () =>
    Effect.gen(function* () {
      const refusal = openAi(
        "max_tokens is too large: 100. This model supports at most 64 completion tokens",
        "max_tokens"
      )
      const { sent } = yield* twice((body) => Number(body["max_tokens"]) > 64, refusal)
      expect(sent.map((body) => body["max_tokens"])).toEqual([100, 64, 64])
    })
  )

  it.scopedLive.each([
    "max_tokens: 100 > 64, which is the maximum allowed number of output tokens for the model",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 64]",
    "max_tokens参数非法。取值范围[1,64]"
  ])("a token limit that is too large, in other words: %s", (message) =>
    Effect.gen(function* () {
      const { sent } = yield* twice((body) => Number(body["max_tokens"]) > 64, openAi(message))
      expect(sent.map((body) => body["max_tokens"])).toEqual([100, 64, 64])
    })
  )

  it.scopedLive.each([
    ["Your organization must be verified to stream this model.", "stream"],
    ["Unsupported value: 'stream' does not support true with this model.", "stream"],
    ["Streaming is not supported for this model", null],
    ["this model does not support streaming", null]
  ] as const)("a server that does not stream is asked for the whole: %s", ([message, param]) =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const onDelta = (text: string) => Effect.sync(() => told.push(text))
      const { sent } = yield* twice((body) => body["stream"] === true, openAi(message, param), { onDelta })
      expect(sent.map((body) => body["stream"])).toEqual([true, false, false])
      expect(told).toHaveLength(2)
    })
  )

  it.scopedLive("a server that wants reasoning with every turn gets an empty one where there was none", () =>
    Effect.gen(function* () {
      const messages: Request["messages"] = [
        { role: "user", content: "Go." },
        { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
        { role: "tool", toolCallId: "a", name: "f", content: "1" }
      ]
      const lacks = (body: Body) => !JSON.stringify(body["messages"]).includes('"reasoning_content":""')
      for (const [message, param] of [
        ["The `reasoning_content` in the thinking mode must be passed back to the API.", null],
        ["thinking is enabled but reasoning_content is missing in assistant tool call message at index 1", null],
        // Xiaomi's MiMo
        ["Param Incorrect", "The reasoning_content in the thinking mode must be passed back to the API."]
      ] as const) {
        const { sent } = yield* twice(lacks, openAi(message, param), { messages })
        expect(sent.map(lacks)).toEqual([true, false, false])
      }
    })
  )

  it.scopedLive("a server that only streams is asked for a stream", () =>
    Effect.gen(function* () {
      const { sent } = yield* twice((body) => body["stream"] !== true, openAi("This model only support stream call"))
      expect(sent.map((body) => body["stream"])).toEqual([false, true, true])
    })
  )

  it.scopedLive("a failure that stays the same without the field is told as it is, and nothing is remembered", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(openAi("the temperature of the GPU is too high", null, null, 500))
      const llm = yield* Effect.provide(
        Llm,
        OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })
      )
      const ask = Effect.flip(llm.complete(request))
      expect((yield* ask).reason).toMatchObject({ _tag: "Unavailable", status: 500 })
      yield* ask
      expect(server.received.map(({ body }) => "temperature" in body)).toEqual([true, false, true, false])
    })
  )

  it.scopedLive.each([
    [401, "'stop' is not for you", "Unauthorized"],
    [429, "'temperature' requests: too many", "RateLimited"],
    [400, "the model m does not exist", "BadRequest"]
  ] as const)("%d %s is not the field's fault", ([status, message, tag]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(openAi(message, null, null, status))
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })),
        Effect.flip
      )
      expect(error.reason._tag).toBe(tag)
      expect(server.received).toHaveLength(1)
    })
  )

  it.scopedLive("calls that learn different things at once forget none of them", () =>
    Effect.gen(function* () {
      const received: Array<ReadonlyArray<Loopback.Received>> = []
      const server = yield* Loopback.make((response, asked) => {
        const body = received[0]?.at(-1)?.body ?? {}
        const answer =
          "stop" in body
            ? openAi("Unsupported parameter: 'stop'")
            : "temperature" in body
              ? openAi("Unsupported parameter: 'temperature'")
              : Loopback.json(Wire.openAi({ content: "fine" }))
        answer(response, asked)
      })
      received.push(server.received)
      const llm = yield* Effect.provide(
        Llm,
        OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })
      )
      const { stop: _, ...noStop } = request
      const { temperature: __, ...noTemperature } = request
      yield* Effect.all([llm.complete(noStop), llm.complete(noTemperature), llm.complete(noStop)], {
        concurrency: "unbounded"
      })
      const before = server.received.length
      yield* llm.complete(request)
      expect(server.received.length - before).toBe(1)
    })
  )
})

describe.each(providers.map((provider) => [provider.name, provider] as const))("%s", (_, provider: Provider) => {
  it.scopedLive("a refused temperature is left out, and the system text folded into the user's, where it must be", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(
        Loopback.json(provider.error(400, "`temperature` is deprecated for this model."), 400),
        Loopback.json(provider.error(400, "Developer instruction is not enabled for this model"), 400),
        Loopback.json(provider.reply({ text: "ok" }))
      )
      const { format: __, stop: ___, ...asked } = request
      const reply = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(asked)),
        Effect.provide(provider.layer(server.url, { maxRetries: 0 }))
      )
      expect(reply.text).toBe("ok")
      const read = server.received.map(({ body }) => provider.read(body))
      expect(read.map(({ temperature }) => temperature)).toEqual([0.5, undefined, undefined])
      expect(JSON.stringify(server.received[2]?.body)).toContain("You plan.\\n\\nPlan. Reply in JSON.")
      expect(server.received).toHaveLength(3)
    })
  )
})
