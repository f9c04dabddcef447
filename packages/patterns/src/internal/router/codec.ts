/**
 * Codecs of the Router.
 *
 * @internal
 */

import * as ErrorCodec from "@forethought/core/ErrorCodec"
import type * as Pattern from "@forethought/core/Pattern"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"

/** Any choice of the Router. */
export const Route = Schema.Struct({ pattern: Schema.String, reason: Schema.String })

/** Loads the codecs of a run over some patterns. Of one without codecs the outcome is kept as it is. */
export const codecs = async (patterns: ReadonlyArray<Pattern.Any>): Promise<Pattern.Codecs> => {
  const loaded = await Promise.all(
    patterns.map(async (pattern) => ({ name: pattern.name, codecs: await pattern.codecs?.() }))
  )
  return {
    result: Schema.Union(
      ...loaded.map(({ codecs, name }) =>
        Schema.Struct({
          pattern: Schema.Literal(name),
          reason: Schema.String,
          answer: Schema.String,
          outcome: codecs?.result ?? Schema.Unknown
        })
      )
    ),
    error: Schema.Union(...loaded.flatMap(({ codecs }) => membersOf(codecs?.error)), ErrorCodec.LlmError)
  }
}

/** The members of a union, so that all are tried in one order: a union within a union is tried last. */
const membersOf = (schema: Schema.Schema.AnyNoContext | undefined): ReadonlyArray<Schema.Schema.AnyNoContext> =>
  schema === undefined ? [] : AST.isUnion(schema.ast) ? schema.ast.types.map((member) => Schema.make(member)) : [schema]
