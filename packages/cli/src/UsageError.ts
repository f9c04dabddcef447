/**
 * What a person got wrong, or what the machine lacks. Ends the program with exit code 1 and its message alone.
 */
export class UsageError extends Error {
  readonly _tag = "UsageError"
}

/** Exit codes. */
export const ExitCode = {
  answered: 0,
  /** A wrong flag, a broken file, a model that cannot be reached. */
  failed: 1,
  /** The pattern ended without an answer. */
  notAnswered: 2,
  /** By SIGINT; another signal has a code of its own. */
  interrupted: 130
} as const

/**
 * An error's message, from whatever was thrown. An option out of its range is told without the function that takes it,
 * `Router.run: `, which is nothing that a person has called.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error instanceof RangeError ? error.message.replace(/^[A-Z]\w{0,40}(\.\w{1,40})?: /, "") : error.message
}
