/**
 * Marks that say where a reply or a plan ends and are not part of it: closing tags, `<end_plan>`, `#END-OF-PLAN`,
 * `[END]`. Some models are asked for them, others learnt them.
 */
import { fenceLine, trim } from "./ReplyText.js"

/** Words of the tags that wrap a plan or an answer, alone or in a longer name such as `action_plan`. */
const wrapper =
  /(?:^|[_:.-])(?:plans?|steps?|tasks?|list|answers?|outputs?|responses?|results?|reply|final|solutions?|todos?|action_?plan|document|verdict|report)(?:$|[_:.-])/i
const tagLine = /^<(\/?)([\p{L}][\w:.-]{0,40})\s?>$/u
const bracketLine = /^\[\/([\p{L}][\w -]{0,30})\]$/u

/** Returns what a line says without its marks, if it says that this is the end. */
const ends: ReadonlySet<string> = new Set(
  "end endplan planend endsteps stepsend endlist listend endanswer endresponse endoutput endreply endtask endturn endcode eom eot eos eof eop done finish finished stop terminate complete completed theend".split(
    " "
  )
)
const endOf =
  /^endof(?:the)?(?:plan|steps?|list|answer|response|output|reply|task|turn|message|text|document|utterance)$/

/** Returns whether a line only says that a plan or a reply ends here, or opens or closes a tag that wraps one. */
export const isMark = (line: string): boolean => {
  if (line.length > 80) return false
  const text = trim(line)
  const first = text.charCodeAt(0)
  const isLetter = (first >= 0x41 && first <= 0x5a) || first === 0x65
  if (!isLetter && !"<[{(#*=-_~|".includes(text.charAt(0))) return false
  const tag = tagLine.exec(text)
  if (tag !== null) return wrapper.test(tag[2] ?? "") || isEnd(tag[2] ?? "")
  return bracketLine.test(text) || saysEnd(text)
}

const saysEnd = (text: string): boolean => {
  if (/^[-*+]\s/.test(text) || /\d/.test(text)) return false
  const word = text.replaceAll(/[^\p{L}]/gu, "")
  if (endOf.test(word.toLowerCase())) return /^[^\p{L}]*end[ _-]?of/iu.test(text)
  return ends.has(word.toLowerCase()) && (!/^\p{L}/u.test(text) || (word === word.toUpperCase() && word.length > 2))
}

const isEnd = (name: string): boolean => {
  const word = name.toLowerCase().replaceAll(/[^a-z]/g, "")
  return ends.has(word) || endOf.test(word)
}

/** Returns whether a line only closes a tag, of any name. */
export const closesTag = (line: string): boolean => line.length < 80 && tagLine.exec(trim(line))?.[1] === "/"

const lastTag = /<\/([\p{L}][\w:.-]{0,40})\s?>$/u
const lastMark =
  /(?:<\|?end[\w.|-]{0,30}>|#{1,3}[ ]?END[\w -]{0,20}|\[(?:\/\p{L}[\w -]{0,20}|END[\w -]{0,20})\]|\[\[ ## completed ## \]\])$/u

/**
 * A text without the marks at its end. A closing tag goes where it wraps a plan or an answer and nothing stands between
 * it and the text, or where what it closes was not opened in the last line, the one that it would belong to.
 */
export const without = (text: string): string => {
  let body = trimEnd(text)
  for (let count = 0; count < maxMarks; count += 1) {
    const start = body.lastIndexOf("\n") + 1
    // A long line is a text of its own. Only its end is looked at.
    const tail = body.slice(Math.max(start, body.length - 80))
    const line = body.length - start <= 80 ? body.slice(start) : ""
    if (line !== "" && (isMark(line) || isStrayFence(body, line)) && start > 0) body = trimEnd(body.slice(0, start))
    else {
      const mark = lastMark.exec(tail)?.[0] ?? strayTag(body, tail)
      if (mark === undefined || mark.length === body.length) return body
      body = trimEnd(body.slice(0, -mark.length))
    }
  }
  return body
}

/** Returns whether a text's last line is a code fence that closes nothing. */
const isStrayFence = (body: string, line: string): boolean =>
  fenceLine(line)?.info === "" && body.split("\n").filter((other) => fenceLine(other) !== undefined).length % 2 === 1

/** The closing tag that a text ends in, if the tag is not a part of what the text says. */
const strayTag = (body: string, tail: string): string | undefined => {
  const tag = lastTag.exec(tail)
  if (tag === null) return undefined
  const name = tag[1] ?? ""
  const isOwnLine = body.charAt(body.length - tag[0].length - 1) === "\n"
  const opener = body.lastIndexOf(`<${name}`)
  if (opener >= 0) return opener === 0 || (body.charAt(opener - 1) === "\n" && wrapper.test(name)) ? tag[0] : undefined
  const isGlued = !/\s/.test(body.charAt(body.length - tag[0].length - 1))
  return isOwnLine || (isGlued && wrapper.test(name)) ? tag[0] : undefined
}

const firstTag = /^[ \t]{0,8}<([\p{L}][\w:.-]{0,40})\s?>[ \t]*\n?/u

/** A text without the marks at its end, and without the tag at its start that wraps it or a plan. */
export const unwrapped = (text: string): string => {
  const tag = firstTag.exec(text.slice(0, 200))
  const closed = without(text)
  if (tag === null) return closed
  const name = tag[1] ?? ""
  const isClosed = closed.length < text.length && text.slice(closed.length).includes(`</${name}`)
  return isClosed || wrapper.test(name) ? closed.slice(tag[0].length) : closed
}

const maxMarks = 8

const trimEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && /\s/.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
