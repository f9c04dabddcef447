/**
 * The prompts of ADaPT.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"

export const executor = PromptTemplate.make(`Complete the task below using the tools. Work step by step.

<task>{{task}}</task>
<tools>{{tool_descriptions}}</tools>

When you finish, end with exactly one line:
SUCCESS: <the result>
or, if you cannot complete the task as a whole,
FAILURE: <what blocked you>`)

export const planner = PromptTemplate.make(`An executor tried this task and could not complete it.

<task>{{task}}</task>
<failure>{{reason}}</failure>

Split the task into 2 to {{max_sub_steps}} smaller sub-steps that avoid
the blocker. Say whether all of them must succeed (and) or any one
is enough (or).

Respond in JSON:
{"logic": "and" | "or", "sub_steps": ["...", "..."]}`)
