/**
 * What an HTTP response that is not a reply means. Decided by the codes in the body and by the status; the words of a
 * message are asked where a provider gives no code of its own, and for a full context, for which there are few.
 */

import { asArray, asNumber, asObject, asObjects, asString, type JsonObject, parseJson } from "@forethought/core/Json"
import { Reason } from "@forethought/core/Llm"
import * as Waits from "./waits.js"

/** At most this many characters of a server's message reach an error. */
const detailLimit = 500
/** Shorter values protect nothing, and removing each `1` would leave a message unreadable. */
const shortestSecret = 4

/**
 * An error body, read leniently: OpenAI and its imitators, Anthropic, Google, FastAPI, MiniMax, Z.ai, MCP-like `code`s.
 */
export interface ErrorBody {
  readonly message: string | undefined
  /** Every word that names the kind of error: code, type, status, reasons. */
  readonly codes: ReadonlyArray<string>
  /** A number in place of a code: an HTTP status, as OpenRouter, llama.cpp and vLLM send it. */
  readonly status: number | undefined
  /** The fields of the request that are named as being at fault. */
  readonly fields: ReadonlyArray<string>
  /** A delay in milliseconds, where the body names one. */
  readonly retryAfter: number | undefined
}

export interface HttpFailure {
  /** `undefined` for an error inside a successful response. */
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string | undefined }
  /** The body as received. */
  readonly text: string
  /** Now, in epoch milliseconds. */
  readonly now: number
}

/** The reason and what the server said, before any secret is removed. */
export interface Classified {
  readonly reason: Reason
  readonly detail: string
  readonly body: ErrorBody
  /** True if the provider could not read a tool call of its own model: the model can be asked again. */
  readonly malformedCall: boolean
}

// ---------------------------------------------------------------------------------------------------------------
// words
// ---------------------------------------------------------------------------------------------------------------

const contextCodes = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "model_max_prompt_tokens_exceeded",
  "tokens_limit_reached",
  "request_too_large",
  "contextwindowexceedederror",
  "context_window_exceeded",
  "prompt_too_long",
  "input_too_long",
  // Z.ai's and MiniMax's numbers.
  "1261",
  "1039"
])

/** How servers say that the context is full. Each row is a regular expression without a loop inside a loop. */
const contextPhrases: ReadonlyArray<RegExp> = [
  /(?:maximum|max|available|model's|loaded with|total|size of|of the) (?:model )?context[ -]?(?:length|size|window)/,
  /context[ -]?(?:length|size|window)[^.]{0,60}(?:exceed|overflow|limit|of only|too|is only|reached)/,
  /(?:exceed|exceeds|exceeded|exceeding|greater than|larger than|longer than|over|beyond|overflows?)[^.]{0,60}context/,
  /context[^.]{0,20}overflow/,
  /context[ _]?window[ _]?exceeded/,
  /(?:prompt|input|request|conversation|message)s?[^.]{0,20}(?:is|are|was) too (?:long|large)/,
  /too large for model with/,
  /input token count/,
  /input length[^.]{0,40}(?:exceed|maximum|limit)/,
  /(?:maximum|allowed) (?:allowed )?(?:input|prompt|model|message) length/,
  /range of input length/,
  /(?:prompt|input)[^.]{0,30}exceeds? (?:the )?(?:max|limit|model)/,
  /(?:prompt|input) tokens?[^.]{0,40}(?:exceed|limit|maximum|more than)/,
  /tokens? in request more than/,
  /total tokens exceeds?/,
  /exceeds? (?:the )?(?:model'?s? )?(?:max(?:imum)? )?(?:input )?token limit/,
  /exceeded model token limit/,
  /too many input tokens/,
  /expected maxlength/,
  /reduce the length of the (?:messages|prompt|input)/,
  /length of (?:all )?(?:the )?messages (?:is|are) too long/,
  /tokens \+ `?max_new_tokens`? must be/,
  /`?inputs`? must have less than/,
  /current length is \d+ while limit is/,
  /(?:prompt|input) (?:token count|length|size)?[^.]{0,30}exceeds the (?:context )?limit of/,
  /longer than the model's context/,
  /total message size \d+ exceeds/,
  /too many tokens: (?:size|total)|(?:prompt|input|request|messages?) (?:has|have|contains?) too many tokens/,
  /(?:input|prompt|context) length too long/,
  /exceeds? (?:the )?max(?:imum)? message tokens/,
  /(?:longer|greater|larger) than (?:the )?(?:max_seq_len|max_model_len|session_len)/,
  /max(?:imum)? input (?:characters|tokens|length)/,
  /(?:上下文|输入|提示词?)[^。]{0,20}(?:超过|超出|超限|过长|太长)/
]

/** In the words of llama.cpp, llama-cpp-python and LiteLLM, which send it with a 500. */
const overflowByStatus500 =
  /context size has been exceeded|larger than the max context size|exceed context window of|contextwindowexceedederror/

/** Never a full context, though a message may speak of tokens and limits. */
const ratePhrases =
  /rate[ _-]?limit|too many (?:requests|tokens, please wait)|requests? limit|requests per (?:minute|day|second|hour)|tokens per (?:minute|day|hour)|\b[rt]p[md]\b|throttl|quota|concurren(?:cy|t requests)|slow down|capacity exceeded/

const rateCodes = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "ratelimiterror",
  "resource_exhausted",
  "too_many_requests",
  "throttlingexception",
  "throttling",
  "1002",
  "1302",
  "1305"
])
// An account without credit answers every request in the same way, so this is a matter of credentials and not of
// waiting, although OpenAI sends it as a 429.
const accountCodes = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "billing_error",
  "invalid_api_key",
  "api_key_invalid",
  "authentication_error",
  "authenticationerror",
  "permission_error",
  "permission_denied",
  "unauthenticated",
  "unauthorized",
  "arrearage",
  "1004",
  "1008",
  "1113"
])
const filterCodes = new Set([
  "content_filter",
  "content_policy_violation",
  "contentpolicyviolationerror",
  "data_inspection_failed",
  "1301"
])
const filterPhrases =
  /contentpolicyviolation|content[ _]?(?:filter|management) ?(?:ing)? policy|blocked by (?:the )?content filter/
