/**
 * A model whose replies stand in a JSON file. Nothing it says comes from a model, and the screen says so.
 *
 * The file holds an array of replies, or an object with the array as `replies`. Each reply is a string, or an object:
 * `text` (a string, or an array of lines), `role` and `call` (which call it answers; the first unused one that fits is
 * taken), `after` (how long the reply takes, `"300 ms"`), `toolCalls` (`name`, `arguments`, `id`) and `finishReason`.
 * In a text or in arguments, `{{#E1}}` is the evidence that the request holds for #E1, `{{observation 2}}` the second
 * tool result of a ReAct loop, and `{{result 2}}` the result of the second step; `grouped` behind it writes a number
 * with separators of thousands. So a scripted answer can only say what the tools found.
 */
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { isObject } from "@forethought/core/Json"
import * as Llm from "@forethought/core/Llm"
import { ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readDuration } from "../config/options.js"
import { reading } from "../config/reading.js"
import { wrong } from "../config/sources.js"
import { messageOf, UsageError } from "../errors.js"
import type { ModelNotUsable } from "./ModelSpec.js"

/** A model that can be asked. */
export interface LoadedModel {
  readonly layer: Layer.Layer<Llm.Llm, ModelNotUsable>
  /** Returns what a person should know after a run that answered, such as replies that nobody asked for. */
  readonly leftOver?: () => ReadonlyArray<string>
}

/** Reads the file and makes the model. A call that has no reply fails with an `LlmError` that says so. */
export const load = (file: string, folder: string): Effect.Effect<LoadedModel, UsageError> =>
  Effect.gen(function* () {
    const source = `The file of scripted replies ${file}`
    const text = yield* Effect.tryPromise({
      try: () => readFile(resolve(folder, file), "utf8"),
      catch: (error) => new UsageError(`${source} cannot be read: ${messageOf(error)}`)
    })
    const data = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: (error) => new UsageError(`${source} is not valid JSON: ${messageOf(error)}`)
    })
    return yield* fromData(data, source)
  })

/** Makes the model of a script; `source` begins the messages about it. */
export const fromData = (data: unknown, source: string): Effect.Effect<LoadedModel, UsageError> =>
  Effect.gen(function* () {
    const replies = Array.isArray(data) ? data : isObject(data) ? data["replies"] : undefined
    if (!Array.isArray(replies)) {
      return yield* wrong(`${source} must hold an array of replies, or an object with the array "replies".`)
    }
    const entries = yield* Effect.forEach(replies, (reply: unknown, index) =>
      readEntry(reply, `${source}: reply ${index + 1}`)
    )
    const model = ScriptedLlm.make(
      entries,
      ({ call, left, role }) =>
        new Llm.LlmError({
          reason: Llm.Reason.BadRequest(),
          role,
          call,
          detail: `no scripted reply fits the call ${call} of the ${role}: of ${entries.length} in the script, ${left} not used yet`
        })
    )
    const layer = Layer.succeed(Llm.Llm, { complete: model.complete, model: () => "scripted" })
    return { layer, leftOver: () => Effect.runSync(model.left) }
  })

const known = ["text", "role", "call", "after", "toolCalls", "finishReason"]

const finishReasons: ReadonlyArray<Llm.FinishReason> = ["stop", "length", "tool-calls", "content-filter", "other"]

const readEntry = (reply: unknown, where: string): Effect.Effect<ScriptedLlm.Entry, UsageError> =>
  Effect.gen(function* () {
    if (typeof reply === "string") return { says: says(reply, {}) }
    if (!isObject(reply)) return yield* wrong(`${where} must be a string or an object with "text".`)
    const odd = Object.keys(reply).find((key) => !known.includes(key))
    if (odd !== undefined) {
      return yield* wrong(
        `${where} has the key ${JSON.stringify(odd)}, which is not known. Keys are ${known.join(", ")}.`
      )
    }
    const { after, call, finishReason, role, text, toolCalls } = reply
    const lines = Array.isArray(text) ? text : [text ?? ""]
    if (!lines.every((line) => typeof line === "string")) {
      return yield* wrong(`${where}: "text" must be a string or an array of lines.`)
    }
    const knownRole = Llm.roles.find((name) => name === role)
    if (role !== undefined && knownRole === undefined) {
      return yield* wrong(`${where}: "role" must be one of ${Llm.roles.join(", ")}.`)
    }
    const knownReason = finishReasons.find((name) => name === finishReason)
    if (finishReason !== undefined && knownReason === undefined) {
      return yield* wrong(`${where}: "finishReason" must be one of ${finishReasons.join(", ")}.`)
    }
    if (call !== undefined && typeof call !== "string") return yield* wrong(`${where}: "call" must be a string.`)
    return {
      ...(knownRole === undefined ? {} : { role: knownRole }),
      ...(call === undefined ? {} : { call }),
      ...(after === undefined ? {} : { after: yield* reading(() => readDuration(String(after), `${where}: "after"`)) }),
      says: says(lines.join("\n"), {
        ...(toolCalls === undefined ? {} : { toolCalls: yield* readToolCalls(toolCalls, where) }),
        ...(knownReason === undefined ? {} : { finishReason: knownReason })
      })
    }
  })

