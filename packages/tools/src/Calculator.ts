/**
 * A calculator: arithmetic on decimal numbers, computed by `decimal.js`, and nothing else. No name of the host can be
 * reached from an expression.
 */
import * as Tool from "@forethought/core/Tool"
import { Decimal } from "decimal.js"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { type Expression, readExpression } from "./internal/expression.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The text is not arithmetic, or it has no result. */
export class CalculationError extends Data.TaggedError("CalculationError")<{
  /** Says what is wrong and what to write instead. */
  readonly problem: string
}> {
  override get message(): string {
    return this.problem
  }
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * The calculator as a tool named `Calculator`. Takes one expression and gives its value as a plain number, see
 * {@link calculate}.
 */
export const tool: Tool.Tool = Tool.make({
  name: "Calculator",
  description:
    "Computes an arithmetic expression and gives a plain number. Takes numbers, + - * / ^ (power), % (remainder, or percent after a number), parentheses, and abs, ceil, floor, max, min, pow, round(x, decimals), sqrt. Example: round(12 / 345 * 100, 1)",
  idempotent: true,
  readOnly: true,
  execute: (input) => calculate(input)
})

/**
 * Computes an arithmetic expression.
 *
 * - Numbers are decimal: `0.1 + 0.2` is `0.3`. A result is exact up to 60 digits; one that cannot be (a third, a root)
 *   is rounded to 15 digits, or to the next whole number where that has more. From 10^60 on, and below 10^-30, it is
 *   written with an exponent.
 * - `^` and `**` are powers, from right to left, and bind closer than a sign: `-2^2` is `-4`.
 * - `%` between two operands is the remainder with the sign of the first; after an operand it is percent: `50%` is
 *   `0.5`.
 * - `1,410,000,000` is one number, except inside the parentheses of a function, where it is refused as ambiguous.
 * - At most 4,000 characters, 1,000 operators and 100 nested parentheses, and so much work as about 25 powers with a
 *   fraction in the exponent or 800 roots take: nothing can interrupt a calculation, so an expression that would keep
 *   the process busy for longer is an error.
 */
export const calculate = (expression: string): Either.Either<string, CalculationError> => {
  const read = readExpression(expression, functionNames)
  if (!read.ok) return Either.left(new CalculationError({ problem: read.problem }))
  try {
    return Either.right(show(evaluate(read.expression, new Work())))
  } catch (error) {
    if (error instanceof CalculationError) return Either.left(error)
    throw error
  }
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

// A constructor of our own: the settings of the shared one belong to the app. The bound on the exponent keeps every
// power short.
const Numeral = Decimal.clone({ precision: 60, maxE: 9_999, minE: -9_999, toExpPos: 60, toExpNeg: -30 })

const stop = (problem: string): never => {
  throw new CalculationError({ problem })
}

/** The work that an expression may still take, in units of about a microsecond. */
class Work {
  private left = 40_000

  /** Takes the cost of an operation before it is done. */
  spend(cost: number): void {
    this.left -= cost
    if (this.left < 0) stop("The expression takes too much work. Calculate its parts one after another.")
  }
}

interface Callable {
  /** Bounds for the count of its numbers. */
  readonly least: number
  readonly most: number
  readonly of: (numbers: ReadonlyArray<Decimal>, work: Work) => Decimal
}

const unary = (of: (x: Decimal, work: Work) => Decimal): Callable => ({
  least: 1,
  most: 1,
  of: ([x = zero], work) => of(x, work)
})

const zero = new Numeral(0)

const group = unary((x) => x)

const functions: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ["abs", unary((x) => x.abs())],
  ["ceil", unary((x) => x.ceil())],
  ["floor", unary((x) => x.floor())],
  ["max", { least: 1, most: 1_000, of: (xs) => Numeral.max(...xs) }],
  ["min", { least: 1, most: 1_000, of: (xs) => Numeral.min(...xs) }],
  ["pow", { least: 2, most: 2, of: ([x = zero, y = zero], work) => power(x, y, work) }],
  ["round", { least: 1, most: 2, of: ([x = zero, decimals = zero]) => round(x, decimals) }],
  ["sqrt", unary((x, work) => root(x, work))]
])

const functionNames = [...functions.keys()]

