/** Reasoning and ids that go back to a model, where its server does not take what it gave. */
import { expect, it } from "@effect/vitest"
import { Llm, type Message, type ProviderState, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import * as Wire from "./support/chatWire.js"
import * as Loopback from "./support/Loopback.js"
import { type Provider, providers } from "./support/providers.js"

const named = (name: string): Provider => {
  const found = providers.find((provider) => provider.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const request = (messages: ReadonlyArray<Message>): Request => ({ role: "executor", call: "turn", messages })

/** Asks once for a first reply, then with that reply and a result behind it, which the server refuses once. */
const converse = (provider: Provider, first: object, refusal: Loopback.Answer) =>
  Effect.gen(function* () {
    const answers = [Loopback.json(first), refusal, Loopback.json(provider.reply({ text: "fine" }))]
    const server = yield* Loopback.make(...answers)
    const llm = yield* Effect.provide(Llm, provider.layer(server.url, { maxRetries: 0 }))
    const user: Message = { role: "user", content: "Go." }
    const reply = yield* llm.complete(request([user]))
    const state: { readonly providerState?: ProviderState } =
      reply.providerState === undefined ? {} : { providerState: reply.providerState }
    const results = reply.toolCalls.map(
      ({ id, name }): Message => ({ role: "tool", toolCallId: id, name, content: "found" })
    )
    const turn: Message = { role: "assistant", content: reply.text, toolCalls: reply.toolCalls, ...state }
    const last = yield* llm.complete(request([user, turn, ...results]))
    return { text: last.text, sent: server.received.map(({ body }) => JSON.stringify(body)) }
  })

describe("a signature that the server does not take any more goes without", () => {
  const rows: ReadonlyArray<readonly [string, object, string, RegExp]> = [
    [
      "Anthropic",
      {
        type: "message",
        content: [
          { type: "thinking", thinking: "hm", signature: "SIGNED" },
          { type: "tool_use", id: "t1", name: "f", input: {} }
        ],
        stop_reason: "tool_use"
      },
      "messages.1.content.0: Invalid `signature` in `thinking` block",
      /SIGNED/
    ],
    [
      "Google",
      { candidates: [{ content: { parts: [{ functionCall: { name: "f" }, thoughtSignature: "SIGNED" }] } }] },
      "Corrupted thought signature.",
      /SIGNED/
    ],
    [
      "OpenAi",
      {
        status: "completed",
        output: [
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "SIGNED" },
          { type: "function_call", call_id: "c1", name: "f", arguments: "{}" }
        ]
      },
      "The encrypted content for item rs_1 could not be verified.",
      /SIGNED/
    ]
  ]

  it.scopedLive.each(rows)("%s", ([name, first, message, signed]) =>
    Effect.gen(function* () {
      const refusal = Loopback.json({ error: { message, type: "invalid_request_error" } }, 400)
      const { sent, text } = yield* converse(named(name), first, refusal)
      expect(text).toBe("fine")
      expect(sent.map((body) => signed.test(body))).toEqual([false, true, false])
      expect(sent[2]).toContain("found")
    })
  )
})

it.scopedLive("Gemini's signed thoughts go back as they came", () =>
  Effect.gen(function* () {
    const google = named("Google")
    const parts = [
      { text: "hm", thought: true, thoughtSignature: "one" },
      { functionCall: { name: "f", args: {} }, thoughtSignature: "two" }
    ]
    const first = { candidates: [{ content: { parts }, finishReason: "STOP" }] }
    const { sent } = yield* converse(google, first, Loopback.json(google.reply({ text: "fine" })))
    expect(sent[1]).toContain(JSON.stringify(parts).slice(1, -1))
  })
)

it.scopedLive("a model that gives the same id in every turn gets one for each call", () =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    for (const name of ["OpenAiCompatible", "Anthropic", "OpenAi"]) {
      const provider = named(name)
      const server = yield* Loopback.make(Loopback.json(provider.reply({ text: "fine" })))
      const llm = yield* Effect.provide(Llm, provider.layer(server.url, { maxRetries: 0 }))
      const from = { OpenAiCompatible: `chat:${server.url}/v1:m`, Anthropic: "anthropic:m", OpenAi: "openai:m" }[name]
      const turn = (): ReadonlyArray<Message> => [
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "call_0", name: "f", arguments: "{}", providerState: { from: from ?? "", value: {} } }]
        },
        { role: "tool", toolCallId: "call_0", name: "f", content: "found" }
      ]
      yield* llm.complete(request([{ role: "user", content: "Go." }, ...turn(), ...turn()]))
      sent.push(JSON.stringify(server.received[0]?.body))
    }
    // Each once in its call and once in its result.
    for (const body of sent) {
      expect(body.split('"call_0"')).toHaveLength(3)
      expect(body.split('"call00001"')).toHaveLength(3)
    }
  })
)

it.scopedLive.each([
  "Failed to parse input at pos 12: <tool_call>{",
  "error parsing tool call: raw='{\"a\"', err=unexpected end of JSON input",
  "Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide."
])("a server that cannot read its model's call has it asked for again: %s", (message) =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(Loopback.json(Wire.openAiError(message, "server_error", null), 500))
    const llm = yield* Effect.provide(Llm, named("OpenAiCompatible").layer(server.url, { maxRetries: 2 }))
    const reply = yield* llm.complete(request([{ role: "user", content: "Go." }]))
    expect(reply).toMatchObject({ text: "", finishReason: "other", rawFinishReason: "tool_use_failed" })
    expect(server.received).toHaveLength(1)
  })
)
