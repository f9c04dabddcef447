/** Looks up a model spec in environment variables, addresses and files. */
import { statSync } from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"

export type Env = { readonly [name: string]: string | undefined }

/** A variable that is set to something; a blank one is none. */
export const value = (env: Env, name: string): string | undefined => {
  const text = env[name]?.trim()
  return text === undefined || text === "" ? undefined : text
}

/** Returns what is wrong with an address, as the end of a sentence that does not quote it. */
export const addressProblem = (address: string): string | undefined => {
  if (!URL.canParse(address)) return "is not valid"
  const { password, protocol, username } = new URL(address)
  if (protocol !== "http:" && protocol !== "https:") return "does not start with http:// or https://"
  if (username !== "" || password !== "") return "holds a password or key: set FORETHOUGHT_API_KEY in place of it"
  return undefined
}

/** An address without its query. */
export const plainAddress = (address: string): string => {
  if (!URL.canParse(address)) return "an address that is not valid"
  const url = new URL(address)
  return `${url.origin}${url.pathname.replace(/\/$/, "")}`
}

/**
 * Where Ollama listens, without a trailing slash. OLLAMA_HOST is read as Ollama reads it: a host, a host with a port,
 * or an address; one that cannot be read is as good as none.
 */
export const ollamaAddress = (env: Env): string => {
  const standard = "http://localhost:11434"
  const given = value(env, "OLLAMA_HOST")
  if (given === undefined) return standard
  const hasScheme = /^https?:\/\//i.test(given)
  const address = hasScheme ? given : `http://${given}`
  if (addressProblem(address) !== undefined) return standard
  const url = new URL(address)
  // A server that listens everywhere is reached here; and without a scheme the port is Ollama's own.
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1"
  if (!hasScheme && url.port === "" && !/:80$/.test(given)) url.port = "11434"
  return plainAddress(url.toString())
}

/** OpenAI's key goes to OpenAI and to this machine alone; `FORETHOUGHT_API_KEY` to whatever address is given. */
export const compatibleKey = (address: string, env: Env): string | undefined => {
  const own = value(env, "FORETHOUGHT_API_KEY")
  if (own !== undefined || !URL.canParse(address)) return own
  const { hostname, protocol } = new URL(address)
  const trusted =
    (protocol === "https:" && (hostname === "api.openai.com" || hostname.endsWith(".api.openai.com"))) ||
    hostname === "localhost" ||
    hostname === "[::1]" ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  return trusted ? value(env, "OPENAI_API_KEY") : undefined
}

/**
 * Returns whether anything answers an HTTP request within 2 seconds. No header of ours is sent, and no redirect
 * followed.
 */
export const listens = (address: string): Effect.Effect<boolean> =>
  Effect.tryPromise((signal) => fetch(plainAddress(address), { signal, redirect: "manual" })).pipe(
    Effect.flatMap((response) => Effect.promise(async () => void (await response.body?.cancel()))),
    Effect.timeout("2 seconds"),
    Effect.isSuccess
  )

export const resolve = (file: string, folder: string | undefined): string =>
  folder === undefined ? path.resolve(file) : path.resolve(folder, file)

export const isFile = (file: string, folder: string | undefined): boolean =>
  statSync(resolve(file, folder), { throwIfNoEntry: false })?.isFile() ?? false
