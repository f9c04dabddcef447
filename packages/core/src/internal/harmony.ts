/**
 * Reads the channels of gpt-oss's harmony format: only `final` is a reply.
 */
import * as CodeSpan from "../reply/CodeSpan.js"

/**
 * The text of the final channel, `""` where there are channels but no final one, or undefined where there are none:
 *
 * - `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>`, also with free
 *   text or nothing in a header, or without `<|message|>`;
 * - `analysis…assistantfinal…`, where a server left out the special tokens.
 */
export const harmonyFinal = (text: string): string | undefined => {
  if (text.includes("<|channel|>")) return finalOf(text)
  return text.includes("assistantfinal") || text.includes("assistantcommentary") || text.startsWith("analysis")
    ? strippedFinal(text)
    : undefined
}

const tokenPattern = /<\|(start|channel|message|end|return|call|constrain)\|>/g
const opening = /^\s*(?:<\|start\|>\s*)*(?:assistant\s*)?<\|channel\|>/
/** A whole header: it counts wherever it stands, but in code and in quotes. */
const header =
  /(?<![`"'“‘«(])<\|channel\|>\s{0,4}(?:analysis|commentary|final)[^\n<>]{0,80}(?:<\|constrain\|>\s?\w{0,16}\s?)?<\|message\|>/

const finalOf = (text: string): string | undefined => {
  if (!opening.test(text)) {
    const first = header.exec(text)
    if (first === null || CodeSpan.make(text).isCode(first.index, 0)) return undefined
  }
  const tokens = [...text.matchAll(tokenPattern)]
  const code = CodeSpan.make(text)
  const finals: Array<string> = []
  // Where the body of the final channel that is read starts.
  let body = -1
  const end = (at: number) => {
    if (body >= 0) finals.push(text.slice(body, at).trim())
    body = -1
  }
  for (const [index, token] of tokens.entries()) {
    const kind = token[1]
    if (body >= 0 && (kind === "message" || kind === "constrain" || code.isCode(token.index, body))) continue
    if (kind !== "message" && kind !== "constrain") end(token.index)
    if (kind === "channel") body = bodyOf(text, tokens, index)
  }
  end(text.length)
  return finals.filter((final) => final !== "").join("\n\n")
}

/** Where the body of a final channel starts, or -1 for another channel. */
const bodyOf = (text: string, tokens: ReadonlyArray<RegExpExecArray>, index: number): number => {
  const from = (tokens[index]?.index ?? 0) + "<|channel|>".length
  const name = /^\s{0,4}final(?![\w-])/.exec(text.slice(from, from + 16))
  if (name === null) return -1
  let next = tokens[index + 1]
  // A recipient makes it a call.
  const written = text.slice(from, Math.min(next?.index ?? text.length, from + 100))
  if (/^\s*final\s+to=/.test(written)) return -1
  if (next?.[1] === "constrain") next = tokens[index + 2]
  return next?.[1] === "message" ? next.index + next[0].length : from + name[0].length
}

/** A channel's name behind the role, with nothing between: no prose says that, unless it is about it. */
const strippedPattern = /(?<![`"'“‘])assistant(analysis|commentary|final)(?!["'”’`]| is | in | are )/g
/** `analysis` glued to the first words of a thought; `analysisResult` is a name, `analysis of` is prose. */
const strippedStart =
  /^analysis(?:I|We|The|User|Let|Lets|Let's|Need|It|So|Okay|Ok|This|That|They|There|You|Task|First|To|Now|Question|Just|Must|Simple|Provide|Check|Given|Goal|Plan|A|In|Find|What|Hmm)(?![A-Za-z])/

const strippedFinal = (text: string): string | undefined => {
  const marks = [...text.matchAll(strippedPattern)]
  if (marks.length === 0) return strippedStart.test(text) ? "" : undefined
  return marks
    .flatMap((mark, index) =>
      mark[1] === "final"
        ? [text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length).trim()]
        : []
    )
    .join("\n\n")
}
