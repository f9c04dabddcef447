/**
 * The MCP servers whose tools a run gets: read from flags and the config file, connected to when a run starts.
 */
import { isObject } from "@forethought/core/Json"
import type { Tool } from "@forethought/core/Tool"
import type { McpError, ServerOptions, ServerTool } from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { reading } from "../config/reading.js"
import * as Sources from "../config/sources.js"
import { type Given, optional, texts, wrong } from "../config/sources.js"
import { UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"
import { hostOf, type McpServer, readEntries, type Value, type Written } from "./mcpEntry.js"

export type { McpServer } from "./mcpEntry.js"

/** Reads the servers, from `--mcp` or from the object `mcp` of the config file, and which of them are believed. */
export const readServers = (around: Surroundings): Effect.Effect<ReadonlyArray<McpServer>, UsageError> =>
  Effect.gen(function* () {
    const servers = (yield* optional("mcp", (given) => readGiven(given, around))) ?? []
    const given = yield* Sources.given("trustMcp")
    if (given === undefined) return servers
    const trusted = (yield* texts(given)).map((name) => name.trim())
    for (const name of trusted) yield* checkTrusted(name, given.source, servers)
    return servers.map((server) => (trusted.includes(server.name) ? { ...server, isTrusted: true } : server))
  })

/** Trust in one server must not reach another of the same name. */
const checkTrusted = (
  name: string,
  source: string,
  servers: ReadonlyArray<McpServer>
): Effect.Effect<void, UsageError> => {
  const meant = servers.filter((server) => server.name === name)
  if (meant.length === 1) return Effect.void
  const names = servers.map((server) => server.name).join(", ")
  const shown = JSON.stringify(name.slice(0, 60))
  return wrong(
    meant.length === 0
      ? `${source} names no MCP server of this run: ${shown}. Servers: ${names === "" ? "none" : names}.`
      : `${source} names ${meant.length} MCP servers: ${shown}. Give each a name of its own in the config file.`
  )
}

const readGiven = (given: Given, around: Surroundings): Effect.Effect<ReadonlyArray<McpServer>, UsageError> => {
  const { source, value } = given
  if (isObject(value)) return reading(() => readEntries(value, source, around))
  if (typeof value === "object" && !(Array.isArray(value) && typeof value[0] === "string")) {
    return wrong(`${source} must be an object of servers by their names: {"files": {"command": "…"}}.`)
  }
  return Effect.flatMap(texts(given), (commands) =>
    reading(() => commands.map((written) => readWritten(written, source, around)))
  )
}

const readWritten = (written: string, source: string, { folder }: Surroundings): McpServer => {
  if (/^https?:\/\//i.test(written.trim())) {
    const at = { url: written.trim(), headers: [], transport: "http" } as const
    return { name: hostOf(at.url, source), at, isTrusted: false, notes: [] }
  }
  const [scheme] = /^\w+:\/\//.exec(written.trim()) ?? []
  if (scheme !== undefined) {
    throw new UsageError(`${source} has an address that starts with ${scheme}; it must start with http:// or https://.`)
  }
  const [command, ...args] = words(written, source)
  if (command === undefined) throw new UsageError(`${source} must be a command or an address.`)
  const values = args.map((value) => ({ value, isSecret: false }))
  return {
    name: command.slice(command.search(/[^/\\]*$/)),
    at: { command, args: values, env: [], cwd: folder },
    isTrusted: false,
    notes: []
  }
}

/** The words of a command line; quotes of either kind hold a word together, and nothing else is special. */
const words = (line: string, source: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word = (word ?? "") + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ""
    } else if (/\s/.test(char)) {
      if (word !== undefined) found.push(word)
      word = undefined
    } else word = (word ?? "") + char
  }
  if (quote !== undefined) throw new UsageError(`${source} has a quote ${quote} that does not end.`)
  if (word !== undefined) found.push(word)
  return found
}

/**
 * Connects to a server; the connection ends with the scope. `warn` is called with what a person should know although
 * the server can be used.
 */
export const connect = (
  server: McpServer,
  warn: (text: string) => void
): Effect.Effect<ReadonlyArray<ServerTool>, McpError, Scope.Scope> =>
  Effect.gen(function* () {
    const Mcp = yield* Effect.promise(() => import("@forethought/tools/Mcp"))
    for (const note of server.notes) warn(note)
    const tools = yield* Mcp.tools(optionsOf(server, warn))
    return tools.filter(({ name }) => isWanted(server, name))
  })

const optionsOf = (
  { at, connectTimeout, isTrusted, name, timeout }: McpServer,
  warn: (text: string) => void
): ServerOptions => {
  const common = {
    server: name,
    trustAnnotations: isTrusted,
    onWarning: (text: string) => Effect.sync(() => warn(text)),
    ...(timeout === undefined ? {} : { timeout }),
    ...(connectTimeout === undefined ? {} : { connectTimeout })
  }
  return "url" in at
    ? { ...common, url: at.url, headers: values(at.headers), transport: at.transport }
    : { ...common, command: at.command, args: at.args.map(hidden), env: values(at.env), cwd: at.cwd }
}

const hidden = ({ isSecret, value }: Value) => (isSecret ? Redacted.make(value) : value)

const values = (written: Written) => Object.fromEntries(written.map((value) => [value.name, hidden(value)]))

/** Names are those of the server, or those under which its tools are offered. */
const isWanted = ({ only, without = [] }: McpServer, tool: string): boolean => {
  const named = (names: ReadonlyArray<string>) => names.some((name) => name === tool || inSigns(name) === tool)
  return (only === undefined || named(only)) && !named(without)
}

const inSigns = (name: string): string =>
  name
    .trim()
    .replaceAll(/[^A-Za-z0-9_-]/g, "_")
    .slice(0, maxNameChars)

const maxNameChars = 64

/**
 * Names that are all different: a tool whose name another one has already gets its server's name before it.
 */
export const distinct = (
  taken: ReadonlyArray<string>,
  servers: ReadonlyArray<{ readonly name: string; readonly tools: ReadonlyArray<Tool> }>
): ReadonlyArray<Tool> => {
  const known = new Set(taken)
  return servers.flatMap(({ name: server, tools }) =>
    tools.map((tool) => {
      const name = free(tool.name, inSigns(server), known)
      known.add(name)
      return name === tool.name ? tool : { ...tool, name }
    })
  )
}

const free = (tool: string, server: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(tool)) return tool
  const prefixed = `${server}_${tool}`.slice(0, maxNameChars)
  if (!taken.has(prefixed)) return prefixed
  for (let n = 2; ; n++) {
    const end = `_${n}`
    const numbered = `${prefixed.slice(0, maxNameChars - end.length)}${end}`
    if (!taken.has(numbered)) return numbered
  }
}
