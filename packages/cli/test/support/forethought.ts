/** Runs the bundled program as people do: as a process, with its streams apart. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../../bin/forethought.mjs", import.meta.url))

/** How `--mcp` names the reference server, which has a tool of every kind. */
export const everything = `"${process.execPath}" "${createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")}" stdio`

/** The program, as a client starts it. */
export const command = { command: process.execPath, args: [bin] }

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
  readonly stdin?: string
  readonly onStart?: (child: ChildProcess) => void
  /** Called with all of standard error so far, each time there is more. */
  readonly onErr?: (err: string, child: ChildProcess) => void
}

/** Nothing of the developer's own settings reaches the program. */
export const forethought = (args: ReadonlyArray<string>, around: Surroundings = {}): Promise<Ran> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: around.cwd ?? tmpdir(),
      env: { PATH: process.env["PATH"] ?? "", ...around.env },
      stdio: ["pipe", "pipe", "pipe"]
    })
    around.onStart?.(child)
    let out = ""
    let err = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text
      around.onErr?.(err, child)
    })
    child.on("error", fail)
    child.on("close", (code) => done({ code, out, err }))
    child.stdin.end(around.stdin ?? "")
  })

/** A folder with files that lasts for a test. */
export const folder = (files: { readonly [name: string]: unknown }) => {
  const path = mkdtempSync(join(tmpdir(), "forethought-"))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(path, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  return { path, file: (name: string) => join(path, name), [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

export interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that speaks `/chat/completions`, and says the given texts in turn; a number is a status to fail with. */
export const modelServer = async (says: ReadonlyArray<string | number>) => {
  const asked: Array<Asked> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += String(chunk)
    })
    request.on("end", () => {
      const said = says[Math.min(asked.length, says.length - 1)] ?? 500
      asked.push({ headers: request.headers, body })
      response.setHeader("content-type", "application/json")
      if (typeof said === "number") {
        response.statusCode = said
        response.end(JSON.stringify({ error: { message: `no: ${request.headers.authorization}` } }))
      } else {
        response.end(
          JSON.stringify({
            model: "stub",
            choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
            usage: { prompt_tokens: 7, completion_tokens: 3 }
          })
        )
      }
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    spec: `openai-compatible:stub@http://127.0.0.1:${port}/v1`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      })
  }
}

/** A script that plans one look-up and answers from it. */
export const script = [
  "Plan: find it\n#E1 = Lookup[population of France]",
  { role: "solver", text: "{{#E1 grouped}} people, says the evidence." }
]
