/**
 * The tools that a run can be given, as plain data: help lists them without loading more.
 */

/** A tool by its name, as typed after `--tools`. */
export interface ToolKind {
  readonly name: string
  readonly summary: string
  /** Flags that must be given with it. */
  readonly needs?: string
}

export const toolKinds = [
  {
    name: "lookup",
    summary: "facts about countries and cities: population, area, capital, currency, languages (data of 2018)"
  },
  { name: "calculator", summary: "arithmetic on decimal numbers, and nothing else" },
  { name: "llm", summary: "asks the model itself, as a worker" },
  { name: "wikipedia", summary: "the article of Wikipedia that fits best, from its beginning" },
  {
    name: "web-search",
    summary: "titles, addresses and snippets from a search engine",
    needs: "--searxng <url>, or BRAVE_API_KEY or TAVILY_API_KEY in the environment"
  },
  { name: "http-get", summary: "the text of a web page", needs: "--allow-host <hosts>" },
  { name: "read-file", summary: "a text file in a folder", needs: "--root <folder>" },
  { name: "list-files", summary: "what is in a folder", needs: "--root <folder>" }
] as const satisfies ReadonlyArray<ToolKind>

/** The tools of a run for which none are named. */
export const defaultTools: ReadonlyArray<string> = ["lookup", "calculator"]
