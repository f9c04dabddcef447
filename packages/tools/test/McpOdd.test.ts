/** Servers that are not as the protocol has them, over stdio: lists, schemas, results and messages. */
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Approval from "@forethought/core/Approval"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Mcp from "@forethought/tools/Mcp"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const script = fileURLToPath(new URL("./fixtures/odd-server.mjs", import.meta.url))

interface Scenario {
  readonly pages?: ReadonlyArray<unknown>
  readonly results?: Readonly<Record<string, unknown>>
  readonly lines?: Readonly<Record<string, ReadonlyArray<string>>>
  readonly welcome?: unknown
  readonly welcomeError?: unknown
  readonly id?: number | string
  readonly start?: string
  readonly eol?: string
  readonly acknowledge?: boolean
}

const connect = (scenario: Scenario, options: Partial<Mcp.Stdio> = {}) =>
  Effect.gen(function* () {
    const warnings: Array<string> = []
    const tools = yield* Mcp.tools({
      command: process.execPath,
      args: [script, JSON.stringify(scenario)],
      server: "odd",
      onWarning: (text) => Effect.sync(() => void warnings.push(text)),
      ...options
    })
    const toolbox = yield* Toolbox.make(tools)
    return {
      warnings,
      tools,
      names: tools.map(({ name }) => name),
      call: (tool: string) => toolbox.call({ call: "c", tool, input: "{}", timeout: 5_000 })
    }
  })

const tool = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  description: `The ${name}.`,
  inputSchema: { type: "object", properties: {} },
  ...more
})

