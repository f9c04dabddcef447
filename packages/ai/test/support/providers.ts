/** Every provider, with the words of its API: what the conformance suite is run against. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import { asArray, asObject } from "@forethought/core/Json"
import type { Llm } from "@forethought/core/Llm"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Anthropic from "../../src/Anthropic.js"
import * as Google from "../../src/Google.js"
import * as OpenAi from "../../src/OpenAi.js"
import * as OpenAiCompatible from "../../src/OpenAiCompatible.js"
import type * as Retry from "../../src/Retry.js"
import * as Wire from "./chatWire.js"
import type { Received } from "./Loopback.js"

export const key = "sk-conformance-0123456789"

export type Options = Retry.Options & {
  readonly timeout?: Duration.DurationInput
  readonly apiKey?: Redacted.Redacted
  readonly structured?: "auto" | "off"
  readonly propagateTrace?: boolean
  /** Ends the base URL, with its question mark. */
  readonly query?: string
}

/** What the model says. Every reply used 7 input and 3 output tokens. */
export interface Turn {
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly name: string; readonly input: object }>
  /** Whether the token limit ended it. */
  readonly cut?: boolean
}

export interface Provider {
  readonly name: string
  /** `http`: the client. Default: fetch. */
  readonly layer: (url: string, options?: Options, http?: Layer.Layer<HttpClient.HttpClient>) => Layer.Layer<Llm>
  readonly reply: (turn: Turn) => object
  /** A reply in JSON by a model that was held to a format with this name. */
  readonly formatted: (name: string, value: object, cut?: boolean) => object
  /** How the provider says that it does not take a format. */
  readonly refusal: string
  readonly error: (status: number, message: string) => object
  readonly keyOf: (request: Received) => unknown
  /** What the suite looks at in a request, in one form for all. */
  readonly read: (body: Received["body"]) => {
    readonly system: unknown
    readonly maxTokens: unknown
    readonly temperature: unknown
    readonly stop: unknown
    /** The name and the JSON Schema type of each tool. */
    readonly tools: ReadonlyArray<readonly [unknown, unknown]>
    /** The JSON Schema that the reply is held to. */
    readonly format: unknown
    /** What a tool result is matched by, and the result. */
    readonly results: ReadonlyArray<readonly [unknown, unknown]>
  }
}

// With the line break that a key has when it was read from a file.
const settings = ({ query: _, ...options }: Options = {}) => ({
  model: "m",
  apiKey: Redacted.make(`${key}\n`),
  ...options
})

const over = (
  layer: Layer.Layer<Llm, never, HttpClient.HttpClient>,
  http: Layer.Layer<HttpClient.HttpClient> = FetchHttpClient.layer
) => Layer.provide(layer, http)

const objects = (value: unknown) => asArray(value).map((item) => asObject(item) ?? {})

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (Array.isArray(inner) ? inner[Number(name)] : asObject(inner)?.[name]), value)

const openAiCompatible: Provider = {
  name: "OpenAiCompatible",
  layer: (url, options, http) =>
    over(OpenAiCompatible.layer({ baseUrl: `${url}/v1${options?.query ?? ""}`, ...settings(options) }), http),
  reply: ({ calls = [], cut, text }) => ({
    ...Wire.openAi(
      {
        content: text ?? null,
        tool_calls: calls.map(({ input, name }, index) => ({
          id: `c${index}`,
          type: "function",
          function: { name, arguments: JSON.stringify(input) }
        }))
      },
      { finish_reason: cut ? "length" : calls.length > 0 ? "tool_calls" : "stop" }
    ),
    usage: { prompt_tokens: 7, completion_tokens: 3 }
  }),
  formatted: (_, value, cut) => openAiCompatible.reply({ text: JSON.stringify(value), ...(cut ? { cut } : {}) }),
  refusal: "'response_format' of type 'json_schema' is not supported with this model.",
  error: (_, message) => Wire.openAiError(message, "some_error", null),
  keyOf: ({ headers }) => headers.authorization?.replace("Bearer ", ""),
  read: (body) => ({
    system: at(body, "messages", "0", "content"),
    maxTokens: body["max_tokens"],
    temperature: body["temperature"],
    stop: body["stop"],
    format: at(body, "response_format", "json_schema", "schema"),
    tools: objects(body["tools"]).map((tool) => [
      at(tool, "function", "name"),
      at(tool, "function", "parameters", "type")
    ]),
    results: objects(body["messages"]).flatMap((message) =>
      message["role"] === "tool" ? [[message["tool_call_id"], message["content"]] as const] : []
    )
  })
}

