/**
 * Reads what is asked about a place: which attribute, and the name of the place.
 *
 * @internal
 */
import { nameKey } from "./nameKey.js"

export type Attribute =
  | "population"
  | "capital"
  | "area"
  | "currency"
  | "languages"
  | "continent"
  | "calling code"
  | "country"
  | "code"

export interface PlaceQuestion {
  /** Undefined where only a place is named. */
  readonly attribute: Attribute | undefined
  /** The place as it was written, for a code in capital letters. Empty where none is named. */
  readonly place: string
  /** A country, or a state of the United States, after a comma: `Paris, France`. */
  readonly within: string | undefined
}

const phrases: ReadonlyArray<readonly [string, Attribute]> = (
  [
    ["total population", "population"],
    ["current population", "population"],
    ["population size", "population"],
    ["population count", "population"],
    ["number of inhabitants", "population"],
    ["number of people", "population"],
    ["population", "population"],
    ["inhabitants", "population"],
    ["people", "population"],
    ["capital city", "capital"],
    ["capital", "capital"],
    ["surface area", "area"],
    ["total area", "area"],
    ["land area", "area"],
    ["area", "area"],
    ["currency", "currency"],
    ["official languages", "languages"],
    ["official language", "languages"],
    ["languages", "languages"],
    ["language", "languages"],
    ["continent", "continent"],
    ["region", "continent"],
    ["calling code", "calling code"],
    ["phone code", "calling code"],
    ["country code", "code"],
    ["iso code", "code"],
    ["country", "country"]
  ] satisfies ReadonlyArray<readonly [string, Attribute]>
).toSorted((a, b) => b[0].length - a[0].length)

const leading: ReadonlySet<string> = new Set(
  "what whats is are was the a in which how many much tell me give".split(" ")
)
const between: ReadonlySet<string> = new Set("of in for s is are does do has have live lives the".split(" "))

/** Understands `population of China`, `China population`, `China's population`, `What is the capital of France?`. */
export const readQuestion = (text: string): PlaceQuestion => {
  const comma = text.indexOf(",")
  const main = comma < 0 ? text : text.slice(0, comma)
  const within = comma < 0 ? undefined : text.slice(comma + 1).trim()
  const written = words(main.replaceAll(/['’]s\b/gu, " s"))
  const folded = written.map(nameKey)
  let start = 0
  let end = written.length
  while (start < end - 1 && leading.has(folded[start] ?? "")) start++
  let attribute: Attribute | undefined
  const named = (from: number, to: number) => folded.slice(from, to).join(" ")
  for (const [phrase, meant] of phrases) {
    const length = phrase.split(" ").length
    if (end - start <= length) continue
    if (named(start, start + length) === phrase) {
      start += length
      attribute = meant
      while (start < end - 1 && between.has(folded[start] ?? "")) start++
      while (end - 1 > start && ["live", "lives", "have", "has", "in"].includes(folded[end - 1] ?? "")) end--
    } else if (named(end - length, end) === phrase) {
      end -= length
      attribute = meant
      while (end - 1 > start && ["s", "the", "of"].includes(folded[end - 1] ?? "")) end--
    }
    if (attribute !== undefined) break
  }
  const place = written.slice(start, end).join(" ")
  return { attribute, place: between.has(place) ? "" : place, within: within === "" ? undefined : within }
}

const words = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/[?!"“”:;()[\]]/gu, " ")
    .split(/\s+/u)
    .filter((word) => nameKey(word) !== "")
