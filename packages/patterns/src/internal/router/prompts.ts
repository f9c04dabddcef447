/**
 * The prompt of the Router, ours.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"

export const router = PromptTemplate.make(`Choose the pattern that should work on the task below.

Patterns:
{{patterns}}

<task>{{task}}</task>

Respond in JSON:
{"pattern": "...", "reason": "..."}`)
