/**
 * The input schema of an MCP server's tool, mended where its meaning is clear. One schema that a provider refuses would
 * have the whole request refused, with all its tools.
 */
import { isObject } from "@forethought/core/Json"

type Schema = Record<string, unknown>

/** A schema of `type: "object"` with `properties`, or `undefined` where the tool takes something else. */
export const objectSchema = (given: unknown): Schema | undefined => {
  const parsed = typeof given === "string" ? parsedText(given) : given
  if (parsed === undefined || parsed === null || parsed === true) return { type: "object", properties: {} }
  if (!isObject(parsed)) return undefined
  const { $schema: _, ...own } = parsed
  const type = ownType(own["type"])
  if (type === "other") return undefined
  const schema = mended(type === "none" && !hasStructure(own) ? ofBareMap(own) : own, 0)
  return { ...schema, type: "object", properties: isObject(schema["properties"]) ? schema["properties"] : {} }
}

const parsedText = (text: string): unknown => {
  if (text.trim() === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns whether a root says that it is an object, that it is something else, or nothing. */
const ownType = (type: unknown): "object" | "other" | "none" => {
  const names = (Array.isArray(type) ? type : [type]).map(typeName).filter((name) => name !== undefined)
  if (names.includes("object")) return "object"
  return names.length === 0 ? "none" : "other"
}

/** A root without a type that is a schema all the same. */
const hasStructure = (schema: Schema): boolean =>
  isObject(schema["properties"]) ||
  Array.isArray(schema["properties"]) ||
  typeof schema["$ref"] === "string" ||
  ["anyOf", "oneOf", "allOf"].some((key) => Array.isArray(schema[key]))

/** Some servers write the properties where their schema belongs. What is not a schema stays beside them. */
const ofBareMap = (map: Schema): Schema => {
  const entries = Object.entries(map)
  const properties = entries.filter(([key, value]) => !key.startsWith("$") && isProperty(value))
  if (properties.length === 0) return map
  const rest = entries.filter(([key, value]) => key.startsWith("$") || !isProperty(value))
  return { ...Object.fromEntries(rest), properties: Object.fromEntries(properties) }
}

const isProperty = (value: unknown): boolean =>
  isObject(value) &&
  (typeof value["type"] === "string" ||
    Array.isArray(value["type"]) ||
    ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "description"].some((key) => Object.hasOwn(value, key)))

// ---------------------------------------------------------------------------------------------------------------
// any schema
// ---------------------------------------------------------------------------------------------------------------

/** Deeper schemas take anything: no provider reads as far. */
const maxDepth = 60

const mended = (schema: Schema, depth: number): Schema => {
  const found = Object.entries(schema).flatMap(([key, value]): ReadonlyArray<readonly [string, unknown]> => {
    const read = keywords.get(key)
    if (read === undefined) return [[key, value]]
    const kept = read(value, depth + 1)
    return kept === undefined ? [] : [[key, kept]]
  })
  return withRequired(withTuple(withBounds(Object.fromEntries(found), schema)), schema)
}

/** A schema in a place of its own: `true` and what is none takes anything, the name of a type is that type. */
const subschema = (value: unknown, depth: number): Schema | boolean => {
  if (value === false) return false
  if (typeof value === "string") {
    const type = typeName(value)
    return type === undefined ? { description: value } : { type }
  }
  return isObject(value) && depth < maxDepth ? mended(value, depth) : {}
}

/** Gives what is kept of a keyword's value, nothing where it means nothing. */
type Read = (value: unknown, depth: number) => unknown

/** A flag here is more widely understood than the schema that says the same. */
const one: Read = (value, depth) => {
  if (typeof value === "boolean") return value
  return value === null ? undefined : subschema(value, depth)
}

const some: Read = (value, depth) =>
  Array.isArray(value) && value.length > 0 ? value.map((item) => subschema(item, depth)) : undefined

const map: Read = (value, depth) => {
  if (!isObject(value)) return undefined
  const found: Array<readonly [string, Schema | boolean]> = []
  for (const [name, item] of Object.entries(value)) {
    // A property that nothing fits cannot be given, and a list of names belongs one level higher.
    const isProperty = item !== false && !(name === "required" && Array.isArray(item))
    if (isProperty) found.push([name, subschema(item, depth)])
  }
  return Object.fromEntries(found)
}

/** Some servers write a list of properties with their names. */
const properties: Read = (value, depth) =>
  Array.isArray(value)
    ? map(
        Object.fromEntries(
          value.flatMap((item) => {
            if (!isObject(item)) return []
            const { name, ...rest } = item
            return typeof name === "string" ? [[name, rest]] : []
          })
        ),
        depth
      )
    : map(value, depth)

const text: Read = (value) => (typeof value === "string" ? value : undefined)
const list: Read = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined)
const amount: Read = (value) => (typeof value === "number" ? value : undefined)
const flag: Read = (value) => (typeof value === "boolean" ? value : undefined)

