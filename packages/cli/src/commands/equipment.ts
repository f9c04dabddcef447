/**
 * Gives a run its model within its limits, and its tools, as Layers built from the settings.
 */
import * as Approval from "@forethought/core/Approval"
import * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ToolPermits from "@forethought/core/ToolPermits"
import type { McpError } from "@forethought/tools/Mcp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { UsageError } from "../errors.js"
import { type Limits, limiting } from "../model/limits.js"
import type { ModelNotUsable } from "../model/ModelSpec.js"
import type { Models } from "../model/models.js"
import { meant } from "../screen/text.js"
import { connect, distinct, type McpServer } from "../tools/mcpServers.js"
import type { ToolEntry } from "../tools/tools.js"

export interface Equipment {
  readonly models: Models
  readonly tools: ReadonlyArray<ToolEntry>
  readonly servers?: ReadonlyArray<McpServer> | undefined
  readonly limits?: Limits | undefined
  /** Maximum number of calls of a tool that run at once, by its name. */
  readonly permits?: ReadonlyMap<string, number> | undefined
  /** True if a part of each limit is kept for the solver or the finalizer. */
  readonly keepsLast?: boolean | undefined
  /** Asked before a tool acts, if there is one. */
  readonly approval?: Approval.Service | undefined
  /** Called with what a person must know although the run goes on. */
  readonly warn?: ((text: string) => void) | undefined
  /** Changes every tool, such as by a delay. */
  readonly eachTool?: ((tool: Tool.Tool<Llm.Llm>) => Tool.Tool<Llm.Llm>) | undefined
}

/** The reasons why a run cannot begin. */
export type NotReady = ModelNotUsable | McpError | UsageError

/** The model and the tools that the runs of one process share. */
export interface Shared {
  readonly llm: Llm.Service
  readonly tools: ReadonlyArray<Tool.Tool<Llm.Llm>>
}

export interface Loaded {
  /** Builds the models and connects to the servers, which end with the scope. */
  readonly shared: Effect.Effect<Shared, NotReady, Scope.Scope>
  /** The model of one run, within its limits, and the toolbox, whose tools ask that model. */
  readonly perRun: (shared: Shared) => Layer.Layer<Llm.Llm | Toolbox.Toolbox, UsageError>
  /** Returns what a person should know after a run that answered. */
  readonly notes: () => ReadonlyArray<string>
}

/** Loads the code. What can only be seen when it is used fails `shared`. */
export const load = (equipment: Equipment): Effect.Effect<Loaded, UsageError> =>
  Effect.gen(function* () {
    const { approval, eachTool, limits = {}, models, permits = new Map(), servers = [], warn = () => {} } = equipment
    const loaded = yield* loadModels(models)
    const tools = yield* Effect.forEach(equipment.tools, ({ load }) => load, { concurrency: "unbounded" })
    const limited = yield* limiting(limits, models, equipment.keepsLast ?? false)
    const own = eachTool === undefined ? tools : tools.map(eachTool)
    const connected = Effect.forEach(
      servers,
      (server) => Effect.map(connect(server, warn), (tools) => ({ name: server.name, tools })),
      { concurrency: "unbounded" }
    )
    const asking =
      approval === undefined
        ? undefined
        : Approval.tools.pipe(Layer.provide(Approval.layer(Approval.oneAtATime(approval))))
    const guarded = (tools: Layer.Layer<Toolbox.Toolbox, never, Llm.Llm>) => {
      const permitted = permits.size === 0 ? tools : Layer.provide(permitting(permits), tools)
      return asking === undefined ? permitted : Layer.provide(asking, permitted)
    }
    return {
      shared: Effect.map(Effect.all([Layer.build(limited.rates(loaded.layer)), connected]), ([context, servers]) => ({
        llm: Context.get(context, Llm.Llm),
        tools: [...own, ...distinct(names(own), servers)]
      })),
      perRun: ({ llm, tools }) =>
        Layer.provideMerge(guarded(Toolbox.layer(tools)), limited.budget(Layer.succeed(Llm.Llm, llm))),
      notes: loaded.notes
    }
  })

const names = (tools: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => tools.map(({ name }) => name)

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/** Names are those of `--tools` or the tools' own: `http-get` is `HttpGet`. */
const permitting = (permits: ReadonlyMap<string, number>) =>
  Layer.effect(
    Toolbox.Toolbox,
    Effect.gen(function* () {
      const toolbox = yield* Toolbox.Toolbox
      const all = names(toolbox.tools)
      const named = yield* Effect.forEach(permits, ([name, limit]) => {
        const found = all.find((tool) => tool === name) ?? all.find((tool) => bare(tool) === bare(name))
        return found === undefined
          ? Effect.fail(
              new UsageError(
                `--tool-permits names the tool ${JSON.stringify(name)}, which the run does not have.${meant(name, all)} Tools: ${all.join(", ")}.`
              )
            )
          : Effect.succeed([found, limit] as const)
      })
      return ToolPermits.make(toolbox, { tools: Object.fromEntries(named) })
    })
  )

const loadModels = (models: Models) =>
  Effect.gen(function* () {
    const standard = yield* models.default.load
    const own = yield* Effect.forEach(models.roles, ([role, model]) =>
      Effect.map(model.load, (loaded) => ({ role, loaded }))
    )
    const byRole = Object.fromEntries(own.map(({ loaded, role }) => [role, loaded.layer]))
    const first = own.length === 0 ? standard.layer : Llm.byRole({ default: standard.layer, ...byRole })
    const all = [standard, ...own.map(({ loaded }) => loaded)]
    const notes = () =>
      all.flatMap((loaded) => loaded.leftOver?.() ?? []).map((left) => `A scripted reply was not asked for: ${left}`)
    if (models.fallback === undefined) return { layer: first, notes }
    const fallback = yield* models.fallback.load
    all.push(fallback)
    const Fallback = yield* Effect.promise(() => import("@forethought/ai/Fallback"))
    return { layer: Fallback.layer(fallback.layer)(first), notes }
  })
