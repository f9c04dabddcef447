/**
 * A mistake of a person, or something that the machine lacks. Ends the program with exit code 1 and its message alone.
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
 * An error's message, from whatever was thrown. A wrong option is told without its owner, such as
 * `Router.run`, which is nothing that a person has called.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // Told apart by its tag: a program that only shows its help does not load what defines it.
  return "_tag" in error && error._tag === "InvalidOption" && "problem" in error ? String(error.problem) : error.message
}
