import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Api, app } from "../src/http.js"

/** The app on a loopback port, and a client to it. */
const served = (script: ReadonlyArray<ScriptedLlm.Line>) =>
  app.pipe(
    Layer.provide(Layer.mergeAll(ScriptedLlm.layer(script), FakeTools.layer({}), Journal.layer(Journal.silent))),
    Layer.provideMerge(NodeHttpServer.layerTest)
  )

const ask = (payload: { readonly goal: string; readonly maxSteps?: number }) =>
  Effect.flatMap(HttpApiClient.make(Api), ({ goals }) => goals.answer({ payload }))

it.scopedLive("an answer is 200, with the past steps", () =>
  Effect.gen(function* () {
    expect(yield* ask({ goal: "G" })).toEqual({
      _tag: "Answered",
      answer: "It is a.",
      pastSteps: [{ id: "1", step: "A", result: "a", status: "completed" }]
    })
  }).pipe(Effect.provide(served(["1. A", "a", '{"final_answer":"It is a."}'])))
)

it.scopedLive("a typed error comes out at the client with its tag, its class and its progress", () =>
  Effect.gen(function* () {
    const done = yield* ask({ goal: "G", maxSteps: 1 }).pipe(
      Effect.map(() => []),
      Effect.catchTag("StepCapReached", ({ progress }) => Effect.succeed(progress.pastSteps))
    )
    expect(done).toEqual([{ id: "1", step: "A", result: "a", status: "completed" }])
  }).pipe(Effect.provide(served(["1. A\n2. B", "a", '{"remaining_steps":["B"]}'])))
)

it.scopedLive.each([
  {
    body: { goal: "G", maxSteps: 1 },
    script: ["1. A\n2. B", "a", '{"remaining_steps":["B"]}'],
    status: 422,
    holds: "StepCapReached"
  },
  {
    body: { goal: "G" },
    script: ["1. A", "a", new Llm.LlmError({ reason: Llm.Reason.Unavailable() })],
    status: 503,
    holds: '"pastSteps":[{"id":"1","step":"A"'
  },
  { body: { goal: "G" }, script: ["no plan", "none"], status: 502, holds: "ParseError" },
  { body: { goal: "" }, script: [], status: 400, holds: "goal" }
])("$status is what a client sees of $holds", ({ body, holds, script, status }) =>
  Effect.gen(function* () {
    const request = HttpClientRequest.post("/goals").pipe(HttpClientRequest.bodyUnsafeJson(body))
    const response = yield* HttpClient.execute(request)
    expect(response.status).toBe(status)
    expect(yield* response.text).toContain(holds)
  }).pipe(Effect.provide(served(script)))
)
