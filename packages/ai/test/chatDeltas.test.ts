/** How the pieces of a `/chat/completions` reply come in the field, each under the report that it was reduced from. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as Loopback from "./support/Loopback.js"

const request: Request = { role: "executor", call: "turn-1", messages: [{ role: "user", content: "Work." }] }

const body =
  (text: string, type = "text/event-stream"): Loopback.Answer =>
  (response) => {
    response.writeHead(200, { "content-type": type })
    response.end(text)
  }

const ask = (answer: Loopback.Answer, stream = true) =>
  Effect.flatMap(Loopback.make(answer), (server) =>
    Llm.pipe(
      Effect.flatMap((llm) => llm.complete({ ...request, ...(stream ? { onDelta: () => Effect.void } : {}) })),
      Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 }))
    )
  )

type Piece = {
  readonly index?: number
  readonly id?: string
  readonly function?: object
  readonly [name: string]: unknown
}

const delta = (value: object, rest: object = {}) => ({ choices: [{ index: 0, delta: value, ...rest }] })
const call = (...pieces: ReadonlyArray<Piece>) => delta({ tool_calls: pieces })
const events = (...all: ReadonlyArray<object | string>) =>
  body(
    all
      .map((event) => (typeof event === "string" ? event : `data: ${JSON.stringify(event)}`))
      .map((event) => `${event}\n\n`)
      .join("")
  )
const end = (reason: string | null = "tool_calls") => delta({}, { finish_reason: reason })

const calls: ReadonlyArray<readonly [string, ReadonlyArray<object>, ReadonlyArray<readonly [string, string]>]> = [
  [
    "NW-17: ids that change within one call",
    [
      call({ index: 0, id: "a1", function: { name: "search", arguments: "" } }),
      call({ index: 0, id: "b2", function: { arguments: '{"input":' } }),
      call({ index: 0, id: "b2", function: { arguments: '"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "NW-17: and without an index",
    [
      call({ id: "a1", function: { name: "search", arguments: "" } }),
      call({ id: "b2", function: { arguments: '{"input":' } }),
      call({ function: { arguments: '"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "NW-18: id and name in each chunk",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: "" } }),
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":' } }),
      call({ index: 0, id: "a", function: { name: "search", arguments: '"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "NW-18: the name in each chunk, without ids or indexes",
    [
      call({ function: { name: "search", arguments: '{"in' } }),
      call({ function: { name: "search", arguments: 'put":"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "NW-18: empty and null names behind the first",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":' } }),
      call({ index: 0, id: "", function: { name: "", arguments: '"x"' } }),
      call({ index: 0, id: "", function: { name: null, arguments: "}" } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "a name in pieces",
    [
      call({ index: 0, id: "a", function: { name: "sea" } }),
      call({ index: 0, function: { name: "rch" } }),
      call({ index: 0, function: { arguments: '{"input":"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "a name in a later delta than the id",
    [call({ index: 0, id: "a", type: "function" }), call({ index: 0, function: { name: "search", arguments: "{}" } })],
    [["search", "{}"]]
  ],
  [
    "whole calls, all numbered 0, one and the same tool",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":"x"}' } }),
      call({ index: 0, id: "b", function: { name: "search", arguments: '{"input":"y"}' } })
    ],
    [
      ["search", '{"input":"x"}'],
      ["search", '{"input":"y"}']
    ]
  ],
  [
    "whole calls without ids or indexes",
    [
      call({ function: { name: "search", arguments: '{"input":"x"}' } }),
      call({ function: { name: "search", arguments: '{"input":"y"}' } })
    ],
    [
      ["search", '{"input":"x"}'],
      ["search", '{"input":"y"}']
    ]
  ],
  [
    "whole calls in one delta, arguments as objects",
    [call({ function: { name: "search", arguments: { input: "x" } } }, { function: { name: "add", arguments: {} } })],
    [
      ["search", '{"input":"x"}'],
      ["add", "{}"]
    ]
  ],
  [
    "two calls with the same id",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":"x"}' } }),
      call({ index: 1, id: "a", function: { name: "add", arguments: "{}" } })
    ],
    [
      ["search", '{"input":"x"}'],
      ["add", "{}"]
    ]
  ],
  [
    "interleaved calls",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: "" } }),
      call({ index: 1, id: "b", function: { name: "add", arguments: "" } }),
      call({ index: 0, function: { arguments: '{"input":"x"}' } }),
      call({ index: 1, function: { arguments: "{}" } })
    ],
    [
      ["search", '{"input":"x"}'],
      ["add", "{}"]
    ]
  ],
  [
    "indexes that do not begin at 0",
    [
      call({ index: 2, id: "a", function: { name: "search", arguments: "" } }),
      call({ index: 2, function: { arguments: '{"input":"x"}' } })
    ],
    [["search", '{"input":"x"}']]
  ],
  [
    "an empty last delta, and the whole arguments once more",
    [
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":"x"}' } }),
      call({ index: 0, id: "a", function: { name: "search", arguments: '{"input":"x"}' } }),
      call({ index: 0, function: {} })
    ],
    [["search", '{"input":"x"}']]
  ]
]

describe("streamed tool calls", () => {
  it.scopedLive.each(calls)("%s", ([, deltas, expected]) =>
    Effect.gen(function* () {
      const reply = yield* ask(events(...deltas, end(), "data: [DONE]"))
      expect(reply.toolCalls.map(({ arguments: text, name }) => [name, text])).toEqual(expected)
      expect(new Set(reply.toolCalls.map(({ id }) => id)).size).toBe(expected.length)
      expect(reply.finishReason).toBe("tool-calls")
    })
  )
})

const text = (content: unknown) => delta({ content })

describe("streamed text", () => {
  const streams: ReadonlyArray<readonly [string, Loopback.Answer]> = [
    ["NW-21: an empty data line", events(text("He"), "data: ", text("llo"), end("stop"))],
    ["NW-21: a ping as data", events(text("He"), "data: ping", text("llo"), end("stop"))],
    ["NW-21: null as data", events(text("He"), "data: null", "data:", ": keep-alive", text("llo"), end("stop"))],
    ["NW-21: an event of another kind", events(text("He"), "event: ping\ndata: {}", text("llo"), end("stop"))],
    [
      "an empty data line within the event",
      body(
        `data: ${JSON.stringify(text("He"))}\ndata: \ndata: ${JSON.stringify(text("llo"))}\n\ndata: ${JSON.stringify(end("stop"))}\n\n`
      )
    ],
    [
      "no blank lines between events",
      body([text("He"), text("llo"), end("stop")].map((event) => `data: ${JSON.stringify(event)}\n`).join(""))
    ],
    [
      "no blank line at the end",
      body(`data: ${JSON.stringify(text("Hello"))}\n\ndata: ${JSON.stringify(end("stop"))}`)
    ],
    ["NW-08: no [DONE]", events(text("Hello"), end("stop"))],
    ["a first chunk of Azure", events({ choices: [], prompt_filter_results: [{}] }, text("Hello"), end("stop"))],
    [
      "content as parts",
      events(
        text([{ type: "text", text: "He" }]),
        text([
          { type: "thinking", thinking: [] },
          { type: "text", text: "llo" }
        ]),
        end("stop")
      )
    ],
    [
      "under JSON's content type",
      body(`data: ${JSON.stringify(text("Hello"))}\n\ndata: ${JSON.stringify(end("stop"))}\n\n`, "application/json")
    ],
    [
      "under none, with a BOM",
      body(`\uFEFFdata: ${JSON.stringify(text("Hello"))}\n\ndata: ${JSON.stringify(end("stop"))}\n\n`, "")
    ],
    ["padding against eavesdroppers", events({ ...text("Hello"), obfuscation: "abc" }, end("stop"))],
    [
      "as JSON line by line",
      body(
        [text("He"), text("llo"), end("stop")].map((event) => JSON.stringify(event)).join("\n"),
        "application/x-ndjson"
      )
    ]
  ]

  it.scopedLive.each(streams)("%s", ([, answer]) =>
    Effect.gen(function* () {
      for (const stream of [true, false]) {
        expect(yield* ask(answer, stream)).toMatchObject({ text: "Hello", toolCalls: [], finishReason: "stop" })
      }
    })
  )

  const completion = {
    choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 2 }
  }
  it.scopedLive.each<readonly [string, string]>([
    ["NW-23: with [DONE] behind it", `${JSON.stringify(completion)}\n\ndata: [DONE]\n\n`],
    ["NW-23: as the only event", `data: ${JSON.stringify(completion)}\n\ndata: [DONE]\n\n`],
    ["NW-23: alone", JSON.stringify(completion)],
    ["behind blank lines, which keep the connection alive", `\n\n\n${JSON.stringify(completion)}`]
  ])("one completion under text/event-stream: %s", ([, written]) =>
    Effect.gen(function* () {
      for (const stream of [true, false]) {
        expect(yield* ask(body(written), stream)).toMatchObject({
          text: "Hello",
          usage: { inputTokens: 7, outputTokens: 2 }
        })
      }
    })
  )

  it.scopedLive.each<readonly [string, Loopback.Answer]>([
    [
      "NW-25: in the last choice",
      events(text("Hi"), delta({}, { finish_reason: "stop", usage: { prompt_tokens: 7, completion_tokens: 2 } }))
    ],
    [
      "in a chunk of its own",
      events(text("Hi"), end("stop"), { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } })
    ],
    [
      "in every chunk",
      events(
        { ...text("Hi"), usage: { prompt_tokens: 7, completion_tokens: 1 } },
        { ...end("stop"), usage: { prompt_tokens: 7, completion_tokens: 2 } }
      )
    ],
    [
      "null until the end",
      events({ ...text("Hi"), usage: null }, { ...end("stop"), usage: { prompt_tokens: 7, completion_tokens: 2 } })
    ],
    ["of Groq", events(text("Hi"), { ...end("stop"), x_groq: { usage: { prompt_tokens: 7, completion_tokens: 2 } } })]
  ])("usage stands anywhere: %s", ([, answer]) =>
    Effect.gen(function* () {
      expect((yield* ask(answer)).usage).toEqual({ inputTokens: 7, outputTokens: 2 })
    })
  )

  it.scopedLive("without a finish reason [DONE] is the end, unless the connection breaks behind it", () =>
    Effect.gen(function* () {
      expect(yield* ask(events(text("Hello"), "data: [DONE]"))).toMatchObject({ text: "Hello", finishReason: "other" })
      const broken = yield* Effect.flip(
        ask((response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(`data: ${JSON.stringify(text("Hel"))}\n\ndata: [DONE]\n\n`, () => response.destroy())
        })
      )
      expect(broken.reason._tag).toBe("Unavailable")
    })
  )

  it.scopedLive("a connection that breaks behind the finish reason took nothing with it", () =>
    Effect.gen(function* () {
      const reply = yield* ask((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`data: ${JSON.stringify(text("Hello"))}\n\ndata: ${JSON.stringify(end("stop"))}\n\n`, () =>
          response.destroy()
        )
      })
      expect(reply).toMatchObject({ text: "Hello", finishReason: "stop" })
    })
  )

  it.scopedLive("an empty stream is asked for whole, which says what is wrong", () =>
    Effect.gen(function* () {
      const full = {
        error: { message: "This model's maximum context length is 4096 tokens.", code: "context_length_exceeded" }
      }
      const server = yield* Loopback.make(body(""), Loopback.json(full, 400))
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete({ ...request, onDelta: () => Effect.void })),
        Effect.provide(OpenAiCompatible.layerFetch({ baseUrl: server.url, model: "m", maxRetries: 0 })),
        Effect.flip
      )
      expect(error.reason._tag).toBe("ContextOverflow")
      expect(server.received.map((received) => received.body["stream"])).toEqual([true, false])
    })
  )
})

describe("several choices", () => {
  const search = { id: "c", type: "function", function: { name: "search", arguments: "{}" } }
  const whole = (...choices: ReadonlyArray<object>) => Loopback.json({ choices })
  const one = (message: object, finish_reason = "tool_calls") => ({ message, finish_reason })

  it.scopedLive("NW-20: the text of one and the calls of the other are one reply", () =>
    Effect.gen(function* () {
      for (const answer of [
        whole(one({ content: "I will look." }), one({ content: null, tool_calls: [search] })),
        events(
          { choices: [{ index: 0, delta: { content: "I will look." } }] },
          { choices: [{ index: 1, delta: { tool_calls: [{ ...search, index: 0 }] } }] },
          {
            choices: [
              { index: 0, delta: {}, finish_reason: "tool_calls" },
              { index: 1, delta: {}, finish_reason: "tool_calls" }
            ]
          }
        )
      ]) {
        const reply = yield* ask(answer)
        expect(reply).toMatchObject({
          text: "I will look.",
          finishReason: "tool-calls",
          toolCalls: [{ name: "search" }]
        })
      }
    })
  )

  it.scopedLive("of several answers the first holds", () =>
    Effect.gen(function* () {
      const answer = whole(one({ content: "A" }, "stop"), one({ content: "B" }, "stop"))
      expect(yield* ask(answer)).toMatchObject({ text: "A", toolCalls: [] })
    })
  )

  it.scopedLive("a choice that was cut off makes the reply one", () =>
    Effect.gen(function* () {
      const answer = whole(one({ content: "I will" }, "length"), one({ content: null, tool_calls: [search] }))
      expect(yield* ask(answer)).toMatchObject({ finishReason: "length" })
    })
  )
})
