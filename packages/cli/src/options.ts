/**
 * The options of patterns as flags, environment variables and keys of the config file.
 */
import { UsageError } from "./UsageError.js"

/** One option of a pattern. */
export interface PatternOption {
  /** The pattern's own name of it, and the key in the config file: `maxPlanLength`. */
  readonly name: string
  readonly description: string
  /** `count`: a whole number of at least `least`. `duration`: a number with a unit. `choice`: one of `choices`. */
  readonly kind: "count" | "duration" | "choice"
  readonly least?: number
  readonly choices?: ReadonlyArray<string>
  /** As it is written on the command line: `8`, `30 seconds`. */
  readonly default: string
}

/** The options of one run, every one with a value. */
export interface OptionValues {
  readonly count: (name: string) => number
  /** In milliseconds. */
  readonly millis: (name: string) => number
  readonly choice: (name: string) => string
}

/** `maxPlanLength` as a flag: `max-plan-length`. */
export const flagOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `maxPlanLength` as an environment variable: `FORETHOUGHT_MAX_PLAN_LENGTH`. */
export const variableOf = (name: string): string =>
  `FORETHOUGHT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** Reads one value; `source` says where it comes from, for the message. */
export const readOption = (option: PatternOption, value: string | number, source: string): string | number => {
  const text = String(value).trim()
  switch (option.kind) {
    case "count": {
      const least = option.least ?? 1
      const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (!(count >= least)) {
        throw new UsageError(`${source} must be a whole number of at least ${least}, got ${JSON.stringify(text)}.`)
      }
      return count
    }
    case "duration":
      return readDuration(text, source)
    case "choice":
      if (!(option.choices ?? []).includes(text)) {
        throw new UsageError(`${source} must be one of ${option.choices?.join(", ")}, got ${JSON.stringify(text)}.`)
      }
      return text
  }
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

/** Values under their names, defaults where none is given. */
export const optionValues = (
  options: ReadonlyArray<PatternOption>,
  given: ReadonlyMap<string, string | number>
): OptionValues => {
  const valueOf = (name: string): string | number => {
    const option = options.find((candidate) => candidate.name === name)
    if (option === undefined) throw new RangeError(`There is no option ${name}.`)
    return given.get(name) ?? readOption(option, option.default, `The default of ${name}`)
  }
  return {
    count: (name) => Number(valueOf(name)),
    millis: (name) => Number(valueOf(name)),
    choice: (name) => String(valueOf(name))
  }
}
