import * as AiModel from "@effect/ai/LanguageModel"
import * as AiTool from "@effect/ai/Tool"
import * as AiToolkit from "@effect/ai/Toolkit"
import { expect, it } from "@effect/vitest"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import * as Toolkit from "../src/Toolkit.js"

class Station extends Context.Tag("Station")<Station, { readonly name: string }>() {}

const kit = AiToolkit.make(
  AiTool.make("Weather", {
    description: "The weather of a day.",
    parameters: { city: Schema.String, days: Schema.NumberFromString },
    success: Schema.Struct({ days: Schema.Number, at: Schema.Date, station: Schema.String }),
    dependencies: [Station]
  }).annotate(AiTool.Readonly, true),
  AiTool.make("Fails", { failure: Schema.String }),
  AiTool.make("Returns", { failure: Schema.String, failureMode: "return" }),
  AiTool.make("Dies")
)

const handlers = kit.toLayer({
  Weather: ({ days }) => Effect.map(Station, ({ name }) => ({ days: days + 1, at: new Date(0), station: name })),
  Fails: () => Effect.fail("no wind"),
  Returns: () => Effect.fail("no rain"),
  Dies: () => Effect.die(new Error("broken"))
})

const toolbox = Toolkit.fromToolkit(kit).pipe(
  Layer.provide(handlers),
  Layer.provide(Layer.succeed(Station, { name: "Blindern" }))
)

const call = (tool: string, input: string) =>
  Effect.flatMap(Toolbox.Toolbox, (box) => box.call({ call: "#E1", tool, input })).pipe(Effect.provide(toolbox))

describe("fromToolkit", () => {
  it.effect("describes each tool as the Toolkit does", () =>
    Effect.gen(function* () {
      const { tools } = yield* Toolbox.Toolbox
      expect(tools.map(({ name }) => name)).toEqual(["Weather", "Fails", "Returns", "Dies"])
      expect(tools[0]).toMatchObject({
        description: "The weather of a day.",
        parameters: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city", "days"]
        },
        takes: "object",
        readOnly: true,
        idempotent: false
      })
    }).pipe(Effect.provide(toolbox))
  )

  it.effect("decodes the input once and encodes the result", () =>
    Effect.gen(function* () {
      const result = yield* call("weather", '{"city":"Oslo","days":"2"}')
      expect(JSON.parse(result)).toEqual({ days: 3, at: "1970-01-01T00:00:00.000Z", station: "Blindern" })
    })
  )

  it.effect.each([
    ["Weather", '{"city":"Oslo","days":2}', "InvalidToolInput", "days"],
    ["Fails", "", "ToolFailed", "no wind"],
    ["Returns", "{}", "ToolFailed", "no rain"],
    ["Dies", "{}", "ToolFailed", "broken"],
    ["Nope", "{}", "UnknownTool", "Weather"]
  ] as const)("a call that fails: %s %s is %s", ([tool, input, tag, words]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(call(tool, input))
      expect(error._tag).toBe(tag)
      expect(error.message).toContain(words)
    })
  )
})

describe("toToolkit", () => {
  it.effect("gives a LanguageModel our tools, with failures as text", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const tools = Toolbox.layer([
        Tool.make({
          name: "Echo",
          description: "Echoes.",
          execute: (input, { call: id }) => {
            seen.push(id)
            return `<${input}>`
          }
        }),
        Tool.make({ name: "Fails", description: "Fails.", execute: () => Effect.fail("no wind") })
      ])
      const model = yield* AiModel.make({
        generateText: ({ tools: offered }) =>
          Effect.succeed(
            offered.map((tool, index) => ({
              type: "tool-call" as const,
              id: `c${index}`,
              name: tool.name,
              params: { input: "x" }
            }))
          ),
        streamText: () => Stream.empty
      })
      const response = yield* Effect.flatMap(Toolkit.toToolkit({ call: "chat/tool" }), (toolkit) =>
        model.generateText({ prompt: "Go.", toolkit })
      ).pipe(Effect.provide(tools))
      expect(response.toolResults.map(({ name, isFailure, result }) => [name, isFailure, result])).toEqual([
        ["Echo", false, "<x>"],
        ["Fails", true, "Fails failed: no wind"]
      ])
      expect(seen).toEqual(["chat/tool-1"])
    })
  )
})
