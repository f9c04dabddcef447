/**
 * Models as they are named on the command line. A provider's code is loaded when a run needs it.
 */

import type * as Llm from "@forethought/core/Llm"
import { roles } from "@forethought/core/Role"
import type * as Layer from "effect/Layer"
import { UsageError } from "../errors.js"
import { meant } from "../screen/text.js"
import { kinds } from "./ModelKinds.js"
import type { ModelNotUsable, ModelSpec } from "./ModelSpec.js"

/** A model that a run can use. */
export interface Model {
  /** As it is shown: never with a secret. */
  readonly label: string
  /** Whether its replies come from a file: then the screen says so. */
  readonly isScripted: boolean
  /** What was named; nothing for a demonstration's own replies. */
  readonly spec?: ModelSpec
  readonly load: () => Promise<LoadedModel>
}

export interface LoadedModel {
  readonly layer: Layer.Layer<Llm.Llm, ModelNotUsable>
  /** What a person should know after a run that answered, such as replies that nobody asked for. */
  readonly leftOver?: () => ReadonlyArray<string>
}

/** What a provider needs from its surroundings. */
export interface Surroundings {
  /** Relative paths start here. */
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Whether models are held to a JSON Schema where they can be. Default: `"auto"`. */
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
export const readModels = async (
  specs: ReadonlyArray<string>,
  source: string,
  around: Surroundings
): Promise<Models> => {
  let standard: Model | undefined
  const own = new Map<Llm.Role, Model>()
  for (const written of specs) {
    const prefix = roleIn(written)
    const role = roles.find((name) => name === prefix)
    if (prefix !== undefined && role === undefined) {
      throw new UsageError(
        `${source}: ${JSON.stringify(prefix)} is no role.${meant(prefix, roles)} Roles: ${roles.join(", ")}.`
      )
    }
    const model = await readModel(
      role === undefined ? written : written.slice(written.indexOf("=") + 1),
      source,
      around
    )
    if (role === undefined ? standard !== undefined : own.has(role)) {
      throw new UsageError(
        `${source} gives ${role === undefined ? "two models for every role" : `the ${role} two models`}.`
      )
    }
    if (role === undefined) standard = model
    else own.set(role, model)
  }
  if (standard === undefined) {
    throw new UsageError(`${source} gives models to single roles only. Add one without a role, for all the others.`)
  }
  return { default: standard, roles: own }
}

/** What stands before `=` in `<role>=<spec>`; nothing where it can be no role, as the `=` is one of an address. */
const roleIn = (written: string): string | undefined =>
  /^\s*([A-Za-z][\w-]{0,19})\s*=/.exec(written)?.[1]?.toLowerCase()

/** Reads the spec of a model that stands in for every role's. */
export const readFallback = (written: string, source: string, around: Surroundings): Promise<Model> => {
  if (roleIn(written) !== undefined) {
    throw new UsageError(`${source} takes no role: it stands in for the model of every role. Write the model alone.`)
  }
  return readModel(written, source, around)
}

/** What to write for a model. */
export const modelHelp = (): string => kinds.map(({ usage, summary }) => `  ${usage}\n      ${summary}`).join("\n")

/** Reads one spec; `source` says where it comes from. */
export const readModel = async (written: string, source: string, around: Surroundings): Promise<Model> => {
  const [ModelSpec, Either] = await Promise.all([import("./ModelSpec.js"), import("effect/Either")])
  const parsed = ModelSpec.parse(written)
  if (Either.isLeft(parsed)) {
    const { problem, usage } = parsed.left
    const ways = usage.length === 1 ? `Write ${usage[0]}.` : `Write one of:\n${modelHelp()}`
    throw new UsageError(`${source} names no model that can be used. ${problem} ${ways}`)
  }
  const spec = parsed.right
  if (spec.kind === "scripted") {
    return {
      label: `scripted replies from ${spec.file}`,
      isScripted: true,
      spec,
      load: async () => (await import("./scripted.js")).load(spec.file, around.folder)
    }
  }
  return {
    label: ModelSpec.label(spec),
    isScripted: false,
    spec,
    load: async () => ({
      layer: ModelSpec.layerOf(spec, around.env, { folder: around.folder, structured: around.structured })
    })
  }
}

/** Where the key of a model comes from, for an error about it. */
export const keyHint = ({ spec }: Model): string => {
  const keys =
    kinds.find(({ kind }) => kind === spec?.kind)?.variables.filter((name) => name.endsWith("_API_KEY")) ?? []
  return keys.length === 0 ? "" : ` The key is taken from ${keys.join(" or ")}.`
}

/** Whether the steps of a run can be carried out by a model to which tools are not offered natively. */
export const needsTextProtocol = (models: Models): boolean =>
  [models.roles.get("executor") ?? models.default, models.fallback].some((model) => model?.spec?.kind === "gguf")
