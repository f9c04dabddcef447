/**
 * A tool: a name, what it does, what it takes, and how it is done. A `Toolbox` holds tools and calls them.
 */

import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as JsonText from "./internal/reply/JsonText.js"
import type { JsonSchema } from "./Json.js"
import { isObject } from "./Json.js"
import type { CallId, ToolSpec } from "./Llm.js"
import * as Options from "./Options.js"
import * as SchemaPlace from "./SchemaPlace.js"
import { InvalidToolInput } from "./ToolError.js"
import type { Outcome } from "./ToolOutcome.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** The call that a tool runs in, as the tool sees it. */
export interface ToolContext {
  /** The stable id of this call, the same on every replay: use it as an idempotency key. */
  readonly call: CallId
  /** Aborted when the call times out (reason `TimeoutError`) or its run is interrupted (reason `AbortError`). */
  readonly signal: AbortSignal
  /** Reports partial output; it is part of the error if the call times out, and ignored once the call has ended. */
  readonly progress: (partial: string) => void
  /**
   * Says what the result leaves out, such as `12,000 of 2,000,000 characters shown`, for the journal alone. The last
   * word holds.
   */
  readonly leftOut: (what: string) => void
}

/** The description of a tool, for a model, a person or a layer. */
export interface ToolInfo extends ToolSpec {
  /** `text`: one string, offered natively as the parameter `input`. `object`: an object that fits `parameters`. */
  readonly takes: "text" | "object"
  /** Set to true if a second call with the same input does no harm. Default: false. */
  readonly idempotent: boolean
  /**
   * `true`: a call changes nothing outside. `false`: the tool says that it does. Absent: it does not say, and may. Only
   * `true` spares it the care that is taken with what changes things, such as an approval.
   */
  readonly readOnly?: boolean
  /** Longest time a call may take, in milliseconds. Default: no limit of its own. */
  readonly timeout?: number
}

/** A tool whose work needs the services `R`. */
export interface Tool<R = never> extends ToolInfo {
  /** Decodes the input; on success gives the work, not yet started. */
  readonly prepare: (input: string) => Either.Either<(context: ToolContext) => Outcome<R>, InvalidToolInput>
}

/**
 * A Schema whose encoded form is an object: what a model can be asked for. A Schema of anything else is not an
 * argument.
 */
export type ObjectSchema<A, I extends object> = Schema.Schema<A, I> &
  ([Extract<I, ReadonlyArray<unknown>>] extends [never] ? unknown : never)

