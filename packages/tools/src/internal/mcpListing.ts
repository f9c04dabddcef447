/**
 * The tools that an MCP server lists: every page, read leniently, and what cannot be used named.
 */

import { isObject, jsonOf, textOf } from "@forethought/core/Json"
import * as Effect from "effect/Effect"
import type { Problem } from "./mcpConnection.js"
import { objectSchema } from "./mcpSchema.js"

/** What a server says of a tool; nothing where it says nothing. */
export interface Hints {
  /** `false` where it says that the tool changes something, whatever else it says. */
  readonly readOnly?: boolean
  readonly idempotent?: boolean
}

/** A tool as its server has it. */
export interface Listed {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
  readonly hints: Hints
}

/** What was found until now, which is what is used where a later page does not come. */
export interface Listing {
  readonly tools: Array<Listed>
  /** What was left out, and why. */
  readonly warnings: Array<string>
}

type Ask = (params: Record<string, unknown>) => Effect.Effect<Record<string, unknown>, Problem>

/** Fills the listing page by page. Fails where the first page does not come. */
export const readPages = (ask: Ask, listing: Listing): Effect.Effect<void, Problem> =>
  Effect.gen(function* () {
    const seen = new Map<string, unknown>()
    const cursors = new Set<string>()
    let params: Record<string, unknown> = {}
    let barren = 0
    for (let page = 1; ; page++) {
      const asked = yield* Effect.either(ask(params))
      if (asked._tag === "Left") {
        if (page === 1) return yield* Effect.fail(asked.left)
        // An empty cursor is most often meant as the end.
        if (params["cursor"] !== "") {
          listing.warnings.push(`Page ${page} of its list of tools could not be read: ${asked.left.words}`)
        }
        return
      }
      const before = seen.size
      readPage(asked.right, listing, seen)
      const nextCursor = asked.right["nextCursor"] ?? asked.right["next_cursor"]
      if (nextCursor === undefined || nextCursor === null || nextCursor === false) return
      const cursor = jsonOf(nextCursor) ?? ""
      if (cursors.has(cursor)) return
      cursors.add(cursor)
      barren = seen.size === before ? barren + 1 : 0
      if (page === maxPages || barren === maxBarren) {
        listing.warnings.push(`Its list of tools does not end; what stood on the first ${page} pages is used.`)
        return
      }
      params = { cursor: nextCursor }
    }
  })

const maxPages = 100

/** Pages in a row without a tool that was not listed before. */
const maxBarren = 3

const readPage = (result: Record<string, unknown>, { tools, warnings }: Listing, seen: Map<string, unknown>): void => {
  // A result that is not an object is handed on in this field.
  const listed = result["tools"] ?? result["toolResult"]
  if (!Array.isArray(listed)) {
    if (listed !== undefined && listed !== null) warnings.push("Its list of tools is not a list.")
    return
  }
  for (const given of listed) {
    const read = readTool(given)
    if (typeof read === "string") {
      warnings.push(read)
      continue
    }
    const before = seen.get(read.name)
    if (before === undefined) {
      seen.set(read.name, given)
      tools.push(read)
    } else if (jsonOf(before) !== jsonOf(given)) {
      warnings.push(`Its tool ${JSON.stringify(read.name)} is listed twice; the first is used.`)
    }
  }
}

/** A tool, or why it is left out. */
const readTool = (given: unknown): Listed | string => {
  if (!isObject(given)) return `An entry of its list is not a tool, and is left out: ${shown(given)}`
  const name = given["name"]
  if (typeof name !== "string" || name.trim() === "") {
    return `A tool without a name is left out: ${shown(given)}`
  }
  const execution = given["execution"]
  if (isObject(execution) && textOf(execution["taskSupport"])?.toLowerCase() === "required") {
    return `Its tool ${JSON.stringify(name)} can only be called as a task, which is not supported; it is left out.`
  }
  const parameters = objectSchema(given["inputSchema"] ?? given["input_schema"] ?? given["parameters"])
  if (parameters === undefined) {
    return `Its tool ${JSON.stringify(name)} takes no object of arguments (inputSchema ${shown(given["inputSchema"])}); it is left out.`
  }
  // What cannot be written would fail every request to a model.
  if (jsonOf(parameters) === undefined) {
    return `Its tool ${JSON.stringify(name)} has an inputSchema that is nested too deeply; it is left out.`
  }
  const hints = isObject(given["annotations"]) ? given["annotations"] : {}
  return {
    name,
    description: textOf(given["description"]) ?? textOf(given["title"]) ?? textOf(hints["title"]) ?? name,
    parameters,
    hints: readHints(hints)
  }
}

const readHints = ({ destructiveHint, idempotentHint, readOnlyHint }: Record<string, unknown>): Hints => {
  const writes = readOnlyHint === false || destructiveHint === true
  return {
    ...(writes ? { readOnly: false } : readOnlyHint === true ? { readOnly: true } : {}),
    ...(typeof idempotentHint === "boolean" ? { idempotent: idempotentHint } : {})
  }
}

const shown = (value: unknown): string => {
  const text = jsonOf(value) ?? "missing"
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text
}

/** Each tool with the name under which it is offered. A tool that has its name from the server keeps it. */
export const named = (
  { tools, warnings }: Listing,
  rename: (original: string) => string
): ReadonlyArray<{ readonly name: string; readonly tool: Listed }> => {
  const names = new Map<Listed, string>()
  const taken = new Set<string>()
  const numbers = new Map<string, number>()
  const wanted = tools.map((tool) => ({ tool, name: rename(tool.name) }))
  const exactFirst = [...wanted].sort((a, b) => Number(b.name === b.tool.name) - Number(a.name === a.tool.name))
  for (const { name, tool } of exactFirst) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      warnings.push(
        `Its tool ${JSON.stringify(tool.name)} would be offered as ${JSON.stringify(name)}: a name must be 1 to 64 letters, digits, "_" or "-". It is left out.`
      )
      continue
    }
    const own = freeName(name, taken, numbers)
    if (own !== name) {
      warnings.push(`Its tool ${JSON.stringify(tool.name)} is offered as ${own}, because another is named ${name}.`)
    }
    taken.add(own)
    names.set(tool, own)
  }
  return tools.flatMap((tool) => {
    const name = names.get(tool)
    return name === undefined ? [] : [{ name, tool }]
  })
}

/** A name that no provider refuses. */
export const allowedName = (original: string): string =>
  original
    .trim()
    .replaceAll(/[^A-Za-z0-9_-]/g, "_")
    .slice(0, maxNameChars)

/** The name, or the name with the first number behind it that makes it different; `numbers` are those tried. */
const freeName = (name: string, taken: ReadonlySet<string>, numbers: Map<string, number>): string => {
  let free = name
  for (let n = numbers.get(name) ?? 2; taken.has(free); n++) {
    const end = `_${n}`
    free = `${name.slice(0, maxNameChars - end.length)}${end}`
    numbers.set(name, n + 1)
  }
  return free
}

const maxNameChars = 64
