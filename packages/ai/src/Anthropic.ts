/**
 * Anthropic's API (`/v1/messages`), through `@effect/ai-anthropic`, which must be installed beside this package.
 */
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { Llm, Request } from "@forethought/core/Llm"
import * as Layer from "effect/Layer"
import { asArray, asObject } from "./internal/json.js"
import * as Provider from "./internal/provider.js"
import type * as Structured from "./internal/structured.js"
import { objectRoot } from "./internal/structured.js"
import * as LanguageModel from "./LanguageModel.js"

export interface Options extends Provider.Options {
  /** Sent with every request; what a request itself asks for wins. */
  readonly config?: Omit<AnthropicLanguageModel.Config.Service, "model"> | undefined
}

/**
 * An `Llm` over Anthropic. Errors and retries are those of `LanguageModel.layer`.
 *
 * Anthropic wants a token limit: where neither the request nor `config` gives one it is 4096.
 * `format` becomes a tool that the model has to call, whose input is the reply: it comes back as text.
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
    Layer.provide(AnthropicClient.layer(Provider.client(options, forcedTool)))
  )

const forcedTool: Structured.Dialect = {
  write: (body, { name, schema }) => {
    const root = objectRoot(schema)
    if (root === undefined) return undefined
    const tool = { name, description: "Takes the reply, in the form that was asked for.", input_schema: root }
    return { ...body, tools: [tool], tool_choice: { type: "tool", name } }
  },
  read: (body, { name }) => {
    const content = asArray(body["content"]).map((value) => {
      const block = asObject(value)
      return block?.["type"] === "tool_use" && block["name"] === name
        ? { type: "text", text: JSON.stringify(block["input"]), citations: null }
        : value
    })
    return { ...body, content, stop_reason: body["stop_reason"] === "tool_use" ? "end_turn" : body["stop_reason"] }
  },
  words: ["tool_choice", "tool choice", "tools", "forced tool", "tool use", "input_schema", "thinking"]
}

const overrides = ({ maxTokens, stop, temperature }: Request): AnthropicLanguageModel.Config.Service => {
  // Anthropic refuses a stop sequence of white space alone; the text is cut at it all the same.
  const sequences = (stop ?? []).filter((sequence) => sequence.trim() !== "")
  return {
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(sequences.length === 0 ? {} : { stop_sequences: sequences })
  }
}
