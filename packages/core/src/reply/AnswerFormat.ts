/**
 * The form of a final answer, and the reader that gets it out of a reply: a number, a date, one of several options, or
 * a form of one's own.
 *
 * All readers follow the same order. The last explicit marker wins: `Answer:`, `Final Answer`, `The answer is`, `A:`,
 * `\boxed{…}`, `#### …`, with markdown around it. Without a marker the reply must hold a single candidate, or end in a
 * sentence that says `Therefore …` with a single one. Several candidates are `ambiguous`: a reader never picks one.
 *
 * Problem words of the `ParseError`: `no_number`, `no_option`, `no_answer` (the reply says that there is none, or has
 * nothing of the kind), `ambiguous`, `malformed`, `invalid_date`, `inconsistent`.
 */

import * as Either from "effect/Either"
import type { Finding, Problem } from "../internal/answer/finding.js"
import { lastMarked, type Marked } from "../internal/answer/markers.js"
import { type DateOrder, dateInMarked, dateInPlain } from "../internal/answer/readDate.js"
import { numberInMarked, numberInPlain } from "../internal/answer/readNumber.js"
import { type OptionSpec, optionInMarked, optionInPlain } from "../internal/answer/readOption.js"
import { plainSigns } from "../internal/answer/text.js"
import { refuse } from "../Options.js"
import { excerpt, ParseError } from "../ReplyError.js"
import { visible } from "./ReplyText.js"

/** Words for what is wrong with an answer. */
export type { Problem } from "../internal/answer/finding.js"

/** The form of an answer of type `A`. */
export interface AnswerFormat<A> {
  /** The name of the form, as it stands in `the answer (a single …) is:`. */
  readonly name: string
  /** Reads the answer out of a whole reply. Total: every text gives an answer or a `ParseError`. */
  readonly read: (reply: string) => Either.Either<A, ParseError>
}

/** A number, and `%` or the unit that is written onto it (`9km`). Words behind it (`9 apples`) are left out. */
export interface NumberAnswer {
  readonly value: number
  readonly unit?: string
}

/**
 * A format of one's own. `parse` gets the visible part of the reply, without reasoning blocks.
 *
 * @example
 * ```ts
 * const colour = AnswerFormat.make("colour", (text) =>
 *   text.includes("red") ? Either.right("red") : Either.left(new ParseError({ problem: "no_colour", expected: "a colour", found: text })))
 * ```
 */
export const make = <A>(name: string, parse: (text: string) => Either.Either<A, ParseError>): AnswerFormat<A> => ({
  name,
  read: (reply) => parse(visible(reply))
})

interface Readers<A> {
  readonly expected: string
  readonly marked: (text: string, marked: Marked) => Finding<A>
  readonly plain: (text: string) => Finding<A>
}

const fromReaders = <A>(name: string, readers: Readers<A>): AnswerFormat<A> => ({
  name,
  read: (reply) => {
    const text = plainSigns(visible(reply))
    const fail = (problem: Problem, at: number) =>
      Either.left(
        new ParseError({
          problem,
          expected: `${readers.expected}${hints[problem]}`,
          found: text.trim() === "" ? "an empty reply" : excerpt(text, at),
          reply
        })
      )
    if (text.trim() === "") return fail("no_answer", 0)
    for (const marked of lastMarked(text)) {
      const finding = readers.marked(text, marked)
      if (finding._tag === "Found") return Either.right(finding.value)
      if (finding._tag === "Problem") return fail(finding.problem, finding.at)
    }
    const finding = readers.plain(text)
    if (finding._tag === "Found") return Either.right(finding.value)
    return finding._tag === "Problem" ? fail(finding.problem, finding.at) : fail("no_answer", 0)
  }
})

const hints: Readonly<Record<Problem, string>> = {
  no_number: "",
  no_option: "",
  no_answer: "",
  ambiguous: " and no other candidate",
  malformed: " in full",
  invalid_date: " that exists",
  inconsistent: " that agrees with the text beside it"
}

