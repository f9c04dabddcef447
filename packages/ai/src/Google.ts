/**
 * Google's Generative Language API (Gemini).
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm } from "@forethought/core/Llm"
import type * as Layer from "effect/Layer"
import * as Gemini from "./internal/gemini.js"
import * as Hosted from "./internal/hosted.js"

export interface Options extends Hosted.Options {}

/**
 * An `Llm` over Google. Errors, retries and what a model turns out not to take are those of `OpenAiCompatible`.
 *
 * A tool's JSON Schema is written in the part of OpenAPI that Gemini takes. `format` is sent as the response's JSON
 * Schema. Thought signatures go back part by part, as they came.
 */
export const layer = (options: Options): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  Hosted.layer(options, (key) =>
    Gemini.make({
      model: options.model,
      apiUrl: options.apiUrl ?? "https://generativelanguage.googleapis.com",
      headers: { ...(key === "" ? {} : { "x-goog-api-key": key }) },
      config: options.config ?? {}
    })
  )
