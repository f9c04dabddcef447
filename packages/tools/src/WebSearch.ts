/**
 * Searching the web through a service that the user has a key for, or a SearXNG server.
 */
import * as Options from "@forethought/core/Options"
import * as Tool from "@forethought/core/Tool"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ApiError, type Fetch, field, getJson, items, text } from "./internal/getJson.js"
import { htmlText } from "./internal/htmlText.js"

export { ApiError, type Fetch } from "./internal/getJson.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Options of every service. */
export interface SearchOptions {
  /** Maximum number of results, from 1 to 20. Default: 5. */
  readonly maxResults?: number
  /** Longest time a search may take. Default: 20 seconds. */
  readonly timeout?: Duration.DurationInput
  /** The tool's name. Default: `WebSearch`. */
  readonly name?: string
  /** Default: `forethought/0.1`. */
  readonly userAgent?: string
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch
}

export interface KeyedOptions extends SearchOptions {
  readonly apiKey: Redacted.Redacted<string>
  /** Address of the service. Default: its public address. */
  readonly url?: string
}

export interface SearxngOptions extends SearchOptions {
  /** The server's address, such as `http://localhost:8888`. Its settings must allow the format `json`. */
  readonly url: string
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * A search tool through Brave Search. Takes a query; gives title, address and snippet of each result, best first, or
 * says that nothing was found. One request for each call; what the service refuses fails the tool with `ApiError`.
 */
export const brave = (options: KeyedOptions): Tool.Tool =>
  make("WebSearch.brave", ["apiKey", "url"], options, (query, count) => {
    const url = new URL(options.url ?? "https://api.search.brave.com/res/v1/web/search")
    url.searchParams.set("q", query)
    url.searchParams.set("count", String(count))
    return Effect.map(
      getJson({
        ...base("Brave Search", options, url),
        headers: { "x-subscription-token": Redacted.value(options.apiKey) }
      }),
      (reply) => results(field(field(reply, "web"), "results"), "description")
    )
  })

/** A search tool through Tavily, as {@link brave}. */
export const tavily = (options: KeyedOptions): Tool.Tool =>
  make("WebSearch.tavily", ["apiKey", "url"], options, (query, count) =>
    Effect.map(
      getJson({
        ...base("Tavily", options, new URL(options.url ?? "https://api.tavily.com/search")),
        headers: { authorization: `Bearer ${Redacted.value(options.apiKey)}` },
        body: { query, max_results: count }
      }),
      (reply) => results(field(reply, "results"), "content")
    )
  )

/** A search tool through a SearXNG server, as {@link brave}. */
export const searxng = (options: SearxngOptions): Tool.Tool =>
  make("WebSearch.searxng", ["url"], options, (query) => {
    const url = new URL("search", options.url.endsWith("/") ? options.url : `${options.url}/`)
    url.searchParams.set("q", query)
    url.searchParams.set("format", "json")
    return getJson(base("SearXNG", options, url)).pipe(
      Effect.mapError((error) =>
        error.status === 403
          ? new ApiError({
              api: error.api,
              status: 403,
              problem: 'refuses JSON (403). Add "json" to search.formats in its settings.yml.'
            })
          : error
      ),
      Effect.map((reply) => results(field(reply, "results"), "content"))
    )
  })

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Result {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

const make = (
  who: string,
  own: ReadonlyArray<string>,
  options: SearchOptions,
  search: (query: string, count: number) => Effect.Effect<ReadonlyArray<Result>, ApiError>
): Tool.Tool => {
  Options.rejectUnknown(who, options, [...own, "maxResults", "timeout", "name", "userAgent", "fetch"])
  const count = Options.wholeNumber(who, "maxResults", options.maxResults ?? 5)
  if (count > 20) Options.refuse(who, "maxResults", `maxResults must be at most 20, got ${count}.`)
  return Tool.make({
    name: options.name ?? "WebSearch",
    description:
      "Searches the web. Takes a query as typed into a search engine, and gives titles, addresses and snippets.",
    idempotent: true,
    readOnly: true,
    timeout: Options.positiveMillis(who, "timeout", options.timeout ?? "20 seconds"),
    execute: (input) => {
      const query = input.trim()
      return query === ""
        ? Effect.fail(new ApiError({ api: who, problem: "needs a query." }))
        : Effect.map(search(query, count), (found) => shown(found.slice(0, count)))
    }
  })
}

const base = (api: string, { fetch, userAgent }: SearchOptions, url: URL) => ({ api, url, fetch, userAgent })

const results = (value: unknown, snippet: string): ReadonlyArray<Result> =>
  items(value).flatMap((item) => {
    const url = text(field(item, "url"))
    return url === ""
      ? []
      : [{ url, title: plain(text(field(item, "title"))), snippet: plain(text(field(item, snippet))) }]
  })

/** Services mark the words of the query with HTML. */
const plain = (html: string): string => htmlText(html).replaceAll("\n", " ")

const shown = (found: ReadonlyArray<Result>): string =>
  found.length === 0
    ? "(nothing was found)"
    : found.map(({ snippet, title, url }, i) => `${i + 1}. ${title}\n   ${url}\n   ${snippet}`).join("\n")
