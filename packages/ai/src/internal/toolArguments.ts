import { asObject, type JsonObject, parseJson } from "@forethought/core/Json"

/**
 * The arguments of an earlier tool call, to be sent back. Providers refuse the whole conversation over arguments that
 * are not a JSON object; that is the model's own mistake and already answered by a tool message, so the text travels
 * inside an object.
 */
export const toObject = (text: string): JsonObject => {
  if (text.trim() === "") return {}
  return asObject(parseJson(text)) ?? { invalid_arguments: text }
}

/** {@link toObject} as text: the model's own wherever it is an object. */
export const toObjectText = (text: string): string =>
  asObject(parseJson(text)) === undefined ? JSON.stringify(toObject(text)) : text

/** The raw text of arguments that a provider hands over as a value. */
export const toText = (value: unknown): string => {
  if (typeof value === "string") return value
  return value === undefined || value === null ? "" : JSON.stringify(value)
}
