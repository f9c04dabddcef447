import * as AiError from "@effect/ai/AiError"
import * as AiModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import { expect, it } from "@effect/vitest"
import type { Reply, Request } from "@forethought/core/Llm"
import { Llm } from "@forethought/core/Llm"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import * as LanguageModel from "../src/LanguageModel.js"

const request: Request = {
  role: "executor",
  call: "step-1/executor/turn-1",
  messages: [{ role: "user", content: "Hi." }]
}

type Generate = Parameters<typeof AiModel.make>[0]["generateText"]

const ask = (
  generateText: Generate,
  asked: Partial<Request> = {},
  options: LanguageModel.Options = { maxRetries: 0 }
) =>
  Llm.pipe(
    Effect.flatMap((llm) => llm.complete({ ...request, ...asked })),
    Effect.provide(
      Layer.provide(
        LanguageModel.layer(options),
        Layer.effect(AiModel.LanguageModel, AiModel.make({ generateText, streamText: () => Stream.empty }))
      )
    )
  )

const parts = (...content: Array<Response.PartEncoded>) => Effect.succeed(content)

const finish = (reason: Response.FinishReason): Response.PartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
})

const search = {
  name: "Search",
  description: "Searches.",
  parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] }
}

const call = (name: string, params: unknown): Response.PartEncoded => ({ type: "tool-call", id: "c1", name, params })

describe("the reply", () => {
  it.effect("text, reasoning, usage and model", () =>
    Effect.gen(function* () {
      const reply = yield* ask(() =>
        parts(
          { type: "response-metadata", id: "r", modelId: "stub-1", timestamp: undefined },
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "One, " },
          { type: "text", text: "two." },
          finish("stop")
        )
      )
      expect(reply).toEqual({
        text: "One, two.",
        reasoning: "Hm.",
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 7, outputTokens: 3 },
        model: "stub-1"
      })
    })
  )

  it.effect.each([
    ["length", { finishReason: "length" }],
    ["content-filter", { finishReason: "content-filter" }],
    ["pause", { finishReason: "other", rawFinishReason: "pause" }]
  ] as const)("finish reason %s", ([reason, expected]) =>
    Effect.gen(function* () {
      expect(yield* ask(() => parts(finish(reason)))).toMatchObject(expected)
    })
  )

  it.effect("ends before the first stop sequence, whether the provider knew of it or not", () =>
    Effect.gen(function* () {
      const generate = () =>
        parts(
          { type: "text", text: "Action: Search" },
          { type: "text", text: " END\nObservation: x" },
          finish("length")
        )
      const reply = yield* ask(generate, { stop: ["\nObservation:", "END", ""] })
      expect(reply).toMatchObject({ text: "Action: Search ", finishReason: "stop", usage: { outputTokens: 3 } })
    })
  )

  it.effect("OpenAI's refusal, which travels in the metadata, is an error", () =>
    Effect.gen(function* () {
      const generate = () =>
        parts({ type: "text", text: "", metadata: { openai: { refusal: "I can't." } } }, finish("stop"))
      expect(yield* Effect.flip(ask(generate))).toMatchObject({ reason: { _tag: "Refused", text: "I can't." } })
    })
  )

  it.effect("no finish part", () =>
    Effect.gen(function* () {
      expect(yield* ask(() => parts())).toEqual({ text: "", toolCalls: [], finishReason: "other", usage: {} })
    })
  )

  it.effect.each([
    ["arguments that fit", call("Search", { input: "Oslo" }), { name: "Search", arguments: '{"input":"Oslo"}' }],
    ["arguments that do not fit", call("Search", { q: 1 }), { name: "Search", arguments: '{"q":1}' }],
    ["a tool that was not offered", call("search", { input: "x" }), { name: "search", arguments: '{"input":"x"}' }]
  ] as const)("tool calls come back as they are: %s", ([, part, expected]) =>
    Effect.gen(function* () {
      const reply = yield* ask(() => parts({ type: "text", text: "So." }, part, finish("tool-calls")), {
        tools: [search]
      })
      expect(reply).toMatchObject({
        text: "So.",
        toolCalls: [{ id: "c1", ...expected }],
        finishReason: "tool-calls",
        usage: { inputTokens: 7 }
      })
    })
  )
})

