/**
 * A connection to an MCP server that is opened again when its session is lost or its process has ended.
 */
import { existsSync } from "node:fs"
import { tryPromise } from "@forethought/core/Concurrency"
import { jsonOf } from "@forethought/core/Json"
import * as ToolText from "@forethought/core/ToolText"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ErrorCode, LATEST_PROTOCOL_VERSION, McpError, ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { credentialsAdvice, HttpRefusal, mendingFetch, saysLost } from "./mcpFetch.js"
import { brokenOff, notReadable } from "./mcpMessage.js"
import { stdioTransport, tooLong } from "./mcpStdio.js"

/** Where a server is; its secrets are revealed. */
export type Target =
  | {
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string | undefined
    }
  | { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly transport: "http" | "sse" }

export interface ConnectionOptions {
  readonly target: Target
  readonly connectTimeout: Duration.DurationInput
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string
  readonly warn: (warning: string) => Effect.Effect<void>
}

export interface Request {
  readonly method: string
  readonly params: Record<string, unknown>
  /** True if it can be sent a second time although the first may have been carried out. */
  readonly repeatable: boolean
  readonly progress?: (partial: string) => void
}

export interface Connection {
  /** Sends a request and gives its result; fails with a problem in words. */
  readonly request: (request: Request) => Effect.Effect<Record<string, unknown>, Problem>
  /** A problem in words, with what is known of a process that has ended. */
  readonly problem: (text: string) => string
}

/** Why a request failed. */
export interface Problem {
  readonly words: string
  /** The code of the JSON-RPC error, where the server answered with one. */
  readonly code?: number
}

/** One opened connection. */
interface Live {
  readonly client: Client
  readonly close: Effect.Effect<void>
  /** True if it can be used no more: its process has ended, or its stream. */
  ended: boolean
  /** True if the server no longer knows its session. Calls that still wait on it may be answered. */
  lost: boolean
  inFlight: number
  /** True if one call alone waited when it ended. */
  endedOnOne: boolean
  lastError: string
  stderr: string
  /** What its process wrote last on its standard output that is not a message. */
  printed: string
  /** How its process ended. */
  exit: string
}

/** The longest message of a server: what would need more is not a result for a model. */
const maxMessageBytes = 16 * 1024 * 1024

/** Calls are timed by the toolbox, so the SDK's own limit must not be in the way. */
const noLimit = 2_147_483_647

/** How often a process that ended is started again within {@link restartWindow}. */
const maxRestarts = 3

/** In milliseconds. */
const restartWindow = 10 * 60_000

/** What is opened is closed with the scope. Nothing is opened before the first request. */
export const make = (options: ConnectionOptions): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => connectionIn(scope, options))

