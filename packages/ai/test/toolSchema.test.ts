/** A tool's JSON Schema as each provider takes it. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ToolSchema from "../src/internal/toolSchema.js"

const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest })
const text = { type: "string" }

describe("OpenAI, Anthropic and their like", () => {
  it.each([
    ["NW-41: no properties", { type: "object" }, object({})],
    ["NW-41: nothing at all", {}, object({})],
    ["NW-41: an array without items", object({ a: { type: "array" } }), object({ a: { type: "array", items: {} } })],
    [
      "NW-41: deep inside, and under a nullable type",
      object({ a: object({ b: { type: ["array", "null"] } }) }),
      object({ a: object({ b: { type: ["array", "null"], items: {} } }) })
    ],
    ["a schema of another draft", { $schema: "http://json-schema.org/draft-07/schema#", ...object({}) }, object({})],
    [
      "bounds of draft 4",
      object({ n: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } }),
      object({ n: { type: "number", exclusiveMinimum: 1, maximum: 9 } })
    ],
    ["a flag of draft 3", object({ a: { type: "string", required: true } }), object({ a: text })],
    ["a property that is true", object({ a: true }), object({ a: {} })],
    ["a branch that nothing fits", object({ a: { anyOf: [text, { not: {} }] } }), object({ a: { anyOf: [text] } })],
    [
      "a choice at the root",
      { anyOf: [object({ a: text }, { required: ["a"] }), object({ b: text, a: text }, { required: ["a", "b"] })] },
      object({ a: text, b: text }, { required: ["a"] })
    ],
    [
      "a choice at the root that is told apart by a constant",
      { oneOf: [object({ k: { const: "a" }, x: text }, { required: ["k"] }), object({ k: { const: "b" }, x: text })] },
      object({ k: { anyOf: [{ const: "a" }, { const: "b" }] }, x: text })
    ],
    [
      "a name that is no property, or twice, among those required",
      object({ a: text, o: object({}, { required: ["ghost"] }) }, { required: ["a", "a", "ghost"] }),
      object({ a: text, o: object({}) }, { required: ["a"] })
    ],
    [
      "types in the words of other languages",
      object({
        a: { type: "String" },
        b: { type: "int" },
        c: { type: "float" },
        d: { type: "dict" },
        e: { type: "any" }
      }),
      object({ a: text, b: { type: "integer" }, c: { type: "number" }, d: { type: "object" }, e: {} })
    ],
    ["a choice of nothing", object({ a: { type: "string", enum: [] } }), object({ a: text })],
    ["properties as an empty list of PHP", { type: "object", properties: [] }, object({})],
    [
      "properties without an object around them",
      { city: text, days: { type: "number" } },
      object({ city: text, days: { type: "number" } })
    ],
    [
      "one of two keys at the root",
      { ...object({ a: text, b: text }), oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      object({ a: text, b: text })
    ],
    [
      "a conjunction at the root",
      { allOf: [object({ a: text }, { required: ["a"] }), object({ b: text }, { required: ["b"] })] },
      object({ a: text, b: text }, { required: ["a", "b"] })
    ],
    [
      "a reference at the root",
      { $ref: "#/$defs/Args", $defs: { Args: object({ a: text }) } },
      object({ a: text }, { $defs: { Args: object({ a: text }) } })
    ],
    [
      "OpenAPI's nullable",
      object({ a: { type: "string", nullable: true } }),
      object({ a: { type: ["string", "null"] } })
    ],
    [
      "a property with the name of a keyword",
      object({ items: text, $ref: text, required: { type: "boolean" } }),
      object({ items: text, $ref: text, required: { type: "boolean" } })
    ],
    [
      "data that looks like a schema",
      object({ a: { ...text, default: { type: "array" } } }),
      object({ a: { ...text, default: { type: "array" } } })
    ]
  ])("%s", (_, schema, expected) => expect(ToolSchema.plain(schema)).toEqual(expected))
})

describe("Gemini", () => {
  const gemini = (properties: object, rest: object = {}) => ToolSchema.gemini(object(properties, rest))["properties"]

  it("NW-43: nullable types are one type that may be null, and never an object", () => {
    expect(
      gemini({ tables: { type: ["array", "null"], items: { type: "string" } }, s: { type: ["string", "null"] } })
    ).toEqual({
      tables: { type: "ARRAY", items: { type: "STRING" }, nullable: true },
      s: { type: "STRING", nullable: true }
    })
  })

  const rows: ReadonlyArray<readonly [string, object, object]> = [
    ["a choice with null", { anyOf: [text, { type: "null" }] }, { type: "STRING", nullable: true }],
    [
      "a choice with null by oneOf",
      { oneOf: [{ type: "integer" }, { const: null }] },
      { type: "INTEGER", nullable: true }
    ],
    ["a choice", { anyOf: [text, { type: "number" }] }, { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] }],
    [
      "a nullable choice, described",
      { description: "d", anyOf: [text, { type: "number" }, { type: "null" }] },
      {
        anyOf: [
          { type: "STRING", description: "d", nullable: true },
          { type: "NUMBER", description: "d", nullable: true }
        ]
      }
    ],
    ["several types", { type: ["string", "integer"] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }],
    ["a constant", { const: "x" }, { type: "STRING", format: "enum", enum: ["x"] }],
    ["an enum of numbers", { type: "integer", enum: [1, 2] }, { type: "STRING", format: "enum", enum: ["1", "2"] }],
    ["an enum with null", { enum: ["a", null] }, { type: "STRING", format: "enum", enum: ["a"], nullable: true }],
    [
      "a conjunction",
      { allOf: [object({ a: text }), object({ b: text })] },
      { type: "OBJECT", properties: { a: { type: "STRING" }, b: { type: "STRING" } } }
    ],
    ["a reference", { $ref: "#/$defs/D" }, { type: "INTEGER" }],
    [
      "a described reference",
      { $ref: "#/$defs/D", description: "how deep" },
      { type: "INTEGER", description: "how deep" }
    ],
    ["an array without items", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
    ["no type, but properties", { properties: { a: text } }, { type: "OBJECT", properties: { a: { type: "STRING" } } }],
    ["no type, but items", { items: text }, { type: "ARRAY", items: { type: "STRING" } }],
    ["anything", {}, { anyOf: [{ type: "STRING" }, { type: "NUMBER" }, { type: "BOOLEAN" }] }],
    ["a format that it does not know", { type: "string", format: "uri" }, { type: "STRING" }],
    [
      "a required name that does not exist",
      object({ a: text }, { required: ["a", "z"] }),
      { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] }
    ],
    [
      "a map",
      { type: "object", additionalProperties: { type: "number" } },
      { type: "OBJECT", description: 'Any keys, each with a value like {"type":"number"}.' }
    ],
    ["bounds", { type: "number", minimum: 1, exclusiveMaximum: 9, multipleOf: 2 }, { type: "NUMBER", minimum: 1 }]
  ]

  it.each(rows)("%s", (_, schema, expected) =>
    expect(gemini({ a: schema }, { $defs: { D: { type: "integer" } } })).toEqual({ a: expected })
  )

  it("a definition that contains itself ends", () => {
    const tree = {
      $defs: { Node: object({ child: { $ref: "#/$defs/Node" } }) },
      ...object({ root: { $ref: "#/$defs/Node" } })
    }
    expect(JSON.stringify(ToolSchema.gemini(tree)).length).toBeLessThan(1_000)
    const pair = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `D${n}`,
        object({ a: { $ref: `#/$defs/D${n + 1}` }, b: { $ref: `#/$defs/D${n + 1}` } })
      ])
    )
    expect(JSON.stringify(ToolSchema.gemini({ $defs: pair, $ref: "#/$defs/D0" })).length).toBeLessThan(2_000_000)
  })

  it("gives nothing that its server does not know, whatever it is given", () => {
    const known = new Set(
      "type format description nullable enum items minItems maxItems minimum maximum properties required anyOf".split(
        " "
      )
    )
    const check = (value: unknown): void => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(JSON.stringify(value))
      for (const [key, item] of Object.entries(value)) {
        expect(known).toContain(key)
        if (key === "properties") Object.values(item ?? {}).forEach(check)
        if (key === "items") check(item)
        if (key === "anyOf") {
          expect(Object.keys(value)).toEqual(["anyOf"])
          if (Array.isArray(item)) item.forEach(check)
        }
      }
    }
    const leaf = fc.constantFrom(
      {},
      { type: "string" },
      { type: ["number", "null"] },
      { const: 1 },
      { enum: ["a", 2] },
      { $ref: "#/$defs/D" },
      { type: "null" },
      { type: "array" }
    )
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.record({
          type: fc.constant("object"),
          properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
          required: fc.constant(["a"])
        }),
        fc.record({ type: fc.constant("array"), items: tie("schema") }),
        fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), description: fc.constant("d") }),
        fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
        fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), type: fc.constant("object") }),
        fc.jsonValue()
      )
    }))
    fc.assert(
      fc.property(schema, (value) =>
        check(ToolSchema.gemini({ ...object({ a: value }), $defs: { D: { type: "integer" } } }))
      ),
      { numRuns: Number(process.env["FORETHOUGHT_RUNS"] ?? 300) }
    )
  })
})
