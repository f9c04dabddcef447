/**
 * Quotes that a model puts around a whole input.
 *
 * @internal
 */

const pairs: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["“", "”"],
  ["‘", "’"]
])

/** Removes one outer pair of quotes, if the two belong together: `"a" and "b"` keeps its quotes. */
export const unquote = (input: string): string => {
  const closing = pairs.get(input.charAt(0))
  if (closing === undefined || input.length < 2 || !input.endsWith(closing)) return input
  const inner = input.slice(1, -1)
  for (let at = inner.indexOf(closing); at !== -1; at = inner.indexOf(closing, at + 1)) {
    const isApostrophe =
      (closing === "'" || closing === "’") && /\p{L}/u.test(inner.charAt(at - 1)) && /\p{L}/u.test(inner.charAt(at + 1))
    if (!isApostrophe && inner.charCodeAt(at - 1) !== 92) return input
  }
  return inner.endsWith("\\") ? input : inner.trim()
}
