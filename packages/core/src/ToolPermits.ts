/**
 * At most so many calls of a tool at once: a Layer around the toolbox.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HeldPermits } from "./internal/heldPermits.js"
import * as Options from "./Options.js"
import * as Toolbox from "./Toolbox.js"
import * as WaitingLine from "./WaitingLine.js"

/** Maximum numbers of calls that run at once. */
export interface PermitOptions {
  /** Calls of one tool at once, for each tool that `tools` does not name. Default: no limit. */
  readonly each?: number
  /** Calls of a tool at once, by the tool's exact name. A name that the toolbox does not have is refused. */
  readonly tools?: Readonly<Record<string, number>>
}

/**
 * A toolbox that holds calls back until the tool has a permit, first come, first served.
 *
 * The limits hold for everything that shares the toolbox, such as all runs of an app. Time spent waiting is not part of
 * a call's `timeout`, which starts with the work; an interruption while waiting gives up the place. A name that means
 * no tool fails at once. A tool that reaches itself, directly or through others, goes on under the permit that its call
 * holds, because the outer call would otherwise wait for itself. Throws an `InvalidOption` on a limit that is not a
 * whole number of at least 1, and on an unknown tool.
 */
export const make = (inner: Toolbox.Service, options: PermitOptions): Toolbox.Service => {
  Options.rejectUnknown("ToolPermits", options, ["each", "tools"])
  const named = new Map(Object.entries(options.tools ?? {}))
  for (const name of named.keys()) {
    if (!inner.tools.some((tool) => tool.name === name)) {
      const known = Toolbox.names(inner.tools)
      Options.refuse("ToolPermits", "tools", `there is no tool ${JSON.stringify(name)}. Tools: ${known}.`)
    }
  }
  const lines = new Map(
    inner.tools.flatMap(({ name }) => {
      const limit = named.get(name) ?? options.each
      return limit === undefined
        ? []
        : [[name, WaitingLine.permits(Options.wholeNumber("ToolPermits", name, limit))] as const]
    })
  )
  return Toolbox.around(({ name }, _request, call) => {
    const line = lines.get(name)
    if (line === undefined) return call
    return Effect.flatMap(HeldPermits, (held) =>
      held.has(line)
        ? call
        : line.through(undefined, () => Effect.provideService(call, HeldPermits, new Set([...held, line])))
    )
  })(inner)
}

/** A Layer of {@link make}: provide it with the toolbox that it goes around. */
export const layer = (options: PermitOptions): Layer.Layer<Toolbox.Toolbox, never, Toolbox.Toolbox> =>
  Layer.effect(
    Toolbox.Toolbox,
    Effect.map(Toolbox.Toolbox, (inner) => make(inner, options))
  )
