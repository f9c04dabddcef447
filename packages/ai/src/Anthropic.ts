/**
 * Anthropic's API (`/v1/messages`).
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm } from "@forethought/core/Llm"
import type * as Layer from "effect/Layer"
import * as Hosted from "./internal/hosted.js"
import * as Messages from "./internal/messages.js"

export interface Options extends Hosted.Options {}

/**
 * An `Llm` over Anthropic. Errors, retries and what a model turns out not to take are those of `OpenAiCompatible`.
 *
 * Anthropic wants a token limit: where neither the request nor `config` gives one it is 4096. `format` becomes a tool
 * that the model has to call, whose input is the reply: it comes back as text. Signed thinking goes back unchanged.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  Hosted.layer(options, (key) =>
    Messages.make({
      model: options.model,
      apiUrl: options.apiUrl ?? "https://api.anthropic.com",
      headers: { ...(key === "" ? {} : { "x-api-key": key }), "anthropic-version": "2023-06-01" },
      config: options.config ?? {}
    })
  )
