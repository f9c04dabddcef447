/**
 * Reads arithmetic as people and models write it into the plain form that the expression parser takes, and refuses
 * everything that is not arithmetic before a parser sees it. One pass over the text.
 *
 * @internal
 */

/** The text in plain form, or what is wrong with it. */
export type Read = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string }

/** The longest expression that is read, in characters. */
export const maxLength = 4_000

/** The deepest nesting of parentheses that is read. */
export const maxDepth = 100

/** The most operators that are read; with {@link maxDepth} it bounds how deep an expression is. */
export const maxOperators = 1_000

/** The name under which a pair of parentheses that is no call reaches the parser, which would otherwise drop it. */
export const groupName = "group"

/**
 * Numbers keep their digits: `1,410,000,000`, `1_000` and digits grouped by no-break spaces become plain. `^` becomes
 * `**`, `×` `·` `*`, `÷` `/`, U+2212 `-`, and `50%` `(50/100)`; a `%` before another operand stays the remainder.
 */
export const readArithmetic = (input: string, functions: ReadonlyArray<string>): Read => {
  if (input.length > maxLength) {
    return fail(`The expression has ${input.length} characters; at most ${maxLength} are read.`)
  }
  let text = ""
  let at = 0
  let operatorCount = 0
  /** Where in `text` the operand that has just ended starts; undefined where none has. */
  let operand: number | undefined
  /** Where in `text` the last percent ended. */
  let percentEnd: number | undefined
  const open: Array<Parenthesis> = []
  while (at < input.length) {
    const char = input.charAt(at)
    if (operand !== undefined && startsOperand(char)) {
      return fail(`An operator is missing before character ${at + 1}.`)
    }
    if (isSpace(char)) {
      text += " "
      at++
    } else if (isDigit(char) || (char === "." && isDigit(input.charAt(at + 1)))) {
      const number = readNumber(
        input,
        at,
        open.some(({ isCall }) => isCall)
      )
      if (typeof number === "string") return fail(number)
      operand = text.length
      text += number.text
      at = number.end
    } else if (isLetter(char)) {
      const end = nameEnd(input, at)
      const name = input.slice(at, end).toLowerCase()
      const opens = skipSpace(input, end)
      if (!functions.includes(name)) return fail(unknownName(input.slice(at, end), functions))
      if (input.charAt(opens) !== "(") return fail(`${name} needs its numbers in parentheses, such as ${name}(2).`)
      open.push({ isCall: true, start: text.length })
      operand = undefined
      text += `${name}(`
      at = opens + 1
    } else if (char === "(") {
      open.push({ isCall: false, start: text.length })
      operand = undefined
      text += `${groupName}(`
      at++
    } else if (char === ")") {
      const opened = open.pop()
      if (opened === undefined) return fail(`There is a ")" too many at character ${at + 1}.`)
      operand = opened.start
      text += ")"
      at++
    } else if (char === ",") {
      if (open[open.length - 1]?.isCall !== true) {
        return fail(
          `The comma at character ${at + 1} is not read: write a decimal point as "." and thousands as 1000 or 1,000.`
        )
      }
      operand = undefined
      text += ","
      at++
    } else if (char === "%" && operand !== undefined && !startsOperand(input.charAt(skipSpace(input, at + 1)))) {
      // One around the other they would be as deep as the text is long.
      if (text.trimEnd().length === percentEnd) {
        return fail(`The "%" at character ${at + 1} follows another: put the first in parentheses.`)
      }
      text = `${text.slice(0, operand)}${groupName}(${text.slice(operand)}/100)`
      percentEnd = text.length
      at++
    } else {
      const operator = operators[char]
      if (operator === undefined) {
        return fail(
          `${JSON.stringify(String.fromCodePoint(input.codePointAt(at) ?? 0))} at character ${at + 1} is not arithmetic.`
        )
      }
      operatorCount++
      operand = undefined
      text += operator
      at++
    }
    if (operatorCount > maxOperators) return fail(`The expression has more than ${maxOperators} operators.`)
    if (open.length > maxDepth) return fail(`Parentheses are nested more than ${maxDepth} deep.`)
  }
  if (open.length > 0) return fail(`A ")" is missing at the end.`)
  return text.trim() === "" ? fail("There is nothing to calculate.") : { ok: true, text }
}

interface Parenthesis {
  /** Whether it is that of a function, inside which a comma separates numbers. */
  readonly isCall: boolean
  /** Where its operand, with the name of the function, starts in the plain text. */
  readonly start: number
}

const fail = (problem: string): Read => ({ ok: false, problem })

const unknownName = (name: string, functions: ReadonlyArray<string>): string =>
  `There is no function or variable ${JSON.stringify(name.slice(0, 60))}. Write numbers, + - * / % ^ and parentheses; functions are ${functions.join(", ")}.`

const operators: { readonly [char: string]: string | undefined } = Object.assign(Object.create(null), {
  "+": "+",
  "-": "-",
  "\u2212": "-",
  "*": "*",
  "\u00d7": "*",
  "\u00b7": "*",
  "\u22c5": "*",
  "/": "/",
  "\u00f7": "/",
  "%": "%",
  "^": "**"
})

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
