/**
 * The text of a reply as readers see it, and text as prompts carry it.
 */

// ---------------------------------------------------------------------------------------------------------------
// reading
// ---------------------------------------------------------------------------------------------------------------

/**
 * The part of a reply that is said rather than thought. Every reader reads this and nothing else:
 *
 * - a `<think>…</think>` (or `<thinking>`) block is dropped, in any case of letters;
 * - a `</think>` without its opening tag (it may stand in the prompt template) drops everything up to and including it;
 * - a `<think>` without its closing tag drops everything from there on: the reply ended inside the thinking;
 * - lone surrogates become U+FFFD and `\r\n` becomes `\n`;
 * - byte order marks, zero-width characters, no-break spaces and other white space are trimmed at both ends.
 *
 * A tag inside a string of a JSON object or array is text, wherever that stands outside the thinking.
 *
 * Not idempotent: it is applied once, to the reply as received.
 */
export const visible = (text: string): string => trim(indented(text))

/** {@link visible} with the indentation of its first line: where a list starts there, it matters. */
export const indented = (text: string): string => {
  const plain = trimLines(text.toWellFormed().replaceAll("\r\n", "\n"))
  const tags = findTags(plain)
  if (tags.length === 0) return plain
  const first = trim(plain).slice(0, 3)
  const isData = first.startsWith("{") || first.startsWith("[") || first.startsWith('"') || first === "```"
  return trimLines(
    withoutThinking(plain, (isData ? outsideStrings(plain, tags) : undefined) ?? outsideJson(plain, tags))
  )
}

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

interface Tag {
  readonly start: number
  readonly end: number
  readonly closing: boolean
}

const tagPattern = /<(\/?)think(?:ing)?>/gi

const findTags = (text: string): ReadonlyArray<Tag> => {
  const tags: Array<Tag> = []
  for (const match of text.matchAll(tagPattern)) {
    tags.push({ start: match.index, end: match.index + match[0].length, closing: match[1] === "/" })
  }
  return tags
}

/** The tags that are not inside a double-quoted string; undefined when the quotes do not pair up. */
const outsideStrings = (text: string, tags: ReadonlyArray<Tag>): ReadonlyArray<Tag> | undefined => {
  const outside: Array<Tag> = []
  let next = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const tag = tags[next]
    if (tag !== undefined && i === tag.start) {
      if (!inString) outside.push(tag)
      next++
    }
    const c = text.charCodeAt(i)
    if (c === 0x22) inString = !inString
    else if (c === 0x5c && inString) i++
  }
  return inString ? undefined : outside
}

/** How many brackets that are never closed are followed to the end of the text. */
const maxOpen = 16

/** Deeper nesting is no reply in JSON. */
const maxDepth = 200

/** The tags that are not inside a string of a balanced JSON object or array. Inside the thinking every tag counts. */
const outsideJson = (text: string, tags: ReadonlyArray<Tag>): ReadonlyArray<Tag> => {
  const outside: Array<Tag> = []
  let next = 0
  let at = 0
  let thinking = false
  let failures = 0
  while (next < tags.length) {
    const tag = tags[next]
    if (tag === undefined) break
    while (!thinking && at < tag.start && text.charCodeAt(at) !== 0x7b && text.charCodeAt(at) !== 0x5b) at++
    if (thinking || at >= tag.start || failures >= maxOpen) {
      outside.push(tag)
      thinking = !tag.closing
      at = tag.end
      next++
      continue
    }
    const end = jsonEnd(text, at, tags, next)
    if (end === undefined) {
      failures++
      at++
      continue
    }
    at = end
    while (tags[next] !== undefined && (tags[next]?.start ?? at) < at) next++
  }
  return outside
}

/** Behind the object or array at `at`; undefined where it is not closed, or holds a tag that is not in a string. */
const jsonEnd = (text: string, at: number, tags: ReadonlyArray<Tag>, from: number): number | undefined => {
  let next = from
  let depth = 0
  let before = 0
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) {
      let end = i + 1
      while (end < text.length && text.charCodeAt(end) !== 0x22) end += text.charCodeAt(end) === 0x5c ? 2 : 1
      let behind = end + 1
      while (behind < text.length && isBlank(text.charCodeAt(behind))) behind++
      const after = text.charAt(behind)
      // A key, or a value behind a colon, a comma or a bracket.
      if (after !== ":" && (!",}]".includes(after) || !":,[".includes(String.fromCharCode(before)))) return undefined
      while ((tags[next]?.start ?? text.length) < end) next++
      i = end
    } else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    else if (i === tags[next]?.start) return undefined
    if (depth === 0) return i + 1
    if (depth > maxDepth) return undefined
    if (!isBlank(c)) before = c
  }
  return undefined
}

const withoutThinking = (text: string, tags: ReadonlyArray<Tag>): string => {
  let kept: Array<string> = []
  let from = 0
  let thinking = false
  // Opening tags inside a block: a model that nests blocks writes as many closing tags, which then stand alone.
  let nested = 0
  let dropped = false
  for (const tag of tags) {
    if (thinking) {
      if (tag.closing) {
        thinking = false
        from = tag.end
      } else nested++
    } else if (!tag.closing) {
      kept.push(text.slice(from, tag.start))
      thinking = true
    } else if (nested > 0 || !dropped) {
      if (nested > 0) nested--
      dropped = true
      kept = []
      from = tag.end
    }
  }
  if (!thinking) kept.push(text.slice(from))
  return kept.join("")
}

/** White space, and what looks like nothing: no-break and zero-width characters, joiners, byte order marks. */
export const isBlank = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200f) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x2060 ||
  code === 0x3000 ||
  code === 0xfeff

/** Without the blank characters (see {@link isBlank}) at both ends. */
export const trim = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
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
  let run = 0
  for (let i = 0; i < text.length; i++) {
    run = text.charCodeAt(i) === 0x60 ? run + 1 : 0
    if (run > longest) longest = run
  }
  const ticks = "`".repeat(Math.max(3, longest + 1))
  return `${ticks}${label}\n${text}\n${ticks}`
}
