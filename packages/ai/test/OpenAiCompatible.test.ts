import { expect, it } from "@effect/vitest"
import type { Reply, Request } from "@forethought/core/Llm"
import { Llm, LlmError } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { describe } from "vitest"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as Wire from "./support/chatWire.js"
import * as Loopback from "./support/Loopback.js"

const request: Request = {
  role: "planner",
  call: "planner/reask-1",
  messages: [
    { role: "system", content: "You plan." },
    { role: "user", content: "Plan." }
  ]
}

const ask = (url: string, asked: Partial<Request> = {}, options: Partial<OpenAiCompatible.Options> = {}) =>
  Llm.pipe(
    Effect.flatMap((llm) => llm.complete({ ...request, ...asked })),
    Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: `${url}/v1`, model: "m", maxRetries: 0, ...options }))
  )

const replyTo = (answer: Loopback.Answer, asked: Partial<Request> = {}) =>
  Effect.flatMap(Loopback.make(answer), (server) => ask(server.url, asked))

const bodyOf = (asked: Partial<Request>, options: Partial<OpenAiCompatible.Options> = {}) =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(Loopback.json(Wire.openAi({ content: "ok" })))
    yield* ask(server.url, asked, options)
    return server.received[0]
  })

const search = { name: "Search", description: "Searches.", parameters: { type: "object", properties: {} } }

describe("the request", () => {
  it.scopedLive("goes to <baseUrl>/chat/completions, with or without a trailing slash, with the key as bearer", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(Wire.openAi({ content: "ok" })))
      const apiKey = Redacted.make("sk-loopback\n")
      yield* ask(server.url, {}, { baseUrl: `${server.url}/v1`, apiKey })
      yield* ask(server.url, {}, { baseUrl: `${server.url}/api/v3/`, headers: { "X-Title": "forethought" } })
      yield* ask(server.url, {}, { baseUrl: `${server.url}/deployments/d?api-version=1`, apiKey: Redacted.make(" ") })
      expect(server.received.map(({ path }) => path)).toEqual([
        "/v1/chat/completions",
        "/api/v3/chat/completions",
        "/deployments/d/chat/completions?api-version=1"
      ])
      expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
        "Bearer sk-loopback",
        undefined,
        undefined
      ])
      expect(server.received[1]?.headers["x-title"]).toBe("forethought")
      expect(server.received[0]?.body).toEqual({
        model: "m",
        stream: false,
        messages: [
          { role: "system", content: "You plan." },
          { role: "user", content: "Plan." }
        ]
      })
    })
  )

  it.scopedLive("carries limits, tools, tool calls and tool results", () =>
    Effect.gen(function* () {
      const received = yield* bodyOf({
        maxTokens: 64,
        temperature: 0,
        stop: ["Observation:"],
        tools: [search],
        messages: [
          {
            role: "assistant",
            content: "",
            toolCalls: [
              { id: "a", name: "Search", arguments: '{"input":"x"}' },
              { id: "b", name: "Search", arguments: "" },
              { id: "c", name: "Search", arguments: '{"input": x"}' }
            ]
          },
          { role: "tool", content: "found", toolCallId: "a", name: "Search" }
        ]
      })
      expect(received?.body).toMatchObject({
        max_tokens: 64,
        temperature: 0,
        stop: ["Observation:"],
        tools: [{ type: "function", function: search }],
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "a", type: "function", function: { name: "Search", arguments: '{"input":"x"}' } },
              { id: "b", function: { arguments: "{}" } },
              // Servers refuse a conversation that holds malformed arguments, so they travel inside an object.
              { id: "c", function: { arguments: JSON.stringify({ invalid_arguments: '{"input": x"}' }) } }
            ]
          },
          { role: "tool", tool_call_id: "a", content: "found" }
        ]
      })
    })
  )

  const format = { name: "plan", schema: { type: "object" } }

  it.scopedLive("carries the format as a JSON Schema, unless tools are offered or it is off", () =>
    Effect.gen(function* () {
      const sent = { type: "json_schema", json_schema: { name: "plan", schema: { type: "object" } } }
      expect((yield* bodyOf({ format }))?.body["response_format"]).toEqual(sent)
      expect((yield* bodyOf({ format, tools: [search] }))?.body).not.toHaveProperty("response_format")
      expect((yield* bodyOf({ format }, { structured: "off" }))?.body).not.toHaveProperty("response_format")
    })
  )

  it.scopedLive("is sent again once without a field that the server refuses, and that is remembered", () =>
    Effect.gen(function* () {
      const refusal = Wire.openAiError("'response_format' is not supported.", "invalid_request_error", null)
      const ok = Loopback.json(Wire.openAi({ content: "ok" }))
      const server = yield* Loopback.make(Loopback.json(refusal, 400), ok)
      const options = { baseUrl: server.url, model: "m", maxRetries: 0 }
      yield* Llm.pipe(
        Effect.flatMap((llm) =>
          Effect.all([llm.complete({ ...request, format }), llm.complete({ ...request, format })])
        ),
        Effect.provide(OpenAiCompatible.layerFetch(options))
      )
      expect(server.received.map(({ body }) => "response_format" in body)).toEqual([true, false, false])
    })
  )

  it.scopedLive("a server that refuses without end is asked twice", () =>
    Effect.gen(function* () {
      const refusal = Wire.openAiError("'response_format' is not supported.", "invalid_request_error", null)
      const server = yield* Loopback.make(Loopback.json(refusal, 400))
      expect(yield* Effect.flip(ask(server.url, { format }))).toMatchObject({ reason: { _tag: "BadRequest" } })
      expect(server.received).toHaveLength(2)
    })
  )

  it.scopedLive("names the token limit as OpenAI's reasoning models want it, once they say so", () =>
    Effect.gen(function* () {
      const message = "Unsupported parameter: 'max_tokens' is not supported with this model."
      const refusal = Wire.openAiError(message, "invalid_request_error", "unsupported_parameter", "max_tokens")
      const server = yield* Loopback.make(Loopback.json(refusal, 400), Loopback.json(Wire.openAi({ content: "ok" })))
      yield* ask(server.url, { maxTokens: 9 })
      expect(server.received[1]?.body).toMatchObject({ max_completion_tokens: 9 })
      expect(server.received[1]?.body).not.toHaveProperty("max_tokens")
    })
  )
})

