/**
 * One MCP server as config files write it: ours, and those of other clients, from which people copy.
 */

import { isObject } from "@forethought/core/Json"
import { readDuration } from "../config/options.js"
import { UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"

/** A server as it was given; what stands in the environment is looked up already, and marked as a secret. */
export interface McpServer {
  /** Its name in the config file, or what its command or address is called. */
  readonly name: string
  readonly at:
    | { readonly command: string; readonly args: ReadonlyArray<Value>; readonly env: Written; readonly cwd: string }
    | { readonly url: string; readonly headers: Written; readonly transport: "http" | "sse" }
  /** Longest time of a call, in milliseconds. */
  readonly timeout?: number
  /** Longest time of connecting, in milliseconds. */
  readonly connectTimeout?: number
  /** The tools that are wanted; all of them where nothing is said. */
  readonly only?: ReadonlyArray<string>
  /** The tools that are not wanted. */
  readonly without?: ReadonlyArray<string>
  /** True if what it says of its tools is believed. */
  readonly isTrusted: boolean
  /** Notes for a person on how it was read. */
  readonly notes: ReadonlyArray<string>
}

/** A value with whether it was taken from the environment, and so is a secret. */
export interface Value {
  readonly value: string
  readonly isSecret: boolean
}

export type Written = ReadonlyArray<Value & { readonly name: string }>

const usage = `Write {"command": "…", "args": ["…"], "env": {"…": "…"}} or {"url": "…", "headers": {"…": "…"}}.`

/** The keys under which config files of other clients have their servers. */
export const rootKeys: ReadonlyArray<string> = ["mcpServers", "servers", "context_servers", "mcp_servers"]

/** Reads the servers of an object by name; one that is turned off is left out. `source` begins messages. */
export const readEntries = (
  servers: Readonly<Record<string, unknown>>,
  source: string,
  around: Surroundings
): ReadonlyArray<McpServer> =>
  Object.entries(servers).flatMap(([name, server]) => {
    // VS Code and others have one such key inside another.
    if (rootKeys.includes(name) && isObject(server) && !placeKeys.some((key) => Object.hasOwn(server, key))) {
      return readEntries(server, `${source}: ${JSON.stringify(name)}`, around)
    }
    return readEntry(name, server, `${source}: the server ${JSON.stringify(name)}`, around)
  })

const urlKeys = ["url", "httpUrl", "serverUrl"]

/** One of these says where a server is. */
const placeKeys = ["command", ...urlKeys]

const readEntry = (name: string, server: unknown, where: string, around: Surroundings): ReadonlyArray<McpServer> => {
  if (!isObject(server)) throw new UsageError(`${where} must be an object. ${usage}`)
  if (server["disabled"] === true || server["enabled"] === false) return []
  const urlKey = urlKeys.find((key) => isGiven(server[key]))
  const isCommand = isGiven(server["command"])
  const odd = Object.keys(server).filter((key) => !knownKeys.has(key))
  if (urlKey === undefined && !isCommand) {
    const has = odd[0] === undefined ? "" : ` has the key ${JSON.stringify(odd[0])}, and`
    throw new UsageError(`${where}${has} has neither "command" nor "url". ${usage}`)
  }
  if (urlKey !== undefined && isCommand) {
    throw new UsageError(`${where} has both "command" and ${JSON.stringify(urlKey)}. ${usage}`)
  }
  const idle = (isCommand ? ofUrls : ofCommands).filter((key) => textsIn(server[key]).length > 0)
  const kind = kindOf(server, where)
  if (kind !== undefined && (kind === "stdio") !== isCommand) {
    throw new UsageError(`${where} is of the type ${kind}, which does not go with "${isCommand ? "command" : urlKey}".`)
  }
  const place = isCommand ? readCommand(server, where, around) : readUrl(server, urlKey ?? "url", kind, where, around)
  return [
    {
      name,
      at: place,
      ...readTimes(server, where),
      ...readChoice(server, where),
      isTrusted: readTrust(server["trust"], where),
      notes: [
        ...odd.map((key) => `${where} has the key ${JSON.stringify(key)}, which is not used.`),
        ...idle.map((key) => `${where} has the key ${JSON.stringify(key)}, which is not used with its kind.`),
        ...unread(server, around).map(
          (text) => `${where} has ${text}, which stays as it is written: only \${NAME} is read from the environment.`
        )
      ]
    }
  ]
}

const ofCommands = ["args", "env", "environment", "env_vars", "cwd"]
const ofUrls = ["headers", "http_headers", "env_http_headers", "bearer_token_env_var"]

// ---------------------------------------------------------------------------------------------------------------
// where it is
// ---------------------------------------------------------------------------------------------------------------

const kinds: ReadonlyMap<string, "stdio" | "http" | "sse"> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["command", "stdio"],
  ["http", "http"],
  ["https", "http"],
  ["remote", "http"],
  ["streamablehttp", "http"],
  ["sse", "sse"]
])