const connectionIn = (scope: Scope.Scope, options: ConnectionOptions) => {
  const { connectTimeout, hide, target, warn } = options
  const open = new Set<Live>()
  const restarts: Array<number> = []
  let current: Live | undefined
  let opening: Deferred.Deferred<Live, Problem> | undefined

  const close = (live: Live): Effect.Effect<void> =>
    Effect.suspend(() => {
      open.delete(live)
      return live.close
    })

  const problemOn = (live: Live | undefined, text: string): string => {
    const shown = cut(hide(text))
    if (live?.ended !== true) return shown
    const lastWords = live.stderr.trim() || live.printed.trim()
    const how = lastWords !== "" ? `It last wrote: ${lastWords}` : live.exit === "" ? "" : `Its process ${live.exit}.`
    return sentences(shown, "The connection has ended.", how)
  }
  const wordsOn = (live: Live, error: unknown): string => {
    const text = describe(error, target)
    // What the server said, or why it did not start, is reason enough.
    if (error instanceof HttpRefusal || (error instanceof Error && "syscall" in error))
      return problemOn(undefined, text)
    return problemOn(live, live.ended && !text.includes(live.lastError) ? sentences(text, live.lastError) : text)
  }

  const attempt = (launch: (live: Live) => Launched): Effect.Effect<Live, { readonly error: unknown; live: Live }> =>
    Effect.suspend(() => {
      const client = new Client({ name: "forethought", version: "0.1.0" })
      let ending: Effect.Effect<void> = Effect.void
      const live: Live = {
        client,
        close: Effect.suspend(() => ending),
        ended: false,
        lost: false,
        inFlight: 0,
        endedOnOne: false,
        lastError: "",
        stderr: "",
        printed: "",
        exit: ""
      }
      client.onclose = () => {
        live.ended = true
        live.endedOnOne = live.inFlight === 1
      }
      client.onerror = (error) => {
        // What follows a message that was too long is its rest, and no reason for anything.
        if (!live.lastError.includes(tooLong)) live.lastError = ToolText.describeFailure(error)
        // The SDK leaves calls waiting whose stream it could not take up again.
        if (live.lastError.includes("Maximum reconnection attempts")) void client.close()
      }
      open.add(live)
      return tryPromise({
        try: (signal) => {
          const { end, transport } = launch(live)
          ending = end
          return client.connect(transport, { signal, timeout: noLimit })
        },
        catch: (error) => ({ error, live })
      }).pipe(
        Effect.as(live),
        Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : close(live)))
      )
    })

  const opened: Effect.Effect<Live, Problem> = Effect.gen(function* () {
    if ("command" in target) {
      yield* allowRestart
      return yield* attempt((live) => stdio(target, live, hide))
    }
    const first = attempt((live) => http(target, target.transport, live))
    const other = attempt((live) => http(target, target.transport === "sse" ? "http" : "sse", live))
    // A server of the other transport refuses the first request. Where neither works, the first says why.
    return yield* Effect.catchAll(first, (problem) =>
      mayBeOther(problem.error)
        ? other.pipe(
            Effect.timeoutFail({ duration: otherTimeout, onTimeout: () => problem }),
            Effect.mapError(() => problem)
          )
        : Effect.fail(problem)
    )
  }).pipe(
    Effect.mapError((problem) =>
      "words" in problem
        ? problem
        : { words: sentences(wordsOn(problem.live, problem.error), otherVersion(problem.error)) }
    ),
    Effect.timeoutFail({
      duration: connectTimeout,
      onTimeout: () => ({ words: problemOn(undefined, "It did not answer in time.") })
    })
  )

  const allowRestart = Effect.gen(function* () {
    if (current === undefined) return
    const now = yield* Clock.currentTimeMillis
    while (restarts[0] !== undefined && now - restarts[0] > restartWindow) restarts.shift()
    if (restarts.length >= maxRestarts) {
      const often = `Its process has ended ${maxRestarts + 1} times within ${restartWindow / 60_000} minutes, and is not started again yet.`
      return yield* Effect.fail({ words: problemOn(current, often) })
    }
    restarts.push(now)
    yield* warn("Its process has ended, and is started again.")
  })

  /**
   * The open connection, or one that is opened for all who wait. Nobody who stops waiting ends it for the others: a
   * server that is slow to start would never be up if each call that timed out stopped it.
   */
  const ensure: Effect.Effect<Live, Problem> = Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      if (current !== undefined && !current.ended && !current.lost) return Effect.succeed(current)
      if (opening !== undefined) return restore(Deferred.await(opening))
      const asked = Deferred.unsafeMake<Live, Problem>(FiberId.none)
      opening = asked
      const opens = opened.pipe(
        Effect.map((live) => {
          current = live
          return live
        }),
        Effect.ensuring(
          Effect.sync(() => {
            opening = undefined
          })
        )
      )
      return Effect.zipRight(
        Effect.forkIn(Effect.intoDeferred(Effect.interruptible(opens), asked), scope),
        restore(Deferred.await(asked))
      )
    })
  )

  const send = (live: Live, { method, params, progress }: Request): Effect.Effect<Record<string, unknown>, unknown> =>
    Effect.suspend(() => {
      live.inFlight++
      return tryPromise({
        try: (signal) =>
          live.client.request({ method, params }, ResultSchema, {
            signal,
            timeout: noLimit,
            ...(progress === undefined
              ? {}
              : { onprogress: ({ message }) => message !== undefined && progress(`${message}\n`) })
          }),
        catch: (error) => error
      })
    }).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          live.inFlight--
          return live.lost && live.inFlight === 0 ? Effect.forkDaemon(close(live)) : Effect.void
        })
      )
    )

  const request = (request: Request): Effect.Effect<Record<string, unknown>, Problem> =>
    Effect.gen(function* () {
      const live = yield* ensure
      const first = yield* Effect.either(send(live, request))
      if (first._tag === "Right") return first.right
      const error = first.left
      const fail = Effect.fail({
        words: wordsOn(live, error),
        ...(error instanceof McpError ? { code: error.code } : {})
      })
      const lost = isSessionLost(live, error)
      live.lost ||= lost
      if (!lost && !isBrokenOff(live, error)) return yield* fail
      // A request that was refused because of its session was not read, unless it is a server behind it that says so.
      const mayHaveRun = !lost || (error instanceof HttpRefusal && error.status >= 500)
      if (mayHaveRun && !request.repeatable) {
        return yield* Effect.fail({
          words: sentences(wordsOn(live, error), "The call was under way, so the outcome is unknown.")
        })
      }
      if (live.endedOnOne && live.lastError.includes(tooLong)) return yield* fail
      const next = yield* ensure
      return yield* Effect.mapError(send(next, request), (error) => ({ words: wordsOn(next, error) }))
    })

  return Effect.acquireRelease(
    Effect.succeed<Connection>({ request, problem: (text) => problemOn(current, text) }),
    () => Effect.forEach([...open], close, { concurrency: "unbounded", discard: true })
  )
}

