/**
 * Codecs of Plan-and-Solve.
 *
 * @internal
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Schema from "effect/Schema"

const { failure, llmError, parseError, truncatedReply } = ErrorCodec
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

// Without a field that must be there it would take the progress of any other pattern for its own.
const solveProgress = Schema.Struct({ reasoning: optional(Schema.String) }).annotations({
  parseOptions: { onExcessProperty: "error" }
})

/** The answer of a format's type, such as {@link NumberAnswer}. */
export const Answered = <A, I>(answer: Schema.Schema<A, I>) =>
  Schema.Struct({ _tag: Schema.Literal("Answered"), answer, text: Schema.String, reasoning: Schema.String })
/** The answer of `AnswerFormat.number`. Those of dates, options and texts are strings. */
export const NumberAnswer = Schema.Struct({ value: Schema.Finite, unit: optional(Schema.String) })
export const Progress = solveProgress
export const Error = Schema.Union(
  failure(parseError, solveProgress),
  failure(truncatedReply, solveProgress),
  failure(llmError, solveProgress)
)

export const codecs = { result: Answered(Schema.Union(NumberAnswer, Schema.String)), error: Error }