const openAi: Provider = {
  name: "OpenAi",
  layer: (url, options, http) =>
    over(OpenAi.layer({ apiUrl: `${url}/v1${options?.query ?? ""}`, ...settings(options) }), http),
  reply: ({ calls = [], cut, text }) => ({
    id: "resp_67cb",
    object: "response",
    created_at: 1741294021,
    status: cut ? "incomplete" : "completed",
    error: null,
    incomplete_details: cut ? { reason: "max_output_tokens" } : null,
    instructions: null,
    metadata: {},
    model: "gpt-4.1-2025-04-14",
    output: [
      ...(text === undefined
        ? []
        : [
            {
              type: "message",
              id: "msg_1",
              status: "completed",
              role: "assistant",
              content: [{ type: "output_text", text, annotations: [], logprobs: [] }]
            }
          ]),
      ...calls.map(({ input, name }, index) => ({
        type: "function_call",
        id: `fc_${index}`,
        call_id: `c${index}`,
        name,
        arguments: JSON.stringify(input),
        status: "completed"
      }))
    ],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 10
    }
  }),
  formatted: (_, value, cut) => openAi.reply({ text: JSON.stringify(value), ...(cut ? { cut } : {}) }),
  refusal: "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
  error: (_, message) => Wire.openAiError(message, "some_error", null),
  keyOf: ({ headers }) => headers.authorization?.replace("Bearer ", ""),
  read: (body) => ({
    system: at(body, "input", "0", "content"),
    maxTokens: body["max_output_tokens"],
    temperature: body["temperature"],
    stop: undefined,
    format: at(body, "text", "format", "schema"),
    tools: objects(body["tools"]).map((tool) => [tool["name"], at(tool, "parameters", "type")]),
    results: objects(body["input"]).flatMap((item) =>
      item["type"] === "function_call_output" ? [[item["call_id"], item["output"]] as const] : []
    )
  })
}

const anthropic: Provider = {
  name: "Anthropic",
  layer: (url, options, http) =>
    over(Anthropic.layer({ apiUrl: `${url}/${options?.query ?? ""}`, ...settings(options) }), http),
  reply: ({ calls = [], cut, text }) => ({
    id: "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-20250514",
    content: [
      ...(text === undefined ? [] : [{ type: "text", text, citations: null }]),
      ...calls.map(({ input, name }, index) => ({ type: "tool_use", id: `c${index}`, name, input }))
    ],
    stop_reason: cut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    container: null,
    context_management: null,
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 3,
      service_tier: "standard"
    }
  }),
  formatted: (name, value, cut) => anthropic.reply({ calls: [{ name, input: value }], ...(cut ? { cut } : {}) }),
  refusal: "tool_choice: forced tool use is not supported with this model",
  error: (_, message) => ({ type: "error", error: { type: "some_error", message }, request_id: "req_1" }),
  keyOf: ({ headers }) => headers["x-api-key"],
  read: (body) => ({
    system: at(body, "system", "0", "text"),
    maxTokens: body["max_tokens"],
    temperature: body["temperature"],
    stop: body["stop_sequences"],
    format: at(body, "tool_choice", "name") === undefined ? undefined : at(body, "tools", "0", "input_schema"),
    tools: objects(body["tools"]).map((tool) => [tool["name"], at(tool, "input_schema", "type")]),
    results: objects(body["messages"])
      .flatMap((message) => objects(message["content"]))
      .flatMap((block) => (block["type"] === "tool_result" ? [[block["tool_use_id"], block["content"]] as const] : []))
  })
}

const google: Provider = {
  name: "Google",
  layer: (url, options, http) =>
    over(Google.layer({ apiUrl: `${url}${options?.query ?? ""}`, ...settings(options) }), http),
  reply: ({ calls = [], cut, text }) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map(({ input, name }) => ({ functionCall: { name, args: input } }))
          ]
        },
        finishReason: cut ? "MAX_TOKENS" : "STOP",
        index: 0
      }
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    modelVersion: "gemini-2.5-flash",
    responseId: "r1"
  }),
  formatted: (_, value, cut) => google.reply({ text: JSON.stringify(value), ...(cut ? { cut } : {}) }),
  refusal:
    "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
  error: (status, message) => ({ error: { code: status, message, status: "SOME_STATUS" } }),
  keyOf: ({ headers }) => headers["x-goog-api-key"],
  read: (body) => ({
    system: at(body, "systemInstruction", "parts", "0", "text"),
    maxTokens: at(body, "generationConfig", "maxOutputTokens"),
    temperature: at(body, "generationConfig", "temperature"),
    stop: at(body, "generationConfig", "stopSequences"),
    format: at(body, "generationConfig", "responseJsonSchema"),
    tools: objects(at(body, "tools", "0", "functionDeclarations")).map((tool) => [
      tool["name"],
      typeof at(tool, "parameters", "type") === "string"
        ? String(at(tool, "parameters", "type")).toLowerCase()
        : undefined
    ]),
    results: objects(body["contents"])
      .flatMap((content) => objects(content["parts"]))
      .flatMap((part) => {
        const response = asObject(part["functionResponse"])
        return response === undefined ? [] : [[response["id"], at(response, "response", "result")] as const]
      })
  })
}

export const providers: ReadonlyArray<Provider> = [openAiCompatible, openAi, anthropic, google]
