/**
 * How a ReAct turn is asked for, read and answered: by native tool calling, or in text.
 *
 * @internal
 */
import type * as Llm from "@forethought/core/Llm"
import * as Reask from "@forethought/core/Reask"
import type { TruncatedReply } from "@forethought/core/ReplyError"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import { fromArguments } from "@forethought/core/Tool"
import type * as Toolbox from "@forethought/core/Toolbox"
import * as Either from "effect/Either"
import { callsInChannel, toolCallMarkup } from "./markup.js"
import { asksInText, readTurn } from "./parse.js"
import * as prompts from "./prompts.js"

/** A tool call as the model asked for it. `input` is left when the arguments cannot be read: it never runs. */
export interface AskedCall {
  readonly id: string
  readonly tool: string
  readonly input: Either.Either<string, Toolbox.InvalidToolInput>
}

/** Why a turn gave neither an answer nor calls, and what the loop ends with when it happens again. */
export interface Unusable {
  readonly _tag: "Unusable"
  readonly text: string
  readonly correction: string
  readonly error: TruncatedReply | Llm.LlmError | string
}

export type Move =
  | { readonly _tag: "Answer"; readonly text: string }
  | { readonly _tag: "Act"; readonly text: string; readonly calls: ReadonlyArray<AskedCall> }
  | Unusable

export interface Observation {
  readonly call: AskedCall
  readonly outcome: "ok" | "error" | "timeout"
  readonly text: string
}

export interface Protocol {
  /** What a request offers besides the messages. */
  readonly offer: Pick<Llm.Request, "tools" | "stop">
  readonly read: (request: Pick<Llm.Request, "call" | "role">, reply: Llm.Reply) => Move
  /** The messages that show the model its own turn and what came of it. */
  readonly answer: (
    reply: Llm.Reply,
    observations: ReadonlyArray<Observation>,
    maxChars: number
  ) => ReadonlyArray<Llm.Message>
  /** The messages that ask for the turn again. */
  readonly correct: (reply: Llm.Reply, move: Unusable) => ReadonlyArray<Llm.Message>
}

// ---------------------------------------------------------------------------------------------------------------
// native tool calling
// ---------------------------------------------------------------------------------------------------------------

export const native = (toolbox: Toolbox.Service, resolve: (name: string) => string | undefined): Protocol => {
  const infos = new Map(toolbox.tools.map((info) => [info.name, info]))
  const isTool = (name: string) => resolve(name) !== undefined
  const tools = toolbox.tools.map(({ description, name, parameters }) => ({ name, description, parameters }))
  return {
    offer: tools.length === 0 ? {} : { tools },
    read: (request, reply) => {
      const text = ReplyText.visible(reply.text)
      const asText: Unusable = {
        _tag: "Unusable",
        text,
        correction: `You wrote a tool call as text, and it was not carried out. ${prompts.nativeFormat}`,
        error: "The model writes its tool calls as text. Use the text protocol, or a server that reads them."
      }
      const unusable = flawed(request, reply, text)
      // A call in a channel of its own is not said, so the reply only looks empty.
      if (unusable?.correction === prompts.empty && callsInChannel(reply.text)) return asText
      if (unusable !== undefined) return unusable
      if (reply.finishReason === "tool-calls" && reply.toolCalls.length === 0 && tools.length > 0) {
        return {
          _tag: "Unusable",
          text,
          correction: `You announced a tool call, but none arrived. ${prompts.nativeFormat}`,
          error: "The model announced tool calls that did not arrive."
        }
      }
      if (reply.toolCalls.length > 0) {
        const calls = reply.toolCalls.map((call): AskedCall => {
          const name = resolve(call.name)
          const info = name === undefined ? undefined : infos.get(name)
          return {
            id: call.id,
            tool: name ?? call.name,
            input: info === undefined ? Either.right(call.arguments) : fromArguments(info, call.arguments)
          }
        })
        return { _tag: "Act", text, calls }
      }
      if (toolCallMarkup(reply.text, isTool) || asksInText(text, isTool)) return asText
      return { _tag: "Answer", text }
    },
    answer: (reply, observations, maxChars) => [
      assistant(reply),
      ...observations.map(
        (observation): Llm.Message => ({
          role: "tool",
          toolCallId: observation.call.id,
          name: observation.call.tool,
          content: shown(observation, maxChars)
        })
      )
    ],
    correct: (reply, move) =>
      reply.toolCalls.length === 0
        ? [Reask.said(reply), { role: "user", content: move.correction }]
        : [
            assistant(reply),
            ...reply.toolCalls.map(
              (call): Llm.Message => ({
                role: "tool",
                toolCallId: call.id,
                name: call.name,
                content: move.correction
              })
            )
          ]
  }
}