const isSessionLost = ({ client }: Live, error: unknown): boolean =>
  error instanceof HttpRefusal
    ? error.sessionLost
    : error instanceof McpError && client.transport?.sessionId !== undefined && saysLost(error.message)

/** Returns whether the connection broke while the request was under way. */
const isBrokenOff = (live: Live, error: unknown): boolean => {
  if (live.ended) return true
  if (error instanceof HttpRefusal) return brokenStatuses.has(error.status)
  if (error instanceof McpError) return error.code === brokenOff
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  return cause !== undefined && "code" in cause && brokenCodes.has(String(cause.code))
}

/** A request that was taken and not answered, and the timeouts of servers and gateways. */
const brokenStatuses = new Set([202, 408, 504, 524])

/** A socket that broke after the request may have been read; one that was refused is not among them. */
const brokenCodes = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT"
])

/** How long the transport that the server was not said to have may take to open. */
const otherTimeout = "5 seconds"

const mayBeOther = (error: unknown): boolean => {
  const status = error instanceof HttpRefusal ? error.status : error instanceof SseError ? error.code : undefined
  return status !== undefined && status < 500 && status !== 401 && status !== 403
}

// ---------------------------------------------------------------------------------------------------------------
// transports
// ---------------------------------------------------------------------------------------------------------------

interface Launched {
  readonly transport: Transport
  readonly end: Effect.Effect<void>
}

const stdio = (
  { args, command, cwd, env }: Extract<Target, { readonly command: string }>,
  live: Live,
  hide: (text: string) => string
): Launched => {
  const transport = stdioTransport({
    command,
    args,
    env,
    cwd,
    maxMessageBytes,
    // Hidden before they are cut: the rest of a secret is one too.
    onStderr: (text) => {
      live.stderr = hide(live.stderr + text).slice(-maxLastChars)
    },
    onPrinted: (line) => {
      live.printed = hide(`${live.printed}\n${line}`).slice(-maxLastChars)
    },
    onExit: (how) => {
      live.exit = how
    }
  })
  // Ends the child's input, and two seconds later the child.
  return { transport, end: atMost("6 seconds", () => transport.close()) }
}

const maxLastChars = 2_000

