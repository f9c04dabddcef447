/**
 * The options of patterns as flags, environment variables and keys of the config file.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { Holes } from "@forethought/core/Pattern"
import { messageOf, UsageError } from "../errors.js"
import { meant, near } from "../screen/text.js"

/** One option of a pattern. */
export interface PatternOption {
  /** The pattern's own name of it, and the key in the config file: `maxPlanLength`. */
  readonly name: string
  readonly description: string
  /**
   * `count`: a whole number of at least `least`. `duration`: a number with a unit. `choice`: one of `choices`. `list`:
   * some of `choices`, with commas between them. `format`: an answer format. `file`: a JSON file of texts, whose keys
   * are among `choices`. `text`: any. `switch`: on or off.
   */
  readonly kind: "count" | "duration" | "choice" | "list" | "format" | "file" | "text" | "switch"
  readonly least?: number
  readonly choices?: ReadonlyArray<string>
  /** The holes that each text of a `file` may have, and the one that it needs. */
  readonly holes?: { readonly [key: string]: Holes }
  /** As it is written on the command line: `8`, `30 seconds`. Without one, what is not given is not there. */
  readonly default?: string
}

const short = 24

/** Returns how a value is written, for help: `<count>`, `<a|b>`. Many choices stand in {@link meaningOf}. */
export const usageOf = (option: PatternOption): string => {
  const choices = option.choices?.join("|") ?? ""
  return option.kind === "choice" && choices.length <= short ? `<${choices}>` : `<${option.kind}>`
}

/** Returns what an option does, with its choices if they do not stand in {@link usageOf}. */
export const meaningOf = (option: PatternOption): string =>
  option.kind === "choice" && (option.choices?.join("|") ?? "").length > short
    ? `${option.description}: ${option.choices?.join(", ")}`
    : option.description

