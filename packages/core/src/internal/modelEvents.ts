/**
 * What the events of a model call tell of its request and its reply.
 *
 * @internal
 */
import * as FinishWord from "../FinishWord.js"
import type * as Llm from "../Llm.js"
import type * as RunEvent from "../RunEvent.js"

/** What the end of a call tells of its reply. What only its provider reads is not part of it. */
export const replyEnd = (
  { cost, provider, providerState: _, ...reply }: Llm.Reply,
  asked: string | undefined
): Partial<RunEvent.ModelCallEnded> => {
  const model = reply.model ?? asked
  return {
    reply: { ...reply, toolCalls: withoutState(reply.toolCalls) },
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(cost === undefined ? {} : { cost })
  }
}

/** A request for an event, as the pattern made it. */
export const requestOf = ({
  format,
  maxTokens,
  messages,
  stop,
  temperature,
  tools
}: Llm.Request): RunEvent.ModelRequest => ({
  messages: messages.map((message) => {
    if (message.role !== "assistant") return message
    const { content, role, toolCalls } = message
    return { role, content, ...(toolCalls === undefined ? {} : { toolCalls: withoutState(toolCalls) }) }
  }),
  ...(tools === undefined ? {} : { tools }),
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(stop === undefined ? {} : { stop }),
  ...(format === undefined ? {} : { format })
})

const withoutState = (calls: ReadonlyArray<Llm.ToolCall>): ReadonlyArray<Llm.ToolCall> =>
  calls.some((call) => call.providerState !== undefined)
    ? calls.map(({ arguments: text, id, name }) => ({ id, name, arguments: text }))
    : calls

/** Of a reply that is taken as whole, though its provider did not say so in a word that we know. */
export const doubtfulEnd = (reply: Llm.Reply): RunEvent.NewEvent | undefined => {
  if (reply.finishReason !== "other" || FinishWord.ofReply(reply) !== "unknown") return undefined
  const word = reply.rawFinishReason
  const said = word === undefined ? "gave no finish reason" : `gave the unknown finish reason ${JSON.stringify(word)}`
  return { _tag: "Warning", kind: "unknown_finish_reason", message: `The model ${said}; its reply is taken as whole.` }
}
