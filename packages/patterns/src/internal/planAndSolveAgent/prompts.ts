/**
 * The prompts of the Plan-and-Solve agent, ours: the specification leaves them open.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"

const plannerWith = <const HowMany extends string>(howMany: HowMany) =>
  PromptTemplate.make(`Write a plan for the task below. Each step is one concrete, self-contained
action that one worker can carry out. {{tools}}
A later step may use the results of earlier ones. The last step puts
everything together and delivers the answer.

${howMany} Make the steps independent
of each other where they can be, and split only where there is a real
dependency: one calculation is one step, however many operations it has.

<task>{{task}}</task>

{{reply_format}}`)

export const planner = plannerWith("Write 3 to {{max_plan_length}} steps, for a simple task at most 3.")

/** For a cap of 3 steps or fewer. */
export const shortPlanner = plannerWith("Write at most {{max_plan_length}} steps.")

export const executor =
  PromptTemplate.make(`Carry out one step of a plan, and only this step. Do not make up a value: if you
need one and cannot get it, say so.

The whole task, for context: {{task}}

{{known}}

Your step: {{step}}

A tool that fails does not mean that the step has failed: try another way
first. {{reply_format}}`)

export const replanner =
  PromptTemplate.make(`A step of the plan for the task below has failed. Write a new plan for what is
left to do, that avoids the failure. Do not repeat a completed step, and do
not drop a step that is still needed. The last step puts everything together
and delivers the answer. At most {{max_plan_length}} steps.

<task>{{task}}</task>

The old plan:
{{plan}}

Steps already completed, with results:
{{completed}}

The step that failed, and how:
{{failure}}

{{reply_format}}`)

export const finalizer =
  PromptTemplate.make(`Answer the task below from the results of its steps, and from nothing else. Take
every number from the results as it stands there.

<task>{{task}}</task>

Steps with results:
{{steps}}

{{verdict}}`)

export const listFormat = "Respond as a numbered list, one step a line, and nothing else."

export const declaredFormat = (
  first: number
): string => `Respond in JSON. Name for each step the outputs it produces, and the inputs it needs:
from which step, and which of its outputs. The first of your steps is step ${first}.
{"steps": [{"step": "...", "inputs": [{"step": 1, "output": "..."}], "outputs": ["..."]}]}`

export const verdictFormat = `When you finish, end with exactly one line:
SUCCESS: <the result, with every value that later steps may need>
or, if you cannot complete the step,
FAILURE: <what blocked you>`

export const collectedFormat = (outputs: ReadonlyArray<string>): string =>
  `When you finish, respond in JSON, with each value that later steps need under a name of its own${
    outputs.length === 0 ? "" : ` (this step must give: ${outputs.join(", ")})`
  }:
{"status": "completed", "result": "...", "collected": {"name": "value"}}
or, if you cannot complete the step,
{"status": "failed", "result": "what blocked you", "collected": {}}`

export const completedVerdict = "Give the final answer."

export const notCompletedVerdict = `The task could not be completed: a step failed and no further attempt is left.
Say plainly that it could not be completed, what was found, and what is missing.`
