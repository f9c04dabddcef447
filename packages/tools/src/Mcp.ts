/**
 * The tools of any MCP server, over stdio or streamable HTTP. Needs the package `@modelcontextprotocol/sdk`.
 */
import { basename } from "node:path"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { ToolFailed } from "@forethought/core/ToolError"
import * as ToolText from "@forethought/core/ToolText"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool as ServerTool
} from "@modelcontextprotocol/sdk/types.js"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { resultText } from "./internal/mcpContent.js"
import { hider, isSecret, type MaybeSecret, reveal } from "./internal/secrets.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** A server could not be started or reached, or offers tools that cannot be used. */
export class McpError extends Data.TaggedError("McpError")<{
  /** The server's name, see {@link Common}. */
  readonly server: string
  /** What went wrong, and what to do. */
  readonly problem: string
}> {
  override get message(): string {
    return `MCP server ${JSON.stringify(this.server)}: ${this.problem}`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** What holds for both kinds of server. */
export interface Common {
  /** How errors name the server. Default: the command's file name, or the host of the address. */
  readonly server?: string
  /** The name under which a tool is offered. Default: the server's, with `_` for what no provider accepts. */
  readonly name?: (original: string) => string
  /** How long connecting and listing the tools may take. Default: 30 seconds. */
  readonly connectTimeout?: Duration.DurationInput
  /** How long one call may take. Default: 60 seconds. */
  readonly timeout?: Duration.DurationInput
  /**
   * Whether to believe a server that calls a tool read-only or idempotent. With `false` no tool is either, so an
   * approval is asked for each call. Default: true.
   */
  readonly trustAnnotations?: boolean
}

/** A server that is started as a child process and spoken to over its standard input and output. */
export interface Stdio extends Common {
  readonly command: string
  /** No secrets here: whoever lists the processes of the machine sees them. */
  readonly args?: ReadonlyArray<string>
  /**
   * Its environment. Of ours it gets HOME, LOGNAME, PATH, SHELL, TERM and USER (on Windows their like) and nothing else.
   * A value wrapped by `Redacted.make` is taken out of every result.
   */
  readonly env?: Readonly<Record<string, MaybeSecret>>
  readonly cwd?: string
}

/** A server that is reached over streamable HTTP. */
export interface Http extends Common {
  readonly url: string | URL
  /** Sent with each request, such as `authorization`. Redirects to another origin are not followed. */
  readonly headers?: Readonly<Record<string, MaybeSecret>>
}

export type ServerOptions = Stdio | Http

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * Connects to a server and gives its tools, in its order; the connection, and a child process, end with the scope.
 *
 * Arguments are a JSON object, which the server checks. Text content is the result; images, audio and resources are
 * described in a line each. A result that the server marks as an error is `ToolFailed`, as is every call after the server
 * has gone. A timeout or an interruption cancels the request at the server. What a child process writes on its standard
 * error is shown only in the error of a connection that ended, without the values of `env`.
 *
 * Fails where the server does not start or answer in time, and where two tools would have one name.
 *
 * @example
 * ```ts
 * const files = Mcp.tools({ command: "mcp-server-filesystem", args: ["./docs"] })
 * const program = Effect.scoped(Effect.flatMap(files, (tools) => run.pipe(Effect.provide(Toolbox.layer(tools)))))
 * ```
 */
export const tools = (options: ServerOptions): Effect.Effect<ReadonlyArray<Tool.Tool>, McpError, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* Effect.acquireRelease(
      Effect.try({ try: () => open(options), catch: (error) => failure(options, ToolText.describeFailure(error)) }),
      (connection) => connection.close
    )
    const listed = yield* connection.list.pipe(
      Effect.timeoutFail({
        duration: options.connectTimeout ?? "30 seconds",
        onTimeout: () => failure(options, connection.problem("It did not answer in time."))
      })
    )
    const named = listed.map((tool) => ({ tool, name: (options.name ?? allowedName)(tool.name) }))
    const problem = nameProblem(named)
    if (problem !== undefined) return yield* failure(options, problem)
    return named.map(({ name, tool }) => toolOf(options, connection, name, tool))
  })

/**
 * A toolbox of the tools of several servers, which are connected to at the same time and end with the Layer. Fails as
 * {@link tools}, and where two servers have a tool of one name.
 */
export const layer = (...servers: ReadonlyArray<ServerOptions>): Layer.Layer<Toolbox.Toolbox, McpError> =>
  Layer.scoped(
    Toolbox.Toolbox,
    Effect.gen(function* () {
      const lists = yield* Effect.forEach(servers, tools, { concurrency: "unbounded" })
      const from = new Map<string, ServerOptions>()
      for (const [i, server] of servers.entries()) {
        for (const { name } of lists[i] ?? []) {
          const other = from.get(name)
          if (other !== undefined) {
            const problem = `It has a tool ${name}, and so has ${serverName(other)}. Tell them apart by the option "name".`
            return yield* failure(server, problem)
          }
          from.set(name, server)
        }
      }
      return yield* Toolbox.make(lists.flat())
    })
  )

