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
  interrupted: 130
} as const

/** An error's message, from whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
