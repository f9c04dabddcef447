/**
 * Countries and territories: names, capital, currency, languages and continent from `countries-list`; population and
 * area from `country-json`. Read when first asked for.
 *
 * @internal
 */
import { createRequire } from "node:module"
import { continents, countries, getCountryDataList, languages } from "countries-list"
import { currencies } from "countries-list/currencies"
import { nameKey } from "./nameKey.js"

export interface Country {
  readonly name: string
  readonly iso2: string
  readonly iso3: string
  readonly capital: string
  readonly continent: string
  readonly currency: string
  readonly languages: string
  readonly callingCode: string
  readonly population: number | undefined
  /** In km². */
  readonly area: number | undefined
}

export interface Countries {
  readonly all: ReadonlyArray<Country>
  /** By folded name, current alternative name and, in upper case, by code of two or three letters. */
  readonly byName: ReadonlyMap<string, Country>
}

let loaded: Countries | undefined

/** The countries, read once. */
export const loadCountries = (): Countries => {
  loaded ??= load()
  return loaded
}

const require = createRequire(import.meta.url)

// Names of today only: a question about Rhodesia is not one about Zimbabwe.
const otherNames: ReadonlySet<string> = new Set(
  [
    ["UAE", "Emirates", "DR Congo", "DRC", "Congo-Kinshasa", "Congo-Brazzaville", "Cote d'Ivoire", "Cape Verde"],
    ["Czech Republic", "Česká republika", "UK", "Britain", "Great Britain", "Kyrgyz Republic", "DPRK"],
    ["Republic of Korea", "Lao PDR", "Macedonia", "Burma", "Macau", "Holland", "Russian Federation"],
    ["Syrian Arab Republic", "Swaziland", "Turkey", "US", "USA", "America", "United States of America"],
    ["Holy See", "Vatican", "Viet Nam"]
  ]
    .flat()
    .map(nameKey)
)

// Names that neither package has, but people and statistics use.
const moreNames: { readonly [iso2: string]: ReadonlyArray<string> } = {
  CN: ["People's Republic of China", "PRC"],
  GB: ["United Kingdom of Great Britain and Northern Ireland"],
  IR: ["Islamic Republic of Iran"],
  MD: ["Republic of Moldova"],
  TL: ["Timor-Leste"],
  US: ["U.S.", "U.S.A.", "United States"]
}

// Where country-json uses a code that is not, or no longer, that of ISO 3166.
const codeRepairs: { readonly [code: string]: string } = { UK: "GB", TP: "TL" }

// Rows of country-json that are a part of a country, or the same country under another name.
const repeatedRows: ReadonlySet<string> = new Set(["Cabo Verde", "England", "Northern Ireland", "Scotland", "Wales"])

// Codes of ISO 4217 that are units of account and no money.
const unitsOfAccount: ReadonlySet<string> = new Set(["BOV", "CHE", "CHW", "CLF", "UYI", "USN"])

const load = (): Countries => {
  const codes = new Map(
    rows("country-json/src/country-by-abbreviation.json", "abbreviation").flatMap(([name, code]) =>
      typeof code === "string" ? [[name, codeRepairs[code] ?? code] as const] : []
    )
  )
  const list = getCountryDataList()
  const byFoldedName = new Map<string, string>()
  for (const country of list) {
    for (const name of [country.name, ...(country.alias ?? [])]) byFoldedName.set(nameKey(name), country.iso2)
  }
  const codeOf = (name: string): string | undefined =>
    codes.get(name) ?? byFoldedName.get(nameKey(name)) ?? byFoldedName.get(withoutThe(nameKey(name)))
  const figures = (file: string, field: string): ReadonlyMap<string, number> => {
    const found = new Map<string, number>()
    for (const [name, value] of rows(file, field)) {
      const code = codeOf(name)
      if (code !== undefined && typeof value === "number" && value > 0 && !found.has(code)) found.set(code, value)
    }
    return found
  }
  const populations = figures("country-json/src/country-by-population.json", "population")
  const areas = figures("country-json/src/country-by-surface-area.json", "area")

  const byName = new Map<string, Country>()
  const all = list.map((data): Country => {
    const country: Country = {
      name: data.name,
      iso2: data.iso2,
      iso3: data.iso3,
      capital: data.capital,
      continent: (data.continents ?? [data.continent]).map((code) => continents[code]).join(" and "),
      currency: data.currency
        .filter((code) => !unitsOfAccount.has(code))
        .map((code) => `${currencies[code]?.name ?? code} (${code})`)
        .join(", "),
      languages: data.languages.map((code) => languages[code].name).join(", "),
      callingCode: data.phone.map((code) => `+${code}`).join(", "),
      population: populations.get(data.iso2),
      area: areas.get(data.iso2)
    }
    const aliases = (countries[data.iso2].alias ?? []).filter((name) => otherNames.has(nameKey(name)))
    for (const name of [data.name, ...aliases, ...(moreNames[data.iso2] ?? [])]) {
      byName.set(withoutThe(nameKey(name)), country)
    }
    byName.set(data.iso2, country)
    byName.set(data.iso3, country)
    return country
  })
  return { all, byName }
}

/** A folded name without a leading article: `the netherlands`. */
export const withoutThe = (name: string): string => (name.startsWith("the ") ? name.slice(4) : name)

/** The rows of a file of country-json as name and value; what has another form is left out. */
const rows = (file: string, field: string): ReadonlyArray<readonly [string, unknown]> => {
  const data: unknown = require(file)
  if (!Array.isArray(data)) return []
  return data.flatMap((row: unknown) => {
    if (typeof row !== "object" || row === null || !("country" in row) || typeof row.country !== "string") return []
    if (repeatedRows.has(row.country)) return []
    const value = Object.entries(row).find(([key]) => key === field)
    return value === undefined ? [] : [[row.country, value[1]] as const]
  })
}
