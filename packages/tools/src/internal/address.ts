/**
 * Which hosts and which addresses may be spoken to.
 */

import { isIP } from "node:net"
import { InvalidOption } from "@forethought/core/Options"
import ipaddr from "ipaddr.js"

/** A rule of an allow-list, such as `example.org`, `*.example.org`, `*` or `localhost:8080`. */
interface HostRule {
  readonly host: string
  readonly subdomains: boolean
  /** As it is written: empty for the own port of either scheme. */
  readonly port: string
}

/**
 * Returns whether a URL's host and port are on an allow-list. Throws an `InvalidOption` on an entry that is not a host.
 */
export const hostList = (owner: string, entries: ReadonlyArray<string>): ((url: URL) => boolean) => {
  if (entries.length === 0) throw wrong(owner, 'hosts must name at least one host; "*" is every public one.')
  const rules = entries.map((entry) => ruleOf(owner, entry))
  return (url) => {
    const host = hostOf(url)
    return rules.some(
      (rule) => isPort(rule.port, url) && (rule.subdomains ? host.endsWith(rule.host) : host === rule.host)
    )
  }
}

/** A URL has no port where it is its scheme's own: of `:80` and `:443` that is one scheme, and of no port both. */
const isPort = (port: string, { port: given, protocol }: URL): boolean =>
  port === "80" || port === "443" ? given === "" && protocol === (port === "80" ? "http:" : "https:") : port === given

/** The host as it is looked up: without the brackets of IPv6 and a trailing dot. */
export const hostOf = (url: URL): string => {
  const host = url.hostname
  if (host.startsWith("[")) return host.slice(1, -1)
  return host.endsWith(".") ? host.slice(0, -1) : host
}

const ruleOf = (owner: string, entry: string): HostRule => {
  const every = entry === "*"
  const subdomains = entry.startsWith("*.")
  try {
    const written = subdomains ? entry.slice(2) : every ? "every" : entry
    const url = new URL(`http://${written}`)
    const plain = url.pathname === "/" && url.search === "" && url.hash === "" && !entry.includes("@")
    if (plain && !entry.includes("/") && !url.hostname.includes("*")) {
      if (every) return { host: "", subdomains: true, port: "" }
      return {
        host: `${subdomains ? "." : ""}${hostOf(url)}`,
        subdomains,
        port: url.port || new URL(`https://${written}`).port
      }
    }
  } catch {
    // Said below.
  }
  const how = 'Write it as "example.org", "*.example.org", "localhost:8080" or "*".'
  throw wrong(owner, `${JSON.stringify(entry)} is not a host. ${how}`)
}

const wrong = (owner: string, problem: string) => new InvalidOption({ owner, option: "hosts", problem })

/** Returns whether an IP address is reached over the public internet. IPv4 inside IPv6 is judged as IPv4. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== "unicast") return false
  // 2000::/3 is all of IPv6 that is given out; what else has no name yet is not public either.
  return !(parsed instanceof ipaddr.IPv6) || (parsed.parts[0] ?? 0) >> 13 === 1
}
