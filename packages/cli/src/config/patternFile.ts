/**
 * Patterns of a user's own, from files of JavaScript: `run ./my-pattern.mjs`, `--pattern-file FILE`.
 */
import { existsSync, readFileSync } from "node:fs"
import { register } from "node:module"
import { extname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { Any } from "@forethought/core/Pattern"
import { messageOf, UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"
import { defaultConfigFile } from "./flags.js"
import { flagOf, parseJson, readOption, variableOf } from "./options.js"
import { allOptions, catalogueOf, type Needs, ownOptions, type PatternEntry, patterns } from "./patterns.js"
import { runSettings } from "./runSettings.js"

/** The commands that take patterns of a user's own. */
const commands = ["run", "explain", "mcp", "patterns"]

/** Flags of the commands themselves; `true` where they take a value. */
const flags: ReadonlyMap<string, boolean> = new Map([
  ...["--model", "-m", "--tools", "-t", "--events", "-e", "--config", "-c"].map((flag) => [flag, true] as const),
  ...["--json", "--quiet", "-q", "--help", "-h", "--version", "-V", "--mermaid"].map((flag) => [flag, false] as const),
  ...runSettings.map(({ name, usage }) => [`--${flagOf(name)}`, usage !== undefined] as const)
])

/**
 * Returns the patterns of a run: those of the package, and those of the files that the arguments, the environment or
 * the config file name. `args` come back with the name of a pattern in the place of its file. Rejects with a
 * `UsageError`.
 */
export const find = async (
  args: ReadonlyArray<string>,
  around: Surroundings
): Promise<{ readonly args: ReadonlyArray<string>; readonly patterns: ReadonlyArray<PatternEntry> }> => {
  if (!commands.includes(args[0] ?? "")) return { args, patterns }
  const place = positionOf(args)
  const named = place === undefined ? undefined : args[place]
  const files = [...(named === undefined ? [] : [named]), ...fileFlags(args, around)]
  if (files.length === 0) return { args, patterns }
  share()
  const own: Array<Own> = []
  for (const file of new Set(files.map((file) => resolve(around.folder, file)))) own.push(await load(file, own))
  const [first] = own
  return {
    args: args.map((arg, index) => (index === place && first !== undefined ? first.name : arg)),
    patterns: catalogueOf(own)
  }
}

// ---------------------------------------------------------------------------------------------------------------
// naming files
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns where the arguments of `run` and `explain` name a file in the place of a pattern. Options may stand before
 * it.
 */
const positionOf = (args: ReadonlyArray<string>): number | undefined => {
  if (args[0] !== "run" && args[0] !== "explain") return undefined
  const known = new Map([
    ...flags,
    ...allOptions(patterns).map(({ option }) => [`--${flagOf(option.name)}`, true] as const)
  ])
  for (let index = 1; index < args.length; index++) {
    const arg = args[index] ?? ""
    if (arg.startsWith("-") && arg !== "-") {
      if (known.get(arg) === true) index++
      continue
    }
    if (/[\\/]|\.[cm]?[jt]sx?$/.test(arg)) return index
    // The value of an option that only the pattern knows.
    if (!(args[index - 1] ?? "").startsWith("--") || known.has(args[index - 1] ?? "")) return undefined
  }
  return undefined
}

const fileFlags = (args: ReadonlyArray<string>, { env, folder }: Surroundings): ReadonlyArray<string> => {
  const flag = (name: string) =>
    args.flatMap((arg, index) =>
      arg === name ? (args[index + 1] ?? []) : arg.startsWith(`${name}=`) ? arg.slice(name.length + 1) : []
    )
  const given = flag("--pattern-file")
  if (given.length > 0) return given
  const variable = env[variableOf("patternFile")]?.trim() ?? ""
  if (variable !== "") return [variable]
  const config = [...flag("--config"), ...flag("-c"), env["FORETHOUGHT_CONFIG"] ?? defaultConfigFile][0] ?? ""
  const path = resolve(folder, config)
  // A config file that cannot be read is told when its settings are.
  const written = existsSync(path) ? keyOf(readFileSync(path, "utf8"), "patternFile") : undefined
  const list: ReadonlyArray<unknown> = Array.isArray(written) ? written : written === undefined ? [] : [written]
  return list.map((file) => {
    if (typeof file === "string" && file !== "") return file
    throw new UsageError(`"patternFile" in the config file ${config} must be a text, or a list of texts.`)
  })
}

const keyOf = (text: string, key: string): unknown => {
  try {
    return Object(parseJson(text))[key]
  } catch {
    return undefined
  }
}

// ---------------------------------------------------------------------------------------------------------------
// loading
// ---------------------------------------------------------------------------------------------------------------

type Own = Parameters<typeof catalogueOf>[0][number]

let isShared = false

/**
 * Gives files that are loaded from now on this program's copy of `effect` and of our packages: with a second copy an
 * error of one is not an error of the other.
 */
const share = (): void => {
  if (isShared) return
  isShared = true
  const hook = `
    let parentURL
    export const initialize = (data) => { parentURL = data }
    export const resolve = (specifier, context, next) =>
      /^(effect|@forethought\\/[^/]+)(\\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL })
        : next(specifier, context)`
  register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: import.meta.url })
}