describe("lists", () => {
  const [a, b, c] = [tool("a"), tool("b"), tool("c")]
  const seen = tool("seen")
  const lists: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, ReadonlyArray<string>, number]> = [
    ["NW-45: an empty cursor on every page", [{ tools: [a, seen], nextCursor: "" }], ["a", "seen"], 2],
    ["NW-47: a cursor that is null", [{ tools: [a, seen], nextCursor: null }], ["a", "seen"], 1],
    ["a cursor that is false", [{ tools: [a, seen], nextCursor: false }], ["a", "seen"], 1],
    ["a cursor that repeats", [{ tools: [a, seen], nextCursor: "x" }], ["a", "seen"], 2],
    [
      "cursors that go round",
      [
        { tools: [a], nextCursor: "A" },
        { tools: [b], nextCursor: "B" },
        { tools: [a, seen], nextCursor: "A" }
      ],
      ["a", "b", "seen"],
      3
    ],
    ["a cursor by its Python name", [{ tools: [a], next_cursor: "x" }, { tools: [seen] }], ["a", "seen"], 2],
    ["a cursor that is a number", [{ tools: [a], nextCursor: 2 }, { tools: [seen] }], ["a", "seen"], 2],
    [
      "an empty page between two",
      [{ tools: [a], nextCursor: "1" }, { tools: [], nextCursor: "2" }, { tools: [seen, b] }],
      ["a", "seen", "b"],
      3
    ],
    [
      "an empty cursor that begins the second page",
      [{ tools: [a], nextCursor: "" }, { tools: [seen] }],
      ["a", "seen"],
      2
    ],
    ["a tool on two pages", [{ tools: [a, b], nextCursor: "1" }, { tools: [b, seen] }], ["a", "b", "seen"], 2],
    [
      "an error where an empty cursor was asked for",
      [{ tools: [a, seen], nextCursor: "" }, { error: { code: -32602, message: "Invalid cursor" } }],
      ["a", "seen"],
      2
    ],
    ["_meta and unknown fields that are null", [{ _meta: null, ttlMs: null, tools: [a, seen] }], ["a", "seen"], 1],
    ["a list in place of the result", [[a, seen]], ["a", "seen"], 1]
  ]
  it.live.each(lists)("%s", ([_, pages, expected, requests]) =>
    Effect.gen(function* () {
      const { call, names, warnings } = yield* connect({ pages })
      expect(names).toEqual(expected)
      expect(warnings).toEqual([])
      const methods: ReadonlyArray<string> = JSON.parse(yield* call("seen"))
      expect(methods.filter((method) => method === "tools/list")).toHaveLength(requests)
    }).pipe(Effect.scoped)
  )

  const warned: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, ReadonlyArray<string>, RegExp]> = [
    [
      "a list without an end",
      Array.from({ length: 9 }, (_, n) => ({ tools: [a], nextCursor: `${n}` })),
      ["a"],
      /does not end; what stood on the first 4 pages/
    ],
    [
      "a second page that is an error",
      [{ tools: [a], nextCursor: "1" }, { error: { code: -32603, message: "no more" } }],
      ["a"],
      /Page 2 of its list of tools could not be read: .*no more/
    ],
    [
      "two tools of one name",
      [{ tools: [a, tool("a", { description: "Another." }), b] }],
      ["a", "b"],
      /"a" is listed twice/
    ],
    [
      "two names that are one without their signs",
      [{ tools: [tool("x.y"), tool("x_y"), tool("x/y")] }],
      ["x_y_2", "x_y", "x_y_3"],
      /"x.y" is offered as x_y_2, because another is named x_y/
    ],
    [
      "two long names that begin alike",
      [{ tools: [tool(`${"n".repeat(70)}1`), tool(`${"n".repeat(70)}2`)] }],
      ["n".repeat(64), `${"n".repeat(62)}_2`],
      /is offered as n+_2/
    ],
    ["an entry that is null", [{ tools: [null, a] }], ["a"], /not a tool.*: null/],
    ["an entry that is a text", [{ tools: ["b", a] }], ["a"], /not a tool.*: "b"/],
    ["a tool without a name", [{ tools: [{ description: "?" }, a] }], ["a"], /without a name/],
    ["a name that is a number", [{ tools: [tool("b"), { ...a, name: 7 }] }], ["b"], /without a name/],
    ["a name that is empty", [{ tools: [tool(" "), a] }], ["a"], /without a name/],
    [
      "a tool that needs a task",
      [{ tools: [tool("slow", { execution: { taskSupport: "required" } }), a] }],
      ["a"],
      /"slow" can only be called as a task/
    ],
    [
      "a schema of a text",
      [{ tools: [tool("t", { inputSchema: { type: "string" } }), a] }],
      ["a"],
      /"t" takes no object/
    ],
    [
      "a schema of a list",
      [{ tools: [tool("t", { inputSchema: { type: ["array"] } }), a] }],
      ["a"],
      /"t" takes no object/
    ],
    ["a schema that nothing fits", [{ tools: [tool("t", { inputSchema: false }), a] }], ["a"], /"t" takes no object/],
    ["no tools at all", [{ error: { code: -32601, message: "Method not found" } }], [], /offers no tools/]
  ]
  it.live.each(warned)("%s is left out or mended, and named", ([_, pages, expected, says]) =>
    Effect.gen(function* () {
      const { names, warnings } = yield* connect({ pages })
      expect(names).toEqual(expected)
      expect(warnings.join("\n")).toMatch(says)
    }).pipe(Effect.scoped)
  )

  it.live("tools that may be tasks, and what says nothing, are offered", () =>
    Effect.gen(function* () {
      const { tools, warnings } = yield* connect({
        pages: [
          {
            tools: [
              tool("optional", { execution: { taskSupport: "optional" } }),
              tool("nulls", { description: null, title: null, annotations: null, execution: null, outputSchema: null }),
              tool("titled", { description: " ", title: "A title" }),
              tool("hinted", { description: 7, annotations: { title: "By its hints", readOnlyHint: null } }),
              tool("odd hints", { annotations: [], _meta: null, icons: null, outputSchema: "text" })
            ]
          }
        ]
      })
      expect(tools.map(({ description, name }) => `${name}: ${description}`)).toEqual([
        "optional: The optional.",
        "nulls: nulls",
        "titled: A title",
        "hinted: By its hints",
        "odd_hints: The odd hints."
      ])
      expect(tools.every(({ idempotent, readOnly }) => !idempotent && !readOnly)).toBe(true)
      expect(warnings).toEqual([])
    }).pipe(Effect.scoped)
  )

  // The hints, then what counts of them before the server is believed, and after.
  const hints: ReadonlyArray<readonly [object | null, boolean | undefined, readonly [boolean | undefined, boolean]]> = [
    [{ readOnlyHint: true }, undefined, [true, true]],
    [{ readOnlyHint: true, destructiveHint: false, openWorldHint: false }, undefined, [true, true]],
    [{ readOnlyHint: true, idempotentHint: false }, undefined, [true, false]],
    [{ readOnlyHint: true, destructiveHint: true }, false, [false, false]],
    [{ readOnlyHint: true, destructiveHint: true, idempotentHint: true }, false, [false, true]],
    [{ readOnlyHint: false }, false, [false, false]],
    [{ readOnlyHint: false, destructiveHint: false, idempotentHint: true }, false, [false, true]],
    [{ destructiveHint: true }, false, [false, false]],
    [{ destructiveHint: false }, undefined, [undefined, false]],
    [{ idempotentHint: true }, undefined, [undefined, true]],
    [{ readOnlyHint: "true", idempotentHint: 1, destructiveHint: "yes" }, undefined, [undefined, false]],
    [{}, undefined, [undefined, false]],
    [null, undefined, [undefined, false]]
  ]
  it.live.each(hints)("AU-06: of the hints %j those count that say it writes, the others once believed", (row) =>
    Effect.gen(function* () {
      const [annotations, wary, [readOnly, idempotent]] = row
      const pages = [{ tools: [tool("t", { annotations })] }]
      for (const options of [{}, { trustAnnotations: false }]) {
        const { tools } = yield* connect({ pages }, options)
        expect(tools.map((tool) => [tool.readOnly, tool.idempotent])).toEqual([[wary, false]])
      }
      const { tools } = yield* connect({ pages }, { trustAnnotations: true })
      expect(tools.map((tool) => [tool.readOnly, tool.idempotent])).toEqual([[readOnly, idempotent]])
    }).pipe(Effect.scoped)
  )

  it.live("AU-06: a person is asked before a tool that calls itself read-only, until its server is believed", () =>
    Effect.gen(function* () {
      const pages = [{ tools: [tool("delete_everything", { annotations: { readOnlyHint: true } })] }]
      const asked: Array<string> = []
      const approval = Approval.layer({
        tool: (request) =>
          Effect.as(
            Effect.sync(() => asked.push(request.tool.name)),
            { deny: "no" }
          )
      })
      const call = (options: object) =>
        Effect.gen(function* () {
          const { tools } = yield* connect({ pages, results: { delete_everything: { content: [] } } }, options)
          const toolbox = Approval.tools.pipe(Layer.provide(Layer.merge(Toolbox.layer(tools), approval)))
          return yield* Effect.exit(
            Effect.flatMap(Toolbox.Toolbox, (box) =>
              box.call({ call: "c", tool: "delete_everything", input: "{}" })
            ).pipe(Effect.provide(toolbox))
          )
        })
      yield* call({})
      expect(asked).toEqual(["delete_everything"])
      yield* call({ trustAnnotations: true })
      expect(asked).toEqual(["delete_everything"])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["no tool can be used", [{ tools: [tool("t", { inputSchema: 7 }), null] }], /"t" takes no object/],
    ["the list is not a list", [{ tools: "none" }], /not a list/],
    ["the first page is an error", [{ error: { code: -32603, message: "out of order" } }], /out of order/]
  ] as const)("fails with why where %s", ([_, pages, says]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.map(connect({ pages }), ({ names }) => names.join()))
      expect(error).toMatchObject({ _tag: "McpError", server: "odd" })
      expect(String(error)).toMatch(says)
    }).pipe(Effect.scoped)
  )

  it.live("what was listed in time is used", () =>
    Effect.gen(function* () {
      const pages = [{ tools: [a, c], nextCursor: "1" }, { hang: true }]
      const { names, warnings } = yield* connect({ pages }, { connectTimeout: "1 second" })
      expect(names).toEqual(["a", "c"])
      expect(warnings.join()).toContain("did not list all its tools in time")
    }).pipe(Effect.scoped)
  )
})