const busyCodes = new Set([
  "overloaded_error",
  "overloaded",
  "api_error",
  "server_error",
  "internal_server_error",
  "internalservererror",
  "internal_error",
  "internal",
  "unavailable",
  "service_unavailable",
  "timeout_error",
  "timeout",
  "1000",
  "1001",
  "1024",
  "1234"
])
/** llama.cpp, Ollama, Bedrock and vLLM fail where they cannot read what their model wrote. */
const malformedPhrases =
  /(?:failed to|error|cannot|unable to) (?:pars|extract|read)(?:e|ing)? (?:the )?(?:tool|function)[ _]calls?|failed to parse input at pos|invalid sequence as part of tooluse|malformed (?:function|tool)[ _]call/i
/** An account without credit, where no code says so. */
const accountPhrases =
  /credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds)|账户已?欠费|余额不足/
/** Kinds of error that the same request meets again. */
const requestCodes = new Set([
  "invalid_request_error",
  "badrequesterror",
  "invalid_argument",
  "invalid_prompt",
  "not_found_error",
  "model_not_found",
  "1210",
  "1214",
  "2013"
])
const busyPhrases =
  /overload|(?:model|server) (?:is )?(?:still )?(?:loading|busy|starting)|try again|temporar|unavailable/

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

const none: ErrorBody = { message: undefined, codes: [], status: undefined, fields: [], retryAfter: undefined }

/** Returns whether a body, or a part of one, reports an error, although the response is a success. */
const holdsError = (body: JsonObject): boolean => {
  const error = body["error"]
  const state = asNumber(asObject(body["base_resp"])?.["status_code"])
  return (
    body["object"] === "error" ||
    body["type"] === "error" ||
    Object.keys(asObject(error) ?? {}).length > 0 ||
    error === true ||
    (typeof error === "string" && error !== "") ||
    (state !== undefined && state !== 0) ||
    (saysNothing(body) && reportsFailure(body)) ||
    // FastAPI.
    (body["detail"] !== undefined && Object.keys(body).length === 1)
  )
}

/** Returns whether a body has no part of a reply in any protocol. */
const saysNothing = (body: JsonObject): boolean =>
  typeof body["type"] !== "string" &&
  ["choices", "output", "content", "candidates"].every((name) => {
    const part = body[name]
    return part === undefined || part === null || (Array.isArray(part) && part.length === 0)
  })

const successes: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  "",
  0,
  "0",
  200,
  "200",
  "ok",
  "success",
  "OK",
  "SUCCESS"
])

