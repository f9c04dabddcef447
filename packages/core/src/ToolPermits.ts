/**
 * At most so many calls of a tool at once: a Layer around the toolbox.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { make as makePermits, type Permits } from "./internal/permits.js"
import * as Options from "./Options.js"
import * as Toolbox from "./Toolbox.js"

/** How many calls may run at once. */
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
 * no tool fails at once. Throws a `RangeError` on a limit that is not a whole number of at least 1, and on an unknown
 * tool.
 */
export const make = (inner: Toolbox.Service, options: PermitOptions): Toolbox.Service => {
  Options.rejectUnknown("ToolPermits", options, ["each", "tools"])
  const named = new Map(Object.entries(options.tools ?? {}))
  for (const name of named.keys()) {
    if (!inner.tools.some((tool) => tool.name === name)) {
      throw new RangeError(
        `ToolPermits: there is no tool ${JSON.stringify(name)}. Tools: ${Toolbox.names(inner.tools)}.`
      )
    }
  }
  const permits = new Map<string, Permits>()
  for (const { name } of inner.tools) {
    const limit = named.get(name) ?? options.each
    if (limit !== undefined) permits.set(name, makePermits(Options.wholeNumber("ToolPermits", name, limit)))
  }
  return {
    tools: inner.tools,
    call: (request) => {
      const name = Toolbox.resolve(inner.tools, request.tool)
      const permit = Either.isRight(name) ? permits.get(name.right) : undefined
      const call = Effect.suspend(() => inner.call(request))
      return permit === undefined ? call : permit.use(call)
    }
  }
}

/** A Layer of {@link make}: provide it with the toolbox that it goes around. */
export const layer = (options: PermitOptions): Layer.Layer<Toolbox.Toolbox, never, Toolbox.Toolbox> =>
  Layer.effect(
    Toolbox.Toolbox,
    Effect.map(Toolbox.Toolbox, (inner) => make(inner, options))
  )