// ---------------------------------------------------------------------------------------------------------------
// the connection
// ---------------------------------------------------------------------------------------------------------------

interface Connection {
  readonly list: Effect.Effect<ReadonlyArray<ServerTool>, McpError>
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    progress: (partial: string) => void
  ) => Effect.Effect<{ readonly text: string; readonly isError: boolean }, string>
  /** An error in words, with what is known of a connection that ended. */
  readonly problem: (text: string) => string
  readonly close: Effect.Effect<void>
}

/** The longest line of a server: what would need more is no result for a model. */
const maxMessageBytes = 16 * 1024 * 1024

/** How the SDK says so. */
const tooLong = "exceeded maximum size"

/** Calls are timed by the toolbox, so the SDK's own limit must not be in the way. */
const noLimit = 2_147_483_647

const maxPages = 100

const open = (options: ServerOptions): Connection => {
  const secrets = secretsOf(options)
  const hide = hider(secrets)
  const hideResult = hider(secrets.filter(isSecret))
  const client = new Client({ name: "forethought", version: "0.1.0" })
  let ended = false
  let lastError = ""
  let stderr = ""
  client.onclose = () => {
    ended = true
  }
  client.onerror = (error) => {
    // What follows a message that was too long is its rest, and no reason for anything.
    if (!lastError.includes(tooLong)) lastError = ToolText.describeFailure(error)
  }
  const problem = (text: string): string => {
    const shown = cut(hide(text))
    const lastWords = stderr.trim() === "" ? "" : ` It last wrote: ${stderr.trim()}`
    return ended ? `${shown} The connection has ended.${lastWords}` : shown
  }
  const words = (error: unknown): string => {
    const text = describe(error)
    return problem(ended && lastError !== "" && !text.includes(lastError) ? `${text}: ${lastError}.` : text)
  }

  const { connect, end } =
    "command" in options
      ? stdio(client, options, (text) => {
          // Hidden before it is cut: the rest of a secret is one too.
          stderr = hide(stderr + text).slice(-maxStderrChars)
        })
      : http(client, options)

  return {
    list: Effect.tryPromise({
      try: async (signal) => {
        await connect(signal)
        const found: Array<ServerTool> = []
        let cursor: string | undefined
        for (let page = 0; page < maxPages; page++) {
          const params = cursor === undefined ? {} : { cursor }
          // Not `listTools`, which compiles code from the server's output schemas.
          const listed = await client.request({ method: "tools/list", params }, ListToolsResultSchema, {
            signal,
            timeout: noLimit
          })
          found.push(...listed.tools)
          if (listed.nextCursor === undefined || listed.nextCursor === cursor) return found
          cursor = listed.nextCursor
        }
        return found
      },
      catch: (error) => failure(options, words(error))
    }),
    call: (name, input, progress) =>
      Effect.tryPromise({
        try: async (signal) => {
          const result = await client.request(
            { method: "tools/call", params: { name, arguments: { ...input } } },
            CallToolResultSchema,
            { signal, timeout: noLimit, onprogress: ({ message }) => message !== undefined && progress(`${message}\n`) }
          )
          return { text: hideResult(resultText(result)), isError: result.isError === true }
        },
        catch: words
      }),
    problem,
    close: end
  }
}

/** How a client connects and ends. */
interface Ends {
  readonly connect: (signal: AbortSignal) => Promise<void>
  readonly end: Effect.Effect<void>
}

const stdio = (client: Client, options: Stdio, onStderr: (text: string) => void): Ends => {
  const transport = new StdioClientTransport({
    command: options.command,
    args: [...(options.args ?? [])],
    env: revealed(options.env),
    stderr: "pipe",
    maxBufferSize: maxMessageBytes,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd })
  })
  transport.stderr?.on("data", (chunk) => onStderr(String(chunk)))
  // A client that could not connect closes by itself and does not wait; whoever closes after it must.
  const close = transport.close.bind(transport)
  let closing: Promise<void> | undefined
  transport.close = () => {
    closing ??= close()
    return closing
  }
  // An app that exits in a hurry must not leave a child behind that does not care about its input.
  let child: number | null = null
  const kill = () => {
    if (child === null) return
    try {
      process.kill(child, "SIGKILL")
    } catch {
      // It has ended.
    }
  }
  transport.onclose = () => {
    child = null
  }
  return {
    connect: (signal) => {
      process.once("exit", kill)
      const connecting = client.connect(transport, { signal, timeout: noLimit })
      // It is started within the call, before anything is waited for.
      child = transport.pid
      return connecting
    },
    // Ends the child's input, and two seconds later the child.
    end: Effect.ensuring(
      atMost("6 seconds", async () => {
        await client.close()
        await transport.close()
      }),
      Effect.sync(() => {
        process.removeListener("exit", kill)
      })
    )
  }
}

