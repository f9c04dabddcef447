/**
 * What an answer reader found at one place.
 *
 * @internal
 */
export type Problem =
  | "no_number"
  | "ambiguous"
  | "malformed"
  | "no_option"
  | "no_answer"
  | "invalid_date"
  | "inconsistent"

export type Finding<A> =
  | { readonly _tag: "Found"; readonly value: A }
  | { readonly _tag: "Problem"; readonly problem: Problem; readonly at: number }
  /** The place says nothing about the answer: look elsewhere. */
  | { readonly _tag: "Ignored" }

export const found = <A>(value: A): Finding<A> => ({ _tag: "Found", value })
export const problem = (problem: Problem, at: number): Finding<never> => ({ _tag: "Problem", problem, at })
export const ignored: Finding<never> = { _tag: "Ignored" }
