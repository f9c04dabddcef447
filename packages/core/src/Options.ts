/**
 * Checks of options at run time. A wrong option is a mistake in the program: it throws a `RangeError` where the
 * program is built, and never turns into a default.
 */
import * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"

/** Refuses keys that no option has: a misspelt or misplaced option must not be ignored. */
export const rejectUnknown = (owner: string, options: object, known: ReadonlyArray<string>): void => {
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new RangeError(`${owner}: unknown option ${JSON.stringify(key)}. Options are ${known.join(", ")}.`)
    }
  }
}

/** The options of an option, such as `prompts`: the same holds for them. */
export const rejectUnknownIn = (
  owner: string,
  name: string,
  options: object | undefined,
  known: ReadonlyArray<string>
): void => {
  if (options !== undefined) rejectUnknown(`${owner}, ${name}`, options, known)
}

/** A Schedule, such as `Schedule.recurs(1)`. */
export const schedule = <S extends Schedule.Schedule<unknown, unknown>>(owner: string, name: string, value: S): S => {
  if (!Schedule.isSchedule(value)) {
    throw new RangeError(
      `${owner}: ${name} must be a Schedule, such as Schedule.recurs(1), got ${JSON.stringify(value)}.`
    )
  }
  return value
}

/** A function, where one is given. */
export const optionalFunction = (owner: string, name: string, value: unknown): void => {
  if (value !== undefined && typeof value !== "function") {
    throw new RangeError(`${owner}: ${name} must be a function, got ${JSON.stringify(value)}.`)
  }
}

/** A whole number of at least `least`. */
export const wholeNumber = (owner: string, name: string, value: number, least = 1): number => {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${owner}: ${name} must be a whole number of at least ${least}, got ${value}.`)
  }
  return value
}

/** A positive duration, in milliseconds. */
export const positiveMillis = (owner: string, name: string, value: Duration.DurationInput): number => {
  const millis = decodeMillis(value)
  if (millis === undefined || !(millis > 0)) {
    throw new RangeError(
      `${owner}: ${name} must be a duration longer than 0, such as "30 seconds" or 500 (milliseconds), got ${typeof value === "bigint" ? value : JSON.stringify(value)}.`
    )
  }
  return millis
}

const decodeMillis = (value: Duration.DurationInput): number | undefined => {
  try {
    return Duration.toMillis(value)
  } catch {
    return undefined
  }
}

/** One of the given words. */
export const oneOf = <const Word extends string>(
  owner: string,
  name: string,
  value: Word,
  words: ReadonlyArray<Word>
): Word => {
  if (!words.includes(value)) {
    const known = words.map((word) => JSON.stringify(word)).join(" or ")
    throw new RangeError(`${owner}: ${name} must be ${known}, got ${JSON.stringify(value)}.`)
  }
  return value
}
