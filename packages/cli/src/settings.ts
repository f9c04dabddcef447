/**
 * What a run is told: flags before environment variables before the config file.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { type Models, modelHelp, readModels } from "./models.js"
import { flagOf, readOption, variableOf } from "./options.js"
import { allOptions, type PatternEntry } from "./patterns.js"
import { near } from "./text.js"
import { defaultTools, pickTools, type ToolEntry } from "./tools.js"
import { messageOf, UsageError } from "./UsageError.js"

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
}

/** The surroundings of the program. */
export interface Around {
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
}

export interface Settings {
  readonly models: Models
  readonly tools: ReadonlyArray<ToolEntry>
  /** The file for events, as an absolute path. */
  readonly events: string | undefined
  readonly options: ReadonlyMap<string, string | number>
}

/** The config file that is read where none is named. */
export const defaultConfigFile = "forethought.config.json"

/** Puts the settings of a run of `pattern` together, and checks them. */
export const readSettings = (flags: Flags, pattern: PatternEntry, around: Around): Settings => {
  const file = readConfig(flags, around)
  const env = (name: string): Given | undefined => {
    const value = around.env[variableOf(name)]?.trim()
    return value === undefined || value === ""
      ? undefined
      : { value, source: `The environment variable ${variableOf(name)}` }
  }
  const flag = (name: string, value: string | undefined): Given | undefined =>
    value === undefined ? undefined : { value, source: `--${flagOf(name)}` }

  const models = given(flags.model, "--model") ?? env("model") ?? file.get("model")
  if (models === undefined) throw new UsageError(noModel)
  const tools = flag("tools", flags.tools) ?? env("tools") ?? file.get("tools")
  const events = flag("events", flags.events) ?? env("events") ?? file.get("events")
  return {
    models: readModels(texts(models), models.source, around),
    tools: tools === undefined ? pickTools(defaultTools, "The default") : pickTools(names(tools), tools.source),
    events: events === undefined ? undefined : resolve(around.folder, text(events)),
    options: readOptions(flags, pattern, env, file, around.folder)
  }
}

interface Given {
  readonly value: unknown
  /** Begins a message about the value. */
  readonly source: string
}

const given = (value: unknown, source: string): Given | undefined =>
  value === undefined ? undefined : { value, source }

const noModel = `No model is configured. Name one with --model <spec>, in the environment variable FORETHOUGHT_MODEL, or as "model" in ${defaultConfigFile}:
${modelHelp()}
To see a run without a model: forethought demo`

const readOptions = (
  flags: Flags,
  pattern: PatternEntry,
  env: (name: string) => Given | undefined,
  file: ReadonlyMap<string, Given>,
  folder: string
): ReadonlyMap<string, string | number> => {
  for (const name of flags.options.keys()) {
    if (!pattern.options.some((option) => option.name === name)) {
      throw new UsageError(
        `The pattern ${pattern.name} has no option --${flagOf(name)}. Its options: ${pattern.options.map((option) => `--${flagOf(option.name)}`).join(", ") || "none"}.`
      )
    }
  }
  const values = new Map<string, string | number>()
  for (const option of pattern.options) {
    const found =
      given(flags.options.get(option.name), `--${flagOf(option.name)}`) ?? env(option.name) ?? file.get(option.name)
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
    data = JSON.parse(readFileSync(path, "utf8"))
  } catch (error) {
    const what = error instanceof SyntaxError ? "is not valid JSON" : "cannot be read"
    throw new UsageError(`The config file ${shown} ${what}: ${messageOf(error)}`)
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new UsageError(
      `The config file ${shown} must hold a JSON object, such as {"model": "…", "tools": ["lookup"]}.`
    )
  }
  const known = ["model", "tools", "events", ...allOptions().map(({ option }) => option.name)]
  const values = new Map<string, Given>()
  for (const [key, value] of Object.entries(data)) {
    if (key === "$schema") continue
    if (/key|secret|password|token/i.test(key) && !known.includes(key)) {
      throw new UsageError(
        `The config file ${shown} has the key ${JSON.stringify(key)}: secrets do not belong into a file. Set FORETHOUGHT_API_KEY in the environment.`
      )
    }
    if (!known.includes(key)) {
      const [close] = near(key, known)
      throw new UsageError(
        `The config file ${shown} has the key ${JSON.stringify(key)}, which is not known.${close === undefined ? "" : ` Did you mean "${close}"?`} Keys are ${known.join(", ")}.`
      )
    }
    values.set(key, { value, source: `"${key}" in the config file ${shown}` })
  }
  return values
}

const text = ({ source, value }: Given): string => {
  if (typeof value !== "string" || value.trim() === "")
    throw new UsageError(`${source} must be a text that is not empty.`)
  return value
}

/** A text, or an array of texts. */
const texts = ({ source, value }: Given): ReadonlyArray<string> => {
  const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const read = list.filter((item) => typeof item === "string" && item.trim() !== "").map(String)
  if (read.length !== list.length || read.length === 0) {
    throw new UsageError(`${source} must be a text, or a list of texts, none of them empty.`)
  }
  return read
}

/** Names in a list, or in one text with commas between them. `none` is no name at all. */
const names = (tools: Given): ReadonlyArray<string> => {
  const read = texts(tools)
    .flatMap((part) => part.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "")
  return read.length === 1 && read[0]?.toLowerCase() === "none" ? [] : read
}