describe("times", () => {
  const bad: ReadonlyArray<Duration.DurationInput> = [
    0,
    -1,
    Number.NaN,
    "0 seconds",
    Duration.zero,
    JSON.parse('"soon"')
  ]
  it.each(bad)("AU-14: %s is refused where the tools or the layer are made", (time) => {
    for (const options of [{ timeout: time }, { connectTimeout: time }]) {
      const server = { command: "none", ...options }
      expect(() => Mcp.tools(server)).toThrow(RangeError)
      expect(() => Mcp.layer(server)).toThrow(/imeout must be a duration longer than 0/)
    }
  })

  it.live("without an end are no limit", () =>
    Effect.gen(function* () {
      const pages = [{ tools: [tool("t")] }]
      const { tools } = yield* connect({ pages }, { timeout: Duration.infinity, connectTimeout: Duration.infinity })
      expect(tools[0]).not.toHaveProperty("timeout")
    }).pipe(Effect.scoped)
  )
})

describe("schemas", () => {
  const text = { type: "string" }
  const object = (properties: unknown, more: object = {}) => ({ type: "object", properties, ...more })
  const schemas: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["no schema", undefined, object({})],
    [
      "the names of what is required among the properties",
      object({ coin: text, required: ["coin"] }),
      object({ coin: text }, { required: ["coin"] })
    ],
    [
      "a property of the name required",
      object({ required: { type: "boolean" } }),
      object({ required: { type: "boolean" } })
    ],
    ["null", null, object({})],
    ["true", true, object({})],
    ["an empty object", {}, object({})],
    ["an empty text", "", object({})],
    ["JSON as text", JSON.stringify(object({ a: text })), object({ a: text })],
    ["a list of types", { type: ["object"], properties: { a: text } }, object({ a: text })],
    ["an object or null", { type: ["object", "null"], properties: { a: text } }, object({ a: text })],
    ["a type in capitals", { type: "OBJECT", properties: { a: { type: "STRING" } } }, object({ a: text })],
    ["no type", { properties: { a: text }, required: ["a"] }, object({ a: text }, { required: ["a"] })],
    ["a type that is null", { type: null, properties: { a: text } }, object({ a: text })],
    [
      "a bare map of properties",
      { city: text, days: { type: "integer" } },
      object({ city: text, days: { type: "integer" } })
    ],
    [
      "a bare map with what is required",
      { city: text, required: ["city"] },
      object({ city: text }, { required: ["city"] })
    ],
    ["a bare map with properties of keywords' names", { type: text, title: text }, object({ type: text, title: text })],
    ["properties that are null", { type: "object", properties: null }, object({})],
    ["properties of PHP", { type: "object", properties: [], required: [] }, object({})],
    [
      "properties in a list",
      { type: "object", properties: [{ name: "a", type: "string", required: true }, { name: "b" }] },
      object({ a: text, b: {} }, { required: ["a"] })
    ],
    [
      "a property that is null, true, a type",
      object({ a: null, b: true, c: "string" }),
      object({ a: {}, b: {}, c: text })
    ],
    ["a property that nothing fits", object({ a: false, b: text }), object({ b: text })],
    [
      "required at the property",
      object({ a: { ...text, required: true }, b: { ...text, required: false } }),
      object({ a: text, b: text }, { required: ["a"] })
    ],
    [
      "required that is null, a text, mixed",
      object({
        a: object({}, { required: null }),
        b: object({}, { required: "x" }),
        c: object({}, { required: ["y", 1, "y"] })
      }),
      object({ a: object({}), b: object({}, { required: ["x"] }), c: object({}, { required: ["y"] }) })
    ],
    [
      "draft 4 bounds",
      object({ n: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } }),
      object({ n: { type: "number", exclusiveMinimum: 0, maximum: 9 } })
    ],
    [
      "draft 4 bounds deep inside",
      object({ l: { type: "array", items: { anyOf: [{ minimum: 1, exclusiveMinimum: true }] } } }),
      object({ l: { type: "array", items: { anyOf: [{ exclusiveMinimum: 1 }] } } })
    ],
    ["a bound without its flag", object({ n: { exclusiveMaximum: true } }), object({ n: {} })],
    [
      "bounds of later drafts",
      object({ n: { minimum: 1, exclusiveMaximum: 3 } }),
      object({ n: { minimum: 1, exclusiveMaximum: 3 } })
    ],
    [
      "types of other languages",
      object({
        a: { type: "str" },
        b: { type: "int" },
        c: { type: "float" },
        d: { type: "bool" },
        e: { type: "dict" },
        f: { type: "any" }
      }),
      object({
        a: text,
        b: { type: "integer" },
        c: { type: "number" },
        d: { type: "boolean" },
        e: { type: "object" },
        f: {}
      })
    ],
    [
      "types in lists",
      object({ a: { type: ["String", "null"] }, b: { type: ["string"] }, c: { type: [] } }),
      object({ a: { type: ["string", "null"] }, b: text, c: {} })
    ],
    [
      "keywords that are null",
      object({
        a: {
          ...text,
          title: null,
          description: null,
          enum: null,
          items: null,
          format: null,
          minimum: null,
          anyOf: null,
          default: null
        }
      }),
      object({ a: { ...text, items: {}, default: null } })
    ],
    [
      "a tuple",
      object({ a: { type: "array", items: [text, true] } }),
      object({ a: { type: "array", prefixItems: [text, {}] } })
    ],
    [
      "definitions",
      object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: { type: "String" } } }),
      object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: text } })
    ],
    [
      "what looks like a keyword and is data",
      object({
        properties: text,
        type: text,
        a: {
          const: { type: "str" },
          default: { minimum: null },
          enum: [{ type: "int" }],
          examples: [{ required: true }]
        }
      }),
      object({
        properties: text,
        type: text,
        a: {
          const: { type: "str" },
          default: { minimum: null },
          enum: [{ type: "int" }],
          examples: [{ required: true }]
        }
      })
    ],
    ["a union at the root", { anyOf: [object({ a: text })] }, object({}, { anyOf: [object({ a: text })] })],
    [
      "a reference at the root",
      { $ref: "#/$defs/A", $defs: { A: object({ a: text }) } },
      object({}, { $ref: "#/$defs/A", $defs: { A: object({ a: text }) } })
    ],
    ["a dialect", { $schema: "http://json-schema.org/draft-04/schema#", type: "object", properties: {} }, object({})],
    [
      "what is right already",
      object({ a: { type: "array", items: text } }, { additionalProperties: false, required: ["a"] }),
      object({ a: { type: "array", items: text } }, { additionalProperties: false, required: ["a"] })
    ]
  ]
  it.live("NW-41: no properties", () =>
    Effect.gen(function* () {
      const { tools, warnings } = yield* connect({
        pages: [{ tools: [tool("a", { inputSchema: { type: "object" } })] }]
      })
      expect(tools.map(({ parameters }) => parameters)).toEqual([object({})])
      expect(warnings).toEqual([])
    }).pipe(Effect.scoped)
  )
  it.live("are mended where their meaning is clear", () =>
    Effect.gen(function* () {
      const listed = schemas.map(([_, inputSchema], n) => ({ name: `t${n}`, description: "A tool.", inputSchema }))
      const { tools, warnings } = yield* connect({ pages: [{ tools: listed }] })
      expect(warnings).toEqual([])
      const read = schemas.map(([title], n) => [title, tools[n]?.parameters])
      expect(read).toEqual(schemas.map(([title, _, expected]) => [title, expected]))
    }).pipe(Effect.scoped)
  )
  it.live("of any depth do no harm", () =>
    Effect.gen(function* () {
      let deep: unknown = text
      for (let n = 0; n < 400; n++) deep = { type: "array", items: deep }
      const { names } = yield* connect({ pages: [{ tools: [tool("deep", { inputSchema: object({ deep }) })] }] })
      expect(names).toEqual(["deep"])
    }).pipe(Effect.scoped)
  )
})

