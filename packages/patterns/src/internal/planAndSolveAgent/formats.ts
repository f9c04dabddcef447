/**
 * The JSON Schemas of the replies that the agent's prompts ask for in JSON.
 *
 * @internal
 */
import type * as Llm from "@forethought/core/Llm"

/** A report in JSON, see `readCollected`. */
export const report: Llm.ReplyFormat = {
  name: "report",
  schema: {
    type: "object",
    properties: {
      status: { type: "string", enum: ["completed", "failed"] },
      result: { type: "string" },
      collected: { type: "object", additionalProperties: { type: "string" } }
    },
    required: ["status", "result", "collected"],
    additionalProperties: false
  }
}

/** A plan with declared data flow, see `readDeclared`. */
export const declaredPlan: Llm.ReplyFormat = {
  name: "plan",
  schema: {
    type: "object",
    properties: {
      steps: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: {
            step: { type: "string" },
            inputs: {
              type: "array",
              items: {
                type: "object",
                properties: { step: { type: "integer" }, output: { type: "string" } },
                required: ["step", "output"],
                additionalProperties: false
              }
            },
            outputs: { type: "array", items: { type: "string" } }
          },
          required: ["step", "inputs", "outputs"],
          additionalProperties: false
        }
      }
    },
    required: ["steps"],
    additionalProperties: false
  }
}