/** The model's own turn. Arguments that are not JSON would be refused by a server that checks the history. */
const assistant = (reply: Llm.Reply): Llm.Message => ({
  role: "assistant",
  content: ReplyText.visible(reply.text),
  toolCalls: reply.toolCalls.map((call) => (isJson(call.arguments) ? call : { ...call, arguments: "{}" })),
  ...(reply.providerState === undefined ? {} : { providerState: reply.providerState })
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// ---------------------------------------------------------------------------------------------------------------
// text
// ---------------------------------------------------------------------------------------------------------------

export const text = (resolve: (name: string) => string | undefined): Protocol => ({
  offer: { stop: ["\nObservation:"] },
  read: (request, reply) => {
    const visible = ReplyText.visible(reply.text)
    const unusable = flawed(request, reply, visible)
    if (unusable !== undefined) return unusable
    const turn = readTurn(reply.text, (name) => resolve(name) !== undefined)
    if (Either.isLeft(turn)) {
      return {
        _tag: "Unusable",
        text: visible,
        correction: `${turn.left.message}\n${prompts.textFormat}`,
        error: turn.left.message
      }
    }
    switch (turn.right._tag) {
      case "Answer":
        return { _tag: "Answer", text: turn.right.text }
      case "NoTool":
        return {
          _tag: "Unusable",
          text: visible,
          correction: prompts.noTool,
          error: "The model asked for no tool and gave no final answer."
        }
      case "Action": {
        const { input, thought, tool } = turn.right
        return { _tag: "Act", text: thought, calls: [{ id: "1", tool, input: Either.right(input) }] }
      }
    }
  },
  answer: (_reply, observations, maxChars) =>
    observations.flatMap((observation): ReadonlyArray<Llm.Message> => {
      const input = Either.getOrElse(observation.call.input, (error) => error.input)
      return [
        // Only the action that was carried out: what the model invented behind it must not come back.
        { role: "assistant", content: `Action: ${observation.call.tool}\nAction Input: ${input}` },
        { role: "user", content: `Observation: ${shown(observation, maxChars)}` }
      ]
    }),
  correct: (reply, move) => [Reask.said(reply), { role: "user", content: move.correction }]
})

// ---------------------------------------------------------------------------------------------------------------
// both
// ---------------------------------------------------------------------------------------------------------------

/** A reply that is of no use whatever it says. */
const flawed = (request: Pick<Llm.Request, "call" | "role">, reply: Llm.Reply, text: string): Unusable | undefined => {
  const error = Reask.flaw(request, reply, text)
  if (error === undefined) return undefined
  if (error._tag === "TruncatedReply") return { _tag: "Unusable", text, correction: prompts.cutOff, error }
  const correction = Reask.heldMalformedCall(error) ? prompts.malformedCall : prompts.empty
  return { _tag: "Unusable", text, correction, error }
}

const shown = (observation: Observation, maxChars: number): string => {
  const status = observation.outcome === "ok" ? "" : `The call did not succeed (${observation.outcome}).\n`
  return `${status}${ReplyText.fence("observation", ReplyText.cut(observation.text, maxChars))}`
}
