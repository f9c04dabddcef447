/**
 * Tool calls that a model writes as text in its own training format, where nobody decodes them.
 *
 * @internal
 */
import { unfence, visible } from "@forethought/core/reply/ReplyText"

const marks =
  /<\/?(?:tool_calls?|tool_use|tool_code|function_calls?|minimax:tool_call|antml:invoke|antml:function_calls)>|<function=|<invoke name=|<function_call |<tool_call |\[TOOL_CALLS\]|\[TOOL_REQUEST\]|\[tool_call\]|<\|(?:python_tag|tool_calls?(?:_\w{1,16})?|plugin|action_start|channel|constrain|start|message|call)\|>|<\|tool_call>|<｜tool▁calls?▁begin｜>|<｜[^｜<>\n]{1,24}｜(?:function_calls?|tool_calls?|invoke)|✿FUNCTION✿|functools\[|```(?:tool_code|tool_calls?|function_calls?)(?!\w)|(?<![\w.])to=functions\.\w/gi

/** Whether a name is that of a tool on offer. */
export type IsTool = (name: string) => boolean

/**
 * Whether a reply's text holds a tool call in markup, or as JSON: an object with a name and arguments, anywhere. A
 * mention of markup in quotes or in inline code does not count. Where `isTool` is given, JSON among other text counts
 * for tools on offer only: an answer may well hold an object with a name.
 */
export const toolCallMarkup = (text: string, isTool?: IsTool): boolean => {
  const said = visible(text)
  for (const match of said.matchAll(marks)) {
    const before = said.charAt(match.index - 1)
    if (before !== "`" && before !== '"' && before !== "'" && before !== "“") return true
  }
  const whole = unfence(said).trim()
  return isBareCall(whole) || holdsCall(said, isTool) || (isTool !== undefined && isPlainCall(whole, isTool))
}

/** The whole reply is `{"name": …, "arguments": …}`, or a list of such. */
export const isBareCall = (text: string): boolean => {
  if (!text.startsWith("{") && !text.startsWith("[")) return false
  const value = parseJson(text)
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (typeof first !== "object" || first === null) return false
  const name = Object.hasOwn(first, "name") || Object.hasOwn(first, "function") || Object.hasOwn(first, "tool_calls")
  const input = ["arguments", "parameters", "args", "tool_calls"].some((key) => Object.hasOwn(first, key))
  return (name && input) || (Object.hasOwn(first, "type") && Object.hasOwn(first, "function"))
}

/** The whole reply is `search("x")` or `[search(q="x")]`, for a tool on offer. */
const isPlainCall = (text: string, isTool: IsTool): boolean => {
  const head = /^\[?\s{0,4}(?:print\()?([\w.-]{1,96})\(/.exec(text.slice(0, 128))
  return head !== null && /\)\s?\]?;?$/.test(text.slice(-4)) && isTool(head[1] ?? "")
}

const nameKeys = ["name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"]
const argumentKeys = ["arguments", "parameters", "args", "params", "action_input", "tool_input", "input"]

/** Whether a text has `{"name": "…", "arguments": …}` or the like somewhere. */
const holdsCall = (text: string, isTool: IsTool | undefined): boolean => {
  const opens: Array<number> = []
  let inString = false
  // Each object is looked at once with all that it holds, so nesting is paid for twice at most.
  let budget = 2 * text.length
  let candidates = 0
  for (let at = text.indexOf("{"); at !== -1 && at < text.length && budget > 0 && candidates < maxCandidates; at += 1) {
    const code = text.charCodeAt(at)
    // A string of JSON ends with its line at the latest, so a lone quote hides one line only.
    if (code === 10) inString = false
    else if (inString && code === 92) at += 1
    else if (code === 34 && opens.length > 0) inString = !inString
    else if (inString) continue
    else if (code === 123) opens.push(at)
    else if (code === 125) {
      const open = opens.pop()
      if (open === undefined) continue
      budget -= at - open
      const span = at - open <= maxCall ? text.slice(open, at + 1) : ""
      if (!anyArguments.test(span) || !anyName.test(span)) continue
      candidates += 1
      if (isCall(span, isTool)) return true
    }
  }
  return false
}

/** A call that is longer than this, in characters, is not looked for among other text. */
const maxCall = 50_000

/** How many objects with a name and arguments are looked at. */
const maxCandidates = 1000

const isCall = (span: string, isTool: IsTool | undefined): boolean => {
  const value = parseJson(span)
  if (typeof value !== "object" || value === null) {
    const name = anyName.exec(span)?.[1] ?? ""
    return name !== "" && (isTool === undefined || isTool(name))
  }
  const entries = new Map<string, unknown>(Object.entries(value))
  if (!argumentKeys.some((key) => entries.has(key))) return false
  const named = nameKeys.map((key) => entries.get(key)).find((item) => typeof item === "string")
  if (typeof named !== "string" || named === "") return false
  return isTool === undefined ? isUnmistakable(entries) : isTool(named)
}

/** Without knowing the tools: `name` beside `input` or `params` may be anything. */
const isUnmistakable = (entries: ReadonlyMap<string, unknown>): boolean =>
  ["arguments", "parameters", "args", "action_input", "tool_input"].some((key) => entries.has(key)) ||
  entries.has("tool") ||
  entries.has("tool_name")

const anyName =
  /["'](?:name|tool|tool_name|function|function_name|action|recipient_name)["']\s{0,8}:\s{0,8}["']([^"'\n]{1,96})["']/
const anyArguments = /["'](?:arguments|parameters|args|params|action_input|tool_input|input)["']\s{0,8}:/

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
