// How arguments are read that a model encoded once too often.
import { describe, expect, it } from "@effect/vitest"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

const name = "t"
const description = "Says what it got."
const structured = <A, I extends object>(parameters: Tool.ObjectSchema<A, I>) =>
  Tool.make({ name, description, parameters, execute: (input) => JSON.stringify(input) })

/** What a tool gets from native arguments, or `refused`. */
const got = (tool: Tool.Tool, raw: string) =>
  Either.match(Tool.fromArguments(tool, raw), {
    onLeft: () => Effect.succeed("refused"),
    onRight: (input) =>
      Effect.flatMap(Toolbox.Toolbox, (toolbox) => toolbox.call({ call: "c", tool: name, input })).pipe(
        Effect.catchTag("InvalidToolInput", () => Effect.succeed("refused")),
        Effect.orDie,
        Effect.provide(Toolbox.layer([tool]))
      )
  })

const twice = (value: unknown) => JSON.stringify(JSON.stringify(value))

const Count = structured(
  Schema.Struct({ count: Schema.optional(Schema.Number), tags: Schema.optional(Schema.Array(Schema.String)) })
)
const Flag = structured(Schema.Struct({ on: Schema.Boolean, name: Schema.optional(Schema.String) }))
const Deep = structured(
  Schema.Struct({
    filter: Schema.Struct({ max: Schema.Int, names: Schema.optional(Schema.Array(Schema.String)) }),
    rows: Schema.optional(Schema.Array(Schema.Struct({ id: Schema.Number, label: Schema.String })))
  })
)
const Either2 = structured(Schema.Struct({ value: Schema.Union(Schema.String, Schema.Number) }))
const Maybe = structured(Schema.Struct({ value: Schema.NullOr(Schema.Number) }))
const Words = structured(Schema.Struct({ scores: Schema.Record({ key: Schema.String, value: Schema.Number }) }))
const Choice = structured(Schema.Struct({ level: Schema.Literal(1, 2), mode: Schema.Literal("1", "2") }))
const Pair = structured(Schema.Struct({ pair: Schema.Tuple(Schema.Number, Schema.String) }))
const Text = structured(Schema.Struct({ text: Schema.String }))
const FromText = structured(Schema.Struct({ n: Schema.NumberFromString }))
const Anything = structured(Schema.Struct({ value: Schema.Unknown }))
const json = Tool.fromJsonSchema({
  name,
  description,
  parameters: {
    type: "object",
    properties: {
      n: { type: ["number", "null"] },
      s: { type: "string" },
      both: { type: ["string", "number"] },
      ref: { $ref: "#/$defs/list" },
      any: {},
      all: { allOf: [{ type: "array" }, { items: { type: "integer" } }] }
    },
    $defs: { list: { type: "array", items: { type: "integer" } } }
  },
  execute: (input) => JSON.stringify(input)
})
const plain = Tool.make({ name, description, execute: (input) => `<${input}>` })

