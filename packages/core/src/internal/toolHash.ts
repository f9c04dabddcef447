/**
 * A short name for what a tool promises, by which a reader sees whether it is still the same tool.
 */
import type { ToolInfo } from "../Tool.js"

/** A tool by its name, with the hash of what describes it. */
export interface ToolHash {
  readonly name: string
  readonly hash: string
}

/**
 * Hashes what a model is told of each tool: the 64-bit FNV-1a hash, as 16 hexadecimal digits, of the UTF-8 bytes of the
 * JSON of `description`, `name` and `schema`, with sorted keys and without white space. Computed once for a list.
 */
export const of = (tools: ReadonlyArray<ToolInfo>): ReadonlyArray<ToolHash> => {
  const known = computed.get(tools)
  if (known !== undefined) return known
  const hashes = tools.map(({ description, name, parameters }) => ({
    name,
    hash: fnv64(canonical({ name, description, schema: parameters }))
  }))
  computed.set(tools, hashes)
  return hashes
}

const computed = new WeakMap<ReadonlyArray<ToolInfo>, ReadonlyArray<ToolHash>>()

/** JSON in which equal values are equal texts. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

const fnv64 = (text: string): string => {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, "0")
}
