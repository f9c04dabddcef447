/** No key in anything that a call leaves behind: errors, logs, traces. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import { describe } from "vitest"
import { hideQuery } from "../src/internal/queryValues.js"
import * as Loopback from "./support/Loopback.js"
import { key, providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

/** Keeps everything that is written to a span. */
const recording = (written: Array<unknown>): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      written.push(name)
      return {
        _tag: "Span",
        name,
        spanId: "0123456789abcdef",
        traceId: "0123456789abcdef0123456789abcdef",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        // What exporters write of how a span ended: nothing of a success, the error texts of a failure.
        end: (_, exit) => {
          if (exit._tag === "Failure") written.push(Cause.pretty(exit.cause, { renderErrorCause: true }))
        },
        attribute: (attribute, value) => {
          attributes.set(attribute, value)
          written.push([attribute, value])
        },
        event: (event, _, values) => written.push([event, values]),
        addLinks: () => {}
      }
    },
    context: (run) => run()
  })

/** Everything that a call leaves behind, as one text. */
const leftBehind = (call: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const written: Array<unknown> = []
    const exit = yield* call.pipe(
      Effect.tapErrorCause((cause) => Effect.logError(cause)),
      Effect.exit,
      Effect.withTracer(recording(written)),
      Effect.provide(
        Layer.merge(
          Logger.replace(
            Logger.defaultLogger,
            Logger.map(Logger.logfmtLogger, (line) => void written.push(line))
          ),
          Logger.minimumLogLevel(LogLevel.All)
        )
      )
    )
    const cause = exit._tag === "Failure" ? Cause.pretty(exit.cause, { renderErrorCause: true }) : ""
    return { exit, text: [...written, exit, cause].map((item) => Inspectable.toStringUnknown(item)).join("\n") }
  })

describe.each(providers)("$name", (provider) => {
  it.live("a key that cannot be sent is named, not quoted, and nothing is tried", () =>
    Effect.gen(function* () {
      const apiKey = Redacted.make(`${key}\n${key}`)
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer("http://127.0.0.1:9", { apiKey })),
        Effect.flip
      )
      expect(error.isRetryable).toBe(false)
      expect(error.detail).toContain("a character that cannot be sent")
      expect(Inspectable.toStringUnknown(error) + error.message).not.toContain(key)
    })
  )

  it.scopedLive.each([
    ["a reply", 200],
    ["a refused key", 401],
    ["a server error", 500]
  ] as const)("%s", ([, status]) =>
    Effect.gen(function* () {
      const body = status === 200 ? provider.reply({ text: "ok" }) : provider.error(status, `bad key: ${key}`)
      const server = yield* Loopback.make(Loopback.json(body, status))
      const { text } = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer(server.url, { maxRetries: 1, maxRetryDelay: "1 millis" })),
        leftBehind
      )
      expect(provider.keyOf(server.received[0] ?? { path: "", headers: {}, body: {} })).toBe(key)
      expect(text).toContain("http.client POST")
      expect(text).not.toContain(key)
    })
  )

  const value = "QUERY/SECRET 123+456"
  const query = `?key=${encodeURIComponent(value)}&v=2`

  it.scopedLive.each<readonly [string, (url: string) => string]>([
    ["the whole address", (url) => `no route for ${url}`],
    ["the whole address, encoded", (url) => `no route for ${encodeURIComponent(url)}`],
    ["the whole address, encoded twice", (url) => `no route for ${encodeURIComponent(encodeURIComponent(url))}`],
    ["the address, cut", (url) => `no route for ${url.slice(0, url.indexOf("QUERY") + 5)}`],
    ["the value", () => `bad key ${value}`],
    ["the value, encoded", () => `bad key ${encodeURIComponent(value)}`],
    ["the value in small hexadecimals", () => `bad key ${encodeURIComponent(value).replaceAll("%2F", "%2f")}`],
    [
      "the value, all encoded",
      () => `bad key ${Array.from(Buffer.from(value), (byte) => `%${byte.toString(16)}`).join("")}`
    ],
    ["the value of a form", () => `bad key ${new URLSearchParams({ value }).toString().slice(6)}`],
    ["the value as JSON", () => `bad key ${JSON.stringify(value).replaceAll("/", "\\/")}`],
    ["the value as HTML", () => `bad key ${value.replaceAll("/", "&#x2F;").replaceAll("+", "&#43;")}`],
    ["the value in Base64", () => `bad key ${Buffer.from(value).toString("base64")}`]
  ])("AU-13: no query value of the base URL when the server echoes %s", ([, echo]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make((response, received) =>
        Loopback.json(provider.error(404, echo(`http://127.0.0.1${received.url ?? ""}`)), 404)(response, received)
      )
      const { exit, text } = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer(server.url, { maxRetries: 0, query })),
        leftBehind
      )
      expect(exit._tag).toBe("Failure")
      expect(new URL(server.received[0]?.path ?? "", server.url).searchParams.get("key")).toBe(value)
      expect(text).toContain("http.client POST")
      expect(text).toContain("<redacted>")
      expect(text).not.toMatch(/QUERY|SECRET|123.{0,8}456|UVVFUlk|%51%55|v=2/)
    })
  )

  it.scopedLive.each<readonly [string, Loopback.Answer]>([
    ["a reply", Loopback.json(provider.reply({ text: "ok" }))],
    ["a broken connection", Loopback.reset],
    ["a page", Loopback.text("<p>no</p>")],
    [
      "headers that repeat the address",
      (response, received) => {
        const url = received.url ?? ""
        const headers = { "x-url": url, link: `<${url}>`, "content-location": url }
        Loopback.json(provider.reply({ text: "ok" }), 200, headers)(response, received)
      }
    ]
  ])("AU-13: no query value of the base URL after %s", ([, answer]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(answer)
      const { text } = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer(server.url, { maxRetries: 1, maxRetryDelay: "1 millis", query })),
        leftBehind
      )
      expect(server.received.length).toBeGreaterThan(0)
      expect(text).toContain("http.client POST")
      expect(text).not.toMatch(/QUERY|SECRET|v=2/)
    })
  )

  it.scopedLive("the headers of a trace are sent only where the layer is told to", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider.reply({ text: "ok" })))
      const ask = (options: { readonly propagateTrace?: boolean }) =>
        Llm.pipe(
          Effect.flatMap((llm) => llm.complete(request)),
          Effect.provide(provider.layer(server.url, options)),
          leftBehind
        )
      yield* ask({})
      yield* ask({ propagateTrace: true })
      const [without, propagated] = server.received
      expect(without?.headers).not.toHaveProperty("traceparent")
      expect(without?.headers).not.toHaveProperty("b3")
      expect(propagated?.headers["traceparent"]).toBe("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
      expect(propagated?.headers["b3"]).toContain("0123456789abcdef0123456789abcdef-0123456789abcdef-1")
    })
  )
})

