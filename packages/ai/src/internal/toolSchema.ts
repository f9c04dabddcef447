/**
 * A tool's JSON Schema as each provider takes it. Tools come from anywhere, MCP servers above all, and one odd schema
 * has the whole request refused. What a provider cannot express is left out: the tool itself checks its call.
 */
import type { JsonSchema } from "@forethought/core/Json"
import { asArray, asNumber, asObject, asObjects, asString, type JsonObject } from "@forethought/core/Json"

// ---------------------------------------------------------------------------------------------------------------
// OpenAI, Anthropic and their like
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns the schema with an object at its root that has `properties` and no combinator, and otherwise in the words of
 * JSON Schema 2020-12: what OpenAI, Anthropic and the servers that imitate them insist on.
 */
export const plain = (schema: JsonSchema): JsonSchema => {
  const { $schema: _, ...rest } = asObject(mend(rootOf(isBareMap(schema) ? { properties: schema } : schema), 0)) ?? {}
  return rest
}

/** Properties where their schema should be: each entry is a schema, and none is a word of one. */
const isBareMap = (schema: JsonSchema): boolean => {
  const entries = Object.entries(schema)
  return (
    entries.length > 0 && entries.every(([key, value]) => !key.startsWith("$") && !words.has(key) && isTyped(value))
  )
}

const isTyped = (value: unknown): boolean => typeof asObject(value)?.["type"] === "string"

const words = new Set([
  ..."type properties items required enum const anyOf oneOf allOf not definitions title description default".split(" ")
])

/**
 * An object at the root: a reference is followed, a choice of objects has the properties of all and requires what each
 * requires, a conjunction requires what any requires.
 */
const rootOf = (schema: JsonSchema, depth = 0): JsonObject => {
  const { $ref, allOf, anyOf, enum: _, not: __, oneOf, ...rest } = schema
  const target = asString($ref)
  if (target !== undefined && depth < 20) return rootOf({ ...pointed(schema, target), ...rest }, depth + 1)
  const part = (value: unknown): JsonObject => rootOf({ ...keep(schema), ...asObject(value) }, depth + 1)
  const together = depth < 20 ? asArray(allOf).map(part) : []
  const choices =
    depth < 20
      ? asArray(anyOf ?? oneOf)
          .map(part)
          .filter((choice) => choice["type"] === "object")
      : []
  const all = [...together, ...choices]
  const properties = merged([...all, rest].map(propertiesOf))
  const shared = requiredOf(choices[0]).filter((name) => choices.every((choice) => requiredOf(choice).includes(name)))
  const required = [...new Set([...requiredOf(rest), ...together.flatMap(requiredOf), ...shared])]
  const { required: ___, ...others } = rest
  return { ...others, type: "object", properties, ...(required.length === 0 ? {} : { required }) }
}

/** The properties of several objects; one that they describe differently is any of those. */
const merged = (maps: ReadonlyArray<JsonObject>): JsonObject => {
  const forms = new Map<string, Map<string, unknown>>()
  for (const [name, form] of maps.flatMap((map) => Object.entries(map))) {
    const known = forms.get(name) ?? new Map<string, unknown>()
    forms.set(name, known.set(JSON.stringify(form), form))
  }
  return Object.fromEntries(
    [...forms].map(([name, known]) => [
      name,
      known.size === 1 ? [...known.values()][0] : { anyOf: [...known.values()] }
    ])
  )
}

const keep = (schema: JsonObject): JsonObject => ({
  ...(schema["$defs"] === undefined ? {} : { $defs: schema["$defs"] }),
  ...(schema["definitions"] === undefined ? {} : { definitions: schema["definitions"] })
})

const propertiesOf = (schema: JsonObject): JsonObject => asObject(schema["properties"]) ?? {}

const requiredOf = (schema: JsonObject | undefined): ReadonlyArray<string> =>
  asArray(schema?.["required"]).flatMap((name) => asString(name) ?? [])

const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
const lists = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
const nested = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems"
])
const deepest = 100