/** Failures in the words of gateways and of vendors with numbers of their own. */
const reportsFailure = (body: JsonObject): boolean =>
  body["success"] === false ||
  asObjects(body["errors"]).length > 0 ||
  !successes.has(body["error_code"]) ||
  /^(?:error|fail)/i.test(asString(body["status"]) ?? "") ||
  (!successes.has(body["code"]) && asString(body["msg"] ?? body["message"]) !== undefined)

/** Returns whether a body that is not a reply says in its words alone what is wrong. */
export const complains = (body: JsonObject): boolean => {
  const words = saysNothing(body) ? (readErrorBody(body).message ?? "").slice(0, 4_000).toLowerCase() : ""
  return [busyPhrases, ratePhrases, ...contextPhrases].some((phrase) => phrase.test(words))
}

/** The part of a successful body that reports an error: all of it, or its choice. */
export const brokenPart = (body: JsonObject): JsonObject | undefined =>
  [body, asObject(asArray(body["choices"])[0]) ?? {}].find(holdsError)

const readErrorBody = (parsed: unknown): ErrorBody => {
  const outer = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  if (outer === undefined) return none
  const base = asObject(outer["base_resp"])
  const within = asObject(outer["error"]) ?? asObject(outer["detail"]) ?? base ?? asObjects(outer["errors"])[0] ?? outer
  const inner = asObject(within["error"]) ?? within
  const details = asObjects(inner["details"])
  const codes = [
    inner["code"],
    inner["type"],
    inner["status"],
    inner["status_code"],
    outer["code"],
    outer["error_type"],
    outer["error_code"],
    outer["__type"]
  ]
  const reasons = details.map((detail) => detail["reason"])
  const numeric = [inner["code"], inner["status"], inner["status_code"]].map((code) => asNumber(code) ?? Number(code))
  // Mistral has them in place of a message.
  const issues = asObjects(inner["detail"] ?? asObject(inner["message"])?.["detail"] ?? inner["message"])
  const raw = asString(asObject(inner["metadata"])?.["raw"])
  const words = [
    asString(inner["message"]) ??
      asString(inner["msg"]) ??
      asString(inner["status_msg"]) ??
      asString(inner["error_msg"]) ??
      asString(inner["error_message"]) ??
      asString(outer["error"]) ??
      asString(inner["detail"]) ??
      asString(outer["message"]) ??
      (issues.length > 0 ? issues.map(describeIssue).join("; ") : undefined),
    // OpenRouter's message says only that its provider failed.
    raw
  ].flatMap((text) => (text === undefined || text === "" ? [] : [text]))
  const message = words.length === 0 ? undefined : words.join(": ")
  return {
    message,
    codes: [...codes, ...reasons].flatMap((code) =>
      typeof code === "number" ? [String(code)] : (asString(code)?.toLowerCase() ?? [])
    ),
    status: numeric.find((code) => code >= 400 && code <= 599),
    fields: [asString(inner["param"]) ?? [], issues.flatMap((issue) => asArray(issue["loc"]))].flat(2).map(String),
    retryAfter:
      details.map(delayOf).find((delay) => delay !== undefined) ??
      [inner, asObject(inner["metadata"]) ?? {}, outer].map(Waits.ofFields).find((delay) => delay !== undefined) ??
      Waits.ofMessage(message ?? "")
  }
}

/** An issue of FastAPI: where it is, and what. Never the input, which it echoes. */
const describeIssue = (issue: JsonObject): string => {
  const place = asArray(issue["loc"]).map(String).join(".")
  return `${place === "" ? "" : `${place}: `}${asString(issue["msg"]) ?? "not accepted"}`
}

/** Google's RetryInfo, and the delay in the metadata of its ErrorInfo. */
const delayOf = (detail: JsonObject): number | undefined =>
  Waits.duration(asString(detail["retryDelay"]) ?? asString(asObject(detail["metadata"])?.["quotaResetDelay"]) ?? "")

// ---------------------------------------------------------------------------------------------------------------
// classifying
// ---------------------------------------------------------------------------------------------------------------

/** Returns what a failed response means. */
export const classify = (failure: HttpFailure): Classified => {
  const body = readErrorBody(parseError(failure.text))
  const status = failure.status ?? body.status
  return {
    reason: reasonOf(status, body, failure),
    detail: body.message ?? plainText(failure.text),
    body,
    malformedCall: body.codes.includes("tool_use_failed") || malformedPhrases.test((body.message ?? "").slice(0, 4_000))
  }
}

