/** What the providers with an address of their own have in common. */
import { createHash } from "node:crypto"
import * as HttpClient from "@effect/platform/HttpClient"
import type { JsonObject } from "@forethought/core/Json"
import { Llm, type Service } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Prices from "../Prices.js"
import * as Exchange from "./exchange.js"

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
    Effect.map(HttpClient.HttpClient, (client) => {
      const spoken = wire(Exchange.keyOf(options.apiKey))
      const name = nameOf(spoken.from, options)
      const service = Exchange.make(client, spoken, options)
      // Elsewhere the same model can have another price.
      const price = options.apiUrl === undefined ? Prices.of(options.model) : undefined
      const complete: Service["complete"] = (request) =>
        Effect.map(service.complete(request), (reply) => (price === undefined ? reply : Prices.priced(reply, price)))
      return { complete, model: () => name }
    })
  )

/** Names the model: elsewhere, or configured in another way, it may answer differently. */
const nameOf = (model: string, { apiUrl, config = {} }: Options): string =>
  [
    model,
    ...(apiUrl === undefined ? [] : [Exchange.plainAddress(apiUrl)]),
    ...(Object.keys(config).length === 0 ? [] : [digest(JSON.stringify(config))])
  ].join(" ")

/** A configuration can be long, and can hold what is nobody's business. */
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16)
