/** The streamed form of a chat completion: chunks put together into the body that a whole response would have had. */
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type { LlmError, Request } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Watcher } from "../Delta.js"
import { brokenPart } from "./httpFailure.js"
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from "./json.js"
import * as ToolArguments from "./toolArguments.js"
import { tell } from "./watcher.js"

interface Call {
  readonly index: number | undefined
  id: string
  name: string
  readonly arguments: Array<string>
}

/** What one chunk adds for a reader. */
interface Piece {
  readonly text: string
  readonly reasoning: string
}

/** The payload of a line of server-sent events, or `undefined` for comments, other fields and blank lines. */
const payload = (line: string): string | undefined => (line.startsWith("data:") ? line.slice(5).trim() : undefined)

/** Collects the chunks of one reply. */
class Collector {
  private readonly text: Array<string> = []
  private readonly reasoning: Array<string> = []
  private readonly refusal: Array<string> = []
  private readonly calls: Array<Call> = []
  private finishReason: string | undefined
  private usage: unknown
  private model: unknown

  /** Adds the chunk of a payload; `undefined` where it is no JSON object. */
  add(data: string): (Piece & { readonly chunk: JsonObject }) | undefined {
    const chunk = asObject(parseJson(data))
    if (chunk === undefined) return undefined
    const choice = asObject(asArray(chunk["choices"])[0])
    const delta = asObject(choice?.["delta"])
    this.model ??= chunk["model"]
    this.usage = asObject(chunk["usage"]) ?? this.usage
    this.finishReason = asString(choice?.["finish_reason"]) ?? this.finishReason
    const text = asString(delta?.["content"]) ?? ""
    const reasoning = asString(delta?.["reasoning_content"]) ?? asString(delta?.["reasoning"]) ?? ""
    this.text.push(text)
    this.reasoning.push(reasoning)
    this.refusal.push(asString(delta?.["refusal"]) ?? "")
    for (const call of asArray(delta?.["tool_calls"])) this.addCall(asObject(call) ?? {})
    return { text, reasoning, chunk }
  }

  // A call comes in pieces that share an index; the id comes with the first. Some servers number every call 0, and
  // some not at all: another id is then another call.
  private addCall(piece: JsonObject): void {
    const index = asNumber(piece["index"])
    const id = asString(piece["id"]) ?? ""
    const definition = asObject(piece["function"]) ?? {}
    const open = this.calls.findLast((call) => index === undefined || call.index === index)
    let call = open !== undefined && (id === "" || open.id === "" || id === open.id) ? open : undefined
    if (call === undefined) {
      call = { index, id, name: "", arguments: [] }
      this.calls.push(call)
    }
    if (call.id === "") call.id = id
    call.name += asString(definition["name"]) ?? ""
    call.arguments.push(ToolArguments.toText(definition["arguments"]))
  }

  /** Whether the model came to an end: a stream that stops before that was cut off. */
  get finished(): boolean {
    return this.finishReason !== undefined
  }

  /** The whole response. */
  body(): JsonObject {
    const message = {
      content: this.text.join(""),
      reasoning: this.reasoning.join(""),
      refusal: this.refusal.join(""),
      tool_calls: this.calls.map(({ arguments: pieces, id, name }) => ({
        id,
        function: { name, arguments: pieces.join("") }
      }))
    }
    return { model: this.model, usage: this.usage, choices: [{ message, finish_reason: this.finishReason }] }
  }
}

/** The whole body of a streamed response, or `undefined` where the stream ends early or holds no JSON. */
export const readStream = (
  bytes: Stream.Stream<Uint8Array, HttpClientError>,
  request: Request,
  watcher: Watcher,
  failure: (broken: JsonObject) => LlmError
): Effect.Effect<JsonObject | undefined, HttpClientError | LlmError> => {
  const collector = new Collector()
  return bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filterMap((line) => Option.fromNullable(payload(line))),
    Stream.takeWhile((data) => data !== "[DONE]"),
    Stream.runForEachWhile((data) => {
      const piece = collector.add(data)
      if (piece === undefined) return Effect.succeed(false)
      const broken = brokenPart(piece.chunk)
      if (broken !== undefined) return Effect.fail(failure(broken))
      return Effect.as(tell(watcher, request, piece.text, piece.reasoning), true)
    }),
    Effect.map(() => (collector.finished ? collector.body() : undefined))
  )
}
