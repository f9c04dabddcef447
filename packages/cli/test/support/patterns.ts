/** Every pattern on one question, with what a failed run carries. */

import type { Llm } from "@forethought/core/Llm"
import { withOptions } from "@forethought/core/Pattern"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import type { Toolbox } from "@forethought/core/Toolbox"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Router from "@forethought/patterns/Router"
import type * as Effect from "effect/Effect"

export interface Tagged {
  readonly _tag: string
  readonly message: string
}

export type Pattern = (question: string, protocol: "native" | "text") => Effect.Effect<object, Tagged, Llm | Toolbox>

const small = { maxSteps: 3, maxPlanLength: 3, maxToolCalls: 2 }

export const patterns: ReadonlyArray<readonly [name: string, run: Pattern]> = [
  ["react", (question, protocol) => ReAct.run(question, { protocol, maxTurns: 4, maxToolCalls: 2 })],
  ["plan-and-solve", (question) => PlanAndSolve.run(question, { answerFormat: AnswerFormat.number })],
  ["rewoo", (question) => Rewoo.sequential(question, { maxPlanLength: 3 })],
  ["rewoo-parallel", (question) => Rewoo.parallel(question, { maxPlanLength: 3 })],
  [
    "plan-and-execute",
    (question, protocol) => PlanAndExecute.run(question, { ...small, executor: ReAct.executorWith({ protocol }) })
  ],
  [
    "plan-and-solve-agent",
    (question, protocol) =>
      PlanAndSolveAgent.run(question, { maxPlanLength: 3, maxReplans: 1, maxTurns: 3, react: { protocol } })
  ],
  [
    "plan-and-solve-agent, collected",
    (question, protocol) =>
      PlanAndSolveAgent.run(question, {
        maxPlanLength: 3,
        maxReplans: 1,
        maxTurns: 3,
        dataFlow: "collected",
        react: { protocol }
      })
  ],
  [
    "adapt",
    (question, protocol) =>
      Adapt.run(question, { maxDepth: 2, maxSubSteps: 3, maxToolCalls: 2, executor: ReAct.executorWith({ protocol }) })
  ],
  [
    "router",
    (question) =>
      Router.run(question, {
        patterns: [ReAct.pattern, withOptions(Rewoo.sequentialPattern, { maxPlanLength: 3 })]
      })
  ]
]
