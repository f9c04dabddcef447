/**
 * Turns what a tool returned into text for a model.
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
  try {
    if (value instanceof Error) return describeFailure(value)
    return (JSON.stringify(value, breakCycles()) ?? "(no result)").toWellFormed()
  } catch {
    // A toJSON, a getter or a Proxy that throws.
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

/**
 * Returns in words what went wrong, from whatever was thrown or failed with. An error without a message is its name.
 */
export const describeFailure = (error: unknown): string => {
  try {
    if (!(error instanceof Error)) return fromUnknown(error)
    // An error class of an app may hold anything as its message, or nothing.
    const message: unknown = error.message
    return fromUnknown(message === undefined || message === "" ? error.name : message)
  } catch {
    return "(an error that cannot be shown as text)"
  }
}
