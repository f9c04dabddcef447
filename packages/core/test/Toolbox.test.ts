import { describe, expect, it } from "@effect/vitest"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import type { Outcome } from "@forethought/core/ToolOutcome"
import * as ToolText from "@forethought/core/ToolText"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { expectTypeOf } from "vitest"

const call = (tool: string, input: string, timeout?: number) =>
  Effect.flatMap(Toolbox.Toolbox, (toolbox) =>
    toolbox.call({ call: "c", tool, input, ...(timeout === undefined ? {} : { timeout }) })
  )
const within = (...tools: ReadonlyArray<Tool.Tool>) => Effect.provide(Toolbox.layer(tools))
const text = (
  name: string,
  execute: (input: string, context: Tool.ToolContext) => Outcome<never> = (input) => `${name}:${input}`
) => Tool.make({ name, description: `The ${name}.`, execute })

/** An error of an app's own class, whose message is whatever the app makes it. */
const odd = (message: unknown): Error => Object.assign(new Odd(), { message })
class Odd extends Data.TaggedError("Odd") {}

/** A value of which one property cannot be read. */
const unreadable = <A extends object>(value: A, property: string): A =>
  Object.defineProperty(value, property, {
    get: () => {
      throw new Error(`${property} is not readable`)
    }
  })

const weather = Tool.make({
  name: "weather",
  description: "The weather of a city.",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.optional(Schema.Number) }),
  execute: ({ city, days }) => `${city} ${days ?? 1}`
})
const echo = Tool.make({
  name: "echo",
  description: "Says it again.",
  parameters: Schema.Struct({ what: Schema.String }),
  execute: ({ what }) => what
})
const nothing = Tool.make({
  name: "nothing",
  description: "Takes nothing.",
  parameters: Schema.Struct({}),
  execute: (input) => JSON.stringify(input)
})

describe("Toolbox names", () => {
  const found: ReadonlyArray<readonly [string, string]> = [
    ["Search", "Search"],
    ["search", "Search"],
    ["SEARCH()", "Search"],
    [' "Search" ', "Search"],
    ["`Search`", "Search"],
    ["S e a r c h", "Search"],
    ["list_orders<|channel|>commentary", "list_orders"],
    ["exact", "exact"],
    ["EXACT", "EXACT"]
  ]
  const tools = ["Search", "SearchWeb", "list_orders", "exact", "EXACT"].map((name) => ({ name }))
  it.each(found)("%j means %s", (name, meant) => {
    expect(Toolbox.resolve(tools, name)).toEqual(Either.right(meant))
  })
  it.each(["Sear", "SearchWeb2", "", "()", "<|channel|>", "constructor", "toString", "__proto__", "hasOwnProperty"])(
    "%j is no tool",
    (name) => {
      const result = Toolbox.resolve(tools, name)
      expect(Either.isLeft(result) && result.left._tag).toBe("UnknownTool")
    }
  )
  it("a name that could be two tools is ambiguous, and says which", () => {
    const result = Toolbox.resolve(tools, "Exact")
    expect(Either.isLeft(result) && result.left.candidates).toEqual(["exact", "EXACT"])
    expect(Either.isLeft(result) && result.left.message).toContain("exact or EXACT")
  })
  it.effect("RA-06: names of the prototype give the unknown-tool error, which lists the tools", () =>
    Effect.gen(function* () {
      for (const name of ["constructor", "toString", "__proto__"]) {
        const error = yield* Effect.flip(call(name, "{}"))
        expect(error._tag).toBe("UnknownTool")
        expect(error.message).toContain("Available tools: weather")
      }
    }).pipe(within(weather))
  )
  it("two tools of one name, and a name no provider accepts, are refused", () => {
    expect(() => Toolbox.make([text("a"), text("a")])).toThrow(/two tools are named "a"/)
    expect(() => text("two words")).toThrow(/must be 1 to 64 letters/)
  })
})

