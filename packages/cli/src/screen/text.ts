/**
 * Text of models and tools as a terminal may get it.
 */

/** Number of columns of a line if the terminal does not say. */
export const defaultColumns = 100

/**
 * Shows control characters in place of sending them: an escape sequence in a tool's result must not move the cursor,
 * and a bidirectional override must not turn the line round. Line breaks and tabs stay.
 */
export const printable = (text: string): string => {
  let out = ""
  let clean = 0
  const plain = text.replaceAll("\r\n", "\n").toWellFormed()
  for (let i = 0; i < plain.length; i++) {
    const code = plain.charCodeAt(i)
    if (!isControl(code)) continue
    out += `${plain.slice(clean, i)}\\u{${code.toString(16)}}`
    clean = i + 1
  }
  return clean === 0 ? plain : out + plain.slice(clean)
}

/** {@link printable} on a single line of at most `columns` columns. */
export const oneLine = (text: string, columns: number): string => {
  // A model's megabyte is cut before it is looked at character by character.
  const short = printable(
    text
      .slice(0, 4 * columns + 1_000)
      .replaceAll(/\s*\n\s*/g, " ⏎ ")
      .replaceAll("\t", " ")
  ).trim()
  return fit(short, columns, short.length < text.trim().length && text.length > 4 * columns + 1_000)
}

/** Cuts a line that is already printable to `columns` columns, with `…` at the end where something is missing. */
export const fit = (line: string, columns: number, isCut = false): string => {
  let width = 0
  let end = 0
  for (const char of line) {
    const next = width + widthOf(char)
    if (next > columns || (next === columns && isCut)) return `${line.slice(0, fitEnd(line, columns - 1))}…`
    width = next
    end += char.length
  }
  return isCut ? `${line.slice(0, end)}…` : line
}

const fitEnd = (line: string, columns: number): number => {
  let width = 0
  let end = 0
  for (const char of line) {
    width += widthOf(char)
    if (width > columns) return end
    end += char.length
  }
  return end
}

/** Columns that a line takes in a terminal, for the scripts in common use. */
export const widthOfLine = (line: string): number => {
  let width = 0
  for (const char of line) width += widthOf(char)
  return width
}

const widthOf = (char: string): number => {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (/^\p{M}$/u.test(char) || code === 0x200b || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  return wide ? 2 : 1
}

const isControl = (code: number): boolean =>
  (code < 0x20 && code !== 0x09 && code !== 0x0a) ||
  (code >= 0x7f && code <= 0x9f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069) ||
  code === 0x200e ||
  code === 0x200f ||
  code === 0x061c

/** JSON that is safe to show: what JSON leaves as it is, though a terminal acts on it, is written as `\\uXXXX`. */
export const printableJson = (value: unknown): string => {
  const json = JSON.stringify(value, undefined, 2) ?? "null"
  let out = ""
  let clean = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (!isControl(code)) continue
    out += `${json.slice(clean, i)}\\u${code.toString(16).padStart(4, "0")}`
    clean = i + 1
  }
  return out + json.slice(clean)
}

/** Milliseconds as people read them: `0.41 s`. */
export const seconds = (millis: number): string => `${(Math.max(0, millis) / 1000).toFixed(2)} s`

/** Each line of a text behind `by` spaces. */
export const indent = (text: string, by: number): string =>
  text
    .split("\n")
    .map((line) => " ".repeat(by) + line)
    .join("\n")

/** The candidates that differ from `word` by few letters, or begin with it. */
export const near = (word: string, candidates: ReadonlyArray<string>): ReadonlyArray<string> =>
  candidates.filter(
    (candidate) =>
      (word.length > 1 && candidate.toLowerCase().startsWith(word.toLowerCase())) ||
      edits(word.toLowerCase().slice(0, 60), candidate.toLowerCase()) <= 2
  )

/** `Did you mean x?`, with a space before it, or nothing. */
export const meant = (word: string, candidates: ReadonlyArray<string>): string => {
  const [close] = near(word, candidates)
  return close === undefined ? "" : ` Did you mean ${close}?`
}

const edits = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a.charAt(i - 1) === b.charAt(j - 1) ? 0 : 1)
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
