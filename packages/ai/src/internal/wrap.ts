import { Llm, type Service } from "@forethought/core/Llm"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** A Layer around any other that changes its model, once for each time it is built. */
export const wrap =
  (around: (model: Service) => Service) =>
  <E, R>(model: Layer.Layer<Llm, E, R>): Layer.Layer<Llm, E, R> =>
    Layer.map(model, (context) => Context.add(context, Llm, around(Context.get(context, Llm))))
