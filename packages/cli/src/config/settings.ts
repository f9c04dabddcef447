/**
 * What a run is told: flags before environment variables before the config file.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { messageOf, UsageError } from "../errors.js"
import { type Limits, readLimits } from "../model/limits.js"
import { type Models, modelHelp, needsTextProtocol, readFallback, readModels } from "../model/models.js"
import { near } from "../screen/text.js"
import { rootKeys } from "../tools/mcpEntry.js"
import { type McpServer, readServers } from "../tools/mcpServers.js"
import { defaultTools, pickTools, readPermits, type ToolEntry } from "../tools/tools.js"
import { flagOf, parseJson, readOption, variableOf } from "./options.js"
import { allOptions, optionsOf, type PatternEntry, patterns } from "./patterns.js"
import { runSettings } from "./runSettings.js"
import { type Find, type Given, isOn, names, text, texts } from "./values.js"

/** Flags as they were given; a flag that was not given is undefined. */
export interface Flags {
  readonly model?: ReadonlyArray<string> | undefined
  readonly tools?: string | undefined
  readonly events?: string | undefined
  readonly config?: string | undefined
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
  /** Options of patterns by their names. */
  readonly options: ReadonlyMap<string, string>
  /** The settings of `runSettings` by their names. */
  readonly run?: ReadonlyMap<string, unknown> | undefined
}

/** The surroundings of the program. */
export interface Around {
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Every pattern that there is, a user's own among them. Default: those of the package. */
  readonly patterns?: ReadonlyArray<PatternEntry> | undefined
}

export interface Settings extends Equipped {
  readonly models: Models
  /** The file for events, as an absolute path. */
  readonly events: string | undefined
  readonly options: ReadonlyMap<string, string | number>
  readonly limits: Limits
  readonly stream: boolean
  readonly approve: boolean
  readonly approvePlan: boolean
  /** What a person should know about how the settings were understood. */
  readonly notes: ReadonlyArray<string>
}

/** The tools of a run. */
export interface Equipped {
  readonly tools: ReadonlyArray<ToolEntry>
  readonly servers: ReadonlyArray<McpServer>
  readonly permits: ReadonlyMap<string, number>
}

/** The config file that is read where none is named. */
export const defaultConfigFile = "forethought.config.json"

/** Puts the settings of a run of `pattern` together, and checks them. */
export const readSettings = async (flags: Flags, pattern: PatternEntry, around: Around): Promise<Settings> => {
  const find = finder(flags, around)
  const given = find("model")
  if (given === undefined) throw new UsageError(noModel)
  const options = readOptions(flags, pattern, find, around.folder)
  const fallback = find("fallbackModel")
  const events = find("events")
  const equipped = readTools(find, around)
  if (pattern.tools === "needed" && equipped.tools.length + equipped.servers.length === 0) {
    throw new UsageError(
      `${pattern.name} needs tools: its plan is a list of tool calls. Give some with --tools or --mcp, or take plan-and-solve, which uses none.`
    )
  }
  const surroundings = { ...around, structured: isOn(find("noStructured")) ? ("off" as const) : ("auto" as const) }
  const models: Models = {
    ...(await readModels(texts(given), given.source, surroundings)),
    fallback: fallback === undefined ? undefined : await readFallback(text(fallback), fallback.source, surroundings)
  }
  const asText =
    needsTextProtocol(models) && !options.has("protocol") && optionsOf(pattern).some(({ name }) => name === "protocol")
  return {
    ...equipped,
    models,
    events: events === undefined ? undefined : resolve(around.folder, text(events)),
    options: asText ? new Map([...options, ["protocol", "text"]]) : options,
    limits: readLimits(find),
    stream: isOn(find("stream")),
    approve: isOn(find("approve")),
    approvePlan: isOn(find("approvePlan")),
    notes: asText ? ["tools are called by text, for a gguf model has no tool calling of its own (--protocol)"] : []
  }
}

/** The MCP servers alone, for a list of their tools. */
export const readServersOf = (flags: Flags, around: Around): ReadonlyArray<McpServer> =>
  readServers(finder(flags, around), around)

const readTools = (find: Find, around: Around): Equipped => {
  const tools = find("tools")
  return {
    tools:
      tools === undefined
        ? pickTools(defaultTools, "The default", find, around)
        : pickTools(names(tools), tools.source, find, around),
    servers: readServers(find, around),
    permits: readPermits(find)
  }
}

