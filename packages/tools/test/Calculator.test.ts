import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import { calculate, tool } from "@forethought/tools/Calculator"
import { Decimal } from "decimal.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import { vi } from "vitest"

const value = (expression: string): string =>
  Either.match(calculate(expression), { onLeft: (error) => `error: ${error.message}`, onRight: (text) => text })

describe("calculate", () => {
  it.each([
    ["0.1 + 0.2", "0.3"],
    ["1,410,000,000 + 335000000", "1745000000"],
    ["1_000 * 2", "2000"],
    ["1\u00a0410\u00a0000 + 1", "1410001"],
    ["2 + 3 * 4", "14"],
    ["(2 + 3) * 4", "20"],
    ["7 − 2 × 3 ÷ 2", "4"],
    ["2^10", "1024"],
    ["2**10", "1024"],
    ["2^3^2", "512"],
    ["-2^2", "-4"],
    ["(-2)^2", "4"],
    ["2^-1", "0.5"],
    ["--3", "3"],
    ["10 % 3", "1"],
    ["50%", "0.5"],
    ["200 * 15%", "30"],
    ["10 / 50%", "20"],
    ["2^50%", "1.4142135623731"],
    ["(1 + 1)%", "0.02"],
    ["(50%)%", "0.005"],
    ["(1/100)%", "0.0001"],
    ["50 % + 25 %", "0.75"],
    ["1e3 + 1.5e-1", "1000.15"],
    ["1/3", "0.333333333333333"],
    ["2/3*3", "2"],
    ["9007199254740993 + 2", "9007199254740995"],
    ["12345678901234567890.5 + 1", "12345678901234567891.5"],
    ["10^35/3", "33333333333333333333333333333333333"],
    ["round(12 / 345 * 100, 1)", "3.5"],
    ["round(2.5)", "3"],
    ["max(1, 5, 3) + min(2, 4)", "7"],
    ["sqrt(16) + abs(-2) + floor(1.9) + ceil(1.1) + pow(2, 3)", "17"],
    ["1392730000 + 326687501 + 1352617328", "3072034829"]
  ])("computes %s as %s", (expression, expected) => {
    expect(value(expression)).toBe(expected)
  })

  it.each([
    ["10 / 0", "Division by zero"],
    ["5 % 0", "division by zero"],
    ["0^-1", "Division by zero"],
    ["sqrt(-1)", "not a real number"],
    ["(-8)^(1/3)", "not a real number"],
    ["9^9^9^9", "too large"],
    ["0.5^99999999", "too small"],
    ["", "nothing to calculate"],
    ["1 +", "not complete"],
    ["1 2", "An operator is missing"],
    ["3(4)", "An operator is missing before character 2"],
    ["5%%", 'The "%" at character 3 follows another: put the first in parentheses.'],
    ["5% %", "follows another"],
    ["2^(3^(4^2))", "too large"],
    ["(1", '")" is missing'],
    ["1)", '")" too many'],
    ["()", "parentheses is empty"],
    ["3,14", "decimal point"],
    ["1,00,000 + 1", "comma"],
    ["1.2.3", "not a number"],
    ["0x10", "not a number"],
    ["max(1,000, 5)", "one number or several"],
    ["sqrt(1, 2)", "sqrt takes 1 number, got 2"],
    ["sqrt", "needs its numbers in parentheses"],
    ["factorial(5)", 'no function or variable "factorial"'],
    ["constructor", 'no function or variable "constructor"'],
    ["toString()", 'no function or variable "toString"'],
    ["__proto__", 'no function or variable "__proto__"'],
    ["group(2)", 'no function or variable "group"'],
    ["this", "no function or variable"],
    ["import('node:fs')", "no function or variable"],
    ["(1).constructor", "An operator is missing"],
    ["x = 3", "no function or variable"],
    ["f(x) = x", "no function or variable"],
    ["1; 2", "not arithmetic"],
    ["[1]", "not arithmetic"],
    ["`1`", "not arithmetic"],
    ['"1"', "not arithmetic"],
    ["1 ? 2 : 3", "not arithmetic"],
    ["1 && 2", "not arithmetic"],
    ["What is 5 + 3?", 'no function or variable "What"'],
    ["five", "functions are abs, ceil, floor, max, min, pow, round, sqrt"]
  ])("refuses %s: %s", (expression, problem) => {
    expect(value(expression)).toMatch(/^error: /)
    expect(value(expression)).toContain(problem)
  })

  it.each([
    ["a million parentheses", `${"(".repeat(1e6)}1${")".repeat(1e6)}`],
    ["100 kB of digits", "9".repeat(100_000)],
    ["100 kB of sums", "1+".repeat(50_000)],
    ["parentheses within the length", `${"(".repeat(1_500)}1${")".repeat(1_500)}`],
    ["signs within the length", `${"-".repeat(3_999)}1`],
    ["powers within the length", `${"2^".repeat(1_999)}1`],
    ["percents within the length", `1${"%".repeat(3_999)}`],
    ["percents with spaces", `1${"% ".repeat(900)}`]
  ])("answers %s with a clear error", (_, expression) => {
    expect(value(expression)).toMatch(/^error: (The expression has|Parentheses are nested|The "%" at character)/)
  })

  /** As many of a part as fit, with the operator between them. */
  const many = (part: string, operator: string) =>
    Array.from({ length: Math.min(900, Math.floor(3_990 / (part.length + operator.length))) }, () => part).join(
      operator
    )
  const nines = (count: number) => "9".repeat(count)

  it.each([
    ["powers with fractions", many("9^9.9", "+")],
    ["large fractional powers", many("9^999.9", "+")],
    ["a tower of powers", many("1.1", "^")],
    ["powers of powers", `${"pow(".repeat(99)}2${",1.01)".repeat(99)}`],
    ["powers in functions", many("max(1,2^.5)", "-")],
    ["signed powers", `${"2^-".repeat(400)}1`],
    ["logarithms of what is huge", many("9e9998^.1", "+")],
    ["logarithms of what is tiny", many("9e-9998^.1", "*")],
    ["remainders of what is huge", many("1e9999%7", "+")],
    ["remainders by what is tiny", many("9e9998%7e-9998", "+")],
    ["powers of what is long", many(`${nines(60)}^7.5`, "+")],
    ["whole powers", many("1.1^90071992547", "+")],
    ["a root of what is long", `sqrt(${nines(3_900)})`]
  ])("AU-14: %s are an error, and no more of it is computed than a moment takes", (_, expression) => {
    const { prototype } = Decimal
    // Each of these takes most of a millisecond, or more where the numbers are long.
    const spies = [vi.spyOn(prototype, "pow"), vi.spyOn(prototype, "mod"), vi.spyOn(prototype, "sqrt")]
    const answer = value(expression)
    const slow = spies.flatMap(({ mock }) => mock.calls).length
    vi.restoreAllMocks()
    expect(answer).toMatch(/^error: The (expression takes too much work|expression has|result is too)/)
    expect(slow).toBeLessThanOrEqual(400)
  })

  it.each([
    ["a sum of powers", "2^0.5 + 3^0.25 + 10^-1.5 + 7^(1/3) + 1.05^(1/12)", /^5\.\d+$/],
    ["a loan", "1000 * (1 + 0.05/12)^(12*30)", /^4467\.\d+$/],
    ["a sum of roots", many("sqrt(2)", "+"), /^\d+\.\d+$/],
    ["a long product", many("1.01", "*"), /^\d+\.?\d*$/],
    ["a long quotient", many("7", "/"), /^\d/],
    ["a sum of percents", many("12%", "+"), /^\d+\.?\d*$/],
    ["a product of long numbers", `${nines(1_990)} * ${nines(1_990)}`, /^1e\+3980$/],
    ["a long list", `max(${many("1", ",")})`, /^1$/],
    ["remainders", "17 % 5 + 1e30 % 7", /^\d+$/]
  ])("AU-14: %s: still computed", (_, expression, expected) => {
    expect(value(expression)).toMatch(expected)
  })

  it("AU-14: an expression of any kind ends without a fault, and asks for few slow operations", () => {
    const part = fc.constantFrom(
      ...["2", "1.1", "9e9998", "1e-9998", nines(300), ".5", "0", "7^.5", "sqrt(3)", "(2)", "5%"]
    )
    const operator = fc.constantFrom(..."+-*/%^")
    const expression = fc
      .tuple(part, fc.array(fc.tuple(operator, part), { maxLength: 600 }))
      .map(([first, others]) => first + others.flat().join(""))
    const powers = vi.spyOn(Decimal.prototype, "pow")
    fc.assert(
      fc.property(expression, (text) => {
        powers.mockClear()
        expect(value(text)).toMatch(/^(error: |-?\d)/)
        const slow = powers.mock.calls.filter(([exponent]) => !new Decimal(exponent).isInteger())
        expect(slow.length).toBeLessThanOrEqual(27)
      })
    )
    powers.mockRestore()
  })

  it("takes the longest sums that it allows", () => {
    expect(value(`${"1+".repeat(1_000)}1`)).toBe("1001")
    expect(value(`${"-".repeat(1_000)}1`)).toBe("1")
  })

  it("agrees with integers, and never gives a value that is not finite", () => {
    const integer = fc.integer({ min: -1e6, max: 1e6 })
    fc.assert(
      fc.property(integer, integer, integer, (a, b, c) => {
        expect(value(`(${a}) + (${b}) * (${c})`)).toBe(String(BigInt(a) + BigInt(b) * BigInt(c)))
      })
    )
  })

  it("is total: any text gives a number or an error", () => {
    const pieces = fc.constantFrom(
      "1",
      "2.5",
      "+",
      "-",
      "*",
      "/",
      "%",
      "^",
      "(",
      ")",
      ",",
      "sqrt(",
      "1,000",
      "e",
      " ",
      "\u2212"
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(pieces).map((all) => all.join(""))
        ),
        (text) => {
          expect(value(text)).toMatch(/^(error: .+|-?\d+(\.\d+)?(e[+-]\d+)?)$/s)
        }
      )
    )
  })
})

describe("tool", () => {
  it.effect("fails with the calculator's own words", () =>
    Effect.gen(function* () {
      const toolbox = yield* Toolbox.make([tool])
      expect(yield* toolbox.call({ call: "#E1", tool: "calculator", input: "6 * 7" })).toBe("42")
      const error = yield* Effect.flip(toolbox.call({ call: "#E2", tool: "Calculator", input: "1 / 0" }))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toBe("Calculator failed: Division by zero has no result.")
    })
  )
})
