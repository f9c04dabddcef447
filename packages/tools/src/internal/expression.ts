/**
 * Reads arithmetic as people and models write it, in one pass over the text, and refuses everything else.
 *
 * @internal
 */

/** What is to be computed. */
export type Expression =
  | { readonly _tag: "Number"; readonly text: string }
  | { readonly _tag: "Sign"; readonly isNegative: boolean; readonly of: Expression }
  | {
      readonly _tag: "Binary"
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
    }
  /** The numbers in the parentheses of a function; `name` is absent for parentheses alone. */
  | { readonly _tag: "Call"; readonly name: string | undefined; readonly given: ReadonlyArray<Expression> }

export type BinaryOperator = "+" | "-" | "*" | "/" | "%" | "^"

/** The expression, or what is wrong with the text. */
export type Read =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly problem: string }

/** The longest expression that is read, in characters. */
const maxLength = 4_000

/** The deepest nesting of parentheses that is read. */
const maxDepth = 100

/** The most operators that are read; with {@link maxDepth} it bounds how deep an expression is. */
const maxOperators = 1_000

/** An operator that waits for what is behind it. `sign` has one operand. */
type Operator = { readonly sign: BinaryOperator; readonly isPrefix: boolean }

/** What is open: the text as a whole, a pair of parentheses, or a function. */
interface Frame {
  readonly name: string | undefined
  readonly given: Array<Expression>
  readonly operands: Array<Expression>
  readonly operators: Array<Operator>
}

/**
 * Reads an expression. Numbers keep their digits: `1,410,000,000`, `1_000` and digits grouped by no-break spaces become
 * plain. `^` and `**` are powers, `×` `·` are `*`, `÷` is `/`, U+2212 is `-`, and `50%` is `(50/100)`; a `%` before
 * another operand stays the remainder.
 */
export const readExpression = (input: string, functions: ReadonlyArray<string>): Read => {
  if (input.length > maxLength) {
    return fail(`The expression has ${input.length} characters; at most ${maxLength} are read.`)
  }
  let frame = frameOf(undefined)
  const outer: Array<Frame> = []
  /** True if an operand has just ended, and whether by a percent sign. */
  let ended: "no" | "operand" | "percent" = "no"
  let isComplete = true
  let operatorCount = 0
  let at = 0

  const open = (name: string | undefined): void => {
    outer.push(frame)
    frame = frameOf(name)
    ended = "no"
  }
  const operate = (sign: BinaryOperator): void => {
    operatorCount++
    if (ended !== "no") {
      reduce(frame, sign)
      frame.operators.push({ sign, isPrefix: false })
    } else if (sign === "+" || sign === "-") frame.operators.push({ sign, isPrefix: true })
    else isComplete = false
    ended = "no"
  }
  /** Ends an argument, or the whole. */
  const close = (): void => {
    if (ended === "no") isComplete = false
    reduce(frame)
    frame.given.push(frame.operands.pop() ?? nothing)
  }

  while (at < input.length) {
    const char = input.charAt(at)
    if (ended !== "no" && startsOperand(char)) return fail(`An operator is missing before character ${at + 1}.`)
    if (isSpace(char)) at++
    else if (isDigit(char) || (char === "." && isDigit(input.charAt(at + 1)))) {
      const number = readNumber(
        input,
        at,
        [...outer, frame].some(({ name }) => name !== undefined)
      )
      if (typeof number === "string") return fail(number)
      frame.operands.push({ _tag: "Number", text: number.text })
      ended = "operand"
      at = number.end
    } else if (isLetter(char)) {
      const end = nameEnd(input, at)
      const name = input.slice(at, end).toLowerCase()
      const opens = skipSpace(input, end)
      if (!functions.includes(name)) return fail(unknownName(input.slice(at, end), functions))
      if (input.charAt(opens) !== "(") return fail(`${name} needs its numbers in parentheses, such as ${name}(2).`)
      open(name)
      at = opens + 1
    } else if (char === "(") {
      open(undefined)
      at++
    } else if (char === ")") {
      const around = outer.pop()
      if (around === undefined) return fail(`There is a ")" too many at character ${at + 1}.`)
      const isEmpty = ended === "no" && frame.given.length === 0 && frame.operators.length === 0
      if (!isEmpty) close()
      around.operands.push({ _tag: "Call", name: frame.name, given: frame.given })
      frame = around
      ended = "operand"
      at++
    } else if (char === ",") {
      if (frame.name === undefined) {
        return fail(
          `The comma at character ${at + 1} is not read: write a decimal point as "." and thousands as 1000 or 1,000.`
        )
      }
      close()
      ended = "no"
      at++
    } else if (char === "%" && ended !== "no" && !startsOperand(input.charAt(skipSpace(input, at + 1)))) {
      // One around the other they would be as deep as the text is long.
      if (ended === "percent") {
        return fail(`The "%" at character ${at + 1} follows another: put the first in parentheses.`)
      }
      const left = frame.operands.pop() ?? nothing
      frame.operands.push({
        _tag: "Call",
        name: undefined,
        given: [{ _tag: "Binary", operator: "/", left, right: hundred }]
      })
      ended = "percent"
      at++
    } else {
      const operator = char === "*" && input.charAt(at + 1) === "*" ? "^" : operators.get(char)
      if (operator === undefined) {
        return fail(
          `${JSON.stringify(String.fromCodePoint(input.codePointAt(at) ?? 0))} at character ${at + 1} is not arithmetic.`
        )
      }
      operate(operator)
      at += operator === "^" && char === "*" ? 2 : 1
    }
    if (operatorCount > maxOperators) return fail(`The expression has more than ${maxOperators} operators.`)
    if (outer.length > maxDepth) return fail(`Parentheses are nested more than ${maxDepth} deep.`)
  }
  if (outer.length > 0) return fail(`A ")" is missing at the end.`)
  if (input.trim() === "") return fail("There is nothing to calculate.")
  close()
  return isComplete
    ? { ok: true, expression: frame.given[0] ?? nothing }
    : fail("The expression is not complete: each operator needs a number on both sides.")
}

