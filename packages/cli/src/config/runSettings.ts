/**
 * Lists what a run can be told besides the options of its pattern: the flags, variables and keys of the config file, as
 * data.
 */

/** One setting. A flag follows from its name, as with the options of patterns. */
export interface RunSetting {
  /** Key in the config file: `maxCalls`. */
  readonly name: string
  /** The notation of its value; a switch has none. */
  readonly usage?: string
  /** True if its flag can be given several times. */
  readonly repeatable?: boolean
  /** True if it is a flag alone, without a variable or a key. */
  readonly isFlagOnly?: boolean
  readonly description: string
  readonly group: "model" | "limits" | "tools" | "patterns" | "approval"
}

export const runSettings: ReadonlyArray<RunSetting> = [
  {
    name: "fallbackModel",
    usage: "<spec>",
    group: "model",
    description: "model that is asked when another is rate limited, cannot be reached or does not answer in time"
  },
  { name: "stream", group: "model", description: "show replies as they arrive" },
  {
    name: "noStructured",
    group: "model",
    description: "do not hold the model to a JSON Schema, for servers that fail or answer worse when they are asked to"
  },
  { name: "maxCalls", usage: "<count>", group: "limits", description: "maximum number of model calls of the run" },
  {
    name: "maxOutputTokens",
    usage: "<count>",
    group: "limits",
    description: "maximum number of output tokens of the run"
  },
  {
    name: "maxCost",
    usage: "<usd>",
    group: "limits",
    description: "maximum cost of the run, in US dollars"
  },
  {
    name: "price",
    usage: "<in,out>",
    group: "limits",
    description:
      "US dollars for a million input and output tokens, such as 0.4,1.6; otherwise the listed price of the model"
  },
  {
    name: "maxTime",
    usage: "<duration>",
    group: "limits",
    description:
      "longest time the run may take; when it expires, model calls are cancelled and none are started (tools have a limit of their own)"
  },
  { name: "maxConcurrent", usage: "<count>", group: "limits", description: "maximum number of model calls at once" },
  {
    name: "requestsPerMinute",
    usage: "<count>",
    group: "limits",
    description: "maximum number of model calls in a minute"
  },
  {
    name: "tokensPerMinute",
    usage: "<count>",
    group: "limits",
    description: "maximum number of tokens in a minute, input and output together"
  },
  {
    name: "mcp",
    usage: "<server>",
    repeatable: true,
    group: "tools",
    description: "an MCP server: its command with arguments, or its address; can be repeated"
  },
  {
    name: "trustMcp",
    usage: "<name>",
    repeatable: true,
    isFlagOnly: true,
    group: "tools",
    description:
      'believe the MCP server of this name that its tools are read-only or can be repeated; can be repeated (in its entry: "trust": true)'
  },
  {
    name: "allowHost",
    usage: "<hosts>",
    group: "tools",
    description: "hosts that http-get may read, such as example.org,*.example.com, or * for every public one"
  },
  { name: "allowPrivate", group: "tools", description: "let http-get read listed hosts that are not public" },
  { name: "root", usage: "<folder>", group: "tools", description: "folder of read-file and list-files" },
  { name: "searxng", usage: "<url>", group: "tools", description: "SearXNG server that web-search asks" },
  {
    name: "wikipediaUrl",
    usage: "<url>",
    group: "tools",
    description: "wiki that wikipedia asks, such as https://de.wikipedia.org"
  },
  {
    name: "toolPermits",
    usage: "<name=n>",
    group: "tools",
    description: "maximum number of calls of a tool at once, with commas between several"
  },
  {
    name: "patternFile",
    usage: "<file>",
    repeatable: true,
    group: "patterns",
    description: "JavaScript file that exports a pattern of your own, to choose from; can be repeated"
  },
  { name: "approve", group: "approval", description: "ask before a tool that is not read-only runs" },
  {
    name: "approvePlan",
    group: "approval",
    description: "show each plan, and each change of it, and ask before it runs"
  }
]
