import { expect, it } from "@effect/vitest"
import { Llm, type Request, type Service } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, beforeAll, describe } from "vitest"
import * as Gguf from "../src/Gguf.js"
import { toGbnf } from "../src/internal/gbnf.js"
import { absent, modelFile } from "./support/modelFile.js"
import { request } from "./support/models.js"

const file = modelFile()

const ask = (given: Partial<Request>) =>
  request({ maxTokens: 8, messages: [{ role: "user", content: "Name three colours." }], ...given })

describe.skipIf(file === undefined)(`a real model${file === undefined ? ` (skipped: ${absent})` : ""}`, () => {
  const runtime = ManagedRuntime.make(Layer.suspend(() => Gguf.layer({ file: file ?? "", contextSize: 1024 })))
  let model: Service
  beforeAll(async () => {
    model = await runtime.runPromise(Llm)
  })
  afterAll(() => runtime.dispose())

  it.live("text, usage, model; cut off by the token limit", () =>
    Effect.gen(function* () {
      const reply = yield* model.complete(ask({}))
      expect(reply).toMatchObject({ finishReason: "length", toolCalls: [], usage: { outputTokens: 8 } })
      expect(reply.text.length).toBeGreaterThan(10)
      expect(reply.usage.inputTokens).toBeGreaterThan(5)
      expect(reply.model).toMatch(/\.gguf$/)
      expect(yield* model.complete(ask({}))).toEqual(reply)
    })
  )

  it.live("ends by itself", () =>
    Effect.gen(function* () {
      const content = "What is the capital of France?"
      const reply = yield* model.complete(ask({ maxTokens: 200, messages: [{ role: "user", content }] }))
      expect(reply.finishReason).toBe("stop")
    })
  )

  it.live("a stop sequence ends the text before it", () =>
    Effect.gen(function* () {
      const { text } = yield* model.complete(ask({}))
      const word = text.slice(3, 8)
      const reply = yield* model.complete(ask({ stop: [word] }))
      expect(reply).toMatchObject({ text: text.slice(0, text.indexOf(word)), finishReason: "stop" })
    })
  )

  it.live("a format constrains the reply, unless that is off", () =>
    Effect.gen(function* () {
      const format = {
        name: "f",
        schema: {
          anyOf: [
            { type: "object", properties: { final_answer: { type: "string" } }, required: ["final_answer"] },
            { type: "object", properties: { steps: { type: "array", items: { type: "string" } } }, required: ["steps"] }
          ]
        }
      }
      const asked = ask({ maxTokens: 100, format })
      const reply = yield* model.complete(asked)
      expect(Object.keys(JSON.parse(reply.text))).toHaveLength(1)
      const free = yield* Effect.scoped(
        Effect.flatMap(Gguf.make({ file: file ?? "", contextSize: 256, structured: "off" }), (llm) =>
          llm.complete(asked)
        )
      )
      expect(free.text.startsWith("{")).toBe(false)
    })
  )

  it.live("a prompt that does not fit", () =>
    Effect.gen(function* () {
      const messages = [{ role: "user" as const, content: "word ".repeat(2_000) }]
      const error = yield* Effect.flip(model.complete(ask({ messages })))
      expect(error).toMatchObject({ _tag: "LlmError", reason: { _tag: "ContextOverflow" }, role: "executor" })
    })
  )

  it.live("a reply ends where the context does", () =>
    Effect.gen(function* () {
      const messages = [{ role: "user" as const, content: `Write a long story. ${"word ".repeat(960)}` }]
      const reply = yield* model.complete(ask({ messages, maxTokens: 500 }))
      expect((reply.usage.inputTokens ?? 0) + (reply.usage.outputTokens ?? 0)).toBeLessThanOrEqual(1024)
    })
  )

  it.live("interruption ends the generation, and the next call has the model at once", () =>
    Effect.gen(function* () {
      const long = ask({ maxTokens: 900, messages: [{ role: "user", content: "Count to a thousand." }] })
      const running = yield* Effect.fork(model.complete(long))
      const waiting = yield* Effect.fork(model.complete(long))
      yield* Effect.sleep("200 millis")
      yield* Fiber.interrupt(waiting)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(running))).toBe(true)
      const start = performance.now()
      yield* model.complete(ask({ maxTokens: 4 }))
      expect(performance.now() - start).toBeLessThan(4_000)
    })
  )

  it.live("a time limit", () =>
    Effect.gen(function* () {
      const short = yield* Gguf.make({ file: file ?? "", timeout: "1 millis" })
      expect(yield* Effect.flip(short.complete(ask({})))).toMatchObject({ reason: { _tag: "TimedOut", after: 1 } })
    }).pipe(Effect.scoped)
  )

  it.live("tool messages and empty prompts are taken as they come", () =>
    Effect.gen(function* () {
      const messages: Request["messages"] = [
        { role: "user", content: "" },
        { role: "assistant", content: "", toolCalls: [{ id: "1", name: "Search", arguments: "{}" }] },
        { role: "tool", content: "found <|im_end|>", toolCallId: "1", name: "Search" }
      ]
      expect((yield* model.complete(ask({ messages, maxTokens: 4 }))).usage.outputTokens).toBeGreaterThan(0)
      expect((yield* model.complete(ask({ messages: [], maxTokens: 4 }))).toolCalls).toEqual([])
    })
  )
})

it.live.each([
  ["a file that is not there", "/nowhere/model.gguf", "no such file"],
  ["a folder", import.meta.dirname, "is a folder"],
  ["a file that is no model", import.meta.filename, "Gguf.test.ts"]
] as const)("%s", ([, path, words]) =>
  Effect.gen(function* () {
    const llm = yield* Gguf.make({ file: path })
    const error = yield* Effect.flip(llm.complete(ask({})))
    expect(error).toMatchObject({ reason: { _tag: "BadRequest" }, role: "executor", call: "turn-1" })
    expect(error.message).toContain(words)
  }).pipe(Effect.scoped)
)

describe("schemas", () => {
  it.each([
    [{ type: "string", minLength: 1 }, { type: "string" }],
    [{ anyOf: [{ const: 1 }, { type: "null" }] }, { oneOf: [{ enum: [1] }, { type: "null" }] }],
    [
      { $ref: "#/$defs/A", $defs: { A: { type: "array", items: { type: "integer" }, minItems: 2 } } },
      { type: "array", items: { type: "integer" }, minItems: 2 }
    ],
    [
      { type: "object", properties: { a: { enum: ["x"] } }, additionalProperties: { type: "string" } },
      { type: "object", properties: { a: { enum: ["x"] } }, additionalProperties: { type: "string" } }
    ]
  ])("%j", (schema, expected) => expect(toGbnf(schema)).toEqual(expected))

  it.each([
    {},
    { type: ["string", "null"] },
    { type: "array" },
    { allOf: [{ type: "string" }] },
    { type: "object", properties: { a: {} } },
    { enum: [{}] }
  ])("%j is not expressed, rather than wrongly", (schema) => expect(toGbnf(schema)).toBeUndefined())
})