interface Common {
  /**
   * The name by which a model calls the tool: letters, digits, `_` and `-`, at most 64, which every provider accepts.
   */
  readonly name: string
  /** Says in a sentence or two what it does and takes. A model chooses by this. */
  readonly description: string
  /** Set to true if a second call with the same input does no harm. Default: false. */
  readonly idempotent?: boolean
  /** Set to true if a call changes nothing outside, to false if it does, see {@link ToolInfo}. Default: not said. */
  readonly readOnly?: boolean
  /**
   * Longest time one call may take, longer than 0. The shorter of this and the caller's own limit holds. Default, and
   * with `Duration.infinity`: no limit of its own.
   */
  readonly timeout?: Duration.DurationInput
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * Makes a tool. Without `parameters` it takes one string; with them, an object that is decoded against the Schema
 * before `execute` sees it.
 *
 * `execute` may return an Effect, a Promise or a string. Whatever it fails, rejects or dies with becomes `ToolFailed`.
 * Throws an `InvalidOption` on a name that providers refuse, a `timeout` that is not longer than 0, and `parameters`
 * that are not of an object.
 *
 * @example
 * ```ts
 * const clock = Tool.make({
 *   name: "Now",
 *   description: "The current time as epoch milliseconds. Takes nothing.",
 *   execute: () => Clock.currentTimeMillis
 * })
 * ```
 */
export const make: {
  <A, I extends object, R = never>(
    options: Common & {
      readonly parameters: ObjectSchema<A, I>
      readonly execute: (input: A, context: ToolContext) => Outcome<R>
    }
  ): Tool<R>
  <R = never>(options: Common & { readonly execute: (input: string, context: ToolContext) => Outcome<R> }): Tool<R>
} = <A, I, R>(
  options: Common &
    (
      | {
          readonly parameters: Schema.Schema<A, I>
          readonly execute: (input: A, context: ToolContext) => Outcome<R>
        }
      | {
          readonly parameters?: undefined
          readonly execute: (input: string, context: ToolContext) => Outcome<R>
        }
    )
): Tool<R> => {
  const info = common("Tool.make", options)
  if (options.parameters === undefined) {
    const { execute } = options
    return {
      ...info,
      takes: "text",
      parameters: textParameters,
      prepare: (input) => Either.right((context) => execute(input, context))
    }
  }
  const { execute } = options
  const parameters = objectSchema(options.name, options.parameters)
  const decodeAsWritten = ParseResult.decodeUnknownEither(options.parameters, { errors: "all" })
  const place = SchemaPlace.make(parameters)
  // What fits as it is written stays so: only a value that is refused may be one that was encoded once too often.
  const decode = (value: unknown) =>
    Either.orElse(decodeAsWritten(value), (error) =>
      Either.mapLeft(decodeAsWritten(SchemaPlace.decoded(place, value)), () => error)
    )
  const field = singleStringField(parameters)
  return {
    ...info,
    takes: "object",
    parameters,
    prepare: (input) =>
      Either.flatMap(readObject(options.name, input, field), (value) =>
        Either.mapBoth(decode(value), {
          onLeft: (error) =>
            new InvalidToolInput({
              tool: options.name,
              problem: ParseResult.TreeFormatter.formatIssueSync(error),
              input
            }),
          onRight: (decoded) => (context: ToolContext) => execute(decoded, context)
        })
      )
  }
}

/**
 * Makes a tool whose parameters are described by a JSON Schema that somebody else holds its input to, such as the
 * server that the tool belongs to.
 *
 * Use it where no effect Schema exists. `execute` gets the arguments as the JSON object that was given, with fields
 * that were encoded as text decoded where the schema takes no text, and nothing else about them is checked here. Where
 * the schema has one property and that is a string, plain text is its value, as for {@link make}. Throws an
 * `InvalidOption` where the schema is not of an object, and as {@link make}.
 */
export const fromJsonSchema = <R = never>(
  options: Common & {
    /** A JSON Schema of `type: "object"`. */
    readonly parameters: JsonSchema
    readonly execute: (input: Readonly<Record<string, unknown>>, context: ToolContext) => Outcome<R>
  }
): Tool<R> => {
  const { execute, name, parameters } = options
  if (parameters["type"] !== "object") {
    const problem = `the parameters of ${JSON.stringify(name)} must be of an object.`
    Options.refuse("Tool.fromJsonSchema", "parameters", problem)
  }
  const field = singleStringField(parameters)
  const place = SchemaPlace.make(parameters)
  return {
    ...common("Tool.fromJsonSchema", options),
    takes: "object",
    parameters,
    prepare: (input) =>
      Either.map(readObject(name, input, field), (value) => {
        const decoded = SchemaPlace.decoded(place, value)
        return (context: ToolContext) => execute(isObject(decoded) ? decoded : value, context)
      })
  }
}

const common = (who: string, options: Common): Pick<ToolInfo, keyof Common & keyof ToolInfo> => {
  if (!namePattern.test(options.name)) {
    const problem = `the name ${JSON.stringify(options.name)} must be 1 to 64 letters, digits, "_" or "-".`
    Options.refuse(who, "name", problem)
  }
  const timeout =
    options.timeout === undefined ? Number.POSITIVE_INFINITY : Options.positiveMillis(who, "timeout", options.timeout)
  return {
    name: options.name,
    description: options.description,
    idempotent: options.idempotent ?? false,
    ...(options.readOnly === undefined ? {} : { readOnly: options.readOnly }),
    ...(Number.isFinite(timeout) ? { timeout } : {})
  }
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/

// ---------------------------------------------------------------------------------------------------------------
// reading input
// ---------------------------------------------------------------------------------------------------------------

/**
 * The input of a native tool call, from the raw arguments that the model wrote. Nothing, white space and `null` mean no
 * arguments. Arguments that were encoded twice, as a JSON string that holds them, are decoded once more. Text that is
 * not JSON is refused, never repaired: half an argument must not run.
 */
export const fromArguments = (info: ToolInfo, raw: string): Either.Either<string, InvalidToolInput> => {
  // An adapter may hand on what the server left out.
  const text = (raw ?? "").trim()
  const none = text === "" || text === "null"
  if (info.takes === "object") {
    return none
      ? Either.right("{}")
      : Either.map(parse(info.name, text), (value) =>
          typeof value === "string" ? (encodedObject(value) ?? text) : text
        )
  }
  if (none) return Either.right("")
  return Either.flatMap(parse(info.name, text), (value) => {
    const object = typeof value === "string" ? encodedObject(value) : undefined
    const inner = object === undefined ? Either.right(value) : parse(info.name, object)
    return Either.flatMap(inner, (value) => {
      const input = textInput(value)
      return input === undefined
        ? Either.left(
            new InvalidToolInput({ tool: info.name, problem: 'The arguments must be {"input": "<text>"}.', input: raw })
          )
        : Either.right(input)
    })
  })
}

/** The text that a tool of one text gets: a JSON string, or the `input` of an object. Undefined for anything else. */
const textInput = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  if (!isObject(value)) return undefined
  const input = Object.hasOwn(value, "input") ? value["input"] : undefined
  if (typeof input === "string") return input
  if (typeof input === "number" || typeof input === "boolean") return String(input)
  return Object.keys(value).length === 0 || input === null ? "" : undefined
}

/** The JSON text that a string holds, if that opens like an object: arguments that were encoded more than once. */
const encodedObject = (value: string): string | undefined => {
  const text = value.trim()
  if (JsonText.startsObject(text, 0)) return text
  const inner = text.startsWith('"') ? Either.getOrUndefined(parse("", text)) : undefined
  return typeof inner === "string" ? encodedObject(inner) : undefined
}

const textParameters: JsonSchema = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false
}

