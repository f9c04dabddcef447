import { expect, it } from "vitest"
import { objectRoot } from "../src/internal/toolSchema.js"

const object = (properties: object, required: ReadonlyArray<string>) => ({ type: "object", properties, required })
const text = { type: "string" }

it("a choice between objects becomes one object", () => {
  const schema = { anyOf: [object({ a: text, b: text }, ["a", "b"]), object({ a: text, c: text }, ["a", "c"])] }
  expect(objectRoot(schema)).toEqual({
    ...object({ a: text, b: text, c: text }, ["a"]),
    additionalProperties: false
  })
})

it("an object stays as it is, and what is none is not made one", () => {
  const schema = object({ a: text }, ["a"])
  expect(objectRoot(schema)).toBe(schema)
  for (const other of [text, {}, { anyOf: [schema, text] }]) expect(objectRoot(other)).toBeUndefined()
})