const rows: ReadonlyArray<readonly [id: string, tool: Tool.Tool, raw: string, result: string]> = [
  ["VR-05", Count, '{"count":"3","tags":"[\\"a\\"]"}', '{"count":3,"tags":["a"]}'],
  ["VR-05", Count, twice({ count: 3, tags: ["a"] }), '{"count":3,"tags":["a"]}'],
  ["VR-05", Count, twice({ count: "3", tags: '["a"]' }), '{"count":3,"tags":["a"]}'],
  ["VR-05", Count, JSON.stringify(twice({ count: 3 })), '{"count":3}'],
  ["VR-05", Count, '{"count":"-2.5e1"}', '{"count":-25}'],
  ["VR-05", Count, '{"count":" 3 "}', '{"count":3}'],
  ["VR-05", Count, '{"count":3,"tags":["1"]}', '{"count":3,"tags":["1"]}'],
  ["VR-05", Count, '{"tags":"[\\"1\\",\\"2\\"]"}', '{"tags":["1","2"]}'],
  ["VR-05", Count, '{"count":"three"}', "refused"],
  ["VR-05", Count, '{"count":"3 apples"}', "refused"],
  ["VR-05", Count, '{"count":"03"}', "refused"],
  ["VR-05", Count, '{"count":"1,000"}', "refused"],
  ["VR-05", Count, '{"count":""}', "refused"],
  ["VR-05", Count, '{"count":"true"}', "refused"],
  ["VR-05", Count, '{"count":"[3]"}', "refused"],
  ["VR-05", Count, '{"count":"\\"3\\""}', "refused"],
  ["VR-05", Count, '{"tags":"a, b"}', "refused"],
  ["VR-05", Count, '{"tags":"[\'a\']"}', "refused"],
  ["VR-05", Count, '{"tags":"[\\"a\\""}', "refused"],
  ["VR-05", Count, '"[1]"', "refused"],
  ["VR-05", Count, '"3"', "refused"],
  ["VR-05", Count, '"{\\"count\\":3"', "refused"],
  ["VR-05", Flag, '{"on":"true"}', '{"on":true}'],
  ["VR-05", Flag, '{"on":"false","name":"true"}', '{"on":false,"name":"true"}'],
  ["VR-05", Flag, '{"on":"yes"}', "refused"],
  ["VR-05", Flag, '{"on":"True"}', "refused"],
  ["VR-05", Flag, '{"on":"1"}', "refused"],
  ["VR-05", Flag, '{"on":true,"name":"{\\"a\\":1}"}', '{"on":true,"name":"{\\"a\\":1}"}'],
  ["VR-05", Deep, '{"filter":"{\\"max\\":3}"}', '{"filter":{"max":3}}'],
  ["VR-05", Deep, '{"filter":{"max":"3","names":"[]"}}', '{"filter":{"max":3,"names":[]}}'],
  ["VR-05", Deep, '{"filter":"{\\"max\\":\\"3\\"}"}', '{"filter":{"max":3}}'],
  ["VR-05", Deep, '{"filter":{"max":"3.5"}}', "refused"],
  [
    "VR-05",
    Deep,
    '{"filter":{"max":1},"rows":"[{\\"id\\":1,\\"label\\":\\"2\\"}]"}',
    '{"filter":{"max":1},"rows":[{"id":1,"label":"2"}]}'
  ],
  [
    "VR-05",
    Deep,
    '{"filter":{"max":1},"rows":[{"id":"1","label":"2"},"{\\"id\\":3,\\"label\\":\\"x\\"}"]}',
    '{"filter":{"max":1},"rows":[{"id":1,"label":"2"},{"id":3,"label":"x"}]}'
  ],
  ["VR-05", Either2, '{"value":"3"}', '{"value":"3"}'],
  ["VR-05", Either2, '{"value":3}', '{"value":3}'],
  ["VR-05", Maybe, '{"value":"3"}', '{"value":3}'],
  ["VR-05", Maybe, '{"value":"null"}', '{"value":null}'],
  ["VR-05", Words, '{"scores":{"a":"1"}}', '{"scores":{"a":1}}'],
  ["VR-05", Words, '{"scores":"{\\"a\\":1}"}', '{"scores":{"a":1}}'],
  ["VR-05", Choice, '{"level":"2","mode":"2"}', '{"level":2,"mode":"2"}'],
  ["VR-05", Choice, '{"level":"3","mode":"2"}', "refused"],
  ["VR-05", Pair, '{"pair":"[1,\\"2\\"]"}', '{"pair":[1,"2"]}'],
  ["VR-05", Pair, '{"pair":["1","2"]}', '{"pair":[1,"2"]}'],
  ["VR-05", Text, '{"text":"[1]"}', '{"text":"[1]"}'],
  ["VR-05", Text, '{"text":"{\\"text\\":\\"x\\"}"}', '{"text":"{\\"text\\":\\"x\\"}"}'],
  ["VR-05", Text, twice({ text: "x" }), '{"text":"x"}'],
  ["VR-05", Text, twice({ text: '{"a":1}' }), '{"text":"{\\"a\\":1}"}'],
  ["VR-05", Text, twice({ other: "x" }), "refused"],
  ["VR-05", Text, JSON.stringify(twice({ text: "x" })), '{"text":"x"}'],
  ["VR-05", FromText, '{"n":"3"}', '{"n":3}'],
  ["VR-05", Anything, '{"value":"3"}', '{"value":"3"}'],
  ["VR-05", json, '{"n":"3","s":"3","both":"3","any":"3"}', '{"n":3,"s":"3","both":"3","any":"3"}'],
  ["VR-05", json, '{"n":"null","ref":"[1]","all":"[1]"}', '{"n":null,"ref":[1],"all":[1]}'],
  ["VR-05", json, '{"ref":["1","x",2]}', '{"ref":[1,"x",2]}'],
  ["VR-05", json, twice({ s: "x" }), '{"s":"x"}'],
  ["VR-05", json, '{"__proto__":"1","other":"1"}', '{"__proto__":"1","other":"1"}'],
  ["NW-59", plain, '"{\\"input\\": \\"x\\"}"', "<x>"],
  ["NW-59", plain, twice({ input: "two words" }), "<two words>"],
  ["NW-59", plain, JSON.stringify(' {"input": "x"}\n'), "<x>"],
  ["NW-59", plain, JSON.stringify(twice({ input: "x" })), "<x>"],
  ["NW-59", plain, twice({ input: 3 }), "<3>"],
  ["NW-59", plain, twice({ input: null }), "<>"],
  ["NW-59", plain, twice({}), "<>"],
  ["NW-59", plain, twice({ query: "x" }), "refused"],
  ["NW-59", plain, twice({ input: { a: 1 } }), "refused"],
  ["NW-59", plain, '"{\\"input\\": \\"x"', "refused"],
  ["NW-59", plain, "\"{'input': 'x'}\"", "refused"],
  ["NW-59", plain, '{"input":"x"}', "<x>"],
  ["NW-59", plain, '"x"', "<x>"],
  ["NW-59", plain, '"[1, 2]"', "<[1, 2]>"],
  ["NW-59", plain, '"{x | x > 0}"', "<{x | x > 0}>"],
  ["NW-59", plain, '{"input":"{\\"a\\":1}"}', '<{"a":1}>']
]

