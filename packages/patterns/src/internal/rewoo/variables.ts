/**
 * The variables of a ReWOO plan, `#E<n>`, as whole tokens.
 */

/** An input in pieces: text between references, and the references. Joining them gives the input. */
export type Piece = string | { readonly variable: string }

/**
 * Returns whether a character belongs to a word for the purpose of whole tokens: ASCII and Latin letters, digits, `_`.
 * Letters of scripts that are written without spaces do not count: in `根据#E1的结果` the variable stands alone.
 */
const isWordCode = (code: number): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 65 && code <= 90) ||
  (code >= 97 && code <= 122) ||
  code === 95 ||
  (code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7)

export const isDigitCode = (code: number): boolean => code >= 48 && code <= 57

/** Where the label `#E<n>` that starts at `at` ends, or -1. As {@link referenceEnd}, and no word goes before it. */
export const variableEnd = (text: string, at: number): number =>
  at > 0 && isWordCode(text.charCodeAt(at - 1)) ? -1 : referenceEnd(text, at)

/**
 * Where the whole token `#E<n>` (or `#e<n>`) that starts at `at` ends, or -1. `#E1` is not in `#E10`, `#E1F0A2` or
 * `#E1E4E8`. What goes before makes no difference: `USD#E1` and `#E1#E2` mention what they mention.
 */
const referenceEnd = (text: string, at: number): number => {
  if (text.charCodeAt(at) !== 35 || (text.charCodeAt(at + 1) | 32) !== 101) return -1
  let end = at + 2
  while (isDigitCode(text.charCodeAt(end))) end += 1
  return end === at + 2 || isWordCode(text.charCodeAt(end)) ? -1 : end
}

/** The variable as it is known: with a capital E, and the digits as written. */
export const variableName = (text: string, at: number, end: number): string => `#E${text.slice(at + 2, end)}`

/** The variables that a text mentions, each once. */
export const mentions = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (let at = text.indexOf("#"); at !== -1; at = text.indexOf("#", at + 1)) {
    const end = referenceEnd(text, at)
    if (end !== -1) found.add(variableName(text, at, end))
  }
  return found
}

/**
 * Splits an input at its references, once: what is substituted later is joined and never scanned again. A lower-case
 * `#e10` that no step defines is taken for a colour where it has the length of one (3, 4, 6 or 8 hex digits).
 */
export const splitReferences = (
  input: string,
  isDefined: (variable: string) => boolean
): { readonly pieces: ReadonlyArray<Piece>; readonly references: ReadonlyArray<string> } => {
  if (!input.includes("#")) return { pieces: input === "" ? [] : [input], references: [] }
  const pieces: Array<Piece> = []
  const references = new Set<string>()
  let from = 0
  for (let at = input.indexOf("#"); at !== -1; at = input.indexOf("#", at + 1)) {
    const end = referenceEnd(input, at)
    if (end === -1) continue
    const variable = variableName(input, at, end)
    const digits = end - at - 1
    const isColour = input.charAt(at + 1) === "e" && (digits === 3 || digits === 4 || digits === 6 || digits === 8)
    if (isColour && !isDefined(variable)) continue
    if (at > from) pieces.push(input.slice(from, at))
    pieces.push({ variable })
    references.add(variable)
    from = end
  }
  if (from < input.length) pieces.push(input.slice(from))
  return { pieces, references: [...references] }
}
