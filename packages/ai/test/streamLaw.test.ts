/**
 * The law of streams: a reply that was streamed, split anywhere, with whatever keeps the connection alive, is the reply
 * that would have come in one piece. For each wire.
 */
import { expect, it } from "@effect/vitest"
import type { Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as fc from "fast-check"
import { describe } from "vitest"
import * as Body from "../src/internal/body.js"
import * as Chat from "../src/internal/chat.js"
import type { Decoded, Wire } from "../src/internal/exchange.js"
import * as Gemini from "../src/internal/gemini.js"
import * as Messages from "../src/internal/messages.js"
import * as Responses from "../src/internal/responses.js"

const runs = Number(process.env["FORETHOUGHT_RUNS"] ?? 150)

const request: Request = { role: "executor", call: "turn-1", messages: [{ role: "user", content: "Work." }] }

interface Said {
  readonly thought: string
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: { readonly [key: string]: unknown } }>
}

/** One provider: what it would send whole, and as events with pieces of the texts cut where `cut` says. */
interface Speaker {
  readonly wire: Wire
  readonly whole: (said: Said) => object
  readonly events: (said: Said, cut: (text: string) => ReadonlyArray<string>) => ReadonlyArray<object>
  /** The last line, which some servers leave out; without one the provider has none. */
  readonly last?: string
}

const given = { model: "m", apiUrl: "http://127.0.0.1", headers: {}, config: {} }
const usage = { input: 7, output: 3 }

// ---------------------------------------------------------------------------------------------------------------
// the providers
// ---------------------------------------------------------------------------------------------------------------

const chatCall = ({ input, name }: Said["calls"][number], index: number) => ({
  id: `c${index}`,
  type: "function",
  extra_content: { google: { thought_signature: `sig${index}` } },
  function: { name, arguments: JSON.stringify(input) }
})

type Style = "book" | "no index" | "all zero" | "id and name again" | "ids change" | "whole calls" | "late name"

const chat = (style: Style): Speaker => {
  const chunk = (delta: object, rest: object = {}) => ({
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, ...rest }],
    usage: null
  })
  const finish = ({ calls }: Said) => (calls.length > 0 ? "tool_calls" : "stop")
  return {
    wire: Chat.make({ model: "m", from: "chat", url: () => "", headers: {} }),
    whole: (said) => ({
      object: "chat.completion",
      model: "m",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: said.text,
            reasoning_content: said.thought,
            tool_calls: said.calls.map(chatCall)
          },
          finish_reason: finish(said)
        }
      ],
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output }
    }),
    events: (said, cut) => [
      chunk({ role: "assistant", content: "" }),
      ...cut(said.thought).map((piece) => chunk({ reasoning_content: piece })),
      ...cut(said.text).map((piece) => chunk({ content: piece })),
      ...said.calls.flatMap((call, at) => {
        const { function: inner, id, ...outer } = chatCall(call, at)
        const index = style === "no index" ? {} : { index: style === "all zero" || style === "ids change" ? 0 : at }
        const delta = (piece: object, again: object = {}) =>
          chunk({ tool_calls: [{ ...index, ...again, function: piece }] })
        const pieces = cut(inner.arguments)
        switch (style) {
          case "whole calls":
            return [chunk({ tool_calls: [{ ...index, id, ...outer, function: inner }] })]
          case "late name":
            return [
              chunk({ tool_calls: [{ ...index, id, ...outer, function: { name: "", arguments: "" } }] }),
              delta({ name: inner.name }),
              ...pieces.map((piece) => delta({ arguments: piece }))
            ]
          case "id and name again":
            return [
              chunk({ tool_calls: [{ ...index, id, ...outer, function: { name: inner.name, arguments: "" } }] }),
              ...pieces.map((piece) => delta({ name: inner.name, arguments: piece }, { id }))
            ]
          case "ids change":
            return [
              chunk({ tool_calls: [{ ...index, id, ...outer, function: { name: inner.name, arguments: "" } }] }),
              ...pieces.map((piece, n) => delta({ arguments: piece }, { id: `x${at}${n}` }))
            ]
          default:
            return [
              chunk({ tool_calls: [{ ...index, id, ...outer, function: { name: inner.name, arguments: "" } }] }),
              ...pieces.map((piece) => delta({ arguments: piece })),
              delta({ arguments: "" })
            ]
        }
      }),
      chunk({}, { finish_reason: finish(said) }),
      {
        object: "chat.completion.chunk",
        choices: [],
        usage: { prompt_tokens: usage.input, completion_tokens: usage.output }
      }
    ],
    last: "data: [DONE]"
  }
}