/** `maxPlanLength` as a flag: `max-plan-length`. */
export const flagOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `maxPlanLength` as an environment variable: `FORETHOUGHT_MAX_PLAN_LENGTH`. */
export const variableOf = (name: string): string =>
  `FORETHOUGHT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** Reads one value; `source` says where it comes from, for the message; relative paths start in `folder`. */
export const readOption = (
  option: PatternOption,
  value: string | number,
  source: string,
  folder: string
): string | number => {
  const text = String(value).trim()
  switch (option.kind) {
    case "count": {
      const least = option.least ?? 1
      const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (/^\d{16,}$/.test(text)) {
        throw new UsageError(`${source} must be a whole number of at most ${"9".repeat(15)}.`)
      }
      if (!(count >= least)) {
        throw new UsageError(`${source} must be a whole number of at least ${least}, got ${JSON.stringify(text)}.`)
      }
      return count
    }
    case "duration":
      return readDuration(text, source)
    case "choice":
      return readChoice(option, text, source)
    case "list":
      return text
        .split(",")
        .map((name) => readChoice(option, name.trim(), source))
        .join(",")
    case "format":
      checkFormat(text, source)
      return text
    case "text":
      return text
    case "switch": {
      const word = ["true", "1", "yes", "on"].includes(text) ? "true" : "false"
      if (word === "false" && !["false", "0", "no", "off"].includes(text)) {
        throw new UsageError(`${source} must be true or false, got ${JSON.stringify(text)}.`)
      }
      return word
    }
    case "file":
      return readTexts(text, source, folder, option)
  }
}

const readChoice = (option: PatternOption, text: string, source: string): string => {
  const choices = option.choices ?? []
  if (choices.includes(text)) return text
  const [close] = near(text, choices)
  throw new UsageError(
    `${source} must be one of ${choices.join(", ")}, got ${JSON.stringify(text)}.${close === undefined ? "" : ` Did you mean ${close}?`}`
  )
}

/** The labels of `option:A,B,C`. */
export const labelsOf = (format: string): ReadonlyArray<string> =>
  format
    .slice("option:".length)
    .split(",")
    .map((label) => label.trim())

const checkFormat = (text: string, source: string): void => {
  if (["number", "date", "text"].includes(text)) return
  const labels = text.startsWith("option:") ? labelsOf(text) : []
  if (labels.length < 2 || labels.includes("") || new Set(labels).size < labels.length) {
    throw new UsageError(
      `${source} must be number, date, text, or two or more options such as "option:A,B,C", got ${JSON.stringify(text)}.`
    )
  }
}

/** Reads options that came as JSON, such as from an MCP client: prompts as texts, and never a file's name. */
export const readGiven = (
  options: ReadonlyArray<PatternOption>,
  given: { readonly [name: string]: unknown }
): ReadonlyMap<string, string | number> =>
  new Map(
    Object.entries(given).map(([name, value]) => {
      const option = options.find((other) => other.name === name)
      const source = `The option ${name.slice(0, 60)}`
      if (option === undefined) {
        const names = options.map((other) => other.name)
        throw new UsageError(`${source} is not known.${meant(name, names)} Options: ${names.join(", ")}.`)
      }
      if (option.kind === "file") {
        return [name, checkTexts(value, source, { keys: option.choices ?? [], holes: option.holes })]
      }
      const written = option.kind === "list" && Array.isArray(value) ? value.join(",") : value
      if (typeof written !== "string" && typeof written !== "number" && typeof written !== "boolean") {
        throw new UsageError(`${source} must be a string or a number.`)
      }
      return [name, readOption(option, String(written), source, ".")]
    })
  )

/** JSON as an editor may have written it: with a byte order mark. */
export const parseJson = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))

/** The file's texts, again as JSON. */
const readTexts = (
  file: string,
  source: string,
  folder: string,
  { choices: keys = [], holes }: PatternOption
): string => {
  const where = `${source}: the file ${file}`
  let data: unknown
  try {
    data = parseJson(readFileSync(resolve(folder, file), "utf8"))
  } catch (error) {
    const what = error instanceof SyntaxError ? "is not valid JSON" : "cannot be read"
    throw new UsageError(`${where} ${what}: ${messageOf(error)}`)
  }
  return checkTexts(data, where, { keys, holes })
}

/** Texts by key, again as JSON. */
const checkTexts = (
  data: unknown,
  where: string,
  { holes, keys }: { readonly keys: ReadonlyArray<string>; readonly holes: PatternOption["holes"] }
): string => {
  const entries = typeof data === "object" && data !== null && !Array.isArray(data) ? Object.entries(data) : []
  if (entries.length === 0) {
    throw new UsageError(`${where} must hold a JSON object of texts. Its keys are ${keys.join(", ")}.`)
  }
  for (const [key, text] of entries) {
    if (!keys.includes(key)) {
      throw new UsageError(
        `${where} has the key ${JSON.stringify(key)}, which is not known.${meant(key, keys)} Its keys are ${keys.join(", ")}.`
      )
    }
    if (typeof text !== "string") throw new UsageError(`${where} must hold a text as ${JSON.stringify(key)}.`)
    checkHoles(text, `${where}: ${JSON.stringify(key)}`, holes?.[key])
  }
  return JSON.stringify(data)
}

const checkHoles = (text: string, where: string, holes: Holes | undefined): void => {
  const needed = holes?.needed
  if (needed === undefined || new RegExp(`\\{\\{\\s*${needed}\\s*\\}\\}`).test(text)) return
  throw new UsageError(
    `${where} leaves out {{${needed}}}, so the model would not be told what it is about. The holes of this prompt are ${holes?.all.map((hole) => `{{${hole}}}`).join(", ")}.`
  )
}

/** Milliseconds of `30 seconds`, `30s`, `500 ms`, `1.5 minutes`. */
export const readDuration = (text: string, source: string): number => {
  const match = /^(\d{1,12}(?:\.\d{1,6})?) ?([a-z]{1,12})$/.exec(text.trim())
  const unit = units[match?.[2] ?? ""]
  const millis = match === null || unit === undefined ? Number.NaN : Number(match[1]) * unit
  if (!(millis > 0 && millis <= longest)) {
    throw new UsageError(
      `${source} must be a duration such as "30 seconds", "500 ms" or "2 minutes", got ${JSON.stringify(text)}.`
    )
  }
  return millis
}

const longest = 2 ** 31 - 1

const units: { readonly [unit: string]: number } = Object.assign(Object.create(null), {
  ms: 1,
  milli: 1,
  millis: 1,
  s: 1_000,
  second: 1_000,
  seconds: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000
})

/** Returns the options of one pattern as another one gets them that it hands on to. */
export const handedOn = (
  given: ReadonlyMap<string, string | number>,
  others: ReadonlyArray<PatternOption>
): ReadonlyMap<string, string | number> =>
  new Map(
    [...given].filter(([name, value]) => {
      const option = others.find((other) => other.name === name)
      // Prompts belong to one pattern: those of another have other holes. Nor has each the same choices.
      return name !== "prompts" && (option?.kind !== "choice" || option.choices?.includes(String(value)) === true)
    })
  )

/** The texts of a file of the kind `file`, as it was read. */
export const textsIn = (json: string): { readonly [key: string]: string } => {
  const data: unknown = JSON.parse(json)
  return Object.fromEntries(Object.entries(Object(data)).map(([key, text]) => [key, String(text)]))
}
