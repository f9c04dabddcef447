/**
 * Conversations over several turns, with tools and reasoning, against servers that answer 400 where something is missing
 * that their provider wants back: each in the words of the provider, whole and streamed.
 */

import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Anthropic from "@forethought/ai/Anthropic"
import * as Fallback from "@forethought/ai/Fallback"
import * as Google from "@forethought/ai/Google"
import * as OpenAi from "@forethought/ai/OpenAi"
import * as OpenAiCompatible from "@forethought/ai/OpenAiCompatible"
import * as Journal from "@forethought/core/Journal"
import type { Llm } from "@forethought/core/Llm"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { json, loopback, type Received } from "./support/loopback.js"

type Json = { readonly [key: string]: unknown }

const objects = (value: unknown): ReadonlyArray<Json> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : []

const search = Tool.make({
  name: "search",
  description: "Searches.",
  readOnly: true,
  execute: (input) => Effect.succeed(`found ${input}`)
})

/** A provider's server: what it misses in a request, and what it says in each turn. */
interface Server {
  readonly missing: (body: Json, turn: number) => string | undefined
  readonly turns: ReadonlyArray<object | ReadonlyArray<object>>
}

const converse = async (server: Server, model: (url: string) => Layer.Layer<Llm>, stream: boolean) => {
  let turn = 0
  const faults: Array<string> = []
  await using running = await loopback((received: Received, response) => {
    const body: Json = JSON.parse(received.body)
    const missing = server.missing(body, turn)
    if (missing !== undefined) {
      faults.push(missing)
      json(response, { error: { message: missing, type: "invalid_request_error" } }, 400)
      return
    }
    const said = server.turns[Math.min(turn, server.turns.length - 1)]
    turn += 1
    if (!Array.isArray(said)) {
      json(response, said)
      return
    }
    response.setHeader("content-type", "text/event-stream")
    for (const event of said) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  const result = await ReAct.run("What is it?").pipe(
    Effect.map(({ answer }) => answer),
    Effect.catchAll((error) => Effect.succeed(`${error._tag}: ${error.message}`)),
    Effect.provide(
      Layer.mergeAll(
        model(running.url),
        Toolbox.layer([search]),
        Journal.layer(Journal.silent),
        stream ? Journal.streaming : Layer.empty
      )
    ),
    Effect.runPromise
  )
  return { result, faults, requests: running.received.map(({ body }): Json => JSON.parse(body)) }
}

const answered = async (server: Server, model: (url: string) => Layer.Layer<Llm>, stream = false) => {
  const { faults, requests, result } = await converse(server, model, stream)
  expect(faults).toEqual([])
  expect(result).toBe("It is 42.")
  return requests
}

// ---------------------------------------------------------------------------------------------------------------
// /chat/completions
// ---------------------------------------------------------------------------------------------------------------

const compatible = (url: string) => OpenAiCompatible.layerFetch({ baseUrl: url, model: "m", maxRetries: 0 })

const whole = (message: object, finish_reason = "stop") => ({
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }]
})

/** The same reply in pieces, with the fields of the message spread over chunks. */
const pieces = (message: { readonly [name: string]: unknown }, finish_reason = "stop"): ReadonlyArray<object> => {
  const chunk = (delta: object, rest: object = {}) => ({ choices: [{ index: 0, delta, ...rest }] })
  return [
    ...Object.entries(message).flatMap(([name, value]): ReadonlyArray<object> => {
      if (typeof value === "string") return [...value].map((letter) => chunk({ [name]: letter }))
      if (name !== "tool_calls") return [chunk({ [name]: value })]
      return objects(value).flatMap(({ function: inner, ...call }, index) => {
        const { arguments: text, ...rest } = Object(inner)
        return [
          chunk({ tool_calls: [{ ...call, index, function: { ...rest, arguments: "" } }] }),
          ...[...String(text)].map((letter) => chunk({ tool_calls: [{ index, function: { arguments: letter } }] }))
        ]
      })
    }),
    chunk({}, { finish_reason })
  ]
}

const toolCall = (id: string, input: string, rest: object = {}) => ({
  id,
  type: "function",
  function: { name: "search", arguments: JSON.stringify({ input }) },
  ...rest
})