const kindOf = (server: Readonly<Record<string, unknown>>, where: string): "stdio" | "http" | "sse" | undefined => {
  const key = ["type", "transport", "transportType"].find((key) => isGiven(server[key]))
  if (key === undefined) return undefined
  const given = server[key]
  const kind = typeof given === "string" ? kinds.get(given.toLowerCase().replaceAll(/[^a-z]/g, "")) : undefined
  if (kind !== undefined) return kind
  throw new UsageError(`${where} needs stdio, http or sse as ${JSON.stringify(key)}, got ${JSON.stringify(given)}.`)
}

const readCommand = (
  server: Readonly<Record<string, unknown>>,
  where: string,
  around: Surroundings
): McpServer["at"] => {
  const { command } = server
  // One client has the three of them in an object of their own.
  if (isObject(command)) {
    const { path, ...rest } = command
    return readCommand({ ...server, ...rest, command: path }, where, around)
  }
  const args = server["args"] ?? []
  if (!Array.isArray(args) || !args.every(isPlain)) {
    throw new UsageError(`${where} needs a list of texts as "args". ${usage}`)
  }
  const [first, ...others] = [...(Array.isArray(command) ? command : [command]), ...args].map((word) => {
    if (!isPlain(word)) throw new UsageError(`${where} needs texts in "command". ${usage}`)
    return expand(String(word), where, around)
  })
  if (first === undefined || first.value.trim() === "") {
    throw new UsageError(`${where} needs a text as "command". ${usage}`)
  }
  const passed = texts(server["env_vars"], `${where}: "env_vars"`).map((name) => variable(name, where, around))
  const cwd = server["cwd"] ?? undefined
  if (cwd !== undefined && (typeof cwd !== "string" || cwd.trim() === "")) {
    throw new UsageError(`${where} needs a text as "cwd". ${usage}`)
  }
  return {
    command: first.value,
    args: others,
    env: [...passed, ...readValues(server, ["env", "environment"], where, around)],
    cwd: cwd === undefined ? around.folder : expand(cwd, where, around).value
  }
}

const readUrl = (
  server: Readonly<Record<string, unknown>>,
  key: string,
  kind: "stdio" | "http" | "sse" | undefined,
  where: string,
  around: Surroundings
): McpServer["at"] => {
  const url = server[key]
  if (typeof url !== "string") throw new UsageError(`${where} needs a text as ${JSON.stringify(key)}. ${usage}`)
  const address = expand(url, where, around).value.trim()
  hostOf(address, where)
  const named = server["env_http_headers"] ?? {}
  if (!isObject(named)) throw new UsageError(`${where}: "env_http_headers" must be an object of texts.`)
  const fromEnvironment = Object.entries(named).map(([name, from]) => ({ ...variable(from, where, around), name }))
  const token = server["bearer_token_env_var"]
  const bearer = isGiven(token) ? [variable(token, where, around)] : []
  return {
    url: address,
    headers: [
      ...readValues(server, ["headers", "http_headers"], where, around),
      ...fromEnvironment,
      ...bearer.map(({ value }) => ({ name: "authorization", value: `Bearer ${value}`, isSecret: true }))
    ],
    transport: kind === "sse" ? "sse" : "http"
  }
}

/** The host of an address, which is not shown itself: it can hold a secret. */
export const hostOf = (url: string, source: string): string => {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new UsageError(`${source} must be an address that starts with http:// or https://.`)
  }
  return new URL(url).host
}

// ---------------------------------------------------------------------------------------------------------------
// values and variables
// ---------------------------------------------------------------------------------------------------------------

/** Texts by name, from the first of the keys that is given. */
const readValues = (
  server: Readonly<Record<string, unknown>>,
  keys: ReadonlyArray<string>,
  where: string,
  around: Surroundings
): Written => {
  const key = keys.find((key) => isGiven(server[key]))
  if (key === undefined) return []
  const given = server[key]
  const here = `${where}: ${JSON.stringify(key)}`
  if (!isObject(given)) throw new UsageError(`${here} must be an object of texts.`)
  return Object.entries(given).map(([name, written]) => {
    if (!isPlain(written)) {
      throw new UsageError(`${here} must be an object of texts.`)
    }
    return { name, ...expand(String(written), here, around) }
  })
}

/**
 * Puts in the variables of the environment, so that no secret has to stand in a file: `${NAME}`, `${NAME:-default}`,
 * `${env:NAME}` and `{env:NAME}`, beside `${workspaceFolder}` and `${userHome}`. A `$NAME` without braces is text.
 */
const expand = (written: string, where: string, around: Surroundings): Value => {
  let isSecret = false
  const value = written.replaceAll(
    variables,
    (_, name: string | undefined, otherwise: string | undefined, bare: string) => {
      const wanted = name ?? bare
      if (wanted === "workspaceFolder") return around.folder
      const found = around.env[wanted === "userHome" ? "HOME" : wanted]
      if (found !== undefined && found !== "") {
        isSecret ||= wanted !== "userHome"
        return found
      }
      if (otherwise !== undefined) return otherwise
      throw new UsageError(`${where} asks for the environment variable ${wanted}, which is not set.`)
    }
  )
  const [asked] = /\$\{input:[^}]{0,100}\}/.exec(value) ?? []
  if (asked !== undefined && written.includes(asked)) {
    throw new UsageError(`${where} has ${asked}, which nobody is asked for here. Write \${NAME} for a variable.`)
  }
  return { value, isSecret }
}

