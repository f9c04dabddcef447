/**
 * Events in a file, one line of JSON each: a journal sink that writes them, and a reader. Needs Node.js.
 */
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Journal from "../Journal.js"
import type { RunEvent } from "../RunEvent.js"

/** The file cannot be opened for writing. */
export class JournalFileError extends Data.TaggedError("JournalFileError")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The event file ${this.path} cannot be written: ${why}`
  }
}

/** The file cannot be read as events of this version. */
export class UnreadableEvents extends Data.TaggedError("UnreadableEvents")<{
  readonly path: string
  /** Says in a sentence what is wrong. */
  readonly problem: string
  /** The line that it is about, 1 for the first. */
  readonly line?: number
}> {
  override get message(): string {
    return `The event file ${this.path} cannot be read${this.line === undefined ? "" : `, line ${this.line}`}: ${this.problem}`
  }
}

/** The content of an event file. */
export interface Events {
  readonly events: ReadonlyArray<RunEvent>
  /** Lines with a kind of event that this version does not know, and a last line that was cut off. */
  readonly skipped: ReadonlyArray<{ readonly line: number; readonly text: string }>
}

/**
 * Opens a file for one JSON line an event. Every line is written before the run goes on, so that what a crash leaves
 * behind is complete. The file is closed with the scope; what a run tells later is not written, which a warning says.
 *
 * @param options.append adds to an existing file in place of starting it anew. Default: false.
 */
export const make = (
  path: string,
  options: { readonly append?: boolean } = {}
): Effect.Effect<Journal.Service, JournalFileError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.try({
        try: () => ({ number: openSync(path, options.append === true ? "a" : "w"), isOpen: true }),
        catch: (cause) => new JournalFileError({ path, cause })
      }),
      (file) =>
        Effect.sync(() => {
          file.isOpen = false
          closeSync(file.number)
        })
    ),
    (file) => {
      const write = (event: RunEvent): void => {
        // Another file may have the number by now.
        if (!file.isOpen) throw new Error(`The event file ${path} is closed.`)
        writeFileSync(file.number, `${JSON.stringify(event)}\n`)
      }
      return { unsafeRecord: write, record: (event) => Effect.sync(() => write(event)) }
    }
  )

/** The file as the only sink, see {@link make}. */
export const layer = (
  path: string,
  options: { readonly append?: boolean } = {}
): Layer.Layer<never, JournalFileError> => Layer.scoped(Journal.Journal, make(path, options))

/**
 * Reads the events of schema 2 from a file. Fails with {@link UnreadableEvents} if there is no such file, if it
 * holds anything but events, and where another version of the schema wrote it.
 */
export const read = (path: string): Effect.Effect<Events, UnreadableEvents> =>
  Effect.gen(function* () {
    const text = yield* Effect.try({
      try: () => readFileSync(path, "utf8"),
      catch: (cause) => new UnreadableEvents({ path, problem: cause instanceof Error ? cause.message : String(cause) })
    })
    const [Schema, Events] = yield* Effect.promise(() =>
      Promise.all([import("effect/Schema"), import("../RunEventSchema.js")])
    )
    const decode = Schema.decodeUnknownEither(Events.RunEvent)
    const known = new Set<string>(Events.RunEvent.members.map(({ fields }) => fields._tag.literals[0]))
    const events: Array<RunEvent> = []
    const skipped: Array<Events["skipped"][number]> = []
    const lines = text.split("\n")
    for (const [index, written] of lines.entries()) {
      if (written.trim() === "") continue
      const line = index + 1
      const fail = (problem: string) => Effect.fail(new UnreadableEvents({ path, line, problem }))
      const event = Option.getOrUndefined(parsed(written))
      const tag = event?.["_tag"]
      if (typeof tag !== "string") {
        if (event !== undefined || line < lines.length) return yield* fail("it is not an event.")
        skipped.push({ line, text: written })
      } else if (!known.has(tag)) {
        skipped.push({ line, text: written })
      } else {
        const { run, schema = Events.version } = event ?? {}
        if (run === undefined) {
          return yield* fail(
            "it has no run: an earlier version wrote it, whose events tell less. Record the run again with this one."
          )
        }
        if (schema !== Events.version) {
          return yield* fail(`it is of schema ${JSON.stringify(schema)}, and this version reads ${Events.version}.`)
        }
        const decoded = decode(event)
        if (Either.isLeft(decoded)) return yield* fail(decoded.left.message)
        events.push(decoded.right)
      }
    }
    return { events, skipped }
  })

/** The object that a line holds. */
const parsed = (line: string): Option.Option<Readonly<Record<string, unknown>>> => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? Option.some({ ...value }) : Option.none()
  } catch {
    return Option.none()
  }
}
