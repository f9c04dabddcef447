/**
 * A model as a worker: a tool that asks the `Llm`. A plan uses it for what no other tool can look up or compute.
 */
import type * as Llm from "@forethought/core/Llm"
import * as Reask from "@forethought/core/Reask"
import * as Run from "@forethought/core/Run"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import type { ToolContext } from "@forethought/core/Tool"
import * as Tool from "@forethought/core/Tool"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

/** Options of the worker. */
export interface Options {
  /** The tool's name. Default: `LLM`. */
  readonly name?: string
  /** Upper bound of output tokens. Default: the provider's. */
  readonly maxTokens?: number
  /** System text before the input. Default: to answer briefly, and to say so if it does not know. */
  readonly system?: string
}

/**
 * A tool that asks the run's model, in the role `executor` and under the id of the tool call.
 *
 * Gives the visible text of the reply. A reply that was cut off, is empty, was refused or did not come fails the tool:
 * half an answer is not evidence. One model call for each tool call.
 */
export const make = (options: Options = {}): Tool.Tool<Llm.Llm> =>
  Tool.make({
    name: options.name ?? "LLM",
    description:
      "Asks a language model, which knows general things and can read, compare and rewrite text that is given to it. Takes the whole question or instruction, with every text that it is about.",
    readOnly: true,
    execute: (input, context) => ask(options, input, context)
  })

/** {@link make} with its defaults. */
export const tool: Tool.Tool<Llm.Llm> = make()

const defaultSystem =
  "Answer the request below with the result alone, as briefly as it allows. If you do not know, say that you do not know."

const ask = (options: Options, input: string, { call }: ToolContext) =>
  Effect.flatMap(Run.current, (run) =>
    Reask.ask<string, never>(run, {
      role: "executor",
      call,
      messages: [
        { role: "system", content: options.system ?? defaultSystem },
        { role: "user", content: input }
      ],
      ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
      // A plan counts on one model call for each of its steps.
      reask: Reask.never,
      read: (reply) => Either.right(ReplyText.visible(reply))
    })
  )
