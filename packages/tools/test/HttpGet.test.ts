import { createServer, type RequestListener } from "node:http"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ToolOutcome from "@forethought/core/ToolOutcome"
import * as HttpGet from "@forethought/tools/HttpGet"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import { isPublicAddress } from "../src/internal/address.js"
import { htmlText } from "../src/internal/htmlText.js"

const get = (options: HttpGet.HttpGetOptions, address: string, timeout = 10_000) =>
  Effect.flatMap(Toolbox.make([HttpGet.make(options)]), (toolbox) =>
    toolbox.call({ call: "c", tool: "HttpGet", input: address, timeout })
  )
const problem = (options: HttpGet.HttpGetOptions, address: string) =>
  Effect.map(Effect.flip(get(options, address)), (error) => {
    expect(error._tag).toBe("ToolFailed")
    return error.message
  })

/** A loopback server that is asked as `site.test`, a name that only the given resolver knows. */
const site = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ port: number; close: () => void }>((resume) => {
        const server = createServer(listener).listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = () => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ port, close }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => {
      const options: HttpGet.HttpGetOptions = {
        hosts: [`site.test:${port}`],
        allowPrivate: true,
        resolve: async () => ["127.0.0.1"]
      }
      return { port, url: (path: string) => `http://site.test:${port}${path}`, options }
    }
  )

describe("HttpGet refuses", () => {
  const open = { hosts: ["*"], resolve: async (host: string) => addresses[host] ?? [] }
  const addresses: Record<string, ReadonlyArray<string>> = {
    localhost: ["127.0.0.1"],
    "inside.example": ["10.1.2.3"],
    "mixed.example": ["93.184.215.14", "192.168.0.1"],
    "mapped.example": ["::ffff:169.254.169.254"]
  }
  const notPublic = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://10.0.0.1/",
    "http://172.16.5.5/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://inside.example/",
    "http://mixed.example/",
    "http://mapped.example/"
  ]
  it.live.each(notPublic)("%s, which is not public", (address) =>
    Effect.map(problem(open, address), (message) => expect(message).toContain("not public"))
  )
  const others: ReadonlyArray<readonly [address: string, says: string]> = [
    ["ftp://example.org/", "Only http and https"],
    ["file:///etc/passwd", "Only http and https"],
    ["javascript:alert(1)", "Only http and https"],
    ["data:text/plain,x", "Only http and https"],
    ["example.org/page", "not a web address"],
    ["", "not a web address"],
    ["https://user:hunter2@example.org/", "user name"],
    ["https://example.org:8443/", "not on the list"],
    ["https://nowhere.example/", "was not found"]
  ]
  it.live.each(others)("%s", ([address, says]) =>
    Effect.map(problem(open, address), (message) => {
      expect(message).toContain(says)
      expect(message).not.toContain("hunter2")
    })
  )
  const listed: ReadonlyArray<readonly [entry: string, address: string, allowed: boolean]> = [
    ["example.org", "https://example.org/a", true],
    ["example.org", "https://EXAMPLE.org./a", true],
    ["example.org", "https://www.example.org/", false],
    ["example.org", "https://example.org.evil.test/", false],
    ["example.org", "https://notexample.org/", false],
    ["example.org", "https://evil.test/?example.org", false],
    ["example.org", "https://example.org\\@evil.test/", true],
    ["*.example.org", "https://a.b.example.org/", true],
    ["*.example.org", "https://example.org/", false],
    ["*.example.org", "https://badexample.org/", false],
    ["example.org:8080", "http://example.org:8080/", true],
    ["example.org:8080", "http://example.org/", false],
    ["bücher.example", "https://xn--bcher-kva.example/", true],
    ["[::1]:99", "http://[::1]:99/", true],
    ["[::1]", "http://[::1]/", true],
    ["[::1]", "http://[::1]:8080/", false],
    ["[::1]:8080", "https://[::1]:8080/", true],
    ["[::1]:8080", "http://[::1]/", false],
    ["[::1]:443", "https://[::1]/", true],
    ["[::1]:443", "http://[::1]/", false],
    ...[["example.org", "example.org"] as const, ["*.example.org", "www.example.org"] as const].flatMap(
      ([entry, host]) =>
        (
          [
            // The port of the entry, then the ports of http and of https that are on the list.
            ["", [""], [""]],
            [":80", [""], []],
            [":443", [], [""]],
            [":8080", [":8080"], [":8080"]],
            [":08080", [":8080"], [":8080"]],
            [":0443", [], [""]]
          ] as const
        ).flatMap(([port, http, https]) =>
          ["", ":80", ":443", ":8080", ":8443"].flatMap((written) => {
            const isIn = (ports: ReadonlyArray<string>, own: string) => ports.includes(written === own ? "" : written)
            return [
              [`${entry}${port}`, `http://${host}${written}/`, isIn(http, ":80")] as const,
              [`${entry}${port}`, `https://${host}${written}/`, isIn(https, ":443")] as const
            ]
          })
        )
    )
  ]
  it.live.each(listed)("AU-14: with the list %s: %s, or not: %s", ([entry, address, allowed]) =>
    Effect.map(problem({ hosts: [entry], resolve: async () => [] }, address), (message) =>
      expect(message.includes("not on the list")).toBe(!allowed)
    )
  )
  it.each([
    [[]],
    [["https://example.org"]],
    [["example.org/path"]],
    [["a.*.org"]],
    [[""]],
    [["*."]],
    [["*:80"]],
    [["me@example.org"]],
    [[":x@example.org"]],
    [["::1"]],
    [["example.org:99999"]]
  ])("the list %j", (hosts) => {
    expect(() => HttpGet.make({ hosts })).toThrow(RangeError)
  })
  it.each([0, -1, Number.NaN, JSON.parse('"soon"')])("AU-14: the timeout %s is refused", (timeout) => {
    expect(() => HttpGet.make({ hosts: ["*"], timeout })).toThrow(
      /^HttpGet.make: timeout must be a duration longer than 0/
    )
  })
  it("knows public addresses", () => {
    for (const address of ["93.184.215.14", "8.8.8.8", "2606:4700::1111"]) expect(isPublicAddress(address)).toBe(true)
    for (const address of ["203.0.113.1", "240.0.0.1", "2001:db8::1", "3ffe::1x", "x", ""]) {
      expect(isPublicAddress(address)).toBe(false)
    }
  })
})

