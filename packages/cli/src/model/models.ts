/**
 * Models as they are named on the command line. A provider's code is loaded when a run needs it.
 */
import type * as Llm from "@forethought/core/Llm"
import { roles } from "@forethought/core/Role"
import * as Effect from "effect/Effect"
import { UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"
import { meant } from "../screen/text.js"
import { kinds, modelHelp } from "./ModelKinds.js"
import * as ModelSpec from "./ModelSpec.js"
import type { LoadedModel } from "./scripted.js"

/** A model that a run can use. */
export interface Model {
  /** As it is shown: never with a secret. */
  readonly label: string
  /** The spec that was named; absent for a demonstration's own replies. */
  readonly spec?: ModelSpec.ModelSpec
  readonly load: Effect.Effect<LoadedModel, UsageError>
}

/** The surroundings of a model, and a switch that holds it to a JSON Schema if it can be. */
export interface Place extends Surroundings {
  /** Default: `"auto"`. */
  readonly structured?: "auto" | "off"
}

/** The model of every role, or of the roles that have their own. */
export interface Models {
  readonly default: Model
  readonly roles: ReadonlyMap<Llm.Role, Model>
  /** Asked where another cannot answer. */
  readonly fallback?: Model | undefined
}

/** Reads specs, each `<spec>` or `<role>=<spec>`; one without a role must be among them. */
export const readModels = (
  specs: ReadonlyArray<string>,
  source: string,
  place: Place
): Effect.Effect<Models, UsageError> =>
  Effect.gen(function* () {
    let standard: Model | undefined
    const own = new Map<Llm.Role, Model>()
    for (const written of specs) {
      const prefix = roleIn(written)
      const role = roles.find((name) => name === prefix)
      if (prefix !== undefined && role === undefined) {
        return yield* wrong(
          `${source}: ${JSON.stringify(prefix)} is not a role.${meant(prefix, roles)} Roles: ${roles.join(", ")}.`
        )
      }
      const model = yield* readModel(
        role === undefined ? written : written.slice(written.indexOf("=") + 1),
        source,
        place
      )
      if (role === undefined ? standard !== undefined : own.has(role)) {
        return yield* wrong(
          `${source} gives ${role === undefined ? "two models for every role" : `the ${role} two models`}.`
        )
      }
      if (role === undefined) standard = model
      else own.set(role, model)
    }
    if (standard === undefined) {
      return yield* wrong(`${source} gives models to single roles only. Add one without a role, for all the others.`)
    }
    return { default: standard, roles: own }
  })

const wrong = (message: string) => Effect.fail(new UsageError(message))

/**
 * Returns what stands before `=` in `<role>=<spec>`; nothing if it cannot be a role because the `=` is one of an
 * address.
 */
const roleIn = (written: string): string | undefined =>
  /^\s*([A-Za-z][\w-]{0,19})\s*=/.exec(written)?.[1]?.toLowerCase()

/** Reads the spec of a model that stands in for every role's. */
export const readFallback = (written: string, source: string, place: Place): Effect.Effect<Model, UsageError> =>
  roleIn(written) === undefined
    ? readModel(written, source, place)
    : wrong(`${source} takes no role: it stands in for the model of every role. Write the model alone.`)

/** Reads one spec; `source` says where it comes from. */
const readModel = (
  written: string,
  source: string,
  { env, folder, structured }: Place
): Effect.Effect<Model, UsageError> =>
  Effect.gen(function* () {
    const spec = yield* Effect.mapError(ModelSpec.parse(written), ({ problem, usage }) => {
      const ways = usage.length === 1 ? `Write ${usage[0]}.` : `Write one of:\n${modelHelp()}`
      return new UsageError(`${source} names no model that can be used. ${problem} ${ways}`)
    })
    if (spec.kind === "scripted") {
      const { file } = spec
      const load = Effect.flatMap(
        Effect.promise(() => import("./scripted.js")),
        (Scripted) => Scripted.load(file, folder)
      )
      return { label: `scripted replies from ${file}`, spec, load }
    }
    const layer = ModelSpec.layerOf(spec, env, { folder, structured })
    return { label: ModelSpec.label(spec), spec, load: Effect.succeed({ layer }) }
  })

/** Returns where the key of a model comes from, for an error about it. */
export const keyHint = ({ spec }: Model): string => {
  const keys =
    kinds.find(({ kind }) => kind === spec?.kind)?.variables.filter((name) => name.endsWith("_API_KEY")) ?? []
  return keys.length === 0 ? "" : ` The key is taken from ${keys.join(" or ")}.`
}

/** Returns whether the steps of a run can be carried out by a model to which tools are not offered natively. */
export const needsTextProtocol = (models: Models): boolean =>
  [models.roles.get("executor") ?? models.default, models.fallback].some((model) => model?.spec?.kind === "gguf")

/** Returns the models as they are shown. */
export const labelOf = (models: Models): string =>
  [
    models.default.label,
    ...[...models.roles].map(([role, model]) => `${role}: ${model.label}`),
    ...(models.fallback === undefined ? [] : [`else: ${models.fallback.label}`])
  ].join("; ")
