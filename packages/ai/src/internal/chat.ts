/** The wire of `/chat/completions`: requests written, replies and their streams read. */
import * as FinishWord from "@forethought/core/FinishWord"
import {
  asArray,
  asList,
  asNumber,
  asNumbers,
  asObject,
  asString,
  type JsonObject,
  parseJson
} from "@forethought/core/Json"
import type { Message, ProviderState, Request, ToolCall, Usage } from "@forethought/core/Llm"
import type { Assembler, Piece } from "./body.js"
import type { Decoded, Wire } from "./exchange.js"
import type { Quirks } from "./refused.js"
import * as ToolArguments from "./toolArguments.js"
import * as ToolSchema from "./toolSchema.js"

/** Makes the wire of a model. */
export const make = (options: {
  readonly model: string
  readonly from: string
  readonly url: Wire["url"]
  readonly headers: Wire["headers"]
}): Wire => ({
  ...options,
  provider: "openai-compatible",
  formats: () => true,
  encode: (request, quirks, stream) => encode(options.model, request, quirks, stream),
  decode: (body, request) => decode(body, request, options.from),
  isEvent,
  assembler: () => new Chunks()
})

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

const encode = (model: string, request: Request, quirks: Quirks, stream: boolean): JsonObject => {
  const { format, maxTokens, messages, stop, temperature, tools = [] } = request
  // A model that reasons sees its reasoning again while it works with tools, and only then: others refuse it.
  const withTools = tools.length > 0 || messages.some((message) => message.role === "tool")
  const body: { [key: string]: unknown } = {
    model,
    messages: messages.map((message) => encodeMessage(message, withTools && quirks.reasoning, quirks)),
    stream
  }
  // Without it a streamed reply has no usage.
  if (stream) body["stream_options"] = { include_usage: true }
  if (tools.length > 0) {
    body["tools"] = tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters: ToolSchema.plain(parameters) }
    }))
  }
  if (maxTokens !== undefined) body[quirks.maxTokens] = maxTokens
  if (temperature !== undefined) body["temperature"] = temperature
  if (stop !== undefined) body["stop"] = stop
  if (format !== undefined) {
    body["response_format"] =
      quirks.format === "object"
        ? { type: "json_object" }
        : { type: "json_schema", json_schema: { name: format.name, schema: format.schema } }
  }
  return body
}

