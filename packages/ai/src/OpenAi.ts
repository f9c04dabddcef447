/**
 * OpenAI's own API (`/responses`), through `@effect/ai-openai`, which must be installed beside this package. For other
 * servers that speak like OpenAI see `OpenAiCompatible`.
 */
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm, Request } from "@forethought/core/Llm"
import * as Layer from "effect/Layer"
import { asObject, asString, type JsonObject } from "./internal/json.js"
import * as Provider from "./internal/provider.js"
import type * as Structured from "./internal/structured.js"
import { objectRoot } from "./internal/structured.js"
import * as LanguageModel from "./LanguageModel.js"

export interface Options extends Provider.Options {
  /** Sent with every request; what a request itself asks for wins. Default: `{ strict: false }`. */
  readonly config?: Omit<OpenAiLanguageModel.Config.Service, "model"> | undefined
}

/**
 * An `Llm` over OpenAI. Errors and retries are those of `LanguageModel.layer`.
 *
 * `maxTokens` becomes `max_output_tokens`, which counts reasoning too. This API knows no stop sequences: the text is
 * cut here. `format` is sent as the `text.format` of the response, not strictly, for a strict one takes few schemas.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  LanguageModel.layer(
    Provider.adapter(options, (request) => OpenAiLanguageModel.withConfigOverride(overrides(request)))
  ).pipe(
    // Strict tools must require every property and forbid others, which the Schema of a tool need not do.
    Layer.provide(OpenAiLanguageModel.layer({ model: options.model, config: { strict: false, ...options.config } })),
    Layer.provide(OpenAiClient.layer(Provider.client(options, textFormat, failedResponse)))
  )

const textFormat: Structured.Dialect = {
  write: (body, { name, schema }) => {
    const root = objectRoot(schema)
    if (root === undefined) return undefined
    const format = { type: "json_schema", name, schema: root, strict: false }
    return { ...body, text: { ...asObject(body["text"]), format } }
  },
  words: ["text.format", "response_format", "json_schema", "schema"]
}

/** A response that failed half-way is a 200 with an error in it. */
const failedResponse = (body: JsonObject): Provider.HiddenFailure | undefined => {
  const error = asObject(body["error"])
  if (error === undefined) return undefined
  const code = asString(error["code"]) ?? ""
  const status = code === "rate_limit_exceeded" ? 429 : code === "server_error" ? 500 : 400
  return { status, code, message: asString(error["message"]) ?? "" }
}

const overrides = ({ maxTokens, temperature }: Request): OpenAiLanguageModel.Config.Service => ({
  ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
  ...(temperature === undefined ? {} : { temperature })
})