const load = async (file: string, others: ReadonlyArray<Own>): Promise<Own> => {
  const where = `The pattern file ${file}`
  if (!existsSync(file)) throw new UsageError(`${where} does not exist.`)
  if (/^\.[cm]?tsx?$/.test(extname(file)) && !("typescript" in process.features && process.features.typescript)) {
    throw new UsageError(
      `${where} is TypeScript, which Node ${process.versions.node} does not run. Compile it to JavaScript and name that file, or use Node 22.18 or later.`
    )
  }
  let exports: { readonly [name: string]: unknown }
  try {
    exports = await import(pathToFileURL(file).href)
  } catch (error) {
    throw new UsageError(`${where} cannot be loaded: ${messageOf(error)}`)
  }
  const pattern = exports["pattern"] ?? exports["default"]
  if (!isPattern(pattern)) {
    throw new UsageError(
      `${where} has no pattern: export one as \`pattern\` or as the default, made with Pattern.make of @forethought/core.`
    )
  }
  const problem = clashOf(pattern, others)
  if (problem !== undefined) throw new UsageError(`${where} cannot be used: ${problem}`)
  return { ...pattern, load: async () => pattern }
}

const isPattern = (value: unknown): value is Any<Needs> => {
  if (typeof value !== "object" || value === null) return false
  const fields: { readonly [name: string]: unknown } = { ...value }
  return (
    ["name", "summary", "chooseWhen", "tools"].every((name) => typeof fields[name] === "string") &&
    ["run", "answer"].every((name) => typeof fields[name] === "function") &&
    typeof fields["options"] === "object" &&
    fields["options"] !== null &&
    Array.isArray(fields["roles"])
  )
}

/** Returns what of a pattern has a name that is taken, or a default that cannot be read. */
const clashOf = (pattern: Any<Needs>, others: ReadonlyArray<Own>): string | undefined => {
  const { name } = pattern
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) {
    return `its name ${JSON.stringify(name.slice(0, 80))} must be lower-case letters, digits and "-", at most 64.`
  }
  if ([...patterns, ...others].some((other) => other.name === name)) {
    return `there is another pattern named ${JSON.stringify(name)}. Give it a name of its own.`
  }
  for (const option of ownOptions({ ...pattern, load: async () => pattern, executors: () => patterns })) {
    if (!/^[a-z][A-Za-z0-9]*$/.test(option.name))
      return `its option ${JSON.stringify(option.name)} must be a name such as maxSteps.`
    if (flags.has(`--${flagOf(option.name)}`)) {
      return `its option ${JSON.stringify(option.name)} has the name of the runner's flag --${flagOf(option.name)}. Rename it.`
    }
    const shared = allOptions(patterns).find((other) => other.option.name === option.name)
    if (shared !== undefined && (shared.option.kind === "switch") !== (option.kind === "switch")) {
      return `its option ${JSON.stringify(option.name)} is a switch where that of ${shared.patterns[0]?.name} takes a value, or the reverse. Rename it.`
    }
    try {
      if (option.default !== undefined)
        readOption(option, option.default, `the default of ${JSON.stringify(option.name)}`, ".")
    } catch (error) {
      return messageOf(error)
    }
  }
  return undefined
}
