/**
 * OpenAI's own API (`/responses`). For other servers that speak like OpenAI see `OpenAiCompatible`.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm } from "@forethought/core/Llm"
import type * as Layer from "effect/Layer"
import * as Hosted from "./internal/hosted.js"
import * as Responses from "./internal/responses.js"

export interface Options extends Hosted.Options {}

/**
 * An `Llm` over OpenAI. Errors, retries and what a model turns out not to take are those of `OpenAiCompatible`.
 *
 * `maxTokens` becomes `max_output_tokens`, which counts reasoning too. This API knows no stop sequences: the text is
 * cut here. `format` is sent as the `text.format` of the response, not strictly, because a strict one takes few
 * schemas. Nothing is stored (`store: false`): a model's reasoning goes back to it encrypted, with the turn that it led
 * to. `config` can say otherwise.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  Hosted.layer(options, (key) =>
    Responses.make({
      model: options.model,
      apiUrl: options.apiUrl ?? "https://api.openai.com/v1",
      headers: { ...(key === "" ? {} : { authorization: `Bearer ${key}` }) },
      config: options.config ?? {}
    })
  )
