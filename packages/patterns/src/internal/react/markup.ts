/**
 * Tool calls that a model writes as text in its own training format, where nobody decodes them.
 *
 * @internal
 */

import * as CodeSpan from "@forethought/core/reply/CodeSpan"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import { unfence, visible } from "@forethought/core/reply/ReplyText"
import { bracketEnd } from "./balance.js"

/** Returns whether a name is that of a tool on offer. */
export type IsTool = (name: string) => boolean

// ---------------------------------------------------------------------------------------------------------------
// the table: the next format is one line
// ---------------------------------------------------------------------------------------------------------------

/**
 * Tags around calls, their names and their arguments: with a namespace, a `:suffix` or attributes, whole or cut off.
 */
const tags = [
  "tool_?calls?", // Hermes, Qwen, GLM, Hunyuan, MiniMax, Seed, LongCat, Nemotron, K2 Horizon
  "tool_use",
  "tool_code",
  "tool_sep", // Hunyuan 3
  "function_?calls?", // Granite 20b, OLMo 3, dots, GigaChat, Muse
  "(?:start|end)_function_call", // FunctionGemma
  "invoke", // MiniMax M2, DeepSeek V3.2, Step3
  "(?:longcat_)?arg_(?:key|value|type)", // GLM, LongCat
  "parameter" // Qwen3-Coder, MiniMax, Step3
]

