import { describe, expect, it } from "vitest"
import { dereference } from "../src/internal/toolSchema.js"

describe("dereference", () => {
  it("writes definitions out, also those that lie in each other", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, list: { type: "array", items: [{ $ref: "#/$defs/B" }] } },
      $defs: { A: { type: "object", properties: { b: { $ref: "#/$defs/B" } } }, B: { type: "string" } }
    }
    expect(dereference(schema)).toEqual({
      type: "object",
      properties: {
        a: { type: "object", properties: { b: { type: "string" } } },
        list: { type: "array", items: [{ type: "string" }] }
      }
    })
  })

  it("ends at a definition that contains itself, and at one that is missing", () => {
    const schema = {
      $ref: "#/$defs/Tree",
      $defs: {
        Tree: { type: "object", properties: { left: { $ref: "#/$defs/Tree" }, right: { $ref: "#/$defs/Nope" } } }
      }
    }
    expect(dereference(schema)).toEqual({
      type: "object",
      properties: { left: { type: "object" }, right: { type: "object" } }
    })
  })
})