describe("Toolbox inputs", () => {
  const good: ReadonlyArray<readonly [tool: string, input: string, result: string]> = [
    ["text", "as it is", "text:as it is"],
    ["text", "", "text:"],
    ["text", '{"a":1}', 'text:{"a":1}'],
    ["weather", '{"city":"Oslo"}', "Oslo 1"],
    ["weather", ' {"city":"Oslo","days":3} ', "Oslo 3"],
    ["weather", '{"city":"Oslo","__proto__":{"days":9}}', "Oslo 1"],
    ["echo", "just the value", "just the value"],
    ["echo", '{"what":"in JSON"}', "in JSON"],
    ["echo", '"quoted"', "quoted"],
    ["echo", "42", "42"],
    ["echo", "[1,2]", "[1,2]"],
    ["nothing", "", "{}"],
    ["nothing", "null", "{}"]
  ]
  it.effect.each(good)("%s takes %j", ([tool, input, result]) =>
    Effect.map(call(tool, input), (given) => expect(given).toBe(result)).pipe(
      within(text("text"), weather, echo, nothing)
    )
  )
  const bad: ReadonlyArray<readonly [tool: string, input: string, says: string]> = [
    ["weather", "Oslo", "not valid JSON"],
    ["weather", '{"city": oslo"}', "not valid JSON"],
    ["weather", '{"city":"Oslo', "not valid JSON"],
    ["weather", "[]", "must be a JSON object"],
    ["weather", "", "city"],
    ["weather", '{"city":3}', "city"],
    ["echo", '{"what', "not valid JSON"]
  ]
  it.effect.each(bad)("%s refuses %j and does not run", ([tool, input, says]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(call(tool, input))
      expect(error._tag).toBe("InvalidToolInput")
      expect(error.message).toContain(says)
    }).pipe(within(weather, echo))
  )

  const native: ReadonlyArray<readonly [tool: Tool.Tool, raw: string, input: string | "refused"]> = [
    [text("t"), '{"input":"x"}', "x"],
    [text("t"), '{"input":3}', "3"],
    [text("t"), '"x"', "x"],
    [text("t"), "", ""],
    [text("t"), "null", ""],
    [text("t"), "{}", ""],
    [text("t"), '{"query":"x"}', "refused"],
    [text("t"), "plain", "refused"],
    [text("t"), '{"input":"half', "refused"],
    [weather, "", "{}"],
    [weather, "  ", "{}"],
    [weather, "null", "{}"],
    [weather, '{"city":"x"}', '{"city":"x"}'],
    [weather, '{"city":"x', "refused"]
  ]
  it.each(native)("native arguments (RA-08, RA-12) %#", (tool, raw, input) => {
    const read = Tool.fromArguments(tool, raw)
    expect(Either.isRight(read) ? read.right : "refused").toBe(input)
  })
  it("RA-08: arguments that a server left out are none", () => {
    const missing: string = JSON.parse("null")
    expect(Tool.fromArguments(text("t"), missing)).toEqual(Either.right(""))
    expect(Tool.fromArguments(text("t"), '{"input":null}')).toEqual(Either.right(""))
    expect(Tool.fromArguments(weather, missing)).toEqual(Either.right("{}"))
  })
  it("RA-09: quotes at most 200 characters of arguments that are not JSON", () => {
    const read = Tool.fromArguments(weather, `{"city": ${"x".repeat(5000)}`)
    expect(Either.isLeft(read) && read.left.message.length).toBeLessThan(400)
  })
})

describe("Tools of a JSON Schema", () => {
  const search = Tool.fromJsonSchema({
    name: "search",
    description: "Searches.",
    parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
    readOnly: true,
    timeout: "2 seconds",
    execute: (input) => JSON.stringify(input)
  })
  const two = Tool.fromJsonSchema({
    name: "two",
    description: "Takes two.",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    execute: (input) => JSON.stringify(input)
  })
  const cases: ReadonlyArray<readonly [tool: string, input: string, result: string]> = [
    ["search", '{"q":"x","more":[1]}', '{"q":"x","more":[1]}'],
    ["search", "plain text", '{"q":"plain text"}'],
    ["search", "", "{}"],
    ["two", '{"a":"left to the server"}', '{"a":"left to the server"}'],
    ["two", "null", "{}"],
    ["two", "1, 2", "InvalidToolInput"],
    ["two", "[1]", "InvalidToolInput"],
    ["two", '{"a":', "InvalidToolInput"]
  ]
  it.effect.each(cases)("%s given %j gives %s", ([tool, input, result]) =>
    Effect.map(
      Effect.catchAll(call(tool, input), (error) => Effect.succeed(error._tag)),
      (given) => expect(given).toBe(result)
    ).pipe(within(search, two))
  )
  it("is described as it was given", () => {
    expect(search).toMatchObject({ takes: "object", readOnly: true, idempotent: false, timeout: 2000 })
    expect(search.parameters).toEqual({ type: "object", properties: { q: { type: "string" } }, required: ["q"] })
  })
  it("refuses a schema that is not of an object, and a bad name", () => {
    const make = (name: string, parameters: object) => () =>
      Tool.fromJsonSchema({ name, description: "", parameters: { ...parameters }, execute: () => "" })
    expect(make("t", { type: "string" })).toThrow(/must be of an object/)
    expect(make("a.b", { type: "object" })).toThrow(/Tool.fromJsonSchema: the name "a.b"/)
  })
})