const families = [
  new RegExp(
    String.raw`</?\s{0,2}(?:[a-z]{1,12}[:|_])?(?:${tags.join("|")})(?::[\w.-]{1,40})?(?:[\s=][^<>\n]{0,160})?(?:>|$)`
  ),
  /<function(?:=|\s{1,4}name\s?=)|<\/function>|<param name=[^<>\n]{1,80}>[^<>\n]{0,200}<\/param>/, // Qwen3-Coder, MiniCPM
  /<tool:\s/, // CWM
  /<(?:invoke|parameter) name=/,
  /\]<\]minimax\[>\[/, // MiniMax M3
  // Special tokens: Llama, Kimi, Cohere, InternLM, Apertus, LFM2, Solar, PLaMo, Inkling, Phi-4-mini, gpt-oss, Gemma 4
  /<[|｜][^<>\n]{0,24}(?:tool|function|python_|plugin|action_|_action|invoke)[^<>\n]{0,40}(?:>|$)/,
  /<\|(?:channel|constrain|start|message|call)\|>|<tool_(?:call|response)\|>|<\|"\|>/,
  /<\|open\|>\s{0,4}(?:tools?|call)/, // Kimi K3
  /<\/?\s?[|｜‖]{1,2}\s?(?:DSML|GCML)/, // DeepSeek V3.2, V4, GigaChat 3.5
  /function call<\|role_sep\|>/, // GigaChat 3
  /\[\/?TOOL_(?:CALLS?|USE|REQUEST|RESULTS?)(?:\]|:)|\[END_TOOL_REQUEST\]|\[\/?function_calls?\]/, // Mistral, ad hoc
  /\[CALL_ID\]|(?<=[\w\]>])\[ARGS\]|\[ARGS\](?=\s?\{\s{0,4}["}])/, // Mistral, stripped
  /\[unused1[12]\]/, // Pangu
  /["']?tool_calls["']?\s?[:=]\s?\[\s{0,4}\{/,
  /✿(?:FUNCTION|ARGS)✿/, // Qwen-Agent
  /functools\[(?=\s{0,4}[{"]|$)/, // Phi-4-mini, Firefunction
  /(?<![\w.])to=functions\.\w/, // gpt-oss, stripped
  /(?<![\w.])functions\.[\w.-]{1,64}:\d{1,4}(?!\d)/, // Kimi K2, stripped
  /-> ?tool\/function_call/, // HyperCLOVAX
  /(?<=^[ \t]{0,4})\*{0,2}Tool Calls?:?\*{0,2}:?\s{0,4}(?=```|[{[])/ // RWKV
]
const marks = new RegExp(families.map(({ source }) => source).join("|"), "gim")

/** A code fence that says that it holds a call. */
const fences = /^[ \t]{0,8}```(?:tool_code|tool_calls?|tool_use|function_calls?)(?![\w-])/gim

/** Calls in forms that are ordinary text as well, at the start of a line: they count for a tool on offer only. */
const called =
  /^[ \t]{0,8}(?:(>>>|@|\[|print\(|await )[ \t\n]{0,4}`?)?((?:[\w-]{1,64}[.:]){0,3}[\w-]{1,64})(`?[ \t]{0,2}(?:\n\{|[({:]|(?![\s\S])))/gim

/** Tags and labels of ad hoc formats, before a name. */
const announced = [
  /^[ \t]{0,8}(?:<(?:tool|action|tool_name|function_name)>|<(?:tool|function|call|action) name=["']?|\*{0,2}TOOL[_ ]NAME\W{0,4}:\*{0,2})\s{0,4}`?([\w.:-]{1,64})/gim,
  /^[ \t]{0,8}(?:calling |using |use )?(?:the )?\*{0,2}(?:tool|function)(?:[ _]call)?\*{0,2}:\*{0,2}[ \t]{0,4}`?([\w.:-]{1,64})`?(?=[ \t]{0,4}(?:[({]|\n\s{0,8}(?:\{|```|(?:input|arguments|args|parameters)\b)))/gim,
  /^[ \t]{0,8}<([\w.-]{1,64})>(?=\s{0,8}[<{]|[^<>\n]{0,400}<\/)/gim,
  /(?<![\w.])to=([\w.-]{1,64})/g
]

/** Gemma 4 and FunctionGemma without their tokens, which may stand in a line. */
const namedInLine = /(?<![\w.:])call:((?:[\w.-]{1,64}:){0,2}[\w.-]{1,64})[ \t]?\{/g

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns whether a reply's text holds a tool call in markup, or as JSON: an object with a name and arguments,
 * anywhere. What stands in quotes or in inline code does not count, and what stands in a code fence does if it names a
 * tool on offer. Where `isTool` is given, JSON among other text counts for tools on offer only: an answer may well hold
 * an object with a name; so do calls as Python writes them, on a line of their own. Takes the reply as received: a call
 * in a channel of its own is not part of what is said.
 */
export const toolCallMarkup = (text: string, isTool?: IsTool): boolean =>
  callsInChannel(text) || holdsMarkup(visible(text), isTool)

/** Returns whether a message of gpt-oss's harmony format is for a tool: it is not said, and neither is it thought. */
export const callsInChannel = (reply: string): boolean => harmonyCall.test(reply)

const harmonyCall =
  /(?<![`"'“])(?:<\|channel\|>|<\|start\|>assistant|assistantcommentary)[^<>\n]{0,40}(?<=[\s>y])to=(?!assistant|user|all\b)[\w.-]/

/** {@link toolCallMarkup} of what is said. */
export const holdsMarkup = (said: string, isTool?: IsTool): boolean => {
  if (said === "") return false
  const whole = bare(said)
  if (
    holdsMark(said, isTool) ||
    (whole !== said && (isTool === undefined || namesTool(whole, 0, isTool)) && holdsMark(whole, isTool))
  )
    return true
  if (isBareCall(whole) || holdsCall(said, isTool)) return true
  return isTool !== undefined && (isPlainCall(whole, isTool) || isKeyedCall(whole, isTool) || holdsNamed(said, isTool))
}

/** A text without the fence or the backticks around all of it. */
const bare = (said: string): string => {
  const inside = unfence(said).trim()
  const code = /^`([^`\n]+)`$/.exec(inside)
  return code?.[1] ?? inside
}

const holdsMark = (said: string, isTool: IsTool | undefined): boolean => {
  const code = CodeSpan.make(said)
  let looks = 0
  for (const match of said.matchAll(marks)) {
    const at = match.index
    if (isQuoted(said, at)) continue
    if (code.isCode(at, 0)) {
      if (isTool !== undefined && looks++ < maxLooks && isFencedAt(said, at) && namesTool(said, at, isTool)) return true
      continue
    }
    if (!isMentioned(said, at, at + match[0].length)) return true
  }
  for (const match of said.matchAll(fences)) {
    if (isTool === undefined || said.startsWith(match[0]) || looks++ > maxLooks) return true
    if (namesTool(said, match.index + match[0].length, isTool)) return true
  }
  return false
}

/** How many doubtful places are looked at. */
const maxLooks = 100

const isQuoted = (said: string, at: number): boolean => at > 0 && "`\"'“‘".includes(said.charAt(at - 1))

/** Inline code is not a call, whatever it names. */
const isFencedAt = (said: string, at: number): boolean => {
  const start = said.lastIndexOf("\n", at - 1) + 1
  return at - start < 400 && !said.slice(start, at).includes("`")
}

/** Returns whether one of the first words behind a mark is the name of a tool on offer. */
const namesTool = (said: string, at: number, isTool: IsTool): boolean => {
  for (const word of said
    .slice(at, at + 240)
    .match(/[\w.-]{1,64}/g)
    ?.slice(0, 24) ?? []) {
    if (isNamed(word, isTool)) return true
  }
  return false
}

/**
 * A tool's name with or without what some models put around it: `functions.search`, `default_api.search`,
 * `search.call`.
 */
const isNamed = (written: string, isTool: IsTool): boolean => {
  const name = written.replace(/\.call$/, "")
  const last = Math.max(name.lastIndexOf("."), name.lastIndexOf(":"))
  return isTool(name) || (last > 0 && isTool(name.slice(last + 1)))
}

/** A mark inside a sentence about it: `models write <tool_call> around calls`. */
const isMentioned = (said: string, start: number, end: number): boolean => {
  if (!/[\p{L},(] ?$/u.test(said.slice(Math.max(0, start - 2), start)) || said.charAt(start - 1) === "\n") return false
  const newline = said.indexOf("\n", end)
  if (newline - end > 400) return false
  const behind = said.slice(end, Math.min(newline === -1 ? said.length : newline, end + 400))
  return (
    /^(?:[,.;:!?)](?:\s|$)|\s(?:tags?|tokens?|markers?|blocks?|elements?|and|or|\p{Ll}+\s\p{Ll}))/u.test(behind) &&
    !/[{[(=]|<(?!\/)/.test(behind)
  )
}

/** Calls at the starts of lines: `search(input="x")`, `search{"input":"x"}`, `>>>search`, `@search(1): {…}`. */
const holdsNamed = (said: string, isTool: IsTool): boolean => {
  const code = CodeSpan.make(said)
  const known = new Map<string, boolean>()
  const isOffered = (name: string): boolean => {
    const found = known.get(name) ?? (known.size < maxLooks && isNamed(name, isTool))
    known.set(name, found)
    return found
  }
  for (const pattern of [namedInLine, ...announced]) {
    for (const match of said.matchAll(pattern)) {
      if (isOffered(match[1] ?? "") && !isQuoted(said, match.index)) return true
    }
  }
  let looks = 0
  for (const match of said.matchAll(called)) {
    if (!isOffered(match[2] ?? "")) continue
    if (looks++ > maxLooks) return false
    const lead = match[1] ?? ""
    const start = match.index + match[0].length - match[0].trimStart().length
    const end = endOfCall(said, match.index + match[0].length, lead, match[3] ?? "")
    if (end !== -1 && (!code.isCode(start, 0) || isAlone(said, start, end))) return true
  }
  return false
}

/** Where the call ends whose head ends at `at`, or -1 where it is text. */
const endOfCall = (said: string, at: number, lead: string, behind: string): number => {
  const opening = behind.trim().slice(-1)
  if (opening === "") return lead.startsWith(">>>") && at === said.length ? at : -1
  if (opening === ":") return lead === "" && /^\s{0,4}\{\s{0,8}"/.test(said.slice(at, at + 16)) ? at : -1
  const text = said.slice(at - 1, at - 1 + maxNamed)
  const isObject = opening === "{"
  const begins = isObject ? /^\{\s{0,8}(?:["'}]|\w{1,64}\s?:|$)/ : /^\(\s{0,8}(?:["'{[]|\w{1,64}\s?=|$)/
  const close = isObject ? JsonReply.endOf(text, 0) : bracketEnd(text, 0) + 1
  if (close <= 0) return begins.test(text.slice(0, 96)) ? said.length : -1
  const rest = text.slice(close, close + 80)
  if (lead.startsWith("@")) return /^\s?:\s{0,4}[{"]/.test(rest) ? at : -1
  if (isObject && !begins.test(text.slice(0, 96))) return -1
  // Behind a call there is the end of its line, the next call, or what closes a list of calls.
  return /^[ \t]{0,4}(?:[;)\]]{1,3}[ \t]{0,4})?(?:\n|$|,\s{0,4}[\w.-]{1,64}\()/.test(rest) ? at - 1 + close : -1
}

/** A call as Python writes it that is longer than this, in characters, counts by its head. */
const maxNamed = 10_000

/** Returns whether a line of code is all that its fence holds: with others around it, it is a sample. */
const isAlone = (said: string, start: number, end: number): boolean => {
  const before = said.slice(Math.max(0, start - 80), start).trimEnd()
  const behind = said.slice(end, end + 80).trimStart()
  return /(?:^|\n)[ \t]{0,8}(?:```|~~~)[^\n`]{0,60}$/.test(before) && /^[)\];]{0,3}\s{0,4}(?:```|~~~)/.test(behind)
}

/** The whole reply is `{"search": {…}}` or a list of such (Apertus), or an object that names a tool as its `tool`. */
const isKeyedCall = (text: string, isTool: IsTool): boolean => {
  if (!isJsonLike(text)) return false
  const value = parseJson(text)
  const calls: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return (
    calls.length > 0 &&
    calls.slice(0, maxLooks).every((call) => {
      if (typeof call !== "object" || call === null || Array.isArray(call)) return false
      const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(call)
      const named = entries.find(([key]) => toolKeys.has(key.toLowerCase()))?.[1]
      if (typeof named === "string") return isNamed(named, isTool)
      const [entry, ...others] = entries
      if (entry === undefined || others.length > 0 || !isTool(entry[0])) return false
      return typeof entry[1] === "object" && entry[1] !== null && !Array.isArray(entry[1])
    })
  )
}

const toolKeys = new Set(["tool", "tool_name", "function", "function_name"])

/** The whole reply is `{"name": …, "arguments": …}`, or a list of such. */
export const isBareCall = (text: string): boolean => {
  if (!isJsonLike(text)) return false
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
  return head !== null && /\)\s?\]?;?$/.test(text.slice(-4)) && isNamed(head[1] ?? "", isTool)
}

/** Cheap to ask before a parse of the whole. */
const isJsonLike = (text: string): boolean => /^[{[]/.test(text) && /[}\]]$/.test(text.slice(-1))

const nameKeys = ["name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"]
const argumentKeys = ["arguments", "parameters", "args", "params", "action_input", "tool_input", "input"]

/** Returns whether a text has `{"name": "…", "arguments": …}` or the like somewhere. */
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
  return isTool !== undefined && opens.length > 0 && isCutCall(text.slice(opens[0]).slice(0, maxCall), isTool)
}

/** A call whose JSON does not end. */
const isCutCall = (span: string, isTool: IsTool): boolean =>
  isNamed(anyName.exec(span)?.[1] ?? "", isTool) &&
  (anyArguments.test(span) || /"(?:arg|param|input)\w{0,16}$/.test(span))

/** A call that is longer than this, in characters, is not looked for among other text. */
const maxCall = 50_000

/** How many objects with a name and arguments are looked at. */
const maxCandidates = 1000

const isCall = (span: string, isTool: IsTool | undefined): boolean => {
  const value = parseJson(span)
  if (typeof value !== "object" || value === null) {
    const name = anyName.exec(span)?.[1] ?? ""
    return name !== "" && (isTool === undefined || isNamed(name, isTool))
  }
  const entries = new Map<string, unknown>(Object.entries(value))
  if (!argumentKeys.some((key) => entries.has(key))) return false
  const named = nameKeys.map((key) => entries.get(key)).find((item) => typeof item === "string")
  if (typeof named !== "string" || named === "") return false
  return isTool === undefined ? isUnmistakable(entries) : isNamed(named, isTool)
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
