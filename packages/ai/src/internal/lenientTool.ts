import * as Tool from "@effect/ai/Tool"
import type { ToolSpec } from "@forethought/core/Llm"
import * as Schema from "effect/Schema"

/**
 * A tool as `@effect/ai` wants it, made at run time: offered with its own JSON Schema, and open to any object, because
 * arguments are decoded by whoever runs the tool. Its result, or what went wrong, is text.
 */
export const make = (spec: ToolSpec) =>
  Tool.make(spec.name, {
    description: spec.description,
    success: Schema.String,
    failure: Schema.String,
    failureMode: "return"
  }).setParameters(
    Schema.Struct({}, Schema.Record({ key: Schema.String, value: Schema.Unknown })).annotations({
      jsonSchema: spec.parameters
    })
  )

export type LenientTool = ReturnType<typeof make>

export const record = (specs: ReadonlyArray<ToolSpec>): Record<string, LenientTool> =>
  Object.fromEntries(specs.map((spec) => [spec.name, make(spec)]))
