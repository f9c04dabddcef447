/** Tokens before anyone has counted them. */
import type { Reply, Request } from "@forethought/core/Llm"

/** A token for every four ASCII characters, and one for every other: near to what the tokenizers in use give. */
const textTokens = (text: string): number => {
  let ascii = 0
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) < 128) ascii++
  return Math.ceil(ascii / 4) + (text.length - ascii)
}

/** What the model will read: messages, tool calls, tools and format, and four tokens around each message. */
export const inputTokens = (request: Request): number => {
  let tokens = 0
  for (const message of request.messages) {
    tokens += 4 + textTokens(message.content)
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls ?? []) tokens += 4 + textTokens(call.name) + textTokens(call.arguments)
  }
  if (request.tools !== undefined) tokens += textTokens(JSON.stringify(request.tools))
  if (request.format !== undefined) tokens += textTokens(JSON.stringify(request.format))
  return tokens
}

/** What the model wrote, thinking included. */
export const outputTokens = (reply: Reply): number =>
  textTokens(reply.text) +
  textTokens(reply.reasoning ?? "") +
  reply.toolCalls.reduce((sum, call) => sum + 4 + textTokens(call.name) + textTokens(call.arguments), 0)
