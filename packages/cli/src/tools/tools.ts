/**
 * The tools of a run. A tool's code and data are loaded when it is used.
 */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import type * as Llm from "@forethought/core/Llm"
import type * as Tool from "@forethought/core/Tool"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { address, given, isOn, names, optional, text, wrong } from "../config/sources.js"
import { messageOf, UsageError } from "../errors.js"
import type { Surroundings } from "../process.js"
import { meant } from "../screen/text.js"
import { type ToolKind, toolKinds } from "./toolKinds.js"

export interface ToolEntry {
  /** As typed after `--tools`. */
  readonly name: string
  readonly load: Effect.Effect<Tool.Tool<Llm.Llm>, UsageError>
}

/** Loads a module when it is used, and takes a tool of it. */
const from = <M>(load: () => Promise<M>, take: (module: M) => Tool.Tool<Llm.Llm>): ToolEntry["load"] =>
  Effect.map(Effect.promise(load), take)

const modules = {
  HttpGet: () => import("@forethought/tools/HttpGet"),
  ReadFile: () => import("@forethought/tools/ReadFile"),
  WebSearch: () => import("@forethought/tools/WebSearch"),
  Wikipedia: () => import("@forethought/tools/Wikipedia")
}

/** Checks what a tool needs, and returns how it is loaded. */
const readers: {
  readonly [name in (typeof toolKinds)[number]["name"]]: (
    around: Surroundings
  ) => Effect.Effect<ToolEntry["load"], UsageError>
} = {
  lookup: () =>
    Effect.succeed(
      from(
        () => import("@forethought/tools/Lookup"),
        ({ tool }) => tool
      )
    ),
  calculator: () =>
    Effect.succeed(
      from(
        () => import("@forethought/tools/Calculator"),
        ({ tool }) => tool
      )
    ),
  llm: () =>
    Effect.succeed(
      from(
        () => import("@forethought/tools/LlmWorker"),
        ({ tool }) => tool
      )
    ),
  wikipedia: () =>
    Effect.map(optional("wikipediaUrl", address), (url) =>
      from(modules.Wikipedia, (Wikipedia) => Wikipedia.make(url === undefined ? {} : { url }))
    ),
  "web-search": ({ env }) =>
    Effect.gen(function* () {
      const url = yield* optional("searxng", address)
      if (url !== undefined) return from(modules.WebSearch, (WebSearch) => WebSearch.searxng({ url }))
      const brave = env["BRAVE_API_KEY"]?.trim() ?? ""
      const tavily = env["TAVILY_API_KEY"]?.trim() ?? ""
      if (brave === "" && tavily === "") return yield* needed("web-search")
      return from(modules.WebSearch, (WebSearch) =>
        brave === ""
          ? WebSearch.tavily({ apiKey: Redacted.make(tavily) })
          : WebSearch.brave({ apiKey: Redacted.make(brave) })
      )
    }),
  "http-get": () =>
    Effect.gen(function* () {
      const written = yield* given("allowHost")
      if (written === undefined) return yield* needed("http-get")
      const hosts = yield* names(written)
      const allowPrivate = yield* isOn("allowPrivate")
      return Effect.flatMap(Effect.promise(modules.HttpGet), (HttpGet) =>
        Effect.try({
          try: () => HttpGet.make({ hosts, allowPrivate }),
          catch: (error) => new UsageError(`${written.source} cannot be used: ${messageOf(error)}`)
        })
      )
    }),
  "read-file": (around) =>
    Effect.map(rootOf("read-file", around), (root) => from(modules.ReadFile, ({ make }) => make({ root }))),
  "list-files": (around) =>
    Effect.map(rootOf("list-files", around), (root) => from(modules.ReadFile, ({ list }) => list({ root })))
}

/** Returns the entries of the given names, each once. Case does not matter. */
export const pickTools = (
  names: ReadonlyArray<string>,
  source: string,
  around: Surroundings
): Effect.Effect<ReadonlyArray<ToolEntry>, UsageError> =>
  Effect.forEach(new Set(names.map((name) => name.toLowerCase())), (name) => {
    const kind = toolKinds.find((tool) => tool.name === name)
    if (kind === undefined) {
      const all = toolKinds.map((tool) => tool.name)
      const written = names.find((other) => other.toLowerCase() === name) ?? name
      return wrong(
        `${source} names the tool ${JSON.stringify(written)}, which does not exist.${meant(written, all)} Tools: ${all.join(", ")}.`
      )
    }
    return Effect.map(readers[kind.name](around), (load) => ({ name: kind.name, load }))
  })

/** Reads `Name=2, other=1`. */
export const readPermits: Effect.Effect<ReadonlyMap<string, number>, UsageError> = Effect.gen(function* () {
  const written = yield* given("toolPermits")
  if (written === undefined) return new Map()
  const { source, value } = written
  const pairs =
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([name, limit]) => `${name}=${String(limit)}`)
      : yield* names(written)
  const permits = yield* Effect.forEach(pairs, (pair) => {
    const at = pair.lastIndexOf("=")
    const [name, limit] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()]
    return name !== "" && /^[1-9]\d{0,5}$/.test(limit)
      ? Effect.succeed([name, Number(limit)] as const)
      : wrong(
          `${source} must be names with whole numbers of at least 1, such as lookup=2, got ${JSON.stringify(pair)}.`
        )
  })
  return new Map(permits)
})

const rootOf = (tool: string, { folder }: Surroundings): Effect.Effect<string, UsageError> =>
  Effect.gen(function* () {
    const written = yield* given("root")
    if (written === undefined) return yield* needed(tool)
    const root = resolve(folder, yield* text(written))
    return existsSync(root) && statSync(root).isDirectory()
      ? root
      : yield* wrong(`${written.source} must be a folder that exists, got ${JSON.stringify(written.value)}.`)
  })

const needed = (name: string): Effect.Effect<never, UsageError> => {
  const kinds: ReadonlyArray<ToolKind> = toolKinds
  return wrong(`The tool ${name} needs ${kinds.find((tool) => tool.name === name)?.needs ?? "nothing"}.`)
}