describe("Toolbox results", () => {
  const circular: Record<string, unknown> = { a: 1 }
  circular["self"] = circular
  const shared = { x: 1 }
  const values: ReadonlyArray<readonly [unknown, string]> = [
    ["text", "text"],
    ["", ""],
    [0, "0"],
    [false, "false"],
    [null, "null"],
    [undefined, "(no result)"],
    [10n, "10"],
    [circular, '{"a":1,"self":"[Circular]"}'],
    [[shared, shared], '[{"x":1},{"x":1}]'],
    [{ big: 10n }, '{"big":"10"}'],
    [new Map([["k", new Set([1])]]), '{"k":[1]}'],
    ["lone \ud83d surrogate", "lone \ufffd surrogate"],
    [
      {
        toJSON: () => {
          throw new Error("no")
        }
      },
      "(a result that cannot be shown as text)"
    ],
    [() => 1, "(a function)"],
    [new Error("an error"), "an error"],
    [new Error(), "Error"],
    [odd(7), "7"],
    [unreadable(new Error(), "message"), "(an error that cannot be shown as text)"]
  ]
  it.each(values)("RA-20: %# becomes text", (value, shown) => {
    expect(ToolText.fromUnknown(value)).toBe(shown)
  })
  it.effect.each(values)("RA-20: %# as a Promise's value", ([value, shown]) =>
    Effect.map(call("t", ""), (given) => expect(given).toBe(shown)).pipe(
      within(text("t", () => Promise.resolve(value)))
    )
  )
  const failures: ReadonlyArray<readonly [name: string, Tool.Tool, detail: string]> = [
    ["fails", text("t", () => Effect.fail(new Error("no paper"))), "no paper"],
    ["fails with a text", text("t", () => Effect.fail("no ink")), "no ink"],
    ["dies", text("t", () => Effect.die(new Error("bug"))), "bug"],
    [
      "throws",
      text("t", () => {
        throw new Error("thrown")
      }),
      "thrown"
    ],
    ["rejects", text("t", () => Promise.reject(new Error("rejected"))), "rejected"],
    ["rejects with nothing", text("t", () => Promise.reject(undefined)), "(no result)"],
    ["interrupts itself", text("t", () => Effect.interrupt), "interrupted"],
    ["fails without a message", text("t", () => Effect.fail(odd(undefined))), "failed: Odd"],
    ["fails with a number as message", text("t", () => Effect.fail(odd(503))), "failed: 503"],
    ["fails with an object as message", text("t", () => Promise.reject(odd({ code: 503 }))), 'failed: {"code":503}'],
    [
      "fails with an error that cannot be read",
      text("t", () => Effect.fail(unreadable(odd(""), "message"))),
      "cannot be shown"
    ],
    ["gives a Promise that cannot be read", text("t", () => unreadable(Promise.resolve(""), "then")), "not readable"]
  ]
  it.effect.each(failures)("a tool that %s gives ToolFailed", ([_, tool, detail]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(call("t", ""))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toContain(detail)
    }).pipe(within(tool))
  )
})

