/**
 * JSON Schemas in the form that node-llama-cpp can hold a model to. What it does not know it takes for `null`, and
 * would force the model to say so: a schema with anything else in it is not used.
 */
import type { JsonSchema } from "@forethought/core/Json"
import { asArray, asNumber, asObject, asString } from "@forethought/core/Json"
import type { GbnfJsonSchema } from "node-llama-cpp"
import { dereference } from "./toolSchema.js"

/** The schema, or `undefined` where it cannot be expressed. Optional properties become required ones. */
export const toGbnf = (schema: JsonSchema): GbnfJsonSchema | undefined => convert(dereference(schema), 0)

const deepest = 32

const convert = (value: unknown, depth: number): GbnfJsonSchema | undefined => {
  const schema = asObject(value)
  if (schema === undefined || depth > deepest) return undefined
  const choices = asArray(schema["anyOf"] ?? schema["oneOf"])
  if (choices.length > 0) {
    const oneOf = all(choices, depth)
    return oneOf === undefined ? undefined : { oneOf }
  }
  const literals = "const" in schema ? [schema["const"]] : asArray(schema["enum"])
  if (literals.length > 0) return literals.every(isLiteral) ? { enum: literals } : undefined
  switch (asString(schema["type"])) {
    case "string":
      return { type: "string" }
    case "number":
      return { type: "number" }
    case "integer":
      return { type: "integer" }
    case "boolean":
      return { type: "boolean" }
    case "null":
      return { type: "null" }
    case "array": {
      const items = convert(schema["items"], depth + 1)
      if (items === undefined) return undefined
      const minItems = asNumber(schema["minItems"])
      const maxItems = asNumber(schema["maxItems"])
      return {
        type: "array",
        items,
        ...(minItems === undefined ? {} : { minItems }),
        ...(maxItems === undefined ? {} : { maxItems })
      }
    }
    case "object": {
      const names = Object.keys(asObject(schema["properties"]) ?? {})
      const values = all(Object.values(asObject(schema["properties"]) ?? {}), depth)
      if (values === undefined) return undefined
      const properties: { [name: string]: GbnfJsonSchema } = {}
      for (const [index, name] of names.entries()) {
        const property = values[index]
        if (property !== undefined) properties[name] = property
      }
      const rest = asObject(schema["additionalProperties"])
      if (rest === undefined) return { type: "object", properties }
      const additionalProperties = convert(rest, depth + 1)
      return additionalProperties === undefined ? undefined : { type: "object", properties, additionalProperties }
    }
    default:
      return undefined
  }
}

const all = (schemas: ReadonlyArray<unknown>, depth: number): ReadonlyArray<GbnfJsonSchema> | undefined => {
  const converted = schemas.flatMap((schema) => convert(schema, depth + 1) ?? [])
  return converted.length === schemas.length ? converted : undefined
}

const isLiteral = (value: unknown): value is string | number | boolean | null =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
