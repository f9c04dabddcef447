/**
 * Values as they were given: by a flag, in the environment or in the config file.
 */
import { UsageError } from "../errors.js"

export interface Given {
  readonly value: unknown
  /** Begins a message about the value. */
  readonly source: string
}

/** Finds what was given under a name: flags before the environment, the environment before the file. */
export type Find = (name: string) => Given | undefined

/** A text that is not empty. */
export const text = ({ source, value }: Given): string => {
  if (typeof value !== "string" || value.trim() === "")
    throw new UsageError(`${source} must be a text that is not empty.`)
  return value
}

/** A text, or an array of texts. */
export const texts = ({ source, value }: Given): ReadonlyArray<string> => {
  const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const read = list.filter((item) => typeof item === "string" && item.trim() !== "").map(String)
  if (read.length !== list.length || read.length === 0) {
    throw new UsageError(`${source} must be a text, or a list of texts, none of them empty.`)
  }
  return read
}

/** Names in a list, or in one text with commas between them. `none` is not a name at all. */
export const names = (given: Given): ReadonlyArray<string> => {
  const read = texts(given)
    .flatMap((part) => part.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "")
  return read.length === 1 && read[0]?.toLowerCase() === "none" ? [] : read
}

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

/** A switch; one that is not given is off. */
export const isOn = (given: Given | undefined): boolean => {
  if (given === undefined) return false
  const on = words.get(typeof given.value === "string" ? given.value.trim().toLowerCase() : given.value)
  if (on === undefined) throw new UsageError(`${given.source} must be true or false.`)
  return on
}

/** An address that starts with http:// or https://, without a name and a password in it. */
export const address = (given: Given): string => {
  const read = text(given).trim()
  const url = URL.canParse(read) ? new URL(read) : undefined
  // An address can hold a secret, so it is not shown.
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(`${given.source} must be an address that starts with http:// or https://.`)
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`${given.source} must not hold a name and a password.`)
  }
  return read
}