/** Flags before environment variables before the config file. */
const finder = (flags: Flags, around: Around): Find => {
  const file = readConfig(flags, around)
  const flag = (name: string): unknown => {
    switch (name) {
      case "model":
        return flags.model
      case "tools":
        return flags.tools
      case "events":
        return flags.events
      default:
        return flags.options.get(name) ?? flags.run?.get(name)
    }
  }
  return (name) => {
    const value = flag(name)
    if (value !== undefined) return { value, source: `--${flagOf(name)}` }
    if (runSettings.some((setting) => setting.name === name && setting.isFlagOnly === true)) return undefined
    const variable = around.env[variableOf(name)]?.trim()
    if (variable !== undefined && variable !== "") {
      return { value: variable, source: `The environment variable ${variableOf(name)}` }
    }
    return file.get(name)
  }
}

const noModel = `No model is configured. Name one with --model <spec>, in the environment variable FORETHOUGHT_MODEL, or as "model" in ${defaultConfigFile}:
${modelHelp()}
To see a run without a model: forethought demo`

/** The options of a pattern with the executor that is chosen for it. */
const optionsFor = (pattern: PatternEntry, find: Find) => {
  const executor = find("executor")
  return optionsOf(pattern, executor === undefined ? undefined : String(executor.value))
}

const readOptions = (
  flags: Flags,
  pattern: PatternEntry,
  find: Find,
  folder: string
): ReadonlyMap<string, string | number> => {
  const known = optionsFor(pattern, find)
  for (const name of flags.options.keys()) {
    if (!known.some((option) => option.name === name)) {
      throw new UsageError(
        `The pattern ${pattern.name} has no option --${flagOf(name)}. Its options: ${known.map((option) => `--${flagOf(option.name)}`).join(", ") || "none"}.`
      )
    }
  }
  const values = new Map<string, string | number>()
  for (const option of known) {
    const found = find(option.name)
    if (found === undefined) continue
    if (typeof found.value !== "string" && typeof found.value !== "number") {
      throw new UsageError(`${found.source} must be a string or a number.`)
    }
    values.set(option.name, readOption(option, found.value, found.source, folder))
  }
  return values
}

const readConfig = (flags: Flags, around: Around): ReadonlyMap<string, Given> => {
  const named = flags.config ?? around.env["FORETHOUGHT_CONFIG"]
  const path = resolve(around.folder, named ?? defaultConfigFile)
  if (named === undefined && !existsSync(path)) return new Map()
  const shown = named ?? defaultConfigFile
  let data: unknown
  try {
    data = parseJson(readFileSync(path, "utf8"))
  } catch (error) {
    const what = error instanceof SyntaxError ? "is not valid JSON" : "cannot be read"
    throw new UsageError(`The config file ${shown} ${what}: ${messageOf(error)}`)
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new UsageError(
      `The config file ${shown} must hold a JSON object, such as {"model": "…", "tools": ["lookup"]}.`
    )
  }
  const known = [
    ...["model", "tools", "events"],
    ...runSettings.filter(({ isFlagOnly }) => isFlagOnly !== true).map(({ name }) => name),
    ...allOptions(around.patterns ?? patterns).map(({ option }) => option.name)
  ]
  const values = new Map<string, Given>()
  for (const [written, value] of Object.entries(data)) {
    if (written === "$schema") continue
    // What other clients call our `mcp`.
    const key = rootKeys.includes(written) ? "mcp" : written
    if (key === "mcp" && values.has(key)) {
      throw new UsageError(`The config file ${shown} has its MCP servers under two keys. Put them all under "mcp".`)
    }
    if (/key|secret|password|token/i.test(key) && !known.includes(key)) {
      throw new UsageError(
        `The config file ${shown} has the key ${JSON.stringify(key)}: secrets do not belong into a file. Set FORETHOUGHT_API_KEY in the environment.`
      )
    }
    if (!known.includes(key)) {
      const [close] = near(key, [...known, ...rootKeys])
      throw new UsageError(
        `The config file ${shown} has the key ${JSON.stringify(key)}, which is not known.${close === undefined ? "" : ` Did you mean "${close}"?`} Keys are ${known.join(", ")}.`
      )
    }
    values.set(key, { value, source: `"${written}" in the config file ${shown}` })
  }
  return values
}