/** Mends what servers refuse in any place: arrays without items, draft-4 bounds, a choice that nothing fits. */
const mend = (value: unknown, depth: number): unknown => {
  const schema = asObject(value)
  // `true` is any value; what nests deeper than any tool does is as good as any value.
  if (schema === undefined || depth > deepest) return {}
  const mended: { [key: string]: unknown } = {}
  const known = typesOf(schema).flatMap(typeNamed)
  for (const [key, item] of Object.entries(schema)) {
    if (maps.has(key)) {
      const entries = Object.entries(asObject(item) ?? {})
      mended[key] = Object.fromEntries(entries.map(([name, inner]) => [name, mend(inner, depth + 1)]))
    } else if (lists.has(key)) {
      const branches = asArray(item).filter((branch) => !isNever(branch))
      if (branches.length > 0) mended[key] = branches.map((branch) => mend(branch, depth + 1))
    } else if (key === "items" && Array.isArray(item)) {
      // A tuple of the drafts before 2020-12.
      mended["prefixItems"] = item.map((inner) => mend(inner, depth + 1))
    } else if (nested.has(key)) {
      if (key === "additionalProperties" && typeof item === "boolean") mended[key] = item
      else if (!(key === "additionalProperties" && isEmpty(item))) mended[key] = mend(item, depth + 1)
    } else if (key === "exclusiveMinimum" || key === "exclusiveMaximum") {
      const bound = key === "exclusiveMinimum" ? "minimum" : "maximum"
      if (typeof item === "number") mended[key] = item
      else if (item === true && asNumber(schema[bound]) !== undefined) mended[key] = schema[bound]
    } else if (key === "minimum" || key === "maximum") {
      const exclusive = schema[key === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"]
      if (exclusive !== true) mended[key] = item
    } else if (key === "required") {
      // A flag of draft 3, on the property itself; and a name that is not a property has some servers refuse all.
      const known = asObject(schema["properties"])
      const names = [...new Set(requiredOf(schema))].filter((name) => known === undefined || Object.hasOwn(known, name))
      if (names.length > 0) mended[key] = names
    } else if (key === "enum") {
      if (asArray(item).length > 0) mended[key] = item
    } else if (key === "nullable") {
      if (item === true && known.length > 0) mended["type"] = [...new Set([...known, "null"])]
    } else if (key === "type") {
      if (mended["type"] === undefined && known.length > 0) mended["type"] = known.length === 1 ? known[0] : known
    } else mended[key] = item
  }
  const types = typesOf(mended)
  if (types.includes("array") && mended["items"] === undefined) mended["items"] = {}
  return mended
}

const types = ["string", "number", "integer", "boolean", "array", "object", "null"]
/** Names of types in the languages that tools are written in. */
const otherTypes: ReadonlyMap<string, string> = new Map([
  ...["str", "text", "char", "date", "datetime", "uuid"].map((name) => [name, "string"] as const),
  ...["int", "long", "int32", "int64"].map((name) => [name, "integer"] as const),
  ...["float", "double", "decimal"].map((name) => [name, "number"] as const),
  ["bool", "boolean"],
  ...["list", "tuple", "set"].map((name) => [name, "array"] as const),
  ...["dict", "map", "struct"].map((name) => [name, "object"] as const),
  ["none", "null"]
])

/** A type by its name in JSON Schema. One that nobody knows is any. */
const typeNamed = (name: string): ReadonlyArray<string> => {
  const word = name.toLowerCase()
  const known = types.includes(word) ? word : otherTypes.get(word)
  return known === undefined ? [] : [known]
}

const isEmpty = (value: unknown): boolean => Object.keys(asObject(value) ?? { some: true }).length === 0

/** `{ "not": {} }`, which nothing fits. */
const isNever = (branch: unknown): boolean => branch === false || isEmpty(asObject(branch)?.["not"])

const typesOf = (schema: JsonObject): ReadonlyArray<string> =>
  (Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]]).flatMap((type) => asString(type) ?? [])

// ---------------------------------------------------------------------------------------------------------------
// references
// ---------------------------------------------------------------------------------------------------------------

const definitionsOf = (schema: JsonObject): JsonObject => ({
  ...asObject(schema["definitions"]),
  ...asObject(schema["$defs"])
})

/** What a reference within a schema points at: by its path, else the definition of that name. */
const pointed = (root: JsonObject, reference: string): JsonObject | undefined => {
  if (reference.startsWith("http")) return undefined
  const path = reference.split("#").at(-1)?.split("/").slice(1).map(unescaped) ?? []
  const found = path.reduce<unknown>(
    (inner, name) => (Array.isArray(inner) ? inner[Number(name)] : own(inner, name)),
    root
  )
  return asObject(found) ?? asObject(own(definitionsOf(root), path.at(-1) ?? ""))
}

