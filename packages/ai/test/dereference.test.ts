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

  it("follows a path, also one that is escaped, and leaves lists lists", () => {
    const schema = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { $ref: "#/properties/a" },
        c: { $ref: "#/$defs/My~1Type" },
        d: { $ref: "#/$defs/My%20Type" },
        e: { $ref: "#/$defs/Nested/$defs/Inner" },
        list: { $ref: "#/$defs/List" }
      },
      $defs: {
        "My/Type": { type: "number" },
        "My Type": { type: "boolean" },
        Nested: { $defs: { Inner: { type: "integer" } } },
        List: { type: "array", items: { $ref: "#/$defs/List" } }
      }
    }
    expect(dereference(schema)).toMatchObject({
      properties: {
        b: { type: "string" },
        c: { type: "number" },
        d: { type: "boolean" },
        e: { type: "integer" },
        list: { type: "array", items: { type: "array" } }
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
      properties: { left: { type: "object" }, right: {} }
    })
  })
})
