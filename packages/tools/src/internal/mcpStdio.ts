/**
 * The transport to an MCP server that is a child process.
 *
 * The SDK's own transport checks each line strictly and drops what it refuses. This one reads leniently (see
 * `mcpMessage`), ends a call whose answer cannot be read, and ends a server at once whose message is too long.
 */

import type { ChildProcess } from "node:child_process"
import { isObject } from "@forethought/core/Json"
import { getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ErrorCode, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import spawn from "cross-spawn"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { type Answers, type Awaited, cancelledBy, failedAnswer, readMessages, unreadable } from "./mcpMessage.js"

export interface StdioOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly maxMessageBytes: number
  readonly onStderr: (text: string) => void
  /** Told a line on its standard output that is not a message. */
  readonly onPrinted: (line: string) => void
  /** Told how its process ended, in words. */
  readonly onExit: (how: string) => void
}

export const stdioTransport = (options: StdioOptions): Transport => {
  let child: ChildProcess | undefined
  let closing: Promise<void> | undefined
  let over = false
  // Whether answers have ids of the server's own.
  let countsItself = false
  const awaited = new Map<string, Awaited>()
  const cancelled = new Set<string>()

  const ended = (): void => {
    if (over) return
    over = true
    transport.onclose?.()
  }
  // An app that exits in a hurry must not leave a child behind that does not care about its input.
  const kill = (): void => void child?.kill("SIGKILL")

  const deliver = (message: JSONRPCMessage): void => {
    if (over) return
    if (!("method" in message) && message.id !== undefined) awaited.delete(String(message.id))
    transport.onmessage?.(message)
  }
  const only = (): Awaited | undefined => (awaited.size === 1 ? [...awaited.values()][0] : undefined)
  const answers: Answers = (answer) => {
    const { id } = answer
    const given = typeof id === "string" || typeof id === "number" ? String(id).trim() : undefined
    const known = given === undefined ? undefined : awaited.get(given)
    if (known !== undefined) return known
    if (given !== undefined && cancelled.delete(given)) return undefined
    const request = only()
    if (request === undefined || !mayAnswer(request.method, answer)) return undefined
    if (given === undefined) return request
    // A second answer to an earlier call looks the same, so what came before the calls must have shown it.
    if (request.method !== "tools/call") countsItself = true
    return countsItself ? request : undefined
  }
  const readText = (text: string): void => {
    // Takes a byte order mark off too.
    const trimmed = text.trim()
    if (!/^[{[]/.test(trimmed)) {
      readPrinted(trimmed)
      return
    }
    const value = parsed(trimmed)
    if (value !== undefined) {
      for (const message of readMessages(value, answers)) deliver(message)
      return
    }
    const id = idIn(trimmed)
    const request = !/["']jsonrpc["']/.test(trimmed) ? undefined : id === undefined ? only() : awaited.get(id)
    if (request !== undefined) deliver(failedAnswer(request.id, unreadable(trimmed)))
  }
  /** A line that was printed for a person; an answer may stand at its end, where the server left out a line end. */
  const readPrinted = (text: string): void => {
    const at = text.indexOf('{"')
    const value = at === -1 ? undefined : parsed(text.slice(at))
    const messages = readMessages(value, ({ id }) => awaited.get(String(id)))
    for (const message of messages) if (!("method" in message)) deliver(message)
    if (text !== "" && messages.length === 0) options.onPrinted(text)
  }
  const lines = lineReader(options.maxMessageBytes, readText, () => {
    transport.onerror?.(new Error(`A message ${tooLong} of ${options.maxMessageBytes} bytes`))
    child?.stdout?.destroy()
    ended()
    void transport.close()
  })

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        process.once("exit", kill)
        const started = spawn(options.command, [...options.args], {
          env: { ...getDefaultEnvironment(), ...options.env },
          stdio: "pipe",
          windowsHide: true,
          ...(options.cwd === undefined ? {} : { cwd: options.cwd })
        })
        child = started
        started.on("spawn", resolve)
        started.on("error", (error) => {
          process.removeListener("exit", kill)
          child = undefined
          reject(error)
          transport.onerror?.(error)
        })
        started.on("close", (code, signal) => {
          options.onExit(code === null ? `was ended by ${signal ?? "a signal"}` : `exited with code ${code}`)
          process.removeListener("exit", kill)
          child = undefined
          lines.end()
          ended()
        })
        // A server that reads no more will not answer either, and one that writes no more cannot.
        started.stdin?.on("error", () => void transport.close())
        started.stdout?.on("error", () => {})
        started.stdout?.on("end", () => void transport.close())
        started.stdout?.on("data", lines.read)
        started.stderr?.setEncoding("utf8").on("data", options.onStderr)
      }),
    send: (message) => {
      if ("method" in message && "id" in message) {
        awaited.set(String(message.id), { id: message.id, method: message.method })
      }
      const id = cancelledBy({ ...message })
      if (id !== undefined && awaited.delete(String(id))) cancelled.add(String(id))
      const input = child?.stdin
      if (input === undefined || input === null || !input.writable || over) {
        return Promise.reject(new Error("The server can be reached no more, and is being stopped."))
      }
      // A write that fails closes the connection, which ends the request.
      return new Promise((resolve) => input.write(`${JSON.stringify(message)}\n`, () => resolve()))
    },
    close: () => {
      closing ??= child === undefined ? Promise.resolve(ended()) : Effect.runPromise(ending(child))
      return closing
    }
  }
  return transport
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What the error of a message says that was too long. */
export const tooLong = "exceeded maximum size"

/**
 * Returns whether a message without an id answers a request, rather than a notification, as some servers do that should
 * not: its result has what was asked for, or it is an error and says more than that there is no such method.
 */
const mayAnswer = (method: string, { error, result }: Readonly<Record<string, unknown>>): boolean => {
  if (isObject(result)) return (resultKeys.get(method) ?? []).some((key) => Object.hasOwn(result, key))
  return (
    method === "tools/call" &&
    Predicate.isNotNullable(error) &&
    !(isObject(error) && error["code"] === ErrorCode.MethodNotFound)
  )
}

const resultKeys: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["initialize", ["protocolVersion"]],
  ["tools/list", ["tools"]],
  ["tools/call", ["content", "structuredContent", "toolResult", "isError"]]
])

