/**
 * A small HTTP app that serves a pattern: `POST /goals` answers, and each typed error is a response with its own status
 * and with the work so far in its body. A request that the client gives up interrupts the run.
 */

import { createServer } from "node:http"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as OpenAiCompatible from "@forethought/ai/OpenAiCompatible"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Codec from "@forethought/patterns/Codec"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as Calculator from "@forethought/tools/Calculator"
import * as Lookup from "@forethought/tools/Lookup"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

// The codecs of the pattern's errors are the schemas of the responses.
const [StepCapReached, Unreadable, Truncated, ModelFailed, Refused] = Codec.PlanAndExecute.Error.members

/** Tells a client all it needs to know: with it, `HttpApiClient` gives typed calls and typed errors. */
export class Api extends HttpApi.make("forethought").add(
  HttpApiGroup.make("goals").add(
    HttpApiEndpoint.post("answer", "/goals")
      .setPayload(
        Schema.Struct({
          goal: Schema.NonEmptyString,
          maxSteps: Schema.optional(Schema.Int.pipe(Schema.between(1, 20)))
        })
      )
      .addSuccess(Codec.PlanAndExecute.Answered)
      .addError(StepCapReached.annotations(HttpApiSchema.annotations({ status: 422 })))
      .addError(Unreadable.annotations(HttpApiSchema.annotations({ status: 502 })))
      .addError(Truncated.annotations(HttpApiSchema.annotations({ status: 502 })))
      .addError(ModelFailed.annotations(HttpApiSchema.annotations({ status: 503 })))
      .addError(Refused.annotations(HttpApiSchema.annotations({ status: 403 })))
  )
) {}

const handlers = HttpApiBuilder.group(Api, "goals", (group) =>
  group.handle("answer", ({ payload }) =>
    PlanAndExecute.run(payload.goal, payload.maxSteps === undefined ? {} : { maxSteps: payload.maxSteps })
  )
)

/** The app; it needs a model and tools, as every program with patterns. */
export const app = HttpApiBuilder.serve().pipe(Layer.provide(Layer.provide(HttpApiBuilder.api(Api), handlers)))

/** On a port, against a local model: `NodeRuntime.runMain(Layer.launch(main))`. */
export const main = app.pipe(
  Layer.provide(Toolbox.layer([Lookup.tool, Calculator.tool])),
  Layer.provide(OpenAiCompatible.layerFetch({ baseUrl: "http://localhost:11434/v1", model: "qwen3:8b" })),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 3000 }))
)
