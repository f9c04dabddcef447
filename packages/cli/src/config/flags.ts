/**
 * Flags as they were given on the command line.
 */

/** A flag that was not given is undefined. */
export interface Flags {
  readonly model?: ReadonlyArray<string> | undefined
  readonly tools?: string | undefined
  readonly events?: string | undefined
  readonly config?: string | undefined
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
  /** Options of patterns by their names. */
  readonly options: ReadonlyMap<string, string>
  /** The settings of `runSettings` by their names. */
  readonly run?: ReadonlyMap<string, unknown> | undefined
}

/** The config file that is read where none is named. */
export const defaultConfigFile = "forethought.config.json"
