/** The values of an address's query, which some servers take keys in: nothing that is shown may hold one. */
import * as Encoding from "effect/Encoding"

/** A shorter value is taken out only behind its name: removing each `1` would leave a message unreadable. */
const shortestAlone = 4

/**
 * Returns a function that takes the values of an address's query out of a text: as they are, percent-encoded once or
 * more often, as entities of HTML, in the escapes of JSON, in Base64, and whatever stands behind a parameter's name.
 */
export const hideQuery = (address: string): ((text: string) => string) => {
  const search = URL.canParse(address) ? new URL(address).search.slice(1) : ""
  if (search === "") return (text) => text
  const pairs = search.split("&").map((pair) => {
    const at = pair.indexOf("=")
    return at < 0 ? { name: "", value: pair } : { name: pair.slice(0, at), value: pair.slice(at + 1) }
  })
  const values = pairs.flatMap(({ name, value }) => (value === "" ? decodings(name) : decodings(value)))
  const alone = [...new Set(values)]
    .filter((value) => value.trim().length >= shortestAlone)
    .sort((one, other) => other.length - one.length)
    .flatMap((value) => [
      written(value),
      ...[Encoding.encodeBase64(value), Encoding.encodeBase64Url(value)].map(quoted)
    ])
  const names = [...new Set(pairs.flatMap(({ name, value }) => (value === "" ? [] : decodings(name))))]
    .filter((name) => name !== "")
    .map(written)
  const patterns = [
    ...(alone.length === 0 ? [] : [{ pattern: new RegExp(alone.join("|"), "gi"), shown: "<redacted>" }]),
    ...(names.length === 0
      ? []
      : [
          {
            pattern: new RegExp(`${begins}((?:${names.join("|")})${written("=")})[^\\s"'<>&#)\\],;]+`, "gi"),
            shown: "$1<redacted>"
          }
        ])
  ]
  return (text) => patterns.reduce((rest, { pattern, shown }) => rest.replace(pattern, shown), text)
}

/** A parameter's name begins a word, or follows the `?` or `&` of an address that is encoded itself. */
const begins = "(?:(?<![A-Za-z0-9_-])|(?<=%(?:25){0,5}(?:3F|26))|(?<=u00(?:3F|26)))"

/** What a part of a query can mean: forms write a space as `+`, and other parts of an address do not. */
const decodings = (part: string): ReadonlyArray<string> => {
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  }
  return [...new Set([part, decode(part), decode(part.replaceAll("+", " "))])]
}

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/** A regular expression for a text in each of the ways in which it can be written. */
const written = (text: string): string => Array.from(text.toWellFormed(), writtenSign).join("")

const named: { readonly [sign: string]: string } = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" }

const writtenSign = (sign: string): string => {
  const code = sign.codePointAt(0) ?? 0
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0")
  const units = Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index))
  const ways = [
    // Percent signs that were encoded again become `%25`.
    Array.from(new TextEncoder().encode(sign), (byte) => `%(?:25){0,5}${hex(byte, 2)}`).join(""),
    units.map((unit) => `\\\\{1,4}u${hex(unit, 4)}`).join(""),
    `&(?:amp;)?#(?:x0{0,6}${hex(code, 1)}|0{0,6}${code});`,
    ...(named[sign] === undefined ? [] : [`&(?:amp;)?${named[sign]};`]),
    ...(sign === " " ? ["\\+"] : []),
    ...('"/\\'.includes(sign) ? [`\\\\{0,4}${quoted(sign)}`] : [quoted(sign)])
  ]
  return `(?:${ways.join("|")})`
}
