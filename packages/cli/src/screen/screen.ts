/**
 * Writes progress: permanent lines, and on a terminal a region below them that is drawn anew.
 */
import * as Effect from "effect/Effect"
import { defaultColumns } from "./text.js"

/** A stream as the screen needs it: standard error, or a test's stand-in. */
export interface Output {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/** The meaning of a part of a line. Colours are shown only if the terminal wants them. */
export type Style = "plain" | "dim" | "good" | "bad" | "warn" | "strong"

export interface Screen {
  readonly isLive: boolean
  /** Columns of a line; unbounded where the output is not a terminal. */
  readonly columns: number
  /** Lines that the live region may have. */
  readonly rows: number
  readonly style: (style: Style, text: string) => string
  /** Writes lines that stay. They must be printable, and may hold styles. */
  readonly print: (...lines: ReadonlyArray<string>) => void
  /**
   * Draws `lines` as the live region, in place of what stood there. Each must fit into `columns`, and all into `rows`:
   * the region is cleared by its number of lines. Nothing where the screen is not live.
   */
  readonly draw: (lines: ReadonlyArray<string>) => void
  /** Takes the live region away while a person is asked something; what is printed meanwhile comes afterwards. */
  readonly during: <A, E>(asking: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

const codes: { readonly [style in Style]: string } = {
  plain: "",
  dim: "\u001b[2m",
  good: "\u001b[32m",
  bad: "\u001b[31m",
  warn: "\u001b[33m",
  strong: "\u001b[1m"
}

/** A screen on `output`. `NO_COLOR` and `TERM=dumb` are honoured. */
export const make = (output: Output, env: { readonly [name: string]: string | undefined }): Screen => {
  const isTerminal = output.isTTY === true && env["TERM"] !== "dumb"
  const noColor = env["NO_COLOR"]
  const hasColor = isTerminal && (noColor === undefined || noColor === "")
  let drawn = 0
  // In one write with what follows: between two, a terminal would show a gap.
  const cleared = () => (drawn > 0 ? `\u001b[${drawn}A\u001b[0J` : "")
  let region: ReadonlyArray<string> = []
  // A terminal that does not know its width says 0.
  const columns = () => Math.max(20, (output.columns || defaultColumns) - 1)
  let held: Array<string> | undefined
  const write = (lines: ReadonlyArray<string>) => {
    if (held !== undefined) {
      held.push(...lines)
      return
    }
    const text = [...lines, ...region].map((line) => `${line}\n`).join("")
    const before = cleared()
    drawn = region.length
    if (before + text !== "") output.write(before + text)
  }
  return {
    isLive: isTerminal,
    get columns() {
      return isTerminal ? columns() : Number.MAX_SAFE_INTEGER
    },
    get rows() {
      return Math.max(4, (output.rows || 24) - 2)
    },
    style: (style, text) => (hasColor && style !== "plain" ? `${codes[style]}${text}\u001b[0m` : text),
    print: (...lines) => write(lines),
    draw: (lines) => {
      if (!isTerminal) return
      region = lines
      write([])
    },
    during: (asking) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const before = region
          region = []
          write([])
          held = []
          return before
        }),
        () => asking,
        (before) =>
          Effect.sync(() => {
            const meanwhile = held ?? []
            held = undefined
            if (region.length === 0) region = before
            write(meanwhile)
          })
      )
  }
}