const http = (client: Client, options: Http): Ends => {
  const transport = new StreamableHTTPClientTransport(new URL(options.url), {
    requestInit: { headers: revealed(options.headers) }
  })
  return {
    connect: (signal) => client.connect(transport, { signal, timeout: noLimit }),
    end: Effect.zipRight(
      atMost("2 seconds", () => transport.terminateSession()),
      atMost("2 seconds", () => client.close())
    )
  }
}

/** Ending is polite and bounded: a server that does not play along must not hold up the app. */
const atMost = (limit: Duration.DurationInput, end: () => Promise<void>): Effect.Effect<void> =>
  Effect.tryPromise(end).pipe(Effect.interruptible, Effect.timeout(limit), Effect.ignore)

const revealed = (values: Readonly<Record<string, MaybeSecret>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, reveal(value)]))

const maxStderrChars = 2_000

// ---------------------------------------------------------------------------------------------------------------
// the tools
// ---------------------------------------------------------------------------------------------------------------

const toolOf = (options: ServerOptions, connection: Connection, name: string, tool: ServerTool): Tool.Tool => {
  const hints = options.trustAnnotations === false ? undefined : tool.annotations
  const readOnly = hints?.readOnlyHint ?? false
  const { $schema: _, ...parameters } = tool.inputSchema
  return Tool.fromJsonSchema({
    name,
    description: tool.description ?? tool.title ?? tool.annotations?.title ?? tool.name,
    parameters,
    readOnly,
    // What changes nothing can be done twice.
    idempotent: hints?.idempotentHint ?? readOnly,
    timeout: options.timeout ?? "60 seconds",
    execute: (input, { progress }) =>
      connection.call(tool.name, input, progress).pipe(
        Effect.mapError((detail) => new ToolFailed({ tool: name, detail })),
        Effect.flatMap(({ isError, text }) =>
          isError ? Effect.fail(new ToolFailed({ tool: name, detail: text })) : Effect.succeed(text)
        )
      )
  })
}

const allowedName = (original: string): string => original.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64)

const nameProblem = (
  named: ReadonlyArray<{ readonly name: string; readonly tool: ServerTool }>
): string | undefined => {
  const originals = new Map<string, string>()
  for (const { name, tool } of named) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      return `Its tool ${JSON.stringify(tool.name)} would be offered as ${JSON.stringify(name)}: a name must be 1 to 64 letters, digits, "_" or "-".`
    }
    const other = originals.get(name)
    if (other !== undefined) {
      return `Its tools ${JSON.stringify(other)} and ${JSON.stringify(tool.name)} would both be named ${name}. Tell them apart by the option "name".`
    }
    originals.set(name, tool.name)
  }
  return undefined
}

// ---------------------------------------------------------------------------------------------------------------
// errors in words
// ---------------------------------------------------------------------------------------------------------------

const serverName = (options: ServerOptions): string => {
  if (options.server !== undefined) return options.server
  if ("command" in options) return basename(options.command)
  return addressOf(options)?.host ?? "(an invalid address)"
}

const addressOf = ({ url }: Http): URL | undefined => {
  try {
    return new URL(url)
  } catch {
    return undefined
  }
}

/** What no error may show. Some services have their key in the address. */
const secretsOf = (options: ServerOptions): ReadonlyArray<MaybeSecret> => {
  if ("command" in options) return Object.values(options.env ?? {})
  const url = addressOf(options)
  const parts = url === undefined ? [] : [...url.searchParams.values(), ...url.pathname.split("/"), url.password]
  return [...Object.values(options.headers ?? {}), ...parts.filter((part) => part.length >= leastKeyChars)]
}

/** A shorter part of an address is a word. */
const leastKeyChars = 16

const failure = (options: ServerOptions, problem: string): McpError =>
  new McpError({ server: serverName(options), problem })

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return ToolText.describeFailure(error)
  if ("code" in error && error.code === "ENOENT") return "The command was not found."
  const cause = error.cause instanceof Error ? ` (${ToolText.describeFailure(error.cause)})` : ""
  return `${ToolText.describeFailure(error)}${cause}`
}

const cut = (text: string): string =>
  text.length > maxErrorChars ? `${text.slice(0, maxErrorChars).toWellFormed()}…` : text

const maxErrorChars = 1_000
