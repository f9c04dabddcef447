/**
 * One message of an MCP server, read leniently: what the SDK's strict schemas would refuse is mended before it sees it,
 * because it drops a message that it refuses and lets the call wait for its timeout.
 */

import { isObject, jsonOf } from "@forethought/core/Json"
import {
  ErrorCode,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS
} from "@modelcontextprotocol/sdk/types.js"

/** A request of ours that has no answer yet. */
export interface Awaited {
  readonly id: RequestId
  readonly method: string
}

/** Finds the request that a message answers, whose id may be missing or of any kind. */
export type Answers = (answer: Readonly<Record<string, unknown>>) => Awaited | undefined

/** The code of an answer that we write because the server's own did not arrive. */
export const brokenOff = -32_097

/** The code of an answer that we write because the server's own cannot be read. */
export const notReadable = -32_096

/** The request that one of our messages calls off. */
export const cancelledBy = (message: Readonly<Record<string, unknown>>): RequestId | undefined => {
  if (message["method"] !== "notifications/cancelled" || !isObject(message["params"])) return undefined
  const id = message["params"]["requestId"]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

/** The messages of a JSON value: one, or a batch. What is none, or answers nothing that was asked, is left out. */
export const readMessages = (value: unknown, answers: Answers): ReadonlyArray<JSONRPCMessage> => {
  const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return list.map((item) => readMessage(item, answers)).filter((message) => message !== undefined)
}

/** An answer in the server's place: why there is none that can be read. */
export const failedAnswer = (id: RequestId, problem: string, code: number = notReadable): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: problem }
})

/** Why a text cannot be read as an answer, with its first words. */
export const unreadable = (text: string): string =>
  `The server's answer cannot be read: ${JSON.stringify(text.slice(0, shownChars).toWellFormed())}`

const shownChars = 200

const readMessage = (value: unknown, answers: Answers): JSONRPCMessage | undefined => {
  if (!isObject(value)) return undefined
  const { id, method, params } = value
  // Some servers log JSON where messages belong.
  const signed = Object.hasOwn(value, "jsonrpc")
  if (typeof method === "string") {
    if (!signed) return undefined
    const given = isObject(params) ? { params: readParams(method, params) } : {}
    return typeof id === "string" || Number.isInteger(id)
      ? { jsonrpc: "2.0", id: typeof id === "string" ? id : Number(id), method, ...given }
      : { jsonrpc: "2.0", method, ...given }
  }
  const identified = typeof id === "string" || typeof id === "number"
  const telling = Object.hasOwn(value, "result") || Object.hasOwn(value, "error")
  const isAnswer = telling ? signed || identified : signed && identified
  const awaited = isAnswer ? answers(value) : undefined
  if (awaited === undefined) return undefined
  // Many servers write both, one of them null.
  const failed = value["error"] !== undefined && value["error"] !== null
  if (failed) return { jsonrpc: "2.0", id: awaited.id, error: readError(value["error"]) }
  if (!Object.hasOwn(value, "result")) return failedAnswer(awaited.id, unreadable(jsonOf(value) ?? ""))
  return { jsonrpc: "2.0", id: awaited.id, result: readResult(awaited.method, value["result"]) }
}

const readParams = (method: string, params: Record<string, unknown>): Record<string, unknown> => {
  const { _meta: _, ...rest } = params
  if (method !== "notifications/progress") return rest
  const { message, progress, progressToken, total: _total } = rest
  return { progressToken, progress: Number(progress) || 0, ...(typeof message === "string" ? { message } : {}) }
}

const readError = (error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } => {
  if (!isObject(error)) {
    return { code: ErrorCode.InternalError, message: typeof error === "string" ? error : (jsonOf(error) ?? "unknown") }
  }
  const code = Number(error["code"])
  const { data, message } = error
  return {
    code: Number.isSafeInteger(code) && code !== 0 ? code : ErrorCode.InternalError,
    message: typeof message === "string" && message.trim() !== "" ? message : (jsonOf(data ?? error) ?? "unknown"),
    ...(data === undefined ? {} : { data })
  }
}

/** A result is an object on the wire; another value stands where the protocol's first version had it. */
const readResult = (method: string, result: unknown): Record<string, unknown> => {
  if (method === "initialize") return readWelcome(isObject(result) ? result : {})
  if (!isObject(result)) return result === null ? {} : { toolResult: result }
  const { _meta: _, ...rest } = result
  return rest
}

/**
 * Of the answer to `initialize` the version alone matters here. One that the SDK does not know is taken for the newest:
 * the server has answered, and refusing it would help nobody.
 */
const readWelcome = ({ protocolVersion, serverInfo }: Record<string, unknown>): Record<string, unknown> => {
  const version = SUPPORTED_PROTOCOL_VERSIONS.find((known) => known === protocolVersion) ?? LATEST_PROTOCOL_VERSION
  const name = isObject(serverInfo) && typeof serverInfo["name"] === "string" ? serverInfo["name"] : "unknown"
  return { protocolVersion: version, capabilities: {}, serverInfo: { name, version: "unknown" } }
}