const anthropic: Speaker = {
  wire: Messages.make(given),
  whole: ({ calls, text, thought }) => ({
    type: "message",
    model: "m",
    content: [
      { type: "thinking", thinking: thought, signature: "sig" },
      { type: "text", text },
      ...calls.map(({ input, name }, index) => ({ type: "tool_use", id: `c${index}`, name, input }))
    ],
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: { input_tokens: usage.input, output_tokens: usage.output }
  }),
  events: ({ calls, text, thought }, cut) => {
    const block = (index: number, start: object, deltas: ReadonlyArray<object>) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index }
    ]
    return [
      { type: "message_start", message: { type: "message", model: "m", usage: { input_tokens: 7, output_tokens: 1 } } },
      { type: "ping" },
      ...block(0, { type: "thinking", thinking: "", signature: "" }, [
        ...cut(thought).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature: "sig" }
      ]),
      ...block(
        1,
        { type: "text", text: "" },
        cut(text).map((piece) => ({ type: "text_delta", text: piece }))
      ),
      { type: "an_event_of_tomorrow", data: 1 },
      ...calls.flatMap(({ input, name }, at) =>
        block(
          at + 2,
          { type: "tool_use", id: `c${at}`, name, input: {} },
          cut(JSON.stringify(input)).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
        )
      ),
      {
        type: "message_delta",
        delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" },
        usage: { output_tokens: usage.output, input_tokens: null }
      },
      { type: "message_stop" }
    ]
  }
}

const openAi = (keepsOutput: boolean): Speaker => {
  const items = ({ calls, text, thought }: Said) => [
    { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: thought }], encrypted_content: "secret" },
    { type: "message", id: "msg", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
    ...calls.map(({ input, name }, index) => ({
      type: "function_call",
      id: `fc${index}`,
      call_id: `c${index}`,
      name,
      arguments: JSON.stringify(input)
    }))
  ]
  const whole = (said: Said) => ({
    object: "response",
    status: "completed",
    model: "m",
    output: items(said),
    usage: { input_tokens: usage.input, output_tokens: usage.output }
  })
  return {
    wire: Responses.make(given),
    whole,
    events: (said, cut) => [
      { type: "response.created", response: { ...whole(said), status: "in_progress", output: [], usage: null } },
      ...items(said).flatMap(
        (item, at): ReadonlyArray<object> => [
          { type: "response.output_item.added", output_index: at, item: { ...item, content: [], summary: [] } },
          ...(item.type === "reasoning"
            ? cut(said.thought).map((delta) => ({
                type: "response.reasoning_summary_text.delta",
                output_index: at,
                delta
              }))
            : item.type === "message"
              ? cut(said.text).map((delta) => ({ type: "response.output_text.delta", output_index: at, delta }))
              : cut(String(Reflect.get(item, "arguments"))).map((delta) => ({
                  type: "response.function_call_arguments.delta",
                  output_index: at,
                  delta
                }))),
          { type: "response.event_of_tomorrow", output_index: at },
          { type: "response.output_item.done", output_index: at, item }
        ]
      ),
      { type: "response.completed", response: keepsOutput ? whole(said) : { ...whole(said), output: [] } }
    ]
  }
}

