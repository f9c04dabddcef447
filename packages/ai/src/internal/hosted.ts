/** What the providers with an address of their own have in common. */
import * as HttpClient from "@effect/platform/HttpClient"
import { Llm } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Exchange from "./exchange.js"
import type { JsonObject } from "./json.js"

export interface Options extends Exchange.Common {
  /** Where the API is; a trailing slash is ignored. Default: the provider's own address. */
  readonly apiUrl?: string | undefined
  /** Merged into the body of every request, in the provider's own words; what a request itself asks for wins. */
  readonly config?: JsonObject | undefined
}

/** The layer of a provider whose wire is made with the key. */
export const layer = (
  options: Options,
  wire: (key: string) => Exchange.Wire
): Layer.Layer<Llm, never, HttpClient.HttpClient> =>
  Layer.effect(
    Llm,
    Effect.map(HttpClient.HttpClient, (client) => Exchange.make(client, wire(Exchange.keyOf(options.apiKey)), options))
  )