const own = (value: unknown, name: string): unknown => {
  const object = asObject(value)
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}

const unescaped = (name: string): string => {
  const plain = /%(?![0-9a-f]{2})/i.test(name) ? name : name.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)
  return plain.replaceAll("~1", "/").replaceAll("~0", "~")
}

/** More than this is not written out: definitions that name each other twice grow without bound. */
const mostWritten = 5_000

/**
 * Returns the schema without references into itself, for servers that know none. A definition that contains itself
 * cannot be written out: the inner one becomes any value of its type.
 */
export const dereference = (schema: JsonSchema): JsonSchema => {
  const { $defs: _, definitions: __, ...rest } = schema
  let written = 0
  const inline = (value: unknown, open: ReadonlyArray<string>): unknown => {
    if (Array.isArray(value)) return value.map((item: unknown) => inline(item, open))
    const object = asObject(value)
    if (object === undefined) return value
    written += 1
    const { $ref, ...others } = object
    const reference = asString($ref)
    if (reference === undefined) {
      return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, inline(item, open)]))
    }
    const definition = pointed(schema, reference)
    if (definition === undefined) return others
    if (open.includes(reference) || written > mostWritten) {
      const type = definition["type"] ?? guess(definition)
      return { ...(type === undefined ? {} : { type }), ...others }
    }
    // What stands beside the reference, such as its description, is closer to the point.
    return inline({ ...definition, ...others }, [...open, reference])
  }
  return asObject(inline(rest, [])) ?? {}
}

// ---------------------------------------------------------------------------------------------------------------
// Gemini
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns the schema in Gemini's part of OpenAPI: one type in capitals, `nullable`, `enum` of strings, choices by
 * `anyOf` alone. Without references and constants, and with nothing that its server does not know.
 */
export const gemini = (schema: JsonSchema): JsonSchema => toGemini(plain(dereference(schema)), 0)

const toGemini = (value: unknown, depth: number): JsonObject => {
  const schema = asObject(value) ?? {}
  if (depth > deepest) return { type: "STRING" }
  if (schema["allOf"] !== undefined) return toGemini(conjunction(schema), depth + 1)
  const choices = asArray(schema["anyOf"] ?? schema["oneOf"])
  const types = typesOf(schema)
  if (choices.length > 0) return choice(schema, choices, depth)
  const named = types.filter((type) => type !== "null")
  if (named.length > 1) {
    const { type: _, ...rest } = schema
    const each = named.map((type) => ({ ...rest, type }))
    return choice({}, types.includes("null") ? [...each, { type: "null" }] : each, depth)
  }
  const one = single(schema, named[0] ?? types[0], depth)
  return types.includes("null") ? nullable(one) : one
}

/** The same, or null. A choice has it in each branch. */
const nullable = (schema: JsonObject): JsonObject =>
  schema["anyOf"] === undefined
    ? { ...schema, nullable: true }
    : { anyOf: asObjects(schema["anyOf"]).map((branch) => ({ ...branch, nullable: true })) }

/** A choice; `null` in it makes the others nullable, and one that is left stands for itself. */
const choice = (schema: JsonObject, choices: ReadonlyArray<unknown>, depth: number): JsonObject => {
  const { anyOf: _, oneOf: __, ...shared } = schema
  const isNull = (branch: unknown) => {
    const object = asObject(branch) ?? {}
    return object["type"] === "null" || ("const" in object && object["const"] === null)
  }
  const others = choices.filter((branch) => !isNull(branch))
  const mayBeNull = others.length < choices.length || typesOf(schema).includes("null")
  // Beside `anyOf` nothing else may stand, so each branch has what they share.
  const { type: ___, ...rest } = shared
  const base = typesOf(shared).length === 1 ? shared : rest
  const branches = others.map((branch) => {
    const value = toGemini({ ...base, ...asObject(branch) }, depth + 1)
    return mayBeNull ? nullable(value) : value
  })
  const [first] = branches
  if (first === undefined) return nullable(toGemini({ ...base, type: "string" }, depth + 1))
  // A choice within a choice is one of them.
  return branches.length === 1 ? first : { anyOf: branches.flatMap((branch) => branch["anyOf"] ?? branch) }
}

