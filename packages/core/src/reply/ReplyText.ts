/**
 * The text of a reply as readers see it, and text as prompts carry it.
 */
import { isBlank, trim } from "../internal/blanks.js"
import { said } from "../internal/thinking.js"

export { isBlank, trim } from "../internal/blanks.js"

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns the part of a reply that is said rather than thought. Every reader reads this and nothing else.
 *
 * - Thinking is dropped, in every mark that `internal/markers.ts` lists: a block such as `<think>…</think>`; all before
 *   a closer that was never opened (the opener may stand in the prompt); all behind an opener that is never closed (the
 *   reply ended inside the thinking). Of harmony channels only `final` is said.
 * - Tags around an answer (`<answer>…</answer>`) are taken off right behind thinking, or around the whole reply.
 * - Tokens of turns (`<|im_end|>`, `</s>`) are taken off at both ends, with the turns that a model invents behind them.
 * - Lone surrogates become U+FFFD and `\r\n` becomes `\n`.
 * - Byte order marks, zero-width characters, no-break spaces and other white space are trimmed at both ends.
 *
 * A mark in code, in quotes, in a string of JSON that ends, or in a sentence about it is text.
 *
 * Not idempotent: it is applied once, to the reply as received.
 */
export const visible = (text: string): string => trim(indented(text))

/** {@link visible} with the indentation of its first line: where a list starts there, it matters. */
export const indented = (text: string): string =>
  trimLines(said(trimLines(text.toWellFormed().replaceAll("\r\n", "\n"))))

/** Without blank lines at the start, and blanks at the end. */
export const trimLines = (text: string): string => {
  let start = 0
  let at = 0
  while (at < text.length && isBlank(text.charCodeAt(at))) {
    at++
    if (text.charCodeAt(at - 1) === 0x0a) start = at
  }
  let end = text.length
  while (end > at && isBlank(text.charCodeAt(end - 1))) end--
  return at >= text.length ? "" : text.slice(start, end)
}

/** A line that is a code fence: its run of backticks or tildes, and whether an info string follows. */
export interface FenceLine {
  readonly mark: string
  readonly length: number
  readonly info: string
}

/** Reads a line as a code fence of at least three backticks or tildes; undefined when it is none. */
export const fenceLine = (line: string): FenceLine | undefined => {
  let start = 0
  while (start < line.length && isBlank(line.charCodeAt(start))) start++
  const mark = line.charAt(start)
  if (mark !== "`" && mark !== "~") return undefined
  const body = trim(line)
  let length = 1
  while (body.charAt(length) === mark) length++
  if (length < 3) return undefined
  const info = trim(body.slice(length))
  return info.includes("`") ? undefined : { mark, length, info }
}

/** Removes one code fence when it surrounds the whole text; a text that holds several, or prose around one, is kept. */
export const unfence = (text: string): string => {
  const body = trim(text)
  if (!body.startsWith("```") && !body.startsWith("~~~")) return text
  const lines = body.split("\n")
  const open = fenceLine(lines[0] ?? "")
  if (open === undefined || lines.length < 2) return text
  let depth = 1
  for (let i = 1; i < lines.length; i++) {
    const line = fenceLine(lines[i] ?? "")
    if (line === undefined || line.mark !== open.mark || line.length < open.length) continue
    if (line.info !== "") depth++
    else depth--
    if (depth === 0) return i === lines.length - 1 ? lines.slice(1, -1).join("\n") : text
  }
  return text
}

// ---------------------------------------------------------------------------------------------------------------
// writing
// ---------------------------------------------------------------------------------------------------------------

const grouped = (n: number): string => {
  const digits = String(n)
  let out = ""
  for (let i = 0; i < digits.length; i++) {
    if (i > 0 && (digits.length - i) % 3 === 0) out += ","
    out += digits.charAt(i)
  }
  return out
}

/**
 * Caps a text at `maxChars` UTF-16 units, with a marker at the end that says how much is shown:
 * `… [cut: 12,000 of 2,000,000 characters shown]`. Never cuts a character in two. The result, marker included, is not
 * longer than `maxChars`, unless the marker alone is; then it is the marker.
 */
export const cut = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const marker = (shown: number) => `… [cut: ${grouped(shown)} of ${grouped(text.length)} characters shown]`
  // Fewer characters shown never make the marker longer, so one pass is enough.
  let end = Math.max(0, maxChars - marker(maxChars).length)
  const last = text.charCodeAt(end - 1)
  if (end > 0 && last >= 0xd800 && last <= 0xdbff) end -= 1
  return text.slice(0, end) + marker(end)
}

/**
 * A code fence around a text that is data. The fence is longer than any run of backticks inside, so the text stands
 * byte for byte and cannot close it.
 */
export const fence = (label: string, text: string): string => {
  let longest = 0
  for (let at = text.indexOf("`"); at !== -1; ) {
    let end = at + 1
    while (text.charCodeAt(end) === 0x60) end++
    longest = Math.max(longest, end - at)
    at = text.indexOf("`", end)
  }
  const ticks = "`".repeat(Math.max(3, longest + 1))
  return `${ticks}${label}\n${text}\n${ticks}`
}
