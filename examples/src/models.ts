/**
 * A model for each role: a strong one plans, a small one carries out the steps.
 */
import * as OpenAiCompatible from "@forethought/ai/OpenAiCompatible"
import * as Llm from "@forethought/core/Llm"
import * as Toolbox from "@forethought/core/Toolbox"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as Calculator from "@forethought/tools/Calculator"
import * as Lookup from "@forethought/tools/Lookup"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The roles of Plan-and-Execute are `planner`, `executor` and `replanner`; a role without its own gets the default. */
export const modelPerRole = <E, R>(models: {
  readonly planner: Layer.Layer<Llm.Llm, E, R>
  readonly executor: Layer.Layer<Llm.Llm, E, R>
  readonly replanner: Layer.Layer<Llm.Llm, E, R>
}) => Llm.byRole({ default: models.planner, executor: models.executor, replanner: models.replanner })

export const program = (goal: string) => Effect.map(PlanAndExecute.run(goal, { maxSteps: 5 }), ({ answer }) => answer)

const local = (model: string) => OpenAiCompatible.layerFetch({ baseUrl: "http://localhost:11434/v1", model })

const large = local("qwen3:32b")

/** Against a local server. A layer that is given for several roles is built once. */
export const main = program("Which of the neighbours of Switzerland has the most people?").pipe(
  Effect.provide(
    Layer.merge(
      modelPerRole({ planner: large, executor: local("qwen3:8b"), replanner: large }),
      Toolbox.layer([Lookup.tool, Calculator.tool])
    )
  )
)