/** A dialogue of two turns with tools, then the answer. */
const chatTurns = (
  first: { readonly [name: string]: unknown },
  second: { readonly [name: string]: unknown },
  last: { readonly [name: string]: unknown } = {}
) => {
  const all = [
    [first, "tool_calls"],
    [second, "tool_calls"],
    [{ ...last, content: "It is 42." }, "stop"]
  ] as const
  return {
    whole: all.map(([message, finish]) => whole(message, finish)),
    streamed: all.map(([message, finish]) => pieces(message, finish))
  }
}

const assistants = (body: Json) => objects(body["messages"]).filter(({ role }) => role === "assistant")

/** What every server checks: each call is answered right behind its message, and roles are in order. */
const disorder = (body: Json): string | undefined => {
  const messages = objects(body["messages"])
  for (const [index, message] of messages.entries()) {
    const calls = objects(message["tool_calls"]).map(({ id }) => id)
    const results = messages.slice(index + 1, index + 1 + calls.length).map(({ tool_call_id }) => tool_call_id)
    if (JSON.stringify(calls) !== JSON.stringify(results)) {
      return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    }
    const before = messages[index - 1]?.["role"]
    if (message["role"] === "user" && before === "tool") return "Unexpected role 'user' after role 'tool'"
    if (message["role"] === before && before !== "tool") return "Conversation roles must alternate"
    if (message["role"] === "assistant" && calls.length === 0 && message["content"] === "") {
      return "the message at position 3 with role 'assistant' must not be empty"
    }
  }
  return undefined
}

const chatServers: ReadonlyArray<readonly [string, (body: Json) => string | undefined, ReturnType<typeof chatTurns>]> =
  [
    [
      "NW-13: DeepSeek wants reasoning_content on every assistant message",
      (body) =>
        assistants(body).every(({ reasoning_content }, index) => reasoning_content === `I must look ${index}`)
          ? undefined
          : "The reasoning_content in the thinking mode must be passed back to the API.",
      chatTurns(
        { reasoning_content: "I must look 0", content: "", tool_calls: [toolCall("c1", "a")] },
        { reasoning_content: "I must look 1", content: "So.", tool_calls: [toolCall("c2", "b"), toolCall("c3", "c")] }
      )
    ],
    [
      "NW-13: Kimi wants it beside calls, and its own ids",
      (body) => {
        const ids = assistants(body).flatMap((message) => objects(message["tool_calls"]).map(({ id }) => id))
        if (ids.some((id, index) => id !== `functions.search:${index}`)) return `unknown tool_call_id ${ids.join()}`
        return assistants(body).every(({ reasoning_content }) => typeof reasoning_content === "string")
          ? undefined
          : "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
      },
      chatTurns(
        { reasoning_content: "hm", tool_calls: [toolCall("functions.search:0", "a")] },
        { reasoning_content: "hm", tool_calls: [toolCall("functions.search:1", "b")] }
      )
    ],
    [
      "gpt-oss on vLLM wants it under the name that it was sent by",
      (body) =>
        assistants(body).every((message) => message["reasoning"] === "hm" && !("reasoning_content" in message))
          ? undefined
          : "reasoning is missing",
      chatTurns(
        { reasoning: "hm", tool_calls: [toolCall("c1", "a")] },
        { reasoning: "hm", tool_calls: [toolCall("c2", "b")] }
      )
    ],
    [
      "NW-14: Gemini behind /chat/completions wants the signature of each call",
      (body) =>
        assistants(body).every((message) =>
          objects(message["tool_calls"]).every(
            (call, index) =>
              index > 0 ||
              JSON.stringify(call["extra_content"]).includes(`{"google":{"thought_signature":"sig-${call["id"]}"}}`)
          )
        )
          ? undefined
          : "Function call is missing a thought_signature in functionCall parts.",
      chatTurns(
        {
          tool_calls: [
            toolCall("c1", "a", { extra_content: { google: { thought_signature: "sig-c1" } } }),
            toolCall("c2", "b")
          ]
        },
        { tool_calls: [toolCall("c3", "c", { extra_content: { google: { thought_signature: "sig-c3" } } })] }
      )
    ],
    [
      "OpenRouter wants its reasoning_details unchanged",
      (body) => {
        const details = assistants(body).map((message) => JSON.stringify(message["reasoning_details"]))
        const expected = [1, 2].map((n) =>
          JSON.stringify([{ type: "reasoning.text", text: `hm ${n}`, signature: `sig ${n}`, index: 0 }])
        )
        return JSON.stringify(details) === JSON.stringify(expected.slice(0, details.length))
          ? undefined
          : `Invalid signature in thinking block: ${details.join()}`
      },
      chatTurns(
        {
          reasoning: "hm 1",
          reasoning_details: [{ type: "reasoning.text", text: "hm 1", signature: "sig 1", index: 0 }],
          tool_calls: [toolCall("c1", "a")]
        },
        {
          reasoning: "hm 2",
          reasoning_details: [{ type: "reasoning.text", text: "hm 2", signature: "sig 2", index: 0 }],
          tool_calls: [toolCall("c2", "b")]
        }
      )
    ],
    [
      "LiteLLM in front of Anthropic wants its thinking_blocks",
      (body) =>
        assistants(body).every((message) => objects(message["thinking_blocks"])[0]?.["signature"] === "sig")
          ? undefined
          : "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
      chatTurns(
        {
          reasoning_content: "hm",
          thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "sig" }],
          tool_calls: [toolCall("c1", "a")]
        },
        {
          reasoning_content: "hm",
          thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "sig" }],
          tool_calls: [toolCall("c2", "b")]
        }
      )
    ]
  ]

