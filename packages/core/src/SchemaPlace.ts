/**
 * A place in a JSON Schema: which types a value may have there, and the places of what is inside it.
 *
 * Used to tell whether a text is wanted as text or as the JSON value that it spells. Where a schema says nothing, a
 * text is wanted as text.
 */

import type { JsonSchema } from "./Json.js"
import { isObject } from "./Json.js"

/** All schemas that a value at this place may fit: more than one under `anyOf` and its like. */
export interface SchemaPlace {
  readonly root: JsonSchema
  readonly schemas: ReadonlyArray<JsonSchema>
}

/** The place of a whole value. */
export const make = (root: JsonSchema): SchemaPlace => ({ root, schemas: alternatives(root, root) })

/** The place of a property of an object. */
export const property = ({ root, schemas }: SchemaPlace, name: string): SchemaPlace => ({
  root,
  schemas: schemas.flatMap((schema) => {
    const { additionalProperties, patternProperties, properties } = schema
    if (isSchema(properties) && Object.hasOwn(properties, name)) return alternatives(root, properties[name])
    if (isSchema(patternProperties)) {
      // Which pattern fits is not tried: a pattern is a program that somebody else wrote.
      return Object.values(patternProperties).flatMap((inner) => alternatives(root, inner))
    }
    return alternatives(root, additionalProperties)
  })
})

/** The place of an element of an array. */
export const element = ({ root, schemas }: SchemaPlace, index: number): SchemaPlace => ({
  root,
  schemas: schemas.flatMap(({ additionalItems, items, prefixItems }) => {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    if (index < first.length) return alternatives(root, first[index])
    return alternatives(root, Array.isArray(items) ? additionalItems : items)
  })
})

/** Number of elements that have a place of their own, before those that are all alike. */
const firstElements = ({ schemas }: SchemaPlace): number =>
  schemas.reduce((most, { items, prefixItems }) => {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    return Math.max(most, first.length)
  }, 0)

/**
 * The value that a text spells in JSON, where a value of its type is wanted here and a text is not; undefined
 * otherwise.
 */
export const spelled = (place: SchemaPlace, text: string): { readonly value: unknown } | undefined => {
  if (place.schemas.length === 0 || place.schemas.some((schema) => takes(schema, "string"))) return undefined
  // An exception for each of many words would take long.
  if (!/^\s{0,100}(?:[-\d[{]|true|false|null)/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const types = typesOf(value)
  return place.schemas.some((schema) => types.some((type) => takes(schema, type))) ? { value } : undefined
}

/**
 * A value with every text in it that is {@link spelled} as the value that was meant, as written by a model that encodes
 * fields once too often.
 */
export const decoded = (place: SchemaPlace, value: unknown, depth = 0): unknown => {
  if (place.schemas.length === 0 || depth > maxDepth) return value
  if (typeof value === "string") {
    const meant = spelled(place, value)
    // What the text was decoded into may hold such texts of its own; the same text is never decoded twice.
    return meant === undefined
      ? value
      : typeof meant.value === "string"
        ? meant.value
        : decoded(place, meant.value, depth + 1)
  }
  if (Array.isArray(value)) {
    const first = firstElements(place)
    const rest = element(place, first)
    return value.map((item, index) => decoded(index < first ? element(place, index) : rest, item, depth + 1))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, decoded(property(place, name), item, depth + 1)])
  )
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

/** No tool's parameters nest deeper. */
const maxDepth = 100
/** More alternatives than this are not told apart. */
const maxAlternatives = 100

const isSchema: (value: unknown) => value is JsonSchema = isObject

/** The schemas without combinators that a schema stands for. Of `allOf` each part counts, so that none is lost. */
const alternatives = (root: JsonSchema, schema: unknown): ReadonlyArray<JsonSchema> => {
  const found: Array<JsonSchema> = []
  const seen = new Set<unknown>()
  const open: Array<unknown> = [schema]
  while (open.length > 0 && found.length < maxAlternatives) {
    const next = open.pop()
    if (!isSchema(next) || seen.has(next)) continue
    seen.add(next)
    const { $ref, allOf, anyOf, oneOf } = next
    const parts = [anyOf, oneOf, allOf].filter(Array.isArray).flat()
    if (typeof $ref === "string") parts.push(referred(root, $ref))
    if (parts.length === 0 || next["type"] !== undefined || next["properties"] !== undefined) found.push(next)
    open.push(...parts)
  }
  return found
}

const referred = (root: JsonSchema, ref: string): unknown => {
  if (!ref.startsWith("#")) return undefined
  let at: unknown = root
  for (const key of ref.slice(1).split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~")
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

const typesOf = (value: unknown): ReadonlyArray<string> => {
  if (value === null) return ["null"]
  if (Array.isArray(value)) return ["array"]
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "number"] : ["number"]
  return [typeof value]
}

/**
 * Returns whether values of a type fit a schema, as far as its `type`, `enum` and `const` say. One that says nothing
 * takes all.
 */
const takes = (schema: JsonSchema, type: string): boolean => {
  const { type: types, enum: values } = schema
  if (typeof types === "string") return types === type
  if (Array.isArray(types)) return types.includes(type)
  if (Array.isArray(values)) return values.some((value) => typesOf(value).includes(type))
  if (Object.hasOwn(schema, "const")) return typesOf(schema["const"]).includes(type)
  if (schema["properties"] !== undefined) return type === "object"
  return schema["items"] === undefined || type === "array"
}
