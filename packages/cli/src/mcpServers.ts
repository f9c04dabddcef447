/**
 * The MCP servers whose tools a run gets: read from flags and the config file, connected to when a run starts.
 */
import type { Tool } from "@forethought/core/Tool"
import type { McpError, ServerOptions } from "@forethought/tools/Mcp"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Find, texts } from "./given.js"
import type { Surroundings } from "./models.js"
import { UsageError } from "./UsageError.js"

type Values = Readonly<Record<string, string | Redacted.Redacted<string>>>

/** A server as it was given; what stands in the environment is looked up already, and `secrets` names such values. */
export interface McpServer {
  /** Its name in the config file, or what its command or address is called. */
  readonly name: string
  readonly at:
    | { readonly command: string; readonly args: ReadonlyArray<string>; readonly env: Written; readonly cwd: string }
    | { readonly url: string; readonly headers: Written }
}

/** Values with whether each was taken from the environment, and so is a secret. */
type Written = ReadonlyArray<{ readonly name: string; readonly value: string; readonly isSecret: boolean }>

/** Reads the servers, from `--mcp` or from the object `mcp` of the config file. */
export const readServers = (find: Find, around: Surroundings): ReadonlyArray<McpServer> => {
  const given = find("mcp")
  if (given === undefined) return []
  const { source, value } = given
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).map(([name, server]) => readEntry(name, server, source, around))
  }
  return texts(given).map((written) => readWritten(written, source, around))
}

const readWritten = (written: string, source: string, { folder }: Surroundings): McpServer => {
  if (/^https?:\/\//i.test(written.trim())) {
    return { name: hostOf(written, source), at: { url: written.trim(), headers: [] } }
  }
  const [command, ...args] = words(written, source)
  if (command === undefined) throw new UsageError(`${source} must be a command or an address.`)
  return { name: command.slice(command.search(/[^/\\]*$/)), at: { command, args, env: [], cwd: folder } }
}

const readEntry = (name: string, server: unknown, source: string, around: Surroundings): McpServer => {
  const where = `${source}: the server ${JSON.stringify(name)}`
  const usage = `Write {"command": "…", "args": ["…"], "env": {"…": "…"}} or {"url": "…", "headers": {"…": "…"}}.`
  if (typeof server !== "object" || server === null || Array.isArray(server)) {
    throw new UsageError(`${where} must be an object. ${usage}`)
  }
  const fields = new Map<string, unknown>(Object.entries(server))
  const known = fields.has("url") ? ["url", "headers"] : ["command", "args", "env", "cwd"]
  const odd = [...fields.keys()].find((key) => !known.includes(key))
  if (odd !== undefined) throw new UsageError(`${where} has the key ${JSON.stringify(odd)}. ${usage}`)
  const textOf = (key: string): string => {
    const value = fields.get(key)
    if (typeof value !== "string" || value.trim() === "") {
      throw new UsageError(`${where} needs a text as ${JSON.stringify(key)}. ${usage}`)
    }
    return value
  }
  if (fields.has("url")) {
    const url = textOf("url")
    hostOf(url, where)
    return { name, at: { url, headers: readValues(fields.get("headers"), `${where}: "headers"`, around) } }
  }
  const args = fields.get("args") ?? []
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    throw new UsageError(`${where} needs a list of texts as "args". ${usage}`)
  }
  return {
    name,
    at: {
      command: textOf("command"),
      args: args.map(String),
      env: readValues(fields.get("env"), `${where}: "env"`, around),
      cwd: fields.has("cwd") ? textOf("cwd") : around.folder
    }
  }
}

/** Texts by name. `${NAME}` stands for a variable of the environment, so that no secret has to stand in the file. */
const readValues = (given: unknown, where: string, { env }: Surroundings): Written => {
  if (given === undefined) return []
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new UsageError(`${where} must be an object of texts.`)
  }
  return Object.entries(given).map(([name, written]) => {
    if (typeof written !== "string") throw new UsageError(`${where} must be an object of texts.`)
    let isSecret = false
    const value = written.replaceAll(/\$\{(\w{1,100})\}/g, (_, variable: string) => {
      isSecret = true
      const found = env[variable]
      if (found === undefined || found === "") {
        throw new UsageError(`${where} asks for the environment variable ${variable}, which is not set.`)
      }
      return found
    })
    return { name, value, isSecret }
  })
}

const hostOf = (url: string, source: string): string => {
  // An address can hold a secret, so it is not shown.
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new UsageError(`${source} must be an address that starts with http:// or https://.`)
  }
  return new URL(url).host
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

/** Connects to a server; the connection ends with the scope. */
export type Connect = (server: McpServer) => Effect.Effect<ReadonlyArray<Tool>, McpError, Scope.Scope>

export const loadConnect = async (): Promise<Connect> => {
  const [Mcp, Redacted] = await Promise.all([import("@forethought/tools/Mcp"), import("effect/Redacted")])
  const values = (written: Written): Values =>
    Object.fromEntries(written.map(({ isSecret, name, value }) => [name, isSecret ? Redacted.make(value) : value]))
  const optionsOf = ({ at, name }: McpServer): ServerOptions =>
    "url" in at
      ? { server: name, url: at.url, headers: values(at.headers) }
      : { server: name, command: at.command, args: at.args, env: values(at.env), cwd: at.cwd }
  return (server) => Mcp.tools(optionsOf(server))
}

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
      const name = known.has(tool.name)
        ? `${server.replaceAll(/[^A-Za-z0-9_-]/g, "_")}_${tool.name}`.slice(0, 64)
        : tool.name
      known.add(name)
      return name === tool.name ? tool : { ...tool, name }
    })
  )
}
