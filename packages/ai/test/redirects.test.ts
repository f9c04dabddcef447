/** A model request goes to the server that it is meant for, and to no other. */
import * as Cookies from "@effect/platform/Cookies"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { describe } from "vitest"
import * as Loopback from "./support/Loopback.js"
import { key, type Options, type Provider, providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

const ask = (provider: Provider, url: string, http?: Layer.Layer<HttpClient.HttpClient>, options?: Options) =>
  Llm.pipe(
    Effect.flatMap((llm) => llm.complete(request)),
    Effect.provide(provider.layer(url, { maxRetries: 2, maxRetryDelay: "1 millis", ...options }, http))
  )

const redirect =
  (status: number, location?: string): Loopback.Answer =>
  (response) => {
    response.writeHead(status, location === undefined ? {} : { location })
    response.end("moved")
  }

const statuses = [301, 302, 303, 307, 308]

/** An app's client: fetch with what apps do to it. */
const changed = (change: (client: HttpClient.HttpClient) => HttpClient.HttpClient) =>
  Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, change)), FetchHttpClient.layer)

const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  [
    "fetch that was told to follow",
    Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.RequestInit, { redirect: "follow" }))
  ],
  [
    "a fetch of the app's",
    Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(FetchHttpClient.Fetch, (...given) => fetch(...given))
    )
  ],
  ["a changed request", changed(HttpClient.mapRequest(HttpClientRequest.setHeader("x-app", "yes")))],
  ["a transformed client", changed(HttpClient.transform((effect) => Effect.map(effect, (response) => response)))],
  [
    "a client with cookies",
    changed((client) =>
      Effect.runSync(Effect.map(Ref.make(Cookies.empty), (ref) => HttpClient.withCookiesRef(client, ref)))
    )
  ],
  ["a client that retries", changed(HttpClient.retryTransient({ times: 1 }))]
]

describe.each(providers)("$name", (provider) => {
  it.scopedLive.each(statuses)("AU-04: a redirect (%d) to another origin is not followed", (status) =>
    Effect.gen(function* () {
      const other = yield* Loopback.make(Loopback.json(provider.reply({ text: "from the other server" })))
      const first = yield* Loopback.make(redirect(status, `${other.url}/v1?token=SECRETTOKEN`))
      const error = yield* Effect.flip(ask(provider, first.url))
      expect(other.received).toEqual([])
      expect(first.received.length).toBe(1)
      expect(error.reason).toEqual({ _tag: "BadRequest", isRetryable: false, status })
      expect(error.detail).toContain(`redirects to ${other.url}, `)
      expect(error.detail).toContain("write its address as the base URL")
      expect(error.detail).not.toContain("SECRETTOKEN")
    })
  )

  it.scopedLive.each(clients)("AU-04: %s follows no redirect to another origin", ([, http]) =>
    Effect.gen(function* () {
      const other = yield* Loopback.make(Loopback.json(provider.reply({ text: "from the other server" })))
      const first = yield* Loopback.make(redirect(307, other.url))
      const error = yield* Effect.flip(ask(provider, first.url, http))
      expect(other.received).toEqual([])
      expect(error.reason._tag).toBe("BadRequest")
    })
  )

  it.scopedLive.each([307, 308])("AU-04: %d within the origin is followed with method, body and key", (status) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(
        redirect(status, "/moved/?to=here"),
        Loopback.json(provider.reply({ text: "moved" }))
      )
      expect((yield* ask(provider, server.url)).text).toBe("moved")
      const [first, second] = server.received
      expect(second?.path).toBe("/moved/?to=here")
      expect(second?.body).toEqual(first?.body)
      expect(second === undefined ? undefined : provider.keyOf(second)).toBe(key)
    })
  )
})

const [provider] = providers
if (provider === undefined) throw new Error("there is no provider")

it.scopedLive.each([301, 302, 303])(
  "AU-04: %d within the origin says where it points, and is not tried again",
  (status) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(redirect(status, "/v1/chat/completions/?token=SECRETTOKEN"))
      const error = yield* Effect.flip(ask(provider, server.url))
      expect(server.received.length).toBe(1)
      expect(error.isRetryable).toBe(false)
      expect(error.detail).toContain(`redirects to ${server.url}/v1/chat/completions/, `)
      expect(error.detail).toContain("correct the base URL")
      expect(error.detail).not.toContain("SECRETTOKEN")
    })
)

