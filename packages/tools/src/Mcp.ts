/**
 * The tools of any MCP server, over stdio or streamable HTTP. Needs the package `@modelcontextprotocol/sdk`.
 */
import { basename } from "node:path"
import * as Options from "@forethought/core/Options"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { ToolFailed } from "@forethought/core/ToolError"
import * as ToolText from "@forethought/core/ToolText"
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Connection, make, type Target } from "./internal/mcpConnection.js"
import { readResult } from "./internal/mcpContent.js"
import { allowedName, type Hints, type Listed, type Listing, named, readPages } from "./internal/mcpListing.js"
import { hider, isSecret, type MaybeSecret, reveal } from "./internal/secrets.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** A server could not be started or reached, or offers tools that cannot be used. */
export class McpError extends Data.TaggedError("McpError")<{
  /** The server's name, see {@link Common}. */
  readonly server: string
  /** Says what went wrong and what to do. */
  readonly problem: string
}> {
  override get message(): string {
    return `MCP server ${JSON.stringify(this.server)}: ${this.problem}`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Options of both kinds of server. */
export interface Common {
  /** Name of the server in errors. Default: the command's file name, or the host of the address. */
  readonly server?: string
  /** The name under which a tool is offered. Default: the server's, with `_` for what no provider accepts. */
  readonly name?: (original: string) => string
  /** Longest time for connecting and listing the tools, longer than 0. Default: 30 seconds. */
  readonly connectTimeout?: Duration.DurationInput
  /** Longest time one call may take, longer than 0; `Duration.infinity` for no limit. Default: 60 seconds. */
  readonly timeout?: Duration.DurationInput
  /**
   * Set to true to believe a server that calls a tool read-only or idempotent. Default: false. Such a hint is a claim
   * of the server's: until it is believed, an approval is asked for each call and no call is sent twice. A hint that a
   * tool changes something (`readOnlyHint: false` or `destructiveHint: true`) is always believed, also beside one that
   * the tool is read-only.
   */
  readonly trustAnnotations?: boolean
  /**
   * Called with each thing that a person should know although the server can be used: a tool that is left out or
   * renamed, a process that is started again. Default: a log message of level Warning.
   */
  readonly onWarning?: (warning: string) => Effect.Effect<void>
}

/** A server that is started as a child process and spoken to over its standard input and output. */
export interface Stdio extends Common {
  readonly command: string
  /** Better no secrets here: whoever lists the processes of the machine sees them. */
  readonly args?: ReadonlyArray<MaybeSecret>
  /**
   * Its environment. Of ours it gets HOME, LOGNAME, PATH, SHELL, TERM and USER (on Windows their like) and nothing
   * else. A value wrapped by `Redacted.make` is taken out of every result.
   */
  readonly env?: Readonly<Record<string, MaybeSecret>>
  readonly cwd?: string
}

/** A server that is reached over HTTP. */
export interface Http extends Common {
  /**
   * Address of the server. Values of its query and long parts of its path are kept out of errors, because they may be
   * keys.
   */
  readonly url: string | URL
  /**
   * Which transport is tried first: `http` is streamable HTTP, `sse` is the older one of 2024. The other one is tried
   * where the server refuses the first. Default: `http`.
   */
  readonly transport?: "http" | "sse"
  /** Sent with each request, such as `authorization`. Redirects to another origin are not followed. */
  readonly headers?: Readonly<Record<string, MaybeSecret>>
}

export type ServerOptions = Stdio | Http

/** A tool of a server, with what the server says of it, believed or not. */
export interface ServerTool extends Tool.Tool {
  readonly hints: Hints
}

export type { Hints }

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * Connects to a server and gives its tools, in its order; the connection, and a child process, end with the scope.
 *
 * The list is read leniently. A schema is mended where its meaning is clear; a tool that cannot be used (no name, no
 * object of arguments, a task) is left out, and one whose name another has already gets a number behind it, both with a
 * warning.
 *
 * Arguments are a JSON object, which the server checks. The result is the text of its blocks: text and the text of
 * resources as they are, anything else described in a line, and `structuredContent` as JSON where the text does not
 * say the same. A result that the server marks as an error is `ToolFailed`. A timeout or an interruption cancels the
 * request at the server.
 *
 * An HTTP session that the server has lost is opened anew, and the call is sent again: it was not run. A process that
 * ended, or sent a message of more than 16 MiB, is started again by the next call, at most 3 times within 10 minutes. A
 * call that was under way then fails, its outcome unknown, unless the server is believed (`trustAnnotations`) and says
 * that the tool is idempotent or read-only: then it is sent once more. What a child process writes on its standard
 * error is shown only in the error of a connection that ended, without the values of `env`.
 *
 * Fails if the server does not start or answer in time, and if it lists tools none of which can be used. Throws a
 * `InvalidOption` on a time that is not longer than 0.
 *
 * @example
 * ```ts
 * const files = Mcp.tools({ command: "mcp-server-filesystem", args: ["./docs"] })
 * const program = Effect.scoped(Effect.flatMap(files, (tools) => run.pipe(Effect.provide(Toolbox.layer(tools)))))
 * ```
 */
export const tools = (options: ServerOptions): Effect.Effect<ReadonlyArray<ServerTool>, McpError, Scope.Scope> => {
  const times: Times = {
    connect: Options.positiveMillis("Mcp.tools", "connectTimeout", options.connectTimeout ?? "30 seconds"),
    call: Options.positiveMillis("Mcp.tools", "timeout", options.timeout ?? "60 seconds")
  }
  return Effect.gen(function* () {
    const secrets = secretsOf(options)
    const warn = (warning: string): Effect.Effect<void> => {
      const text = `MCP server ${JSON.stringify(serverName(options))}: ${hider(secrets)(warning)}`
      return options.onWarning === undefined ? Effect.logWarning(text) : options.onWarning(text)
    }
    const target = yield* Effect.try({
      try: () => targetOf(options),
      catch: (error) => failure(options, ToolText.describeFailure(error))
    })
    const connection = yield* make({ target, connectTimeout: times.connect, hide: hider(secrets), warn })
    const listing: Listing = { tools: [], warnings: [] }
    yield* list(options, times, connection, listing, warn)
    const found = named(listing, options.name ?? allowedName)
    if (found.length === 0 && listing.warnings.length > 0) {
      return yield* failure(options, listing.warnings.slice(0, 3).join(" "))
    }
    yield* Effect.forEach(listing.warnings, warn, { discard: true })
    const hideResult = hider(secrets.filter(isSecret))
    return found.map((tool) => toolOf(options, times, connection, hideResult, tool))
  })
}

/**
 * A toolbox of the tools of several servers, which are connected to at the same time and end with the Layer. Fails as
 * {@link tools}, and where two servers have a tool of one name.
 */
export const layer = (...servers: ReadonlyArray<ServerOptions>): Layer.Layer<Toolbox.Toolbox, McpError> => {
  const listings = servers.map(tools)
  return Layer.scoped(
    Toolbox.Toolbox,
    Effect.gen(function* () {
      const lists = yield* Effect.all(listings, { concurrency: "unbounded" })
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
}

// ---------------------------------------------------------------------------------------------------------------
// the tools
// ---------------------------------------------------------------------------------------------------------------

/** Every page of the list; where time runs out, or a page does not come, what was found until then. */
const list = (
  options: ServerOptions,
  times: Times,
  connection: Connection,
  listing: Listing,
  warn: (warning: string) => Effect.Effect<void>
): Effect.Effect<void, McpError> =>
  readPages((params) => connection.request({ method: "tools/list", params, repeatable: true }), listing).pipe(
    Effect.catchAll((problem) =>
      problem.code === ErrorCode.MethodNotFound ? warn("It offers no tools.") : failure(options, problem.words)
    ),
    Effect.timeoutOption(times.connect),
    Effect.flatMap((read) => {
      if (Option.isSome(read)) return Effect.void
      if (listing.tools.length === 0) return failure(options, connection.problem("It did not answer in time."))
      listing.warnings.push("It did not list all its tools in time; what came until then is used.")
      return Effect.void
    })
  )

/** In milliseconds. */
interface Times {
  readonly connect: number
  readonly call: number
}

const targetOf = (options: ServerOptions): Target => {
  if ("url" in options) {
    return { url: new URL(options.url), headers: revealed(options.headers), transport: options.transport ?? "http" }
  }
  const { args = [], command, cwd, env } = options
  return { command, args: args.map(reveal), env: revealed(env), cwd }
}

const revealed = (values: Readonly<Record<string, MaybeSecret>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, reveal(value)]))

const toolOf = (
  options: ServerOptions,
  times: Times,
  connection: Connection,
  hideResult: (text: string) => string,
  { name, tool }: { readonly name: string; readonly tool: Listed }
): ServerTool => {
  const { hints } = tool
  const trusted = options.trustAnnotations === true
  const readOnly = trusted || hints.readOnly === false ? hints.readOnly : undefined
  // What changes nothing can be done twice.
  const idempotent = trusted && (hints.idempotent ?? hints.readOnly === true)
  const failed = (detail: string) => new ToolFailed({ tool: name, detail })
  const made = Tool.fromJsonSchema({
    name,
    description: hideResult(tool.description),
    parameters: tool.parameters,
    ...(readOnly === undefined ? {} : { readOnly }),
    idempotent,
    timeout: times.call,
    execute: (input, { progress }) =>
      connection
        .request({
          method: "tools/call",
          params: { name: tool.name, arguments: { ...input } },
          repeatable: idempotent || readOnly === true,
          progress: (partial) => progress(hideResult(partial))
        })
        .pipe(
          Effect.mapError(({ words }) => failed(words)),
          Effect.flatMap((result) => {
            const { isError, text } = readResult(result)
            return isError ? Effect.fail(failed(hideResult(text))) : Effect.succeed(hideResult(text))
          })
        )
  })
  return { ...made, hints }
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

/** Texts that no error may show. Some services have their key in the address. */
const secretsOf = (options: ServerOptions): ReadonlyArray<MaybeSecret> => {
  if ("command" in options) {
    const args = (options.args ?? []).filter(isSecret)
    return [...Object.values(options.env ?? {}), ...args, ...args.flatMap(wordsOf)]
  }
  const url = addressOf(options)
  const parts = url === undefined ? [] : [...url.pathname.split("/"), url.password]
  const headers = Object.values(options.headers ?? {})
  const words = [...headers.flatMap(wordsOf), ...parts.filter((part) => part.length >= leastKeyChars)]
  return [...headers, ...words, ...(url === undefined ? [] : queryValues(url))]
}

/** As they are written in the address, and as they are meant. */
const queryValues = ({ search, searchParams }: URL): ReadonlyArray<string> => [
  ...search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1)),
  ...searchParams.values()
]

/** A server may repeat a key without the `Bearer` or the `--key=` before it. */
const wordsOf = (value: MaybeSecret): ReadonlyArray<MaybeSecret> => {
  const words = reveal(value)
    .split(/[\s=]+/)
    .filter((word) => word.length >= leastKeyChars)
  return typeof value === "string" ? words : words.map((word) => Redacted.make(word))
}

/** A shorter part of a path, or of a header, is a word. */
const leastKeyChars = 16

const failure = (options: ServerOptions, problem: string): McpError =>
  new McpError({ server: serverName(options), problem })
