/**
 * Patterns inside patterns: as executors of each other, as tools of a Toolbox, and as tools of `@effect/ai`.
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Toolkit from "@forethought/ai/Toolkit"
import type * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Calculator from "@forethought/tools/Calculator"
import * as Lookup from "@forethought/tools/Lookup"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

// ---------------------------------------------------------------------------------------------------------------
// executors
// ---------------------------------------------------------------------------------------------------------------

/** Each step of the plan is tried by ADaPT, which splits it if it fails. */
export const planAndExecuteOverAdapt = (goal: string) =>
  PlanAndExecute.run(goal, { executor: Adapt.executorWith({ maxDepth: 2 }) })

/** ADaPT over ReAct with its text protocol, for models that cannot call tools. */
export const adaptOverReAct = (task: string) => Adapt.run(task, { executor: ReAct.executorWith({ protocol: "text" }) })

// ---------------------------------------------------------------------------------------------------------------
// tools
// ---------------------------------------------------------------------------------------------------------------

/**
 * A Toolbox with a pattern among its tools. The pattern has a Toolbox of its own, so that it cannot call itself.
 * Its failures become the tool's failure; its calls are named under the tool call, such as `turn-1/tool-1/planner`.
 */
export const withResearch: Layer.Layer<Toolbox.Toolbox, never, Llm.Llm> = Toolbox.layer<Llm.Llm | Toolbox.Toolbox>([
  Calculator.tool,
  Rewoo.asTool({ name: "Research", description: "Looks up several facts at once. Takes one question." })
]).pipe(Layer.provide(Toolbox.layer([Lookup.tool])))

/** ReAct that may ask ReWOO. */
export const reactWithResearch = (task: string) => Effect.provide(ReAct.run(task), withResearch)

// ---------------------------------------------------------------------------------------------------------------
// @effect/ai
// ---------------------------------------------------------------------------------------------------------------

/** The same tools for a program that talks to a LanguageModel of `@effect/ai` itself: `Research` is a pattern. */
export const chat = (prompt: string) =>
  Effect.gen(function* () {
    const toolkit = yield* Toolkit.toToolkit()
    const reply = yield* LanguageModel.generateText({ prompt, toolkit })
    return reply.toolResults.map(({ name, result }) => `${name}: ${String(result)}`)
  }).pipe(Effect.provide(withResearch))
