/**
 * Reading a page of the web: text only, from hosts that are on a list.
 */
import { tryPromise } from "@forethought/core/Concurrency"
import * as Options from "@forethought/core/Options"
import * as Tool from "@forethought/core/Tool"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import { hostList } from "./internal/address.js"
import { decode, isTextType, readContentType } from "./internal/charset.js"
import { fetchPage, type Page, PageError, type PageOptions, systemResolve } from "./internal/fetchPage.js"
import { htmlText } from "./internal/htmlText.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The page was not read: it may not be, it cannot be reached, or it is not text. */
export class HttpGetError extends Data.TaggedError("HttpGetError")<{
  /** Says what is wrong and what to write instead. */
  readonly problem: string
}> {
  override get message(): string {
    return this.problem
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Hosts that may be read, and bounds of one read. */
export interface HttpGetOptions {
  /**
   * The hosts that may be read: `example.org` is that host alone, `*.example.org` every host under it, `*` every host.
   * Without a port: the own ports of http and https. With one: that port alone, so `example.org:443` is
   * `https://example.org`, `example.org:80` is `http://example.org`, and `localhost:8080` or `[::1]:8080` that port in
   * either scheme.
   */
  readonly hosts: ReadonlyArray<string>
  /**
   * Set to true to allow hosts whose address is not public: loopback, private, link-local, reserved. Default: false, so
   * that nothing inside the network of this machine can be reached.
   */
  readonly allowPrivate?: boolean
  /** Maximum number of unpacked bytes of a page. The rest is cut off, and a last line says so. Default: 1,000,000. */
  readonly maxBytes?: number
  /** Longest time a page may take, redirects included. Default: 20 seconds. */
  readonly timeout?: Duration.DurationInput
  /** Maximum number of redirects. Each target is checked like the first address. Default: 5. */
  readonly maxRedirects?: number
  /** The tool's name. Default: `HttpGet`. */
  readonly name?: string
  /** Default: `forethought/0.1`. */
  readonly userAgent?: string
  /** The IP addresses of a host. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<ReadonlyArray<string>>
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * A tool that takes a web address and gives the page's text.
 *
 * One GET without credentials or cookies. Of HTML the text, of other text types the text as it is; other types are
 * refused. The address that was checked is the one that is connected to. Fails with {@link HttpGetError} where the host
 * is not on the list or not public, on a status that is not 2xx, and where the answer is not text. Throws an
 * `InvalidOption` on an entry of `hosts` that is not a host, and a `timeout` that is not longer than 0.
 */
export const make = (options: HttpGetOptions): Tool.Tool => {
  Options.rejectUnknown("HttpGet.make", options, optionNames)
  const page: PageOptions = {
    allowed: hostList("HttpGet.make", options.hosts),
    allowPrivate: options.allowPrivate ?? false,
    maxBytes: Options.wholeNumber("HttpGet.make", "maxBytes", options.maxBytes ?? 1_000_000),
    maxRedirects: Options.wholeNumber("HttpGet.make", "maxRedirects", options.maxRedirects ?? 5, 0),
    userAgent: options.userAgent ?? "forethought/0.1",
    resolve: options.resolve ?? systemResolve
  }
  const hosts = options.hosts.includes("*") ? "any public host" : options.hosts.join(", ")
  return Tool.make({
    name: options.name ?? "HttpGet",
    description: `Reads a web page and gives its text. Takes the whole address, such as https://example.org/page. Hosts: ${hosts}.`,
    idempotent: true,
    readOnly: true,
    timeout: Options.positiveMillis("HttpGet.make", "timeout", options.timeout ?? "20 seconds"),
    execute: (input, { leftOut }) =>
      tryPromise({
        try: async (signal) => {
          const read = await fetchPage(input, page, signal)
          if (read.cut) leftOut(`what follows the first ${read.bytes.length} bytes`)
          return pageText(read)
        },
        catch: (error) =>
          new HttpGetError({ problem: error instanceof PageError ? error.message : "The page could not be read." })
      })
  })
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const optionNames = [
  ...["hosts", "allowPrivate", "maxBytes", "timeout", "maxRedirects", "name", "userAgent", "resolve"]
]

const pageText = ({ bytes, contentType, cut }: Page): string => {
  const { charset, type } = readContentType(contentType ?? "text/plain")
  if (!isTextType(type)) throw new PageError(`The page is ${type.slice(0, 100)}, not text.`)
  const html = type === "text/html" || type === "application/xhtml+xml"
  const text = decode(bytes, charset, html)
  if (text === undefined) throw new PageError(`The page's charset ${charset?.slice(0, 40) ?? ""} is unknown.`)
  if (text.includes("\0")) throw new PageError("The page is not text.")
  const shown = html ? htmlText(text) : text
  return cut ? `${shown}\n[cut off: only the first ${bytes.length} bytes were read]` : shown
}
