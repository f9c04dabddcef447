/** The wire of OpenAI's Responses API. */
import * as FinishWord from "@forethought/core/FinishWord"
import { asArray, asNumber, asNumbers, asObject, asObjects, asString, type JsonObject } from "@forethought/core/Json"
import type { Message, Request, ToolCall, Usage } from "@forethought/core/Llm"
import type { Assembler, Piece } from "./body.js"
import { type Decoded, endpoint, type HostedWire, type Wire } from "./exchange.js"
import type { Quirks } from "./refused.js"
import * as ToolArguments from "./toolArguments.js"
import * as ToolSchema from "./toolSchema.js"

/** Makes the wire of a model. */
export const make = (options: HostedWire): Wire => {
  const from = `openai:${options.model}`
  return {
    from,
    provider: "openai",
    url: () => endpoint(options.apiUrl, "/responses"),
    headers: options.headers,
    formats: ({ format }) => format !== undefined && ToolSchema.objectRoot(format.schema) !== undefined,
    // This API knows no stop sequences: the text is cut on this side.
    quirks: { stop: false },
    encode: (request, quirks, stream) => encode(options.model, options.config, request, quirks, stream),
    decode: (body, request) => decode(body, request, from),
    statusOf,
    isEvent: (document) => typeof document["type"] === "string",
    assembler: () => new Events()
  }
}

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

/** Models that reason: only they take what keeps their reasoning, others refuse it. */
const reasons = /^(?:.*\/)?(?:o\d|gpt-[5-9]|codex|computer-use)/

const encode = (model: string, config: JsonObject, request: Request, quirks: Quirks, stream: boolean): JsonObject => {
  const { format, maxTokens, messages, temperature, tools = [] } = request
  const body: { [key: string]: unknown } = {
    // Nothing is kept on the server; so a model's reasoning travels with the conversation, encrypted.
    store: false,
    ...(reasons.test(model) ? { include: ["reasoning.encrypted_content"] } : {}),
    ...config,
    model,
    input: messages.flatMap((message) => encodeMessage(message, quirks.reasoning)),
    stream
  }
  if (tools.length > 0) {
    body["tools"] = tools.map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      parameters: ToolSchema.plain(parameters),
      // Strict tools must require every property and forbid others, which the Schema of a tool need not do.
      strict: false
    }))
  }
  if (maxTokens !== undefined) body["max_output_tokens"] = maxTokens
  if (temperature !== undefined) body["temperature"] = temperature
  const schema = format === undefined ? undefined : ToolSchema.objectRoot(format.schema)
  if (format !== undefined && schema !== undefined) {
    const asked =
      quirks.format === "object"
        ? { type: "json_object" }
        : { type: "json_schema", name: format.name, schema, strict: false }
    body["text"] = { ...asObject(config["text"]), format: asked }
  }
  return body
}

const encodeMessage = (message: Message, withReasoning: boolean): ReadonlyArray<JsonObject> => {
  switch (message.role) {
    case "system":
    case "user":
      return [{ role: message.role, content: message.content }]
    case "tool":
      return [{ type: "function_call_output", call_id: message.toolCallId, output: message.content }]
    case "assistant": {
      const calls = message.toolCalls ?? []
      const state = asObject(message.providerState?.value)
      const items = withReasoning ? asObjects(state?.["items"]) : []
      const said: JsonObject = { role: "assistant", content: [{ type: "output_text", text: message.content }] }
      const text = message.content === "" ? [] : [said]
      const written = calls.map(encodeCall)
      if (items.length === 0) return [...text, ...written]
      // Reasoning stands directly before what it led to, so the order is that of the reply.
      const encoded: Array<JsonObject> = []
      let isSaid = text.length === 0
      for (const item of items) {
        if (item["type"] === "reasoning") encoded.push(item)
        else if (item["type"] === "message" && !isSaid) {
          encoded.push(said)
          isSaid = true
        } else {
          const call = item["type"] === "function_call" ? written.shift() : undefined
          if (call !== undefined) encoded.push(call)
        }
      }
      // Reasoning that nothing follows is refused.
      while (encoded.at(-1)?.["type"] === "reasoning") encoded.pop()
      return [...encoded, ...(isSaid ? [] : text), ...written]
    }
  }
}