describe("the request", () => {
  it.effect("offers tools with their own JSON Schema", () =>
    Effect.gen(function* () {
      let offered: ReadonlyArray<unknown> = []
      yield* ask(
        ({ tools }) => {
          offered = tools.map((tool) => [
            tool.name,
            tool.description,
            Tool.getJsonSchemaFromSchemaAst(tool.parametersSchema.ast)
          ])
          return parts(finish("stop"))
        },
        { tools: [search] }
      )
      expect(offered).toEqual([["Search", "Searches.", search.parameters]])
    })
  )

  it.effect("keeps roles, tool calls, and the results of a turn together", () =>
    Effect.gen(function* () {
      let sent: unknown
      yield* ask(
        ({ prompt }) => {
          sent = prompt.content.map(({ role, content }) => ({ role, content }))
          return parts(finish("stop"))
        },
        {
          messages: [
            { role: "system", content: "You work." },
            { role: "user", content: "Do." },
            {
              role: "assistant",
              content: "",
              toolCalls: [
                { id: "a", name: "Search", arguments: '{"input":"x"}' },
                { id: "b", name: "Search", arguments: "{oops" }
              ]
            },
            { role: "tool", content: "found", toolCallId: "a", name: "Search" },
            { role: "tool", content: "not JSON", toolCallId: "b", name: "Search" },
            { role: "assistant", content: "" }
          ]
        }
      )
      expect(sent).toMatchObject([
        { role: "system", content: "You work." },
        { role: "user", content: [{ type: "text", text: "Do." }] },
        {
          role: "assistant",
          content: [
            { type: "tool-call", id: "a", params: { input: "x" } },
            { type: "tool-call", id: "b", params: { invalid_arguments: "{oops" } }
          ]
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", id: "a", result: "found" },
            { type: "tool-result", id: "b", result: "not JSON" }
          ]
        }
      ])
      expect(sent).toHaveLength(4)
    })
  )

  it.effect("configure wraps each call with what the request asks for", () =>
    Effect.gen(function* () {
      const limit = FiberRef.unsafeMake<number | undefined>(undefined)
      const seen: Array<number | undefined> = []
      yield* ask(
        () =>
          Effect.flatMap(FiberRef.get(limit), (value) => {
            seen.push(value)
            return parts(finish("stop"))
          }),
        { maxTokens: 64 },
        { configure: (asked) => Effect.locally(limit, asked.maxTokens) }
      )
      expect(seen).toEqual([64])
    })
  )
})

const http = { method: "POST" as const, url: "http://x/", urlParams: [], hash: Option.none(), headers: {} }

const responseError = (
  status: number,
  body: string | undefined,
  rest: { reason?: "StatusCode" | "Decode" | "EmptyBody"; headers?: Record<string, string> } = {}
) =>
  new AiError.HttpResponseError(
    {
      module: "Stub",
      method: "generateText",
      reason: rest.reason ?? "StatusCode",
      request: http,
      response: { status, headers: rest.headers ?? {} },
      ...(body === undefined ? {} : { body })
    },
    { disableValidation: true }
  )

const requestError = (reason: "Transport" | "InvalidUrl") =>
  new AiError.HttpRequestError({ module: "Stub", method: "m", reason, request: http }, { disableValidation: true })

