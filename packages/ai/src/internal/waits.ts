/** How long a server asks to wait, in the forms in which servers say so. */

type Headers = { readonly [name: string]: string | undefined }

/**
 * Returns the delay in milliseconds that the headers of a response ask for: `retry-after-ms`, or `Retry-After` by RFC
 * 9110, in whole seconds or as an HTTP date. A date in the past is not a delay, equal doubled values count once, and
 * anything else is as if there were no header. Without one, a rate limit that is used up says when it is filled again.
 */
export const ofHeaders = (headers: Headers, now: number): number | undefined =>
  exact(headers["retry-after-ms"]) ??
  retryAfter(headers["retry-after"], now) ??
  // LiteLLM's proxy hands its provider's headers on under names of its own.
  retryAfter(headers["llm_provider-retry-after"], now) ??
  untilReset(headers, now)

const exact = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,12}(?:\.\d{1,6})?$/.test(value.trim()) ? Number(value) : undefined

const retryAfter = (value: string | undefined, now: number): number | undefined => {
  const text = once(value?.trim().slice(0, 200) ?? "")
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  const date = httpDate(text, now)
  return date === undefined ? undefined : Math.max(0, date - now)
}

/** A header that came several times is joined by commas. A date holds one too. */
const once = (text: string): string => {
  const parts = text.split(/,\s?/)
  const first = [1, 2].find((size) => parts.every((part, index) => part === parts[index % size]))
  return first === undefined || parts.length % first !== 0 ? text : parts.slice(0, first).join(", ")
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const forms = [
  // Wed, 21 Oct 2026 07:28:00 GMT
  /^[a-z]{3}, (?<day>\d{2}) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) gmt$/i,
  // Wednesday, 21-Oct-26 07:28:00 GMT
  /^[a-z]{6,9}, (?<day>\d{2})-(?<month>[a-z]{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) gmt$/i,
  // Wed Oct 21 07:28:00 2026
  /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/i
]

/** The epoch milliseconds of one of the three forms of an HTTP date, all of which are GMT. */
const httpDate = (text: string, now: number): number | undefined => {
  const groups = forms.map((form) => form.exec(text)?.groups).find((found) => found !== undefined)
  if (groups === undefined) return undefined
  const month = months.indexOf(groups["month"]?.toLowerCase() ?? "")
  const [hours = 0, minutes = 0, seconds = 0] = (groups["time"] ?? "").split(":").map(Number)
  const day = Number(groups["day"])
  const written = groups["year"] ?? ""
  const year = written.length === 2 ? century(Number(written), now) : Number(written)
  const time = Date.UTC(year, month, day, hours, minutes, seconds)
  const isDate = month >= 0 && new Date(time).getUTCDate() === day && hours < 24 && minutes < 60 && seconds < 61
  return isDate ? time : undefined
}

/** Two digits are the last year with them that is not over 50 years ahead. */
const century = (digits: number, now: number): number => {
  const year = new Date(now).getUTCFullYear()
  const near = year - (year % 100) + digits
  return near > year + 50 ? near - 100 : near
}

/**
 * What is left of a limit, and when it is filled again: of OpenAI, Azure and Groq (`x-ratelimit-reset-tokens: 6m0s`,
 * Azure in whole seconds), of OpenRouter (epoch milliseconds), and of Anthropic (a time in RFC 3339).
 */
const limits: ReadonlyArray<readonly [string, string]> = [
  ...["requests", "tokens"].map((kind) => [`x-ratelimit-remaining-${kind}`, `x-ratelimit-reset-${kind}`] as const),
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ...["requests", "tokens", "input-tokens", "output-tokens"].map(
    (kind) => [`anthropic-ratelimit-${kind}-remaining`, `anthropic-ratelimit-${kind}-reset`] as const
  )
]

const untilReset = (headers: Headers, now: number): number | undefined => {
  const waits = limits.flatMap(([left, reset]) =>
    headers[left]?.trim() === "0" ? (resetOf(headers[reset]?.trim() ?? "", now) ?? []) : []
  )
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const resetOf = (text: string, now: number): number | undefined => {
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000
  const time = /^\d{13}$/.test(text)
    ? Number(text)
    : /^\d{10}$/.test(text)
      ? Number(text) * 1000
      : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)
        ? Date.parse(text)
        : Number.NaN
  return Number.isNaN(time) ? duration(text) : Math.max(0, time - now)
}

const units: { readonly [unit: string]: number } = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000
}

const part =
  /(\d{1,9}(?:\.\d{1,9})?)\s?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])/giy

/**
 * Returns the milliseconds of `7.66s`, `6m0s`, `373.8ms`, `20 seconds`, `1 minute 30 seconds`, at the start of a text.
 */
export const duration = (text: string): number | undefined => {
  let total: number | undefined
  let at = 0
  for (;;) {
    part.lastIndex = at
    const match = part.exec(text)
    if (match === null) return total
    const unit = (match[2] ?? "").toLowerCase()
    total = (total ?? 0) + Number(match[1]) * (units[unit] ?? units[unit.replace(/s$/, "")] ?? 0)
    at = part.lastIndex
    at += /^(?:[ ,]|and )*/.exec(text.slice(at, at + 20))?.[0].length ?? 0
  }
}

/** The delay that a field of an error names: in seconds, or in milliseconds where its name says so. */
export const ofFields = (fields: { readonly [name: string]: unknown }): number | undefined =>
  fieldNames
    .map(([name, unit]) => {
      const value = fields[name]
      return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value * unit : undefined
    })
    .find((delay) => delay !== undefined)

/** `estimated_time` is how long Hugging Face still loads the model. */
const fieldNames: ReadonlyArray<readonly [string, number]> = [
  ["retry_after_ms", 1],
  ["retryAfterMs", 1],
  ["retry_after", 1000],
  ["retry_after_seconds", 1000],
  ["retryAfter", 1000],
  ["estimated_time", 1000]
]

const before =
  /\b(?:(?:re)?try(?:ing)?(?: your request)?(?: again)?(?: request)?(?: in| after)|retry[- ]?after:?|resets?(?: in| after)|wait(?: for)?(?: at least)?|available(?: again)? in)\s+(?:about |approximately )?/gi

/** Returns the delay that a message names, as in `Please try again in 5.289s` or `retry after 30 seconds`. */
export const ofMessage = (message: string): number | undefined => {
  const text = message.slice(0, 4_000)
  for (const match of text.matchAll(before)) {
    const rest = text.slice(match.index + match[0].length, match.index + match[0].length + 60)
    const delay =
      duration(rest) ?? (/^\d{1,5}\s*(?:$|[.,;)])/.test(rest) ? Number(/^\d+/.exec(rest)?.[0]) * 1000 : undefined)
    if (delay !== undefined) return delay
  }
  return undefined
}