const frameOf = (name: string | undefined): Frame => ({ name, given: [], operands: [], operators: [] })

const nothing: Expression = { _tag: "Number", text: "0" }
const hundred: Expression = { _tag: "Number", text: "100" }

/** How closely an operator binds: a power closer than a sign, a sign closer than a product. */
const strength = ({ isPrefix, sign }: Operator): number =>
  sign === "^" ? 4 : isPrefix ? 3 : "*/%".includes(sign) ? 2 : 1

/**
 * Puts together what binds at least as closely as the operator that comes next, or everything. A power waits for its
 * right.
 */
const reduce = (frame: Frame, next?: BinaryOperator): void => {
  const least = next === undefined ? 0 : strength({ sign: next, isPrefix: false }) + (next === "^" ? 1 : 0)
  for (let top = frame.operators.at(-1); top !== undefined && strength(top) >= least; top = frame.operators.at(-1)) {
    frame.operators.pop()
    const right = frame.operands.pop() ?? nothing
    frame.operands.push(
      top.isPrefix
        ? { _tag: "Sign", isNegative: top.sign === "-", of: right }
        : { _tag: "Binary", operator: top.sign, left: frame.operands.pop() ?? nothing, right }
    )
  }
}

const fail = (problem: string): Read => ({ ok: false, problem })

const unknownName = (name: string, functions: ReadonlyArray<string>): string =>
  `There is no function or variable ${JSON.stringify(name.slice(0, 60))}. Write numbers, + - * / % ^ and parentheses; functions are ${functions.join(", ")}.`

const operators: ReadonlyMap<string, BinaryOperator> = new Map([
  ["+", "+"],
  ["-", "-"],
  ["\u2212", "-"],
  ["*", "*"],
  ["\u00d7", "*"],
  ["\u00b7", "*"],
  ["\u22c5", "*"],
  ["/", "/"],
  ["\u00f7", "/"],
  ["%", "%"],
  ["^", "^"]
])

const isDigit = (char: string): boolean => char >= "0" && char <= "9"
const isLetter = (char: string): boolean => (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || char === "_"
const startsOperand = (char: string): boolean => isDigit(char) || isLetter(char) || char === "(" || char === "."
const isNarrowSpace = (char: string): boolean => char === "\u00a0" || char === "\u202f" || char === "\u2009"
const isSpace = (char: string): boolean =>
  char === " " || char === "\t" || char === "\n" || char === "\r" || isNarrowSpace(char)

const skipSpace = (input: string, from: number): number => {
  let at = from
  while (at < input.length && isSpace(input.charAt(at))) at++
  return at
}

const nameEnd = (input: string, from: number): number => {
  let at = from
  while (at < input.length && (isLetter(input.charAt(at)) || isDigit(input.charAt(at)))) at++
  return at
}

const digitsEnd = (input: string, from: number): number => {
  let at = from
  while (at < input.length && isDigit(input.charAt(at))) at++
  return at
}

/** Reads one number, with its groups of thousands, decimals and exponent; a string says what is wrong with it. */
const readNumber = (
  input: string,
  from: number,
  insideCall: boolean
): { readonly text: string; readonly end: number } | string => {
  let end = digitsEnd(input, from)
  let text = input.slice(from, end)
  if (text.length >= 1 && text.length <= 3) {
    const separator = input.charAt(end)
    if (separator === "," || separator === "_" || separator === "'" || isNarrowSpace(separator)) {
      while (input.charAt(end) === separator && digitsEnd(input, end + 1) === end + 4) {
        text += input.slice(end + 1, end + 4)
        end += 4
      }
      if (separator === "," && insideCall && text.length > 3) {
        return `${JSON.stringify(input.slice(from, end))} inside a function can be one number or several: write numbers there without separators of thousands.`
      }
    }
  }
  if (input.charAt(end) === ".") {
    const decimals = digitsEnd(input, end + 1)
    text += input.slice(end, decimals)
    end = decimals
  }
  if (input.charAt(end) === "e" || input.charAt(end) === "E") {
    const sign = input.charAt(end + 1)
    const digits = sign === "+" || sign === "-" ? end + 2 : end + 1
    const exponent = digitsEnd(input, digits)
    if (exponent > digits) {
      text += input.slice(end, exponent)
      end = exponent
    }
  }
  const next = input.charAt(end)
  return isLetter(next) || next === "." || next === "_"
    ? `${JSON.stringify(input.slice(from, Math.min(end + 10, nameEnd(input, end + 1))))} is not a number.`
    : { text: text.endsWith(".") ? `${text}0` : text, end }
}
