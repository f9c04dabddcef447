/**
 * The prompts of Plan-and-Execute, and how past steps are written into them.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import type { PastStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import { pastStep } from "../executor.js"

export const planner = PromptTemplate.make(`For the goal below, write a step-by-step plan. Each step must be a
self-contained task that one worker with {{tool_names}} can complete.
Use as few steps as possible. Do not add a step that only restates
the goal.

<goal>{{goal}}</goal>

Respond as a numbered list. The last step should produce the final answer.`)

export const replanner = PromptTemplate.make(`Goal: {{goal}}

Current plan:
{{plan}}

Steps already completed, with results:
{{past_steps}}

Update the plan. Remove steps that are done or no longer needed, and
add or change steps if the results require it. Do not repeat a
completed step.

If you can already answer the goal, respond with:
{"final_answer": "..."}
Otherwise respond with:
{"remaining_steps": ["...", "..."]}`)

/** The remaining plan as a numbered list. */
export const numbered = (steps: ReadonlyArray<string>): string =>
  steps.length === 0 ? "(no steps left)" : steps.map((step, index) => `${index + 1}. ${step}`).join("\n")

/**
 * The past steps in at most `maxChars` characters, for any number of them. The newest keep their results whole as long
 * as there is room; older results are cut with a marker, and when even that is too long the oldest steps are counted.
 */
export const pastSteps = (steps: ReadonlyArray<PastStep>, maxChars: number): string => {
  const shown: Array<string> = []
  let room = maxChars
  for (let i = steps.length - 1; i >= 0; i--) {
    const past = steps[i]
    if (past === undefined) continue
    // Every step still to come gets a share, so that one large result does not push out all that came before.
    const share = Math.floor(room / 2)
    const overhead = past.step.length + 80
    const whole = i === 0 ? room : Math.max(share, shortResult)
    if (overhead + shortResult > room - omittedLength) {
      shown.push(`(${i + 1} earlier steps are not shown)`)
      break
    }
    const allowed = Math.min(whole, room - omittedLength) - overhead
    const text = pastStep(past, i + 1, ReplyText.cut(past.result, Math.max(allowed, shortResult)))
    if (text.length + 1 > room - omittedLength) {
      shown.push(`(${i + 1} earlier steps are not shown)`)
      break
    }
    room -= text.length + 1
    shown.push(text)
  }
  return shown.length === 0 ? "(none)" : shown.reverse().join("\n")
}

const shortResult = 120
const omittedLength = 50
