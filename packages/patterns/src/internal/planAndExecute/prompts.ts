/**
 * The prompts of Plan-and-Execute, and how past steps are written into them.
 *
 * @internal
 */
import { pastStep } from "@forethought/core/Executor"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import type { PastStep } from "@forethought/core/RunEvent"
import * as ReplyText from "@forethought/core/reply/ReplyText"

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

/** The remaining plan as a numbered list of at most `maxChars` characters. */
export const shownPlan = (steps: ReadonlyArray<string>, maxChars: number): string =>
  ReplyText.cut(numbered(steps), maxChars)

/**
 * The past steps in at most `maxChars` characters, for any number of them. The newest is whole as long as it fits;
 * older results are cut with a marker, and when even that is too long the oldest steps are counted.
 */
export const pastSteps = (steps: ReadonlyArray<PastStep>, maxChars: number): string => {
  const shown: Array<string> = []
  let room = maxChars
  for (let i = steps.length - 1; i >= 0; i--) {
    const past = steps[i]
    if (past === undefined) continue
    const left = room - (i === 0 ? 0 : omittedLength)
    const isNewest = i === steps.length - 1
    // Of the older ones each leaves half of the room to those before it, so that a large one does not push them all out.
    const text = fitted(past, i + 1, isNewest || i === 0 ? left : Math.floor(left / 2))
    if (text === undefined) {
      shown.push(`(${i + 1} earlier steps are not shown)`)
      break
    }
    room -= text.length + 1
    shown.push(text)
  }
  return shown.length === 0 ? "(none)" : shown.reverse().join("\n")
}

/**
 * A past step in at most `most` characters, its result cut as much as that needs, or nothing where it has no room at
 * all.
 */
const fitted = (past: PastStep, number: number, most: number): string | undefined => {
  let text = pastStep(past, number, past.result)
  if (text.length <= most) return text
  // The fence round a result can be as long as the result, so how much of it fits is found by trying.
  for (let room = Math.min(past.result.length, most); room >= leastShown; ) {
    text = pastStep(past, number, ReplyText.cut(past.result, room))
    if (text.length <= most) return text
    room = Math.max(room - (text.length - most), Math.floor((room * most) / text.length))
  }
  // The step itself is too long: a part of it, with a part of the result or just the size of that.
  const step = ReplyText.cut(past.step, Math.floor(most / 3))
  for (const room of [Math.floor(most / 3), 0]) {
    text = pastStep({ ...past, step }, number, ReplyText.cut(past.result, room))
    if (text.length <= most) return text
  }
  return undefined
}

/** A result cut shorter than this says nothing: then the step is cut too. */
const leastShown = 120
const omittedLength = 50

/** What plan and past steps need at the least, so that something of the newest can be shown. */
export const leastRoom = 400