describe("the reply", () => {
  const call = (id: string, args: unknown) => ({ id, type: "function", function: { name: "Search", arguments: args } })
  const cases: ReadonlyArray<readonly [string, unknown, Partial<Reply>]> = [
    [
      "OpenAI: text, usage and model",
      Wire.openAi({ content: "1. Look." }),
      {
        text: "1. Look.",
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 19, outputTokens: 10 },
        model: "gpt-4.1-2025-04-14"
      }
    ],
    [
      "OpenAI: tool calls with raw arguments, malformed ones too",
      Wire.openAi({ content: null, tool_calls: [call("call_1", '{"input": x"}')] }, { finish_reason: "tool_calls" }),
      {
        text: "",
        finishReason: "tool-calls",
        toolCalls: [{ id: "call_1", name: "Search", arguments: '{"input": x"}' }]
      }
    ],
    [
      "vLLM: null content, an empty list of tool calls",
      Wire.vllm({ content: "Yes." }),
      { text: "Yes.", toolCalls: [], finishReason: "stop", usage: { inputTokens: 31, outputTokens: 9 } }
    ],
    [
      "vLLM: reasoning alone, cut off",
      Wire.vllm({ reasoning_content: "Hm, let me" }, "length"),
      { text: "", reasoning: "Hm, let me", finishReason: "length" }
    ],
    [
      "llama.cpp: reasoning_content beside the text",
      Wire.llamaCpp({ content: "4", reasoning_content: "2 + 2" }),
      { text: "4", reasoning: "2 + 2", usage: { inputTokens: 14, outputTokens: 8 } }
    ],
    [
      "Ollama: reasoning under its other name",
      Wire.ollama({ content: "4", reasoning: "2 + 2" }),
      { text: "4", reasoning: "2 + 2" }
    ],
    [
      "Ollama: arguments as an object; the finish reason as it was sent",
      Wire.ollama({ tool_calls: [{ ...call("call_hk81", { input: "Oslo" }), index: 0 }] }),
      { finishReason: "stop", toolCalls: [{ id: "call_hk81", name: "Search", arguments: '{"input":"Oslo"}' }] }
    ],
    [
      "tool calls without ids get one each; missing arguments are empty",
      Wire.ollama({ tool_calls: [{ function: { name: "A" } }, { function: { name: "B", arguments: null } }] }),
      {
        toolCalls: [
          { id: "call_2_0", name: "A", arguments: "" },
          { id: "call_2_1", name: "B", arguments: "" }
        ]
      }
    ],
    [
      "content as parts",
      Wire.openAi({
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
          { type: "text", text: "One, " },
          { type: "text", text: "two." }
        ]
      }),
      { text: "One, two.", reasoning: "Hm." }
    ],
    [
      "length",
      Wire.openAi({ content: "1. Lo" }, { finish_reason: "length" }),
      { text: "1. Lo", finishReason: "length" }
    ],
    [
      "content filter",
      Wire.openAi({ content: "The" }, { finish_reason: "content_filter" }),
      { text: "The", finishReason: "content-filter" }
    ],
    [
      "an unknown finish reason",
      Wire.openAi({ content: "x" }, { finish_reason: "complete" }),
      { finishReason: "other", rawFinishReason: "complete" }
    ],
    ["no finish reason", Wire.openAi({ content: "x" }, { finish_reason: null }), { finishReason: "other" }],
    [
      "the legacy function call is ignored",
      Wire.openAi({ content: "x", function_call: { name: "Search", arguments: "{}" } }),
      { text: "x", toolCalls: [] }
    ],
    [
      "no usage, no model",
      { choices: [{ message: { content: "x" }, finish_reason: "stop" }] },
      { text: "x", usage: {} }
    ]
  ]

  it.scopedLive.each(cases)("%s", ([, body, expected]) =>
    Effect.gen(function* () {
      expect(yield* replyTo(Loopback.json(body))).toMatchObject(expected)
    })
  )

  it.scopedLive("a refusal is an error, with what was said in it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        replyTo(Loopback.json(Wire.openAi({ content: null, refusal: "I can't help with that." })))
      )
      expect(error).toMatchObject({
        reason: { _tag: "Refused", text: "I can't help with that." },
        role: "planner",
        call: "planner/reask-1"
      })
    })
  )
})

