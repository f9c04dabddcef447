import { describe, expect, it } from "@effect/vitest"
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Llm from "@forethought/core/Llm"
import { ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import type * as Event from "@forethought/core/RunEvent"
import { RunEvent, RunEventLine } from "@forethought/core/RunEventSchema"
import { InvalidToolInput, ToolFailed, ToolTimeout, UnknownTool } from "@forethought/core/ToolError"
import * as Schema from "effect/Schema"
import { expectTypeOf } from "vitest"

describe("RunEventSchema", () => {
  it("has the types of the plain events", () => {
    expectTypeOf<Schema.Schema.Type<typeof RunEvent>>().toEqualTypeOf<Event.RunEvent>()
    expectTypeOf<Schema.Schema.Encoded<typeof RunEvent>>().toEqualTypeOf<Event.RunEvent>()
  })

  it.prop("every event comes back from its line as it was", { event: RunEvent }, ({ event }) => {
    const line = Schema.encodeSync(RunEventLine)(event)
    expect(line).not.toContain("\n")
    // JSON knows no negative zero.
    expect(Schema.decodeSync(RunEventLine)(line)).toEqual(JSON.parse(JSON.stringify(event)))
  })

  it("refuses what is no event", () => {
    const decode = Schema.decodeUnknownEither(RunEvent)
    for (const wrong of [{}, { _tag: "Nothing", call: "", at: 1 }, { _tag: "RunStarted", call: "", at: 1 }, null]) {
      expect(decode(wrong)._tag).toBe("Left")
    }
  })
})

describe("ErrorCodec", () => {
  const cases = [
    [
      ErrorCodec.LlmError,
      new Llm.LlmError({ reason: Llm.Reason.RateLimited(2_000), role: "planner", call: "planner" })
    ],
    [ErrorCodec.LlmError, new Llm.LlmError({ reason: Llm.Reason.Unauthorized(), detail: "no key" })],
    [ErrorCodec.ParseError, new ParseError({ problem: "no_list", expected: "a list", found: "nothing", at: 3 })],
    [ErrorCodec.TruncatedReply, new TruncatedReply({ text: "1. Fin", role: "planner" })],
    [ErrorCodec.ToolErrors, new ToolFailed({ tool: "T", detail: "broke" })],
    [ErrorCodec.ToolErrors, new ToolTimeout({ tool: "T", after: 5, partial: "half" })],
    [ErrorCodec.ToolErrors, new UnknownTool({ tool: "T", available: ["A"] })],
    [ErrorCodec.ToolErrors, new InvalidToolInput({ tool: "T", problem: "No.", input: "x" })]
  ] as const

  it.each(cases)("stores an error as data and gives the class back: %#", (codec, error) => {
    const anyCodec = Schema.make<Error, unknown>(codec.ast)
    const stored: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(anyCodec)(error)))
    expect(stored).toMatchObject({ _tag: error._tag, message: error.message })
    const back = Schema.decodeUnknownSync(anyCodec)(stored)
    expect(back).toBeInstanceOf(error.constructor)
    expect(back).toEqual(error)
    expect(back.message).toBe(error.message)
  })

  it("does not store a cause: it may hold anything", () => {
    const error = new ToolFailed({ tool: "T", detail: "broke", cause: { secret: "s" } })
    expect(JSON.stringify(Schema.encodeSync(ErrorCodec.ToolErrors)(error))).not.toContain("secret")
  })
})