describe("results", () => {
  const useful = { type: "text", text: "useful" }
  const reported: ReadonlyArray<readonly [string, unknown, string]> = [
    [
      "NW-49: an embedded text",
      {
        content: [
          { type: "text", text: "successfully downloaded text file" },
          {
            type: "resource",
            resource: { uri: "repo://depot.md", mimeType: "text/plain", text: "# The depot opens at 7:40" }
          }
        ]
      },
      "successfully downloaded text file\n[resource: repo://depot.md, text/plain]\n# The depot opens at 7:40"
    ],
    [
      "NW-50: annotations and isError that are null",
      { content: [{ ...useful, annotations: null }], isError: null },
      "useful"
    ],
    ["NW-50: _meta that is null", { _meta: null, content: [{ ...useful, _meta: null }] }, "useful"],
    [
      "NW-52: structuredContent that is a list",
      { content: [{ type: "text", text: "2 rows" }], structuredContent: [{ a: 1 }, { a: 2 }] },
      '2 rows\n[{"a":1},{"a":2}]'
    ]
  ]
  it.live.each(reported)("%s", ([_, result, expected]) =>
    Effect.gen(function* () {
      const { call } = yield* connect({ pages: [{ tools: [tool("a")] }], results: { a: result } })
      expect(yield* call("a")).toBe(expected)
    }).pipe(Effect.scoped)
  )

  const texts: ReadonlyArray<readonly [string, unknown, string]> = [
    [
      "a blob",
      { content: [{ type: "resource", resource: { uri: "u://b", blob: "A".repeat(400) } }] },
      "[resource: u://b, 300 bytes]"
    ],
    [
      "an empty resource",
      { content: [{ type: "resource", resource: { uri: "u://b", text: "" } }] },
      "[resource: u://b, empty]"
    ],
    [
      "a resource without its wrapper",
      { content: [{ type: "resource", uri: "u://a", text: "hi" }] },
      "[resource: u://a]\nhi"
    ],
    ["a resource that is null", { content: [{ type: "resource", resource: null }] }, "[resource: without an address]"],
    ["the names of Python", { meta: null, content: [], structured_content: { a: 1 }, is_error: false }, '{"a":1}'],
    ["structuredContent alone", { structuredContent: { a: 1 } }, '{"a":1}'],
    ["structuredContent without text", { content: [], structuredContent: "plain" }, '"plain"'],
    ["structuredContent that is a number", { content: [], structuredContent: 0 }, "0"],
    ["structuredContent that is false", { content: [], structuredContent: false }, "false"],
    ["structuredContent that is null", { content: [useful], structuredContent: null }, "useful"],
    [
      "structuredContent said as JSON",
      { content: [{ type: "text", text: '{\n "a": [1]\n}' }], structuredContent: { a: [1] } },
      '{\n "a": [1]\n}'
    ],
    ["structuredContent said as text", { content: [useful], structuredContent: { result: "useful" } }, "useful"],
    [
      "structuredContent said as a number",
      { content: [{ type: "text", text: "42" }], structuredContent: { result: 42 } },
      "42"
    ],
    [
      "structuredContent said in blocks",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ],
        structuredContent: { result: ["a", "b"] }
      },
      "a\nb"
    ],
    [
      "structuredContent beside an image",
      { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }], structuredContent: { a: 1 } },
      '[image: image/png, 3 bytes]\n{"a":1}'
    ],
    [
      "structuredContent that is the blocks",
      {
        content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
        structuredContent: { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }
      },
      "[image: image/png, 3 bytes]"
    ],
    [
      "an image without data",
      { content: [{ type: "image", mimeType: null, data: null, url: "u://i" }] },
      "[image: of an unknown type, u://i]"
    ],
    [
      "sound",
      { content: [{ type: "audio", mimeType: "audio/wav", data: "data:audio/wav;base64,AAAA" }] },
      "[audio: audio/wav, 3 bytes]"
    ],
    [
      "a link",
      { content: [{ type: "resource_link", uri: "u://l", name: "l", title: null, mimeType: "text/html" }] },
      "[resource: u://l, l, text/html]"
    ],
    [
      "a link that is described",
      { content: [{ type: "resource_link", uri: "u://l", name: "l", title: "The list", description: "All of it" }] },
      "[resource: u://l, The list, All of it]"
    ],
    [
      "an unknown kind",
      { content: [{ type: "hologram", depth: 3 }, useful] },
      '[content of the unknown type "hologram": {"type":"hologram","depth":3}]\nuseful'
    ],
    [
      "an unknown kind of data",
      { content: [{ type: "video", mimeType: "video/mp4", data: "AAAA" }] },
      '[content of the unknown type "video": video/mp4, 3 bytes]'
    ],
    [
      "an unknown kind with text",
      { content: [{ type: "markdown", text: "# Hi" }] },
      '[content of the unknown type "markdown"]\n# Hi'
    ],
    ["blocks that are null and texts", { content: [null, "plain", 7, useful] }, "plain\n7\nuseful"],
    [
      "blocks without a type",
      {
        content: [
          { text: "a" },
          { uri: "u://r", text: "b" },
          { uri: "u://l" },
          { data: "AAAA", mimeType: "image/png" },
          { x: 1 }
        ]
      },
      'a\n[resource: u://r]\nb\n[resource: u://l]\n[image: image/png, 3 bytes]\n[content without a type: {"x":1}]'
    ],
    ["a type in capitals", { content: [{ type: "TEXT", text: "a" }] }, "a"],
    [
      "a text that is a number, an object, null",
      {
        content: [
          { type: "text", text: 7 },
          { type: "text", text: { a: 1 } },
          { type: "text", text: null }
        ]
      },
      '7\n{"a":1}'
    ],
    ["content that is a text", { content: "plain" }, "plain"],
    ["content that is one block", { content: useful }, "useful"],
    ["content that is null", { content: null }, "(no result)"],
    ["no content", {}, "(no result)"],
    ["a result that is null", null, "(no result)"],
    ["a result that is a text", "plain", "plain"],
    ["a result that is a list of blocks", [useful], "useful"],
    ["the result of the first version", { toolResult: { a: 1 } }, '{"a":1}'],
    ["the result of the first version, a text", { toolResult: "plain" }, "plain"],
    ["a result of its own kind", { output: "7:40" }, '{"output":"7:40"}'],
    ["a complete result", { resultType: "complete", content: [useful], ttlMs: 3 }, "useful"],
    ["isError as the text false", { content: [useful], isError: "false" }, "useful"],
    ["isError that is 0", { content: [useful], isError: 0 }, "useful"]
  ]
  const errors: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ["isError", { content: [{ type: "text", text: "out of paper" }], isError: true }, /failed: out of paper$/],
    ["isError as text", { content: ["out of paper"], isError: "True" }, /failed: out of paper$/],
    ["isError with structure alone", { isError: true, structuredContent: { code: 7 } }, /failed: \{"code":7\}$/],
    [
      "a wish for input",
      {
        resultType: "input_required",
        inputRequests: { r: { method: "elicitation/create", params: { message: "Which city?" } } }
      },
      /wants more input.*not supported.*Which city\?/
    ],
    ["a task", { task: { taskId: "7", status: "working" } }, /a task that goes on, which is not supported/]
  ]
  it.live("are text, whatever they are made of", () =>
    Effect.gen(function* () {
      const all = [...texts, ...errors].map(([title, result], n) => ({ title, result, name: `t${n}` }))
      const { call } = yield* connect({
        pages: [{ tools: all.map(({ name }) => tool(name)) }],
        results: Object.fromEntries(all.map(({ name, result }) => [name, result]))
      })
      const read = yield* Effect.forEach(texts, ([title], n) => Effect.map(call(`t${n}`), (text) => [title, text]))
      expect(read).toEqual(texts.map(([title, _, expected]) => [title, expected]))
      for (const [n, [title, _, says]] of errors.entries()) {
        const error = yield* Effect.flip(call(`t${texts.length + n}`))
        expect([title, error._tag]).toEqual([title, "ToolFailed"])
        expect(error.message).toMatch(says)
      }
    }).pipe(Effect.scoped)
  )
})

