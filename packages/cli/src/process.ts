/**
 * The surroundings of the program.
 */
import type { PatternEntry } from "./config/patterns.js"
import type { Output } from "./screen/screen.js"
import type { Terminal } from "./screen/terminal.js"

/** The folder and the variables in which settings are looked up. */
export interface Surroundings {
  /** Relative paths start here. */
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Every pattern that there is, a user's own among them. Default: those of the package. */
  readonly patterns?: ReadonlyArray<PatternEntry> | undefined
}

/** Two streams, as the process has them. */
export interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** The process as the program sees it. */
export interface Process extends Surroundings {
  readonly streams: Streams
  readonly stderr: Output
  readonly readStdin: () => Promise<string>
  /** Nothing where standard input or standard error is not a terminal: then nobody can be asked. */
  readonly terminal?: Terminal | undefined
  /** Aborted by SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal
}
