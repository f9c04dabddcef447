/**
 * The JSON Schemas of the replies that the agent's prompts ask for in JSON.
 *
 * @internal
 */
import type * as Llm from "@forethought/core/Llm"
import { list, oneOf, record, text } from "../jsonSchema.js"

/** A report in JSON, see `readCollected`. */
export const report: Llm.ReplyFormat = {
  name: "report",
  schema: record({
    status: oneOf(["completed", "failed"]),
    result: text,
    collected: { type: "object", additionalProperties: text }
  })
}

/** A plan with declared data flow, see `readDeclared`. */
export const declaredPlan: Llm.ReplyFormat = {
  name: "plan",
  schema: record({
    steps: list(
      record({
        step: text,
        inputs: list(record({ step: { type: "integer" }, output: text })),
        outputs: list(text)
      }),
      1
    )
  })
}
