import type { JsonSchema } from "@forethought/core/Json"
import { asObject, asString, type JsonObject } from "./json.js"

/**
 * A JSON Schema without references into its own `$defs`, for servers that know none. A definition that contains itself
 * cannot be written out: the inner one becomes any object.
 */
export const dereference = (schema: JsonSchema): JsonSchema => {
  const definitions = { ...asObject(schema["definitions"]), ...asObject(schema["$defs"]) }
  const { $defs: _, definitions: __, ...rest } = schema
  return asObject(inline(rest, definitions, [])) ?? {}
}

const inline = (value: unknown, definitions: JsonObject, open: ReadonlyArray<string>): unknown => {
  if (Array.isArray(value)) return value.map((item: unknown) => inline(item, definitions, open))
  const object = asObject(value)
  if (object === undefined) return value
  const reference = asString(object["$ref"])
  if (reference !== undefined) {
    const name = reference.slice(reference.lastIndexOf("/") + 1)
    const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined
    if (definition === undefined || open.includes(name)) return { type: "object" }
    return inline(definition, definitions, [...open, name])
  }
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, inline(item, definitions, open)]))
}
