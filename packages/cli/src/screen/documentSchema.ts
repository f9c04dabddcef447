/**
 * The JSON Schemas of what the program prints: the document of `--json`, and a line of `--events`. Made from the codecs
 * of results, errors and events, and written to the folder `schema` by `schema.mjs`; a run does not load this.
 */
import * as ErrorCodec from "@forethought/core/ErrorCodec"
import * as Event from "@forethought/core/RunEventSchema"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import { patterns } from "../config/patterns.js"
import type { Told } from "./findings.js"

type Json = { readonly [key: string]: unknown }

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const outcome = Schema.Literal("ok", "error", "timeout")

const Calls = Schema.Array(
  Schema.Struct({
    call: Schema.String,
    tool: Schema.String,
    input: Schema.String,
    outcome: optional(outcome),
    text: optional(Schema.String)
  })
)

/** The work of an interrupted run, as its events tell it. */
const ToldSchema = Schema.Struct({
  plan: optional(Schema.Array(Event.PlannedStep)),
  evidence: Schema.Array(Event.Evidence),
  pastSteps: optional(Schema.Array(Event.PastStep)),
  remainingPlan: optional(Schema.Array(Schema.String)),
  reasoning: optional(Schema.String),
  tasks: optional(
    Schema.Array(
      Schema.Struct({
        call: Schema.String,
        task: Schema.String,
        depth: Schema.Finite,
        status: Schema.Literal("running", "completed", "failed"),
        detail: optional(Schema.String)
      })
    )
  ),
  calls: optional(Calls)
}).annotations({ identifier: "Told" }) satisfies Schema.Schema<Told, Told>

/** Each pattern of the runner: its result and its errors. */
const codecsOf = async () =>
  Promise.all(
    patterns.map(async (pattern) => {
      const codecs = await (await pattern.load()).codecs?.()
      if (codecs === undefined) throw new Error(`The pattern ${pattern.name} has no codecs.`)
      return { name: pattern.name, result: codecs.result, error: codecs.error }
    })
  )

type Coded = Awaited<ReturnType<typeof codecsOf>>

/** Schemas of the result document and of an event, as plain JSON. */
export const schemas = async (): Promise<{ readonly result: Json; readonly event: Json }> => ({
  result: resultSchema(await codecsOf()),
  event: {
    ...dialect("event", "One line of the file that --events writes."),
    ...withoutDialect(json(Event.RunEvent))
  }
})

const resultSchema = (coded: Coded): Json => {
  // One schema of all parts, so that what they share is defined once.
  const parts = Schema.Struct({
    ...Object.fromEntries(
      coded.flatMap(({ error, name, result }) => [
        [`${name} result`, Schema.encodedBoundSchema(result)],
        [`${name} error`, Schema.encodedBoundSchema(error)]
      ])
    ),
    told: ToldSchema,
    calls: Calls,
    llmError: Schema.encodedBoundSchema(ErrorCodec.LlmError)
  })
  const made = json(parts)
  const part = (name: string): Json => asJson(asJson(made["properties"])[name])
  const about = (names: ReadonlyArray<string>): Json => ({
    pattern: { enum: names },
    question: { type: "string" },
    model: { type: "string" }
  })
  const variants = coded.flatMap(({ name }): ReadonlyArray<Json> => {
    const answered = object({
      status: { const: "answered" },
      ...about([name]),
      answer: { type: "string" },
      result: part(`${name} result`)
    })
    const failed = membersOf(part(`${name} error`)).map((error) => {
      const { data, progress } = documentError(error)
      return object(
        {
          status: { const: "failed" },
          ...about([name]),
          error: data,
          progress: progress ?? part("told"),
          calls: part("calls")
        },
        ["calls"]
      )
    })
    return [answered, ...failed]
  })
  const text = { type: "string" }
  const interrupted = object({
    status: { const: "interrupted" },
    ...about(coded.map(({ name }) => name)),
    error: object({ tag: { const: "Interrupted" }, message: text }),
    progress: part("told")
  })
  // A run that could not start: a wrong flag, a file that cannot be read.
  const notStarted = object({ status: { const: "failed" }, error: object({ tag: text, message: text }) })
  return {
    ...dialect("result", "What --json prints: one document for each run."),
    anyOf: [...variants, interrupted, notStarted],
    $defs: made["$defs"]
  }
}

/** An error as the document has it: `tag` in place of `_tag`, and its progress beside it. */
const documentError = (error: Json): { readonly data: Json; readonly progress: Json | undefined } => {
  const { _tag: tag, progress, ...fields } = asJson(error["properties"])
  const required: unknown = error["required"]
  const names = Array.isArray(required) ? required.map(String) : []
  return {
    data: {
      type: "object",
      required: ["tag", ...names.filter((name) => name !== "_tag" && name !== "progress")],
      properties: { tag, ...fields },
      additionalProperties: false
    },
    progress: progress === undefined ? undefined : asJson(progress)
  }
}

const object = (properties: Json, optional: ReadonlyArray<string> = []): Json => ({
  type: "object",
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
  additionalProperties: false
})

const membersOf = (schema: Json): ReadonlyArray<Json> =>
  Array.isArray(schema["anyOf"]) ? schema["anyOf"].map(asJson) : [schema]

const json = <A, I>(schema: Schema.Schema<A, I>): Json => asJson(JSONSchema.make(schema))

const asJson = (value: unknown): Json =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {}

const dialect = (name: string, description: string): Json => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: `forethought ${name}`,
  description
})

const withoutDialect = ({ $schema: _, description: __, ...rest }: Json): Json => rest
