import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import type * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as WebSearch from "@forethought/tools/WebSearch"
import * as Wikipedia from "@forethought/tools/Wikipedia"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"

const secret = "tvly-not-to-be-seen-0123456789"
const apiKey = Redacted.make(secret)

interface Asked {
  readonly url: URL
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** A loopback imitation of a web API. */
const api = (answer: (asked: Asked, response: ServerResponse) => unknown) =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => {
        body += chunk
      })
      request.on("end", () => {
        const one = { url: new URL(request.url ?? "", "http://x"), headers: request.headers, body }
        asked.push(one)
        const value = answer(one, response)
        if (!response.writableEnded && value !== undefined) response.end(JSON.stringify(value))
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    const address = server.address()
    return { asked, url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}` }
  })
const call = (tool: Tool.Tool, input: string, timeout = 10_000) =>
  Effect.flatMap(Toolbox.make([tool]), (toolbox) => toolbox.call({ call: "c", tool: tool.name, input, timeout }))

const found = [
  { title: "The <strong>Seine</strong>", url: "https://a.example/", description: "A river &amp; more", content: "x" },
  { title: "No address" },
  { url: "https://b.example/", title: null, description: 3, content: "line\nbreak" },
  { title: "Third", url: "https://c.example/", description: "c", content: "c" }
]

describe("WebSearch", () => {
  it.live("asks Brave as it is documented, and numbers what it found", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* api(() => ({ web: { results: found } }))
      const tool = WebSearch.brave({ apiKey, url: `${url}/res/v1/web/search`, maxResults: 2 })
      expect(tool).toMatchObject({ name: "WebSearch", readOnly: true, idempotent: true, takes: "text" })
      expect(yield* call(tool, " river & Paris ")).toBe(
        "1. The Seine\n   https://a.example/\n   A river & more\n2. \n   https://b.example/\n   "
      )
      expect(asked[0]?.url.pathname).toBe("/res/v1/web/search")
      expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toEqual({ q: "river & Paris", count: "2" })
      expect(asked[0]?.headers).toMatchObject({ "x-subscription-token": secret, "user-agent": "forethought/0.1" })
    }).pipe(Effect.scoped)
  )
  it.live("asks Tavily as it is documented", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* api(() => ({ results: found }))
      const text = yield* call(WebSearch.tavily({ apiKey, url: `${url}/search` }), "rivers")
      expect(text).toContain("2. \n   https://b.example/\n   line break")
      expect(text).toContain("3. Third")
      expect(asked[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, "content-type": "application/json" })
      expect(JSON.parse(asked[0]?.body ?? "")).toEqual({ query: "rivers", max_results: 5 })
    }).pipe(Effect.scoped)
  )
  it.live("asks SearXNG under its address, and says what to do where it gives no JSON", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* api(({ url }, response) =>
        url.pathname === "/search" ? response.writeHead(403).end() : { results: [] }
      )
      expect(yield* call(WebSearch.searxng({ url: `${url}/searx` }), "x")).toBe("(nothing was found)")
      expect(`${asked[0]?.url.pathname}${asked[0]?.url.search}`).toBe("/searx/search?q=x&format=json")
      const error = yield* Effect.flip(call(WebSearch.searxng({ url }), "x"))
      expect(error.message).toContain('Add "json" to search.formats')
    }).pipe(Effect.scoped)
  )
  const failures: ReadonlyArray<readonly [string, (response: ServerResponse) => unknown, string]> = [
    ["401", (r) => r.writeHead(401).end(secret), "refused the request (401): the key may be missing or wrong."],
    [
      "429",
      (r) => r.writeHead(429, { "retry-after": "7" }).end(),
      "has had too many requests (429), and asks to retry after 7."
    ],
    ["500", (r) => r.writeHead(500).end(), "answered with the status 500."],
    ["a page", (r) => r.end("<html>"), "did not answer with JSON."],
    ["a redirect", (r) => r.writeHead(302, { location: "http://127.0.0.1:9/" }).end(), "cannot be reached"],
    ["a cut", (r) => r.destroy(), "cannot be reached (UND_ERR_SOCKET)"],
    ["too much", (r) => r.end(`"${"x".repeat(6_000_000)}"`), "sent more than 5000000 bytes."]
  ]
  it.live.each(failures)("%s fails the tool, without the key", ([_, answer, says]) =>
    Effect.gen(function* () {
      const { url } = yield* api((_, response) => void answer(response))
      const error = yield* Effect.flip(call(WebSearch.tavily({ apiKey, url }), "x"))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toContain(`Tavily ${says}`)
      expect(`${error.message}${JSON.stringify(error)}${String(error)}`).not.toContain(secret)
    }).pipe(Effect.scoped)
  )
  it.live("a key that no header can hold is not told either", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        call(WebSearch.tavily({ apiKey: Redacted.make(`${secret}\n`), url: "http://127.0.0.1:9/" }), "x")
      )
      expect(`${error.message}${JSON.stringify(error)}`).not.toContain(secret)
    })
  )
  it.live("nothing listening, an empty query, and an odd answer", () =>
    Effect.gen(function* () {
      const closed = WebSearch.brave({ apiKey, url: "http://127.0.0.1:9/" })
      expect((yield* Effect.flip(call(closed, "x"))).message).toContain("cannot be reached")
      expect((yield* Effect.flip(call(closed, " "))).message).toContain("needs a query")
      for (const value of [null, [], { web: null }, { web: { results: "x" } }, { web: { results: [null, 3] } }]) {
        const given = WebSearch.brave({ apiKey, fetch: async () => new Response(JSON.stringify(value)) })
        expect(yield* call(given, "x")).toBe("(nothing was found)")
      }
    })
  )
  it.live("an interruption cancels the request", () =>
    Effect.gen(function* () {
      let closed = false
      const { url } = yield* api((_, response) => {
        response.once("close", () => {
          closed = true
        })
      })
      const fiber = yield* Effect.fork(call(WebSearch.brave({ apiKey, url }), "x"))
      yield* Effect.sleep("100 millis")
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep("100 millis")
      expect(closed).toBe(true)
    }).pipe(Effect.scoped)
  )
  it("refuses wrong options", () => {
    expect(() => WebSearch.brave({ apiKey, maxResults: 21 })).toThrow(/at most 20/)
    expect(() => WebSearch.searxng({ url: "http://x", maxResults: 0 })).toThrow(/at least 1/)
  })
})

describe("Wikipedia", () => {
  const wiki = (extract: string | undefined, pages: ReadonlyArray<unknown>) =>
    api(({ url }) =>
      url.pathname === "/w/rest.php/v1/search/page"
        ? { pages }
        : { query: { pages: [extract === undefined ? { missing: true } : { extract }] } }
    )
  const pages = [
    { key: "Seine", title: "Seine", excerpt: "The <b>Seine</b>" },
    { key: "Seine-et-Marne", title: "Seine-et-Marne" }
  ]
  it.live("gives the best page's text under its title and address, and names others", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* wiki("The Seine is a river.\n\n== Name ==\nOld.", pages)
      const tool = Wikipedia.make({ url, userAgent: "app/1 (me@example.org)" })
      expect(yield* call(tool, "the river of Paris")).toBe(
        `Seine\n${url}/wiki/Seine\n\nThe Seine is a river.\n\n== Name ==\nOld.\n\nOther pages: Seine-et-Marne`
      )
      expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toEqual({ q: "the river of Paris", limit: "5" })
      expect(Object.fromEntries(asked[1]?.url.searchParams ?? [])).toMatchObject({
        action: "query",
        prop: "extracts",
        explaintext: "1",
        titles: "Seine",
        format: "json"
      })
      expect(asked.map(({ headers }) => headers["user-agent"])).toEqual(Array(2).fill("app/1 (me@example.org)"))
    }).pipe(Effect.scoped)
  )
  it.live("cuts a long page and says so; a page without text; nothing found; nothing asked", () =>
    Effect.gen(function* () {
      const long = yield* wiki("x".repeat(5000), pages.slice(0, 1))
      expect(yield* call(Wikipedia.make({ url: long.url, maxChars: 10 }), "x")).toMatch(/\n\nx{10}\n\[cut off\]$/)
      const bare = yield* wiki(undefined, [{ key: "AC/DC?", title: "AC/DC?" }])
      expect(yield* call(Wikipedia.make({ url: bare.url }), "x")).toBe(
        `AC/DC?\n${bare.url}/wiki/AC%2FDC%3F\n\n(the page has no text)`
      )
      const none = yield* wiki("", [])
      expect(yield* call(Wikipedia.make({ url: none.url }), "qwxyz")).toBe('(nothing was found on "qwxyz")')
      expect((yield* Effect.flip(call(Wikipedia.make({ url: none.url }), " "))).message).toContain(
        "something to look up"
      )
      const closed = yield* Effect.flip(call(Wikipedia.make({ url: "http://127.0.0.1:9" }), "x"))
      expect(closed.message).toContain("Wikipedia cannot be reached")
    }).pipe(Effect.scoped)
  )
})
