/** What the failures of many servers mean, by their own words: a table for each kind. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { classify, plainText } from "../src/internal/httpFailure.js"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as Loopback from "./support/Loopback.js"
import { providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

const tagOf = (status: number | undefined, body: unknown) =>
  classify({ status, headers: {}, text: typeof body === "string" ? body : JSON.stringify(body), now: 0 }).reason._tag

const ask = (answer: Loopback.Answer, asked: Partial<Request> = {}) =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(answer)
    const result = yield* Llm.pipe(
      Effect.flatMap((llm) => llm.complete({ ...request, ...asked })),
      Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })),
      Effect.either
    )
    return { result, attempts: server.received.length }
  })

describe("NW-33: a full context, in the words of each server", () => {
  const messages: ReadonlyArray<string> = [
    // OpenAI, Azure
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    // Anthropic
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`",
    // Google
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    // Bedrock
    "Input is too long for requested model.",
    "The model returned the following errors: Input is too long.",
    "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
    "prompt tokens (9000) exceed model maximum (8192)",
    // Mistral, xAI, Moonshot
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 263000)",
    // Cohere, Perplexity, OpenRouter, Poolside
    "too many tokens: total tokens exceeds the model's max of 4096",
    "The length of all messages is too long",
    "This endpoint's maximum context length is 128000 tokens. However, you requested about 140000 tokens",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    // Groq
    "Please reduce the length of the messages or completion.",
    // Z.ai, MiniMax
    "Prompt exceeds max length",
    "tokens in request more than max tokens allowed",
    "invalid params, context window exceeds limit (2013)",
    // DashScope
    "Range of input length should be [1, 98304]",
    // Together, SGLang, Cerebras, Copilot
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    "prompt token count of 140000 exceeds the limit of 128000",
    // LiteLLM
    "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - too long",
    // vLLM, old and new
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
    "You passed 5000 input tokens, and this model's context length is only 4096 tokens (parameter=input_tokens)",
    // llama.cpp, llama-cpp-python
    "the request exceeds the available context size, try increasing it",
    "Requested tokens (6012) exceed context window of 4096",
    // Ollama
    "input is longer than the context length currently available",
    "prompt too long; exceeded max context length by 40 tokens",
    "the input length exceeds the context length",
    // LM Studio
    "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    // TGI
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
    // Moonshot's bytes, Cohere's and AI21's sizes, Hunyuan, Doubao, Qianfan
    "total message size 10176584 exceeds limit 2097152",
    "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs",
    "Prompt has too many tokens, the maximum is 8191",
    "input length too long",
    "Total tokens of image and text exceed max message tokens.",
    "the max input characters is 20000",
    // ExLlama, TabbyAPI
    "Prompt is 9000 tokens, which is longer than max_seq_len 8192",
    // Chinese gateways
    "输入长度超过模型最大上下文长度限制",
    "上下文长度超出限制"
  ]

  it.each(messages)("%s", (message) => {
    expect(tagOf(400, { error: { message, type: "invalid_request_error", param: null, code: null } })).toBe(
      "ContextOverflow"
    )
    expect(tagOf(422, { error: message, error_type: "validation" })).toBe("ContextOverflow")
    expect(tagOf(undefined, { error: { message } })).toBe("ContextOverflow")
    expect(tagOf(400, { message })).toBe("ContextOverflow")
  })

  it.each([
    [400, { error: { message: "too long", code: "context_length_exceeded" } }],
    [400, { error: { code: 400, message: "too long", type: "exceed_context_size_error" } }],
    [413, { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } }],
    [400, { error: { code: "model_max_prompt_tokens_exceeded", message: "x" } }],
    [400, { error: { code: 1261, message: "x" } }],
    [400, { error: { code: "string_above_max_length", param: "messages[0].content", message: "string too long" } }],
    [500, { error: { type: "server_error", message: "Context size has been exceeded." } }],
    [
      500,
      { error: { type: "server_error", message: "input (9000 tokens) is larger than the max context size (4096)" } }
    ]
  ] as const)("by its code: %d %j", (status, body) => expect(tagOf(status, body)).toBe("ContextOverflow"))

  it.each([
    [429, "Too many tokens, please wait before trying again."],
    [400, "ThrottlingException: Too many tokens, please wait before trying again."],
    [413, "Request too large for model `m`: Limit 6000 tokens per minute (TPM), Requested 9000"],
    [429, "Rate limit reached for tokens per minute on the context"],
    [429, "You exceeded your current quota"]
  ] as const)("a rate limit is none: %d %s", (status, message) => {
    expect(tagOf(status, { error: { message } })).toBe("RateLimited")
  })

  it.each([
    [
      400,
      {
        error: {
          message: "Invalid 'user': string too long. Expected a string with maximum length 64",
          code: "string_above_max_length",
          param: "user"
        }
      }
    ],
    [
      400,
      {
        error: {
          message: "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40",
          code: "string_above_max_length",
          param: "messages[3].tool_calls[0].id"
        }
      }
    ],
    [400, { error: { message: "The model `m` does not exist" } }],
    [400, { error: { message: "messages: text content blocks must be non-empty in this context" } }],
    [400, { error: { message: "function name is too long" } }]
  ] as const)("and neither is another fault of the request: %d %j", (status, body) =>
    expect(tagOf(status, body)).toBe("BadRequest")
  )

  it.scopedLive.each(messages.slice(0, 3))("is not retried: %s", (message) =>
    Effect.gen(function* () {
      const { attempts, result } = yield* ask(Loopback.json({ error: { message } }, 400))
      expect(result).toMatchObject({ left: { reason: { _tag: "ContextOverflow" } } })
      expect(attempts).toBe(1)
    })
  )
})

describe("an error inside a success", () => {
  const stream =
    (text: string): Loopback.Answer =>
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(text)
    }

  it.scopedLive("NW-36: a full context of LM Studio, in an event", () =>
    Effect.gen(function* () {
      const message =
        "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"
      const event = `event: error\ndata: ${JSON.stringify({ error: { message } })}\n\n`
      for (const asked of [{}, { onDelta: () => Effect.void }]) {
        const { attempts, result } = yield* ask(stream(event), asked)
        expect(result).toMatchObject({ left: { reason: { _tag: "ContextOverflow" } } })
        expect(attempts).toBe(1)
      }
    })
  )

  const bodies: ReadonlyArray<readonly [object, string, string]> = [
    [{ choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } }, "RateLimited", "rate limit"],
    [{ choices: null, base_resp: { status_code: 1004, status_msg: "login fail" } }, "Unauthorized", "login fail"],
    [
      { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } },
      "Unauthorized",
      "balance"
    ],
    [{ choices: null, base_resp: { status_code: 1000, status_msg: "unknown error" } }, "Unavailable", "unknown error"],
    [
      { choices: null, base_resp: { status_code: 2013, status_msg: "invalid params, context window exceeds limit" } },
      "ContextOverflow",
      "context window"
    ],
    [{ error: true, message: "model is loading" }, "Unavailable", "model is loading"],
    [{ code: 1302, msg: "too many requests", success: false }, "RateLimited", "too many requests"],
    [{ code: 1301, msg: "sensitive", success: false }, "Refused", "sensitive"],
    [{ error: "server busy, please try again. maximum pending requests exceeded" }, "Unavailable", "server busy"],
    [{ object: "error", message: "boom", type: "InternalServerError", code: 500 }, "Unavailable", "boom"],
    [{ error: { code: 402, message: "Insufficient credits" } }, "Unauthorized", "Insufficient credits"],
    [
      { error: { code: 429, message: "Provider returned error", metadata: { raw: "m is temporarily rate-limited" } } },
      "RateLimited",
      "temporarily"
    ],
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "Unavailable", "Overloaded"],
    [{ type: "error", error: { type: "rate_limit_error", message: "slow" } }, "RateLimited", "slow"],
    [{ choices: [{ error: { code: 502, message: "upstream" }, finish_reason: "error" }] }, "Unavailable", "upstream"],
    [{ detail: "Not authenticated for this model" }, "Unavailable", "Not authenticated"],
    [{ error_code: 17, error_msg: "Open api daily request limit reached" }, "RateLimited", "daily request limit"],
    [{ error_code: 336007, error_msg: "the max input characters is 20000" }, "ContextOverflow", "max input"],
    [{ code: 1302, msg: "too many requests" }, "RateLimited", "too many requests"],
    [{ code: 10013, message: "input content audit failed", sid: "x" }, "Unavailable", "audit failed"],
    [{ success: false, message: "no channel for this model" }, "Unavailable", "no channel"],
    [{ status: "error", message: "model crashed" }, "Unavailable", "model crashed"],
    [{ errors: [{ message: "AiError: capacity exceeded" }], success: false, result: {} }, "RateLimited", "capacity"]
  ]

  it.scopedLive.each(bodies)("NW-37: %j", ([body, tag, words]) =>
    Effect.gen(function* () {
      for (const answer of [
        Loopback.json(body),
        stream(`data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`),
        stream(`: hi\n\ndata: {"choices":[{"delta":{"content":"Ha"}}]}\n\ndata: ${JSON.stringify(body)}\n\n`)
      ]) {
        const { result } = yield* ask(answer)
        expect(result).toMatchObject({ left: { reason: { _tag: tag } } })
        expect(result._tag === "Left" ? result.left.detail : "").toContain(words)
      }
    })
  )

  it.scopedLive("an error that says nothing is none, and one in an event is read with any status", () =>
    Effect.gen(function* () {
      const good = { error: {}, choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }
      expect((yield* ask(Loopback.json(good))).result).toMatchObject({ right: { text: "hi" } })
      const event = `data: ${JSON.stringify({ error: { message: "prompt is too long: 9 > 8", code: 400 } })}\n\n`
      expect((yield* ask(Loopback.text(event, 400))).result).toMatchObject({
        left: { reason: { _tag: "ContextOverflow" } }
      })
      const loading = Loopback.json({ error: "Model m is currently loading", estimated_time: 20.5 }, 503)
      expect((yield* ask(loading)).result).toMatchObject({
        left: { reason: { _tag: "Unavailable", retryAfter: 20_500 } }
      })
    })
  )

  it.scopedLive("words alone say what is wrong where they speak of load, limits or the context", () =>
    Effect.gen(function* () {
      const tags: Array<string> = []
      for (const message of ["model is loading", "rate limit reached", "prompt is too long", "Welcome!"]) {
        const { result } = yield* ask(Loopback.json({ message }))
        tags.push(result._tag === "Left" ? result.left.reason._tag : "")
      }
      expect(tags).toEqual(["Unavailable", "RateLimited", "ContextOverflow", "Unreadable"])
    })
  )

  it.scopedLive("a chunk of a reply that carries a code of success is no error", () =>
    Effect.gen(function* () {
      const choices = [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }]
      const chunk = { code: 0, message: "Success", base_resp: { status_code: 0 }, choices }
      const waiting = { status: "queued", message: "model is loading", code: 200 }
      const text = [waiting, chunk].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
      const { result } = yield* ask(stream(text))
      expect(result).toMatchObject({ right: { text: "hi" } })
    })
  )

  it.scopedLive.each([
    ['error: {"code":500,"message":"the slot broke","type":"server_error"}\n\n', "Unavailable", "the slot broke"],
    [
      'data: {"choices":[{"delta":{"content":"1. Fetch"}}]}\n\nerror: {"message":"rate limit reached"}\n\ndata: [DONE]\n\n',
      "RateLimited",
      "rate limit"
    ],
    [
      'data: {"choices":[{"delta":{"content":"1. Fetch"}}]}\n\ndata: Error: the model crashed\n\ndata: [DONE]\n\n',
      "Unavailable",
      "the model crashed"
    ]
  ] as const)("in a stream, in place of an event: %j", ([text, tag, words]) =>
    Effect.gen(function* () {
      const { result } = yield* ask(stream(text), { onDelta: () => Effect.void })
      expect(result).toMatchObject({ left: { reason: { _tag: tag } } })
      expect(result._tag === "Left" ? result.left.detail : "").toContain(words)
    })
  )

  it.scopedLive("a stream that holds nothing is asked for again as a whole, which names the cause", () =>
    Effect.gen(function* () {
      const answers = [stream("data: [DONE]\n\n"), Loopback.json({ error: { message: "prompt is too long" } }, 400)]
      const server = yield* Loopback.make(...answers)
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete({ ...request, onDelta: () => Effect.void })),
        Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })),
        Effect.flip
      )
      expect(error.reason._tag).toBe("ContextOverflow")
      expect(server.received.map(({ body }) => body["stream"])).toEqual([true, false])
    })
  )

  it.scopedLive("a stream that only kept the connection alive was cut off, and one of other words is told", () =>
    Effect.gen(function* () {
      const tags: Array<string> = []
      for (const data of ["ping", "null", "heartbeat", "hello"]) {
        const { result } = yield* ask(stream(`data: ${data}\n\n`), { onDelta: () => Effect.void })
        tags.push(result._tag === "Left" ? result.left.reason._tag : "")
      }
      expect(tags).toEqual(["Unavailable", "Unavailable", "Unavailable", "Unreadable"])
    })
  )

  it("an account without credit is not waited for", () => {
    expect(tagOf(400, { error: { message: "Your credit balance is too low to access the Anthropic API." } })).toBe(
      "Unauthorized"
    )
  })

  it("the issues of a validator are told without the input that they echo", () => {
    const issues = [
      { type: "extra_forbidden", loc: ["body", "x"], msg: "Extra inputs are not permitted", input: "SECRET" }
    ]
    for (const message of [{ detail: issues }, issues]) {
      const { detail } = classify({
        status: 422,
        headers: {},
        text: JSON.stringify({ object: "error", message }),
        now: 0
      })
      expect(detail).toBe("body.x: Extra inputs are not permitted")
    }
  })

  it.scopedLive("no choices at all is told with the server's first words", () =>
    Effect.gen(function* () {
      const { result } = yield* ask(Loopback.json({ choices: [], note: "come back tomorrow" }))
      expect(result).toMatchObject({ left: { reason: { _tag: "Unreadable" } } })
      expect(result._tag === "Left" ? result.left.message : "").toContain("come back tomorrow")
    })
  )
})

describe("what a person reads", () => {
  it.scopedLive("a 500 says what the server answered, not that the address is wrong", () =>
    Effect.gen(function* () {
      const { result } = yield* ask(Loopback.json({ error: { message: "CUDA out of memory" } }, 500))
      const message = result._tag === "Left" ? result.left.message : ""
      expect(message).toContain("HTTP 500")
      expect(message).toContain("CUDA out of memory")
      expect(message).not.toMatch(/address|reached/)
    })
  )

  it("a page is told by the words that it shows", () => {
    const page = `<!doctype html><html><head><title>502 Bad Gateway</title><style>a{b:c}</style>
      <script>if (a < b) alert("x")</script></head><body><h1>Bad  Gateway</h1>The upstream is down.</body></html>`
    expect(plainText(page)).toBe("an HTML page: 502 Bad Gateway Bad Gateway The upstream is down.")
    expect(plainText("<html>")).toBe("an HTML page")
    expect(plainText("Bad Request")).toBe("Bad Request")
    expect(plainText(`<${"a<".repeat(500_000)}`).length).toBeLessThan(400)
  })

  it.scopedLive.each(providers.map((provider) => [provider.name, provider] as const))(
    "a page instead of a reply is unreadable, with its words: %s",
    ([, provider]) =>
      Effect.gen(function* () {
        const page = "<html><body><h1>Sign in</h1> to the portal</body></html>"
        for (const type of ["text/html", "application/json", "text/event-stream"]) {
          const server = yield* Loopback.make(Loopback.text(page, 200, type))
          const error = yield* Llm.pipe(
            Effect.flatMap((llm) => llm.complete(request)),
            Effect.provide(provider.layer(server.url, { maxRetries: 2 })),
            Effect.flip
          )
          expect(error.reason._tag).toBe("Unreadable")
          expect(error.message).toContain("Sign in to the portal")
          expect(server.received).toHaveLength(1)
        }
      })
  )
})
