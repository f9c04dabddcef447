/** Servers on this machine that stand in for those on the web. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** A server that answers with what `answer` does; keeps what it received. */
export const loopback = async (answer: (received: Received, response: ServerResponse) => void) => {
  const received: Array<Received> = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += String(chunk)
    })
    request.on("end", () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const one = { method: request.method ?? "", path: request.url ?? "", headers, body }
      received.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      })
  }
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.statusCode = status
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(value))
}

/** The reply of a `/chat/completions` server. */
export const chat = (content: string) => ({
  id: "chat-1",
  object: "chat.completion",
  created: 1,
  model: "stub",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
})
