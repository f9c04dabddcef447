/**
 * The prompts of Plan-and-Solve.
 *
 * @internal
 */
import * as PromptTemplate from "@forethought/core/PromptTemplate"

export const reasoner = PromptTemplate.make(`Q: {{question}}

A: Let's first understand the problem, extract the relevant variables
and their values, and devise a plan. Then, let's carry out the plan,
calculate the intermediate values (paying attention to calculation
and common sense), solve the problem step by step, and show the answer.`)

export const extractor = PromptTemplate.make(`Q: {{question}}

{{reasoning}}

Therefore, the answer (a single {{answer_format}}) is:`)
