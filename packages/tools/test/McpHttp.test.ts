/** Servers over HTTP that lose their sessions, break off, and answer with what is not the protocol. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Mcp from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string }
}

interface Exchange {
  readonly message: Message
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Answers with a body, as JSON unless it is a text. */
  readonly send: (body: unknown, status?: number, type?: string) => void
  readonly result: (result: unknown) => void
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] })
const tool = (name: string, annotations = {}) => ({ name, inputSchema: { type: "object" }, annotations })

/** A server with the tools `act` and `read`, whose calls the test answers; `session` is what it calls its session. */
const serve = (
  onCall: (exchange: Exchange) => void,
  {
    onGet = (response) => void response.writeHead(405).end(),
    refuse,
    session
  }: {
    session?: () => string
    refuse?: (exchange: Exchange) => boolean
    onGet?: (response: ServerResponse) => void
  } = {}
) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly methods: Array<string>; readonly close: () => void }>((resume) => {
      const methods: Array<string> = []
      const server = createServer((request, response) => {
        if (request.method !== "POST") {
          if (request.method === "GET") onGet(response)
          else response.writeHead(405).end()
          return
        }
        let body = ""
        request.on("data", (chunk) => {
          body += String(chunk)
        })
        request.on("end", () => {
          const message: Message = JSON.parse(body)
          methods.push(message.method)
          const send: Exchange["send"] = (body, status = 200, type = "application/json") => {
            response.writeHead(status, { "content-type": type })
            response.end(typeof body === "string" ? body : JSON.stringify(body))
          }
          const result = (result: unknown) => send({ jsonrpc: "2.0", id: message.id, result })
          const exchange = { message, request, response, send, result }
          if (refuse?.(exchange) === true) return
          if (message.method === "initialize") {
            if (session !== undefined) response.setHeader("mcp-session-id", session())
            const serverInfo = { name: "h", version: "1" }
            result({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo })
          } else if (message.id === undefined) send("", 202)
          else if (message.method === "tools/list") {
            result({ tools: [tool("act"), tool("read", { readOnlyHint: true })] })
          } else onCall(exchange)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/mcp`, methods, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const connect = (url: string, options: Partial<Mcp.Http> = {}) =>
  Effect.gen(function* () {
    const toolbox = yield* Toolbox.make(yield* Mcp.tools({ url, onWarning: () => Effect.void, ...options }))
    return (name: string) => toolbox.call({ call: "c", tool: name, input: "{}", timeout: 4_000 })
  })

describe("sessions", () => {
  const ways: ReadonlyArray<readonly [string, number, unknown]> = [
    ["NW-54: 404 'Session not found'", 404, "Session not found"],
    ["404 in JSON", 404, { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }],
    ["404 without a word", 404, ""],
    ["404 as a page", 404, "<html><body><h1>Not Found</h1></body></html>"],
    [
      "400 of the SDK's examples",
      400,
      { error: { code: -32000, message: "Bad Request: No valid session ID provided" } }
    ],
    ["400 'Server not initialized'", 400, { error: { code: -32000, message: "Bad Request: Server not initialized" } }],
    ["400 'Invalid session ID'", 400, { error: "Invalid session ID" }],
    ["400 'session expired'", 400, { detail: "The session has expired." }],
    ["400 'Mcp-Session-Id header is required'", 400, "Bad Request: Mcp-Session-Id header is required"],
    ["410 without a word", 410, ""],
    ["401 'Session not found'", 401, "Unauthorized: Session not found"],
    ["409 for a stale session", 409, { error: "stale session" }],
    ["422 of a server that waits for initialize", 422, "Unexpected message, expect initialize request"],
    ["an error inside a 200", 200, { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }]
  ]
  it.live.each(ways)("%s: opened anew, and the call sent again", ([_, status, body]) =>
    Effect.gen(function* () {
      let session = 1
      const { methods, url } = yield* serve(({ result }) => result(text(`session ${session}`)), {
        session: () => `s${session}`,
        refuse: ({ message, request, send }) => {
          const known = message.method === "initialize" || request.headers["mcp-session-id"] === `s${session}`
          if (!known) send(body, status, typeof body === "string" ? "text/html" : "application/json")
          return !known
        }
      })
      const call = yield* connect(url)
      expect(yield* call("act")).toBe("session 1")
      session = 2
      methods.length = 0
      expect(yield* call("act")).toBe("session 2")
      expect(yield* call("act")).toBe("session 2")
      expect(methods).toEqual([
        ...["tools/call", "initialize", "notifications/initialized", "tools/call", "tools/call"]
      ])
      session = 3
      methods.length = 0
      expect(yield* Effect.all([call("act"), call("read"), call("act")], { concurrency: 3 })).toEqual(
        Array.from({ length: 3 }, () => "session 3")
      )
      expect(methods.filter((method) => method === "initialize")).toHaveLength(1)
    }).pipe(Effect.scoped)
  )
  it.live("a server that knows no session is not asked for ever", () =>
    Effect.gen(function* () {
      const { methods, url } = yield* serve(({ send }) => send("Session not found", 404, "text/plain"), {
        session: () => "s"
      })
      const call = yield* connect(url)
      const error = yield* Effect.flip(call("act"))
      expect(error.message).toContain("HTTP 404 Not Found): Session not found.")
      expect(methods.filter((method) => method === "tools/call")).toHaveLength(2)
    }).pipe(Effect.scoped)
  )
  it.live("a 500 that names a session may have run: only what does no harm is sent again", () =>
    Effect.gen(function* () {
      let calls = 0
      const { methods, url } = yield* serve(
        ({ result, send }) => (calls++ % 2 === 0 ? send("Database session closed", 500) : result(text("good"))),
        { session: () => "s" }
      )
      const call = yield* connect(url, { trustAnnotations: true })
      expect((yield* Effect.flip(call("act"))).message).toContain(
        "session closed. The call was under way, so the outcome"
      )
      expect(yield* call("act")).toBe("good")
      expect(yield* call("read")).toBe("good")
      expect(methods.filter((method) => method === "initialize")).toHaveLength(3)
      expect(methods.filter((method) => method === "tools/call")).toHaveLength(4)
    }).pipe(Effect.scoped)
  )
  it.live("a 401 without a word of a session is an error, and sent once", () =>
    Effect.gen(function* () {
      const { methods, url } = yield* serve(({ send }) => send({ error: "invalid_token" }, 401), { session: () => "s" })
      const call = yield* connect(url)
      expect((yield* Effect.flip(call("act"))).message).toContain("invalid_token")
      expect(methods.filter((method) => method === "tools/call")).toHaveLength(1)
    }).pipe(Effect.scoped)
  )
  it.live("a 404 without a session is an error, and sent once", () =>
    Effect.gen(function* () {
      const { methods, url } = yield* serve(({ send }) => send({ error: "No such tool" }, 404))
      const call = yield* connect(url)
      expect((yield* Effect.flip(call("act"))).message).toContain("No such tool")
      expect(methods.filter((method) => method === "tools/call")).toHaveLength(1)
    }).pipe(Effect.scoped)
  )
})

describe("answers", () => {
  const good = (id: number | undefined | null) => JSON.stringify({ jsonrpc: "2.0", id, result: text("good") })
  const ok: ReadonlyArray<readonly [string, (exchange: Exchange) => void]> = [
    ["an id that is null", ({ send }) => send(good(null))],
    ["another id", ({ send }) => send(good(0))],
    [
      "_meta null",
      ({ message, send }) => send({ jsonrpc: "2.0", id: message.id, result: { ...text("good"), _meta: null } })
    ],
    ["JSON under no type", ({ message, send }) => send(good(message.id), 200, "")],
    ["JSON under text/event-stream", ({ message, send }) => send(good(message.id), 200, "text/event-stream")],
    ["JSON after a byte order mark", ({ message, send }) => send(`\uFEFF${good(message.id)}`)],
    ["a stream under application/json", ({ message, send }) => send(`data: ${good(message.id)}\n\n`)],
    [
      "a stream without its last line end",
      ({ message, send }) => send(`data: ${good(message.id)}`, 200, "text/event-stream")
    ],
    [
      "a stream with CRLF, comments and pings",
      ({ message, send }) =>
        send(
          `: hello\r\n\r\nevent: ping\r\ndata: {}\r\n\r\ndata:\r\n\r\nevent: message\r\ndata: ${good(message.id)}\r\n\r\n`,
          200,
          "text/event-stream"
        )
    ],
    [
      "a stream with events of another name",
      ({ message, send }) => send(`event: response\ndata: ${good(message.id)}\n\n`, 200, "text/event-stream")
    ],
    [
      "a stream over several data lines",
      ({ message, send }) =>
        send(
          `data: {"jsonrpc":"2.0",\ndata: "id":${message.id},"result":{"content":["good"]}}\n\n`,
          200,
          "text/event-stream"
        )
    ],
    ["a batch", ({ message, send }) => send(`[{"jsonrpc":"2.0","method":"notifications/x"},${good(message.id)}]`)]
  ]
  it.live.each(ok)("%s", ([_, onCall]) =>
    Effect.gen(function* () {
      const { url } = yield* serve(onCall)
      expect(yield* (yield* connect(url))("act")).toBe("good")
    }).pipe(Effect.scoped)
  )

  const secret = "sk-not-to-be-seen-0123456789"
  const page =
    "<!doctype html><html><head><style>b{}</style><script>var x=1</script></head><body><h1>Bad gateway</h1><p>Try later</p></body></html>"
  const bad: ReadonlyArray<readonly [string, (exchange: Exchange) => void, RegExp]> = [
    ["an error page", ({ send }) => send(page, 502, "text/html"), /HTTP 502 Bad Gateway\): Bad gateway Try later\.$/],
    [
      "a page that is no error",
      ({ send }) => send(page, 200, "text/html"),
      /did not answer in its protocol \(HTTP 200 OK\): Bad gateway Try later/
    ],
    [
      "a request that is accepted and never answered",
      ({ response }) => response.writeHead(202).end(),
      /accepted the request \(HTTP 202\) and opened no stream to answer\. The call was under way, so the outcome is unknown/
    ],
    ["a timeout of a gateway", ({ send }) => send("", 504), /HTTP 504 Gateway Timeout\)\. .*the outcome is unknown/],
    [
      "no content",
      ({ response }) => response.writeHead(204).end(),
      /not answer in its protocol \(HTTP 204 No Content\)/
    ],
    ["nothing", ({ send }) => send(""), /did not answer in its protocol \(HTTP 200 OK\)\.$/],
    [
      "a plain error",
      ({ send }) => send("overloaded", 503, "text/plain"),
      /HTTP 503 Service Unavailable\): overloaded\./
    ],
    [
      "an error in JSON",
      ({ send }) => send({ error: { code: 1, message: "too fast" } }, 429),
      /HTTP 429 Too Many Requests\): too fast\./
    ],
    [
      "401",
      ({ send }) => send({ error: "invalid_token" }, 401),
      /HTTP 401 Unauthorized\): invalid_token\. The credentials are missing/
    ],
    ["403", ({ send }) => send("", 403), /HTTP 403 Forbidden\)\. The credentials are missing/],
    [
      "a page that repeats the key",
      ({ send }) => send(`Wrong key ${secret}`, 403, "text/plain"),
      /Wrong key \[redacted\]/
    ],
    ["JSON that is none", ({ send }) => send('{"jsonrpc":"2.0","id":1,"result":{NaN}}'), /cannot be read.*NaN/],
    [
      "an event that is none",
      ({ send }) => send('data: {"jsonrpc":"2.0","id":1,"result":{NaN}}\n\n', 200, "text/event-stream"),
      /cannot be read.*NaN/
    ],
    [
      "a stream that ends without an answer",
      ({ send }) => send(": bye\n\n", 200, "text/event-stream"),
      /ended before the answer\. The call was under way, so the outcome is unknown/
    ],
    [
      "a connection that breaks",
      ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(": wait\n\n", () => response.destroy())
      },
      /the outcome is unknown/
    ]
  ]
  it.live.each(bad)("%s is an error in words", ([_, onCall, says]) =>
    Effect.gen(function* () {
      const { url } = yield* serve(onCall)
      const call = yield* connect(url, { headers: { authorization: Redacted.make(`Bearer ${secret}`) } })
      const error = yield* Effect.flip(call("act"))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toMatch(says)
      expect(error.message).not.toMatch(/<|var x|b\{\}/)
      expect(error.message).not.toContain(secret)
    }).pipe(Effect.scoped)
  )

  it.live("an answer to another call comes to that one", () =>
    Effect.gen(function* () {
      const waiting: Array<Exchange> = []
      const { url } = yield* serve((exchange) => {
        if (waiting.push(exchange) < 2) return
        const [one, other] = waiting
        const answer = ({ message }: Exchange) => ({
          jsonrpc: "2.0",
          id: message.id,
          result: text(String(message.params?.name))
        })
        if (one === undefined || other === undefined) return
        one.send(answer(other))
        other.send(answer(one))
      })
      const call = yield* connect(url, { trustAnnotations: true })
      const [act, read] = yield* Effect.all([Effect.flip(call("act")), call("read")], { concurrency: 2 })
      expect(act.message).toContain("answered another request in its place. The call was under way, so the outcome")
      expect(read).toBe("read")
    }).pipe(Effect.scoped)
  )
  it.live("a server that refuses notifications can be used", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(({ result }) => result(text("good")), {
        refuse: ({ message, send }) => {
          const isNotification = message.id === undefined
          if (isNotification) send({ error: "Method not found" }, 400)
          return isNotification
        }
      })
      expect(yield* (yield* connect(url))("act")).toBe("good")
    }).pipe(Effect.scoped)
  )
  it.live("AU-06: a read-only call of a believed server whose connection breaks is sent once more", () =>
    Effect.gen(function* () {
      let calls = 0
      const { url } = yield* serve(({ response, result }) =>
        ++calls === 1 ? response.destroy() : result(text("good"))
      )
      const call = yield* connect(url, { trustAnnotations: true })
      expect(yield* call("read")).toBe("good")
      expect(calls).toBe(2)
    }).pipe(Effect.scoped)
  )
  it.live("AU-06: a call that only claims to be read-only is not sent again when its connection breaks", () =>
    Effect.gen(function* () {
      let calls = 0
      const { url } = yield* serve(({ response, result }) =>
        ++calls === 1 ? response.destroy() : result(text("good"))
      )
      const call = yield* connect(url)
      expect((yield* Effect.flip(call("read"))).message).toContain("outcome is unknown")
      expect(calls).toBe(1)
    }).pipe(Effect.scoped)
  )
  it.live("an answer that is too long is an error, and the next call works", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(({ message, result }) =>
        result(text(message.params?.name === "act" ? "x".repeat(17_000_000) : "good"))
      )
      const call = yield* connect(url)
      expect((yield* Effect.flip(call("act"))).message).toContain("longer than 16777216 bytes")
      expect(yield* call("read")).toBe("good")
    }).pipe(Effect.scoped)
  )
  it.live.each([
    ["401", 401, { error: "no key" }, /HTTP 401 Unauthorized\): no key\. The credentials are missing/],
    ["a page", 404, page, /HTTP 404 Not Found\): Bad gateway Try later/],
    ["a page that is no error", 200, page, /did not answer in its protocol/]
  ] as const)("a server that answers initialize with %s fails with why", ([_, status, body, says]) =>
    Effect.gen(function* () {
      const { url } = yield* serve(() => {}, {
        refuse: ({ send }) => {
          send(body, status, typeof body === "string" ? "text/html" : "application/json")
          return true
        }
      })
      const error = yield* Effect.flip(connect(url))
      expect(error._tag).toBe("McpError")
      expect(error.message).toMatch(says)
    }).pipe(Effect.scoped)
  )
})

describe("the stream for what a server says unasked", () => {
  const listen = (
    open: (response: ServerResponse) => void,
    onCall: (exchange: Exchange, stream: () => ServerResponse | undefined) => void
  ) =>
    Effect.gen(function* () {
      let streams = 0
      let stream: ServerResponse | undefined
      const { url } = yield* serve((exchange) => onCall(exchange, () => stream), {
        onGet: (response) => {
          streams++
          stream = response
          open(response)
        }
      })
      return { call: yield* connect(url), streams: () => streams }
    })
  const opened = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    return response.write(": hello\n\n")
  }
  it.live("may answer what was accepted", () =>
    Effect.gen(function* () {
      const { call } = yield* listen(opened, ({ message, response }, stream) => {
        response.writeHead(202).end()
        stream()?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: text("good") })}\n\n`)
      })
      expect(yield* call("act")).toBe("good")
    }).pipe(Effect.scoped)
  )
  it.live.each([
    [
      "breaks and is refused then",
      (response: ServerResponse, n: number) =>
        n === 1 ? opened(response) && response.end() : response.writeHead(500).end()
    ],
    ["is a page", (response: ServerResponse) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hi")]
  ] as const)("does not matter to a call when it %s", ([_, open]) =>
    Effect.gen(function* () {
      let n = 0
      const { call, streams } = yield* listen(
        (response) => open(response, ++n),
        ({ result }) => void setTimeout(() => result(text("good")), 2_500)
      )
      expect(yield* call("act")).toBe("good")
      expect(streams()).toBeLessThan(3)
    }).pipe(Effect.scoped)
  )
})