const http = ({ headers, url }: Extract<Target, { readonly url: URL }>, kind: "http" | "sse", live: Live): Launched => {
  const requestInit = { headers: { ...headers } }
  const closed = atMost("2 seconds", () => live.client.close())
  if (kind === "sse") {
    // Without its stream nothing can be answered; the next call opens another.
    const fetch = mendingFetch(maxMessageBytes, {
      onEnd: () => void live.client.close(),
      onAnswer: (answer) => transport.onmessage?.(answer)
    })
    const transport: Transport = new SSEClientTransport(url, { requestInit, fetch })
    return { transport, end: closed }
  }
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch: mendingFetch(maxMessageBytes) })
  const terminated = Effect.suspend(() =>
    live.lost ? Effect.void : atMost("2 seconds", () => transport.terminateSession())
  )
  return { transport, end: Effect.zipRight(terminated, closed) }
}

/** Ending is polite and bounded: a server that does not play along must not hold up the app. */
const atMost = (limit: Duration.DurationInput, end: () => Promise<void>): Effect.Effect<void> =>
  Effect.tryPromise(end).pipe(Effect.interruptible, Effect.timeout(limit), Effect.ignore)

// ---------------------------------------------------------------------------------------------------------------
// errors in words
// ---------------------------------------------------------------------------------------------------------------

const describe = (error: unknown, target: Target): string => {
  if (!(error instanceof Error)) return ToolText.describeFailure(error)
  if ("syscall" in error && "command" in target) return notStarted(error, target)
  if (error instanceof SseError) return `${error.message}.${credentialsAdvice(error.code)}`
  if (error instanceof McpError) return answeredError(error)
  const cause = error.cause instanceof Error ? ` (${ToolText.describeFailure(error.cause)})` : ""
  const advice = error.message === "fetch failed" ? "Check that the server runs, and its address." : ""
  return sentences(`${ToolText.describeFailure(error)}${cause}`, advice)
}

const notStarted = (error: Error, { command, cwd }: Extract<Target, { readonly command: string }>): string => {
  const code = "code" in error ? error.code : undefined
  if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd)) return `Its folder ${cwd} does not exist.`
  if (code === "ENOENT" && /\s/.test(command)) {
    return `The command was not found. Its arguments belong in "args", one by one.`
  }
  if (code === "ENOENT") return "The command was not found. Install it, or give its whole path."
  if (code === "EACCES") return "The command cannot be executed: it is not a program, or its permissions are missing."
  return ToolText.describeFailure(error)
}

/** What a server says beside an error is often what helps. */
const answeredError = ({ code, data, message }: McpError): string => {
  const bare = message.replace(/^MCP error -?\d+: /, "")
  // Where the connection ended, that is said anyway, and the answers that we write say themselves.
  if (code === ErrorCode.ConnectionClosed && bare === "Connection closed") return ""
  if (code === brokenOff || code === notReadable) return bare
  const more = data === undefined || data === null ? "" : typeof data === "string" ? data : (jsonOf(data) ?? "")
  return more === "" || message.includes(more) ? message : sentences(message, more)
}

/** Why a handshake may have failed. */
const otherVersion = (error: unknown): string => {
  const isOther =
    error instanceof McpError
      ? otherVersionCodes.has(error.code)
      : error instanceof HttpRefusal && /protocol version/i.test(error.message)
  return isOther
    ? `It may speak another version of the protocol; known here is ${LATEST_PROTOCOL_VERSION} and older.`
    : ""
}

/** Of servers that do not know `initialize`, and of those that know no version of ours. */
const otherVersionCodes = new Set<number>([ErrorCode.MethodNotFound, -32_022])

const sentences = (...parts: ReadonlyArray<string>): string =>
  parts
    .filter((part) => part !== "")
    .map((part, n, all) => (n === all.length - 1 || /[.!?…]$/.test(part) ? part : `${part}.`))
    .join(" ")

const cut = (text: string): string =>
  text.length > maxErrorChars ? `${text.slice(0, maxErrorChars).toWellFormed()}…` : text

const maxErrorChars = 1_000