describe("Toolbox timeouts", () => {
  const wrong: ReadonlyArray<Duration.DurationInput> = JSON.parse('["soon", "", null, {}, true]')
  const bad: ReadonlyArray<Duration.DurationInput> = [
    0,
    -1,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    0n,
    "0 seconds",
    Duration.zero,
    ...wrong
  ]
  const execute = () => ""
  it.each(bad)("AU-14: a tool with the timeout %s is refused where it is made", (timeout) => {
    const says = /: timeout must be a duration longer than 0, such as "30 seconds"/
    const parameters = { type: "object", properties: {} }
    expect(() => Tool.make({ name: "t", description: "", timeout, execute })).toThrow(RangeError)
    expect(() => Tool.make({ name: "t", description: "", timeout, execute })).toThrow(says)
    expect(() => Tool.fromJsonSchema({ name: "t", description: "", parameters, timeout, execute })).toThrow(says)
  })

  it("a timeout without an end is no limit", () => {
    for (const timeout of [Duration.infinity, Number.POSITIVE_INFINITY]) {
      expect(Tool.make({ name: "t", description: "", timeout, execute })).not.toHaveProperty("timeout")
    }
  })

  it.effect("RT-01: a tool that never settles ends with a timeout", () =>
    Effect.gen(function* () {
      for (const tool of ["promise", "effect", "uninterruptible"]) {
        const fiber = yield* Effect.fork(Effect.flip(call(tool, "", 100)))
        yield* TestClock.adjust(99)
        expect(fiber.unsafePoll()).toBeNull()
        yield* TestClock.adjust(1)
        expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "ToolTimeout", after: 100, tool })
      }
    }).pipe(
      within(
        text("promise", () => new Promise(() => {})),
        text("effect", () => Effect.never),
        text("uninterruptible", () => Effect.uninterruptible(Effect.never))
      )
    )
  )
  it.effect("the shorter of the tool's and the caller's limit holds", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.flip(call("slow", "", 500)))
      yield* TestClock.adjust(50)
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "ToolTimeout", after: 50 })
    }).pipe(within(Tool.make({ name: "slow", description: "", timeout: "50 millis", execute: () => Effect.never })))
  )
  it.effect("RT-02: the signal is aborted with TimeoutError, and a late result is dropped", () => {
    let signal: AbortSignal | undefined
    let finish: (value: string) => void = () => {}
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.flip(call("slow", "", 100)))
      yield* TestClock.adjust(100)
      const error = yield* Fiber.join(fiber)
      expect(error._tag).toBe("ToolTimeout")
      expect(signal?.aborted).toBe(true)
      expect(signal?.reason).toMatchObject({ name: "TimeoutError" })
      finish("late")
    }).pipe(
      within(
        text("slow", (_, context) => {
          signal = context.signal
          return new Promise((resolve) => {
            finish = resolve
          })
        })
      )
    )
  })
  it.live("RT-04: a rejection after the timeout or the interruption is never unhandled", () =>
    Effect.gen(function* () {
      const unhandled: Array<unknown> = []
      const listen = (reason: unknown) => void unhandled.push(reason)
      process.on("unhandledRejection", listen)
      let reject: (error: Error) => void = () => {}
      const tool = text(
        "t",
        () =>
          new Promise((_, no) => {
            reject = no
          })
      )
      yield* Effect.flip(call("t", "", 10)).pipe(within(tool))
      reject(new Error("too late"))
      const fiber = yield* Effect.fork(call("t", "").pipe(within(tool)))
      yield* Effect.sleep(10)
      yield* Fiber.interrupt(fiber)
      reject(new Error("too late"))
      yield* Effect.sleep(50)
      process.off("unhandledRejection", listen)
      expect(unhandled).toEqual([])
    })
  )
  it.effect("RT-06: an interruption aborts the signal with AbortError", () => {
    let signal: AbortSignal | undefined
    return Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const tool = text("t", (_, context) => {
        signal = context.signal
        return Effect.zipRight(
          Deferred.succeed(started, undefined),
          Effect.promise(() => new Promise(() => {}))
        )
      })
      const fiber = yield* Effect.fork(call("t", "", 1000).pipe(within(tool)))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      expect(signal?.reason).toMatchObject({ name: "AbortError" })
    })
  })
  it.effect("RT-16: partial output is part of the timeout's message", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.flip(call("slow", "", 100)))
      yield* TestClock.adjust(100)
      const error = yield* Fiber.join(fiber)
      expect(error.message).toContain("line one, line two")
    }).pipe(
      within(
        text("slow", (_, { progress }) => {
          progress("line one, ")
          progress("line two")
          return Effect.never
        })
      )
    )
  )
  it.effect("RT-17: progress after the end is dropped, and a flood is bounded", () => {
    let late: (partial: string) => void = () => {}
    return Effect.gen(function* () {
      expect(yield* call("t", "")).toBe("ok")
      expect(() => late("more")).not.toThrow()
      const fiber = yield* Effect.fork(Effect.flip(call("flood", "", 10)))
      yield* TestClock.adjust(10)
      expect((yield* Fiber.join(fiber)).message.length).toBeLessThan(25_000)
    }).pipe(
      within(
        text("t", (_, { progress }) => {
          late = progress
          return "ok"
        }),
        text("flood", (_, { progress }) => {
          for (let i = 0; i < 10_000; i++) progress("x".repeat(1000))
          return Effect.never
        })
      )
    )
  })
})

