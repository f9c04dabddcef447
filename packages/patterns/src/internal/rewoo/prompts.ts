/**
 * The prompts of ReWOO, and how plan and evidence are written into them.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import type { Evidence } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import { fit } from "./evidence.js"

export const planner = PromptTemplate.make(`For the question below, make a plan of tool calls that will gather
everything needed. Write the whole plan now. You will not see any
tool output before the plan is executed.

Tools:
{{tool_descriptions}}

Format, one pair per step:
Plan: a short reason for this step
#E1 = Tool[input]

A later step may use the output of an earlier one by writing its
variable (#E1, #E2, ...) inside its input.

Question: {{question}}`)

export const solver = PromptTemplate.make(`Solve the question using only the plan and the evidence below. If the
evidence is missing or contradictory, say so instead of guessing.

Question: {{question}}

Plan and evidence:
{{plan_with_evidence}}

Give the final answer with one sentence of justification.`)

/** Each step as planned, followed by its evidence in a fence that the evidence cannot close. */
export const planWithEvidence = (evidence: ReadonlyArray<Evidence>, maxEvidenceChars: number): string => {
  const texts = fit(
    evidence.map((piece) => piece.text),
    maxEvidenceChars
  )
  return evidence
    .map((piece, index) => {
      const status = piece.status === "ok" ? "" : ` (${piece.status})`
      return [
        ...(piece.reason === "" ? [] : [`Plan: ${piece.reason}`]),
        `${piece.variable} = ${piece.tool}[${piece.input}]`,
        `Evidence for ${piece.variable}${status}:`,
        ReplyText.fence("evidence", texts[index] ?? "")
      ].join("\n")
    })
    .join("\n\n")
}
