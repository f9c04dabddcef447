/** What a model turned out not to take, told from the refusals of its server. */

import { asNumber, asObjects, type JsonObject } from "@forethought/core/Json"
import type { Message } from "@forethought/core/Llm"
import type { Classified } from "./httpFailure.js"

/** What is sent to a model. It only ever becomes less, so that asking again ends. */
export interface Quirks {
  /** How a reply's format is asked for: by its JSON Schema, as any JSON object, or in the prompt alone. */
  readonly format: "schema" | "object" | "none"
  /** The name of the token limit in `/chat/completions`: reasoning models want the longer one. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens" | "none"
  /** The largest token limit that the model takes, where it said so. */
  readonly mostTokens: number | undefined
  /** Without stop sequences the text is cut on this side all the same. */
  readonly stop: boolean
  readonly temperature: boolean
  /** True if there is a system role. Without one its text goes before that of the first user message. */
  readonly system: boolean
  /** True if the model's reasoning goes back with its turns. */
  readonly reasoning: boolean
  /** True if a turn that had no reasoning goes back with an empty one, because the server wants the field. */
  readonly emptyReasoning: boolean
  /**
   * Says which replies the server streams: those that are watched, every one because it knows no other way, or none.
   */
  readonly streams: "watched" | "always" | "never"
  /** Writes the content of a turn of calls without words as `null`, as OpenAI does, or as empty text. */
  readonly nullContent: boolean
  /** True if a tool without parameters has an empty list of them. */
  readonly emptyParameters: boolean
  /** Other fields of the request that are left out. */
  readonly without: ReadonlyArray<string>
}

export const quirks = (given: Partial<Quirks> = {}): Quirks => ({
  format: "schema",
  maxTokens: "max_tokens",
  mostTokens: undefined,
  stop: true,
  temperature: true,
  system: true,
  reasoning: true,
  emptyReasoning: false,
  streams: "watched",
  nullContent: true,
  emptyParameters: true,
  without: [],
  ...given
})

/** Returns what a model takes that was met in two ways at once. */
export const both = (one: Quirks, other: Quirks): Quirks => ({
  format: formats.find((form) => one.format === form || other.format === form) ?? "none",
  maxTokens: limits.find((name) => one.maxTokens === name || other.maxTokens === name) ?? "none",
  mostTokens: one.mostTokens === undefined ? other.mostTokens : Math.min(one.mostTokens, other.mostTokens ?? Infinity),
  stop: one.stop && other.stop,
  temperature: one.temperature && other.temperature,
  system: one.system && other.system,
  reasoning: one.reasoning && other.reasoning,
  emptyReasoning: one.emptyReasoning || other.emptyReasoning,
  streams: one.streams === "watched" ? other.streams : one.streams,
  nullContent: one.nullContent && other.nullContent,
  emptyParameters: one.emptyParameters && other.emptyParameters,
  without: [...new Set([...one.without, ...other.without])]
})

const formats = ["none", "object", "schema"] as const
const limits = ["none", "max_completion_tokens", "max_tokens"] as const

/** What the request that was refused had in it. */
export interface Sent {
  readonly body: JsonObject
  readonly format: "schema" | "object" | "none"
  readonly system: boolean
  readonly stop: boolean
  readonly maxTokens: number | undefined
  readonly temperature: boolean
  readonly stream: boolean
}

const formatWords =
  /response[_ ]?format|guided[_ ](?:json|decoding)|json[_ ]?schema|json[_ ]object|json mode|structured output|text\.format|grammar|response_?mime_?type|response_?(?:json_?)?schema|output_config|output_format|tool_choice forces/