it.scopedLive("AU-13: a client that asks for its own spans and headers of a trace shows and sends none", () =>
  Effect.gen(function* () {
    const [provider] = providers
    if (provider === undefined) return yield* Effect.dieMessage("there is no provider")
    const server = yield* Loopback.make(Loopback.json(provider.reply({ text: "ok" })))
    const http = Layer.provide(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) =>
          client.pipe(
            HttpClient.withTracerDisabledWhen(() => false),
            HttpClient.withTracerPropagation(true)
          )
        )
      ),
      FetchHttpClient.layer
    )
    const { text } = yield* Llm.pipe(
      Effect.flatMap((llm) => llm.complete(request)),
      Effect.provide(provider.layer(server.url, { query: "?key=QUERYSECRET" }, http)),
      leftBehind
    )
    expect(text).not.toContain("QUERYSECRET")
    expect(server.received[0]?.headers).not.toHaveProperty("traceparent")
  })
)

const sample = fc.string({ unit: "grapheme", minLength: 4, maxLength: 30 }).filter((value) => value.trim().length >= 4)

/** Ways in which a server writes what it was sent. */
const ways: ReadonlyArray<(value: string) => string> = [
  (value) => value,
  encodeURIComponent,
  encodeURI,
  (value) => encodeURIComponent(encodeURIComponent(value)),
  (value) => new URLSearchParams({ v: value }).toString().slice(2),
  (value) => JSON.stringify(value).slice(1, -1),
  (value) => Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("")
]

it.prop(
  "AU-13: no way of writing a query value leaves it in a text",
  [sample, fc.constantFrom(...ways), fc.boolean()],
  ([value, way, form]) => {
    const query = form ? new URLSearchParams({ k: value }).toString() : `k=${encodeURIComponent(value)}`
    expect(hideQuery(`http://h/v1?${query}`)(`before ${way(value)} after`)).toBe("before <redacted> after")
  }
)

it.each([
  ["http://h/v1?k=1", "GET http://h/v1?k=1 failed, 1 of 1 tries", "GET http://h/v1?k=<redacted> failed, 1 of 1 tries"],
  ["http://h/v1?SECRETKEY", "no route /v1?SECRETKEY", "no route /v1?<redacted>"],
  ["http://h/v1?SECRETKEY=", "no route /v1?SECRETKEY=", "no route /v1?<redacted>="],
  ["http://h/v1?a=xx&b=long-secret", "b=long-secret&a=xx", "b=<redacted>&a=<redacted>"],
  ["http://h/v1?a=bad%zzvalue", "bad%zzvalue", "<redacted>"],
  ["http://h/v1", "nothing = to hide?k=1", "nothing = to hide?k=1"],
  ["no address", "nothing = to hide", "nothing = to hide"]
])("AU-13: of %s, %s is shown as %s", (address, text, shown) => expect(hideQuery(address)(text)).toBe(shown))
