/**
 * Drops what a model thinks aloud, in `<think>` blocks, from what it says.
 */
import * as JsonText from "../reply/JsonText.js"
import { trim } from "./blanks.js"

/** The text without its thinking: see `ReplyText.visible`. */
export const withoutThinking = (text: string): string => {
  const tags = findTags(text)
  return tags.length === 0 ? text : without(text, spoken(text, tags))
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

/** The tags that are no text: all but those inside a string of a JSON value that stands in what is said. */
const spoken = (text: string, tags: ReadonlyArray<Tag>): ReadonlyArray<Tag> => {
  const outside: Array<Tag> = []
  let inText: ReadonlySet<Tag> = new Set()
  let scans = 0
  let thinking = false
  // What is thought may hold broken JSON, so what follows it is looked at anew.
  let from: number | undefined = 0
  for (const [index, tag] of tags.entries()) {
    if (thinking) {
      outside.push(tag)
      if (!tag.closing) continue
      thinking = false
      from = tag.end
      continue
    }
    if (from !== undefined && scans < maxScans) {
      inText = insideStrings(text, tags.slice(index), from)
      scans++
    }
    from = undefined
    if (inText.has(tag)) continue
    outside.push(tag)
    if (tag.closing) from = tag.end
    else thinking = true
  }
  return outside
}

/** More blocks than this before JSON are no reply that we ask for; each scan reads to the end. */
const maxScans = 4

const insideStrings = (text: string, tags: ReadonlyArray<Tag>, from: number): ReadonlySet<Tag> =>
  (from === 0 ? dataTags(text, tags) : undefined) ?? valueTags(text.slice(from), tags, from)

/** In a reply that begins as data: by the double quotes, if they pair up. Broken JSON is still JSON to its reader. */
const dataTags = (text: string, tags: ReadonlyArray<Tag>): ReadonlySet<Tag> | undefined => {
  const first = trim(text).slice(0, 3)
  if (!(first.startsWith("{") || first.startsWith("[") || first.startsWith('"') || first === "```")) return undefined
  const inside = new Set<Tag>()
  let next = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const tag = tags[next]
    if (tag !== undefined && i === tag.start) {
      if (inString) inside.add(tag)
      next++
    }
    const c = text.charCodeAt(i)
    if (c === 0x22) inString = !inString
    else if (c === 0x5c && inString) i++
  }
  return inString ? undefined : inside
}

/** In prose: the strings of values that end and whose quotes leave no doubt. */
const valueTags = (rest: string, tags: ReadonlyArray<Tag>, from: number): ReadonlySet<Tag> => {
  const strung: Array<Tag> = []
  let next = 0
  const { spans } = JsonText.find(rest, startsValue, (start, end) => {
    for (; next < tags.length; next++) {
      const tag = tags[next]
      if (tag === undefined || tag.start - from > end) return
      if (tag.start - from > start) strung.push(tag)
    }
  })
  const inside = new Set<Tag>()
  let at = 0
  for (const tag of strung) {
    while (at < spans.length && (spans[at]?.end ?? 0) + from <= tag.start) at++
    const span = spans[at]
    if (span !== undefined && span.start + from < tag.start && span.innerQuotes === 0) inside.add(tag)
  }
  return inside
}

/** An object, or an array that starts with a string or an object. */
const startsValue = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x5b) return JsonText.startsObject(text, at)
  const next = JsonText.afterBlanks(text, at + 1)
  return JsonText.isQuote(text.charCodeAt(next)) || JsonText.startsObject(text, next)
}

const without = (text: string, tags: ReadonlyArray<Tag>): string => {
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
