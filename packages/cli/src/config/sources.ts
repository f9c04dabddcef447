/**
 * Settings as they were given: by a flag, in the environment or in the config file. Each source is a `ConfigProvider`
 * whose values are JSON, with the words that begin a message about the value; the sources are one chain.
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as PathPatch from "effect/ConfigProviderPathPatch"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import { UsageError } from "../errors.js"

export interface Given {
  readonly value: unknown
  /** Begins a message about the value: `--max-cost`. */
  readonly source: string
}

// ---------------------------------------------------------------------------------------------------------------
// sources
// ---------------------------------------------------------------------------------------------------------------

/** Makes a source of a function that finds what was given under a name. */
export const source = (find: (name: string) => Given | undefined): ConfigProvider.ConfigProvider =>
  ConfigProvider.fromFlat(
    ConfigProvider.makeFlat({
      load: (path, primitive) => {
        const found = find(path.join("."))
        return found === undefined
          ? Effect.fail(ConfigError.MissingData([...path], "It was not given."))
          : Effect.map(primitive.parse(JSON.stringify(found)), (value) => [value])
      },
      enumerateChildren: () => Effect.succeed(HashSet.empty()),
      patch: PathPatch.empty
    })
  )

/** Finds a setting in the chain of sources in force. */
export const given = (name: string): Effect.Effect<Given | undefined> =>
  Effect.match(Config.string(name), { onFailure: () => undefined, onSuccess: (text): Given => JSON.parse(text) })

/** Reads a setting, if it was given. */
export const optional = <A>(
  name: string,
  read: (given: Given) => Effect.Effect<A, UsageError>
): Effect.Effect<A | undefined, UsageError> =>
  Effect.flatMap(given(name), (found) => (found === undefined ? Effect.succeed(undefined) : read(found)))

/** Fails with a `UsageError`. */
export const wrong = (message: string): Effect.Effect<never, UsageError> => Effect.fail(new UsageError(message))

// ---------------------------------------------------------------------------------------------------------------
// values
// ---------------------------------------------------------------------------------------------------------------

/** Reads a text that is not empty. */
export const text = ({ source, value }: Given): Effect.Effect<string, UsageError> =>
  typeof value === "string" && value.trim() !== ""
    ? Effect.succeed(value)
    : wrong(`${source} must be a text that is not empty.`)

/** Reads a text, or an array of texts. */
export const texts = ({ source, value }: Given): Effect.Effect<ReadonlyArray<string>, UsageError> => {
  const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const read = list.filter((item) => typeof item === "string" && item.trim() !== "").map(String)
  return read.length === list.length && read.length > 0
    ? Effect.succeed(read)
    : wrong(`${source} must be a text, or a list of texts, none of them empty.`)
}

/** Reads names in a list, or in one text with commas between them. `none` is not a name at all. */
export const names = (given: Given): Effect.Effect<ReadonlyArray<string>, UsageError> =>
  Effect.map(texts(given), (parts) => {
    const read = parts.flatMap((part) => part.split(",")).map((name) => name.trim())
    const named = read.filter((name) => name !== "")
    return named.length === 1 && named[0]?.toLowerCase() === "none" ? [] : named
  })

const words: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ["true", true],
  ["1", true],
  ["yes", true],
  ["on", true],
  [false, false],
  ["false", false],
  ["0", false],
  ["no", false],
  ["off", false]
])

/** Reads a switch. One that is not given is off. */
export const isOn = (name: string): Effect.Effect<boolean, UsageError> =>
  Effect.map(
    optional(name, ({ source, value }) => {
      const on = words.get(typeof value === "string" ? value.trim().toLowerCase() : value)
      return on === undefined ? wrong(`${source} must be true or false.`) : Effect.succeed(on)
    }),
    (on) => on ?? false
  )

/** Reads an address that starts with http:// or https://, without a name and a password in it. */
export const address = (given: Given): Effect.Effect<string, UsageError> =>
  Effect.flatMap(text(given), (written) => {
    const read = written.trim()
    const url = URL.canParse(read) ? new URL(read) : undefined
    // An address can hold a secret, so it is not shown.
    if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
      return wrong(`${given.source} must be an address that starts with http:// or https://.`)
    }
    return url.username === "" && url.password === ""
      ? Effect.succeed(read)
      : wrong(`${given.source} must not hold a name and a password.`)
  })
