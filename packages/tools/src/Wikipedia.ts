/**
 * Wikipedia, or another wiki of MediaWiki: the page that fits a query best.
 */
import * as Options from "@forethought/core/Options"
import * as Tool from "@forethought/core/Tool"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ApiError, defaultUserAgent, type Fetch, field, getJson, items, text } from "./internal/getJson.js"

export { ApiError, type Fetch } from "./internal/getJson.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface WikipediaOptions {
  /** The wiki's address; another language is another address. Default: `https://en.wikipedia.org`. */
  readonly url?: string
  /** The `User-Agent` of the tool. Wikimedia asks for a name and a way to reach you. Default: `forethought/0.1`. */
  readonly userAgent?: string
  /** Maximum number of characters of the page. What is longer is cut, and says so. Default: 4,000. */
  readonly maxChars?: number
  /** Longest time both requests together may take. Default: 20 seconds. */
  readonly timeout?: Duration.DurationInput
  /** The tool's name. Default: `Wikipedia`. */
  readonly name?: string
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * A tool that takes what to look up and gives the text of the page that fits best, from its beginning, under its title
 * and address; then the titles of up to four other pages, with which the tool can be asked again.
 *
 * Two requests for each call, by the wiki's REST search and its plain-text extracts. Says so if nothing was found;
 * fails with `ApiError` where the wiki gives no answer.
 */
export const make = (options: WikipediaOptions = {}): Tool.Tool => {
  Options.rejectUnknown("Wikipedia.make", options, ["url", "userAgent", "maxChars", "timeout", "name", "fetch"])
  const maxChars = Options.wholeNumber("Wikipedia.make", "maxChars", options.maxChars ?? 4_000)
  return Tool.make({
    name: options.name ?? "Wikipedia",
    description:
      "Looks something up in Wikipedia. Takes the name of the thing, person or place, and gives its article.",
    idempotent: true,
    readOnly: true,
    timeout: Options.positiveMillis("Wikipedia.make", "timeout", options.timeout ?? "20 seconds"),
    execute: (input, context) => lookUp(options, input.trim(), maxChars, context)
  })
}

/** {@link make} with its defaults. */
export const tool: Tool.Tool = make()

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Hit {
  readonly key: string
  readonly title: string
}

const lookUp = (
  options: WikipediaOptions,
  query: string,
  maxChars: number,
  { leftOut }: Pick<Tool.ToolContext, "leftOut">
): Effect.Effect<string, ApiError> =>
  Effect.gen(function* () {
    if (query === "") return yield* new ApiError({ api: "Wikipedia", problem: "needs something to look up." })
    const [best, ...others] = yield* search(options, query)
    if (best === undefined) return `(nothing was found on ${JSON.stringify(query)})`
    const extract = yield* extractOf(options, best)
    if (extract.length > maxChars) leftOut(`${extract.length - maxChars} of ${extract.length} characters`)
    const shown = extract.length > maxChars ? `${extract.slice(0, maxChars).toWellFormed()}\n[cut off]` : extract
    const address = new URL(`wiki/${encodeURIComponent(best.key)}`, baseOf(options)).href
    const more = others.length === 0 ? "" : `\n\nOther pages: ${others.map(({ title }) => title).join("; ")}`
    return `${best.title}\n${address}\n\n${shown === "" ? "(the page has no text)" : shown}${more}`
  })

const search = (options: WikipediaOptions, query: string): Effect.Effect<ReadonlyArray<Hit>, ApiError> =>
  Effect.map(ask(options, "w/rest.php/v1/search/page", { q: query.slice(0, 300), limit: "5" }), (reply) =>
    items(field(reply, "pages")).flatMap((page) => {
      const key = text(field(page, "key"))
      return key === "" ? [] : [{ key, title: text(field(page, "title")) || key }]
    })
  )

const extractOf = (options: WikipediaOptions, { key }: Hit): Effect.Effect<string, ApiError> =>
  Effect.map(
    ask(options, "w/api.php", {
      action: "query",
      prop: "extracts",
      explaintext: "1",
      exsectionformat: "wiki",
      redirects: "1",
      titles: key,
      format: "json",
      formatversion: "2"
    }),
    (reply) => text(field(items(field(field(reply, "query"), "pages"))[0], "extract")).trim()
  )

const ask = (options: WikipediaOptions, path: string, query: Readonly<Record<string, string>>) => {
  const url = new URL(path, baseOf(options))
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return getJson({
    api: "Wikipedia",
    url,
    fetch: options.fetch,
    userAgent: options.userAgent ?? defaultUserAgent
  })
}

const baseOf = ({ url = "https://en.wikipedia.org" }: WikipediaOptions): string => (url.endsWith("/") ? url : `${url}/`)