/** Where servers write the id: at the head of a message or at its end. */
const idIn = (text: string): string | undefined =>
  /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d+)/.exec(text)?.[1] ??
  /"id"\s*:\s*"?(\d+)"?\s*\}$/.exec(text.slice(-100))?.[1]

/** Asks politely twice, and waits no longer than a server may take that has something to save. */
const ending = (child: ChildProcess): Effect.Effect<void> => {
  const gone = Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) resume(Effect.void)
    else child.once("close", () => resume(Effect.void))
  })
  const within = Effect.timeoutOption(gone, "2 seconds")
  return Effect.gen(function* () {
    child.stdin?.end()
    if ((yield* within)._tag === "Some") return
    child.kill("SIGTERM")
    if ((yield* within)._tag === "Some") return
    child.kill("SIGKILL")
  })
}

/**
 * Splits bytes at line ends of any kind. A message never holds one, but some servers indent theirs over several lines.
 */
const lineReader = (maxBytes: number, onText: (text: string) => void, onTooLong: () => void) => {
  let pieces: Array<Buffer> = []
  let indented: Array<string> | undefined
  // Of the pieces and the indented lines.
  let size = 0
  let dead = false
  const tell = (text: string): void => {
    indented = undefined
    size = 0
    onText(text)
  }
  const line = (): void => {
    const text = Buffer.concat(pieces).toString("utf8")
    pieces = []
    if (indented === undefined) {
      if (text.trim() === "{") indented = [text]
      else tell(text)
      return
    }
    indented.push(text)
    // Its last line begins with its bracket; one that looks like a whole message is not part of it.
    if (text.startsWith("}")) tell(indented.join("\n"))
    else if (text.startsWith('{"')) tell(text)
  }
  return {
    read: (chunk: Buffer): void => {
      let from = 0
      for (let at = 0; at <= chunk.length && !dead; at++) {
        const isEnd = chunk[at] === 0x0a || chunk[at] === 0x0d
        if (!isEnd && at < chunk.length) continue
        pieces.push(chunk.subarray(from, at))
        size += at - from
        from = at + 1
        if (size > maxBytes) {
          dead = true
          pieces = []
          indented = undefined
          onTooLong()
        } else if (isEnd) line()
      }
    },
    /** What was written without a line end before the server went. */
    end: (): void => {
      if (!dead && pieces.length > 0) line()
    }
  }
}
