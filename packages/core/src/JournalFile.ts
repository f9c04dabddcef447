/**
 * A journal sink that appends JSON lines to a file. Needs Node.js.
 */
import { closeSync, openSync, writeFileSync } from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Journal from "./Journal.js"
import type { RunEvent } from "./RunEvent.js"

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