describe("the transport of 2024", () => {
  type Answer = (
    post: ServerResponse,
    stream: ServerResponse | undefined,
    id: number | undefined,
    answer: string
  ) => void
  const usually: Answer = (post, stream, id, answer) => {
    post.writeHead(202).end()
    if (id !== undefined) stream?.write(`event: message\ndata: ${answer}\n\n`)
  }
  const sse = (withStreamable: boolean, answers = usually) =>
    Effect.acquireRelease(
      Effect.async<{ readonly url: string; readonly close: () => void; readonly drop: () => void }>((resume) => {
        let stream: ServerResponse | undefined
        const server = createServer((request, response) => {
          if (request.method === "GET") {
            if (withStreamable) return response.writeHead(405).end()
            stream = response
            response.writeHead(200, { "content-type": "text/event-stream" })
            return response.write("event: endpoint\ndata: /messages?sessionId=1\n\n")
          }
          let body = ""
          request.on("data", (chunk) => {
            body += String(chunk)
          })
          return request.on("end", () => {
            if (!withStreamable && !request.url?.startsWith("/messages")) return response.writeHead(405).end()
            const { id, method, params } = JSON.parse(body)
            const serverInfo = { name: "s", version: "1" }
            const results = new Map<string, unknown>([
              ["initialize", { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo }],
              ["tools/list", { tools: [tool("act")], nextCursor: null, _meta: null }],
              ["tools/call", { ...text("good"), _meta: null }]
            ])
            const answer = JSON.stringify({ jsonrpc: "2.0", id, result: results.get(method) })
            if (withStreamable && id !== undefined) {
              return response.writeHead(200, { "content-type": "application/json" }).end(answer)
            }
            return answers(response, stream, id, answer)
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = () => {
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}/sse`, close, drop: () => stream?.end() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    )
  it.live.each([
    ["asked for", "sse", false],
    ["found where streamable HTTP is refused", "http", false],
    ["left for streamable HTTP where it is refused", "sse", true]
  ] as const)("is %s", ([_, transport, withStreamable]) =>
    Effect.gen(function* () {
      const { url } = yield* sse(withStreamable)
      expect(yield* (yield* connect(url, { transport }))("act")).toBe("good")
    }).pipe(Effect.scoped)
  )
  const posts: ReadonlyArray<readonly [string, Answer]> = [
    [
      "says ok",
      (post, stream, id, answer) => {
        post.writeHead(200).end("ok")
        if (id !== undefined) stream?.write(`data: ${answer}\n\n`)
      }
    ],
    [
      "says that it was accepted, in JSON",
      (post, stream, id, answer) => {
        post.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","result":"accepted"}')
        if (id !== undefined) setTimeout(() => stream?.write(`data: ${answer}\n\n`), 20)
      }
    ],
    ["is the answer", (post, _, id, answer) => post.writeHead(200).end(id === undefined ? "" : answer)],
    [
      "is the answer, which comes twice",
      (post, stream, id, answer) => {
        post.writeHead(200).end(id === undefined ? "" : answer)
        if (id !== undefined) stream?.write(`data: ${answer}\n\n`)
      }
    ]
  ]
  it.live.each(posts)("works where what is posted %s", ([_, answers]) =>
    Effect.gen(function* () {
      const { url } = yield* sse(false, answers)
      const call = yield* connect(url, { transport: "sse" })
      expect(yield* call("act")).toBe("good")
      expect(yield* call("act")).toBe("good")
    }).pipe(Effect.scoped)
  )
  it.live.each([
    ["cannot be read", (answer: string) => answer.replace("{", "{NaN"), /cannot be read.*NaN/],
    [
      "is an error without an id",
      () => '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"out of paper"}}',
      /out of paper/
    ]
  ] as const)("ends a call whose answer %s", ([_, written, says]) =>
    Effect.gen(function* () {
      const { url } = yield* sse(false, (post, stream, id, answer) =>
        usually(post, stream, id, answer.includes('"good"') ? written(answer) : answer)
      )
      const call = yield* connect(url, { transport: "sse" })
      expect((yield* Effect.flip(call("act"))).message).toMatch(says)
    }).pipe(Effect.scoped)
  )
  it.live("is opened again when its stream ends", () =>
    Effect.gen(function* () {
      const { drop, url } = yield* sse(false)
      const call = yield* connect(url, { transport: "sse" })
      expect(yield* call("act")).toBe("good")
      drop()
      yield* Effect.sleep("100 millis")
      expect(yield* call("act")).toBe("good")
    }).pipe(Effect.scoped)
  )
})