const parse = (tool: string, text: string): Either.Either<unknown, InvalidToolInput> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new InvalidToolInput({ tool, problem: "The arguments are not valid JSON.", input: text })
  })

/**
 * A JSON object, also one that was encoded twice, or the value of the single string field. Text that opens like an
 * object is never taken as a value.
 */
const readObject = (
  tool: string,
  input: string,
  field: string | undefined
): Either.Either<Record<string, unknown>, InvalidToolInput> => {
  const text = input.trim()
  if (text === "" || text === "null") return Either.right(field === undefined || text === "" ? {} : { [field]: input })
  const value = parse(tool, text)
  if (Either.isRight(value) && isObject(value.right)) return Either.right(value.right)
  const encoded = Either.isRight(value) && typeof value.right === "string" ? encodedObject(value.right) : undefined
  if (encoded !== undefined) return readObject(tool, encoded, undefined)
  if (field !== undefined && !text.startsWith("{")) {
    const plain = Either.isRight(value) && typeof value.right === "string" ? value.right : input
    return Either.right({ [field]: plain })
  }
  return Either.isLeft(value)
    ? Either.left(value.left)
    : Either.left(new InvalidToolInput({ tool, problem: "The arguments must be a JSON object.", input }))
}

const objectSchema = <A, I>(tool: string, schema: Schema.Schema<A, I>): JsonSchema => {
  const full: JsonSchema = { ...JSONSchema.make(schema) }
  const { $schema: _, ...json } = full
  // A Struct without fields is an object or an array in Effect's JSON Schema, and providers insist on one type.
  if (isAnyObject(json)) {
    const { description } = json
    return { type: "object", properties: {}, ...(description === undefined ? {} : { description }) }
  }
  if (!isOfObject(json, json["$defs"], 0)) {
    const problem = `the parameters of ${JSON.stringify(tool)} must be a Schema of an object, such as Schema.Struct({ … }).`
    Options.refuse("Tool.make", "parameters", problem)
  }
  return json["anyOf"] === undefined ? json : { type: "object", ...json }
}

const isAnyObject = ({ anyOf }: JsonSchema): boolean =>
  Array.isArray(anyOf) && JSON.stringify(anyOf) === '[{"type":"object"},{"type":"array"}]'

/** Returns whether all that a schema describes are objects. */
const isOfObject = (schema: unknown, definitions: unknown, depth: number): boolean => {
  if (!isObject(schema) || depth > 100) return false
  const { $ref, anyOf, type } = schema
  if (typeof $ref === "string") {
    const name = decodeURIComponent($ref.replace("#/$defs/", ""))
    return isObject(definitions) && isOfObject(definitions[name], definitions, depth + 1)
  }
  if (Array.isArray(anyOf)) return anyOf.every((part) => isOfObject(part, definitions, depth + 1))
  return type === "object"
}

/** The name of the one field of a tool that takes just a string: it may be called with the bare value. */
export const singleStringField = (schema: JsonSchema): string | undefined => {
  const properties = schema["properties"]
  if (!isObject(properties)) return undefined
  const names = Object.keys(properties)
  const [name] = names
  if (names.length !== 1 || name === undefined) return undefined
  const property = properties[name]
  return isObject(property) && property["type"] === "string" ? name : undefined
}
