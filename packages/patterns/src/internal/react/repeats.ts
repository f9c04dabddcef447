/**
 * Sees when a loop makes the same calls with the same results over and over.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type { Observation } from "./protocol.js"

export interface Repeat {
  readonly tool: string
  /** How many times running. 0 before the first call. */
  readonly times: number
}

/** What is remembered: the last call and the last turn, each with how often it came running. */
export interface Repeats {
  call: { readonly key: string; readonly times: number }
  turn: { readonly key: string; readonly times: number }
}

export const make = (): Repeats => ({ call: { key: "", times: 0 }, turn: { key: "", times: 0 } })

/**
 * Adds the calls of a turn. The order of keys in an input, and of calls in a turn, makes no difference; equal calls
 * next to each other in one turn are one, because the model asked for them before it saw a result.
 */
export const add = (repeats: Repeats, observations: ReadonlyArray<Observation>): Repeat => {
  const [first] = observations
  if (first === undefined) return { tool: "", times: 0 }
  let most: Repeat = { tool: first.call.tool, times: 0 }
  let before = ""
  const keys = observations.map((observation) => {
    const key = keyOf(observation)
    if (key === before) return key
    before = key
    repeats.call = { key, times: repeats.call.key === key ? repeats.call.times + 1 : 1 }
    if (repeats.call.times > most.times) most = { tool: observation.call.tool, times: repeats.call.times }
    return key
  })
  const turn = [...new Set(keys)].sort().join("\n")
  repeats.turn = { key: turn, times: repeats.turn.key === turn ? repeats.turn.times + 1 : 1 }
  return repeats.turn.times > most.times ? { tool: first.call.tool, times: repeats.turn.times } : most
}

const keyOf = ({ call, outcome, text }: Observation): string =>
  JSON.stringify([
    call.tool,
    canonical(Either.getOrElse(call.input, (error) => error.input)),
    outcome,
    // What a call had reported until it timed out differs from time to time: it timed out all the same.
    outcome === "timeout" ? "" : text
  ])

const canonical = (input: string): unknown => {
  try {
    return sorted(JSON.parse(input), 0)
  } catch {
    return input.trim()
  }
}

const sorted = (value: unknown, depth: number): unknown => {
  if (typeof value !== "object" || value === null || depth > 100) return value
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1))
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item, depth + 1)])
}
