/**
 * Finds the marks of {@link file://./markers.ts} in a text.
 */
import {
  answerTags,
  answerTokens,
  endTokens,
  ownTurn,
  promptedEnds,
  roleEnds,
  startTokens,
  strayTokens,
  thinkingTags,
  thinkingTokens,
  turnTokens
} from "./markers.js"

/** What a mark does, whatever its spelling. */
export type Kind =
  /** Begins a block of thinking. */
  | { readonly _tag: "Open"; readonly family: number; readonly isWord: boolean; readonly isPair: boolean }
  /** Ends a block of its family. */
  | { readonly _tag: "Close"; readonly family: number; readonly isWord: boolean }
  /** Begins or ends an answer: counts where it is around all that is said. */
  | { readonly _tag: "AnswerOpen" | "AnswerClose"; readonly name: string }
  /** Stands around a part of an answer. `closes` is the family of thinking that it ends, if that is open. */
  | { readonly _tag: "Wrap"; readonly closes?: number }
  /** Begins a text, ends a turn, or is noise of either kind. */
  | { readonly _tag: "Start" | "Stray" }
  | { readonly _tag: "End"; readonly closes?: number }
  /** Begins a turn of someone. `isNamed`: the token or the word behind it says of whom. */
  | { readonly _tag: "Turn"; readonly isOwn: boolean; readonly isNamed: boolean }

export interface Token {
  readonly start: number
  readonly end: number
  readonly kind: Kind
}

/** All marks of a text, in order. What looks like a mark and is in no table is left out. */
export const findTokens = (text: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  // The same few marks come again and again.
  const known = new Map<string, Kind | undefined>()
  anyMark.lastIndex = 0
  for (let match = anyMark.exec(text); match !== null; match = anyMark.exec(text)) {
    const written = match[0]
    let kind = known.get(written)
    if (kind === undefined && !known.has(written)) {
      kind = kindOf(written)
      known.set(written, kind)
    }
    if (kind === undefined) continue
    const start = match.index
    const end = start + written.length
    const previous = tokens[tokens.length - 1]
    // A run of one mark of a turn is one.
    if (previous !== undefined && previous.kind === kind && previous.end === start && isMergeable(kind)) {
      tokens[tokens.length - 1] = { start: previous.start, end, kind }
    } else tokens.push(kind._tag === "Turn" ? { start, ...withRole(text, end, kind) } : { start, end, kind })
  }
  return tokens
}

const isMergeable = (kind: Kind): boolean =>
  kind._tag === "Start" || kind._tag === "Stray" || (kind._tag === "End" && kind.closes === undefined)

/** The kind of a mark, written in any case and with any blanks inside. */
export const kindOf = (written: string): Kind | undefined => table.get(normal(written)) ?? tagKind(written)

/** Words of a token are joined in many ways: `▁`, `_`, a blank, and `\_` where a model writes Markdown. */
const normal = (written: string): string =>
  written
    .replace(/[\s_▁\\]+/g, "")
    .replaceAll("｜", "|")
    .toLowerCase()

