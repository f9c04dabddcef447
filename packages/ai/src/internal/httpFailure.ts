/**
 * What an HTTP response that is no reply means. Decided by the status and by the codes in the body; the text of a
 * message is asked only where a provider gives no code of its own.
 */
import { Reason } from "@forethought/core/Llm"
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from "./json.js"

/** At most this many characters of a server's message reach an error. */
const detailLimit = 500
/** Shorter values protect nothing, and removing each `1` would leave a message unreadable. */
const shortestSecret = 4

/** An error body, read leniently: OpenAI, llama.cpp, Ollama, vLLM (old and new), Anthropic, Google, FastAPI. */
export interface ErrorBody {
  readonly message: string | undefined
  /** Every word that names the kind of error: code, type, status, reasons. */
  readonly codes: ReadonlyArray<string>
  /** A number in place of a code, as OpenRouter, llama.cpp and vLLM send it: an HTTP status. */
  readonly status: number | undefined
  /** The field of the request that is at fault. */
  readonly param: string | undefined
  /** A delay in milliseconds, as Google puts it into the body. */
  readonly retryDelay: number | undefined
}

export interface HttpFailure {
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
}

const contextCodes = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "model_max_prompt_tokens_exceeded",
  "tokens_limit_reached",
  "request_too_large"
])
// An account without credit answers every request in the same way, so this is a matter of credentials and not of
// waiting, although OpenAI sends it as a 429.
const accountCodes = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "invalid_api_key",
  "API_KEY_INVALID",
  "authentication_error",
  "permission_error",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED"
])
const filterCodes = new Set(["content_filter", "content_policy_violation"])
const rateCodes = new Set(["rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED", "too_many_requests"])
/** How the providers without a code of their own say that the context is full. */
const contextPhrases = [
  "maximum context length",
  "exceeds the available context size",
  "prompt is too long",
  "input token count",
  "maximum model length"
]

const none: ErrorBody = { message: undefined, codes: [], status: undefined, param: undefined, retryDelay: undefined }

const holdsError = (body: JsonObject): boolean =>
  body["object"] === "error" ||
  asObject(body["error"]) !== undefined ||
  (typeof body["error"] === "string" && body["error"] !== "")

/** The part of a successful body that reports an error: all of it, or its choice. */
export const brokenPart = (body: JsonObject): JsonObject | undefined =>
  [body, asObject(asArray(body["choices"])[0]) ?? {}].find(holdsError)

const readErrorBody = (parsed: unknown): ErrorBody => {
  const outer = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  if (outer === undefined) return none
  const inner = asObject(outer["error"]) ?? outer
  const details = asArray(inner["details"]).flatMap<JsonObject>((detail) => asObject(detail) ?? [])
  const codes = [inner["code"], inner["type"], inner["status"], ...details.map((detail) => detail["reason"])]
  const numeric = [inner["code"], inner["status"]].flatMap((code) => asNumber(code) ?? [])
  const validation = asArray(inner["detail"]).flatMap((issue) => asString(asObject(issue)?.["msg"]) ?? [])
  const delay = details.flatMap((detail) => asString(detail["retryDelay"]) ?? [])[0]
  return {
    message:
      asString(inner["message"]) ??
      asString(outer["error"]) ??
      asString(inner["detail"]) ??
      (validation.length > 0 ? validation.join("; ") : undefined),
    codes: codes.flatMap((code) => asString(code) ?? []),
    status: numeric.find((code) => code >= 400 && code <= 599),
    param: asString(inner["param"]),
    retryDelay: delay?.endsWith("s") ? asDelay(Number(delay.slice(0, -1)) * 1000) : undefined
  }
}

const asDelay = (milliseconds: number): number | undefined =>
  Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : undefined

/**
 * The delay in milliseconds that a response asks for: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP
 * date. A date in the past is no delay.
 */
export const retryAfter = (headers: HttpFailure["headers"], now: number): number | undefined => {
  const exact = headers["retry-after-ms"]?.trim()
  if (exact) {
    const delay = asDelay(Number(exact))
    if (delay !== undefined) return delay
  }
  const value = headers["retry-after"]?.trim()
  if (!value) return undefined
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return asDelay(seconds * 1000)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** What a failed response means. `status: undefined` is an error inside a successful response. */
export const classify = (failure: HttpFailure): Classified => {
  const body = readErrorBody(parseJson(failure.text))
  const status = failure.status ?? body.status
  return { reason: reasonOf(status, body, failure), detail: body.message ?? plainText(failure.text), body }
}

const reasonOf = (status: number | undefined, body: ErrorBody, failure: HttpFailure): Reason => {
  const has = (codes: ReadonlySet<string>) => body.codes.some((code) => codes.has(code))
  const delay = () => retryAfter(failure.headers, failure.now) ?? body.retryDelay
  if (has(contextCodes)) return Reason.ContextOverflow()
  if (has(accountCodes)) return Reason.Unauthorized()
  if (has(filterCodes)) return Reason.Refused()
  if (status === undefined) return has(rateCodes) ? Reason.RateLimited(delay()) : Reason.Unavailable()
  if (status === 401 || status === 402 || status === 403) return Reason.Unauthorized()
  if (status === 413) return Reason.ContextOverflow()
  if (status === 429) return Reason.RateLimited(delay())
  if (status === 408 || status >= 500) return Reason.Unavailable(status, delay())
  if (status === 400 || status === 422) {
    const message = body.message?.toLowerCase() ?? ""
    if (contextPhrases.some((phrase) => message.includes(phrase))) return Reason.ContextOverflow()
  }
  return Reason.BadRequest(status)
}

const plainText = (text: string): string => (text.trimStart().startsWith("<") ? "an HTML page" : text)

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
