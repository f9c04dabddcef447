/**
 * Checks of options at run time. A wrong option is a mistake in the program: it throws an {@link InvalidOption} where
 * the program is built, and never turns into a default.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/** A wrong option, thrown where it is given. */
export class InvalidOption extends RangeError {
  readonly _tag = "InvalidOption"
  /** The taker of the option, such as `ReAct.run`. */
  readonly owner: string
  readonly option: string
  /** Says in a sentence what is wrong with it and what is possible. */
  readonly problem: string
  constructor({ option, owner, problem }: Pick<InvalidOption, "owner" | "option" | "problem">) {
    super(`${owner}: ${problem}`)
    this.name = "InvalidOption"
    this.owner = owner
    this.option = option
    this.problem = problem
  }
}

/** Throws an {@link InvalidOption}. */
export const refuse = (owner: string, option: string, problem: string): never => {
  throw new InvalidOption({ owner, option, problem })
}

/** Refuses keys that no option has: a misspelt or misplaced option must not be ignored. */
export const rejectUnknown = (owner: string, options: object, known: ReadonlyArray<string>): void => {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue
    refuse(owner, option, `unknown option ${JSON.stringify(option)}. Options are ${known.join(", ")}.`)
  }
}

/** Returns a Schedule, such as `Schedule.recurs(1)`. */
export const schedule = (owner: string, option: string, value: unknown): Schedule.Schedule<unknown, unknown> =>
  isSchedule(value) ? value : wrong(owner, option, "must be a Schedule, such as Schedule.recurs(1)", value)

const isSchedule = (value: unknown): value is Schedule.Schedule<unknown, unknown> => Schedule.isSchedule(value)

/** Returns a function. */
export const fn = (owner: string, option: string, value: unknown): unknown =>
  typeof value === "function" ? value : wrong(owner, option, "must be a function", value)

/** Returns an `AnswerFormat`, such as `AnswerFormat.number`. */
export const answerFormat = (owner: string, option: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && "read" in value && typeof value.read === "function"
    ? value
    : wrong(owner, option, "must be an AnswerFormat, such as AnswerFormat.number", value)

/** Returns a whole number of at least `least`. */
export const wholeNumber = (owner: string, option: string, value: unknown, least = 1): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least
    ? value
    : wrong(owner, option, `must be a whole number of at least ${least}`, value)

/** Returns a positive duration, in milliseconds. */
export const positiveMillis = (owner: string, option: string, value: unknown): number => {
  const duration = Duration.decodeUnknown(value)
  const millis = Option.isSome(duration) ? Duration.toMillis(duration.value) : 0
  return millis > 0
    ? millis
    : wrong(owner, option, 'must be a duration longer than 0, such as "30 seconds" or 500 (milliseconds)', value)
}

/** Returns one of the given words. */
export const oneOf = <const Word extends string>(
  owner: string,
  option: string,
  value: unknown,
  words: ReadonlyArray<Word>
): Word =>
  words.find((word) => word === value) ??
  wrong(owner, option, `must be ${words.map((word) => JSON.stringify(word)).join(" or ")}`, value)

const wrong = (owner: string, option: string, rule: string, value: unknown): never => {
  const given = typeof value === "number" || typeof value === "bigint" ? String(value) : JSON.stringify(value)
  return refuse(owner, option, `${option} ${rule}, got ${given}.`)
}
