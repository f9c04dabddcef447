/**
 * JSON values whose shape nobody promised.
 */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isSomething = (value: unknown): boolean => value !== undefined && value !== null

/** A text that says something, without blanks around it. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined

/** The value as JSON; nothing where it is nested too deeply to be written. */
export const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
