/** Laws of what is read from MCP servers: total for any JSON, and schemas that are right stay as they are. */
import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { readResult } from "../src/internal/mcpContent.js"
import { readMessages } from "../src/internal/mcpMessage.js"
import { objectSchema } from "../src/internal/mcpSchema.js"

const key = fc.constantFrom(
  ...["type", "properties", "items", "required", "anyOf", "enum", "minimum", "exclusiveMinimum", "$ref", "a", "b"],
  ...["content", "structuredContent", "toolResult", "isError", "text", "resource", "uri", "data", "mimeType", "_meta"],
  ...["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "__proto__", "constructor"]
)
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1.5, "", "object", "string", "text", "image", "resource", "2.0", "x"),
  fc.string()
)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("json")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries))
  )
}))
const record = fc
  .array(fc.tuple(key, json), { maxLength: 8 })
  .map((entries): Record<string, unknown> => Object.fromEntries(entries))

describe("any JSON", () => {
  it.prop("is a result with a text", [record], ([result]) => {
    const { isError, text } = readResult(result)
    expect(text).not.toBe("")
    expect(typeof isError).toBe("boolean")
  })
  it.prop("is a list of messages, each answering what was asked", [json], ([value]) => {
    for (const message of readMessages(value, () => ({ id: 7, method: "tools/call" }))) {
      expect(message.jsonrpc).toBe("2.0")
      if (!("method" in message)) expect(message.id).toBe(7)
    }
  })
  it.prop("is an object's schema or none, and reading it again changes nothing", [json], ([given]) => {
    const schema = objectSchema(given)
    if (schema === undefined) return
    expect(schema["type"]).toBe("object")
    expect(typeof schema["properties"]).toBe("object")
    expect(objectSchema(schema)).toEqual(schema)
  })
})

const schema: fc.Arbitrary<Record<string, unknown>> = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Record<string, unknown>>(
      { type: "string", minLength: 1 },
      { type: ["integer", "null"], minimum: 0, exclusiveMaximum: 9 },
      { enum: [1, null, { type: "str" }] },
      { const: true, description: "yes" },
      { $ref: "#/$defs/A" }
    ),
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "type", "required", "properties"), tie("schema")),
      additionalProperties: fc.boolean()
    })
  )
})).schema

describe("a right schema", () => {
  it.prop("stays as it is", [fc.dictionary(fc.constantFrom("a", "b", "items", "type"), schema)], ([properties]) => {
    const given = { type: "object", properties, additionalProperties: false }
    expect(objectSchema(given)).toEqual(given)
  })
})