/**
 * A number with options.
 *
 * - `suffixes` (default false): whether `5k`, `2 million`, `3,2 Mio.` and `12万` are multiplied out; otherwise they are
 *   `ambiguous`, never 5, 2, 3.2 and 12.
 * - `decimal`: the decimal mark of a number that could be read with either, as `12,5`, `0,25` and `12.500`. Without it
 *   `12,500` and `12.500` are read as in English, and the others are `ambiguous`. A number that can be read in one way
 *   only (`2.500,75`) is read so whatever the option says.
 */
export const numberWith = (options: {
  readonly suffixes?: boolean
  readonly decimal?: "," | "."
}): AnswerFormat<NumberAnswer> => {
  const settings = { suffixes: options.suffixes ?? false, decimal: options.decimal }
  return fromReaders("number", {
    expected: "a single number, written as `Answer: <number>`",
    marked: (text, marked) => (marked.kind === "option" ? { _tag: "Ignored" } : numberInMarked(text, marked, settings)),
    plain: (text) => numberInPlain(text, settings)
  })
}

/**
 * A number: `1,234.50`, `-12.5`, `5/8`, `2 2/3`, `1.2e3`, `50%` (value 50, unit `%`), with a currency sign or words
 * around it. A number glued to a letter (`12n`) is none; `4 10/3` is `malformed`; `12,5`, `5k` and `6 ft. 2 in.` are
 * `ambiguous`.
 */
export const number: AnswerFormat<NumberAnswer> = numberWith({})

/**
 * A calendar date with an order for dates such as `03/04/2024`. `dayFirst`: true for day before month, false for month
 * before day. A number over 12 can only be the day, whatever the order.
 */
export const dateWith = (options: { readonly dayFirst?: boolean }): AnswerFormat<string> => {
  const order: DateOrder = options.dayFirst === undefined ? undefined : options.dayFirst ? "dayFirst" : "monthFirst"
  return fromReaders("date", {
    expected: "a single date, written as `Answer: <year>-<month>-<day>`",
    marked: (text, marked) => (marked.kind === "option" ? { _tag: "Ignored" } : dateInMarked(text, marked, order)),
    plain: (text) => dateInPlain(text, order)
  })
}

/**
 * A calendar date, as an ISO string such as `2024-07-04`, from plain fields: no time zone can shift it. `03/04/2024` is
 * `ambiguous`, see {@link dateWith}; 30 February is `invalid_date`; a weekday that does not fit is `inconsistent`.
 */
export const date: AnswerFormat<string> = dateWith({})

/**
 * One of several options. Given a list of labels, or a record from label to the option's text: then a label beside
 * another option's text (`C (11)`) is `inconsistent`, and the text alone is read as its label.
 *
 * A single letter counts in lower case only right behind a marker or as the whole reply. Letters under a negation
 * ("it cannot be A") and in formulas are not candidates.
 */
export const option = <const L extends string>(
  options: ReadonlyArray<L> | { readonly [label in L]: string }
): AnswerFormat<L> => {
  const specs = specsOf(options)
  if (specs.length === 0) refuse("AnswerFormat.option", "options", "at least one option is needed.")
  const labels = specs.map((spec) => spec.label)
  const isLetters = labels.every((label) => /^[A-Za-z]$/.test(label))
  return fromReaders<L>(isLetters ? "option letter" : "option", {
    expected: `one of the options ${labels.join(", ")}, written as \`Answer: ${labels[0]}\``,
    marked: (text, marked) => optionInMarked(text, marked, specs),
    plain: (text) => optionInPlain(text, specs)
  })
}

const isList = <L extends string>(
  options: ReadonlyArray<L> | { readonly [label in L]: string }
): options is ReadonlyArray<L> => Array.isArray(options)

const specsOf = <L extends string>(
  options: ReadonlyArray<L> | { readonly [label in L]: string }
): ReadonlyArray<OptionSpec<L>> => {
  if (isList(options)) return options.map((label) => ({ label }))
  const specs: Array<OptionSpec<L>> = []
  for (const label in options) specs.push({ label, text: options[label] })
  return specs
}

/** Any text that says something, as it is. */
export const text: AnswerFormat<string> = make("short text", (shown) =>
  shown === ""
    ? Either.left(new ParseError({ problem: "no_answer", expected: "an answer", found: "nothing" }))
    : Either.right(shown)
)