const google: Speaker = {
  wire: Gemini.make(given),
  whole: ({ calls, text, thought }) => ({
    candidates: [
      {
        content: {
          parts: [
            { text: thought, thought: true },
            { text },
            ...calls.map(({ input, name }, index) => ({
              functionCall: { id: `c${index}`, name, args: input },
              ...(index === 0 ? { thoughtSignature: "sig" } : {})
            }))
          ]
        },
        finishReason: "STOP"
      }
    ],
    usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output },
    modelVersion: "m"
  }),
  events: ({ calls, text, thought }, cut) => {
    const chunk = (parts: ReadonlyArray<object>, rest: object = {}, output = 1) => ({
      candidates: [{ content: { parts, role: "model" }, ...rest }],
      usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: output },
      modelVersion: "m"
    })
    return [
      ...cut(thought).map((piece) => chunk([{ text: piece, thought: true }])),
      ...cut(text).map((piece) => chunk([{ text: piece }])),
      ...calls.map(({ input, name }, index) =>
        chunk([
          {
            functionCall: { id: `c${index}`, name, args: input },
            ...(index === 0 ? { thoughtSignature: "sig" } : {})
          }
        ])
      ),
      chunk([], { finishReason: "STOP" }, usage.output)
    ]
  }
}

const styles: ReadonlyArray<Style> = [
  "book",
  "no index",
  "all zero",
  "id and name again",
  "ids change",
  "whole calls",
  "late name"
]

const speakers: ReadonlyArray<readonly [string, Speaker]> = [
  ...styles.map((style) => [`/chat/completions, ${style}`, chat(style)] as const),
  ["Anthropic", anthropic],
  ["OpenAI", openAi(true)],
  ["OpenAI, the output left out at the end", openAi(false)],
  ["Google", google]
]

// ---------------------------------------------------------------------------------------------------------------
// the stream
// ---------------------------------------------------------------------------------------------------------------

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    "",
    "1. Fetch\n2. Count",
    "Ærlig…😀",
    "data: [DONE]\n\n",
    '{"a": "\\n"}',
    "\r\n: x\r\r",
    "<think>hm</think>"
  )
)

const said: fc.Arbitrary<Said> = fc.record({
  thought: text,
  text,
  calls: fc.array(
    fc.record({
      name: fc.constantFrom("Search", "search_web", "Add", "AddAll"),
      input: fc.dictionary(fc.constantFrom("input", "n", "deep"), fc.jsonValue(), { maxKeys: 3 })
    }),
    { maxLength: 3 }
  )
})

const noise = fc.constantFrom(
  ": keep-alive",
  ": OPENROUTER PROCESSING",
  "data: ",
  "data:",
  "data: ping",
  "data: null",
  "",
  ":"
)

const wires = fc.record({
  said,
  cuts: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
  chunks: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
  newline: fc.constantFrom("\n", "\r\n", "\r"),
  noise: fc.array(noise, { maxLength: 5 }),
  named: fc.boolean(),
  bom: fc.boolean(),
  last: fc.boolean(),
  blank: fc.boolean(),
  pretty: fc.boolean()
})

type Wiring = typeof wires extends fc.Arbitrary<infer A> ? A : never