const variables = /\$\{(?:env:)?(\w{1,100})(?::-([^{}]{0,1000}))?\}|\{env:(\w{1,100})\}/g

/** Returns what other clients look up and we do not; a `$NAME` only if there is such a variable. */
const unread = (server: Readonly<Record<string, unknown>>, { env }: Surroundings): ReadonlyArray<string> => {
  const keys = ["command", "args", "env", "environment", "cwd", ...urlKeys, "headers", "http_headers"]
  const found = textsIn(keys.map((key) => server[key])).flatMap((text) => {
    const rest = text.replaceAll(variables, "")
    const bare = [...rest.matchAll(/\$([A-Z_][A-Z0-9_]{0,100})/g)].filter(([, name = ""]) => isGiven(env[name]))
    return [
      ...(rest.match(/\$\{\{[^}]{0,100}\}\}|\$\{\w{1,30}:[^}]{0,100}\}|\{file:[^}]{0,100}\}/g) ?? []),
      ...bare.map(([text]) => text)
    ]
  })
  return [...new Set(found)]
}

const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const variable = (name: unknown, where: string, { env }: Surroundings): Value & { readonly name: string } => {
  if (typeof name !== "string") throw new UsageError(`${where} needs the names of variables as texts.`)
  const value = env[name]
  if (value === undefined || value === "") {
    throw new UsageError(`${where} asks for the environment variable ${name}, which is not set.`)
  }
  return { name, value, isSecret: true }
}

// ---------------------------------------------------------------------------------------------------------------
// the rest
// ---------------------------------------------------------------------------------------------------------------

const readTimes = (server: Readonly<Record<string, unknown>>, where: string): Pick<McpServer, "timeout"> => {
  const seconds = (key: string): number | undefined => {
    const given = server[key]
    if (!isGiven(given)) return undefined
    if (typeof given !== "number") throw new UsageError(`${where} needs a number of seconds as ${JSON.stringify(key)}.`)
    return readDuration(`${given} s`, `${where}: ${JSON.stringify(key)}`)
  }
  const timeout = readTimeout(server["timeout"], `${where}: "timeout"`) ?? seconds("tool_timeout_sec")
  const connectTimeout = seconds("startup_timeout_sec")
  return {
    ...(timeout === undefined ? {} : { timeout }),
    ...(connectTimeout === undefined ? {} : { connectTimeout })
  }
}

/** Some clients mean seconds and some milliseconds, which their usual values tell apart. */
const readTimeout = (given: unknown, where: string): number | undefined => {
  if (!isGiven(given)) return undefined
  if (typeof given === "string" && !/^\d+$/.test(given.trim())) return readDuration(given, where)
  const amount = Number(given)
  if (amount >= 5_000) return readDuration(`${amount} ms`, where)
  if (amount > 0 && amount < 1_000) return readDuration(`${amount} s`, where)
  throw new UsageError(`${where} may mean seconds or milliseconds, got ${JSON.stringify(given)}. Write "30 seconds".`)
}

const onlyKeys = ["includeTools", "enabled_tools", "enabledTools", "allowedTools", "allowed_tools", "tools"]
const withoutKeys = ["excludeTools", "disabled_tools", "disabledTools"]

const readChoice = (server: Readonly<Record<string, unknown>>, where: string): Pick<McpServer, "only" | "without"> => {
  const read = (keys: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    const given = keys.filter((key) => isGiven(server[key]))
    return given.length === 0
      ? undefined
      : given.flatMap((key) => texts(server[key], `${where}: ${JSON.stringify(key)}`))
  }
  const [only, without] = [read(onlyKeys), read(withoutKeys)]
  return {
    ...(only === undefined || only.includes("*") ? {} : { only }),
    ...(without === undefined ? {} : { without })
  }
}

const readTrust = (given: unknown, where: string): boolean => {
  if (!isGiven(given)) return false
  if (typeof given === "boolean") return given
  throw new UsageError(`${where} needs true or false as "trust", got ${JSON.stringify(given)}.`)
}

const texts = (given: unknown, where: string): ReadonlyArray<string> => {
  if (!isGiven(given)) return []
  if (!Array.isArray(given) || !given.every((item) => typeof item === "string")) {
    throw new UsageError(`${where} must be a list of texts.`)
  }
  return given
}

/** The keys of an entry that are used, and those that say nothing about how a server is reached. */
const knownKeys = new Set([
  ...[...placeKeys, "type", "transport", "transportType", "args", "env", "environment", "env_vars", "cwd"],
  ...["headers", "http_headers", "env_http_headers", "bearer_token_env_var", "disabled", "enabled"],
  ...["timeout", "tool_timeout_sec", "startup_timeout_sec", ...onlyKeys, ...withoutKeys],
  "trust",
  ...["name", "description", "$schema"]
])

/** Forms that are filled in by hand have empty texts for what does not apply. */
const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "")

const isPlain = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value)