describe("/chat/completions", () => {
  describe.each(chatServers)("%s", (_, missing, turns) => {
    it.each(["whole", "streamed"] as const)("%s", async (how) => {
      const server = { missing: (body: Json) => disorder(body) ?? missing(body), turns: turns[how] }
      await answered(server, compatible, how === "streamed")
    })
  })

  it.each([
    ["an empty reply", whole({ content: "" })],
    ["thinking alone", whole({ content: "<think>Hm.</think>" })],
    ["reasoning alone", whole({ content: null, reasoning_content: "Hm." })],
    ["a call in text", whole({ content: '<tool_call>{"name": "search", "arguments": {"input": "x"}}</tool_call>' })],
    ["a call that was cut off", whole({ content: "", tool_calls: [toolCall("c2", "x")] }, "length")]
  ])("NW-29: behind a tool's result %s is corrected in an order that strict servers take", async (_, odd) => {
    const turns = [
      whole({ content: null, tool_calls: [toolCall("c1", "a")] }, "tool_calls"),
      odd,
      whole({ content: "It is 42." })
    ]
    await answered({ missing: disorder, turns }, compatible)
  })

  it("a server that refuses the reasoning which it sent is asked without it", async () => {
    const turns = chatTurns(
      { reasoning: "hm", tool_calls: [toolCall("c1", "a")] },
      { reasoning: "hm", tool_calls: [toolCall("c2", "b")] }
    ).whole
    const missing = (body: Json) =>
      assistants(body).some((message) => "reasoning" in message)
        ? "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]"
        : undefined
    const { faults, result } = await converse({ missing, turns }, compatible, false)
    expect(result).toBe("It is 42.")
    expect(faults).toHaveLength(1)
  })

  it("a run without tools sends no reasoning back: models that reasoned refuse it there", async () => {
    const turns = [whole({ reasoning_content: "hm", content: "" }), whole({ content: "It is 42." })]
    const requests: Array<Json> = []
    await using running = await loopback((received: Received, response) => {
      requests.push(JSON.parse(received.body))
      json(response, turns[Math.min(requests.length, turns.length) - 1])
    })
    const result = await ReAct.run("What is it?").pipe(
      Effect.provide(Layer.mergeAll(compatible(running.url), Toolbox.layer([]), Journal.layer(Journal.silent))),
      Effect.runPromise
    )
    expect(result.answer).toBe("It is 42.")
    expect(JSON.stringify(requests)).not.toContain("reasoning_content")
  })
})

// ---------------------------------------------------------------------------------------------------------------
// Anthropic
// ---------------------------------------------------------------------------------------------------------------

const anthropic = (url: string) =>
  Layer.provide(
    Anthropic.layer({ model: "claude", apiUrl: url, apiKey: Redacted.make("sk-0123456789"), maxRetries: 0 }),
    FetchHttpClient.layer
  )

const thinking = (n: number) => ({ type: "thinking", thinking: `I think ${n}`, signature: `sig${n}` })
const toolUse = (id: string, input: string) => ({ type: "tool_use", id, name: "search", input: { input } })

const anthropicTurns: ReadonlyArray<ReadonlyArray<Json>> = [
  [thinking(1), { type: "text", text: "I will look." }, toolUse("t1", "a"), toolUse("t2", "b")],
  [{ type: "redacted_thinking", data: "EmwK" }, thinking(2), toolUse("t3", "c")],
  [{ type: "text", text: "It is 42." }]
]

