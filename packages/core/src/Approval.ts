/**
 * Asking somebody before a tool acts: a service that an app answers in its own way, and a Layer around the toolbox that
 * asks it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallId } from "./Llm.js"
import type { ToolInfo } from "./Tool.js"
import * as Toolbox from "./Toolbox.js"
import { ToolFailed } from "./ToolError.js"
import * as WaitingLine from "./WaitingLine.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A tool call that waits for a decision. */
export interface ToolRequest {
  /** Stable id of the call, see `CallId`. */
  readonly call: CallId
  readonly tool: ToolInfo
  /** The input as the model wrote it. The tool has not read it yet, and may still refuse it. */
  readonly input: string
}

/** Go ahead, or do not and why; the reason is what the model gets to read. */
export type Decision = "allow" | { readonly deny: string }

export interface Service {
  /** Decides on a call. Parallel calls ask at the same time, see {@link oneAtATime}. */
  readonly tool: (request: ToolRequest) => Effect.Effect<Decision>
}

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** Decides whether a tool may act. */
export class Approval extends Context.Tag("@forethought/core/Approval")<Approval, Service>() {}

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/** A Layer of a service. */
export const layer = (service: Service): Layer.Layer<Approval> => Layer.succeed(Approval, service)

/** A service that is asked one thing at a time, in the order of the calls: what a person at a screen needs. */
export const oneAtATime = (service: Service): Service => {
  const line = WaitingLine.permits(1)
  return { tool: (request) => line.through(undefined, () => service.tool(request)) }
}

/**
 * A toolbox that asks `Approval` before each call of a tool that is not `readOnly`.
 *
 * A denied call fails with `ToolFailed` and the reason, so a pattern reads it as an observation and goes on. The tool
 * does not run either where the asking itself breaks. The time it takes to decide is not part of the call's `timeout`.
 * A call that was allowed is asked about again when it is made again.
 */
export const tools: Layer.Layer<Toolbox.Toolbox, never, Toolbox.Toolbox | Approval> = Layer.effect(
  Toolbox.Toolbox,
  Effect.gen(function* () {
    const inner = yield* Toolbox.Toolbox
    const approval = yield* Approval
    return Toolbox.around((tool, { call, input }, run) =>
      tool.readOnly === true
        ? run
        : Effect.flatMap(decide(approval, { call, tool, input }), (decision) =>
            decision === "allow" ? run : Effect.fail(new ToolFailed({ tool: tool.name, detail: denied(decision.deny) }))
          )
    )(inner)
  })
)

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const decide = (approval: Service, request: ToolRequest): Effect.Effect<Decision, ToolFailed> =>
  Effect.suspend(() => approval.tool(request)).pipe(
    Effect.catchAllCause((cause) =>
      Effect.fail(
        new ToolFailed({
          tool: request.tool.name,
          detail: "The call was not made: asking for its approval failed.",
          cause: Cause.squash(cause)
        })
      )
    )
  )

const denied = (reason: string): string =>
  reason.trim() === "" ? "The call was not approved." : `The call was not approved: ${reason}`
