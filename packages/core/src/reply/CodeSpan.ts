/**
 * Tells which places of a text are code: in a code fence that is closed, or in inline code.
 */

/** Answers for positions in ascending order. */
export interface CodeSpans {
  /**
   * Returns whether `at` is code. What stands before `from` is left out of account: a fence or a backtick there opens
   * nothing. Both may only grow from one call to the next.
   */
  readonly isCode: (at: number, from: number) => boolean
  /** The bounds of the line of `at`, which may only grow from one call to the next. */
  readonly lineOf: (at: number) => { readonly start: number; readonly end: number }
}

/** Finds the code of a text, in one pass over it however often it is asked, and in none if it is never asked. */
export const make = (text: string): CodeSpans => {
  const lineOf = lines(text)
  const isInline = inline(text)
  let isFenced: ReturnType<typeof fenced> | undefined
  return {
    isCode: (at, from) => {
      isFenced ??= fenced(text)
      return isFenced(at, from) || isInline(at, from, lineOf(at))
    },
    lineOf
  }
}

interface Bounds {
  readonly start: number
  readonly end: number
}

const lines = (text: string) => {
  let line: Bounds = { start: 0, end: lineEnd(text, 0) }
  return (at: number): Bounds => {
    while (at > line.end) line = { start: line.end + 1, end: lineEnd(text, line.end + 1) }
    return line
  }
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from)
  return end === -1 ? text.length : end
}

interface FenceMark {
  readonly start: number
  readonly end: number
  readonly mark: string
  readonly length: number
  readonly opensOnly: boolean
}

/** Lines of at least three backticks or tildes, behind blanks, a quote mark or a bullet. */
const fenceMarks = (text: string): ReadonlyArray<FenceMark> => {
  const marks: Array<FenceMark> = []
  if (!text.includes("```") && !text.includes("~~~")) return marks
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start)
    let at = start
    while (at < end && at - start < 16 && " \t>-*".includes(text.charAt(at))) at++
    const mark = text.charAt(at)
    let behind = at
    if (mark === "`" || mark === "~") while (text.charAt(behind) === mark) behind++
    if (behind - at >= 3) {
      const info = text.slice(behind, Math.min(end, behind + 200))
      if (!info.includes("`")) marks.push({ start, end, mark, length: behind - at, opensOnly: info.trim() !== "" })
    }
    start = end + 1
  }
  return marks
}

const fenced = (text: string) => {
  const marks = fenceMarks(text)
  const longest = longestClosers(marks)
  let next = 0
  let region: Bounds = { start: 0, end: 0 }
  return (at: number, from: number): boolean => {
    for (;;) {
      if (at < region.end && region.start >= from) return at >= region.start
      let open = marks[next]
      while (open !== undefined && open.start < Math.max(from, region.end)) open = marks[++next]
      if (open === undefined || open.start > at) return false
      next++
      if (((open.mark === "`" ? longest.ticks : longest.tildes)[next] ?? 0) < open.length) continue
      let close = marks[next]
      while (close !== undefined && !(close.mark === open.mark && !close.opensOnly && close.length >= open.length)) {
        close = marks[++next]
      }
      if (close === undefined) return false
      region = { start: open.start, end: close.end }
    }
  }
}

/** For each mark, the longest closing fence of backticks and of tildes from there on. */
const longestClosers = (
  marks: ReadonlyArray<FenceMark>
): { readonly ticks: Uint32Array; readonly tildes: Uint32Array } => {
  const ticks = new Uint32Array(marks.length)
  const tildes = new Uint32Array(marks.length)
  for (let i = marks.length - 1; i >= 0; i--) {
    const mark = marks[i]
    const length = mark === undefined || mark.opensOnly ? 0 : mark.length
    ticks[i] = Math.max(ticks[i + 1] ?? 0, mark?.mark === "`" ? length : 0)
    tildes[i] = Math.max(tildes[i + 1] ?? 0, mark?.mark === "~" ? length : 0)
  }
  return { ticks, tildes }
}

/** Inline code stands on one line, between runs of backticks of one length with no blank on their inner sides. */
const inline = (text: string) => {
  // The next run of backticks that may open inline code.
  let open = -1
  let span: Bounds = { start: 0, end: 0 }
  const seek = (from: number) => {
    if (open >= from) return
    const found = text.indexOf("`", from)
    open = found === -1 ? text.length : found
  }
  return (at: number, from: number, line: Bounds): boolean => {
    if (at < span.end && span.start >= from) return at >= span.start
    seek(Math.max(from, line.start))
    while (open < at) {
      const inside = afterRun(text, open)
      const close = closingRun(text, inside, inside - open, line.end)
      if (close === -1) {
        seek(inside)
        continue
      }
      span = { start: open, end: close + inside - open }
      seek(span.end)
      if (at < span.end) return true
    }
    return false
  }
}

/** Returns where the next run of the same length starts, if it may close inline code. */
const closingRun = (text: string, from: number, length: number, end: number): number => {
  if (/^\s?$/.test(text.charAt(from))) return -1
  let at = text.indexOf("`", from)
  for (let runs = 0; runs < 8 && at !== -1 && at < end; runs++) {
    const after = afterRun(text, at)
    if (after - at === length) return /\s/.test(text.charAt(at - 1)) ? -1 : at
    at = text.indexOf("`", after)
  }
  return -1
}

const afterRun = (text: string, at: number): number => {
  let end = at
  while (text.charCodeAt(end) === 0x60) end++
  return end
}