const anthropicWhole = (content: ReadonlyArray<Json>) => ({
  type: "message",
  role: "assistant",
  model: "claude",
  content,
  stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
  usage: { input_tokens: 7, output_tokens: 3 }
})

const anthropicEvents = (content: ReadonlyArray<Json>): ReadonlyArray<object> => {
  const { content: _, stop_reason, ...message } = anthropicWhole(content)
  return [
    { type: "message_start", message },
    ...content.flatMap((block, index): ReadonlyArray<object> => {
      const delta = (value: object) => ({ type: "content_block_delta", index, delta: value })
      const letters = (value: unknown) => [...String(value)]
      const stop = { type: "content_block_stop", index }
      const start = (rest: object) => ({ type: "content_block_start", index, content_block: { ...block, ...rest } })
      switch (block["type"]) {
        case "thinking":
          return [
            start({ thinking: "", signature: "" }),
            ...letters(block["thinking"]).map((letter) => delta({ type: "thinking_delta", thinking: letter })),
            delta({ type: "signature_delta", signature: block["signature"] }),
            stop
          ]
        case "text":
          return [
            start({ text: "" }),
            ...letters(block["text"]).map((letter) => delta({ type: "text_delta", text: letter })),
            stop
          ]
        case "tool_use":
          return [
            start({ input: {} }),
            delta({ type: "input_json_delta", partial_json: "" }),
            ...letters(JSON.stringify(block["input"])).map((letter) =>
              delta({ type: "input_json_delta", partial_json: letter })
            ),
            stop
          ]
        default:
          return [start({}), stop]
      }
    }),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 3 } },
    { type: "message_stop" }
  ]
}

const anthropicMisses = (body: Json, turn: number): string | undefined => {
  const messages = objects(body["messages"])
  for (const [index, message] of messages.entries()) {
    if (message["role"] !== (index % 2 === 0 ? "user" : "assistant")) return "messages: roles must alternate"
    const blocks = typeof message["content"] === "string" ? [] : objects(message["content"])
    if (blocks.some((block) => block["type"] === "text" && String(block["text"]).trim() === "")) {
      return "messages: text content blocks must contain non-whitespace text"
    }
    if (message["role"] === "assistant") {
      const sent = JSON.stringify(blocks)
      if (sent !== JSON.stringify(anthropicTurns[(index - 1) / 2])) {
        return `messages.${index}.content.0: \`thinking\` blocks in the latest assistant message cannot be modified: ${sent}`
      }
      const uses = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
      const answers = objects(messages[index + 1]?.["content"]).map((block) => block["tool_use_id"])
      if (JSON.stringify(uses) !== JSON.stringify(answers)) {
        return "`tool_use` ids were found without `tool_result` blocks immediately after"
      }
    }
  }
  return messages.length === 1 + 2 * turn ? undefined : `expected ${1 + 2 * turn} messages`
}

describe("Anthropic", () => {
  it.each(["whole", "streamed"])(
    "signed and redacted thinking goes back unchanged, before what it led to: %s",
    async (how) => {
      const say = how === "streamed" ? anthropicEvents : anthropicWhole
      const turns = anthropicTurns.map((content) => say(content))
      await answered({ missing: anthropicMisses, turns }, anthropic, how === "streamed")
    }
  )

  it("thinking that has no signature is not sent", async () => {
    const turns = [
      anthropicWhole([{ type: "thinking", thinking: "hm", signature: null }, toolUse("t1", "a")]),
      anthropicWhole([{ type: "text", text: "It is 42." }])
    ]
    const missing = (body: Json) =>
      JSON.stringify(body["messages"]).includes('"thinking"') ? "Invalid `signature` in `thinking` block" : undefined
    await answered({ missing, turns }, anthropic)
  })
})

// ---------------------------------------------------------------------------------------------------------------
// Google
// ---------------------------------------------------------------------------------------------------------------

const google = (url: string) =>
  Layer.provide(
    Google.layer({ model: "gemini-3-pro", apiUrl: url, apiKey: Redacted.make("AI-0123456789"), maxRetries: 0 }),
    FetchHttpClient.layer
  )

const functionCall = (input: string, signature?: string) => ({
  functionCall: { name: "search", args: { input } },
  ...(signature === undefined ? {} : { thoughtSignature: signature })
})

