/**
 * Google's Generative Language API (Gemini), through `@effect/ai-google`, which must be installed beside this package.
 */
import * as GoogleClient from "@effect/ai-google/GoogleClient"
import * as GoogleLanguageModel from "@effect/ai-google/GoogleLanguageModel"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm, Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dereference } from "./internal/dereference.js"
import { asArray, asObject, asString, type JsonObject } from "./internal/json.js"
import * as Provider from "./internal/provider.js"
import type * as Structured from "./internal/structured.js"
import * as LanguageModel from "./LanguageModel.js"

export interface Options extends Provider.Options {
  /** Sent with every request; what a request itself asks for wins. */
  readonly config?: Partial<Omit<GoogleLanguageModel.Config.Service, "model">> | undefined
}

/**
 * An `Llm` over Google. Errors and retries are those of `LanguageModel.layer`.
 *
 * A system message is taken at the beginning of the conversation only. References in a tool's JSON Schema are written
 * out, because this API knows none. `format` is sent as the response's JSON Schema.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  LanguageModel.layer({
    ...Provider.adapter(options, configure(options)),
    toolParameters: dereference,
    // A function's response has to be an object.
    toolResult: (text) => ({ result: text })
  }).pipe(
    Layer.provide(GoogleLanguageModel.layer({ model: options.model, config: { toolConfig: {}, ...options.config } })),
    Layer.provide(GoogleClient.layer(Provider.client(options, responseSchema, blockedPrompt)))
  )

const responseSchema: Structured.Dialect = {
  write: (body, { schema }) => ({
    ...body,
    generationConfig: {
      ...asObject(body["generationConfig"]),
      responseMimeType: "application/json",
      responseJsonSchema: dereference(schema)
    }
  }),
  words: ["schema", "response_mime_type", "responsemimetype", "json mode"]
}

/** A prompt that the filter rejects is a 200 without candidates. */
const blockedPrompt = (body: JsonObject): Provider.HiddenFailure | undefined => {
  const reason = asString(asObject(body["promptFeedback"])?.["blockReason"])
  if (reason === undefined || asArray(body["candidates"]).length > 0) return undefined
  return { status: 400, code: "content_filter", message: `the prompt was blocked: ${reason}` }
}

const configure =
  ({ config, model }: Options) =>
  ({ maxTokens, stop, temperature }: Request): LanguageModel.Configure => {
    // This API takes at most five; the text is cut at the others all the same.
    const sequences = (stop ?? []).slice(0, 5)
    return Effect.provideService(GoogleLanguageModel.Config, {
      toolConfig: {},
      ...config,
      model,
      generationConfig: {
        ...config?.generationConfig,
        ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(sequences.length === 0 ? {} : { stopSequences: sequences })
      }
    })
  }