/** The error of a body, which may come as the event of a stream that was asked for. */
const parseError = (text: string): unknown =>
  parseJson(text) ?? parseJson(/^data:(.*)$/m.exec(text.slice(0, 20_000))?.[1] ?? "")

const reasonOf = (status: number | undefined, body: ErrorBody, failure: HttpFailure): Reason => {
  const has = (codes: ReadonlySet<string>) => body.codes.some((code) => codes.has(code))
  const words = (body.message ?? plainText(failure.text)).slice(0, 4_000).toLowerCase()
  const delay = Waits.ofHeaders(failure.headers, failure.now) ?? body.retryAfter
  const limited = status === 429 || has(rateCodes) || (status !== 401 && status !== 403 && ratePhrases.test(words))
  // A wait that the body names passes, whatever else it says of quotas.
  if (
    (has(accountCodes) || (status !== 429 && accountPhrases.test(words))) &&
    !(limited && body.retryAfter !== undefined && status !== 401)
  )
    return Reason.Unauthorized()
  if (!limited || has(contextCodes)) {
    const mayOverflow = status === undefined || status === 400 || status === 413 || status === 422
    if (has(contextCodes) || (mayOverflow && isOverflow(words, body))) return Reason.ContextOverflow()
    if (overflowByStatus500.test(words)) return Reason.ContextOverflow()
  }
  if (has(filterCodes) || filterPhrases.test(words)) return Reason.Refused()
  if (status === 401 || status === 402 || status === 403) return Reason.Unauthorized()
  if (limited) return Reason.RateLimited(delay)
  if (status === 413) return Reason.ContextOverflow()
  if (status === 408 || status === 409 || (status !== undefined && status >= 500))
    return Reason.Unavailable(status, delay)
  if (status !== undefined) return Reason.BadRequest(status)
  // Inside a successful response: what is not known to be the request's fault may pass.
  const ours = has(requestCodes) && !has(busyCodes) && !busyPhrases.test(words)
  return ours ? Reason.BadRequest() : Reason.Unavailable(undefined, delay)
}

/** OpenAI says of an identifier, too, that it is a string that is too long: only a message's content is a context. */
const isOverflow = (words: string, body: ErrorBody): boolean => {
  if (body.codes.includes("string_above_max_length")) {
    const field = body.fields.join(" ") || (/'[^']*'/.exec(words)?.[0] ?? "")
    return /messages|input|content/.test(field) && !/(?:id|name|description)\b/.test(field)
  }
  return contextPhrases.some((phrase) => phrase.test(words))
}

// ---------------------------------------------------------------------------------------------------------------
// words for people
// ---------------------------------------------------------------------------------------------------------------

/** A body that is not JSON, in words: of a page, those that it shows. */
export const plainText = (text: string): string => {
  const start = text.slice(0, 20_000).trimStart()
  if (!start.startsWith("<")) return start
  const shown = visibleWords(start)
  return shown === "" ? "an HTML page" : `an HTML page: ${shown.slice(0, 200)}`
}

/** The words of a page, without its tags, scripts and styles. */
const visibleWords = (page: string): string => {
  const words: Array<string> = []
  let hidden: string | undefined
  for (const piece of page.split("<").slice(1)) {
    const end = piece.indexOf(">")
    const tag = /^\/?[a-z!?][a-z0-9]*/i.exec(piece)?.[0].toLowerCase() ?? ""
    if (hidden !== undefined) {
      if (tag === `/${hidden}`) hidden = undefined
      else continue
    } else if (tag === "script" || tag === "style") hidden = tag
    if (hidden === undefined && end >= 0) words.push(piece.slice(end + 1))
  }
  return words.join(" ").split(/\s+/).join(" ").trim()
}

/**
 * One line of at most 500 characters without any of the secrets. They are removed before the cut, which could
 * otherwise leave the half of one.
 */
export const cleanDetail = (text: string, secrets: ReadonlyArray<string>): string => {
  const clean = removeSecrets(text, secrets).split(/\s+/).join(" ").trim()
  return (clean.length <= detailLimit ? clean : `${clean.slice(0, detailLimit - 1)}…`).toWellFormed()
}

export const removeSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= shortestSecret)
    .reduce((rest, secret) => rest.split(secret).join("<redacted>"), text)
