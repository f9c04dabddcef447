/**
 * Text as names are compared.
 *
 * @internal
 */

/** Words in lower case without accents and periods; `&` is `and`, and `St` is `Saint`. */
export const nameKey = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(".", "")
    .replaceAll("&", " and ")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => (word === "st" ? "saint" : word))
    .join(" ")

/** The number of letters to insert, remove or replace; `limit + 1` where it is more than `limit`. */
export const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      const value = Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      row.push(value)
      if (value < least) least = value
    }
    if (least > limit) return limit + 1
    previous = row
  }
  return previous[b.length] ?? 0
}
