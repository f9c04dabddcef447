/**
 * Models as a person names them: `openai:gpt-4.1-mini`, `ollama:qwen3:8b`, `gguf:models/small.gguf`. A spec is plain
 * data; a provider's code is loaded when its Layer is built.
 *
 * @example
 * ```ts
 * const model = Either.map(ModelSpec.parse("anthropic:claude-haiku-4-5"), (spec) => ModelSpec.layerOf(spec, process.env))
 * ```
 */
import type * as OpenAi from "@forethought/ai/OpenAi"
import type { Llm } from "@forethought/core/Llm"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Environment from "./environment.js"
import { type Kind, type KindInfo, kinds } from "./ModelKinds.js"

export { type Kind, type KindInfo, kinds } from "./ModelKinds.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** A spec that cannot be read. The message never quotes what follows the kind: an address can hold a secret. */
export class InvalidModelSpec extends Data.TaggedError("InvalidModelSpec")<{
  /** Says in a sentence what is wrong. */
  readonly problem: string
  /** The notations that can be read. */
  readonly usage: ReadonlyArray<string>
}> {
  override get message(): string {
    return `${this.problem} Write ${this.usage.join(", ")}.`
  }
}

/** A spec that is right and cannot be used here: no key, nothing listening, a package or a file that is missing. */
export class ModelNotUsable extends Data.TaggedError("ModelNotUsable")<{
  readonly kind: Kind
  /** Says in a sentence what is missing. */
  readonly problem: string
  /** Says in a sentence what to do about it. */
  readonly advice: string
}> {
  override get message(): string {
    return `${this.problem} ${this.advice}`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** A model by its kind, which is the prefix of the spec. */
export type ModelSpec =
  | { readonly kind: "openai" | "anthropic" | "google" | "ollama"; readonly model: string }
  | { readonly kind: "openai-compatible"; readonly model: string; readonly baseUrl: string }
  | { readonly kind: "gguf" | "scripted"; readonly file: string }

/** The environment variables in which keys and addresses are looked up, such as `process.env`. */
export type Env = Environment.Env

export interface LayerOptions {
  /** Folder in which the relative path of a file starts. Default: the working directory. */
  readonly folder?: string | undefined
  /** Holds models to a JSON Schema where their provider can. Default: `"auto"`. */
  readonly structured?: "auto" | "off" | undefined
  /** The time allowed for one attempt. Default: the provider's. */
  readonly timeout?: Duration.DurationInput | undefined
  /** Maximum number of retries after a retryable failure. Default: 2. */
  readonly maxRetries?: number | undefined
  /** Answers for `scripted:<file>`. Default: nothing does, and it is not usable. */
  readonly scripted?: ((file: string) => Layer.Layer<Llm, ModelNotUsable>) | undefined
}

/** A kind of model, and if it can be used now. */
export interface Usability extends KindInfo {
  readonly usable: boolean
  /** Says why not and what to do, or what is there. */
  readonly why: string
}

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

/** Reads a spec. The kind is read without case; the rest is taken as it is. */
export const parse = (spec: string): Either.Either<ModelSpec, InvalidModelSpec> => {
  const colon = spec.indexOf(":")
  const prefix = (colon < 0 ? spec : spec.slice(0, colon)).trim().toLowerCase()
  const info = kinds.find(({ kind }) => kind === prefix)
  if (info === undefined || colon < 0) {
    // Only a plain word is shown: the rest, and anything that is not a word, can hold a secret.
    const shown = /^[a-z0-9-]{1,20}$/.test(prefix) ? ` ${JSON.stringify(prefix)}` : " This"
    const problem =
      info === undefined ? `${shown.trim()} is not a kind of model.` : `The kind ${prefix} wants a name after it.`
    return invalid(problem, info === undefined ? kinds : [info])
  }
  const rest = spec.slice(colon + 1).trim()
  if (rest === "") return invalid(`The kind ${prefix} wants a name after it.`, [info])
  switch (info.kind) {
    case "openai":
    case "anthropic":
    case "google":
    case "ollama":
      return Either.right({ kind: info.kind, model: rest })
    case "gguf":
    case "scripted":
      return Either.right({ kind: info.kind, file: rest })
    case "openai-compatible":
      return parseCompatible(rest, info)
  }
}

const parseCompatible = (rest: string, info: KindInfo): Either.Either<ModelSpec, InvalidModelSpec> => {
  const lower = rest.toLowerCase()
  // A model's name can hold an @ of its own, but not an address.
  const at = Math.max(lower.indexOf("@http://"), lower.indexOf("@https://"))
  if (at < 0) return invalid("The model has no address that starts with http:// or https://.", [info])
  if (at === 0) return invalid("The model has no name.", [info])
  const baseUrl = rest.slice(at + 1)
  const problem = Environment.addressProblem(baseUrl)
  if (problem !== undefined) return invalid(`The model's address ${problem}.`, [info])
  return Either.right({ kind: "openai-compatible", model: rest.slice(0, at), baseUrl })
}

const invalid = (problem: string, infos: ReadonlyArray<KindInfo>) =>
  Either.left(new InvalidModelSpec({ problem, usage: infos.map(({ usage }) => usage) }))

/** A spec for a screen or a log: without the query of an address, which can hold a secret. */
export const label = (spec: ModelSpec): string => {
  if ("file" in spec) return `${spec.kind}:${spec.file}`
  if (spec.kind !== "openai-compatible") return `${spec.kind}:${spec.model}`
  return `${spec.model} at ${Environment.plainAddress(spec.baseUrl)}`
}

// ---------------------------------------------------------------------------------------------------------------
// building
// ---------------------------------------------------------------------------------------------------------------

/**
 * The Layer of a model. Its provider's code is loaded, and its key is looked up, when the Layer is built; nothing is
 * sent before the first call. For what can be told before that see {@link check}.
 */
export const layerOf = (spec: ModelSpec, env: Env, options: LayerOptions = {}): Layer.Layer<Llm, ModelNotUsable> =>
  Layer.unwrapEffect(build(spec, env, options))

const build = (
  spec: ModelSpec,
  env: Env,
  options: LayerOptions
): Effect.Effect<Layer.Layer<Llm, ModelNotUsable>, ModelNotUsable> =>
  Effect.gen(function* () {
    const { folder, maxRetries, scripted, structured, timeout } = options
    const shared = { maxRetries, structured, timeout }
    switch (spec.kind) {
      case "scripted":
        if (scripted !== undefined) return scripted(spec.file)
        return yield* notUsable("scripted", "Scripted replies are not available here.", "Choose another model.")
      case "gguf": {
        const { layer } = yield* load("gguf", () => import("@forethought/ai/Gguf"))
        return layer({ file: Environment.resolve(spec.file, folder), structured, timeout })
      }
      case "ollama": {
        const { layerFetch } = yield* load("ollama", () => import("@forethought/ai/OpenAiCompatible"))
        return layerFetch({ ...shared, baseUrl: `${Environment.ollamaAddress(env)}/v1`, model: spec.model })
      }
      case "openai-compatible": {
        const { layerFetch } = yield* load("openai-compatible", () => import("@forethought/ai/OpenAiCompatible"))
        const key = Environment.compatibleKey(spec.baseUrl, env)
        const apiKey = key === undefined ? undefined : Redacted.make(key)
        return layerFetch({ ...shared, baseUrl: spec.baseUrl, model: spec.model, apiKey })
      }
      case "openai":
      case "anthropic":
      case "google": {
        const { apiKey, apiUrl } = yield* account(spec.kind, env)
        const { layer: fetch } = yield* load(spec.kind, () => import("@effect/platform/FetchHttpClient"))
        const given = { ...shared, model: spec.model, apiKey, apiUrl }
        return Layer.provide(yield* hosted(spec.kind, given), fetch)
      }
    }
  })

const hosted = (kind: "openai" | "anthropic" | "google", options: OpenAi.Options) => {
  switch (kind) {
    case "openai":
      return Effect.map(
        load(kind, () => import("@forethought/ai/OpenAi")),
        ({ layer }) => layer(options)
      )
    case "anthropic":
      return Effect.map(
        load(kind, () => import("@forethought/ai/Anthropic")),
        ({ layer }) => layer(options)
      )
    case "google":
      return Effect.map(
        load(kind, () => import("@forethought/ai/Google")),
        ({ layer }) => layer(options)
      )
  }
}

// ---------------------------------------------------------------------------------------------------------------
// checking
// ---------------------------------------------------------------------------------------------------------------

/**
 * Checks that a model can be used, as far as that can be told without using it: there is a key, the package is
 * installed, the file exists, something listens at the address. A server is asked without a key, and given 2 seconds to
 * answer.
 */
export const check = (spec: ModelSpec, env: Env, options: LayerOptions = {}): Effect.Effect<void, ModelNotUsable> =>
  Effect.gen(function* () {
    switch (spec.kind) {
      case "scripted":
        return yield* Environment.isFile(spec.file, options.folder)
          ? Effect.void
          : notUsable("scripted", "There is no such file.", "Check the path.")
      case "gguf":
        yield* kindUsable("gguf", env)
        return yield* Environment.isFile(spec.file, options.folder)
          ? Effect.void
          : notUsable("gguf", "There is no such file.", "Check the path.")
      case "openai-compatible":
        return yield* listening(spec.kind, spec.baseUrl, "Start the server, or check the address.")
      default:
        yield* kindUsable(spec.kind, env)
    }
  })

/**
 * Which kinds of model can be used now, and why the others cannot. No key leaves the machine: a provider with a key is
 * not asked whether it takes it.
 */
export const usable = (env: Env): Effect.Effect<ReadonlyArray<Usability>> =>
  Effect.forEach(
    kinds,
    (info) =>
      Effect.match(kindUsable(info.kind, env), {
        onSuccess: (why) => ({ ...info, usable: true, why }),
        onFailure: ({ message }) => ({ ...info, usable: false, why: message })
      }),
    { concurrency: "unbounded" }
  )

const kindUsable = (kind: Kind, env: Env): Effect.Effect<string, ModelNotUsable> => {
  switch (kind) {
    case "openai":
    case "anthropic":
    case "google":
      return Effect.gen(function* () {
        const { variable } = yield* account(kind, env)
        yield* hosted(kind, { model: "none" })
        return `The key is in ${variable}.`
      })
    case "ollama": {
      const address = Environment.ollamaAddress(env)
      return Effect.as(
        listening("ollama", address, "Start it with `ollama serve`, or set OLLAMA_HOST."),
        `It listens at ${Environment.plainAddress(address)}.`
      )
    }
    case "openai-compatible":
      return Effect.succeed("Give the address of a server that runs.")
    case "gguf":
      return Effect.as(
        load("gguf", () => import("node-llama-cpp")),
        "node-llama-cpp is installed."
      )
    case "scripted":
      return Effect.succeed("Give a file.")
  }
}

const listening = (kind: Kind, address: string, advice: string): Effect.Effect<void, ModelNotUsable> =>
  Effect.flatMap(Environment.listens(address), (answered) =>
    answered ? Effect.void : notUsable(kind, `Nothing answers at ${Environment.plainAddress(address)}.`, advice)
  )

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const notUsable = (kind: Kind, problem: string, advice: string) =>
  Effect.fail(new ModelNotUsable({ kind, problem, advice }))

const needs: { readonly [kind in Kind]: string } = {
  openai: "@effect/platform",
  anthropic: "@effect/platform",
  google: "@effect/platform",
  gguf: "node-llama-cpp@3.21.1",
  ollama: "@effect/platform",
  "openai-compatible": "@effect/platform",
  scripted: "@forethought/ai"
}

const load = <A>(kind: Kind, module: () => Promise<A>): Effect.Effect<A, ModelNotUsable> =>
  Effect.tryPromise({
    try: module,
    catch: () =>
      new ModelNotUsable({
        kind,
        problem: `The package ${needs[kind]} is not installed, or cannot be loaded.`,
        advice: `Add it: npm install ${needs[kind]}`
      })
  })

/** The key and the address of a provider, with the variable in which the key was found. */
const account = (kind: "openai" | "anthropic" | "google", env: Env) => {
  const variables = kinds.find((info) => info.kind === kind)?.variables ?? []
  const keys = variables.filter((name) => name.endsWith("_API_KEY"))
  const base = variables.find((name) => name.endsWith("_BASE_URL")) ?? ""
  const variable = keys.find((name) => Environment.value(env, name) !== undefined)
  const key = variable === undefined ? undefined : Environment.value(env, variable)
  if (variable === undefined || key === undefined) {
    return notUsable(
      kind,
      `There is no key: ${keys.join(" and ")} ${keys.length === 1 ? "is" : "are"} not set.`,
      "Set it to your API key."
    )
  }
  const apiUrl = Environment.value(env, base)
  const problem = apiUrl === undefined ? undefined : Environment.addressProblem(apiUrl)
  if (problem !== undefined) return notUsable(kind, `The address in ${base} ${problem}.`, "Correct it or take it out.")
  return Effect.succeed({ variable, apiKey: Redacted.make(key), apiUrl })
}
