/**
 * Anthropic's API (`/v1/messages`), through `@effect/ai-anthropic`, which must be installed beside this package.
 */
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm, Request } from "@forethought/core/Llm"
import * as Layer from "effect/Layer"
import * as Provider from "./internal/provider.js"
import * as LanguageModel from "./LanguageModel.js"

export interface Options extends Provider.Options {
  /** Sent with every request; what a request itself asks for wins. */
  readonly config?: Omit<AnthropicLanguageModel.Config.Service, "model"> | undefined
}

/**
 * An `Llm` over Anthropic. Errors and retries are those of `LanguageModel.layer`.
 *
 * Anthropic wants a token limit: where neither the request nor `config` gives one it is 4096. `format` is not passed on.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  LanguageModel.layer(
    Provider.adapter(options, (request) => AnthropicLanguageModel.withConfigOverride(overrides(request)))
  ).pipe(
    Layer.provide(
      AnthropicLanguageModel.layer({
        model: options.model,
        ...(options.config === undefined ? {} : { config: options.config })
      })
    ),
    Layer.provide(AnthropicClient.layer(Provider.client(options)))
  )

const overrides = ({ maxTokens, stop, temperature }: Request): AnthropicLanguageModel.Config.Service => {
  // Anthropic refuses a stop sequence of white space alone; the text is cut at it all the same.
  const sequences = (stop ?? []).filter((sequence) => sequence.trim() !== "")
  return {
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(sequences.length === 0 ? {} : { stop_sequences: sequences })
  }
}
