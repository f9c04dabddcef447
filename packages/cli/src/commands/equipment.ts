/**
 * What a run is given: its model within its limits, and its tools. Built from the settings, as Layers.
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
import { distinct, loadConnect, type McpServer } from "../tools/mcpServers.js"
import type { ToolEntry } from "../tools/tools.js"

export interface Equipment {
  readonly models: Models
  readonly tools: ReadonlyArray<ToolEntry>
  readonly servers?: ReadonlyArray<McpServer> | undefined
  readonly limits?: Limits | undefined
  /** How many calls of a tool may run at once, by its name. */
  readonly permits?: ReadonlyMap<string, number> | undefined
  /** Whether a part of each limit is kept for the solver or the finalizer. */
  readonly keepsLast?: boolean | undefined
  /** Who is asked before a tool acts; nobody where there is none. */
  readonly approval?: Approval.Service | undefined
  /** Is told what a person must know although the run goes on. */
  readonly warn?: ((text: string) => void) | undefined
  /** Changes every tool, such as by a delay. */
  readonly eachTool?: ((tool: Tool.Tool<Llm.Llm>) => Tool.Tool<Llm.Llm>) | undefined
}

/** Why a run cannot begin. */
export type NotReady = ModelNotUsable | McpError

/** What the runs of one process share. */
export interface Shared {
  readonly llm: Llm.Service
  readonly tools: ReadonlyArray<Tool.Tool<Llm.Llm>>
}

export interface Services {
  /** Builds the models and connects to the servers, which end with the scope. */
  readonly shared: Effect.Effect<Shared, NotReady, Scope.Scope>
  /** The model of one run, within its limits, and the toolbox, whose tools ask that model. */
  readonly perRun: (shared: Shared) => Layer.Layer<Llm.Llm | Toolbox.Toolbox>
  /** What a person should know after a run that answered. */
  readonly notes: () => ReadonlyArray<string>
}

/** Loads the code. Rejects with a `UsageError`; what can only be seen when it is used fails `shared`. */
export const load = async (equipment: Equipment): Promise<Services> => {
  const { limits = {}, models, servers = [] } = equipment
  const [loaded, tools, limited, connect] = await Promise.all([
    loadModels(models),
    Promise.all(equipment.tools.map((tool) => tool.load())),
    limiting(limits, models, equipment.keepsLast ?? false),
    servers.length === 0 ? undefined : loadConnect(equipment.warn ?? (() => {}))
  ])
  const own = equipment.eachTool === undefined ? tools : tools.map(equipment.eachTool)
  const connected =
    connect === undefined
      ? Effect.succeed([])
      : Effect.forEach(servers, (server) => Effect.map(connect(server), (tools) => ({ name: server.name, tools })), {
          concurrency: "unbounded"
        })
  const around: Around = (inner) => {
    const permits = permitted(equipment.permits ?? new Map(), inner)
    return equipment.approval === undefined ? permits : approved(equipment.approval, permits)
  }
  return {
    shared: Effect.map(Effect.all([Layer.build(limited.rates(loaded.layer)), connected]), ([context, servers]) => ({
      llm: Context.get(context, Llm.Llm),
      tools: [...own, ...distinct(names(own), servers)]
    })),
    perRun: ({ llm, tools }) =>
      Layer.provideMerge(around(Toolbox.layer(tools)), limited.budget(Layer.succeed(Llm.Llm, llm))),
    notes: loaded.notes
  }
}

type Around = (inner: Layer.Layer<Toolbox.Toolbox, never, Llm.Llm>) => Layer.Layer<Toolbox.Toolbox, never, Llm.Llm>

const names = (tools: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => tools.map(({ name }) => name)

const approved = (service: Approval.Service, inner: ReturnType<Around>): ReturnType<Around> =>
  Approval.tools.pipe(Layer.provide(Layer.merge(inner, Approval.layer(Approval.oneAtATime(service)))))

const fold = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/** Names are those of `--tools` or the tools' own: `http-get` is `HttpGet`. */
const permitted = (permits: ReadonlyMap<string, number>, inner: ReturnType<Around>): ReturnType<Around> =>
  permits.size === 0
    ? inner
    : Layer.effect(
        Toolbox.Toolbox,
        Effect.map(Toolbox.Toolbox, (toolbox) => {
          const all = names(toolbox.tools)
          const named = [...permits].map(([name, limit]): readonly [string, number] => {
            const found = all.find((tool) => tool === name) ?? all.find((tool) => fold(tool) === fold(name))
            if (found === undefined) {
              throw new UsageError(
                `--tool-permits names the tool ${JSON.stringify(name)}, which the run does not have.${meant(name, all)} Tools: ${all.join(", ")}.`
              )
            }
            return [found, limit]
          })
          return ToolPermits.make(toolbox, { tools: Object.fromEntries(named) })
        })
      ).pipe(Layer.provide(inner))

const loadModels = async (models: Models) => {
  const [standard, own, fallback] = await Promise.all([
    models.default.load(),
    Promise.all([...models.roles].map(async ([role, model]) => ({ role, loaded: await model.load() }))),
    models.fallback === undefined
      ? undefined
      : Promise.all([models.fallback.load(), import("@forethought/ai/Fallback")])
  ])
  const byRole = Object.fromEntries(own.map(({ loaded, role }) => [role, loaded.layer]))
  const first = own.length === 0 ? standard.layer : Llm.byRole({ default: standard.layer, ...byRole })
  const all = [standard, ...own.map(({ loaded }) => loaded), ...(fallback === undefined ? [] : [fallback[0]])]
  return {
    layer: fallback === undefined ? first : fallback[1].layer(fallback[0].layer)(first),
    notes: () =>
      all.flatMap((loaded) => loaded.leftOver?.() ?? []).map((left) => `A scripted reply was not asked for: ${left}`)
  }
}