const encodeMessage = (message: Message, withReasoning: boolean, quirks: Quirks): JsonObject => {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content }
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content }
    case "assistant": {
      const calls = message.toolCalls ?? []
      const kept = withReasoning ? asObject(message.providerState?.value) : undefined
      const extra = quirks.emptyReasoning ? { reasoning_content: "", ...kept } : kept
      if (calls.length === 0) return { ...extra, role: "assistant", content: message.content }
      return {
        ...extra,
        role: "assistant",
        content: message.content === "" && quirks.nullContent ? null : message.content,
        tool_calls: calls.map((call) => {
          const { function: inner, ...outer } = asObject(call.providerState?.value) ?? {}
          return {
            ...outer,
            id: call.id,
            type: "function",
            function: { ...asObject(inner), name: call.name, arguments: ToolArguments.toObjectText(call.arguments) }
          }
        })
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

/** Reads a parsed response. Whatever is missing is empty; what is there is taken as it is. */
const decode = (body: JsonObject, request: Request, from: string): Decoded => {
  const choices = choicesOf(body)
  const [first] = choices
  if (first === undefined) return { _tag: "Unreadable", problem: "the response holds no choices" }
  // Some gateways put the text of one reply into one choice and its calls into another.
  const saying = choices.find(({ text }) => text !== "") ?? first
  const calling = choices.find(({ calls }) => calls.length > 0) ?? saying
  const refusal = choices.map((choice) => choice.refusal).join("")
  if (refusal !== "") return { _tag: "Refusal", text: refusal }
  const ends = [saying, calling].map((choice) => FinishWord.read(choice.finish))
  const finish = ends.find(({ finishReason }) => finishReason !== "stop" && finishReason !== "tool-calls") ??
    ends[1] ?? {
      finishReason: "other" as const
    }
  const reasoning = choices.map((choice) => choice.reasoning).find((thought) => thought !== "") ?? ""
  const extra = Object.assign({}, ...choices.map((choice) => choice.extra))
  const toolCalls = calling.calls.map((call, index) => readCall(call, index, request, from))
  const model = asString(body["model"])
  const state = Object.keys(extra).length > 0 || toolCalls.length > 0 ? { providerState: { from, value: extra } } : {}
  return {
    _tag: "Reply",
    reply: {
      text: saying.text,
      toolCalls,
      ...(reasoning === "" ? {} : { reasoning }),
      ...finish,
      usage: readUsage(asObject(body["usage"]) ?? asObject(asObject(asArray(body["choices"])[0])?.["usage"])),
      ...(model === undefined || model === "" ? {} : { model }),
      ...state
    }
  }
}

interface Choice {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly calls: ReadonlyArray<JsonObject>
  readonly finish: string | undefined
  /** Fields of the message that only the model's own server understands. */
  readonly extra: JsonObject
}

const choicesOf = (body: JsonObject): ReadonlyArray<Choice> =>
  asArray(body["choices"]).flatMap((value) => {
    const choice = asObject(value)
    const message = asObject(choice?.["message"]) ?? (choice?.["text"] === undefined ? undefined : textOnly(choice))
    if (choice === undefined || message === undefined) return []
    const parts = readContent(message["content"])
    const calls = asList(message["tool_calls"])
    const text = parts.text.join("")
    // The form before tools, of servers that know no other.
    const legacy = asObject(message["function_call"])
    const isLegacy = legacy !== undefined && calls.length === 0 && text === ""
    return [
      {
        text,
        reasoning: thoughtOf(message) ?? parts.reasoning.join(""),
        refusal: [asString(message["refusal"]) ?? "", ...parts.refusal].join(""),
        calls: isLegacy ? [{ function: legacy }] : calls,
        finish: endOf(choice),
        extra: extraOf(message)
      }
    ]
  })

/** A gateway hides its provider's word behind one of its own, which can say that all is well where it is not. */
const endOf = (choice: JsonObject): string | undefined => {
  const word = asString(choice["finish_reason"]) || undefined
  const native = asString(choice["native_finish_reason"]) || undefined
  const isWhole = ["stop", "tool-calls", "unknown"].includes(FinishWord.meaning(word))
  const doubt = !["stop", "tool-calls", "unknown"].includes(FinishWord.meaning(native))
  return native !== undefined && isWhole && (doubt || word === undefined) ? native : word
}

const textOnly = (choice: JsonObject): JsonObject => ({ content: choice["text"] })

const reasoningNames = ["reasoning_content", "reasoning", "reasoning_text", "thinking"]

const thoughtOf = (message: JsonObject): string | undefined =>
  reasoningNames.map((name) => asString(message[name])).find((thought) => thought !== undefined && thought !== "")

/** What the model must see again: its reasoning under the names that its server gave it, and signatures. */
const extraOf = (message: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(message).filter(
      ([name, value]) =>
        value !== null &&
        value !== "" &&
        /^(?:reasoning|thinking|thought|extra_content|provider_specific_fields|encrypted_content|signature)/.test(name)
    )
  )

/** Content is a string, null, or an array of parts: `text`, `refusal`, and Mistral's `thinking`. */
const readContent = (content: unknown) => {
  const text: Array<string> = []
  const refusal: Array<string> = []
  const reasoning: Array<string> = []
  if (typeof content === "string") text.push(content)
  for (const entry of Array.isArray(content) ? content : [asObject(content) ?? {}]) {
    const part = asObject(entry)
    const type = asString(part?.["type"]) ?? "text"
    if (typeof entry === "string") text.push(entry)
    else if (type === "thinking" || type === "reasoning") {
      const { thinking = part?.["text"] } = part ?? {}
      reasoning.push(...readContent(thinking).text)
    } else if (type === "refusal") refusal.push(asString(part?.["refusal"]) ?? "")
    else text.push(asString(part?.["text"]) ?? "")
  }
  return { text, refusal, reasoning }
}

const readCall = (call: JsonObject, index: number, { messages }: Request, from: string): ToolCall => {
  const { function: inner, id, index: _, type: __, ...outer } = call
  const definition = asObject(inner) ?? {}
  const { arguments: given, name, parameters: ___, ...rest } = definition
  const value = { ...outer, ...(Object.keys(rest).length === 0 ? {} : { function: rest }) }
  const state: ProviderState = { from, value }
  return {
    // A server that sends no ids does not match results by them, but the conversation still needs each to be unique.
    id: asString(id) || `call_${messages.length}_${index}`,
    name: asString(name) ?? "",
    arguments: ToolArguments.toText(given ?? definition["parameters"]),
    ...(Object.keys(value).length === 0 ? {} : { providerState: state })
  }
}

const readUsage = (usage: JsonObject | undefined): Usage =>
  asNumbers({
    inputTokens: usage?.["prompt_tokens"] ?? usage?.["input_tokens"],
    outputTokens: usage?.["completion_tokens"] ?? usage?.["output_tokens"],
    cachedInputTokens:
      asObject(usage?.["prompt_tokens_details"])?.["cached_tokens"] ?? usage?.["prompt_cache_hit_tokens"],
    reasoningTokens: asObject(usage?.["completion_tokens_details"])?.["reasoning_tokens"]
  })

// ---------------------------------------------------------------------------------------------------------------
// streams
// ---------------------------------------------------------------------------------------------------------------

const isEvent = (document: JsonObject): boolean => {
  const choice = asObject(asArray(document["choices"])[0])
  return (
    (choice?.["delta"] !== undefined && asObject(choice["message"]) === undefined) ||
    asString(document["object"])?.endsWith(".chunk") === true
  )
}

interface OpenCall {
  readonly index: number | undefined
  id: string
  name: string
  readonly arguments: Array<string>
  extra: JsonObject
}

/** One choice of a streamed reply. */
class ChoiceChunks {
  readonly text: Array<string> = []
  readonly reasoning: Array<string> = []
  readonly refusal: Array<string> = []
  readonly calls: Array<OpenCall> = []
  readonly extra: Map<string, unknown> = new Map()
  private legacyName = ""
  private readonly legacyArguments: Array<string> = []
  finish: string | undefined

  add(delta: JsonObject): Piece {
    const parts = readContent(delta["content"])
    const text = parts.text.join("")
    const thought = thoughtOf(delta) ?? parts.reasoning.join("")
    this.text.push(text)
    this.reasoning.push(thought)
    this.refusal.push(asString(delta["refusal"]) ?? "", ...parts.refusal)
    for (const [name, value] of Object.entries(extraOf(delta)))
      this.extra.set(name, joined(this.extra.get(name), value))
    for (const call of asList(delta["tool_calls"])) this.addCall(call)
    const legacy = asObject(delta["function_call"])
    this.legacyName ||= asString(legacy?.["name"]) ?? ""
    this.legacyArguments.push(ToolArguments.toText(legacy?.["arguments"]))
    return { text, reasoning: thought }
  }

  /**
   * A call comes in pieces. By the book they share an index, and id and name come with the first; in the field indexes
   * are missing or all 0, ids come again or change, names come again or late, and whole calls come in one piece.
   */
  private addCall(piece: JsonObject): void {
    const { function: inner, id: givenId, index: givenIndex, type: _, ...outer } = piece
    const { arguments: given, name: givenName, ...rest } = asObject(inner) ?? {}
    const index = asNumber(givenIndex)
    const id = asString(givenId) ?? ""
    const name = asString(givenName) ?? ""
    const text = ToolArguments.toText(given)
    const found = this.find(index, id, name)
    // Looked at only where a piece could be more than the next one: most have neither id nor name.
    const said = name === "" && id === "" ? undefined : found?.arguments.join("")
    const isWhole = said?.endsWith("}") === true && parseJson(said) !== undefined
    const isNext = found === undefined || (isWhole && name !== "" && text !== "" && id === "")
    const call = isNext ? { index, id, name: "", arguments: [], extra: {} } : found
    if (isNext) this.calls.push(call)
    if (call.id === "") call.id = id
    // A name that comes again says nothing; one in pieces comes before the arguments.
    if (call.name === "" || (said === "" && name !== call.name && !isNext)) call.name += name
    // And neither do arguments that come again.
    if (text !== "" && !(isWhole && !isNext && text === said)) call.arguments.push(text)
    call.extra = { ...call.extra, ...outer, ...(Object.keys(rest).length === 0 ? {} : { function: rest }) }
  }

  /** The call that a piece continues; `undefined` where it begins one. */
  private find(index: number | undefined, id: string, name: string): OpenCall | undefined {
    const byId = id === "" ? undefined : this.calls.findLast((call) => call.id === id)
    const byIndex = index === undefined ? undefined : this.calls.findLast((call) => call.index === index)
    // Without a name and a new id a piece can only belong to what is there.
    const last = name === "" && (id === "" || index === undefined) ? this.calls.at(-1) : undefined
    const open = index === undefined ? (byId ?? last ?? (id === "" ? this.calls.at(-1) : undefined)) : (byIndex ?? last)
    if (open === undefined || name === "" || open.name === "" || name === open.name) {
      return open !== undefined && name !== "" && isOther(id, open.id) ? undefined : open
    }
    const continues = index !== undefined || byId !== undefined
    return continues && !isOther(id, open.id) && open.arguments.length === 0 ? open : undefined
  }

  message(): JsonObject {
    const extra = Object.fromEntries(this.extra)
    const text = this.text.join("")
    const thought = thoughtOf(extra) === undefined ? this.reasoning.join("") : ""
    return {
      ...extra,
      content:
        thought === ""
          ? text
          : [
              { type: "thinking", thinking: thought },
              { type: "text", text }
            ],
      refusal: this.refusal.join(""),
      ...(this.legacyName === ""
        ? {}
        : { function_call: { name: this.legacyName, arguments: this.legacyArguments.join("") } }),
      tool_calls: this.calls.map((call) => ({
        ...call.extra,
        id: call.id,
        function: { ...asObject(call.extra["function"]), name: call.name, arguments: call.arguments.join("") }
      }))
    }
  }
}

const isOther = (id: string, other: string): boolean => id !== "" && other !== "" && id !== other

/**
 * Text that comes in pieces is joined, entries of a list are too where they are one, and of all else the last holds.
 */
const joined = (before: unknown, value: unknown): unknown => {
  if (typeof before === "string" && typeof value === "string") return before + value
  if (!Array.isArray(before) || !Array.isArray(value)) return value
  const entries: Array<unknown> = [...before]
  for (const item of value) {
    const last = asObject(entries.at(-1))
    const next = asObject(item)
    const isOne = next?.["index"] !== undefined && last?.["index"] === next["index"] && last["type"] === next["type"]
    if (isOne && last !== undefined && next !== undefined) entries[entries.length - 1] = joinEntry(last, next)
    else entries.push(item)
  }
  return entries
}

const joinEntry = (last: JsonObject, next: JsonObject): JsonObject => {
  const entry: { [name: string]: unknown } = { ...last }
  for (const [name, value] of Object.entries(next)) {
    const isText = name === "text" || name === "summary"
    if (value !== null) entry[name] = isText ? joined(entry[name], value) : value
  }
  return entry
}

/** Collects the chunks of one reply. */
class Chunks implements Assembler {
  private readonly choices: Map<number, ChoiceChunks> = new Map()
  private usage: unknown
  private model: unknown
  private response: JsonObject | undefined
  private isDone = false

  add(chunk: JsonObject): Piece {
    this.model ??= asString(chunk["model"]) || undefined
    this.usage = asObject(chunk["usage"]) ?? asObject(asObject(chunk["x_groq"])?.["usage"]) ?? this.usage
    const told: Array<Piece> = []
    for (const [position, value] of asArray(chunk["choices"]).entries()) {
      const choice = asObject(value)
      if (choice === undefined) continue
      // A whole completion as one event.
      if (asObject(choice["message"]) !== undefined && choice["delta"] === undefined) this.response = chunk
      const key = asNumber(choice["index"]) ?? position
      const open = this.choices.get(key) ?? new ChoiceChunks()
      this.choices.set(key, open)
      this.usage = asObject(choice["usage"]) ?? this.usage
      open.finish = endOf(choice) ?? open.finish
      const isSaid = open.text.some((piece) => piece !== "")
      const piece = open.add(asObject(choice["delta"]) ?? asObject(choice["message"]) ?? textOnly(choice))
      // What came in pieces is not told again as a whole.
      if (!(isSaid && this.response === chunk)) told.push(piece)
    }
    return { text: told.map(({ text }) => text).join(""), reasoning: told.map(({ reasoning }) => reasoning).join("") }
  }

  done(): void {
    this.isDone = true
  }

  finished(): boolean {
    return this.response !== undefined || [...this.choices.values()].some(({ finish }) => finish !== undefined)
  }

  /**
   * The usage may still follow the finish reason, so only the server's last word ends a stream. And without a finish
   * reason not even that: a server that was interrupted says `[DONE]` before it breaks off.
   */
  complete(): boolean {
    return this.isDone && this.finished()
  }

  /** Without a finish reason and without a last word the stream was cut off. */
  whole(): JsonObject | undefined {
    if (this.response !== undefined) return this.response
    const choices = [...this.choices.entries()].sort(([a], [b]) => a - b)
    if (choices.length === 0 || (!this.isDone && !this.finished())) return undefined
    return {
      model: this.model,
      usage: this.usage,
      choices: choices.map(([index, choice]) => ({ index, message: choice.message(), finish_reason: choice.finish }))
    }
  }
}