const evaluate = (expression: Expression, work: Work): Decimal => {
  switch (expression._tag) {
    case "Number": {
      const { text } = expression
      work.spend(1 + text.length / 50)
      return inRange(new Numeral(text), !/[1-9]/.test(text.toLowerCase().split("e")[0] ?? ""))
    }
    case "Sign": {
      const value = evaluate(expression.of, work)
      return expression.isNegative ? value.neg() : value
    }
    case "Binary":
      return evaluateBinary(expression, work)
    case "Call":
      return evaluateCall(expression, work)
  }
}

const evaluateBinary = (
  { left: first, operator, right: second }: Expression & { readonly _tag: "Binary" },
  work: Work
): Decimal => {
  const left = evaluate(first, work)
  const right = evaluate(second, work)
  const [digits, others] = [left.precision(), right.precision()]
  switch (operator) {
    case "+":
      work.spend(1 + (digits + others) / 50)
      return inRange(left.plus(right), true)
    case "-":
      work.spend(1 + (digits + others) / 50)
      return inRange(left.minus(right), true)
    case "*":
      work.spend(5 + (digits * others) / 4_000)
      return inRange(left.times(right), left.isZero() || right.isZero())
    case "/":
      work.spend(10 + (digits + others) / 10)
      return right.isZero() ? stop("Division by zero has no result.") : inRange(left.div(right), left.isZero())
    case "%":
      // A division of whole numbers, with every digit between the two exponents.
      work.spend(20 + (Math.abs(left.e - right.e) + digits + others) / 15)
      return right.isZero() ? stop("The remainder of a division by zero has no result.") : left.mod(right)
    case "^":
      return power(left, right, work)
  }
}

const evaluateCall = ({ given, name }: Expression & { readonly _tag: "Call" }, work: Work): Decimal => {
  const called = (name === undefined ? undefined : functions.get(name)) ?? group
  if (given.length < called.least || given.length > called.most) {
    if (name === undefined) return stop("A pair of parentheses is empty.")
    const wanted = called.least === called.most ? `${called.least}` : `${called.least} to ${called.most}`
    return stop(`${name} takes ${wanted} number${called.most === 1 ? "" : "s"}, got ${given.length}.`)
  }
  const numbers = given.map((one) => evaluate(one, work))
  work.spend(numbers.reduce((cost, number) => cost + 1 + number.precision() / 100, 0))
  return called.of(numbers, work)
}

const power = (base: Decimal, exponent: Decimal, work: Work): Decimal => {
  const digits = base.precision()
  // A whole exponent is multiplications, any other a logarithm.
  const isWhole = exponent.isInteger() && exponent.abs().lte(Number.MAX_SAFE_INTEGER)
  const logarithm = 1_500 + exponent.precision() / 4
  work.spend((digits * digits) / 4_000 + (isWhole ? 10 + 5 * Math.log2(1 + exponent.abs().toNumber()) : logarithm))
  if (base.isZero() && exponent.lt(0)) return stop("Division by zero has no result: 0 to a negative power.")
  const value = base.pow(exponent)
  return value.isNaN()
    ? stop(`${show(base)} to the power of ${show(exponent)} is not a real number.`)
    : inRange(value, base.isZero())
}

const root = (value: Decimal, work: Work): Decimal => {
  const digits = value.precision()
  work.spend(40 + (digits * digits) / 150)
  return value.lt(0) ? stop(`sqrt of the negative number ${show(value)} is not a real number.`) : value.sqrt()
}

const round = (value: Decimal, decimals: Decimal): Decimal =>
  decimals.isInteger() && decimals.gte(0) && decimals.lte(30)
    ? value.toDecimalPlaces(decimals.toNumber(), Decimal.ROUND_HALF_UP)
    : stop("round takes a whole number of decimals from 0 to 30.")

/** A result out of the range of exponents would turn into infinity or zero, which it is not. */
const inRange = (value: Decimal, mayBeZero: boolean): Decimal => {
  if (!value.isFinite()) return stop("The result is too large: it has more than 10,000 digits.")
  if (value.isZero() && !mayBeZero) return stop("The result is too small: it is below 10^-9999.")
  return value
}

/** A result of more digits came from a division or a root, and cannot be written in full. */
const exactDigits = 50

const show = (value: Decimal): string => {
  if (value.isZero()) return "0"
  const whole = value.e + 1
  const shown =
    value.precision() <= exactDigits || value.isInteger() ? value : value.toSignificantDigits(Math.max(15, whole))
  return shown.toString()
}
