/**
 * JSON values and JSON Schemas as plain data, and accessors for JSON whose shape nobody promised: each returns a value
 * of the type it names, or `undefined`.
 */

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** A JSON Schema (draft 2020-12 or 7) as plain data. Opaque here: it is only ever sent to a model or a server. */
export type JsonSchema = { readonly [key: string]: unknown }

// ---------------------------------------------------------------------------------------------------------------
// accessors
// ---------------------------------------------------------------------------------------------------------------

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown }

/** Returns whether a value is an object and not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

export const asArray = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const asNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

/** Returns the value of a JSON text, or `undefined` if it is not JSON, which has no `undefined` of its own. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The objects of an array, without what else stands in it. */
export const asObjects = (value: unknown): ReadonlyArray<JsonObject> => asArray(value).filter(isObject)

/** {@link asObjects}, or one that stands where a list of them should. */
export const asList = (value: unknown): ReadonlyArray<JsonObject> => (isObject(value) ? [value] : asObjects(value))

/** Those of the values that are numbers. */
export const asNumbers = <Name extends string>(
  values: { readonly [name in Name]: unknown }
): {
  readonly [name in Name]?: number
} => {
  const found: { [name in Name]?: number } = {}
  for (const name in values) {
    const value = asNumber(values[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

/** A text that says something, without blanks around it. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined

/** Returns the value as JSON, or nothing if it is nested too deeply to be written. */
export const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