const conjunction = (schema: JsonObject): JsonObject => {
  const { allOf, ...rest } = schema
  const parts = [rest, ...asArray(allOf).map((part) => asObject(part) ?? {})]
  const properties = Object.assign({}, ...parts.map(propertiesOf))
  const required = [...new Set(parts.flatMap(requiredOf))]
  return {
    ...Object.assign({}, ...[...parts].reverse()),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required })
  }
}

const single = (schema: JsonObject, type: string | undefined, depth: number): JsonObject => {
  const values = schema["const"] === undefined ? asArray(schema["enum"]) : [schema["const"]]
  const said = asString(schema["description"])
  const described = said === undefined ? {} : { description: said }
  const named = values.filter((value) => value !== null && value !== "")
  if (named.length > 0) {
    const mayBeNull = values.includes(null) ? { nullable: true } : {}
    const texts = named.map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    return { type: "STRING", format: "enum", enum: texts, ...described, ...mayBeNull }
  }
  switch (type ?? guess(schema)) {
    case "string": {
      const format = asString(schema["format"])
      return { type: "STRING", ...(format === "date-time" ? { format } : {}), ...described }
    }
    case "integer":
    case "number":
      return { type: type === "integer" ? "INTEGER" : "NUMBER", ...described, ...bounds(schema, "minimum", "maximum") }
    case "boolean":
      return { type: "BOOLEAN", ...described }
    case "array": {
      const tuple = asArray(schema["prefixItems"])
      const items = tuple.length > 0 ? { anyOf: tuple } : (asObject(schema["items"]) ?? {})
      return {
        type: "ARRAY",
        items: isEmpty(items) ? { type: "STRING" } : toGemini(items, depth + 1),
        ...described,
        ...bounds(schema, "minItems", "maxItems")
      }
    }
    case "object":
      return object(schema, said, depth)
    case "null":
      return { type: "STRING", nullable: true, ...described }
    default:
      return { anyOf: anyKind.map((kind) => ({ type: kind, ...described })) }
  }
}

const object = (schema: JsonObject, said: string | undefined, depth: number): JsonObject => {
  const entries = Object.entries(propertiesOf(schema))
  const properties = Object.fromEntries(entries.map(([name, inner]) => [name, toGemini(inner, depth + 1)]))
  const required = requiredOf(schema).filter((name) => Object.hasOwn(properties, name))
  const free = asObject(schema["additionalProperties"])
  // A map has no form of its own there: its values are told in words.
  const words = [said, free === undefined ? undefined : `Any keys, each with a value like ${JSON.stringify(free)}.`]
  const description = words.filter((word) => word !== undefined).join(" ")
  return {
    type: "OBJECT",
    ...(entries.length === 0 && depth > 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(description === "" ? {} : { description: description.slice(0, 2_000) })
  }
}

/** A value of any kind. */
const anyKind = ["STRING", "NUMBER", "BOOLEAN"]

const guess = (schema: JsonObject): string | undefined => {
  if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) return "object"
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array"
  if (schema["minimum"] !== undefined || schema["maximum"] !== undefined) return "number"
  if (schema["pattern"] !== undefined || schema["format"] !== undefined || schema["minLength"] !== undefined) {
    return "string"
  }
  return undefined
}

const bounds = (schema: JsonObject, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (typeof schema[name] === "number" ? [[name, schema[name]]] : [])))

// ---------------------------------------------------------------------------------------------------------------
// the format of a reply
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns the schema of a reply with an object at its root, as some providers insist on, or `undefined` where it is not
 * one: a choice between objects becomes one object with the properties of all of them, of which those are required that
 * every one requires.
 */
export const objectRoot = (schema: JsonSchema): JsonSchema | undefined => {
  if (schema["type"] === "object") return schema
  const choices = asArray(schema["anyOf"] ?? schema["oneOf"]).map((branch) => asObject(branch) ?? {})
  if (choices.length === 0 || choices.some((branch) => branch["type"] !== "object")) return undefined
  const required = choices.map(requiredOf)
  return {
    type: "object",
    properties: merged(choices.map(propertiesOf)),
    required: (required[0] ?? []).filter((name) => required.every((names) => names.includes(name))),
    additionalProperties: false,
    ...(schema["$defs"] === undefined ? {} : { $defs: schema["$defs"] })
  }
}
