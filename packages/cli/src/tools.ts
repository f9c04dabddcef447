/**
 * The tools that a run can be given. A tool's code and data are loaded when it is used.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import { near } from "./text.js"
import { UsageError } from "./UsageError.js"

export interface ToolEntry {
  /** As typed after `--tools`. */
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Tool.Tool<Llm.Llm>>
}

export const tools: ReadonlyArray<ToolEntry> = [
  {
    name: "lookup",
    summary: "facts about countries and cities: population, area, capital, currency, languages (data of 2018)",
    load: async () => (await import("@forethought/tools/Lookup")).tool
  },
  {
    name: "calculator",
    summary: "arithmetic on decimal numbers, and nothing else",
    load: async () => (await import("@forethought/tools/Calculator")).tool
  },
  {
    name: "llm",
    summary: "asks the model itself, as a worker",
    load: async () => (await import("@forethought/tools/LlmWorker")).tool
  }
]

/** What a run gets where nothing is said. */
export const defaultTools: ReadonlyArray<string> = ["lookup", "calculator"]

/** The entries of the given names, each once; case does not matter. */
export const pickTools = (names: ReadonlyArray<string>, source: string): ReadonlyArray<ToolEntry> => {
  const picked = new Set<ToolEntry>()
  for (const name of names) {
    const entry = tools.find((tool) => tool.name === name.toLowerCase())
    if (entry === undefined) {
      const all = tools.map((tool) => tool.name)
      const [close] = near(name, all)
      throw new UsageError(
        `${source} names the tool ${JSON.stringify(name)}, which does not exist.${close === undefined ? "" : ` Did you mean ${close}?`} Tools: ${all.join(", ")}.`
      )
    }
    picked.add(entry)
  }
  return [...picked]
}
