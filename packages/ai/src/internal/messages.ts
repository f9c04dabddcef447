/** The wire of Anthropic's Messages API. */
import * as FinishWord from "@forethought/core/FinishWord"
import { asNumber, asNumbers, asObject, asObjects, asString, type JsonObject, parseJson } from "@forethought/core/Json"
import type { Message, Request, ToolCall, Usage } from "@forethought/core/Llm"
import type { Assembler, Piece } from "./body.js"
import { type Decoded, endpoint, type HostedWire, type Wire } from "./exchange.js"
import type { Quirks } from "./refused.js"
import * as ToolArguments from "./toolArguments.js"
import * as ToolSchema from "./toolSchema.js"

/** The token limit where nobody gives one: the API wants one. */
const defaultMaxTokens = 4096

/** Makes the wire of a model. */
export const make = (options: HostedWire): Wire => {
  const from = `anthropic:${options.model}`
  return {
    from,
    provider: "anthropic",
    url: () => endpoint(options.apiUrl, "/v1/messages"),
    headers: options.headers,
    formats: ({ format }) => format !== undefined && ToolSchema.objectRoot(format.schema) !== undefined,
    formatNames: /tool[_ ]choice|forced tool|tool use|input_schema|\btools\b|thinking/,
    encode: (request, quirks, stream) => encode(options.model, options.config, request, quirks, stream),
    decode: (body, request) => decode(body, request, from),
    isEvent: (document) => typeof document["type"] === "string" && document["type"] !== "message",
    assembler: () => new Events()
  }
}

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

const encode = (model: string, config: JsonObject, request: Request, quirks: Quirks, stream: boolean): JsonObject => {
  const { format, maxTokens, messages, stop, temperature, tools = [] } = request
  const system = messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => ({ type: "text", text: content }))
  const body: { [key: string]: unknown } = {
    max_tokens: defaultMaxTokens,
    ...config,
    model,
    messages: encodeMessages(messages, quirks.reasoning),
    stream
  }
  if (system.length > 0) body["system"] = system
  if (maxTokens !== undefined) body["max_tokens"] = maxTokens
  if (temperature !== undefined) body["temperature"] = temperature
  // Anthropic refuses a stop sequence of white space alone; the text is cut at it all the same.
  const sequences = (stop ?? []).filter((sequence) => sequence.trim() !== "")
  if (sequences.length > 0) body["stop_sequences"] = sequences
  if (tools.length > 0) {
    body["tools"] = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: ToolSchema.plain(parameters)
    }))
  } else if (format !== undefined) {
    const description = "Takes the reply, in the form that was asked for."
    body["tools"] = [{ name: format.name, description, input_schema: ToolSchema.objectRoot(format.schema) }]
    body["tool_choice"] = { type: "tool", name: format.name }
  }
  return body
}

type Block = JsonObject

/** Turns of the same side become one message: results of tools first, as Anthropic insists, and no empty block. */
const encodeMessages = (messages: ReadonlyArray<Message>, withThinking: boolean): ReadonlyArray<JsonObject> => {
  const encoded: Array<{ readonly role: string; readonly content: Array<Block> }> = []
  for (const message of messages) {
    if (message.role === "system") continue
    const role = message.role === "assistant" ? "assistant" : "user"
    const blocks = encodeMessage(message, withThinking)
    if (blocks.length === 0) continue
    const last = encoded.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else encoded.push({ role, content: [...blocks] })
  }
  return encoded
}