describe("arguments that were encoded once too often", () => {
  it.effect.each(rows)("%s: %#", ([, tool, raw, result]) =>
    Effect.map(got(tool, raw), (given) => expect(given).toBe(result))
  )

  it("VR-05: whatever a tool with fields of every type is given, its texts are as they were written", () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(fc.string(), value, fc.boolean(), (text, other, isTwice) => {
        const given: Array<unknown> = []
        const tool = Tool.make({
          name,
          description,
          parameters: Schema.Struct({
            text: Schema.String,
            either: Schema.Union(Schema.Number, Schema.String),
            list: Schema.Array(Schema.Unknown)
          }),
          execute: (input) => Effect.sync(() => void given.push(input))
        })
        const spelled = JSON.stringify(other)
        const wanted = { text: spelled, either: text, list: [other] }
        const written = { ...wanted, list: JSON.stringify([other]) }
        Effect.runSync(got(tool, isTwice ? twice(written) : JSON.stringify(written)))
        expect(given).toEqual([JSON.parse(JSON.stringify(wanted))])
      }),
      { numRuns }
    )
  })

  it("NW-59: raw arguments of any kind never throw", () => {
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((text) => JSON.stringify(text)),
      fc
        .array(fc.constantFrom('"', "\\", "{", "}", "[", "]", ":", "input", "1"), { maxLength: 20 })
        .map((p) => p.join(""))
    )
    fc.assert(
      fc.property(any, fc.constantFrom(plain, Count, Text, json), (raw, tool) => {
        expect(Either.isEither(Tool.fromArguments(tool, raw))).toBe(true)
      }),
      { numRuns }
    )
  })
})
