/** The wire of Google's Generative Language API. */
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
  const from = `google:${options.model}`
  const path = `/v1beta/models/${options.model.replace(/^models\//, "")}`
  return {
    from,
    provider: "google",
    url: (stream) =>
      endpoint(options.apiUrl, stream ? `${path}:streamGenerateContent?alt=sse` : `${path}:generateContent`),
    headers: options.headers,
    formats: () => true,
    formatNames: /schema|response_?mime_?type|json mode/,
    encode: (request, quirks) => encode(options.model, options.config, request, quirks),
    decode: (body, request) => decode(body, request, from),
    // Whole and streamed responses have one form.
    isEvent: () => false,
    assembler: () => new Chunks()
  }
}

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

const encode = (model: string, config: JsonObject, request: Request, quirks: Quirks): JsonObject => {
  const { format, maxTokens, messages, stop, temperature, tools = [] } = request
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => ({ text: content }))
  const generationConfig: { [key: string]: unknown } = { ...asObject(config["generationConfig"]) }
  if (maxTokens !== undefined) generationConfig["maxOutputTokens"] = maxTokens
  if (temperature !== undefined) generationConfig["temperature"] = temperature
  // This API takes at most five; the text is cut at the others all the same.
  if (stop !== undefined) generationConfig["stopSequences"] = stop.slice(0, 5)
  if (format !== undefined) {
    generationConfig["responseMimeType"] = "application/json"
    if (quirks.format === "schema") generationConfig["responseJsonSchema"] = ToolSchema.dereference(format.schema)
  }
  return {
    ...config,
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    contents: encodeMessages(messages, /gemini-(?:[3-9]|\d\d)/.test(model), quirks.reasoning),
    ...(tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters }) => {
                const schema = ToolSchema.gemini(parameters)
                const isEmpty = Object.keys(asObject(schema["properties"]) ?? {}).length === 0
                return { name, description, ...(isEmpty && !quirks.emptyParameters ? {} : { parameters: schema }) }
              })
            }
          ]
        }),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig })
  }
}

/** Turns of the same side become one, but for results of tools, which stand alone in theirs. */
const encodeMessages = (
  messages: ReadonlyArray<Message>,
  signs: boolean,
  withThoughts: boolean
): ReadonlyArray<JsonObject> => {
  const encoded: Array<{ readonly role: string; readonly from: string; readonly parts: Array<JsonObject> }> = []
  for (const message of messages) {
    if (message.role === "system") continue
    const role = message.role === "assistant" ? "model" : "user"
    const parts = encodeMessage(message, signs, withThoughts)
    if (parts.length === 0) continue
    const last = encoded.at(-1)
    if (last?.from === message.role) last.parts.push(...parts)
    else encoded.push({ role, from: message.role, parts: [...parts] })
  }
  return encoded.map(({ parts, role }) => ({ role, parts }))
}

/** Stands for the signature of a call that another model made; the API takes nothing else in its place. */
const unsigned = "skip_thought_signature_validator"

const encodeMessage = (
  message: Exclude<Message, { readonly role: "system" }>,
  signs: boolean,
  withThoughts: boolean
): ReadonlyArray<JsonObject> => {
  switch (message.role) {
    case "user":
      return message.content === "" ? [] : [{ text: message.content }]
    case "tool":
      return [
        {
          functionResponse: {
            ...idOf(message.toolCallId),
            name: message.name,
            // It has to be an object.
            response: { result: message.content }
          }
        }
      ]
    case "assistant": {
      const text = message.content === "" ? [] : [{ text: message.content }]
      const calls = message.toolCalls ?? []
      const kept = withThoughts ? asObjects(asObject(message.providerState?.value)?.["parts"]) : []
      if (kept.length === 0) {
        return [
          ...text,
          ...calls.map((call, index) => ({
            ...functionCall(call),
            ...(signs && index === 0 ? { thoughtSignature: unsigned } : {})
          }))
        ]
      }
      // Part by part as they came, each with its signature; the words and the calls are those of the message.
      const parts: Array<JsonObject> = []
      let called = 0
      let isSaid = text.length === 0
      for (const part of kept) {
        if (part["call"] === true) {
          const call = calls[called]
          called += 1
          if (call !== undefined) parts.push({ ...functionCall(call), ...signature(part) })
        } else if (typeof part["thought"] === "string") {
          parts.push({ text: part["thought"], thought: true, ...signature(part) })
        } else if (!isSaid && part["text"] === true) {
          parts.push({ text: message.content, ...signature(part) })
          isSaid = true
        } else if (part["text"] !== true || signature(part)["thoughtSignature"] !== undefined) {
          parts.push({ text: "", ...signature(part) })
        }
      }
      return [...parts, ...(isSaid ? [] : text), ...calls.slice(called).map(functionCall)]
    }
  }
}

const signature = (part: JsonObject): JsonObject =>
  part["thoughtSignature"] === undefined ? {} : { thoughtSignature: part["thoughtSignature"] }

const functionCall = (call: ToolCall): JsonObject => ({
  functionCall: { ...idOf(call.id), name: call.name, args: ToolArguments.toObject(call.arguments) }
})

/** An id goes back to the server that gave it; those made up on this side pair a result with its call here alone. */
const idOf = (id: string): JsonObject => (/^call_\d+_\d+$/.test(id) ? {} : { id })

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

