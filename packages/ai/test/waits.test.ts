import { describe, expect, it } from "vitest"
import { classify } from "../src/internal/httpFailure.js"
import * as Waits from "../src/internal/waits.js"

const now = Date.UTC(2026, 9, 21, 7, 27, 0)
const wait = (headers: { readonly [name: string]: string }) => Waits.ofHeaders(headers, now)

describe("VR-08: Retry-After by RFC 9110", () => {
  it.each([
    ["7", 7_000],
    [" 7 ", 7_000],
    ["0", 0],
    ["7, 7", 7_000],
    ["7,7", 7_000],
    ["7, 7, 7", 7_000],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 60_000],
    ["Wednesday, 21-Oct-26 07:28:00 GMT", 60_000],
    ["Wed Oct 21 07:28:00 2026", 60_000],
    ["Sun Nov  1 07:27:00 2026", 11 * 86_400_000],
    ["Wed, 21 Oct 2026 07:28:00 GMT, Wed, 21 Oct 2026 07:28:00 GMT", 60_000],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
    ["Wednesday, 21-Oct-15 07:28:00 GMT", 0],
    ["Friday, 21-Oct-94 07:28:00 GMT", 0],
    ["wed, 21 oct 2026 07:28:00 gmt", 60_000]
  ])("%j is %d ms", (value, delay) => expect(wait({ "retry-after": value })).toBe(delay))

  it.each([
    "7, 8",
    "7, 7, 8",
    "7, 8, 7, 8",
    "7,",
    "Wed, 21 Oct 2026 07:28:00 GMT, 7",
    "45 seconds",
    "soon",
    "3/4",
    "-5",
    "1e3",
    "0x10",
    "7;8",
    "",
    "2026-10-21",
    "2026-10-21T07:28:00Z",
    "21 Oct 2026",
    "Wed, 21 Oct 2026 07:28:00 PST",
    "Wed, 21 Oct 2026 07:28:00 +0200",
    "Wed, 32 Oct 2026 07:28:00 GMT",
    "Wed, 31 Feb 2026 07:28:00 GMT",
    "Wed, 21 Foo 2026 07:28:00 GMT",
    "Wed, 21 Oct 2026 25:28:00 GMT",
    "∞",
    "Infinity",
    "99999999999999"
  ])("%j is as if there were no header", (value) => expect(wait({ "retry-after": value })).toBeUndefined())

  it.each([
    [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "30" }, 30_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now + 5_000) }, 5_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 5) }, 5_000],
    [
      { "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-10-21T07:28:00Z" },
      60_000
    ],
    [
      {
        "anthropic-ratelimit-requests-remaining": "9",
        "anthropic-ratelimit-requests-reset": "2026-10-21T09:28:00Z",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2026-10-21T07:27:01Z"
      },
      1_000
    ]
  ])("a limit that is used up: %j", (headers, delay) => expect(wait(headers)).toBe(delay))

  it("retry-after-ms is closer to the point, and a limit that is used up says when it is filled", () => {
    expect(wait({ "retry-after-ms": "1500.5", "retry-after": "9" })).toBe(1500.5)
    expect(wait({ "retry-after-ms": "soon", "retry-after": "9" })).toBe(9_000)
    const limits = { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s" }
    expect(wait({ ...limits, "x-ratelimit-remaining-requests": "4", "x-ratelimit-reset-requests": "9h" })).toBe(360_000)
    expect(wait({ "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0" })).toBeUndefined()
  })
})

describe("a wait that a message names", () => {
  it.each([
    ["Rate limit reached. Please try again in 5.289s. Visit the console.", 5_289],
    ["Please try again in 6m0s.", 360_000],
    ["Please try again in 373ms.", 373],
    ["Please retry in 47.43s.", 47_430],
    ["Please retry after 30 seconds.", 30_000],
    ["Retry-After: 12", 12_000],
    ["Your quota will reset after 1h2m3s", 3_723_000],
    ["Too many requests, please wait for 20 seconds before the next", 20_000],
    ["try your request again in 2 minutes", 120_000],
    ["The limit resets in 1 minute 30 seconds", 90_000],
    ["Try again in 1 minute and 30 seconds.", 90_000],
    ["Try again in 2 days", 172_800_000]
  ])("%s", (message, delay) => expect(Waits.ofMessage(message)).toBeCloseTo(delay, 3))

  it.each(["Try again later.", "Please try again in a while.", "retry in 3 easy steps", "wait for it", "in 5 s"])(
    "%s names none",
    (message) => expect(Waits.ofMessage(message)).toBeUndefined()
  )

  const limited = (body: object, headers = {}) =>
    classify({ status: 429, headers, text: JSON.stringify(body), now }).reason

  it("counts where no header does: in the message, and in Google's details", () => {
    expect(limited({ error: { message: "Please try again in 5s", code: "rate_limit_exceeded" } })).toMatchObject({
      _tag: "RateLimited",
      retryAfter: 5_000
    })
    const google = (details: ReadonlyArray<object>) => ({
      error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota.", details }
    })
    expect(limited(google([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "26s" }]))).toMatchObject(
      {
        _tag: "RateLimited",
        retryAfter: 26_000
      }
    )
    expect(limited(google([{ reason: "QUOTA", metadata: { quotaResetDelay: "373.8ms" } }]))).toMatchObject({
      retryAfter: 373.8
    })
    expect(limited({ error: { message: "slow down", retry_after: 12 } })).toMatchObject({ retryAfter: 12_000 })
    expect(limited({ error: "m is loading", estimated_time: 20.5 })).toMatchObject({ retryAfter: 20_500 })
    expect(limited({ error: { message: "try again in 5s" } }, { "retry-after": "9" })).toMatchObject({
      retryAfter: 9_000
    })
  })
})