describe("errors", () => {
  const cases: ReadonlyArray<readonly [string, AiError.AiError, object]> = [
    [
      "429",
      responseError(429, undefined, { headers: { "retry-after": "7" } }),
      { _tag: "RateLimited", retryAfter: 7000 }
    ],
    ["401", responseError(401, '{"error":{"message":"bad key"}}'), { _tag: "Unauthorized" }],
    ["529", responseError(529, "overloaded"), { _tag: "Unavailable", status: 529 }],
    ["404", responseError(404, "no such model"), { _tag: "BadRequest", status: 404 }],
    [
      "context overflow by its code",
      responseError(400, '{"error":{"code":"context_length_exceeded","message":"too long"}}'),
      { _tag: "ContextOverflow" }
    ],
    [
      "context overflow of Anthropic, which has no code for it",
      responseError(
        400,
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}'
      ),
      { _tag: "ContextOverflow" }
    ],
    ["a success without a body", responseError(200, undefined, { reason: "EmptyBody" }), { _tag: "Unavailable" }],
    [
      "a success that is an HTML page",
      responseError(200, "<html>", { reason: "Decode", headers: { "content-type": "text/html; charset=utf-8" } }),
      { _tag: "Unreadable" }
    ],
    ["no connection", requestError("Transport"), { _tag: "Unavailable" }],
    ["a bad address", requestError("InvalidUrl"), { _tag: "BadRequest" }],
    [
      "malformed output",
      new AiError.MalformedOutput({ module: "S", method: "m", description: "nonsense" }),
      { _tag: "Unreadable" }
    ],
    ["unknown", new AiError.UnknownError({ module: "S", method: "m", cause: new Error("odd") }), { _tag: "BadRequest" }]
  ]

  it.effect.each(cases)("%s", ([, error, reason]) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(ask(() => Effect.fail(error)))
      expect(failure).toMatchObject({ _tag: "LlmError", reason, role: "executor", call: "step-1/executor/turn-1" })
    })
  )

  it.effect("a secret that is echoed is removed", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(
        ask(
          () => Effect.fail(responseError(401, "bad key sk-0123456789")),
          {},
          {
            secrets: [Redacted.make("sk-0123456789")]
          }
        )
      )
      expect(failure.detail).toBe("bad key <redacted>")
    })
  )

  it.effect("a model that hangs times out, is interrupted, and is asked again", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const hang = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
      const fiber = yield* Effect.fork(ask(() => hang, {}, { timeout: "1 second", maxRetries: 1 }))
      yield* TestClock.adjust("1 minute")
      const exit = yield* Fiber.await(fiber)
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
        reason: { _tag: "TimedOut", after: 1000 }
      })
      expect(interrupted).toBe(2)
    })
  )
})

describe("what the model must see again", () => {
  it.effect("goes back as its package noted it: signed reasoning, and what stands on a call", () =>
    Effect.gen(function* () {
      const signed = { anthropic: { type: "thinking", signature: "sig" } }
      const first = yield* ask(
        () =>
          parts(
            { type: "reasoning", text: "Hm.", metadata: signed },
            { ...call("Search", { input: "x" }), metadata: { google: { thoughtSignature: "c2ln" } } },
            finish("tool-calls")
          ),
        { tools: [search] }
      )
      let prompt: unknown
      yield* ask(
        (options) => {
          prompt = options.prompt
          return parts({ type: "text", text: "Done." }, finish("stop"))
        },
        {
          tools: [search],
          messages: [
            ...request.messages,
            { role: "assistant", content: "", toolCalls: first.toolCalls, ...state(first) },
            { role: "tool", content: "found", toolCallId: "c1", name: "Search" }
          ]
        }
      )
      const sent = JSON.stringify(prompt)
      expect(sent).toContain('"signature":"sig"')
      expect(sent).toContain('"thoughtSignature":"c2ln"')
      expect(sent.indexOf("Hm.")).toBeLessThan(sent.indexOf("thoughtSignature"))
    })
  )

  const state = (reply: Reply) => (reply.providerState === undefined ? {} : { providerState: reply.providerState })

  it.effect("a reply that broke off is unavailable, and an end that the package does not know is no word", () =>
    Effect.gen(function* () {
      const broken = yield* Effect.flip(ask(() => parts({ type: "text", text: "half" }, finish("error"))))
      expect(broken.reason._tag).toBe("Unavailable")
      const unknown = yield* ask(() => parts({ type: "text", text: "whole" }, finish("unknown")))
      expect(unknown).toMatchObject({ text: "whole", finishReason: "other" })
      expect(unknown).not.toHaveProperty("rawFinishReason")
    })
  )

  it.effect("what a package cannot read is told by its first words, never by a Schema's tree", () =>
    Effect.gen(function* () {
      const cause = yield* Effect.flip(Schema.decodeUnknown(Schema.Struct({ a: Schema.Number }))({ hello: "world" }))
      const error = yield* Effect.flip(
        ask(() => Effect.fail(new AiError.MalformedOutput({ module: "S", method: "m", cause })))
      )
      expect(error.reason._tag).toBe("Unreadable")
      expect(error.message).toContain('{"hello":"world"}')
      expect(error.message).not.toContain("└─")
    })
  )
})