const googleTurns: ReadonlyArray<ReadonlyArray<Json>> = [
  [{ text: "I think.", thought: true }, functionCall("a", "c2lnMQ=="), functionCall("b")],
  [{ text: "So.", thoughtSignature: "c2lnMg==" }, functionCall("c", "c2lnMw==")],
  [{ text: "It is 42." }]
]

const googleWhole = (parts: ReadonlyArray<Json>) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 }
})

const googleMisses = (body: Json): string | undefined => {
  const contents = objects(body["contents"])
  for (const [index, content] of contents.entries()) {
    if (content["role"] !== "model") continue
    const parts = objects(content["parts"])
    const expected = googleTurns[(index - 1) / 2]?.filter((part) => part["thought"] !== true)
    if (JSON.stringify(parts) !== JSON.stringify(expected)) {
      return `Function call is missing a thought_signature in functionCall parts: ${JSON.stringify(parts)}`
    }
    const calls = parts.filter((part) => part["functionCall"] !== undefined).length
    const next = objects(contents[index + 1]?.["parts"])
    if (next.length !== calls || next.some((part) => part["functionResponse"] === undefined)) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts"
    }
  }
  return Array.isArray(body["tools"]) ? undefined : "tools: Input should be a valid list"
}

describe("Google", () => {
  it("NW-14: each part goes back with its signature, whole", async () => {
    await answered({ missing: googleMisses, turns: googleTurns.map(googleWhole) }, google)
  })

  it("NW-14: each part goes back with its signature, streamed", async () => {
    const turns = googleTurns.map((parts) => {
      const chunks = parts.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] }))
      return [...chunks, { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] }]
    })
    await answered({ missing: googleMisses, turns }, google, true)
  })

  it("a signature that comes alone, in an empty text, is kept", async () => {
    const turns = [
      [
        { candidates: [{ content: { parts: [functionCall("a")] } }] },
        { candidates: [{ content: { parts: [{ text: "", thoughtSignature: "c2ln" }] }, finishReason: "STOP" }] }
      ],
      [{ candidates: [{ content: { parts: [{ text: "It is 42." }] }, finishReason: "STOP" }] }]
    ]
    const requests = await answered({ missing: () => undefined, turns }, google, true)
    expect(JSON.stringify(requests[1]?.["contents"])).toContain('"thoughtSignature":"c2ln"')
  })

  it("a tool without parameters is sent with none where an empty list is refused", async () => {
    const now = Tool.fromJsonSchema({
      name: "now",
      description: "The time.",
      parameters: { type: "object", properties: {} },
      execute: () => Effect.succeed("noon")
    })
    const sent: Array<Json> = []
    await using running = await loopback((received: Received, response) => {
      sent.push(JSON.parse(received.body))
      const parameters = Object(objects(objects(sent.at(-1)?.["tools"])[0]?.["functionDeclarations"])[0])["parameters"]
      const error = { message: "parameters.properties: should be non-empty for OBJECT type", code: 400 }
      if (parameters !== undefined) json(response, { error }, 400)
      else json(response, googleWhole([{ text: "It is 42." }]))
    })
    const result = await ReAct.run("What is it?").pipe(
      Effect.provide(Layer.mergeAll(google(running.url), Toolbox.layer([now]), Journal.layer(Journal.silent))),
      Effect.runPromise
    )
    expect(result.answer).toBe("It is 42.")
    expect(sent).toHaveLength(2)
  })
})

// ---------------------------------------------------------------------------------------------------------------
// OpenAI
// ---------------------------------------------------------------------------------------------------------------

const openAi = (url: string) =>
  Layer.provide(
    OpenAi.layer({ model: "gpt-5", apiUrl: url, apiKey: Redacted.make("sk-0123456789"), maxRetries: 0 }),
    FetchHttpClient.layer
  )

const reasoning = (n: number) => ({ type: "reasoning", id: `rs_${n}`, summary: [], encrypted_content: `enc${n}` })
const item = (call_id: string, input: string) => ({
  type: "function_call",
  id: `fc_${call_id}`,
  call_id,
  name: "search",
  arguments: JSON.stringify({ input })
})
const said = (text: string) => ({
  type: "message",
  id: "msg",
  role: "assistant",
  content: [{ type: "output_text", text }]
})

const openAiTurns: ReadonlyArray<ReadonlyArray<Json>> = [
  [reasoning(1), item("c1", "a"), item("c2", "b")],
  [reasoning(2), said("So."), reasoning(3), item("c3", "c")],
  [said("It is 42.")]
]

