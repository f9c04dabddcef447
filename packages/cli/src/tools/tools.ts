/**
 * The tools that a run can be given. A tool's code and data are loaded when it is used.
 */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import type * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import { address, type Find, isOn, names, text } from "../config/values.js"
import { messageOf, UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"
import { meant } from "../screen/text.js"

export interface ToolEntry {
  /** As typed after `--tools`. */
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Tool.Tool<Llm.Llm>>
}

interface Kind {
  readonly name: string
  readonly summary: string
  /** Flags that must be given with it. */
  readonly needs?: string
  /** Checks what it needs, and gives how it is loaded. */
  readonly read: (find: Find, around: Surroundings) => ToolEntry["load"]
}

export const tools: ReadonlyArray<Kind> = [
  {
    name: "lookup",
    summary: "facts about countries and cities: population, area, capital, currency, languages (data of 2018)",
    read: () => async () => (await import("@forethought/tools/Lookup")).tool
  },
  {
    name: "calculator",
    summary: "arithmetic on decimal numbers, and nothing else",
    read: () => async () => (await import("@forethought/tools/Calculator")).tool
  },
  {
    name: "llm",
    summary: "asks the model itself, as a worker",
    read: () => async () => (await import("@forethought/tools/LlmWorker")).tool
  },
  {
    name: "wikipedia",
    summary: "the article of Wikipedia that fits best, from its beginning",
    read: (find) => {
      const given = find("wikipediaUrl")
      const url = given === undefined ? {} : { url: address(given) }
      return async () => (await import("@forethought/tools/Wikipedia")).make(url)
    }
  },
  {
    name: "web-search",
    summary: "titles, addresses and snippets from a search engine",
    needs: "--searxng <url>, or BRAVE_API_KEY or TAVILY_API_KEY in the environment",
    read: readWebSearch
  },
  {
    name: "http-get",
    summary: "the text of a web page",
    needs: "--allow-host <hosts>",
    read: readHttpGet
  },
  {
    name: "read-file",
    summary: "a text file in a folder",
    needs: "--root <folder>",
    read: (find, around) => {
      const root = rootOf("read-file", find, around)
      return async () => (await import("@forethought/tools/ReadFile")).make({ root })
    }
  },
  {
    name: "list-files",
    summary: "what is in a folder",
    needs: "--root <folder>",
    read: (find, around) => {
      const root = rootOf("list-files", find, around)
      return async () => (await import("@forethought/tools/ReadFile")).list({ root })
    }
  }
]

/** The tools of a run for which none are named. */
export const defaultTools: ReadonlyArray<string> = ["lookup", "calculator"]

const nothing: Find = () => undefined

/** The entries of the given names, each once; case does not matter. */
export const pickTools = (
  names: ReadonlyArray<string>,
  source: string,
  find: Find = nothing,
  around: Surroundings = { folder: ".", env: {} }
): ReadonlyArray<ToolEntry> => {
  const picked = new Map<string, ToolEntry>()
  for (const name of names) {
    const kind = tools.find((tool) => tool.name === name.toLowerCase())
    if (kind === undefined) {
      const all = tools.map((tool) => tool.name)
      throw new UsageError(
        `${source} names the tool ${JSON.stringify(name)}, which does not exist.${meant(name, all)} Tools: ${all.join(", ")}.`
      )
    }
    picked.set(kind.name, { name: kind.name, summary: kind.summary, load: kind.read(find, around) })
  }
  return [...picked.values()]
}

/** Reads `Name=2, other=1`. */
export const readPermits = (find: Find): ReadonlyMap<string, number> => {
  const given = find("toolPermits")
  if (given === undefined) return new Map()
  const { source, value } = given
  const pairs =
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([name, limit]) => `${name}=${String(limit)}`)
      : names(given)
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf("=")
      const [name, limit] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()]
      if (name === "" || !/^[1-9]\d{0,5}$/.test(limit)) {
        throw new UsageError(
          `${source} must be names with whole numbers of at least 1, such as lookup=2, got ${JSON.stringify(pair)}.`
        )
      }
      return [name, Number(limit)]
    })
  )
}

function readWebSearch(find: Find, { env }: Surroundings): ToolEntry["load"] {
  const given = find("searxng")
  if (given !== undefined) {
    const url = address(given)
    return async () => (await import("@forethought/tools/WebSearch")).searxng({ url })
  }
  const brave = env["BRAVE_API_KEY"]?.trim() ?? ""
  const tavily = env["TAVILY_API_KEY"]?.trim() ?? ""
  if (brave === "" && tavily === "") throw new UsageError(needed("web-search"))
  return async () => {
    const [WebSearch, Redacted] = await Promise.all([import("@forethought/tools/WebSearch"), import("effect/Redacted")])
    return brave === ""
      ? WebSearch.tavily({ apiKey: Redacted.make(tavily) })
      : WebSearch.brave({ apiKey: Redacted.make(brave) })
  }
}

function readHttpGet(find: Find): ToolEntry["load"] {
  const given = find("allowHost")
  if (given === undefined) throw new UsageError(needed("http-get"))
  const hosts = names(given)
  const allowPrivate = isOn(find("allowPrivate"))
  return async () => {
    const HttpGet = await import("@forethought/tools/HttpGet")
    try {
      return HttpGet.make({ hosts, allowPrivate })
    } catch (error) {
      throw new UsageError(`${given.source} cannot be used: ${messageOf(error)}`)
    }
  }
}

const rootOf = (tool: string, find: Find, { folder }: Surroundings): string => {
  const given = find("root")
  if (given === undefined) throw new UsageError(needed(tool))
  const root = resolve(folder, text(given))
  if (!existsSync(root) || !statSync(root).isDirectory()) {
    throw new UsageError(`${given.source} must be a folder that exists, got ${JSON.stringify(given.value)}.`)
  }
  return root
}

const needed = (name: string): string =>
  `The tool ${name} needs ${tools.find((tool) => tool.name === name)?.needs ?? "nothing"}.`
