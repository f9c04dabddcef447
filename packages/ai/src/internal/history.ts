/** What one model's adapter makes of the turns of another. */
import type { Message, ProviderState, ToolCall } from "@forethought/core/Llm"

/** Ids that every provider takes; one that the model itself gave is echoed, whatever it looks like. */
const plainId = /^[a-zA-Z0-9_-]{1,40}$/

/**
 * Returns a conversation as the model `from` may see it: states of other models are dropped, and the ids of their
 * calls, and any that some provider would refuse, are replaced in the call and its result alike (nine letters and
 * digits, which the strictest provider wants). The turns of the model itself are as they were, but for an id that it
 * gives twice.
 */
export const prepare = (messages: ReadonlyArray<Message>, from: string): ReadonlyArray<Message> => {
  const taken = new Set(messages.flatMap((message) => (message.role === "assistant" ? idsOf(message) : [])))
  const seen = new Set<string>()
  let count = 0
  const fresh = (): string => {
    let id: string
    do {
      count += 1
      id = `call${String(count).padStart(5, "0")}`
    } while (taken.has(id))
    return id
  }
  // Of the turn that the results which follow answer.
  let renamed = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === "tool") {
      const id = renamed.get(message.toolCallId)
      return id === undefined ? message : { ...message, toolCallId: id }
    }
    if (message.role !== "assistant") return message
    const { providerState, ...rest } = message
    const own = isOwn(providerState, from)
    const states = [providerState, ...(message.toolCalls ?? []).map((call) => call.providerState)]
    const isForeign = !own && states.some((state) => state !== undefined && state.from !== from)
    renamed = new Map()
    const toolCalls = message.toolCalls?.map((call): ToolCall => {
      const { providerState: state, ...plain } = call
      const kept = own || isOwn(state, from)
      const isUsable = !seen.has(call.id) && (kept || (!isForeign && plainId.test(call.id)))
      const id = isUsable ? call.id : fresh()
      if (id !== call.id) renamed.set(call.id, id)
      seen.add(id)
      return { ...plain, id, ...(state !== undefined && kept ? { providerState: state } : {}) }
    })
    return {
      ...rest,
      ...(toolCalls === undefined ? {} : { toolCalls }),
      ...(own && providerState !== undefined ? { providerState } : {})
    }
  })
}

const isOwn = (state: ProviderState | undefined, from: string): boolean => state?.from === from

const idsOf = (message: Message & { readonly role: "assistant" }) => (message.toolCalls ?? []).map(({ id }) => id)

/** Gives each call of a reply an id of its own: the server's where it has one that no call before it has. */
export const uniqueIds = (calls: ReadonlyArray<ToolCall>, turn: number): ReadonlyArray<ToolCall> => {
  const seen = new Set<string>()
  return calls.map((call, index) => {
    const id = call.id !== "" && !seen.has(call.id) ? call.id : `call_${turn}_${index}`
    seen.add(id)
    return id === call.id ? call : { ...call, id }
  })
}