const openAiWhole = (output: ReadonlyArray<Json>) => ({
  object: "response",
  status: "completed",
  model: "gpt-5",
  output
})

const openAiMisses = (body: Json): string | undefined => {
  if (body["store"] !== false || !JSON.stringify(body["include"]).includes("reasoning.encrypted_content")) {
    return "reasoning items are not kept"
  }
  const input = objects(body["input"])
  const kinds = input.map((one) => String(one["encrypted_content"] ?? one["call_id"] ?? one["role"]))
  for (const [index, one] of input.entries()) {
    if (one["type"] !== "reasoning") continue
    const next = input[index + 1]
    if (next?.["type"] !== "function_call" && next?.["role"] !== "assistant") {
      return `Item '${one["id"]}' of type 'reasoning' was provided without its required following item: ${kinds.join()}`
    }
  }
  const turns = [
    ["system", "user"],
    ["enc1", "c1", "c2", "c1", "c2"],
    ["enc2", "assistant", "enc3", "c3", "c3"]
  ]
  const expected = turns.slice(0, kinds.length <= 2 ? 1 : kinds.length <= 7 ? 2 : 3).flat()
  return kinds.join() === expected.join()
    ? undefined
    : `Item of type 'function_call' was provided without its required 'reasoning' item: ${kinds.join()}`
}

describe("OpenAI", () => {
  it("reasoning items stand directly before what they led to, whole", async () => {
    await answered({ missing: openAiMisses, turns: openAiTurns.map(openAiWhole) }, openAi)
  })

  it("reasoning items stand directly before what they led to, streamed", async () => {
    const turns = openAiTurns.map((output) => [
      { type: "response.created", response: { status: "in_progress", model: "gpt-5" } },
      ...output.flatMap((one, output_index) => [
        {
          type: "response.output_item.added",
          output_index,
          item: { ...one, summary: [], content: [], encrypted_content: "early" }
        },
        { type: "response.output_item.done", output_index, item: one }
      ]),
      { type: "response.completed", response: { status: "completed", model: "gpt-5", output: [] } }
    ])
    await answered({ missing: openAiMisses, turns }, openAi, true)
  })
})

// ---------------------------------------------------------------------------------------------------------------
// a change of model
// ---------------------------------------------------------------------------------------------------------------

describe("a change of model in the middle", () => {
  it("drops what only the first one reads, and gives its calls ids that any provider takes", async () => {
    const odd = "functions.search:0|with/odd=characters"
    let asked = 0
    await using first = await loopback((_, response) => {
      asked += 1
      if (asked === 1) {
        json(
          response,
          whole(
            {
              reasoning_content: "secret",
              tool_calls: [toolCall(odd, "a", { extra_content: { google: { thought_signature: "sig" } } })]
            },
            "tool_calls"
          )
        )
      } else json(response, { error: { message: "overloaded" } }, 503)
    })
    const bodies: Array<Json> = []
    await using second = await loopback((received: Received, response) => {
      bodies.push(JSON.parse(received.body))
      json(response, whole({ content: "It is 42." }))
    })
    const result = await ReAct.run("What is it?").pipe(
      Effect.provide(
        Layer.mergeAll(
          compatible(first.url).pipe(Fallback.layer(compatible(second.url))),
          Toolbox.layer([search]),
          Journal.layer(Journal.silent)
        )
      ),
      Effect.runPromise
    )
    expect(result.answer).toBe("It is 42.")
    const sent = JSON.stringify(bodies[0])
    expect(sent).not.toMatch(/secret|thought_signature|functions\.search/)
    expect(disorder(bodies[0] ?? {})).toBeUndefined()
    expect(objects(assistants(bodies[0] ?? {})[0]?.["tool_calls"])[0]?.["id"]).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  it("keeps nothing of it in the events of the run", async () => {
    const journal = Journal.memory()
    const turns = anthropicTurns.map(anthropicWhole)
    let turn = 0
    await using running = await loopback((_, response) => {
      json(response, turns[Math.min(turn, turns.length - 1)])
      turn += 1
    })
    await ReAct.run("What is it?").pipe(
      Effect.provide(Layer.mergeAll(anthropic(running.url), Toolbox.layer([search]), Journal.layer(journal))),
      Effect.runPromise
    )
    const events = JSON.stringify(await Effect.runPromise(journal.events))
    expect(events).toContain("It is 42.")
    expect(events).not.toMatch(/sig1|EmwK|providerState/)
  })
})
