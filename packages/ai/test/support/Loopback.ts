/** A real HTTP server on loopback that plays a script: the n-th request gets the n-th answer, the last one repeats. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly [key: string]: unknown }
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export interface Loopback {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string
  readonly received: ReadonlyArray<Received>
  /** Resolves when the first request has arrived. */
  readonly arrived: Effect.Effect<void>
  /** Resolves when a client has closed the connection before its answer was whole. */
  readonly closed: Effect.Effect<void>
}

export const make = (...answers: ReadonlyArray<Answer>): Effect.Effect<Loopback, never, Scope.Scope> =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    const arrived = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const answer = answers[Math.min(received.length, answers.length - 1)]
        received.push({ path: request.url ?? "", headers: request.headers, body: text === "" ? {} : JSON.parse(text) })
        Deferred.unsafeDone(arrived, Effect.void)
        answer?.(response, request)
      })
      response.on("close", () => {
        if (!response.writableFinished) Deferred.unsafeDone(closed, Effect.void)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const address = server.address()
    if (address === null || typeof address === "string") return yield* Effect.dieMessage("the server has no port")
    return {
      url: `http://127.0.0.1:${address.port}`,
      received,
      arrived: Deferred.await(arrived),
      closed: Deferred.await(closed)
    }
  })

/** An address where nothing listens. */
export const refusing: Effect.Effect<string> = Effect.scoped(Effect.map(make(), (server) => server.url))

// ---------------------------------------------------------------------------------------------------------------
// answers
// ---------------------------------------------------------------------------------------------------------------

export const json =
  (body: unknown, status = 200, headers: { readonly [name: string]: string } = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify(body))
  }

export const text =
  (body: string, status = 200, type = "text/plain"): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": type })
    response.end(body)
  }

/** Takes the request and never answers. */
export const hang: Answer = () => {}

/** Closes the connection without a byte. */
export const reset: Answer = (response) => {
  response.destroy()
}

/** Announces more bytes than it sends, and closes the connection. */
export const cut =
  (body: unknown): Answer =>
  (response) => {
    const whole = JSON.stringify(body)
    response.writeHead(200, { "content-type": "application/json", "content-length": String(whole.length) })
    response.write(whole.slice(0, whole.length / 2), () => response.destroy())
  }