it.scopedLive("AU-04: a redirect within the origin that then leaves it is not followed", () =>
  Effect.gen(function* () {
    const other = yield* Loopback.make(Loopback.json(provider.reply({ text: "from the other server" })))
    const server = yield* Loopback.make(redirect(307, "/v2"), redirect(307, other.url))
    const error = yield* Effect.flip(ask(provider, server.url))
    expect(server.received.length).toBe(2)
    expect(other.received).toEqual([])
    expect(error.isRetryable).toBe(false)
  })
)

it.scopedLive("AU-04: a circle of redirects ends after five", () =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(redirect(308, "/v1/chat/completions"))
    const error = yield* Effect.flip(ask(provider, server.url))
    expect(server.received.length).toBe(6)
    expect(error.reason._tag).toBe("BadRequest")
    expect(error.detail).toContain("after 5 other redirects")
  })
)

it.scopedLive.each([
  // Where it points, and what the error says.
  ["https of the same host", (url: string) => url.replace("http:", "https:"), "write https:// in the base URL"],
  ["another port", () => "http://127.0.0.1:9/v1", "to http://127.0.0.1:9,"],
  ["an address without a scheme", () => "//example.org/v1", "to http://example.org,"],
  ["another name of this machine", (url: string) => url.replace("127.0.0.1", "localhost"), "to http://localhost:"],
  ["a file", () => "file:///etc/passwd", "to an address of file:"],
  ["nothing", () => undefined, "without an address that can be read"],
  ["no address", () => "http://[", "without an address that can be read"],
  ["credentials", (url: string) => url.replace("http://", "http://user:SECRETTOKEN@"), "with credentials"]
] as const)("AU-04: a redirect to %s is an error that says so", ([, location, said]) =>
  Effect.gen(function* () {
    let url = ""
    const server = yield* Loopback.make((response, request) => redirect(307, location(url))(response, request))
    url = server.url
    const error = yield* Effect.flip(ask(provider, server.url))
    expect(server.received.length).toBe(1)
    expect(error.isRetryable).toBe(false)
    expect(error.detail).toContain(said)
    expect(error.detail).not.toContain("SECRETTOKEN")
  })
)

it.scopedLive("AU-04: a reply that a client fetched from another origin is refused", () =>
  Effect.gen(function* () {
    const other = yield* Loopback.make(Loopback.json(provider.reply({ text: "from the other server" })))
    const first = yield* Loopback.make(redirect(307, other.url))
    const http = changed(HttpClient.followRedirects(3))
    const error = yield* Effect.flip(ask(provider, first.url, http))
    expect(error.reason._tag).toBe("BadRequest")
    expect(error.detail).toContain(`redirects to ${other.url}, `)
  })
)

it.scopedLive("the server that the app's client rewrites the address to is the one that is meant", () =>
  Effect.gen(function* () {
    const gateway = yield* Loopback.make(Loopback.json(provider.reply({ text: "through the gateway" })))
    const http = changed(HttpClient.mapRequest(HttpClientRequest.setUrl(`${gateway.url}/v1/chat/completions`)))
    expect((yield* ask(provider, "http://127.0.0.1:9", http)).text).toBe("through the gateway")
  })
)

it.scopedLive("fetch keeps the other options that its app gave it", () =>
  Effect.gen(function* () {
    const server = yield* Loopback.make(Loopback.json(provider.reply({ text: "ok" })))
    const http = Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(FetchHttpClient.RequestInit, { headers: { "x-app": "yes" } })
    )
    yield* ask(provider, server.url, http)
    expect(server.received[0]?.headers["x-app"]).toBe("yes")
  })
)

it.live("AU-04: a redirect that a browser keeps to itself is an error that is not tried again", () =>
  Effect.gen(function* () {
    let sent = 0
    const browser = HttpClient.make((request) => {
      sent++
      return Effect.succeed(HttpClientResponse.fromWeb(request, Response.error()))
    })
    const error = yield* Effect.flip(ask(provider, "http://127.0.0.1:9", Layer.succeed(HttpClient.HttpClient, browser)))
    expect(sent).toBe(1)
    expect(error.reason).toEqual({ _tag: "BadRequest", isRetryable: false })
    expect(error.detail).toContain("the server redirects without an address that can be read")
  })
)