const stopWords =
  /(['"`])stop\1|[[{,]\s?stop[\]},]|stop[ _-]?(?:sequence|word|string|token)s?|(?:parameters?|arguments?|fields?|property|keys?|inputs?|option)\b:?\s+stop\b|参数\s*stop\b|\bstop (?:is|are|was|must|should|does|cannot|parameter|argument|field)|[:.]\s?stop\b/
const limitWords =
  /max_(?:completion_|output_|new_)?tokens|max (?:completion |output )?tokens|maxtokens|maxoutputtokens/
const systemWords =
  /system (?:message|prompt|instruction)|['"`]system['"`]|developer (?:instruction|message)|['"`]developer['"`]|alternate|\broles?\b/
const atMost: ReadonlyArray<RegExp> = [
  /(?:supports? at most|at most|(?:less than|below) or equal to|<=|maximum (?:allowed )?(?:value )?(?:is|of)|up to)\D{0,10}(\d[\d,]{0,12})/,
  // A range.
  /\[\s?[01]\s?,\s?(\d{1,12})\s?\]/,
  /> (\d{1,12}), which is the maximum/
]
const alwaysStreams = /only support(?:s|ed)?[^.]{0,20}stream|stream[^.]{0,30}(?:must be true|is required)/
const neverStreams =
  /'stream'|(?:not|n't|un)\s?support(?:ed|s|ing)?[^.]{0,20}\bstream(?:ing|ed)?\b|\bstream(?:ing)?\b[^.]{0,30}(?:not (?:be )?(?:support|available|allowed|enabled)|unsupported|disabled|must be false)|verified to stream/

/**
 * Returns what to do without from now on, where a failure names a field that was sent, in any wording and with any
 * status; `undefined` where it names none. `formatNames` are a provider's other words for the format of a reply.
 */
export const refusal = (
  { body: error, detail, reason }: Classified,
  sent: Sent,
  known: Quirks,
  formatNames: RegExp | undefined
): Quirks | undefined => {
  if (reason._tag !== "BadRequest" && reason._tag !== "Unavailable") return undefined
  const named = `${error.fields.map((field) => `'${field}'`).join(" ")} ${detail.slice(0, 2_000)}`.toLowerCase()
  let next = known
  const learn = (change: Partial<Quirks>) => {
    const changed = { ...next, ...change }
    if (JSON.stringify(changed) !== JSON.stringify(next)) next = changed
  }
  if (known.streams === "watched") {
    if (!sent.stream && alwaysStreams.test(named)) learn({ streams: "always" })
    else if (sent.stream && neverStreams.test(named)) learn({ streams: "never" })
  }
  if (sent.format !== "none" && (formatWords.test(named) || formatNames?.test(named) === true)) {
    learn({ format: sent.format === "schema" && suggestsObject(named) ? "object" : "none" })
  }
  if (sent.stop && known.stop && stopWords.test(named)) learn({ stop: false })
  if (sent.temperature && known.temperature && named.includes("temperature")) learn({ temperature: false })
  if (sent.maxTokens !== undefined && limitWords.test(named)) learn(limit(named, sent.maxTokens, known))
  // A server that describes every form of a message names the roles too.
  if (known.nullContent && refusesNull(named, sent.body)) learn({ nullContent: false })
  else if (sent.system && known.system && systemWords.test(named)) learn({ system: false })
  if (known.emptyParameters && named.includes("non-empty")) learn({ emptyParameters: false })
  if (wantsReasoning.test(named)) learn({ emptyReasoning: true })
  else if (known.reasoning && echoesReasoning(sent.body) && refusesReasoning(named)) learn({ reasoning: false })
  const others = Object.keys(sent.body).filter(
    (key) => !needed.has(key) && !known.without.includes(key) && names(named, key)
  )
  if (others.length > 0) learn({ without: [...known.without, ...others] })
  return next === known ? undefined : next
}

/** A server that takes JSON, though no schema: it says so, or refuses only the kind of format. */
const suggestsObject = (named: string): boolean =>
  named.includes("json_object") || /(?:type|value)[^.]{0,20}json_schema|response_format type/.test(named)

const limit = (named: string, sent: number, known: Quirks): Partial<Quirks> => {
  const found = atMost.map((form) => form.exec(named)?.[1]).find((digits) => digits !== undefined)
  const most = asNumber(Number(found?.replaceAll(",", "")))
  if (most !== undefined && most > 0 && most < sent) return { mostTokens: most }
  if (known.maxTokens === "none") return {}
  const other = known.maxTokens === "max_tokens" && !/max_tokens[^.]{0,40}instead/.test(named)
  return { maxTokens: other ? "max_completion_tokens" : "none" }
}

/** Without these there is no request; those with rules of their own are above. */
const needed = new Set([
  ..."model messages input contents tools stream system instructions systemInstruction generationConfig".split(" "),
  ..."response_format text stop stop_sequences max_tokens max_completion_tokens max_output_tokens temperature".split(
    " "
  ),
  "tool_choice"
])

/** A name such as `stream_options` stands for itself; a plain word must be quoted. */
const names = (named: string, key: string): boolean => {
  const word = key.toLowerCase()
  if (!/^[a-z_]{3,40}$/.test(word)) return false
  return word.includes("_") || word !== key ? named.includes(word) : new RegExp(`['"\`]${word}['"\`]`).test(named)
}

const refusesNull = (named: string, body: JsonObject): boolean =>
  asObjects(body["messages"]).some((message) => message["role"] === "assistant" && message["content"] === null) &&
  /content/.test(named) &&
  /string|null|none|empty|required|missing/.test(named)

const wantsReasoning = /reasoning_content[^.]{0,60}(?:missing|required|must be (?:passed|sent|provided|included))/

/** Also where it is not taken any more: signed for another account, or changed on the way. */
const refusesReasoning = (named: string): boolean =>
  /reasoning|thinking|thought|encrypted[_ ]content/.test(named) &&
  (/unsupported|not supported|not permitted|un(?:known|recognized)|extra/.test(named) ||
    !/missing|must|required|expected/.test(named))

/** Returns whether a turn has reasoning with it: in a field of its own, or as one of its parts. */
const echoesReasoning = (body: JsonObject): boolean =>
  asObjects(body["messages"] ?? body["input"] ?? body["contents"]).some((message) =>
    [message, ...asObjects(message["content"] ?? message["parts"])].some(
      (part) =>
        /^(?:reasoning|thinking|redacted_thinking)$/.test(String(part["type"])) ||
        Object.keys(part).some((key) => /^(?:reasoning|thinking|thought)/.test(key))
    )
  )

/** Puts the system text before that of the first user message, as models without a system role want it. */
export const withoutSystem = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content)
  const rest = messages.filter(({ role }) => role !== "system")
  const first = rest.findIndex(({ role }) => role === "user")
  if (system.length === 0) return messages
  if (first < 0) return [{ role: "user", content: system.join("\n\n") }, ...rest]
  return rest.map((message, index) =>
    index === first ? { ...message, content: [...system, message.content].join("\n\n") } : message
  )
}
