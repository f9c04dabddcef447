/** The wire format of `/chat/completions`: requests written, replies read. */
import { LlmError, type Message, Reason, type Reply, type Request, type ToolCall } from "@forethought/core/Llm"
import * as Either from "effect/Either"
import { asArray, asNumber, asObject, asString, type JsonObject } from "./json.js"
import * as ToolArguments from "./toolArguments.js"

/** The fields in which servers differ: what this one takes. */
export interface Dialect {
  /** `response_format` with a JSON Schema. */
  readonly format: boolean
  /** The name of the token limit: OpenAI's reasoning models want the longer one. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens"
  /** `stream_options`, without which a streamed reply has no usage. */
  readonly streamUsage: boolean
}

// ---------------------------------------------------------------------------------------------------------------
// requests
// ---------------------------------------------------------------------------------------------------------------

export const encodeRequest = (model: string, request: Request, dialect: Dialect, stream: boolean): JsonObject => {
  const tools = request.tools ?? []
  const body: { [key: string]: unknown } = { model, messages: request.messages.map(encodeMessage), stream }
  if (stream && dialect.streamUsage) body["stream_options"] = { include_usage: true }
  if (tools.length > 0) {
    body["tools"] = tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters }
    }))
  }
  if (request.maxTokens !== undefined) body[dialect.maxTokens] = request.maxTokens
  if (request.temperature !== undefined) body["temperature"] = request.temperature
  if (request.stop !== undefined && request.stop.length > 0) body["stop"] = request.stop
  if (sendsFormat(request, dialect) && request.format !== undefined) {
    const { name, schema } = request.format
    body["response_format"] = { type: "json_schema", json_schema: { name, schema } }
  }
  return body
}

/** A reply held to a schema could not ask for a tool, so a request that offers tools carries no format. */
export const sendsFormat = (request: Request, dialect: Dialect): boolean =>
  dialect.format && request.format !== undefined && (request.tools ?? []).length === 0

const encodeMessage = (message: Message): JsonObject => {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content }
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content }
    case "assistant": {
      const calls = message.toolCalls ?? []
      if (calls.length === 0) return { role: "assistant", content: message.content }
      return {
        role: "assistant",
        content: message.content === "" ? null : message.content,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: ToolArguments.toObjectText(call.arguments) }
        }))
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// replies
// ---------------------------------------------------------------------------------------------------------------

/** Reads a parsed response. Whatever is missing is empty; what is there is taken as it is. */
export const decodeReply = (body: JsonObject, request: Request): Either.Either<Reply, LlmError> => {
  const choice = asObject(asArray(body["choices"])[0])
  const message = asObject(choice?.["message"])
  if (choice === undefined || message === undefined) {
    return failed(Reason.BadRequest(), "the response holds no choices", request)
  }
  const parts = readContent(message["content"])
  const refusal = [asString(message["refusal"]) ?? "", ...parts.refusal].join("")
  if (refusal !== "") return failed(Reason.Refused(refusal), undefined, request)
  const text = parts.text.join("")
  const toolCalls = asArray(message["tool_calls"]).flatMap((call, index) => readToolCall(call, index, request))
  const reasoning = asString(message["reasoning_content"]) ?? asString(message["reasoning"]) ?? parts.reasoning.join("")
  const usage = asObject(body["usage"])
  const inputTokens = asNumber(usage?.["prompt_tokens"])
  const outputTokens = asNumber(usage?.["completion_tokens"])
  const model = asString(body["model"])
  return Either.right({
    text,
    toolCalls,
    ...(reasoning === "" ? {} : { reasoning }),
    ...readFinishReason(asString(choice["finish_reason"])),
    usage: {
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens })
    },
    ...(model === undefined || model === "" ? {} : { model })
  })
}

const failed = (reason: Reason, detail: string | undefined, request: Request) =>
  Either.left(
    new LlmError({ reason, role: request.role, call: request.call, ...(detail === undefined ? {} : { detail }) })
  )

/** Content is a string, null, or an array of parts: `text`, `refusal`, and Mistral's `thinking`. */
const readContent = (content: unknown) => {
  const text: Array<string> = []
  const refusal: Array<string> = []
  const reasoning: Array<string> = []
  if (typeof content === "string") text.push(content)
  for (const entry of asArray(content)) {
    const part = asObject(entry)
    if (typeof entry === "string") text.push(entry)
    else if (part?.["type"] === "thinking") reasoning.push(...readContent(part["thinking"]).text)
    else if (part?.["type"] === "refusal") refusal.push(asString(part["refusal"]) ?? "")
    else text.push(asString(part?.["text"]) ?? "")
  }
  return { text, refusal, reasoning }
}

const readToolCall = (value: unknown, index: number, request: Request): ReadonlyArray<ToolCall> => {
  const call = asObject(value)
  const definition = asObject(call?.["function"])
  if (definition === undefined) return []
  return [
    {
      // A server that sends no ids does not match results by them, but the conversation still needs each to be unique.
      id: asString(call?.["id"]) || `call_${request.messages.length}_${index}`,
      name: asString(definition["name"]) ?? "",
      arguments: ToolArguments.toText(definition["arguments"])
    }
  ]
}

const readFinishReason = (raw: string | undefined): Pick<Reply, "finishReason" | "rawFinishReason"> => {
  switch (raw) {
    case "stop":
      return { finishReason: "stop" }
    case "length":
    case "model_length":
    case "max_tokens":
      return { finishReason: "length" }
    case "tool_calls":
      return { finishReason: "tool-calls" }
    case "content_filter":
      return { finishReason: "content-filter" }
    case undefined:
      return { finishReason: "other" }
    default:
      return { finishReason: "other", rawFinishReason: raw }
  }
}
