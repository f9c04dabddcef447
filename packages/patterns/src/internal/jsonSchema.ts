/**
 * JSON Schemas of the replies that prompts ask for in JSON.
 *
 * @internal
 */

type JsonSchema = { readonly [keyword: string]: unknown }

export const text: JsonSchema = { type: "string" }

export const oneOf = (words: ReadonlyArray<string>): JsonSchema => ({ type: "string", enum: words })

export const list = (items: JsonSchema, minItems?: number): JsonSchema => ({
  type: "array",
  items,
  ...(minItems === undefined ? {} : { minItems })
})

/** An object that has these fields and no others. */
export const record = (properties: { readonly [name: string]: JsonSchema }): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false
})