const decode = (body: JsonObject, request: Request, from: string): Decoded => {
  const candidate = asObject(asArray(body["candidates"])[0])
  const blocked = asString(asObject(body["promptFeedback"])?.["blockReason"])
  if (candidate === undefined && blocked !== undefined) {
    return { _tag: "Refusal", text: "", detail: `the prompt was blocked: ${blocked}` }
  }
  const isOurs = body["candidates"] !== undefined || body["usageMetadata"] !== undefined
  if (candidate === undefined && !isOurs) return { _tag: "Unreadable", problem: "the response holds no candidates" }
  const text: Array<string> = []
  const reasoning: Array<string> = []
  const toolCalls: Array<ToolCall> = []
  /** What is kept of each part: what it was, and its signature. */
  const parts: Array<JsonObject> = []
  for (const part of asObjects(asObject(candidate?.["content"])?.["parts"])) {
    const call = asObject(part["functionCall"])
    const said = asString(part["text"])
    if (call !== undefined) {
      parts.push({ call: true, ...signature(part) })
      toolCalls.push({
        id: asString(call["id"]) || `call_${request.messages.length}_${toolCalls.length}`,
        name: asString(call["name"]) ?? "",
        arguments: ToolArguments.toText(call["args"] ?? {})
      })
    } else if (part["thought"] === true) {
      reasoning.push(said ?? "")
      if (part["thoughtSignature"] !== undefined) parts.push({ thought: said ?? "", ...signature(part) })
    } else if (said !== undefined && said !== "") {
      parts.push({ text: true, ...signature(part) })
      text.push(said)
    } else if (part["thoughtSignature"] !== undefined) parts.push(signature(part))
  }
  const thought = reasoning.join("")
  const model = asString(body["modelVersion"])
  const isSigned = parts.some((part) => part["thoughtSignature"] !== undefined)
  return {
    _tag: "Reply",
    reply: {
      text: text.join(""),
      toolCalls,
      ...(thought === "" ? {} : { reasoning: thought }),
      ...readEnd(asString(candidate?.["finishReason"]), toolCalls.length > 0),
      usage: readUsage(asObject(body["usageMetadata"])),
      ...(model === undefined || model === "" ? {} : { model }),
      ...(isSigned || toolCalls.length > 0 ? { providerState: { from, value: { parts } } } : {})
    }
  }
}

/** A call has no word of its own. */
const readEnd = (word: string | undefined, calls: boolean) => {
  const end = FinishWord.read(word)
  return calls && end.finishReason === "stop" ? { finishReason: "tool-calls" as const } : end
}

const readUsage = (usage: JsonObject | undefined): Usage => {
  const thoughts = asNumber(usage?.["thoughtsTokenCount"])
  const output = asNumber(usage?.["candidatesTokenCount"])
  return asNumbers({
    inputTokens: usage?.["promptTokenCount"],
    outputTokens: output === undefined && thoughts === undefined ? undefined : (output ?? 0) + (thoughts ?? 0),
    cachedInputTokens: usage?.["cachedContentTokenCount"],
    reasoningTokens: thoughts
  })
}

// ---------------------------------------------------------------------------------------------------------------
// streams
// ---------------------------------------------------------------------------------------------------------------

/** Collects the chunks of one reply. */
class Chunks implements Assembler {
  private readonly parts: Array<JsonObject> = []
  private rest: JsonObject = {}
  private finishReason: string | undefined
  private isDone = false

  add(chunk: JsonObject): Piece {
    const { candidates, usageMetadata, ...others } = chunk
    const usage = { ...asObject(this.rest["usageMetadata"]), ...asObject(usageMetadata) }
    this.rest = { ...this.rest, ...others, usageMetadata: usage }
    const candidate = asObject(asArray(candidates)[0])
    this.finishReason = asString(candidate?.["finishReason"]) ?? this.finishReason
    const piece = { text: "", reasoning: "" }
    for (const part of asObjects(asObject(candidate?.["content"])?.["parts"])) {
      const text = asString(part["text"]) ?? ""
      if (part["thought"] === true) piece.reasoning += text
      else piece.text += text
      this.keep(part)
    }
    return piece
  }

  /** Pieces of one text are one part, up to the signature that closes it. */
  private keep(part: JsonObject): void {
    const last = this.parts.at(-1)
    const isText = (value: JsonObject | undefined): value is JsonObject =>
      typeof value?.["text"] === "string" && value["functionCall"] === undefined
    const goesOn =
      isText(last) && isText(part) && last["thought"] === part["thought"] && last["thoughtSignature"] === undefined
    if (goesOn) this.parts[this.parts.length - 1] = { ...last, ...part, text: `${last["text"]}${part["text"]}` }
    else this.parts.push(part)
  }

  done(): void {
    this.isDone = true
  }

  finished(): boolean {
    return this.finishReason !== undefined
  }

  complete(): boolean {
    return this.isDone
  }

  whole(): JsonObject | undefined {
    const isBlocked = asObject(this.rest["promptFeedback"])?.["blockReason"] !== undefined
    if (isBlocked && this.parts.length === 0) return this.rest
    if (this.finishReason === undefined && !this.isDone) return undefined
    return { ...this.rest, candidates: [{ content: { parts: this.parts }, finishReason: this.finishReason }] }
  }
}