const readToolCalls = (toolCalls: unknown, where: string): Effect.Effect<ReadonlyArray<Llm.ToolCall>, UsageError> =>
  Array.isArray(toolCalls)
    ? Effect.forEach(toolCalls, (call: unknown, index) => {
        if (!isObject(call) || typeof call["name"] !== "string") {
          return wrong(`${where}: tool call ${index + 1} needs a "name".`)
        }
        const given = call["arguments"] ?? {}
        return Effect.succeed({
          id: typeof call["id"] === "string" ? call["id"] : `call-${index + 1}`,
          name: call["name"],
          arguments: typeof given === "string" ? given : JSON.stringify(given)
        })
      })
    : wrong(`${where}: "toolCalls" must be an array.`)

const says = (text: string, rest: Partial<Llm.Reply>): ScriptedLlm.Said => {
  const calls = rest.toolCalls ?? []
  if (![text, ...calls.map((call) => call.arguments)].some((part) => part.includes("{{"))) return { ...rest, text }
  return (request) => {
    const prompt = ScriptedLlm.promptText(request)
    const toolCalls = calls.map((call) => ({ ...call, arguments: fill(call.arguments, prompt, escaped) }))
    return { ...rest, ...(calls.length === 0 ? {} : { toolCalls }), text: fill(text, prompt, asIs) }
  }
}

const asIs = (text: string): string => text

/** Inside a string of JSON. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Puts what was found in place of the holes, once; what is not in the prompt is said to be missing. */
const fill = (text: string, prompt: string, write: (text: string) => string): string => {
  let out = ""
  let from = 0
  for (;;) {
    const open = text.indexOf("{{", from)
    const close = open < 0 ? -1 : text.indexOf("}}", open)
    if (close < 0) return out + text.slice(from)
    const words = text
      .slice(open + 2, close)
      .trim()
      .split(" ")
    const isGrouped = words.at(-1) === "grouped"
    const name = words.slice(0, isGrouped ? -1 : undefined).join(" ")
    out += text.slice(from, open) + write(shown(name, found(prompt, name), isGrouped))
    from = close + 2
  }
}

const shown = (name: string, text: string | undefined, isGrouped: boolean): string => {
  if (text === undefined) return `(no evidence for ${name})`
  return isGrouped && /^\d+$/.test(text) ? text.replaceAll(/\B(?=(\d{3})+$)/g, ",") : text
}

const found = (prompt: string, name: string): string | undefined => {
  const [kind = "", number = "1"] = name.split(" ")
  return kind.startsWith("#") ? evidenceIn(prompt, name) : fencedIn(prompt, kind, Number(number))
}

/** The text in the fence below `Evidence for #E1`; undefined where there is none or its call did not succeed. */
const evidenceIn = (prompt: string, variable: string): string | undefined => {
  const lines = prompt.split("\n")
  return fenceAt(lines, lines.indexOf(`Evidence for ${variable}:`) + 1)
}

/** The text in the `number`-th fence marked `kind`; undefined where there is none or its call did not succeed. */
const fencedIn = (prompt: string, kind: string, number: number): string | undefined => {
  const lines = prompt.split("\n")
  let left = number
  for (const [index, line] of lines.entries()) {
    const isOpening = line.endsWith(`\`${kind}`) && /^(Observation: )?`{3,}/.test(line)
    if (!isOpening || --left > 0) continue
    return lines[index - 1]?.includes("The call did not succeed") === true ? undefined : fenceAt(lines, index)
  }
  return undefined
}

const fenceAt = (lines: ReadonlyArray<string>, start: number): string | undefined => {
  const fence = /`{3,}/.exec(lines[start] ?? "")?.[0]
  const end = fence === undefined ? -1 : lines.indexOf(fence, start + 1)
  return start < 1 || end < 0 ? undefined : lines.slice(start + 1, end).join("\n")
}
