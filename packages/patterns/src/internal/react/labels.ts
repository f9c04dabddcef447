/**
 * The labels of ReAct's text protocol at the starts of lines.
 *
 * @internal
 */

/** `tool` and `arguments` are words that may stand anywhere: they count as `Tool:` with `Input:` behind it only. */
export type LabelKind = "thought" | "input" | "action" | "observation" | "answer" | "question" | "arguments" | "tool"

export interface Label {
  readonly kind: LabelKind
  /** Where the label's line starts, or the label itself inside a line. */
  readonly start: number
  /** Behind its colon. */
  readonly end: number
}

// Bounded repetitions only: the work per line is.
const label =
  /(?:(thoughts?)|(action[ _-]?input|tool[ _-]?input)|(action)|(observations?)|((?:the )?final[ _-]?answer|answer)|(question)|(input|arguments|args|parameters)|(tool))[ \t*_]{0,4}\d{0,3}[ \t*_]{0,4}[:：]\*{0,3}/iy
const heading = /((?:the )?final answer)[ \t*_]{0,4}(?:\r?\n|$)/iy
/** Without a colon, where the line is a heading or in bold. */
const markedHeading =
  /(?:(thoughts?)|(action[ _-]?input)|(action)|(observations?))[ \t]{0,4}[*_]{0,3}[ \t]{0,4}(?:\r?\n|$)/iy
const inline =
  /(?<=[\s.!?*])(?:(Action[ _]?Input)|(Action)|(Observation)|((?:Final )?Answer))[ \t*]{0,3}\d{0,3}[ \t*]{0,3}[:：]/g
const firstLetters = "aAfFiIoOpPqQtT"
const decoration = /[ \t*_#>`\-•+]{0,16}(?:\d{1,3}[.)][ \t*]{0,4})?/y

const kinds: ReadonlyArray<LabelKind> = [
  "thought",
  "input",
  "action",
  "observation",
  "answer",
  "question",
  "arguments",
  "tool"
]
const inlineKinds: ReadonlyArray<LabelKind> = ["input", "action", "observation", "answer"]

/** The first label of one of the kinds at or behind `from`. */
export const findLabel = (text: string, from: number, wanted: ReadonlyArray<LabelKind>): Label | undefined => {
  let start = from
  while (start <= text.length) {
    const newline = text.indexOf("\n", start)
    const end = newline === -1 ? text.length : newline
    const isLineStart = start === 0 || text.charCodeAt(start - 1) === 10
    const first = isLineStart ? labelAt(text, start) : undefined
    if (first !== undefined && first.end <= end + 1 && wanted.includes(first.kind)) return first
    const isProtocol = first?.kind === "thought" || first?.kind === "action" || first?.kind === "input"
    if (isProtocol || !isLineStart) {
      const line = text.slice(start, end)
      inline.lastIndex = first === undefined ? 0 : first.end - start
      for (let match = inline.exec(line); match !== null; match = inline.exec(line)) {
        const kind = inlineKinds[match.slice(1).findIndex((group) => group !== undefined)]
        if (kind !== undefined && wanted.includes(kind)) {
          return { kind, start: start + match.index, end: start + match.index + match[0].length }
        }
      }
    }
    if (newline === -1) return undefined
    start = newline + 1
  }
  return undefined
}

export const isLineStart = (text: string, at: number): boolean => at === 0 || text.charCodeAt(at - 1) === 10

/** As {@link findLabel}, at the start of a line only. */
export const findLineLabel = (text: string, from: number, wanted: ReadonlyArray<LabelKind>): Label | undefined => {
  let start = isLineStart(text, from) ? from : text.indexOf("\n", from) + 1
  while (isLineStart(text, start) && (start > 0 || from === 0)) {
    const found = labelAt(text, start)
    const newline = text.indexOf("\n", start)
    if (found !== undefined && wanted.includes(found.kind) && (newline === -1 || found.end <= newline + 1)) return found
    if (newline === -1) return undefined
    start = newline + 1
  }
  return undefined
}

const labelAt = (text: string, start: number): Label | undefined => {
  decoration.lastIndex = start
  decoration.test(text)
  const at = Math.max(start, decoration.lastIndex)
  if (!firstLetters.includes(text.charAt(at))) return undefined
  label.lastIndex = at
  const match = label.exec(text)
  if (match !== null) {
    const kind = kinds[match.slice(1).findIndex((group) => group !== undefined)]
    return kind === undefined ? undefined : { kind, start, end: label.lastIndex }
  }
  heading.lastIndex = at
  if (heading.test(text)) return { kind: "answer", start, end: heading.lastIndex }
  if (at === start || !/\*\*|#/.test(text.slice(start, at))) return undefined
  markedHeading.lastIndex = at
  const marked = markedHeading.exec(text)
  const kind = marked === null ? undefined : kinds[marked.slice(1).findIndex((group) => group !== undefined)]
  return kind === undefined ? undefined : { kind, start, end: markedHeading.lastIndex }
}

/** Returns whether a label stands in a quote of someone else: `> Final Answer: 3`. */
export const isInQuote = (text: string, label: Label): boolean =>
  isLineStart(text, label.start) && /^[ \t]{0,8}>/.test(text.slice(label.start, label.start + 12))

/** The labels that end an action or its input. */
export const turnLabels: ReadonlyArray<LabelKind> = ["thought", "action", "input", "observation", "answer", "question"]

/** Where the text of an action or an input that starts at `from` ends. */
export const nextLabel = (text: string, from: number, wanted = turnLabels): number =>
  findLabel(text, from, wanted)?.start ?? text.length

/** Where an answer ends: at what a model invents behind it. A line such as `Input:` belongs to the answer. */
export const answerEnd = (text: string, from: number): number => {
  const end = nextLabel(text, from, ["thought", "observation", "question"])
  const action = findLabel(text, from, ["action"])
  if (action === undefined || action.start >= end) return end
  return findLabel(text, action.end, ["input"]) === undefined ? end : action.start
}
