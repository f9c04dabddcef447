/**
 * Prompts with named holes, `{{goal}}`, filled in one pass: a value that looks like a hole stays text.
 */
import { refuse } from "./Options.js"

/** A prompt whose holes are named `Hole`. */
export interface PromptTemplate<Hole extends string> {
  /** The text as written. */
  readonly text: string
  /** The names of the holes, each once, in the order of their first use. */
  readonly holes: ReadonlyArray<Hole>
  /** Literal pieces and holes by turns, starting and ending with a literal. */
  readonly pieces: ReadonlyArray<string>
}

/** The names of the holes in a literal text. */
export type Holes<Text extends string> = string extends Text
  ? string
  : Text extends `${string}{{${infer Hole}}}${infer Rest}`
    ? Trim<Hole> | Holes<Rest>
    : never

type Trim<Text extends string> = Text extends ` ${infer Rest}`
  ? Trim<Rest>
  : Text extends `${infer Rest} `
    ? Trim<Rest>
    : Text

/** Makes a template; the type knows its holes. `{{` without a closing `}}` is literal text. */
export const make = <const Text extends string>(text: Text): PromptTemplate<Holes<Text>> => {
  const pieces = split(text)
  const holes: Array<Holes<Text>> = []
  for (let i = 1; i < pieces.length; i += 2) {
    const hole = pieces[i]
    if (isHole<Holes<Text>>(hole) && !holes.includes(hole)) holes.push(hole)
  }
  return { text, holes, pieces }
}

/**
 * Takes a prompt from a user of a pattern in place of a default one. A hole that the default does not have would never
 * be filled, so it throws an `InvalidOption`; leaving out a hole is the user's choice.
 */
export const override = <Hole extends string>(
  standard: PromptTemplate<Hole>,
  own: string | undefined
): PromptTemplate<Hole> => {
  if (own === undefined) return standard
  checkHoles(own, standard.holes)
  return { text: own, holes: standard.holes, pieces: split(own) }
}

/** Throws an `InvalidOption` on a hole of a prompt that is not known. */
export const checkHoles = (text: string, known: ReadonlyArray<string>): void => {
  const pieces = split(text)
  for (let i = 1; i < pieces.length; i += 2) {
    if (!known.includes(pieces[i] ?? "")) {
      const holes = known.map((hole) => `{{${hole}}}`).join(", ")
      refuse("PromptTemplate", "prompts", `{{${pieces[i]}}} is not a hole of this prompt. Its holes are ${holes}.`)
    }
  }
}

/** Takes prompts from a user in place of default ones, as {@link override} does each. */
export const overrides = <const Templates extends { readonly [key: string]: PromptTemplate<string> }>(
  standard: Templates,
  own: { readonly [key in keyof Templates]?: string | undefined } | undefined
): Templates =>
  own === undefined
    ? standard
    : Object.assign(
        { ...standard },
        ...Object.entries(standard).map(([key, template]) => ({ [key]: override(template, own[key]) }))
      )

/** Fills the holes. Values are inserted as they are and never scanned again. */
export const render = <Hole extends string>(
  template: PromptTemplate<Hole>,
  values: { readonly [hole in Hole]: string }
): string => {
  const lookup: { readonly [hole: string]: string } = values
  let text = ""
  for (let i = 0; i < template.pieces.length; i++) {
    const piece = template.pieces[i] ?? ""
    text += i % 2 === 0 ? piece : (lookup[piece] ?? "")
  }
  return text
}

const isHole = <Hole extends string>(name: string | undefined): name is Hole => name !== undefined

const split = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let from = 0
  for (;;) {
    const open = text.indexOf("{{", from)
    const close = open < 0 ? -1 : text.indexOf("}}", open + 2)
    if (close < 0) {
      pieces.push(text.slice(from))
      return pieces
    }
    pieces.push(text.slice(from, open), text.slice(open + 2, close).trim())
    from = close + 2
  }
}
