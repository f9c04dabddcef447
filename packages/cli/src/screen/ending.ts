/**
 * Prints how a run ended: the answer on standard output, everything else on standard error.
 */
import type { RunError } from "../config/patterns.js"
import { ExitCode, messageOf } from "../errors.js"
import type { Streams } from "../process.js"
import * as Findings from "./findings.js"
import { indent, printable, printableJson } from "./text.js"

/** The ending of a run: with the answer in words and the whole result, with an error, or interrupted. */
export type Ended = {
  readonly findings: Findings.Recorder
  /** Notes for a person besides. */
  readonly notes: ReadonlyArray<string>
} & (
  | { readonly _tag: "Answered"; readonly answer: string; readonly result: unknown }
  | { readonly _tag: "Failed"; readonly error: RunError; readonly code: number }
  | { readonly _tag: "Interrupted" }
)

/** The pattern, the question and the model of a run. */
export interface About {
  readonly pattern: string
  readonly question: string
  readonly model: string
}

/** Prints the ending of a run and gives the exit code. */
export const report = (ended: Ended, about: About, asJson: boolean, streams: Streams): number => {
  if (asJson) streams.out(`${printableJson(document(ended, about))}\n`)
  switch (ended._tag) {
    case "Answered":
      if (!asJson) streams.out(`${printable(ended.answer)}\n`)
      for (const note of ended.notes) streams.err(`${printable(note)}\n`)
      return ExitCode.answered
    case "Failed":
      if (asJson) return ended.code
      streams.err(`\n${headOf(ended.error)}: ${printable(reasonOf(ended.error))}\n`)
      for (const note of ended.notes) streams.err(`${printable(note)}\n`)
      streams.err(gatheredText(ended))
      return ended.code
    case "Interrupted":
      if (!asJson) streams.err(`\nInterrupted.\n${gatheredText(ended)}`)
      return ExitCode.interrupted
  }
}

const headOf = (error: RunError): string =>
  refusalOf(error) === undefined ? `Not answered (${error._tag})` : "Plan refused"

/** Returns why the plan was refused when it was shown. */
const refusalOf = (error: RunError): string | undefined =>
  error._tag === "PlanRefused" && "reason" in error ? String(error.reason) || "no reason was given" : undefined

/** The reason in words; where the pattern wrote an honest ending, that, which holds the reason too. */
const reasonOf = (error: RunError): string =>
  refusalOf(error) ?? ("answer" in error && typeof error.answer === "string" ? error.answer : error.message)

/** Returns what the error carries, and the tool calls beside it; of an interrupted run what its events tell. */
const gatheredText = (ended: Ended): string => {
  const told = ended.findings.told()
  const progress = ended._tag === "Failed" ? ended.error.progress : undefined
  const gathered = progress === undefined ? told : { ...progress, ...callsOf(told) }
  const words = ended._tag === "Failed" ? lastWords(ended.error) : undefined
  const lines = [
    ...Findings.lines(gathered),
    ...(words === undefined || words === gathered.reasoning ? [] : [Findings.entry("The model's last words", words)])
  ]
  return lines.length === 0
    ? "Nothing was gathered until then.\n"
    : `Gathered until then:\n${lines.map((line) => indent(line, 2)).join("\n")}\n`
}

/** Returns what the model had written of a reply that is not used, unless the reason that is shown holds it already. */
const lastWords = (error: RunError): string | undefined => {
  const reason = "reason" in error ? error.reason : undefined
  const words = [textIn(error, "text"), textIn(reason, "text"), textIn(error, "lastText")]
  return words.find((text) => text !== undefined && text.trim() !== "" && !reasonOf(error).includes(text))
}

const textIn = (value: unknown, key: string): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const found: unknown = Reflect.get(value, key)
  return typeof found === "string" ? found : undefined
}

const callsOf = ({ calls }: Findings.Told): Pick<Findings.Told, "calls"> => (calls === undefined ? {} : { calls })

const document = (ended: Ended, about: About): object => {
  switch (ended._tag) {
    case "Answered":
      return { status: "answered", ...about, answer: ended.answer, result: ended.result }
    case "Failed": {
      const told = ended.findings.told()
      return {
        status: "failed",
        ...about,
        error: errorDocument(ended.error),
        ...(ended.error.progress === undefined
          ? { progress: told }
          : { progress: ended.error.progress, ...callsOf(told) })
      }
    }
    case "Interrupted":
      return {
        status: "interrupted",
        ...about,
        error: { tag: "Interrupted", message: "The run was interrupted." },
        progress: ended.findings.told()
      }
  }
}

/** An error that kept a run from starting. */
export const reportError = (error: unknown, asJson: boolean, streams: Streams): number => {
  const tag = error instanceof Error && "_tag" in error && typeof error._tag === "string" ? error._tag : "Error"
  const message = messageOf(error)
  if (asJson) streams.out(`${printableJson({ status: "failed", error: { tag, message } })}\n`)
  else streams.err(`forethought: ${printable(message)}\n`)
  return ExitCode.failed
}

const errorDocument = (error: RunError): object => {
  const {
    _tag: tag,
    cause: _cause,
    message: _message,
    name: _name,
    progress: _progress,
    stack: _stack,
    ...fields
  } = error
  return { tag, message: error.message, ...fields }
}