/** Cuts a list in pieces of the given sizes, over and over. */
const pieces = <A>(all: ReadonlyArray<A>, sizes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<A>> => {
  const found: Array<ReadonlyArray<A>> = []
  for (let at = 0, n = 0; at < all.length; n++) {
    const size = sizes[n % sizes.length] ?? 1
    found.push(all.slice(at, at + size))
    at += size
  }
  return found
}

const bytesOf = ({ last, events }: Speaker, wiring: Wiring): Uint8Array => {
  const { newline } = wiring
  const cut = (whole: string) => pieces([...whole], wiring.cuts).map((part) => part.join(""))
  const lines = events(wiring.said, cut).map((event, index) => {
    const name = Reflect.get(event, "type")
    const named = wiring.named && typeof name === "string" ? `event: ${name}${newline}` : ""
    // Several lines of data are one, joined by line breaks.
    const json = wiring.pretty ? JSON.stringify(event, null, 1) : JSON.stringify(event)
    const data = json.split("\n").map((line) => `data:${wiring.blank ? " " : ""}${line}${newline}`)
    const between = wiring.noise[index % (wiring.noise.length + 1)]
    return `${between === undefined ? "" : `${between}${newline}${newline}`}${named}${data.join("")}${newline}`
  })
  if (last !== undefined && wiring.last) lines.push(`${last}${newline}${newline}`)
  return new TextEncoder().encode(`${wiring.bom ? "\uFEFF" : ""}${lines.join("")}`)
}

const read = (wire: Wire, bytes: Uint8Array, sizes: ReadonlyArray<number>) => {
  const told: Array<Body.Piece> = []
  const chunks = pieces([...bytes], sizes).map((chunk) => Uint8Array.from(chunk))
  const body = Effect.runSync(
    Body.read(Stream.fromIterable(chunks), wire, (piece) => Effect.sync(() => void told.push(piece)))
  )
  return { body, told }
}

const decoded = (wire: Wire, body: Body.Body): Decoded => {
  if (body._tag !== "Response") throw new Error(JSON.stringify(body))
  return wire.decode(body.body, request)
}

describe.each(speakers)("%s", (_, speaker) => {
  it("gives the reply of the whole, however it is streamed", () => {
    fc.assert(
      fc.property(wires, (wiring) => {
        const whole = speaker.wire.decode(JSON.parse(JSON.stringify(speaker.whole(wiring.said))), request)
        const { body, told } = read(speaker.wire, bytesOf(speaker, wiring), wiring.chunks)
        expect(decoded(speaker.wire, body)).toEqual(whole)
        expect(whole._tag).toBe("Reply")
        expect(told.map((piece) => piece.text).join("")).toBe(wiring.said.text)
        expect(told.map((piece) => piece.reasoning).join("")).toBe(wiring.said.thought)
      }),
      { numRuns: runs }
    )
  })

  it("is cut off, and never a shorter reply, where the stream ends before its end", () => {
    fc.assert(
      fc.property(wires, fc.nat(), (wiring, at) => {
        const bytes = bytesOf(speaker, { ...wiring, noise: [] })
        const end = new TextDecoder()
          .decode(bytes)
          .search(/"(?:finish_reason|stop_reason|finishReason)"|response\.completed/)
        const { body } = read(speaker.wire, bytes.slice(0, 1 + (at % Math.max(1, end - 1))), wiring.chunks)
        expect(body._tag).not.toBe("Response")
      }),
      { numRuns: runs }
    )
  })

  it("reads one document where a stream was asked for, and documents one after another", () => {
    fc.assert(
      fc.property(wires, (wiring) => {
        const whole = speaker.whole(wiring.said)
        const expected = speaker.wire.decode(JSON.parse(JSON.stringify(whole)), request)
        const all = speaker.events(wiring.said, (part) => [part]).map((event) => JSON.stringify(event))
        for (const written of [
          JSON.stringify(whole),
          `\n\n ${JSON.stringify(whole, null, 2)}\n`,
          `${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`,
          `data: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`,
          all.join("\n"),
          `[${all.join(",\n")}]`
        ]) {
          const { body } = read(speaker.wire, new TextEncoder().encode(written), wiring.chunks)
          expect(decoded(speaker.wire, body)).toEqual(expected)
        }
      }),
      { numRuns: Math.ceil(runs / 4) }
    )
  })
})

describe("any bytes", () => {
  it.each(speakers)("%s: are read to a typed end", (_, { wire }) => {
    const hostile = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom(
        "data: {",
        "data: [",
        "[DONE]",
        "{}",
        "[]",
        "[[",
        '{"choices":',
        "null",
        "<html><p>Hi",
        "event: x",
        "data: 1"
      )
    )
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 5 }), fc.constantFrom("\n", "\n\n", ""), (parts, glue) => {
        const { body } = read(wire, new TextEncoder().encode(parts.join(glue)), [7])
        if (body._tag === "Response") wire.decode(body.body, request)
      }),
      { numRuns: runs }
    )
  })
})
