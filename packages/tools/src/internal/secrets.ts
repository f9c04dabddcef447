/**
 * Values that must not be seen: how they are given, and how they are kept out of a text.
 */
import * as Redacted from "effect/Redacted"

/** A value that may be kept out of sight: wrapped by `Redacted.make`. */
export type MaybeSecret = string | Redacted.Redacted<string>

export const reveal = (value: MaybeSecret): string => (typeof value === "string" ? value : Redacted.value(value))

export const isSecret = (value: MaybeSecret): boolean => typeof value !== "string"

/** Shorter values are not secrets, and would take ordinary words out of a text. */
const leastSecretChars = 6

/** A function that replaces each of the given values in a text by `[redacted]`. */
export const hider = (values: ReadonlyArray<MaybeSecret>): ((text: string) => string) => {
  const hidden = [...new Set(values.map(reveal))]
    .filter((value) => value.length >= leastSecretChars)
    // A value that holds another one is replaced first, or its rest would stay.
    .sort((a, b) => b.length - a.length)
  return (text) => hidden.reduce((shown, value) => shown.replaceAll(value, () => "[redacted]"), text)
}