const overflow =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens. Please reduce the length of the messages."

describe("errors", () => {
  const cases: ReadonlyArray<
    readonly [string, Loopback.Answer, LlmError["reason"] | { readonly _tag: string }, string]
  > = [
    [
      "401 of OpenAI",
      Loopback.json(Wire.openAiError("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"), 401),
      { _tag: "Unauthorized" },
      "Incorrect API key"
    ],
    [
      "401 of llama.cpp",
      Loopback.json({ error: { code: 401, message: "Invalid API Key", type: "authentication_error" } }, 401),
      { _tag: "Unauthorized" },
      "Invalid API Key"
    ],
    ["403 without a body", Loopback.text("", 403), { _tag: "Unauthorized" }, ""],
    [
      "a key refused with 400, as Google does",
      Loopback.json(
        [{ error: { code: 400, message: "API key not valid.", details: [{ reason: "API_KEY_INVALID" }] } }],
        400
      ),
      { _tag: "Unauthorized" },
      "API key not valid"
    ],
    [
      "an account without credit, sent as 429, is not worth a retry",
      Loopback.json(
        Wire.openAiError("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
        429,
        { "retry-after": "1" }
      ),
      { _tag: "Unauthorized", isRetryable: false },
      "quota"
    ],
    [
      "context overflow by its code",
      Loopback.json(Wire.openAiError(overflow, "invalid_request_error", "context_length_exceeded", "messages"), 400),
      { _tag: "ContextOverflow" },
      "8192"
    ],
    [
      "context overflow of llama.cpp",
      Loopback.json(
        {
          error: {
            code: 400,
            message: "the request exceeds the available context size, try increasing it",
            type: "exceed_context_size_error",
            n_prompt_tokens: 4476,
            n_ctx: 4096
          }
        },
        400
      ),
      { _tag: "ContextOverflow" },
      "context size"
    ],
    [
      "context overflow of older vLLM, whose error stands at the top and has no code of its own",
      Loopback.json({ object: "error", message: overflow, type: "BadRequestError", param: null, code: 400 }, 400),
      { _tag: "ContextOverflow" },
      "8192"
    ],
    ["413", Loopback.text("too large", 413), { _tag: "ContextOverflow" }, "too large"],
    [
      "the word context in another kind of error is no overflow",
      Loopback.json(Wire.openAiError(overflow, "server_error", null), 500),
      { _tag: "Unavailable", status: 500 },
      "8192"
    ],
    [
      "404 of Ollama",
      Loopback.json(Wire.openAiError('model "m" not found, try pulling it first', "not_found_error", null), 404),
      { _tag: "BadRequest", status: 404 },
      "try pulling it first"
    ],
    ["a plain text 400", Loopback.text("Bad\n  Request", 400), { _tag: "BadRequest", status: 400 }, "Bad Request"],
    [
      "422 of FastAPI",
      Loopback.json({ detail: [{ loc: ["body", "stop"], msg: "Input should be a list", type: "list_type" }] }, 422),
      { _tag: "BadRequest", status: 422 },
      "Input should be a list"
    ],
    [
      "503 while llama.cpp loads",
      Loopback.json({ error: { code: 503, message: "Loading model", type: "unavailable_error" } }, 503),
      { _tag: "Unavailable", status: 503 },
      "Loading model"
    ],
    [
      "an HTML page with 502",
      Loopback.text("<html>Bad gateway</html>", 502, "text/html"),
      { _tag: "Unavailable" },
      "an HTML page"
    ],
    ["408", Loopback.text("", 408), { _tag: "Unavailable", status: 408 }, ""],
    [
      "an HTML page with 200 is another server",
      Loopback.text("<!doctype html><title>Welcome</title>", 200, "text/html"),
      { _tag: "Unreadable" },
      "an HTML page instead of JSON: check the base URL"
    ],
    ["text with 200", Loopback.text("Ollama is running"), { _tag: "Unreadable" }, "text instead of JSON"],
    ["an empty body with 200", Loopback.text(""), { _tag: "Unavailable" }, "the response is empty"],
    ["a body that ends early", Loopback.text('{"choices":[{"mess'), { _tag: "Unavailable" }, "cut off"],
    ["a connection dropped in the body", Loopback.cut(Wire.openAi({ content: "x" })), { _tag: "Unavailable" }, "broke"],
    ["a connection dropped before the response", Loopback.reset, { _tag: "Unavailable" }, "the connection failed"],
    ["no choices", Loopback.json({ object: "list", data: [] }), { _tag: "Unreadable" }, "no choices"],
    [
      "an error inside a 200, with a status as its code",
      Loopback.json({ error: { code: 429, message: "Provider returned error" } }, 200, { "retry-after": "5" }),
      { _tag: "RateLimited", retryAfter: 5000 },
      "Provider returned error"
    ],
    [
      "an error inside a 200, as text",
      Loopback.json({ error: "upstream gone" }),
      { _tag: "Unavailable" },
      "upstream gone"
    ],
    [
      "an error inside a choice",
      Loopback.json({ choices: [{ error: { code: 502, message: "upstream" }, message: { content: "Half" } }] }),
      { _tag: "Unavailable", status: 502 },
      "upstream"
    ]
  ]

  it.scopedLive.each(cases)("%s", ([, answer, reason, detail]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(replyTo(answer))
      expect(error).toBeInstanceOf(LlmError)
      expect(error).toMatchObject({ reason, role: "planner", call: "planner/reask-1" })
      expect(error.detail).toContain(detail)
    })
  )

  it.live("nothing listens", () =>
    Effect.gen(function* () {
      const url = yield* Loopback.refusing
      const error = yield* Effect.flip(ask(url))
      expect(error).toMatchObject({ reason: { _tag: "Unavailable", isRetryable: true } })
      expect(error.message).toContain("ECONNREFUSED")
    })
  )

  it.scopedLive("a server that hangs", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.hang)
      const error = yield* Effect.flip(ask(server.url, {}, { timeout: "60 millis" }))
      expect(error).toMatchObject({ reason: { _tag: "TimedOut", after: 60 }, role: "planner" })
      yield* server.closed
    })
  )

  it.scopedLive("a server that hangs in the body", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.write('{"choices":')
      })
      const error = yield* Effect.flip(ask(server.url, {}, { timeout: "60 millis" }))
      expect(error.reason._tag).toBe("TimedOut")
      yield* server.closed
    })
  )

  it.live.each(["localhost", "", "ftp://127.0.0.1/v1", "http://user:sk-secret@127.0.0.1/v1"])(
    "the base URL %j is refused before anything is sent",
    (baseUrl) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(ask("", {}, { baseUrl }))
        expect(error).toMatchObject({ reason: { _tag: "BadRequest" } })
        expect(error.message).toContain("the base URL")
        expect(error.message).not.toContain("sk-secret")
      })
  )
})