describe("HttpGet reads", () => {
  const latin = Buffer.from("caf\u00e9", "latin1")
  const bodies: ReadonlyArray<readonly [type: string | undefined, body: string | Buffer, text: string]> = [
    ["text/plain", "as it is  \n", "as it is  \n"],
    ["text/html; charset=utf-8", "<title>T</title><p>a&amp;b <b>c</b></p><script>x()</script>", "T\na&b c"],
    ["application/json", '{"a": 1}', '{"a": 1}'],
    ["application/ld+json", "{}", "{}"],
    [undefined, "no type", "no type"],
    ["text/plain; charset=ISO-8859-1", latin, "café"],
    ['text/plain; charset="latin1"', latin, "café"],
    ["text/html", Buffer.concat([Buffer.from('<meta charset="latin1"><p>'), latin]), "café"],
    ["text/plain; charset=latin1", Buffer.from("\ufeffcafé"), "café"],
    ["text/plain", Buffer.from("\ufeffcafé", "utf16le"), "café"],
    ["image/png", "x", "ToolFailed: HttpGet failed: The page is image/png, not text."],
    ["application/pdf", "x", "ToolFailed: HttpGet failed: The page is application/pdf, not text."],
    ["text/plain; charset=klingon", "x", "ToolFailed: HttpGet failed: The page's charset klingon is unknown."],
    ["text/plain", "a\0b", "ToolFailed: HttpGet failed: The page is not text."]
  ]
  it.live.each(bodies)("%s %#", ([type, body, text]) =>
    Effect.gen(function* () {
      const { options, url } = yield* site((_, response) => {
        if (type !== undefined) response.setHeader("content-type", type)
        response.end(body)
      })
      const given = yield* Effect.catchAll(get(options, url("/")), (error) =>
        Effect.succeed(`${error._tag}: ${error.message}`)
      )
      expect(given).toBe(text)
    }).pipe(Effect.scoped)
  )
  it.live("from the address that was checked, with the host's name and no cookie", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { options, port, url } = yield* site((request, response) => {
        expect(request.headers).toMatchObject({ host: `site.test:${port}`, "user-agent": "forethought/0.1" })
        expect(request.headers).not.toHaveProperty("cookie")
        response.end("ok")
      })
      const resolve = async (host: string) => [asked.push(host) === 1 ? "127.0.0.1" : "10.0.0.1"]
      expect(yield* get({ ...options, resolve }, url("/"))).toBe("ok")
      expect(asked).toEqual(["site.test"])
    }).pipe(Effect.scoped)
  )
  it.live("redirects, each checked anew, and not without end", () =>
    Effect.gen(function* () {
      const { options, port, url } = yield* site((request, response) => {
        const to: Record<string, string> = {
          "/relative": "/end",
          "/loop": "/loop",
          "/other": "http://other.test/",
          "/file": "file:///etc/passwd",
          "/inside": `http://127.0.0.1:${port}/end`,
          "/password": `http://u:p@site.test:${port}/end`
        }
        const location = to[request.url ?? ""]
        if (location === undefined) response.end("the end")
        else response.writeHead(302, { location }).end("moved")
      })
      expect(yield* get(options, url("/relative"))).toBe("the end")
      expect(yield* problem(options, url("/loop"))).toContain("more than 5 redirects")
      expect(yield* problem({ ...options, maxRedirects: 0 }, url("/relative"))).toContain("more than 0")
      expect(yield* problem(options, url("/other"))).toContain("other.test is not on the list")
      expect(yield* problem(options, url("/file"))).toContain("Only http and https")
      expect(yield* problem(options, url("/inside"))).toContain("not on the list")
      expect(yield* problem(options, url("/password"))).toContain("user name")
    }).pipe(Effect.scoped)
  )
  it.live("at most so many bytes, packed or endless, and says that it is not all", () =>
    Effect.gen(function* () {
      const { options, url } = yield* site((request, response) => {
        if (request.url === "/bomb") {
          response.setHeader("content-encoding", "gzip")
          response.end(gzipSync(Buffer.alloc(50_000_000, "x")))
          return
        }
        const more = () => {
          while (response.write("x".repeat(10_000)));
          response.once("drain", more)
        }
        more()
      })
      for (const path of ["/bomb", "/endless"]) {
        const text = yield* get({ ...options, maxBytes: 1000 }, url(path))
        expect(text).toBe(`${"x".repeat(1000)}\n[cut off: only the first 1000 bytes were read]`)
      }
      const leftOut: Array<string> = []
      const context = { call: "c", signal: new AbortController().signal, progress: () => {} }
      const tool = HttpGet.make({ ...options, maxBytes: 1000 })
      const work = Either.getOrThrow(tool.prepare(url("/bomb")))
      yield* ToolOutcome.lift(work({ ...context, leftOut: (what) => void leftOut.push(what) }))
      expect(leftOut).toEqual(["what follows the first 1000 bytes"])
    }).pipe(Effect.scoped)
  )
  it.live("packed pages; a broken one, an unknown packing, a status and a closed door are told", () =>
    Effect.gen(function* () {
      const { options, url } = yield* site((request, response) => {
        switch (request.url) {
          case "/gzip":
            return response.setHeader("content-encoding", "gzip").end(gzipSync("unpacked"))
          case "/broken":
            return response.setHeader("content-encoding", "gzip").end("not gzip")
          case "/short":
            response.setHeader("content-length", "100").write("half")
            return setTimeout(() => response.destroy(), 20)
          case "/zstd":
            return response.setHeader("content-encoding", "zstd").end("?")
          default:
            return response.writeHead(404).end("<html>secret inside page</html>")
        }
      })
      expect(yield* get(options, url("/gzip"))).toBe("unpacked")
      expect(yield* problem(options, url("/broken"))).toContain("broke off")
      expect(yield* problem(options, url("/short"))).toContain("broke off")
      expect(yield* problem(options, url("/zstd"))).toContain("encoded as zstd")
      expect(yield* problem(options, url("/none"))).toMatch(/answered 404 Not Found\.$/)
      expect(yield* problem({ ...options, hosts: ["site.test:9"] }, "http://site.test:9/")).toContain("be reached")
    }).pipe(Effect.scoped)
  )
  it.live("no longer than the time it has; an interruption closes the connection", () =>
    Effect.gen(function* () {
      let opened = 0
      let closed = 0
      const until = (holds: () => boolean) =>
        Effect.repeat(Effect.sleep("5 millis"), { until: holds }).pipe(Effect.timeout("10 seconds"))
      const { options, url } = yield* site((request, response) => {
        opened++
        request.once("close", () => closed++)
        response.write("and then")
      })
      const error = yield* Effect.flip(get({ ...options, timeout: "100 millis" }, url("/hang")))
      expect(error).toMatchObject({ _tag: "ToolTimeout", after: 100 })
      const fiber = yield* Effect.fork(get(options, url("/hang")))
      yield* until(() => opened === 2)
      yield* Fiber.interrupt(fiber)
      yield* until(() => closed === 2)
    }).pipe(Effect.scoped)
  )
})