describe("Toolbox services", () => {
  class Api extends Context.Tag("Api")<Api, { readonly get: string }>() {}
  const tool = Tool.make({ name: "api", description: "", execute: () => Effect.map(Api, (api) => api.get) })
  it.effect("takes what the tools need from the Layer, once", () => {
    const toolbox = Toolbox.layer([tool])
    expectTypeOf<Layer.Layer.Context<typeof toolbox>>().toEqualTypeOf<Api>()
    return Effect.map(call("api", ""), (given) => expect(given).toBe("got")).pipe(
      Effect.provide(Layer.provide(toolbox, Layer.succeed(Api, { get: "got" })))
    )
  })
  it("describes tools for prompts and providers", () => {
    expect(Toolbox.descriptions([text("Search"), weather])).toBe(
      'Search[input]: The Search.\nweather[{"city":{"type":"string"},"days":{"type":"number"}}]: The weather of a city.'
    )
    expect(Toolbox.names([])).toBe("no tools")
    expect(nothing.parameters).toMatchObject({ type: "object" })
    expect(weather.parameters).toMatchObject({ type: "object", required: ["city"] })
  })
})

describe("a Schema that is not of an object is no Schema of parameters", () => {
  const make = (parameters: Schema.Schema<unknown, object>) =>
    Tool.make({ name: "t", description: "", parameters, execute: () => "x" }).parameters
  const of = (schema: Schema.Schema.AnyNoContext) => Schema.make<unknown, object>(schema.ast)
  const point = Schema.Struct({ x: Schema.Number })

  it.each([
    ["a string", Schema.String],
    ["a string with a name", Schema.String.annotations({ identifier: "Name" })],
    ["a Date, which is written as a string", Schema.Date],
    ["an array", Schema.Array(point)],
    ["a tuple", Schema.Tuple(point)],
    ["a text or an object", Schema.Union(Schema.String, point)],
    ["an object or null", Schema.NullOr(point)],
    ["an enum", Schema.Enums({ A: "a" })],
    [
      "an object that is written as a string",
      Schema.transform(Schema.String, point, { decode: () => ({ x: 1 }), encode: () => "" })
    ],
    ["anything", Schema.Unknown],
    ["nothing", Schema.Void]
  ])("%s throws", (_, schema) => {
    expect(() => make(of(schema))).toThrow(RangeError)
    expect(() => make(of(schema))).toThrow("must be a Schema of an object")
  })

  class Point extends Schema.Class<Point>("Point")({ x: Schema.Number }) {}
  it.each([
    ["a Struct", point, { properties: { x: { type: "number" } } }],
    ["a Struct without fields", Schema.Struct({}), { properties: {} }],
    ["a Record", Schema.Record({ key: Schema.String, value: Schema.Number }), {}],
    ["a Struct with a filter", point.pipe(Schema.filter(() => true)), {}],
    ["any object", Schema.Object, { properties: {} }],
    [
      "one of two objects",
      Schema.Union(point, Schema.Struct({ y: Schema.Number })),
      { anyOf: [{ properties: { x: {} } }, { properties: { y: {} } }] }
    ]
  ])("%s is an object", (_, schema, shape) => {
    expect(make(of(schema))).toMatchObject({ type: "object", ...shape })
  })
  it("so is a class, by its name", () => {
    expect(make(of(Point))).toMatchObject({ $ref: "#/$defs/Point" })
  })

  it("the types say so too", () => {
    const execute = () => "x"
    const common = { name: "t", description: "", execute }
    // @ts-expect-error a string is no object
    expect(() => Tool.make({ ...common, parameters: Schema.String })).toThrow(RangeError)
    // @ts-expect-error nor is an array
    expect(() => Tool.make({ ...common, parameters: Schema.Array(Schema.String) })).toThrow(RangeError)
    // @ts-expect-error nor what is written as a string
    expect(() => Tool.make({ ...common, parameters: Schema.Date })).toThrow(RangeError)
    const either = Schema.Union(point, Schema.Array(Schema.String))
    // @ts-expect-error nor what may be an array
    expect(() => Tool.make({ ...common, parameters: either })).toThrow(RangeError)
    // @ts-expect-error nor what may be anything
    expect(() => Tool.make({ ...common, parameters: Schema.Any })).toThrow(RangeError)
    expectTypeOf(Tool.make({ ...common, parameters: point })).toEqualTypeOf<Tool.Tool>()
    expectTypeOf(Tool.make({ ...common, parameters: Point })).toEqualTypeOf<Tool.Tool>()
    expectTypeOf(Tool.make({ ...common, parameters: Schema.Union(point, Point) })).toEqualTypeOf<Tool.Tool>()
  })
})
