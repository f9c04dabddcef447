/**
 * What a tool returned, as text for a model.
 */

/**
 * Text of any value: a string as it is, `undefined` as `(no result)`, everything else as JSON, in which a reference
 * to itself is `[Circular]` and a bigint its digits. Lone surrogates are replaced: strict servers refuse them.
 */
export const fromUnknown = (value: unknown): string => {
  if (typeof value === "string") return value.toWellFormed()
  if (value === undefined) return "(no result)"
  if (typeof value === "bigint" || typeof value === "symbol") return String(value)
  if (typeof value === "function") return "(a function)"
  if (value instanceof Error) return value.message
  try {
    return (JSON.stringify(value, breakCycles()) ?? "(no result)").toWellFormed()
  } catch {
    // A toJSON or a getter that throws.
    return "(a result that cannot be shown as text)"
  }
}

const breakCycles = () => {
  const ancestors: Array<unknown> = []
  return function (this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === "bigint") return String(value)
    if (typeof value !== "object" || value === null) return value
    while (ancestors.length > 0 && ancestors[ancestors.length - 1] !== this) ancestors.pop()
    if (ancestors.includes(value)) return "[Circular]"
    const shown = value instanceof Map ? Object.fromEntries(value) : value instanceof Set ? [...value] : value
    ancestors.push(shown)
    return shown
  }
}

/** What went wrong, in words, from whatever was thrown or failed with. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof Error) return error.message === "" ? error.name : error.message.toWellFormed()
  return fromUnknown(error)
}