const encodeCall = ({ arguments: given, id, name }: ToolCall): JsonObject => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: ToolArguments.toObjectText(given)
})

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

const decode = (body: JsonObject, request: Request, from: string): Decoded => {
  if (!Array.isArray(body["output"])) return { _tag: "Unreadable", problem: "the response holds no output" }
  const text: Array<string> = []
  const refusal: Array<string> = []
  const reasoning: Array<string> = []
  const toolCalls: Array<ToolCall> = []
  const items: Array<JsonObject> = []
  for (const [index, item] of asObjects(body["output"]).entries()) {
    switch (item["type"]) {
      case "message":
        items.push({ type: "message" })
        for (const part of asObjects(item["content"])) {
          if (part["type"] === "refusal") refusal.push(asString(part["refusal"]) ?? "")
          else text.push(asString(part["text"]) ?? "")
        }
        break
      case "reasoning":
        for (const part of [...asArray(item["summary"]), ...asArray(item["content"])]) {
          reasoning.push(asString(asObject(part)?.["text"]) ?? "")
        }
        // What is not encrypted would have to be on the server still.
        if (typeof item["encrypted_content"] === "string") items.push(reasoningItem(item))
        break
      case "function_call": {
        const id = asString(item["call_id"]) || asString(item["id"]) || `call_${request.messages.length}_${index}`
        items.push({ type: "function_call" })
        const name = asString(item["name"]) ?? ""
        toolCalls.push({ id, name, arguments: ToolArguments.toText(item["arguments"]) })
      }
    }
  }
  // The whole text, as some gateways give it in place of the items.
  if (text.length === 0 && toolCalls.length === 0) text.push(asString(body["output_text"]) ?? "")
  if (refusal.join("") !== "") return { _tag: "Refusal", text: refusal.join("") }
  const thought = reasoning.filter((piece) => piece !== "").join("\n\n")
  const model = asString(body["model"])
  const keepsState = toolCalls.length > 0 || items.some((item) => item["type"] === "reasoning")
  return {
    _tag: "Reply",
    reply: {
      text: text.join(""),
      toolCalls,
      ...(thought === "" ? {} : { reasoning: thought }),
      ...readEnd(body, toolCalls.length > 0),
      usage: readUsage(asObject(body["usage"])),
      ...(model === undefined || model === "" ? {} : { model }),
      ...(keepsState ? { providerState: { from, value: { items } } } : {})
    }
  }
}

/** A response that failed half-way is a success with an error in it. */
const statusOf = (body: JsonObject): number => {
  const code = asString(asObject(body["error"])?.["code"]) ?? asString(body["code"]) ?? "server_error"
  if (code === "rate_limit_exceeded") return 429
  return code.includes("server_error") || code.includes("timeout") ? 500 : 400
}

const reasoningItem = (item: JsonObject): JsonObject => ({
  type: "reasoning",
  ...(asString(item["id"]) === undefined ? {} : { id: item["id"] }),
  summary: asArray(item["summary"]),
  encrypted_content: item["encrypted_content"]
})

/** A call has no word of its own: a response that was completed with one wants it run. */
const readEnd = (body: JsonObject, calls: boolean) => {
  const reason = asString(asObject(body["incomplete_details"])?.["reason"])
  const end = FinishWord.read(reason ?? asString(body["status"]))
  return calls && end.finishReason === "stop" ? { finishReason: "tool-calls" as const } : end
}

const readUsage = (usage: JsonObject | undefined): Usage =>
  asNumbers({
    inputTokens: usage?.["input_tokens"],
    outputTokens: usage?.["output_tokens"],
    cachedInputTokens: asObject(usage?.["input_tokens_details"])?.["cached_tokens"],
    reasoningTokens: asObject(usage?.["output_tokens_details"])?.["reasoning_tokens"]
  })

// ---------------------------------------------------------------------------------------------------------------
// streams
// ---------------------------------------------------------------------------------------------------------------