const encodeMessage = (
  message: Exclude<Message, { readonly role: "system" }>,
  withThinking: boolean
): ReadonlyArray<Block> => {
  const text = message.content.trim() === "" ? [] : [{ type: "text", text: message.content }]
  switch (message.role) {
    case "user":
      return text
    case "tool":
      return [{ type: "tool_result", tool_use_id: message.toolCallId, content: message.content }]
    case "assistant": {
      const thinking = withThinking ? asObjects(asObject(message.providerState?.value)?.["thinking"]) : []
      const calls = (message.toolCalls ?? []).map(({ arguments: given, id, name }) => ({
        type: "tool_use",
        id,
        name,
        input: ToolArguments.toObject(given)
      }))
      // Thinking alone is not a turn, and may stand only in front of what it led to.
      if (text.length === 0 && calls.length === 0) return []
      return [...thinking, ...text, ...calls]
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

const decode = (body: JsonObject, request: Request, from: string): Decoded => {
  if (!Array.isArray(body["content"])) return { _tag: "Unreadable", problem: "the response holds no content" }
  const text: Array<string> = []
  const reasoning: Array<string> = []
  const thinking: Array<JsonObject> = []
  const toolCalls: Array<ToolCall> = []
  // The tool that a format became is not a tool: its input is the reply.
  const format = (request.tools ?? []).length === 0 ? request.format?.name : undefined
  let word = asString(body["stop_reason"])
  for (const [index, block] of asObjects(body["content"]).entries()) {
    switch (block["type"]) {
      case "text":
        text.push(asString(block["text"]) ?? "")
        break
      case "thinking":
        reasoning.push(asString(block["thinking"]) ?? "")
        // Without its signature it would be refused.
        if ((asString(block["signature"]) ?? "") !== "") thinking.push(block)
        break
      case "redacted_thinking":
        thinking.push(block)
        break
      case "tool_use": {
        const name = asString(block["name"]) ?? ""
        const input = ToolArguments.toText(block["input"])
        if (name === format) {
          text.push(input)
          if (word === "tool_use") word = "end_turn"
        } else {
          const id = asString(block["id"]) || `call_${request.messages.length}_${index}`
          toolCalls.push({ id, name, arguments: input })
        }
      }
    }
  }
  const thought = reasoning.join("")
  const model = asString(body["model"])
  const keepsState = thinking.length > 0 || toolCalls.length > 0
  return {
    _tag: "Reply",
    reply: {
      text: text.join(""),
      toolCalls,
      ...(thought === "" ? {} : { reasoning: thought }),
      ...FinishWord.read(word),
      usage: readUsage(asObject(body["usage"])),
      ...(model === undefined || model === "" ? {} : { model }),
      ...(keepsState ? { providerState: { from, value: { thinking } } } : {})
    }
  }
}

/** Anthropic counts what it reads from its cache, and what it writes there, apart from the other input. */
const readUsage = (usage: JsonObject | undefined): Usage => {
  const read = asNumber(usage?.["cache_read_input_tokens"])
  const input = asNumber(usage?.["input_tokens"])
  const written = asNumber(usage?.["cache_creation_input_tokens"]) ?? 0
  return asNumbers({
    inputTokens: input === undefined ? undefined : input + (read ?? 0) + written,
    outputTokens: usage?.["output_tokens"],
    cachedInputTokens: read
  })
}

// ---------------------------------------------------------------------------------------------------------------
// streams
// ---------------------------------------------------------------------------------------------------------------

interface OpenBlock {
  readonly start: JsonObject
  readonly text: Array<string>
  readonly thinking: Array<string>
  readonly input: Array<string>
  signature: string
}

/** Collects the events of one message. */
class Events implements Assembler {
  private message: JsonObject = {}
  private usage: JsonObject = {}
  private readonly blocks: Map<number, OpenBlock> = new Map()
  private stopReason: string | undefined
  private response: JsonObject | undefined
  private isDone = false

  add(event: JsonObject): Piece {
    const index = asNumber(event["index"]) ?? Math.max(0, this.blocks.size - 1)
    switch (event["type"]) {
      // A whole message as one event.
      case "message":
        this.response = event
        break
      case "message_start":
        this.message = asObject(event["message"]) ?? {}
        this.count(this.message["usage"])
        this.stopReason ??= asString(this.message["stop_reason"])
        break
      case "content_block_start":
        this.blocks.set(asNumber(event["index"]) ?? this.blocks.size, opened(asObject(event["content_block"]) ?? {}))
        break
      case "content_block_delta":
        return this.delta(index, asObject(event["delta"]) ?? {})
      case "message_delta": {
        const delta = asObject(event["delta"])
        this.stopReason = asString(delta?.["stop_reason"]) ?? this.stopReason
        this.count(event["usage"] ?? delta?.["usage"])
        break
      }
      case "message_stop":
        this.isDone = true
    }
    return { text: "", reasoning: "" }
  }

  /** What is counted later is counted cumulatively; a `null` counts nothing. */
  private count(usage: unknown): void {
    const known = Object.entries(asObject(usage) ?? {}).filter(([, value]) => asNumber(value) !== undefined)
    this.usage = { ...this.usage, ...Object.fromEntries(known) }
  }

  private delta(index: number, delta: JsonObject): Piece {
    // A block whose start did not arrive is what its first piece is.
    const block = this.blocks.get(index) ?? opened({ type: kindOf(delta) })
    this.blocks.set(index, block)
    const text = asString(delta["text"]) ?? ""
    const reasoning = asString(delta["thinking"]) ?? ""
    block.text.push(text)
    block.thinking.push(reasoning)
    block.input.push(ToolArguments.toText(delta["partial_json"]))
    block.signature += asString(delta["signature"]) ?? ""
    return { text: block.start["type"] === "text" ? text : "", reasoning }
  }

  done(): void {
    this.isDone = true
  }

  finished(): boolean {
    return this.isDone || this.stopReason !== undefined || this.response !== undefined
  }

  complete(): boolean {
    return this.isDone
  }

  whole(): JsonObject | undefined {
    if (this.response !== undefined) return this.response
    if (!this.isDone && this.stopReason === undefined) return undefined
    return {
      ...this.message,
      content: [...this.blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => closed(block)),
      stop_reason: this.stopReason ?? null,
      usage: this.usage
    }
  }
}

const opened = (start: JsonObject): OpenBlock => ({ start, text: [], thinking: [], input: [], signature: "" })

const kindOf = (delta: JsonObject): string => {
  if (delta["partial_json"] !== undefined) return "tool_use"
  return delta["thinking"] !== undefined || delta["signature"] !== undefined ? "thinking" : "text"
}

const closed = ({ input, signature, start, text, thinking }: OpenBlock): JsonObject => {
  switch (start["type"]) {
    case "text":
      return { ...start, text: `${asString(start["text"]) ?? ""}${text.join("")}` }
    case "thinking": {
      const all = `${asString(start["thinking"]) ?? ""}${thinking.join("")}`
      return { ...start, thinking: all, signature: `${asString(start["signature"]) ?? ""}${signature}` }
    }
    case "tool_use": {
      const written = input.join("")
      // Text that is not JSON stays text: whoever runs the tool says so.
      return { ...start, input: written === "" ? (start["input"] ?? {}) : (parseJson(written) ?? written) }
    }
    default:
      return start
  }
}
