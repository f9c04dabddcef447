/**
 * The patterns that can be run by name, their options as they are given outside of code, and from there the pattern
 * that runs.
 */
import type * as Llm from "@forethought/core/Llm"
import type * as Pattern from "@forethought/core/Pattern"
import type * as Toolbox from "@forethought/core/Toolbox"
import { catalogue, type Entry, router } from "@forethought/patterns/catalogue"
import type { Gathered } from "../screen/findings.js"
import type { PatternOption } from "./options.js"

/** The services that a run provides. */
export type Needs = Llm.Llm | Toolbox.Toolbox

/** Every error of a pattern: tagged, with a message for people, and the work so far where there is any. */
export interface RunError extends Pattern.Tagged {
  readonly progress?: Gathered
}

/** A pattern with its options: it only needs its task. */
export type Ready = Pattern.Loose<Needs>

/** A pattern that can be run by its name. What is listed of it stands here; its code is loaded when it runs. */
export interface PatternEntry extends Pattern.Info {
  readonly load: () => Promise<Pattern.Any<Needs>>
  /** The patterns that can carry out its steps, where it has an executor. */
  readonly executors: () => ReadonlyArray<PatternEntry>
  /** Of the Router: what it chooses from. */
  readonly routes?: ReadonlyArray<PatternEntry>
}

/** Options by name, as they were read; see `readOption`. */
export type Given = ReadonlyMap<string, string | number>

/** The patterns of a run, in the order in which they are listed; the Router over them is the last. */
export const catalogueOf = (own: ReadonlyArray<Entry>): ReadonlyArray<PatternEntry> => {
  const entries: ReadonlyArray<Entry> = [...catalogue, ...own]
  const routes: ReadonlyArray<PatternEntry> = entries.map((entry) => ({
    ...entry,
    executors: () => routes.filter(({ name }) => name !== entry.name)
  }))
  const load = async () => {
    const [Router, ...loaded] = await Promise.all([
      import("@forethought/patterns/Router"),
      ...routes.map((route) => route.load())
    ])
    return Router.pattern(loaded)
  }
  return [...routes, { ...router, routes, load, executors: () => [] }]
}

/** The patterns of the package. */
export const patterns = catalogueOf([])

// ---------------------------------------------------------------------------------------------------------------
// options
// ---------------------------------------------------------------------------------------------------------------

/** The options of a pattern itself, without those of an executor or of what it chooses. */
export const ownOptions = (entry: PatternEntry): ReadonlyArray<PatternOption> => {
  const names = (entry.routes ?? []).map(({ name }) => name)
  const routing: ReadonlyArray<PatternOption> =
    entry.routes === undefined
      ? []
      : [
          {
            name: "patterns",
            kind: "list",
            choices: names,
            default: names.join(","),
            description: "the patterns to choose from, with commas between them"
          }
        ]
  return [
    ...routing,
    ...flat(entry.options, entry).map((option) =>
      option.name === "fallback" && entry.routes !== undefined
        ? { ...option, kind: "choice" as const, choices: names }
        : option
    )
  ]
}

/** Every option that a run of a pattern takes: its own, and those of its executor or of what it chooses from. */
export const optionsOf = (entry: PatternEntry, executor?: string): ReadonlyArray<PatternOption> => {
  const own = ownOptions(entry)
  const inner =
    entry.routes === undefined
      ? executorsOf(entry, own, executor).flatMap(executorOptions)
      : entry.routes.flatMap((route) => optionsOf(route))
  const all = [...own, ...inner.filter(({ name }) => name !== "prompts")]
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index)
}

/** The pattern that carries out the steps, where there is a choice. */
const executorsOf = (entry: PatternEntry, own: ReadonlyArray<PatternOption>, chosen: string | undefined) => {
  const option = own.find(({ name }) => name === "executor")
  return option === undefined ? [] : entry.executors().filter(({ name }) => name === (chosen ?? option.default))
}

/** Returns the options of an executor: its own executor is the default one, and its bounds are its caller's. */
export const executorOptions = (entry: PatternEntry): ReadonlyArray<PatternOption> =>
  optionsOf(entry).filter(({ name }) => name !== "executor" && entry.within?.[name] === undefined)

const flat = (table: Pattern.AnyTable, owner: PatternEntry): ReadonlyArray<PatternOption> => {
  const own = Object.entries(table)
  return own.flatMap(([name, entry]): ReadonlyArray<PatternOption> => {
    if (entry === undefined || entry.kind === "code") return []
    const { description } = entry
    const standard = "default" in entry && entry.default !== undefined ? { default: String(entry.default) } : {}
    switch (entry.kind) {
      case "reask":
        return [{ name, kind: "count", least: 0, description, ...standard }]
      case "prompts": {
        const { holes } = entry
        return [
          { name, kind: "file", choices: Object.keys(holes), holes, description: `a JSON file with ${description}` }
        ]
      }
      case "executor": {
        const choices = owner.executors().map((other) => other.name)
        return [{ name, kind: "choice", choices, description, ...standard }]
      }
      case "group":
        return flat(entry.options, owner).filter((inner) => table[inner.name] === undefined)
      case "count":
        return [{ name, kind: "count", least: entry.least ?? 1, description, ...standard }]
      case "choice":
        return [{ name, kind: "choice", choices: entry.choices, description, ...standard }]
      default:
        return [{ name, kind: entry.kind, description, ...standard }]
    }
  })
}

/** One option as the patterns have it: its default may differ between them. */
export interface SharedOption {
  readonly option: PatternOption
  readonly patterns: ReadonlyArray<PatternEntry>
  /** `8`, or `7; rewoo 8` where patterns differ. */
  readonly default: string | undefined
}

/** Every option of any pattern, each name once, with the patterns that have it. */
export const allOptions = (patterns: ReadonlyArray<PatternEntry>): ReadonlyArray<SharedOption> => {
  const all = patterns.map((pattern) => ({ pattern, options: everyOption(pattern) }))
  const names = new Set(all.flatMap(({ options }) => options.map(({ name }) => name)))
  return [...names].flatMap((name): ReadonlyArray<SharedOption> => {
    const uses = all.flatMap(({ options, pattern }) =>
      options.filter((option) => option.name === name).map((option) => ({ pattern, option }))
    )
    const [first] = uses
    if (first === undefined) return []
    // What the Router hands on is the chosen pattern's.
    const own = uses.filter(
      ({ pattern }) => pattern.routes === undefined || ownOptions(pattern).some((option) => option.name === name)
    )
    const standard = first.option.default
    const others = own.filter(({ option }) => option.default !== standard)
    return [
      {
        option: { ...first.option, choices: [...new Set(uses.flatMap(({ option }) => option.choices ?? []))] },
        patterns: uses.map(({ pattern }) => pattern),
        default:
          others.length === 0
            ? standard
            : `${standard ?? "none"}; ${others.map(({ option, pattern }) => `${pattern.name} ${option.default}`).join(", ")}`
      }
    ]
  })
}

/** The options of a pattern with any of its executors. */
const everyOption = (entry: PatternEntry): ReadonlyArray<PatternOption> => {
  const executors = ownOptions(entry).find(({ name }) => name === "executor")?.choices ?? [undefined]
  const all = executors.flatMap((executor) => optionsOf(entry, executor))
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index)
}
