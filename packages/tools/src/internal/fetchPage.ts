/**
 * One GET of a page, under checks that hold for every redirect.
 */
import { lookup } from "node:dns/promises"
import { type ClientRequest, get as httpGet, type IncomingMessage } from "node:http"
import { get as httpsGet } from "node:https"
import { isIP } from "node:net"
import type { Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { hostOf, isPublicAddress } from "./address.js"

/** Why a page is not given, in words for a model. */
export class PageError extends Error {
  override readonly name = "PageError"
}

export interface PageOptions {
  /** Returns whether the allow-list has this host and port. */
  readonly allowed: (url: URL) => boolean
  readonly allowPrivate: boolean
  readonly maxBytes: number
  readonly maxRedirects: number
  readonly userAgent: string
  /** The addresses of a host. */
  readonly resolve: (host: string) => Promise<ReadonlyArray<string>>
}

export interface Page {
  /** Where it was found in the end. */
  readonly url: URL
  readonly contentType: string | undefined
  readonly bytes: Uint8Array
  /** True if the page goes on after `bytes`. */
  readonly cut: boolean
}

export const systemResolve = async (host: string): Promise<ReadonlyArray<string>> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Gets a page, following redirects; each address is checked and then used, so a second look-up cannot change it. */
export const fetchPage = async (address: string, options: PageOptions, signal: AbortSignal): Promise<Page> => {
  let url = readUrl(address)
  for (let redirects = 0; ; redirects++) {
    const response = await request(url, await addressesOf(url, options), options.userAgent, signal)
    const target = redirectOf(response, url)
    if (target === undefined) return read(response, url, options.maxBytes)
    response.destroy()
    if (redirects >= options.maxRedirects)
      throw new PageError(`There were more than ${options.maxRedirects} redirects.`)
    url = target
  }
}

// ---------------------------------------------------------------------------------------------------------------
// checks
// ---------------------------------------------------------------------------------------------------------------

const readUrl = (address: string): URL => {
  try {
    return new URL(address.trim())
  } catch {
    throw new PageError("This is not a web address. Write it whole, as in https://example.org/page.")
  }
}

const addressesOf = async (url: URL, options: PageOptions): Promise<ReadonlyArray<string>> => {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new PageError("Only http and https addresses can be read.")
  }
  if (url.username !== "" || url.password !== "") throw new PageError("An address with a user name is not read.")
  if (!options.allowed(url)) throw new PageError(`The host ${url.host} is not on the list of hosts that may be read.`)
  const host = hostOf(url)
  const addresses = isIP(host) === 0 ? await resolved(host, options) : [host]
  if (addresses.length === 0) throw new PageError(`The host ${host} was not found.`)
  if (!options.allowPrivate && !addresses.every(isPublicAddress)) {
    throw new PageError(`The host ${host} has an address that is not public.`)
  }
  return addresses
}

const resolved = async (host: string, options: PageOptions): Promise<ReadonlyArray<string>> => {
  try {
    return await options.resolve(host)
  } catch {
    throw new PageError(`The host ${host} was not found.`)
  }
}

const redirectOf = (response: IncomingMessage, from: URL): URL | undefined => {
  const { location } = response.headers
  if (![301, 302, 303, 307, 308].includes(response.statusCode ?? 0) || location === undefined) return undefined
  try {
    return new URL(location, from)
  } catch {
    response.destroy()
    throw new PageError("The page redirects to something that is not an address.")
  }
}

// ---------------------------------------------------------------------------------------------------------------
// transport
// ---------------------------------------------------------------------------------------------------------------

const request = (
  url: URL,
  addresses: ReadonlyArray<string>,
  userAgent: string,
  signal: AbortSignal
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    const options = {
      // A connection of its own: one that is kept could have been made to an address that was never checked.
      agent: false,
      headers: {
        "user-agent": userAgent,
        accept: "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1",
        "accept-encoding": "gzip, br"
      },
      lookup: (
        _host: string,
        { all }: { all?: boolean | undefined },
        done: (error: null, address: string | typeof found, family?: number) => void
      ) => (all === true ? done(null, found) : done(null, found[0]?.address ?? "", found[0]?.family)),
      signal
    }
    const sent: ClientRequest =
      url.protocol === "https:" ? httpsGet(url, options, resolve) : httpGet(url, options, resolve)
    sent.on("error", (error) => reject(new PageError(`${url.host} cannot be reached: ${error.message || error.name}`)))
  })

const read = async (response: IncomingMessage, url: URL, maxBytes: number): Promise<Page> => {
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299) {
    response.destroy()
    const words = (response.statusMessage ?? "").slice(0, 100)
    throw new PageError(`${url.host} answered ${status}${words === "" ? "" : ` ${words}`}.`)
  }
  const chunks: Array<Buffer> = []
  let size = 0
  const body = decoded(response)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
    }
  } catch (error) {
    throw new PageError(`The page broke off: ${error instanceof Error ? error.message : "no reason was given"}.`)
  } finally {
    response.destroy()
    body.destroy()
  }
  return {
    url,
    contentType: response.headers["content-type"],
    bytes: Buffer.concat(chunks).subarray(0, maxBytes),
    cut: size > maxBytes
  }
}

const decoded = (response: IncomingMessage): Readable => {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase()
  const decoder = decoders.get(encoding)?.()
  if (decoder === undefined) {
    if (encoding === "identity") return response
    response.destroy()
    throw new PageError(`The page is encoded as ${encoding.slice(0, 40)}, which cannot be read.`)
  }
  response.on("error", (error) => decoder.destroy(error))
  return response.pipe(decoder)
}

const decoders = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress]
])
