/**
 * Reads what a run is told: flags before environment variables before the config file.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { isObject } from "@forethought/core/Json"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { messageOf, UsageError } from "../errors.js"
import { type Limits, readLimits } from "../model/limits.js"
import { modelHelp } from "../model/ModelKinds.js"
import { type Models, needsTextProtocol, readFallback, readModels } from "../model/models.js"
import type { Surroundings } from "../process.js"
import { near } from "../screen/text.js"
import { rootKeys } from "../tools/mcpEntry.js"
import { type McpServer, readServers } from "../tools/mcpServers.js"
import { defaultTools } from "../tools/toolKinds.js"
import { pickTools, readPermits, type ToolEntry } from "../tools/tools.js"
import { defaultConfigFile, type Flags } from "./flags.js"
import { flagOf, parseJson, readOption, variableOf } from "./options.js"
import { allOptions, optionsOf, type PatternEntry, patterns } from "./patterns.js"
import { reading } from "./reading.js"
import { runSettings } from "./runSettings.js"
import { type Given, given, isOn, names, optional, source, text, texts, wrong } from "./sources.js"

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
    const model = yield* given("model")
    if (model === undefined) return yield* wrong(noModel)
    const options = yield* readOptions(flags, pattern, around.folder)
    const equipped = yield* readEquipped(around)
    if (pattern.tools === "needed" && equipped.tools.length + equipped.servers.length === 0) {
      const other = patterns.find(({ tools }) => tools === "unused")?.name
      return yield* wrong(
        `${pattern.name} needs tools: its plan is a list of tool calls. Give some with --tools or --mcp, or take ${other}, which uses none.`
      )
    }
    const place = { ...around, structured: (yield* isOn("noStructured")) ? ("off" as const) : ("auto" as const) }
    const events = yield* optional("events", text)
    const models: Models = {
      ...(yield* readModels(yield* texts(model), model.source, place)),
      fallback: yield* optional("fallbackModel", (given) =>
        Effect.flatMap(text(given), (spec) => readFallback(spec, given.source, place))
      )
    }
    const asText =
      needsTextProtocol(models) &&
      !options.has("protocol") &&
      optionsOf(pattern).some(({ name }) => name === "protocol")
    return {
      ...equipped,
      models,
      events: events === undefined ? undefined : resolve(around.folder, events),
      options: asText ? new Map([...options, ["protocol", "text"]]) : options,
      limits: yield* readLimits,
      stream: yield* isOn("stream"),
      approve: yield* isOn("approve"),
      approvePlan: yield* isOn("approvePlan"),
      notes: asText
        ? ["tools are called by text, because a gguf model has no tool calling of its own (--protocol)"]
        : []
    }
  }).pipe(within(flags, around))

/** Reads the MCP servers alone, for a list of their tools. */
export const readServersOf = (
  flags: Flags,
  around: Surroundings
): Effect.Effect<ReadonlyArray<McpServer>, UsageError> => readServers(around).pipe(within(flags, around))

const readEquipped = (around: Surroundings): Effect.Effect<Equipped, UsageError> =>
  Effect.gen(function* () {
    const named = yield* given("tools")
    return {
      tools:
        named === undefined
          ? yield* pickTools(defaultTools, "The default", around)
          : yield* pickTools(yield* names(named), named.source, around),
      servers: yield* readServers(around),
      permits: yield* readPermits
    }
  })

/** Runs a reader within the chain of sources: flags before the environment before the config file. */
const within =
  (flags: Flags, around: Surroundings) =>
  <A>(reader: Effect.Effect<A, UsageError>): Effect.Effect<A, UsageError> =>
    Effect.flatMap(readConfig(flags, around), (file) =>
      Effect.withConfigProvider(
        reader,
        source((name) => givenAs(flagValue(flags, name), `--${flagOf(name)}`)).pipe(
          ConfigProvider.orElse(() => environment(around)),
          ConfigProvider.orElse(() => source((name) => file.get(name)))
        )
      )
    )

const environment = ({ env }: Surroundings): ConfigProvider.ConfigProvider =>
  source((name) =>
    runSettings.some((setting) => setting.name === name && setting.isFlagOnly === true)
      ? undefined
      : givenAs(env[variableOf(name)]?.trim() || undefined, `The environment variable ${variableOf(name)}`)
  )

const givenAs = (value: unknown, source: string): Given | undefined =>
  value === undefined ? undefined : { value, source }

const flagValue = ({ events, model, options, run, tools }: Flags, name: string): unknown =>
  new Map<string, unknown>(Object.entries({ events, model, tools })).get(name) ?? options.get(name) ?? run?.get(name)

const noModel = `No model is configured. Name one with --model <spec>, in the environment variable FORETHOUGHT_MODEL, or as "model" in ${defaultConfigFile}:
${modelHelp()}
To see a run without a model: forethought demo`

const readOptions = (
  flags: Flags,
  pattern: PatternEntry,
  folder: string
): Effect.Effect<ReadonlyMap<string, string | number>, UsageError> =>
  Effect.gen(function* () {
    const executor = yield* given("executor")
    const known = optionsOf(pattern, executor === undefined ? undefined : String(executor.value))
    for (const name of flags.options.keys()) {
      if (known.some((option) => option.name === name)) continue
      return yield* wrong(
        `The pattern ${pattern.name} has no option --${flagOf(name)}. Its options: ${known.map((option) => `--${flagOf(option.name)}`).join(", ") || "none"}.`
      )
    }
    const values = new Map<string, string | number>()
    for (const option of known) {
      const found = yield* given(option.name)
      if (found === undefined) continue
      const { source, value } = found
      if (typeof value !== "string" && typeof value !== "number") {
        return yield* wrong(`${source} must be a string or a number.`)
      }
      values.set(option.name, yield* reading(() => readOption(option, value, source, folder)))
    }
    return values
  })

const readConfig = (flags: Flags, around: Surroundings): Effect.Effect<ReadonlyMap<string, Given>, UsageError> =>
  Effect.gen(function* () {
    const named = flags.config ?? around.env["FORETHOUGHT_CONFIG"]
    const path = resolve(around.folder, named ?? defaultConfigFile)
    if (named === undefined && !existsSync(path)) return new Map()
    const where = `The config file ${named ?? defaultConfigFile}`
    const data = yield* Effect.try({
      try: () => parseJson(readFileSync(path, "utf8")),
      catch: (error) => {
        const what = error instanceof SyntaxError ? "is not valid JSON" : "cannot be read"
        return new UsageError(`${where} ${what}: ${messageOf(error)}`)
      }
    })
    if (!isObject(data)) {
      return yield* wrong(`${where} must hold a JSON object, such as {"model": "…", "tools": ["lookup"]}.`)
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
        return yield* wrong(`${where} has its MCP servers under two keys. Put them all under "mcp".`)
      }
      if (!known.includes(key)) {
        const [close] = near(key, [...known, ...rootKeys])
        return yield* wrong(
          /key|secret|password|token/i.test(key)
            ? `${where} has the key ${JSON.stringify(key)}: secrets do not belong in a file. Set FORETHOUGHT_API_KEY in the environment.`
            : `${where} has the key ${JSON.stringify(key)}, which is not known.${close === undefined ? "" : ` Did you mean "${close}"?`} Keys are ${known.join(", ")}.`
        )
      }
      values.set(key, { value, source: `"${written}" in the config file ${named ?? defaultConfigFile}` })
    }
    return values
  })
