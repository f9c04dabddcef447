/**
 * A model that says what a script says, for tests and for demonstrations without a key. It is strict: a call that the
 * script does not expect fails, and so does a reply that nobody asked for. Nothing it says comes from a model.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Llm from "../Llm.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** A defect: the script has no reply for a call. */
export class UnexpectedCall extends Data.TaggedError("UnexpectedCall")<{
  readonly role: Llm.Role
  readonly call: Llm.CallId
  /** Replies that are left, none of which fits. */
  readonly left: number
}> {
  override get message(): string {
    return `The script has no reply for the call ${JSON.stringify(this.call)} of the ${this.role} (${this.left} replies left for others).`
  }
}

/** A defect: the run ended, and replies were left over. */
export class UnusedReplies extends Data.TaggedError("UnusedReplies")<{ readonly left: ReadonlyArray<string> }> {
  override get message(): string {
    return `The run ended before these scripted replies were asked for: ${this.left.join("; ")}.`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The reply of the model: a text, a whole reply, an error, or something made from the request. */
export type Said =
  | string
  | Partial<Llm.Reply>
  | Llm.LlmError
  | ((request: Llm.Request) => string | Partial<Llm.Reply> | Llm.LlmError)

/** A reply for a certain role or call. The first unused entry that fits a call answers it. */
export interface Entry {
  readonly role?: Llm.Role
  readonly call?: Llm.CallId
  /** Time that the model takes. Default: no time. */
  readonly after?: Duration.DurationInput
  readonly says: Said
}

/** A line of a script: an {@link Entry}, or just what is said, for the next call whatever it is. */
export type Line = Said | Entry

/** The scripted model as a test sees it. */
export interface Recorder {
  /** Every request so far, in the order in which they came. */
  readonly requests: Effect.Effect<ReadonlyArray<Llm.Request>>
  /** The text of the messages of every request so far, joined by a blank line: what was sent. */
  readonly prompts: Effect.Effect<ReadonlyArray<string>>
  /** Replies not yet asked for. */
  readonly left: Effect.Effect<ReadonlyArray<string>>
}

/** The recorder of the scripted model in the current test. */
export class ScriptedLlm extends Context.Tag("@forethought/core/testing/ScriptedLlm")<ScriptedLlm, Recorder>() {}

// ---------------------------------------------------------------------------------------------------------------
// constructors and layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * Makes the model and its recorder. A call without a fitting reply dies with {@link UnexpectedCall}, or fails with
 * what `unexpected` makes of it.
 */
export const make = (
  script: ReadonlyArray<Line>,
  unexpected?: (call: UnexpectedCall) => Llm.LlmError
): Llm.Service & Recorder => {
  const entries = script.map(toEntry)
  const used = new Set<Entry>()
  const requests: Array<Llm.Request> = []
  const left = () => entries.filter((entry) => !used.has(entry))
  return {
    requests: Effect.sync(() => [...requests]),
    prompts: Effect.sync(() => requests.map(promptText)),
    left: Effect.sync(() => left().map(describe)),
    complete: (request) =>
      Effect.suspend((): Effect.Effect<Llm.Reply, Llm.LlmError> => {
        requests.push(request)
        const entry = left().find(
          (candidate) =>
            (candidate.role ?? request.role) === request.role && (candidate.call ?? request.call) === request.call
        )
        if (entry === undefined) {
          const error = new UnexpectedCall({ role: request.role, call: request.call, left: left().length })
          return unexpected === undefined ? Effect.die(error) : Effect.fail(unexpected(error))
        }
        used.add(entry)
        const said = typeof entry.says === "function" ? entry.says(request) : entry.says
        const answer =
          typeof said === "string"
            ? Effect.succeed(Llm.reply(said))
            : said instanceof Llm.LlmError
              ? Effect.fail(said)
              : Effect.succeed(Llm.reply(said.text ?? "", said))
        return entry.after === undefined ? answer : Effect.zipRight(Effect.sleep(entry.after), answer)
      })
  }
}

/** The scripted model as a Layer. When its scope closes after a success, replies left over are a defect. */
export const layer = (script: ReadonlyArray<Line>): Layer.Layer<Llm.Llm | ScriptedLlm> =>
  Layer.scopedContext(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => make(script)),
        (model, exit) =>
          Exit.isFailure(exit)
            ? Effect.void
            : Effect.flatMap(model.left, (left) =>
                left.length === 0 ? Effect.void : Effect.die(new UnusedReplies({ left }))
              )
      ),
      (model) => Context.make(Llm.Llm, model).pipe(Context.add(ScriptedLlm, model))
    )
  )

/** The text of a request's messages, joined by a blank line. */
export const promptText = (request: Llm.Request): string =>
  request.messages.map((message) => message.content).join("\n\n")

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const toEntry = (line: Line): Entry => (typeof line === "object" && "says" in line ? line : { says: line })

const describe = (entry: Entry): string => {
  const says = entry.says
  const text =
    typeof says === "string"
      ? JSON.stringify(says.slice(0, 60))
      : says instanceof Llm.LlmError
        ? says.reason._tag
        : typeof says === "function"
          ? "a function"
          : JSON.stringify((says.text ?? "").slice(0, 60))
  return [entry.role, entry.call, text].filter((part) => part !== undefined).join(" ")
}