const type: Read = (value) => {
  if (!Array.isArray(value)) return typeName(value)
  const names = [...new Set(value.map(typeName).filter((name) => name !== undefined))]
  return names.length > 1 ? names : names[0]
}

const required: Read = (value) => {
  const names = (Array.isArray(value) ? value : [value]).filter((name) => typeof name === "string")
  return names.length === 0 ? undefined : [...new Set(names)]
}

/** What each keyword may be. A keyword that is not here stays as it is. */
const keywords: ReadonlyMap<string, Read> = new Map([
  ["type", type],
  ["properties", properties],
  ["required", required],
  ...["patternProperties", "$defs", "definitions", "dependentSchemas"].map((key) => [key, map] as const),
  ...["anyOf", "oneOf", "allOf", "prefixItems"].map((key) => [key, some] as const),
  ...["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"].map(
    (key) => [key, one] as const
  ),
  ...["unevaluatedItems", "unevaluatedProperties", "additionalItems"].map((key) => [key, one] as const),
  ["items", (value, depth) => (Array.isArray(value) ? some(value, depth) : subschema(value, depth))],
  ["enum", list],
  ...["$ref", "title", "description", "format", "pattern", "$comment"].map((key) => [key, text] as const),
  ...["minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems"].map((key) => [key, amount] as const),
  ...["maxItems", "minProperties", "maxProperties"].map((key) => [key, amount] as const),
  ...["exclusiveMinimum", "exclusiveMaximum"].map((key): readonly [string, Read] => [
    key,
    (value) => (typeof value === "boolean" ? undefined : amount(value, 0))
  ]),
  ...["uniqueItems", "readOnly", "writeOnly", "deprecated"].map((key) => [key, flag] as const)
])

/** In draft 4 an exclusive bound is a flag beside the bound. */
const withBounds = (schema: Schema, given: Schema): Schema => {
  const bounds = [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"]
  ] as const
  let read = schema
  for (const [bound, exclusive] of bounds) {
    if (given[exclusive] !== true || typeof read[bound] !== "number") continue
    const { [bound]: limit, ...rest } = read
    read = { ...rest, [exclusive]: limit }
  }
  return read
}

/** Until draft 2019 a list of schemas stood as `items`. */
const withTuple = (schema: Schema): Schema => {
  const { additionalItems, items, ...rest } = schema
  if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items }
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
}

/** Draft 3 says at a property that it is required, and some servers list the names among the properties. */
const withRequired = (schema: Schema, { properties }: Schema): Schema => {
  const needed = namesNeeded(properties)
  if (needed.length === 0) return schema
  const own = Array.isArray(schema["required"]) ? schema["required"] : []
  return { ...schema, required: required([...own, ...needed], 0) }
}

const namesNeeded = (properties: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(properties)) return properties.filter(isNeeded).map(({ name }) => name)
  if (!isObject(properties)) return []
  const { required: listed } = properties
  const marked = Object.keys(properties).filter((name) => isNeeded(properties[name]))
  return Array.isArray(listed) ? [...marked, ...listed] : marked
}

const isNeeded = (property: unknown): property is Schema => isObject(property) && property["required"] === true

/** The name of a type in JSON Schema, for the names of other languages too. */
const typeName = (given: unknown): string | undefined =>
  typeof given === "string" ? typeNames.get(given.trim().toLowerCase()) : undefined

const typeNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    object: "object dict map struct",
    array: "array list tuple",
    string: "string str text",
    integer: "integer int int32 int64 long",
    number: "number float double decimal",
    boolean: "boolean bool",
    null: "null none"
  }).flatMap(([name, written]) => written.split(" ").map((word) => [word, name] as const))
)