const tagKind = (written: string): Kind | undefined => {
  const match = /^([<[◁])\s*([\\/]?)\s*([\w|:]+)/.exec(written)
  const name = match?.[3]?.toLowerCase()
  if (match === null || name === undefined) return undefined
  const isClosing = match[2] !== ""
  const found = tagNames.get(name) ?? tagNames.get(name.slice(0, Math.max(0, name.indexOf(":"))))
  if (found !== undefined) {
    const isSquare = match[1] === "["
    const isWord = found.isWord || isSquare
    // In square brackets, all but [THINK] are headings as well: they count in pairs.
    const isPair = isSquare && !/^think(?:ing)?$/.test(name)
    return isClosing
      ? { _tag: "Close", family: found.family, isWord }
      : { _tag: "Open", family: found.family, isWord, isPair }
  }
  if (match[1] !== "<" || !answerTags.includes(name)) return undefined
  return { _tag: isClosing ? "AnswerClose" : "AnswerOpen", name }
}

const tagNames = new Map(
  thinkingTags.flatMap(({ isWord = false, names }, family) => names.map((name) => [name, { family, isWord }] as const))
)

/** A token that says that a turn begins, and leaves it to the word behind it to say whose. */
const bareTurn: Kind = { _tag: "Turn", isOwn: true, isNamed: false }

const turnKind = (token: string): Kind =>
  /^<\|(?:ifm\||im_)?start(?:_header_id|_of_role)?\|>$|header_start|start_of_turn|^<\|turn>$/.test(token)
    ? bareTurn
    : { _tag: "Turn", isOwn: ownTurn.test(token), isNamed: true }

const tableOf = (): ReadonlyMap<string, Kind> => {
  const kinds = new Map<string, Kind>()
  const add = (tokens: ReadonlyArray<string>, kind: (token: string) => Kind) => {
    for (const token of tokens) kinds.set(normal(token), kind(token))
  }
  const closes = new Map<string, number>()
  thinkingTokens.forEach(({ close, closeInside = [], open }, row) => {
    const family = thinkingTags.length + row
    add(open, () => ({ _tag: "Open", family, isWord: false, isPair: false }))
    add(close, () => ({ _tag: "Close", family, isWord: false }))
    for (const token of closeInside) closes.set(token, family)
  })
  const closing = (token: string) => {
    const family = closes.get(token)
    return family === undefined ? {} : { closes: family }
  }
  add(answerTokens, (token) => ({ _tag: "Wrap", ...closing(token) }))
  add(startTokens, () => ({ _tag: "Start" }))
  add(strayTokens, () => ({ _tag: "Stray" }))
  add(roleEnds, () => ({ _tag: "Stray" }))
  add(endTokens, (token) => ({ _tag: "End", ...closing(token) }))
  add(turnTokens, turnKind)
  return kinds
}

const table = tableOf()

/** All marks that may end a reply, in their normal form: what is cut off at the end is compared with them. */
export const controlTokens: ReadonlyArray<string> = [
  ...[...table].filter(([, kind]) => isControl(kind)).map(([token]) => token),
  ...promptedEnds.map(normal)
]

/** Returns whether a mark is noise at the end of a reply. */
export function isControl(kind: Kind): boolean {
  return kind._tag === "End" || kind._tag === "Start" || kind._tag === "Stray" || kind._tag === "Turn"
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
const oneOf = (words: ReadonlyArray<string>) =>
  [...words]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join("|")

const tagWords = oneOf([...tagNames.keys(), ...answerTags])
const squareWords = oneOf([...tagNames.keys()])
const others = [
  ...thinkingTokens.flatMap(({ close, open }) => [...open, ...close]),
  ...answerTokens,
  ...startTokens,
  ...endTokens,
  ...turnTokens,
  ...strayTokens
].filter((token) => !/^<\|[^<>]+>$/.test(token))

/** Every repetition is bounded, so the work per character is. */
const anyMark = new RegExp(
  [
    `<\\|(?:open|close)\\|>\\s{0,4}(?:think|response|message)\\s{0,4}(?:<\\|sep\\|>|$)`,
    `<[|｜][^<>\\n]{1,64}>`,
    `<\\s{0,4}[\\\\/]?\\s{0,4}(?:${tagWords})(?::[\\w.-]{1,40})?(?:\\s[^<>]{0,200})?[\\s/]{0,4}(?:>|$)`,
    `\\[\\s{0,2}\\/?\\s{0,2}(?:${squareWords})\\s{0,2}\\]`,
    `◁\\s{0,2}\\/?\\s{0,2}think(?:ing)?\\s{0,2}▷`,
    oneOf(others)
  ].join("|"),
  "gi"
)

const roleWords = "assistant|model|user|human|system|tool|bot|ai|observation|developer|ipython|助手"
const roleEnd = oneOf(roleEnds)
const roleBehind = new RegExp(`[ \\t]{0,4}(${roleWords})(?![\\w-])[ \\t]{0,4}(?:${roleEnd})?`, "iy")
const roleOnLine = new RegExp(`[ \\t]{0,4}(?:${roleWords})[ \\t]{0,4}(?:${roleEnd}|(?=\\n|$))`, "iy")
const onlyRoleEnd = new RegExp(`[ \\t]{0,4}(?:${roleEnd})`, "iy")

/** A turn's token with the role behind it, and the token that ends the role. */
const withRole = (text: string, end: number, kind: Kind): { readonly end: number; readonly kind: Kind } => {
  if (text.charAt(end) === "<" && text.charAt(end + 1) !== "|") return { end, kind }
  if (kind === bareTurn) {
    roleBehind.lastIndex = end
    const role = roleBehind.exec(text)?.[1]
    if (role === undefined) return { end, kind }
    const isOwn = /^(?:assistant|model|bot|ai|助手)$/i.test(role)
    return { end: roleBehind.lastIndex, kind: { _tag: "Turn", isOwn, isNamed: true } }
  }
  for (const behind of [roleOnLine, onlyRoleEnd]) {
    behind.lastIndex = end
    if (behind.test(text)) return { end: behind.lastIndex, kind }
  }
  return { end, kind }
}
