/**
 * Models as they are named on the command line. A provider's code is loaded when a run needs it.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Layer from "effect/Layer"
import { UsageError } from "./UsageError.js"

/** A model that a run can use. */
export interface Model {
  /** As it is shown: never with a secret. */
  readonly label: string
  /** Whether its replies come from a file: then the screen says so. */
  readonly isScripted: boolean
  readonly load: () => Promise<LoadedModel>
}

export interface LoadedModel {
  readonly layer: Layer.Layer<Llm.Llm>
  /** What a person should know after a run that answered, such as replies that nobody asked for. */
  readonly leftOver?: () => ReadonlyArray<string>
}

/** What a provider needs from its surroundings. */
export interface Surroundings {
  /** Relative paths start here. */
  readonly folder: string
  readonly env: { readonly [name: string]: string | undefined }
}

interface Provider {
  readonly prefix: string
  /** How its spec is written. */
  readonly usage: string
  readonly summary: string
  readonly read: (rest: string, around: Surroundings) => Model
}

/** Every kind of model, in the order in which they are listed. */
export const providers: ReadonlyArray<Provider> = [
  {
    prefix: "openai-compatible",
    usage: "openai-compatible:<model>@<baseUrl>",
    summary: "a server that speaks /chat/completions: Ollama, llama.cpp, vLLM, OpenAI",
    read: (rest, around) => readOpenAiCompatible(rest, around)
  },
  {
    prefix: "scripted",
    usage: "scripted:<file>",
    summary: "replies read from a JSON file, for demonstrations and tests",
    read: (file, around) => readScripted(file, around)
  }
]

/** The model of every role, or of the roles that have their own. */
export interface Models {
  readonly default: Model
  readonly roles: ReadonlyMap<Llm.Role, Model>
}

const roles: ReadonlyArray<Llm.Role> = [
  "planner",
  "executor",
  "replanner",
  "solver",
  "reasoner",
  "extractor",
  "router",
  "finalizer"
]

/** Reads specs, each `<spec>` or `<role>=<spec>`; one without a role must be among them. */
export const readModels = (specs: ReadonlyArray<string>, source: string, around: Surroundings): Models => {
  let standard: Model | undefined
  const own = new Map<Llm.Role, Model>()
  for (const written of specs) {
    const role = roles.find((name) => written.startsWith(`${name}=`))
    const model = readModel(role === undefined ? written : written.slice(role.length + 1), source, around)
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

/** What to write for a model. */
export const modelHelp = (): string => providers.map(({ usage, summary }) => `  ${usage}\n      ${summary}`).join("\n")

const readModel = (spec: string, source: string, around: Surroundings): Model => {
  const colon = spec.indexOf(":")
  const prefix = colon < 0 ? spec : spec.slice(0, colon)
  const provider = providers.find((candidate) => candidate.prefix === prefix.toLowerCase())
  if (provider === undefined || colon < 0) {
    // The rest of a spec can hold a secret, in an address: only its first word is shown.
    const shown = /^[\w.-]{1,40}$/.test(prefix) ? ` Got ${JSON.stringify(colon < 0 ? prefix : `${prefix}:…`)}.` : ""
    throw new UsageError(`${source} is not a model that is known.${shown} Write one of:\n${modelHelp()}`)
  }
  return provider.read(spec.slice(colon + 1), around)
}

const readOpenAiCompatible = (rest: string, { env }: Surroundings): Model => {
  const usage =
    "Write openai-compatible:<model>@<baseUrl>, such as openai-compatible:qwen3:8b@http://127.0.0.1:11434/v1."
  const at = rest.search(/@https?:\/\//i)
  if (at < 0) {
    throw new UsageError(`The model has no base URL that starts with http:// or https://. ${usage}`)
  }
  const name = rest.slice(0, at)
  const address = rest.slice(at + 1)
  if (name === "") throw new UsageError(`The model has no name. ${usage}`)
  if (!URL.canParse(address)) throw new UsageError(`The base URL of the model ${name} is not a valid address. ${usage}`)
  const url = new URL(address)
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `The base URL of the model ${name} holds a password or key. Take it out, and set FORETHOUGHT_API_KEY in place of it.`
    )
  }
  const key = apiKeyFor(url, env)
  return {
    label: `${name} at ${url.origin}${url.pathname.replace(/\/$/, "")}`,
    isScripted: false,
    load: async () => {
      const [OpenAiCompatible, Redacted] = await Promise.all([
        import("@forethought/ai/OpenAiCompatible"),
        import("effect/Redacted")
      ])
      return {
        layer: OpenAiCompatible.layerFetch({
          baseUrl: address,
          model: name,
          apiKey: key === undefined ? undefined : Redacted.make(key)
        })
      }
    }
  }
}

/** The key of OpenAI is sent to OpenAI and to this machine only; `FORETHOUGHT_API_KEY` to whatever address is given. */
const apiKeyFor = (url: URL, env: Surroundings["env"]): string | undefined => {
  const own = env["FORETHOUGHT_API_KEY"]?.trim()
  if (own !== undefined && own !== "") return own
  const openAi = env["OPENAI_API_KEY"]?.trim()
  const host = url.hostname
  const trusted =
    (url.protocol === "https:" && (host === "api.openai.com" || host.endsWith(".api.openai.com"))) ||
    host === "localhost" ||
    host === "[::1]" ||
    /^127(\.\d{1,3}){3}$/.test(host)
  return trusted && openAi !== "" ? openAi : undefined
}

const readScripted = (file: string, { folder }: Surroundings): Model => {
  if (file.trim() === "") throw new UsageError("The scripted model has no file. Write scripted:<file>.")
  return {
    label: `scripted replies from ${file}`,
    isScripted: true,
    load: async () => (await import("./scripted.js")).load(file, folder)
  }
}