/** An output item that is arriving. */
interface OpenItem {
  readonly index: number
  item: JsonObject
  readonly text: Array<string>
  readonly refusal: Array<string>
  readonly summary: Array<string>
  readonly args: Array<string>
  isDone: boolean
}

/** Collects the events of one response. Of some fifty kinds a handful matters; the rest is skipped. */
class Events implements Assembler {
  private readonly items: Array<OpenItem> = []
  private response: JsonObject = {}
  private end: JsonObject | undefined
  private isDone = false

  add(event: JsonObject): Piece {
    const kind = asString(event["type"]) ?? ""
    const at = asNumber(event["output_index"]) ?? Math.max(0, this.items.length - 1)
    const delta = asString(event["delta"]) ?? ""
    switch (kind) {
      case "response.created":
      case "response.in_progress":
        this.response = asObject(event["response"]) ?? this.response
        break
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.end = { status: kind.slice("response.".length), ...asObject(event["response"]) }
        break
      case "response.output_item.added":
        // Gateways number all items alike, so a new one is new whatever its number.
        this.begin(asNumber(event["output_index"]) ?? this.items.length, asObject(event["item"]) ?? {})
        break
      case "response.output_item.done": {
        const open = this.open(at)
        open.item = asObject(event["item"]) ?? open.item
        open.isDone = true
        break
      }
      case "response.output_text.delta":
        this.open(at, "message").text.push(delta)
        return { text: delta, reasoning: "" }
      case "response.refusal.delta":
        this.open(at, "message").refusal.push(delta)
        break
      case "response.function_call_arguments.delta":
        this.open(at, "function_call").args.push(delta)
        break
      case "response.output_text.done":
        return this.entire(at, "message", "text", event["text"])
      case "response.function_call_arguments.done":
        return this.entire(at, "function_call", "args", event["arguments"])
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.open(at, "reasoning").summary.push(delta)
        return { text: "", reasoning: delta }
      default:
        // A whole response as one event.
        if (event["object"] === "response" && Array.isArray(event["output"])) this.end = event
    }
    return { text: "", reasoning: "" }
  }

  private open(index: number, type?: string): OpenItem {
    const found = this.items.findLast((item) => item.index === index)
    return found ?? this.begin(index, type === undefined ? {} : { type })
  }

  private begin(index: number, item: JsonObject): OpenItem {
    const opened: OpenItem = { index, item, text: [], refusal: [], summary: [], args: [], isDone: false }
    this.items.push(opened)
    return opened
  }

  /** What a server without deltas gives at the end. */
  private entire(index: number, type: string, part: "text" | "args", value: unknown): Piece {
    const pieces = this.open(index, type)[part]
    const text = pieces.length === 0 ? (asString(value) ?? "") : ""
    pieces.push(text)
    return { text: part === "text" ? text : "", reasoning: "" }
  }

  done(): void {
    this.isDone = true
  }

  finished(): boolean {
    return this.end !== undefined
  }

  complete(): boolean {
    return this.end !== undefined
  }

  /** The last event holds the whole response; where a gateway left its output out, the items that arrived are it. */
  whole(): JsonObject | undefined {
    if (this.end === undefined && !this.isDone) return undefined
    const end = this.end ?? { ...this.response, status: undefined }
    if (asArray(end["output"]).length > 0 || asObject(end["error"]) !== undefined) return end
    return { ...end, output: [...this.items].sort((a, b) => a.index - b.index).map(closed) }
  }
}

const closed = ({ args, isDone, item, refusal, summary, text }: OpenItem): JsonObject => {
  if (isDone) return item
  switch (item["type"]) {
    case "message": {
      const parts = [
        ...(text.length === 0 ? [] : [{ type: "output_text", text: text.join("") }]),
        ...(refusal.length === 0 ? [] : [{ type: "refusal", refusal: refusal.join("") }])
      ]
      return { ...item, content: parts }
    }
    case "function_call":
      return { ...item, arguments: args.join("") }
    case "reasoning":
      return { ...item, summary: [{ type: "summary_text", text: summary.join("") }] }
    default:
      return item
  }
}
