/** Reading of untrusted JSON: every accessor gives a value of the type it names, or `undefined`. */

export type JsonObject = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

export const asArray = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const asNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

/** The value of a JSON text, or `undefined` where it is none. (JSON has no `undefined` of its own.) */
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
