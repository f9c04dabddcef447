/**
 * Reads what a run is told: flags before environment variables before the config file.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import * as Effect from "effect/Effect"
import { messageOf, UsageError } from "../errors.js"
import { type Limits, readLimits } from "../model/limits.js"
import { modelHelp } from "../model/ModelKinds.js"
import { type Models, needsTextProtocol, readFallback, readModels } from "../model/models.js"
import type { Surroundings } from "../process.js"
import { near } from "../screen/text.js"
import { rootKeys } from "../tools/mcpEntry.js"
import { type McpServer, readServers } from "../tools/mcpServers.js"
import { defaultTools, pickTools, readPermits, type ToolEntry } from "../tools/tools.js"
import { defaultConfigFile, type Flags } from "./flags.js"
import { flagOf, parseJson, readOption, variableOf } from "./options.js"
import { allOptions, optionsOf, type PatternEntry, patterns } from "./patterns.js"
import { reading } from "./reading.js"
import { runSettings } from "./runSettings.js"
import { type Find, type Given, isOn, names, text, texts } from "./values.js"

export interface Settings extends Equipped {
  readonly models: Models
  /** The file for events, as an absolute path. */
  readonly events: string | undefined
  readonly options: ReadonlyMap<string, string | number>
  readonly limits: Limits
  readonly stream: boolean
  readonly approve: boolean
  readonly approvePlan: boolean
  /** Notes for a person on how the settings were understood. */
  readonly notes: ReadonlyArray<string>
}

/** The tools of a run. */
export interface Equipped {
  readonly tools: ReadonlyArray<ToolEntry>
  readonly servers: ReadonlyArray<McpServer>
  readonly permits: ReadonlyMap<string, number>
}

/** Puts the settings of a run of `pattern` together, and checks them. */
export const readSettings = (
  flags: Flags,
  pattern: PatternEntry,
  around: Surroundings
): Effect.Effect<Settings, UsageError> =>
  Effect.gen(function* () {
    const find = yield* reading(() => sourcesOf(flags, around))
    const { fallback, given, options, structured, ...settings } = yield* reading(() => {
      const given = find("model")
      if (given === undefined) throw new UsageError(noModel)
      const options = readOptions(flags, pattern, find, around.folder)
      const equipped = readTools(find, around)
      if (pattern.tools === "needed" && equipped.tools.length + equipped.servers.length === 0) {
        const other = patterns.find(({ tools }) => tools === "unused")?.name
        throw new UsageError(
          `${pattern.name} needs tools: its plan is a list of tool calls. Give some with --tools or --mcp, or take ${other}, which uses none.`
        )
      }
      const events = find("events")
      const fallback = find("fallbackModel")
      return {
        ...equipped,
        given: { specs: texts(given), source: given.source },
        fallback: fallback === undefined ? undefined : { spec: text(fallback), source: fallback.source },
        structured: isOn(find("noStructured")) ? ("off" as const) : ("auto" as const),
        options,
        events: events === undefined ? undefined : resolve(around.folder, text(events)),
        limits: readLimits(find),
        stream: isOn(find("stream")),
        approve: isOn(find("approve")),
        approvePlan: isOn(find("approvePlan"))
      }
    })
    const place = { ...around, structured }
    const models: Models = {
      ...(yield* readModels(given.specs, given.source, place)),
      fallback: fallback === undefined ? undefined : yield* readFallback(fallback.spec, fallback.source, place)
    }
    const asText =
      needsTextProtocol(models) &&
      !options.has("protocol") &&
      optionsOf(pattern).some(({ name }) => name === "protocol")
    return {
      ...settings,
      models,
      options: asText ? new Map([...options, ["protocol", "text"]]) : options,
      notes: asText
        ? ["tools are called by text, because a gguf model has no tool calling of its own (--protocol)"]
        : []
    }
  })

/** Reads the MCP servers alone, for a list of their tools. */
export const readServersOf = (
  flags: Flags,
  around: Surroundings
): Effect.Effect<ReadonlyArray<McpServer>, UsageError> => reading(() => readServers(sourcesOf(flags, around), around))

const readTools = (find: Find, around: Surroundings): Equipped => {
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

/**
 * The sources of settings as one chain: flags before the environment before the config file. A `ConfigProvider` would
 * hold texts alone, and not say which of them a value came from, which is what every message about it begins with.
 */
const sourcesOf = (flags: Flags, around: Surroundings): Find => {
  const file = readConfig(flags, around)
  const sources: ReadonlyArray<Find> = [
    (name) => given(flagValue(flags, name), `--${flagOf(name)}`),
    (name) =>
      isFlagOnly(name)
        ? undefined
        : given(around.env[variableOf(name)]?.trim() || undefined, `The environment variable ${variableOf(name)}`),
    (name) => file.get(name)
  ]
  return (name) => {
    for (const find of sources) {
      const found = find(name)
      if (found !== undefined) return found
    }
    return undefined
  }
}

const given = (value: unknown, source: string): Given | undefined =>
  value === undefined ? undefined : { value, source }

const flagValue = ({ events, model, options, run, tools }: Flags, name: string): unknown =>
  new Map<string, unknown>(Object.entries({ events, model, tools })).get(name) ?? options.get(name) ?? run?.get(name)

const isFlagOnly = (name: string): boolean =>
  runSettings.some((setting) => setting.name === name && setting.isFlagOnly === true)

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

const readConfig = (flags: Flags, around: Surroundings): ReadonlyMap<string, Given> => {
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
        `The config file ${shown} has the key ${JSON.stringify(key)}: secrets do not belong in a file. Set FORETHOUGHT_API_KEY in the environment.`
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
