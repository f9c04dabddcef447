import * as Journal from "@forethought/core/Journal"
import type { RunEvent } from "@forethought/core/RunEvent"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolve from "@forethought/patterns/PlanAndSolve"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Every pattern of the package. */
export const patterns = [
  ReAct.pattern,
  PlanAndSolve.pattern,
  Rewoo.sequentialPattern,
  Rewoo.parallelPattern,
  PlanAndSolveAgent.pattern,
  PlanAndExecute.pattern,
  Adapt.pattern
] as const

/** A scripted model, fake tools and no log: what a test of a pattern runs in. */
export const world = (
  script: ReadonlyArray<ScriptedLlm.Line>,
  fakes: Parameters<typeof FakeTools.layer>[0] = { Search: "found" }
) => Layer.mergeAll(ScriptedLlm.layer(script), FakeTools.layer(fakes), Journal.layer(Journal.silent))

/** The calls of the fake tools so far. */
export const toolCalls = Effect.flatMap(FakeTools.FakeTools, (tools) => tools.calls)

/** The requests to the scripted model so far. */
export const requests = Effect.flatMap(ScriptedLlm.ScriptedLlm, (model) => model.requests)

/** The text of each request so far. */
export const prompts = Effect.flatMap(ScriptedLlm.ScriptedLlm, (model) => model.prompts)

/** The text of the user's first message in each request of a role, in order. */
export const promptsOf = (role: string) =>
  Effect.map(requests, (all) =>
    all
      .filter((request) => request.role === role)
      .map((request) => request.messages.find((message) => message.role === "user")?.content ?? "")
  )

/** Runs an effect and gives its exit value with every event. */
export const withEvents = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    const value = yield* Effect.provide(effect, Journal.layer(journal))
    return { value, events: yield* journal.events }
  })

/** The events of one kind. */
export const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

/** The messages of the warnings of one kind. */
export const warnings = (events: ReadonlyArray<RunEvent>, kind: string) =>
  of(events, "Warning")
    .filter((event) => event.kind === kind)
    .map((event) => event.message)