describe("the text of HTML", () => {
  const pages: ReadonlyArray<readonly [html: string, text: string]> = [
    ["", ""],
    ["just text", "just text"],
    ["<h1>A</h1><p>one\n  two</p><p>three<br>four</p>", "A\none two\nthree\nfour"],
    ["<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n- c"],
    ["<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>", "x | y\n1 | 2"],
    ["<pre>def f():\n    return  1</pre>", "def f():\n    return  1"],
    ["a<style>b{}</style><script>if (a<b) '</p>'</script><noscript>c</noscript>d", "ad"],
    ["a<svg><text>x</text><svg></svg>y</svg>b", "ab"],
    ["a<script/>x()</script>b", "ab"],
    ["&lt;b&gt; &amp;amp; &#x41;&nbsp;&copy; &unknown; &", "<b> &amp; A © &unknown; &"],
    ["<!-- c --><!doctype html><p title='>'>t</p>", "t"],
    ["a < b and c > d", "a < b and c > d"],
    ["</p></pre></svg>x", "x"]
  ]
  it.each(pages)("%j", (html, text) => {
    expect(htmlText(html)).toBe(text)
  })
  it.each(["<div>", "<b><p>", "<", "&", "<!--", "<svg>", "<a x=", "<pre> ", "</div>", "&#", " "])(
    "a megabyte of %j is read well within the test's time",
    (part) => {
      expect(htmlText(part.repeat(1_000_000 / part.length)).length).toBeLessThan(1_100_000)
    },
    10_000
  )
})