describe("messages", () => {
  const good = '{"content":[{"type":"text","text":"good"}]}'
  const ok: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["an id as text", [`{"jsonrpc":"2.0","id":"ID","result":${good}}`]],
    ["no id", [`{"jsonrpc":"2.0","result":${good}}`]],
    ["an id that is null", [`{"jsonrpc":"2.0","id":null,"result":${good}}`]],
    ["no version", [`{"id":ID,"result":${good}}`]],
    ["another version", [`{"jsonrpc":2,"id":ID,"result":${good}}`]],
    ["an error that is null", [`{"jsonrpc":"2.0","id":ID,"result":${good},"error":null}`]],
    ["fields that nobody knows", [`{"jsonrpc":"2.0","id":ID,"result":${good},"took":3}`]],
    ["a batch", [`[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":ID,"result":${good}}]`]],
    [
      "answers to what is none",
      [
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}',
        '{"jsonrpc":"2.0","id":null,"result":{}}',
        `{"jsonrpc":"2.0","id":ID,"result":${good}}`
      ]
    ],
    [
      "a value of any depth",
      [`{"jsonrpc":"2.0","id":ID,"result":{"content":["good"],"more":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`]
    ],
    ["an indented message", ["{", '  "jsonrpc": "2.0",', '  "id": ID,', `  "result": ${good}`, "}"]],
    ["a byte order mark", [`\uFEFF{"jsonrpc":"2.0","id":ID,"result":${good}}`]],
    [
      "lines for a person",
      ["Working…", "{not json", "{", `[INFO] {"id":ID}`, `{"jsonrpc":"2.0","id":ID,"result":${good}}`]
    ],
    ["an answer behind words without a line end", [`Loading… {"jsonrpc":"2.0","id":ID,"result":${good}}`]],
    ["an answer behind a colour code", [`\u001b[0m{"jsonrpc":"2.0","id":ID,"result":${good}}`]],
    [
      "a call that was logged on one line",
      [`DEBUG got {"jsonrpc":"2.0","id":ID,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":ID,"result":${good}}`]
    ],
    ["logs in JSON", ['{"level":30,"msg":"called","id":ID}', `{"jsonrpc":"2.0","id":ID,"result":${good}}`]],
    [
      "odd notifications",
      [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
        '{"jsonrpc":"2.0","method":7}',
        `{"jsonrpc":"2.0","id":ID,"result":${good}}`
      ]
    ],
    [
      "a ping before the answer",
      [
        '{"jsonrpc":"2.0","id":"p","method":"ping","params":{"_meta":null}}',
        `{"jsonrpc":"2.0","id":ID,"result":${good}}`
      ]
    ]
  ]
  const bad: ReadonlyArray<readonly [string, ReadonlyArray<string>, RegExp]> = [
    ["the words of a Python dictionary", ["{'jsonrpc': '2.0', 'id': ID, 'result': None}"], /cannot be read.*None/],
    [
      "an answer that is not JSON, its id last",
      ['{"result":{"id":99,"content":[undefined]},"jsonrpc":"2.0","id":ID}'],
      /cannot be read/
    ],
    ["neither a result nor an error", ['{"jsonrpc":"2.0","id":ID}'], /cannot be read/],
    ["an error that is a text", ['{"jsonrpc":"2.0","id":ID,"error":"out of paper"}'], /out of paper/],
    [
      "an error with a code as text",
      ['{"jsonrpc":"2.0","id":ID,"error":{"code":"E_PAPER","message":"out of paper"}}'],
      /out of paper/
    ],
    [
      "an error without a message",
      ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"data":{"why":"paper"}}}'],
      /paper/
    ],
    [
      "an error without an id",
      ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"out of paper"}}'],
      /out of paper/
    ],
    [
      "an error whose data says more",
      ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Invalid params","data":{"field":"paper"}}}'],
      /MCP error -32602: Invalid params\. \{"field":"paper"\}$/
    ],
    [
      "an error with a code that is broken",
      ['{"jsonrpc":"2.0","id":ID,"error":{"code":1.5,"message":"out of paper"}}'],
      /out of paper/
    ]
  ]
  const scenario = (
    cases: ReadonlyArray<readonly [string, ReadonlyArray<string>, ...ReadonlyArray<unknown>]>
  ): Scenario => ({
    pages: [{ tools: cases.map((_, n) => tool(`t${n}`)) }],
    lines: Object.fromEntries(cases.map(([_, lines], n) => [`t${n}`, lines]))
  })
  const ends: ReadonlyArray<readonly [string, string]> = [
    ["\n", ""],
    ["\r\n", "\uFEFF"],
    ["\r", "Welcome!\n"]
  ]
  it.live.each(ends)("are read leniently, with line ends %j after %j", ([eol, start]) =>
    Effect.gen(function* () {
      const { call } = yield* connect({ ...scenario(ok), eol, start })
      const read = yield* Effect.forEach(ok, ([title], n) => Effect.map(call(`t${n}`), (text) => [title, text]))
      expect(read).toEqual(ok.map(([title]) => [title, "good"]))
    }).pipe(Effect.scoped)
  )
  it.live("that cannot be read end their call at once", () =>
    Effect.gen(function* () {
      const { call } = yield* connect(scenario(bad))
      for (const [n, [title, _, says]] of bad.entries()) {
        const error = yield* Effect.flip(call(`t${n}`))
        expect([title, error._tag]).toEqual([title, "ToolFailed"])
        expect(error.message).toMatch(says)
      }
    }).pipe(Effect.scoped)
  )
  it.live("NW-50: an answer that is not JSON ends its call at once", () =>
    Effect.gen(function* () {
      const lines = { a: ['{"jsonrpc":"2.0","id":ID,"result":{"content":[NaN]}}'] }
      const { call } = yield* connect({ pages: [{ tools: [tool("a")] }], lines })
      expect((yield* Effect.flip(call("a"))).message).toMatch(/cannot be read.*NaN/)
    }).pipe(Effect.scoped)
  )
  it.live.each([0, 1, "own"])("that all have the id %j are read, one call at a time", (id) =>
    Effect.gen(function* () {
      const { call, names } = yield* connect({
        pages: [{ tools: [tool("a")] }],
        results: { a: { content: ["good"] } },
        id
      })
      expect(names).toEqual(["a"])
      expect(yield* call("a")).toBe("good")
      expect(yield* call("a")).toBe("good")
    }).pipe(Effect.scoped)
  )
  it.live("that come twice answer no other call", () =>
    Effect.gen(function* () {
      const answer = (text: string) => `{"jsonrpc":"2.0","id":ID,"result":{"content":["${text}"]}}`
      const lines = { a: [answer("first"), answer("again")], b: [answer("second")] }
      const { call } = yield* connect({ pages: [{ tools: [tool("a"), tool("b")] }], lines })
      expect(yield* call("a")).toBe("first")
      expect(yield* call("b")).toBe("second")
    }).pipe(Effect.scoped)
  )
  it.live("that answer notifications answer nothing else", () =>
    Effect.gen(function* () {
      const { names, warnings } = yield* connect({ pages: [{ tools: [tool("a")] }], acknowledge: true })
      expect(names).toEqual(["a"])
      expect(warnings).toEqual([])
    }).pipe(Effect.scoped)
  )
  const welcomes: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
    ["null everywhere", { _meta: null, instructions: null, capabilities: null, serverInfo: null }],
    ["flags for capabilities", { capabilities: { tools: true, logging: null } }],
    ["a version that nobody knows", { protocolVersion: "2031-01-01" }],
    ["a version that is a number", { protocolVersion: 1 }],
    ["a name without a version", { serverInfo: { name: "odd" } }]
  ]
  it.live.each([null, "hello", []])("of welcome may be %j", (welcome) =>
    Effect.gen(function* () {
      const { names } = yield* connect({ pages: [{ tools: [tool("a")] }], welcome })
      expect(names).toEqual(["a"])
    }).pipe(Effect.scoped)
  )
  it.live.each([
    [{ code: -32601, message: "Method not found" }, /Method not found/],
    [{ code: -32022, message: "Unsupported version", data: { supported: ["2031-01-01"] } }, /2031-01-01/]
  ] as const)("of a server of another version say so: %j", ([error, says]) =>
    Effect.gen(function* () {
      const problem = yield* Effect.flip(connect({ welcomeError: error }))
      expect(problem.message).toMatch(says)
      expect(problem.message).toContain("It may speak another version of the protocol; known here is")
    }).pipe(Effect.scoped)
  )
  it.live.each(welcomes)("of welcome may have %s", ([_, welcome]) =>
    Effect.gen(function* () {
      const { names } = yield* connect({ pages: [{ tools: [tool("a")] }], welcome })
      expect(names).toEqual(["a"])
    }).pipe(Effect.scoped)
  )
})
