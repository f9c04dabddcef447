/**
 * Which hosts and which addresses may be spoken to.
 */
import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** A rule of an allow-list, such as `example.org`, `*.example.org`, `*` or `localhost:8080`. */
interface HostRule {
  readonly host: string
  readonly subdomains: boolean
  /** As in a URL: empty for the scheme's own. */
  readonly port: string
}

/** Whether a URL's host and port are on an allow-list. Throws a `RangeError` on an entry that is no host. */
export const hostList = (owner: string, entries: ReadonlyArray<string>): ((url: URL) => boolean) => {
  if (entries.length === 0)
    throw new RangeError(`${owner}: hosts must name at least one host; "*" is every public one.`)
  const rules = entries.map((entry) => ruleOf(owner, entry))
  return (url) => {
    const host = hostOf(url)
    return rules.some(
      (rule) => rule.port === url.port && (rule.subdomains ? host.endsWith(rule.host) : host === rule.host)
    )
  }
}

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
    const url = new URL(`http://${subdomains ? entry.slice(2) : every ? "every" : entry}`)
    const plain = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === ""
    if (plain && !entry.includes("/") && !url.hostname.includes("*")) {
      if (every) return { host: "", subdomains: true, port: "" }
      return { host: `${subdomains ? "." : ""}${hostOf(url)}`, subdomains, port: url.port }
    }
  } catch {
    // Said below.
  }
  throw new RangeError(
    `${owner}: ${JSON.stringify(entry)} is no host. Write it as "example.org", "*.example.org", "localhost:8080" or "*".`
  )
}

/** Whether an IP address is reached over the public internet. IPv4 inside IPv6 is judged as IPv4. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== "unicast") return false
  // 2000::/3 is all of IPv6 that is given out; what else has no name yet is not public either.
  return !(parsed instanceof ipaddr.IPv6) || (parsed.parts[0] ?? 0) >> 13 === 1
}
