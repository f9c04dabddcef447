/**
 * The reasons why a tool call gave no result. Patterns turn each into an observation or a piece of evidence.
 */
import * as Data from "effect/Data"

/** The tool ran and failed, or died. */
export class ToolFailed extends Data.TaggedError("ToolFailed")<{
  readonly tool: string
  /** The tool's own words on what went wrong. */
  readonly detail: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `${this.tool} failed: ${this.detail}`
  }
}

/**
 * The tool did not finish in time. It has been interrupted, and a late result is dropped. What it was to change may
 * have happened all the same, which the message says unless the call can be repeated.
 */
export class ToolTimeout extends Data.TaggedError("ToolTimeout")<{
  readonly tool: string
  /** The limit, in milliseconds. */
  readonly after: number
  /** True if a second call does no harm because the tool is idempotent or read-only. Absent if that is not known. */
  readonly repeatable?: boolean
  /** The tool's reports until then, if there were any. */
  readonly partial?: string
}> {
  override get message(): string {
    const partial = this.partial === undefined ? "" : ` Partial output until then: ${this.partial}`
    return `${this.tool} timed out after ${this.after} ms. ${this.repeatable === true ? "It can be tried again." : unknownOutcome}${partial}`
  }
}

const unknownOutcome = "The outcome is unknown: the action may have happened. Find out before you repeat it."

/** No tool has this name, or several could be meant. */
export class UnknownTool extends Data.TaggedError("UnknownTool")<{
  /** The name as it was given. */
  readonly tool: string
  /** The names that exist. */
  readonly available: ReadonlyArray<string>
  /** The tools that could be meant, where the name is ambiguous. */
  readonly candidates?: ReadonlyArray<string>
}> {
  override get message(): string {
    const name = JSON.stringify(this.tool.slice(0, 100))
    if (this.candidates !== undefined) {
      return `The tool name ${name} is ambiguous: it could be ${this.candidates.join(" or ")}. Write it exactly.`
    }
    return this.available.length === 0
      ? `There is no tool ${name}: no tools are available.`
      : `There is no tool ${name}. Available tools: ${this.available.join(", ")}.`
  }
}

/** The input does not fit the tool's parameters. The tool did not run. */
export class InvalidToolInput extends Data.TaggedError("InvalidToolInput")<{
  readonly tool: string
  readonly problem: string
  /** The input as it was given. */
  readonly input: string
}> {
  override get message(): string {
    const shown = this.input.length > 200 ? `${this.input.slice(0, 200).toWellFormed()}…` : this.input
    return `${this.tool} was given an input that it cannot take. ${this.problem} Given: ${shown === "" ? "(nothing)" : shown}`
  }
}

/** Everything that a tool call can fail with. */
export type ToolError = ToolFailed | ToolTimeout | UnknownTool | InvalidToolInput

/** Returns whether something is a {@link ToolError}. */
export const isToolError = (error: unknown): error is ToolError =>
  error instanceof ToolFailed ||
  error instanceof ToolTimeout ||
  error instanceof UnknownTool ||
  error instanceof InvalidToolInput
