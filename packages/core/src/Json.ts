/**
 * JSON values and JSON Schemas as plain data.
 */

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** A JSON Schema (draft 2020-12 or 7) as plain data. Opaque here: it is only ever sent to a model or a server. */
export type JsonSchema = { readonly [key: string]: unknown }
