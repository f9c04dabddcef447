/**
 * Takes off the marks that a reply ends with.
 */
import { isBlank } from "./blanks.js"
import { promptedEnds } from "./markers.js"
import { controlTokens, isControl, kindOf } from "./tokens.js"

/**
 * The text without the marks of turns at its end, however many, whole or cut off, with a role behind them or in front
 * of what closes a code fence or JSON. At the end of a sentence about it (`it ends with <|im_end|>`) a mark is text.
 */
export const withoutEnd = (text: string): string => {
  const isMark = markJudge(text)
  let end = lastOf(text, text.length)
  const cut = cutOff(text, end)
  if (cut >= 0) end = lastOf(text, cut)
  for (;;) {
    const start = markBefore(text, end, isMark)
    if (start < 0) break
    if (start > 0 && end === lastOf(text, text.length) && isSaid(text, start)) break
    end = lastOf(text, start)
  }
  const kept = text.slice(0, end)
  return withoutRole(inside(kept, isMark) ?? kept)
}

/** Without the model's own role in plain words at the start. */
const withoutRole = (text: string): string => {
  const role = /^\s*(?:assistant[ \t]*\n(?=[ \t]*\n)|助手[：:])/.exec(text)
  return role === null ? text : text.slice(role[0].length)
}

/** Behind the last character that shows. */
const lastOf = (text: string, from: number): number => {
  let end = from
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

const maxMark = 80

/** Where a mark starts that ends at `end`, or -1. */
const markBefore = (text: string, end: number, isMark: (written: string) => boolean): number => {
  const last = text.charAt(end - 1)
  const start = last === ">" ? "<" : last === "]" ? "[" : undefined
  if (start !== undefined) return bracketed(text, end, start, isMark)
  const window = text.slice(Math.max(0, end - 40), end)
  if (/(?:^|\n|[.!?)\]"'`*…。]\s{1,4})TERMINATE[.!]?$/.test(window)) return text.lastIndexOf("TERMINATE", end)
  if (/(?:^|[\s.!?])#END-OF-PLAN$/.test(window)) return end - "#END-OF-PLAN".length
  const role = /[>\]]\s{0,4}(assistant|model|user|system|tool)[:：]?$/i.exec(window)
  if (role === null) return -1
  // The role goes only with the mark in front of it.
  const behind = end - (role[0].length - 1)
  return markBefore(text, lastOf(text, behind), isMark)
}

const bracketed = (text: string, end: number, opener: string, isMark: (written: string) => boolean): number => {
  let at = text.lastIndexOf(opener, end - 2)
  // `<<SYS>>`, `<role>HUMAN</role>` and `[[ ## completed ## ]]` have brackets inside.
  for (let tries = 0; tries < 4 && at >= 0 && end - at <= maxMark; tries++) {
    const written = text.slice(at, end)
    if (isMark(written)) return text.slice(at - 1, at) === "_" && /^<eot>$/i.test(written) ? at - 1 : at
    at = at === 0 ? -1 : text.lastIndexOf(opener, at - 1)
  }
  return -1
}

const prompted = new Set(promptedEnds.map((token) => token.toLowerCase().replace(/\s+/g, "")))
/** Any other special token is noise at the end, but for those that say that a tool was called. */
const special = /^<[|｜][\w▁ :./-]{1,64}[|｜]>$/
const ofCalls = /tool|call|function|action|python|plugin|invoke|channel|constrain|message|escape|DSML/i
const unused = /^(?:<unused\d{1,4}>|\[unused\d{1,4}\])$/

/** Returns whether something in brackets is a mark: `</s>` and `</code>` are not where the text opens them as HTML. */
const markJudge = (text: string): ((written: string) => boolean) => {
  const known = new Map<string, boolean>()
  for (const name of ["s", "code"]) if (text.includes(`<${name}>`, 1)) known.set(`</${name}>`, false)
  return (written) => {
    let is = known.get(written)
    if (is === undefined) {
      is = isToken(written)
      known.set(written, is)
    }
    return is
  }
}

const isToken = (written: string): boolean => {
  const kind = kindOf(written)
  if ((kind !== undefined && isControl(kind)) || prompted.has(written.toLowerCase().replace(/\s+/g, ""))) return true
  return (special.test(written) && kind === undefined && !ofCalls.test(written)) || unused.test(written)
}

/** Where a mark starts that the end of the reply cuts off, or -1. */
const cutOff = (text: string, end: number): number => {
  const at = Math.max(text.lastIndexOf("<", end), text.lastIndexOf("[|", end))
  if (at < 0 || end - at > maxMark) return -1
  const written = text.slice(at, end)
  if (/[>\n]/.test(written)) return -1
  const known = written
    .replace(/[\s_▁\\]+/g, "")
    .replaceAll("｜", "|")
    .toLowerCase()
  if (known.length >= 3 && controlTokens.some((token) => token.startsWith(known) && token !== known)) return at
  return /^<[\w▁]{3,24}[|｜]$/.test(written) ||
    (/^<[|｜][A-Za-z_▁]{2,40}[|｜]?$/.test(written) && !ofCalls.test(written))
    ? at
    : -1
}

/** Words in front of a mark that say that it is meant as text. */
const naming =
  /(?:^|\s)(?:with|by|is|the|a|an|token|tokens|tag|marker|and|or|of|like|as|called|emits?|writes?|uses?|append|add|see|say|says|:|=) $/i

const isSaid = (text: string, start: number): boolean => naming.test(text.slice(Math.max(0, start - 16), start))

const closers = /[\s"'}\]`~]/

/** Without a mark in front of what closes a code fence or JSON at the very end; undefined where there is none. */
const inside = (text: string, isMark: (written: string) => boolean): string | undefined => {
  let from = text.length
  while (from > 0 && text.length - from < 40 && closers.test(text.charAt(from - 1))) from--
  if (from === text.length) return undefined
  // `]` may close the mark itself.
  for (let end = from; end < text.length && end < from + 2; end++) {
    const tail = text.slice(end)
    let start = markBefore(text, end, isMark)
    if (start < 0) continue
    for (let count = 0; count < 8; count++) {
      const more = markBefore(text, lastOf(text, start), isMark)
      if (more < 0) break
      start = more
    }
    return isTail(text, start, tail) ? text.slice(0, start) + tail : undefined
  }
  return undefined
}

const isTail = (text: string, start: number, tail: string): boolean => {
  const before = text.slice(0, start)
  const isFenced = /^\s*(?:```+|~~~+)\s*$/.test(tail)
  const previous = before.charAt(before.length - 1)
  // A sample of a template holds more marks than one.
  if (/<[|｜]|<\/?s>|_of_turn>|\[INST\]/.test(before)) return false
  if (!isFenced) {
    // As a whole string, or as a word of one, it is text.
    const isWord = /^["']/.test(tail) && /["'\s]/.test(previous)
    return !isWord && /[}\]]/.test(tail)
  }
  const said = before.trimEnd()
  return /[}\]]$/.test(said) || (/^\s*(?:```|~~~)/.test(before) && said.includes("\n"))
}
