/**
 * Tool calls that a model writes as text in its own training format, where nobody decodes them.
 *
 * @internal
 */
import { unfence, visible } from "@forethought/core/reply/ReplyText"

const marks =
  /<\/?(?:tool_calls?|tool_use|function_calls?|minimax:tool_call|antml:invoke|antml:function_calls)>|<function=|<invoke name=|<function_call |<tool_call |\[TOOL_CALLS\]|\[TOOL_REQUEST\]|\[tool_call\]|<\|(?:python_tag|tool_calls?(?:_\w{1,16})?|plugin|action_start|channel|constrain|start|message|call)\|>|<\|tool_call>|<｜tool▁calls?▁begin｜>|✿FUNCTION✿|functools\[/gi

/** Whether a reply's text holds a tool call in markup. A mention in quotes or in inline code does not count. */
export const toolCallMarkup = (text: string): boolean => {
  const said = visible(text)
  for (const match of said.matchAll(marks)) {
    const before = said.charAt(match.index - 1)
    if (before !== "`" && before !== '"' && before !== "'" && before !== "“") return true
  }
  return isBareCall(unfence(said).trim())
}

/** The whole reply is `{"name": …, "arguments": …}`, or a list of such. */
const isBareCall = (text: string): boolean => {
  if (!text.startsWith("{") && !text.startsWith("[")) return false
  const value = parseJson(text)
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (typeof first !== "object" || first === null) return false
  const name = Object.hasOwn(first, "name") || Object.hasOwn(first, "function") || Object.hasOwn(first, "tool_calls")
  const input = ["arguments", "parameters", "args", "tool_calls"].some((key) => Object.hasOwn(first, key))
  return (name && input) || (Object.hasOwn(first, "type") && Object.hasOwn(first, "function"))
}

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