describe("secrets", () => {
  const key = "sk-live-0123456789abcdef"

  it.scopedLive("a key that the server echoes is removed, and never cut in half", () =>
    Effect.gen(function* () {
      const message = `${"x".repeat(490)} ${key} ${key} and so on`
      const server = yield* Loopback.make(Loopback.json(Wire.openAiError(message, "e", null), 400))
      const error = yield* Effect.flip(
        ask(server.url, {}, { apiKey: Redacted.make(key), headers: { "x-other": "other-secret" } })
      )
      expect(error.detail).not.toContain("sk-")
      expect(error.detail?.length).toBeLessThanOrEqual(500)
    })
  )

  it.live("a key that cannot be sent is named, not quoted", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ask("http://127.0.0.1:9", {}, { apiKey: Redacted.make(`${key}’`) }))
      expect(error).toMatchObject({ reason: { _tag: "Unauthorized" } })
      expect(JSON.stringify(error) + error.message + String(error)).not.toContain("sk-live")
    })
  )
})

describe("retries", () => {
  const ok = Loopback.json(Wire.openAi({ content: "ok" }))
  const limited = (headers: { readonly [name: string]: string }) =>
    Loopback.json(Wire.openAiError("Rate limit reached", "requests", "rate_limit_exceeded"), 429, headers)

  it.scopedLive.each([
    ["retry-after-ms", { "retry-after-ms": "30", "retry-after": "30" }],
    ["seconds", { "retry-after": "0.03" }],
    ["a date that has passed", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }]
  ] as const)("a 429 is repeated when Retry-After says so: %s", ([, headers]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(limited(headers), ok)
      expect((yield* ask(server.url, {}, { maxRetries: 2 })).text).toBe("ok")
      expect(server.received).toHaveLength(2)
    })
  )

  it.scopedLive("RT-10: a Retry-After over the cap fails at once, in both forms", () =>
    Effect.gen(function* () {
      const later = new Date(Date.now() + 7_200_000).toUTCString()
      for (const [value, least, most] of [
        ["9999999", 9_999_999_000, 9_999_999_000],
        [later, 7_190_000, 7_200_000]
      ] as const) {
        const server = yield* Loopback.make(limited({ "retry-after": value }))
        const { reason } = yield* Effect.flip(ask(server.url, {}, { maxRetries: 2 }))
        expect(server.received).toHaveLength(1)
        const delay = reason._tag === "RateLimited" ? (reason.retryAfter ?? 0) : 0
        expect(delay).toBeGreaterThanOrEqual(least)
        expect(delay).toBeLessThanOrEqual(most)
      }
    })
  )

  const soon = { "retry-after-ms": "1" }
  const attempts: ReadonlyArray<readonly [string, Loopback.Answer, number]> = [
    ["401", Loopback.json(Wire.openAiError("no", "e", "invalid_api_key"), 401), 1],
    ["400", Loopback.json(Wire.openAiError(overflow, "e", "context_length_exceeded"), 400), 1],
    ["ECONNRESET", Loopback.reset, 3],
    ["429", limited(soon), 3],
    ["503 (RT-12)", Loopback.json(Wire.openAiError("overloaded", "e", null), 503, soon), 3],
    ["an empty body", Loopback.text(""), 3],
    ["HTML", Loopback.text("<html>", 200, "text/html"), 1]
  ]

  it.scopedLive.each(attempts)("RT-11: the number of attempts after %s", ([, answer, expected]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(answer)
      const result = yield* Effect.either(ask(server.url, {}, { maxRetries: undefined, maxRetryDelay: "2 millis" }))
      expect(Either.isLeft(result)).toBe(true)
      expect(server.received).toHaveLength(expected)
    })
  )
})

describe("interruption", () => {
  const interrupted = (server: Loopback.Loopback) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(ask(server.url, {}, { maxRetries: 2 }))
      yield* server.arrived
      yield* Effect.sleep("20 millis")
      const start = performance.now()
      yield* fiber.interruptAsFork(fiber.id())
      const exit = yield* fiber.await
      return { exit, start, stopped: performance.now() - start }
    })

  it.scopedLive("closes the socket within 50 ms", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.hang)
      const { exit, start } = yield* interrupted(server)
      expect(exit._tag).toBe("Failure")
      yield* server.closed
      expect(performance.now() - start).toBeLessThan(50)
      expect(server.received).toHaveLength(1)
    })
  )

  it.scopedLive("RT-05: ends a wait within 50 ms, without another request", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json({}, 429, { "retry-after": "30" }))
      const { stopped } = yield* interrupted(server)
      expect(stopped).toBeLessThan(50)
      yield* Effect.sleep("50 millis")
      expect(server.received).toHaveLength(1)
    })
  )

  it.scopedLive("RT-07: is not retried", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.hang)
      yield* interrupted(server)
      yield* Effect.sleep("50 millis")
      expect(server.received).toHaveLength(1)
    })
  )
})
