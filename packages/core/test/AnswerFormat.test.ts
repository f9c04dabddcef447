import * as Either from "effect/Either"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ParseError } from "../src/ReplyError.js"
import * as AnswerFormat from "../src/reply/AnswerFormat.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

const { date, number, option } = AnswerFormat
const suffixed = AnswerFormat.numberWith({ suffixes: true })
const letters = option(["A", "B", "C", "D"])

/** The answer, or `!` and the problem word. */
const read = <A>(format: AnswerFormat.AnswerFormat<A>, reply: string): A | string => {
  const result = format.read(reply)
  return Either.isRight(result) ? result.right : `!${result.left.problem}`
}

type NumberRow = readonly [
  reply: string,
  expected: number | string | { readonly value: number; readonly unit: string },
  format?: AnswerFormat.AnswerFormat<AnswerFormat.NumberAnswer>
]
type Row = readonly [reply: string, expected: string]

const numbers: ReadonlyArray<NumberRow> = [
  ["Therefore the shop earned $12n more on Friday.", "!no_number"],
  ["Q: how many km are left?  A: He must cover the last 9 km at 4 km per hour.", "!ambiguous"],
  ["The answer is $1,234.50.", 1234.5],
  ["960 dollars", 960],
  ["$960", 960],
  ["960", 960],
  ["Answer: −12.5", -12.5],
  ["Answer: –12.5", -12.5],
  ["Answer: －12.5", -12.5],
  ["Answer: －１２．５", -12.5],
  ["Answer: 50% of the seats", { value: 50, unit: "%" }],
  ["Answer: 0.625", 0.625],
  ["Answer: 50 percent", { value: 50, unit: "%" }],
  ["Answer: 50\\%", { value: 50, unit: "%" }],
  ["so \\boxed{840}. Let me explain… **Final Answer** \\boxed{840}", 840],
  ["✅ **Final Answer:** **73**", 73],
  ["**73**", 73],
  ["**ANSWER: 73**", 73],
  ["***ANSWER***: ***73***", 73],
  ["Answer: 2 2/3 cups", 2 + 2 / 3],
  ["Answer: 4 10/3", "!malformed"],
  ["x = -277. Therefore the box held -277 cards.", -277],
  ["Answer: 1.2e3 bolts", 1200],
  ["Answer: 5k", "!ambiguous"],
  ["Answer: 5k", 5000, suffixed],
  ["Answer: 5 million", "!ambiguous"],
  ["Answer: $3.5M", 3500000, suffixed],
  ["2 million", 2000000, suffixed],
  ["#### 18", 18],
  ["She makes 18.\n#### 18", 18],
  ["The answer (a single number) is: 42", 42],
  ["Therefore, the answer (arabic numerals) is 42.", 42],
  ["Final Answer: The final answer is $\\boxed{18}$. I hope it is correct.", 18],
  ["Answer:\n18", 18],
  ["**Answer**\n\n18 apples", 18],
  ["## Final Answer\n\n**18**", 18],
  ["### Answer: 18", 18],
  ["Answer: 9 * 2 = 18", 18],
  ["9 * 2 = 18", 18],
  ["Answer: 3 + 4", "!ambiguous"],
  ["Answer: 5-7", "!ambiguous"],
  ["Answer: 5 or 6", "!ambiguous"],
  ["Answer: between 5 and 7", "!ambiguous"],
  ["Answer: 5/8", 0.625],
  ["Answer: \\frac{5}{8}", 0.625],
  ["Answer: $\\dfrac{5}{8}$", 0.625],
  ["Answer: $-\\frac{1}{2}$", -0.5],
  ["Answer: 2½", 2.5],
  ["Answer: ½", 0.5],
  ["Answer: 2\\frac{2}{3}", 2 + 2 / 3],
  ["Answer: 2 and 2/3", 2 + 2 / 3],
  ["Answer: -2 1/2", -2.5],
  ["Answer: 5/0", "!malformed"],
  ["Answer: 1,234,567", 1234567],
  ["Answer: 1 234 567".replace(/(\d) (\d)/g, "$1\u00a0$2"), 1234567],
  ["Answer: 1'234", 1234],
  ["Answer: 12,34,567", 1234567],
  ["Answer: 12,5", "!ambiguous"],
  ["Answer: 1.234,50", 1234.5],
  ["Answer: 1,23,4", "!malformed"],
  ["Answer: 1{,}234", 1234],
  ["Answer: 1,2,3", "!malformed"],
  ["Answer: 3, 4", "!ambiguous"],
  ["Answer: .5", 0.5],
  ["Answer: 5.", 5],
  ["Answer: 1.2.3", "!malformed"],
  ["Answer: 10:30", "!malformed"],
  ["Answer: 2024-07-04", "!malformed"],
  ["Answer: 1.2 × 10^3", 1200],
  ["Answer: 1.2 \\times 10^{3}", 1200],
  ["Answer: 6.02x10^-2", 0.0602],
  ["Answer: 3×10⁴", 30000],
  ["Answer: 1e999", "!malformed"],
  ["Answer: 12n", "!no_number"],
  ["\\boxed{12n}", "!no_number"],
  ["\\boxed{12\\pi}", "!no_number"],
  ["\\boxed{2\\sqrt{3}}", "!no_number"],
  ["\\boxed{18\\text{ dollars}}", 18],
  ["\\boxed{\\$18}", 18],
  ["\\boxed{x = 5}", 5],
  ["\\boxed{1,234}", 1234],
  ["\\[ \\boxed{ -7 } \\]", -7],
  ["Answer: 18 (not 20)", 18],
  ["Answer: 18 because 9*2 is 18", 18],
  ["Answer: 18, because 3 and 6", 18],
  ["Answer: $18 per day", 18],
  ["Answer: -$18", -18],
  ["Answer: $-18", -18],
  ["Answer: US$18", 18],
  ["Answer: USD 18", 18],
  ["Answer: €18", 18],
  ["Answer: Rs. 500", 500],
  ["Answer: 18€", 18],
  ["Answer: approximately 3.14", 3.14],
  ["Answer: ~3.14", 3.14],
  ["Answer: ≈ 3.14", 3.14],
  ["The answer is about 3.14.", 3.14],
  ["The answer is therefore 7", 7],
  ["I am not sure, there is not enough information.", "!no_answer"],
  ["Answer: unknown", "!no_answer"],
  ["Answer: cannot be determined from the 3 facts", "!no_answer"],
  ["", "!no_answer"],
  ["Answer: N/A", "!no_answer"],
  ["Answer: 73\n\nI hope this answer is helpful.", 73],
  ["Answer: 72. Wait, Answer: 73", 73],
  ["The answer is 5. Actually, the answer is 7.", 7],
  ["Step 1: 3 eggs\nStep 2: 4 eggs\nTherefore she has 7 eggs.", 7],
  ["1. First she buys 3.\n2. Then 4.\n3. So 3+4=7.\nThus 7 in total.", 7],
  ["Therefore, 9 km at 4 km per hour.", "!ambiguous"],
  ["There are 3 cats and 4 dogs.", "!ambiguous"],
  ["She has 3. So now 3 is left.", 3],
  ["Answer: 12 apples", 12],
  ["Answer: twelve", "!no_number"],
  ["Answer: 9km", { value: 9, unit: "km" }],
  ["Answer: 5th", "!no_number"],
  ["x2 and E10", "!no_number"],
  ["Answer: 5²", "!ambiguous"],
  ["Answer: 2^10", "!ambiguous"],
  ["Answer: 2^10 = 1024", 1024],
  ["Answer: x = 5, y = 6", "!ambiguous"],
  ["The answer is not 5.", "!ambiguous"],
  ["答案：18", 18],
  ["答案是 18。", 18],
  ["| Answer | 73 |", 73],
  ["Answer - 5", 5],
  ["Answer: - 5", "!malformed"],
  ["A: 18", 18],
  ["A: $18", 18],
  ["**A:** 18", 18],
  ["Answer: `18`", 18],
  ['Answer: "18"', 18],
  ["Answer: [18]", 18],
  ["Answer: <18>", 18],
  ["Answer: \\(18\\)", 18],
  ["Answer: $$18$$", 18],
  ["Answer: +5", 5],
  ["Answer: 007", 7],
  ["Answer: 1,234 apples and 2 pears", "!ambiguous"],
  ["Answer: 2 hours and 30 minutes", "!ambiguous"],
  ["18 apples are left, so the answer is 18 apples.", 18],
  ["Answer: 5 ± 2", "!ambiguous"],
  ["Answer: 40 °C", 40],
  ["Answer: 100%", { value: 100, unit: "%" }],
  ["Answer: 33 1/3%", { value: 33 + 1 / 3, unit: "%" }],
  ["The final answer is: $\\boxed{\\frac{3}{4}}$", 0.75],
  ["Answer: 0,625", "!ambiguous"],
  ["Answer: 0", 0],
  ["Answer: -0.5", -0.5],
  ["Answer: zero", "!no_number"],
  ["<think>Answer: 9</think>Answer: 8", 8],
  ["I got 5</think>Answer: 8", 8],
  ["answer: 15", 15],
  ["ANSWER IS 15", 15],
  ["Answer = 15", 15],
  ["Final answer → 15", 15],
  ["So, the answer is: **15**.", 15],
  ["The correct answer is 15.", 15],
  ["Answer: 15 apples. There were 20 at first.", 15],
  ["Final Answer: 15\nConfidence: 90%", 15],
  ["Final Answer: 15\n\nExplanation: 3*5.", 15],
  ["The answer is 15!", 15],
  ["Answer: 5 - 3 = 2", 2],
  ["Answer: 100 - 20% = 80", 80],
  ["Answer: 12 - 7", "!ambiguous"],
  ["Answer: 5km/h", { value: 5, unit: "km/h" }],
  ["Answer: __15__", 15],
  ["Answer: _15_", 15],
  ["Answer: 2 + 3i", "!no_number"],
  ["Answer: 3 pi", "!no_number"],
  ["Answer: 3π", "!no_number"],
  ["Answer: √2", "!no_number"],
  ["Answer: 2n + 3", "!no_number"],
  ["He had 5 days. So he earned $12n more.", "!no_number"],
  ["Answer: 5th of 12", "!no_number"],
  ["He has 5 left. Answer: yes", "!no_number"],
  ["Answer: 0x1F", "!no_number"],
  ["Answer: <b>15</b>", 15],
  ["Answer: five (5)", 5],
  ["\\boxed{1\\frac{1}{2}}", 1.5],
  ["\\boxed{5, 6}", "!ambiguous"],
  ["$\\boxed{}$", "!no_number"]
]

const dates: ReadonlyArray<Row> = [
  ["Answer: 2024-7-4", "2024-07-04"],
  ["Answer: February 30, 2024", "!invalid_date"],
  ["Answer: 03/04/2024", "!ambiguous"],
  ["Answer: 25/12/2024", "2024-12-25"],
  ["Answer: 12/25/2024", "2024-12-25"],
  ["2024-07-04", "2024-07-04"],
  ["July 4, 2024", "2024-07-04"],
  ["July 4th, 2024", "2024-07-04"],
  ["4 July 2024", "2024-07-04"],
  ["the 4th of July, 2024", "2024-07-04"],
  ["Jul. 4, 2024", "2024-07-04"],
  ["4-Jul-2024", "2024-07-04"],
  ["Thursday, July 4, 2024", "2024-07-04"],
  ["Friday, July 4, 2024", "!inconsistent"],
  ["2024/07/04", "2024-07-04"],
  ["2024.7.4", "2024-07-04"],
  ["2024年7月4日", "2024-07-04"],
  ["20240704", "2024-07-04"],
  ["2024-07-04T23:30:00-05:00", "2024-07-04"],
  ["2023-02-29", "!invalid_date"],
  ["2024-02-29", "2024-02-29"],
  ["1900-02-29", "!invalid_date"],
  ["2000-02-29", "2000-02-29"],
  ["2024-13-01", "!invalid_date"],
  ["31/04/2024", "!invalid_date"],
  ["July 4", "!malformed"],
  ["July 2024", "!malformed"],
  ["03/04/24", "!ambiguous"],
  ["From 2024-07-04 to 2024-07-05", "!ambiguous"],
  ["The answer is **July 4, 2024**.", "2024-07-04"],
  ["Answer: 05/05/2024", "2024-05-05"],
  ["Answer: 99/99/2024", "!invalid_date"],
  ["Answer: unknown", "!no_answer"],
  ["no date here", "!no_answer"],
  ["\\boxed{2024-07-04}", "2024-07-04"],
  ["\\boxed{\\text{July 4, 2024}}", "2024-07-04"],
  ["It began 2024-07-01. Therefore it ended on 2024-07-04.", "2024-07-04"],
  ["The party is on 2024-07-04 (not 2024-07-05)", "!ambiguous"],
  ["Answer: 2024-07-04 (not 2024-07-05)", "2024-07-04"],
  ["Answer: 04.07.2024", "!ambiguous"],
  ["Answer: 31.12.2024", "2024-12-31"],
  ["Sept 9 2024", "2024-09-09"],
  ["2024 July 4", "2024-07-04"],
  ["May 5th 2024", "2024-05-05"],
  ["0000-01-01", "!invalid_date"],
  ["Answer: 2024‑07‑04", "2024-07-04"],
  ["Answer: 2024–07–04", "2024-07-04"],
  ["Answer: Monday, 29 February 2024", "!inconsistent"],
  ["Answer: 4/7/2024 or 7/4/2024", "!ambiguous"]
]

const options: ReadonlyArray<Row> = [
  ["We found \\boxed{\\Delta E \\ll kT}.\n**Answer: D**", "D"],
  ["**Answer: D**\nWe found \\boxed{\\Delta C \\ll kT}.", "D"],
  ["The answer is B because a kite needs wind.", "B"],
  ["d", "D"],
  ["b. 4", "B"],
  ["Answer: C (11)", "C"],
  ["D) 2500p", "D"],
  ["Answer: A (game)", "A"],
  ["(D) 9%", "D"],
  ["So it cannot be (A), (B) or (C). [cut off]", "!no_option"],
  ["There is not enough information, so none of the options fits.", "!no_answer"],
  ["B", "B"],
  ["(B)", "B"],
  ["**B**", "B"],
  ["B.", "B"],
  ["Option B", "B"],
  ["option b", "B"],
  ["The correct option is (B).", "B"],
  ["I choose B", "B"],
  ["The answer is a kite", "!no_option"],
  ["Answer: A and B", "!ambiguous"],
  ["Answer: A or B", "!ambiguous"],
  ["Answer: B (not A)", "B"],
  ["The answer is not A but B.", "B"],
  ["\\boxed{B}", "B"],
  ["\\boxed{\\text{(B)}}", "B"],
  ["$\\boxed{\\textbf{(B)}\\ 12}$", "B"],
  ["Answer: (b)", "B"],
  ["answer: b", "B"],
  ["Answer: B because A is wrong", "B"],
  ["A is incorrect. B is incorrect. C is correct.", "C"],
  ["A) 1 B) 2 C) 3 D) 4", "!ambiguous"],
  ["A kite needs wind.", "!no_option"],
  ["Answer: E", "!no_option"],
  ["The answer is option C.", "C"],
  ["Answer:\nC", "C"],
  ["## Answer\n\n**C) 12**", "C"],
  ["#### C", "C"],
  ["A: C", "C"],
  ["Eliminate A and B. Therefore the answer is C.", "C"],
  ["A", "A"],
  ["A.", "A"],
  ["a", "A"],
  ["Answer: A", "A"],
  ["Answer: A.", "A"],
  ["The answer is A", "A"],
  ["Answer: none of the above", "!no_answer"],
  ["", "!no_answer"],
  ["Final Answer: **(A)**", "A"],
  ["The correct choice is D", "D"],
  ["Answer: [C]", "C"],
  ['Answer: "C"', "C"],
  ["Answer: C - the owl", "C"],
  ["Answer: C: the owl", "C"],
  ["<think>Answer: A</think>C", "C"],
  ["It's neither A nor B, so it must be C.", "C"],
  ["Not B. Not C.", "!no_option"],
  ["I'd go with D", "D"],
  ["Ｂ", "B"],
  ["（B）", "B"],
  ["答案：B", "B"],
  ["答案是B。", "B"],
  ["The best answer is B, not C.", "B"],
  ["B, because A is false.", "B"],
  ["Answer: A\nAnswer: B", "B"],
  ["Both A and C", "!ambiguous"],
  ["(B) is correct because (A) fails", "B"],
  ["Answer: A kite", "!no_option"],
  ["Answer: A because kites fly", "A"],
  ["$B$", "B"],
  ["\\(B\\)", "B"],
  ["Vitamin C helps, so D.", "!ambiguous"],
  ["A is wrong; B is wrong; D is right.", "D"],
  ["All except B", "!no_option"],
  ["AB", "!no_option"],
  ["D\n\nBecause A, B and C are wrong.", "D"],
  ["The answer isn't B.", "!no_option"]
]

const numberTexts: ReadonlyArray<Row> = [
  ["Answer: C (11)", "!inconsistent"],
  ["Answer: A (11)", "A"],
  ["A) 11", "A"],
  ["Answer: 12", "B"],
  ["12", "B"],
  ["Answer: B) 12", "B"],
  ["Answer: B) 11", "!inconsistent"],
  ["B", "B"],
  ["B because 12 > 11", "B"],
  ["Answer: C (110)", "!inconsistent"],
  ["A (11 apples)", "A"],
  ["Answer: A. 110", "!inconsistent"]
]

const wordTexts: ReadonlyArray<Row> = [
  ["Answer: A (game)", "!inconsistent"],
  ["Answer: A (play)", "A"],
  ["Answer: A", "A"],
  ["Answer: B, the game", "B"],
  ["game", "B"],
  ["Answer: The game", "!no_option"],
  ["B (because it fits)", "B"],
  ["A: play", "A"],
  ["B) Game.", "B"],
  ["Answer: cannot be determined", "C"]
]

const words: ReadonlyArray<Row> = [
  ["yes", "yes"],
  ["Answer: Yes.", "yes"],
  ["**No**", "no"],
  ["The answer is yes, because", "yes"],
  ["Answer: maybe", "!no_option"],
  ["Yes or no", "!ambiguous"],
  ["No.", "no"],
  ["Answer: no", "no"]
]

const plainNumber = (expected: NumberRow[1]) => (typeof expected === "number" ? { value: expected } : expected)

const symbolic =
  String.raw`n/2 ‖ $\frac{n}{2}$ ‖ π/2 ‖ x + 5 ‖ 5 + x ‖ n - 3 ‖ n -3 ‖ 12 * n ‖ 12·n ‖ 12 x ‖ $12 n ‖ 3(n+1) ‖ (12)n ‖ 100 - x ‖ 12 times n ‖ 3 \sqrt{2} ‖ sqrt(2) ‖ log 5 ‖ 5! ‖ $5!$ ‖ \frac{\sqrt{3}}{2} ‖ \sqrt[3]{2} ‖ x^2 + 5 ‖ (n+1)/2 ‖ 5/(n+1) ‖ \frac{12}{n} ‖ \boxed{\frac{\pi}{2}} ‖ 2\cdot n ‖ 5 + \sqrt{2} ‖ 5 more than x ‖ the square root of 2 ‖ f(5) ‖ \boxed{x+5} ‖ 12 \times n ‖ n*12 ‖ 12 + 3x ‖ \log_2 8 ‖ 12 dollars plus x ‖ 2 * sqrt(3) ‖ x + 5, where x is 3 ‖ x + 3 = 8 ‖ 5 - 2y ‖ 100 minus x`.split(
    " ‖ "
  )

/** What a variable, a root or a sign of comparison is not. */
const plainAfterAll: ReadonlyArray<readonly [reply: string, value: number]> = [
  ["x = 5", 5],
  ["y = 12", 12],
  ["12 m", 12],
  ["5 g", 5],
  ["9 h", 9],
  ["12 s", 12],
  ["5 A", 5],
  ["$18/h", 18],
  ["5 miles/h", 5],
  ["12 a day", 12],
  ["18 times a day", 18],
  ["$18 - a total of all", 18],
  ["18 per person - e.g. adults", 18],
  ["12 I think", 12],
  ["12 (n.b. rounded)", 12],
  ["9 m - 5 m = 4 m", 4],
  ["5 x 4 = 20", 20],
  ["12 x $4 = $48", 48],
  ["Team B won by 12", 12],
  ["<b>15</b>", 15],
  ["<answer>12</answer>", 12],
  ["=> 12", 12],
  ["about 12", 12],
  ["12 minus 7 = 5", 5]
]

const signed: ReadonlyArray<readonly [reply: string, value: number]> = [
  ["minus 5", -5],
  ["negative 5", -5],
  ["Negative $5", -5],
  ["a negative 5 degrees", -5],
  ["negative 2/3", -2 / 3],
  ["—12.5", -12.5],
  ["‒12.5", -12.5],
  ["―12.5", -12.5],
  ["—$12", -12],
  ["**—12**", -12]
]

const bounds =
  String.raw`at least 12 ‖ more than 12 ‖ <12 ‖ 12+ ‖ >12 ‖ > 12 ‖ ≥ 12 ‖ at most 12 ‖ 12 or more ‖ 12 apples or more ‖ up to 12 ‖ no more than 12 ‖ less than $12 ‖ \boxed{\ge 12} ‖ x > 12 ‖ x >= 12 ‖ over 12 ‖ 12+ apples ‖ as many as 12 ‖ fewer than **12** ‖ 12 at least ‖ \leq 12`.split(
    " ‖ "
  )

const isRefused = expect.stringMatching(/^!/)

describe("reported cases", () => {
  it.each(
    "There is no evidence ‖ There is no evidence for it. ‖ No idea ‖ no idea ‖ There is no way to know ‖ I have no clue. ‖ It makes no difference ‖ No evidence supports it. ‖ No one knows. ‖ There are no data. ‖ Answer: No idea ‖ Say yes to life".split(
      " ‖ "
    )
  )("PS-16 %j is neither yes nor no", (reply) => {
    expect(read(option(["yes", "no"]), reply)).toEqual(isRefused)
  })
  it.each([
    ["No, there is no evidence.", "no"],
    ["**Yes**", "yes"],
    ["Yes, because it fits", "yes"],
    ["No because it is cold", "no"],
    ["So the answer is: No", "no"],
    ["Answer: No, there is none", "no"],
    ["No. It is cold.", "no"],
    ["Answer: Yes, it is", "yes"]
  ])("PS-16 %j is %j", (reply, label) => {
    expect(read(option(["yes", "no"]), reply)).toBe(label)
  })
  it.each(
    "Answer: D is wrong ‖ Answer: D is incorrect. ‖ Answer: D is not right ‖ Answer: B is false ‖ Answer: A isn't right ‖ Answer: D can be ruled out ‖ The answer is not given; maybe B? ‖ B? ‖ Maybe B? ‖ Answer: B? ‖ Perhaps it is C? ‖ I think B. No wait, C. ‖ I think B. Wait, actually C. ‖ B. Hmm, no, C.".split(
      " ‖ "
    )
  )("PS-19 %j gives no option", (reply) => {
    expect(read(letters, reply)).toEqual(isRefused)
  })
  it.each([
    ["A, not B", "A"],
    ["Answer: A, not B", "A"],
    ["Answer: A rather than B", "A"],
    ["A rather than B", "A"],
    ["Answer: A and not B", "A"],
    ["A instead of C", "A"],
    ["It is A, not B or C.", "A"],
    ["The answer is A, rather than B.", "A"],
    ["D, as C is too big", "D"],
    ["D since C is too big", "D"],
    ["B as A is too small", "B"],
    ["Answer: B, as A is wrong", "B"],
    ["Answer: B; A is wrong", "B"],
    ["Answer: D is right", "D"],
    ["Eliminating A and B we get C", "C"],
    ["Having eliminated A and B, we get C", "C"],
    ["Ruling out A and B leaves C", "C"],
    ["Excluding A, B and C we are left with D", "D"],
    ["Is it A? No. It is B.", "B"]
  ])("PS-19 %j is %j", (reply, label) => {
    expect(read(letters, reply)).toBe(label)
  })
  it.each([
    ["C, 11", "!inconsistent"],
    ["C - 11", "!inconsistent"],
    ["C; 11", "!inconsistent"],
    ["Answer: C, 11", "!inconsistent"],
    ["Answer: C, 11.", "!inconsistent"],
    ["**C**, 11", "!inconsistent"],
    ["C, 12", "C"],
    ["Answer: C, 12", "C"],
    ["C, because 11 is too small", "C"]
  ])("PS-18 %j is %j where C is 12", (reply, expected) => {
    expect(read(option({ A: "10", B: "11", C: "12" }), reply)).toBe(expected)
  })
  it.each(symbolic)("PS-04 %j has no value", (written) => {
    expect(read(number, `Answer: ${written}`)).toBe("!no_number")
    expect(read(number, written)).toBe("!no_number")
  })
  it("PS-04 a conclusion with a variable has no value", () => {
    expect(read(number, "So he earned n + 12 dollars.")).toBe("!no_number")
    expect(read(number, "He had 5 days. So he earned 12 times n dollars.")).toBe("!no_number")
  })
  it.each(plainAfterAll)("PS-04 %j is %d", (written, value) => {
    expect(read(number, `Answer: ${written}`)).toEqual({ value })
    expect(read(number, written)).toEqual({ value })
  })
  it.each(signed)("PS-08 %j is %d", (written, value) => {
    expect(read(number, `Answer: ${written}`)).toEqual({ value })
    expect(read(number, written)).toEqual({ value })
  })
  it.each(bounds)("PS-08 %j is a bound, not a value", (written) => {
    expect(read(number, `Answer: ${written}`)).toBe("!ambiguous")
    expect(read(number, `She has ${written}.`)).toBe("!ambiguous")
  })
  it.each(["5 minus 5", "5 plus 5", "5 times 5", "5 divided by 5"])("PS-08 %j is not worked out", (written) => {
    expect(read(number, `Answer: ${written}`)).toBe("!ambiguous")
  })
  it("PS-04 a number glued to a variable is no number", () => {
    expect(read(number, "Therefore the shop earned $12n more on Friday.")).toBe("!no_number")
  })
  it("PS-05 several candidates without a marker are ambiguous", () => {
    const reply = "Q: how many km are left?  A: He must cover the last 9 km at 4 km per hour."
    expect(read(number, reply)).toBe("!ambiguous")
  })
  it.each([
    ["The answer is $1,234.50.", 1234.5],
    ["960 dollars", 960],
    ["$960", 960]
  ])("PS-06 %j", (reply, value) => {
    expect(read(number, reply)).toEqual({ value })
  })
  it.each([["Answer: −12.5"], ["Answer: –12.5"], ["Answer: －12.5"], ["Answer: -12.5"]])("PS-08 %j", (reply) => {
    expect(read(number, reply)).toEqual({ value: -12.5 })
  })
  it("PS-09 a percentage keeps its unit", () => {
    expect(read(number, "Answer: 50% of the seats")).toEqual({ value: 50, unit: "%" })
    expect(read(number, "Answer: 0.625")).toEqual({ value: 0.625 })
  })
  it("PS-11 two boxes are not joined", () => {
    expect(read(number, "so \\boxed{840}. Let me explain… **Final Answer** \\boxed{840}")).toEqual({ value: 840 })
  })
  it.each([["✅ **Final Answer:** **73**"], ["**73**"], ["**ANSWER: 73**"], ["***ANSWER***: ***73***"]])(
    "PS-12 %j",
    (reply) => {
      expect(read(number, reply)).toEqual({ value: 73 })
    }
  )
  it("PS-13 reads a mixed number, and refuses a malformed one", () => {
    expect(read(number, "Answer: 2 2/3 cups")).toEqual({ value: 2 + 2 / 3 })
    expect(read(number, "Answer: 4 10/3")).toBe("!malformed")
  })
  it("PS-14 a negative result is a result", () => {
    expect(read(number, "x = -277. Therefore the box held -277 cards.")).toEqual({ value: -277 })
  })
  it("PS-15 an answer line outranks letters in formulas", () => {
    expect(read(option(["A", "B", "C", "D", "E"]), "We found \\boxed{\\Delta E \\ll kT}.\n**Answer: D**")).toBe("D")
  })
  it("PS-16 the article is no option", () => {
    expect(read(letters, "The answer is B because a kite needs wind.")).toBe("B")
    expect(read(letters, "d")).toBe("D")
    expect(read(letters, "b. 4")).toBe("B")
  })
  it.each([
    ["Answer: C (11)", "C"],
    ["D) 2500p", "D"],
    ["Answer: A (game)", "A"],
    ["(D) 9%", "D"]
  ])("PS-18 %j", (reply, label) => {
    expect(read(letters, reply)).toBe(label)
  })
  it("PS-18 a letter beside another option's text is inconsistent", () => {
    expect(read(option({ A: "10", B: "11", C: "12" }), "Answer: C (11)")).toBe("!inconsistent")
  })
  it("PS-19 letters under a negation are no candidates", () => {
    expect(read(letters, "So it cannot be (A), (B) or (C).")).toBe("!no_option")
  })
  it("PS-21 a hedged reply has no answer, and comes with the error", () => {
    const reply = "There is not enough information, so none of the options fits."
    const result = letters.read(reply)
    expect(Either.isLeft(result) && result.left).toMatchObject({ problem: "no_answer", reply })
  })
  it("PS-22 reads exponents, and suffixes only where they are enabled", () => {
    expect(read(number, "Answer: 1.2e3 bolts")).toEqual({ value: 1200 })
    expect(read(number, "Answer: 5k")).toBe("!ambiguous")
    expect(read(suffixed, "Answer: 5k")).toEqual({ value: 5000 })
  })
  it.each([["America/New_York"], ["Asia/Tokyo"], ["UTC"]])("PS-24 a date is the same in %s", (zone) => {
    const before = process.env["TZ"]
    process.env["TZ"] = zone
    try {
      expect(read(date, "Answer: 2024-7-4")).toBe("2024-07-04")
    } finally {
      if (before === undefined) delete process.env["TZ"]
      else process.env["TZ"] = before
    }
  })
  it("PS-25 an impossible date is invalid", () => {
    expect(read(date, "Answer: February 30, 2024")).toBe("!invalid_date")
  })
  it("PS-26 day and month are not guessed", () => {
    expect(read(date, "Answer: 03/04/2024")).toBe("!ambiguous")
    expect(read(AnswerFormat.dateWith({ dayFirst: true }), "Answer: 03/04/2024")).toBe("2024-04-03")
    expect(read(AnswerFormat.dateWith({ dayFirst: false }), "Answer: 03/04/2024")).toBe("2024-03-04")
    for (const format of [
      date,
      AnswerFormat.dateWith({ dayFirst: true }),
      AnswerFormat.dateWith({ dayFirst: false })
    ]) {
      expect(read(format, "Answer: 25/12/2024")).toBe("2024-12-25")
    }
  })
})

describe("kinds", () => {
  it.each(numbers.map(([reply, expected, format = number]) => ({ reply, expected, format })))(
    "number of $reply",
    ({ expected, format, reply }) => {
      expect(read(format, reply)).toEqual(plainNumber(expected))
    }
  )
  it.each(dates)("date of %j is %j", (reply, expected) => {
    expect(read(date, reply)).toBe(expected)
  })
  it.each(options)("option of %j is %j", (reply, expected) => {
    expect(read(letters, reply)).toBe(expected)
  })
  it.each(numberTexts)("option with numbers for texts: %j is %j", (reply, expected) => {
    expect(read(option({ A: "11", B: "12", C: "13" }), reply)).toBe(expected)
  })
  it.each(wordTexts)("option with words for texts: %j is %j", (reply, expected) => {
    expect(read(option({ A: "play", B: "game", C: "Cannot be determined" }), reply)).toBe(expected)
  })
  it.each(words)("option of words: %j is %j", (reply, expected) => {
    expect(read(option(["yes", "no"]), reply)).toBe(expected)
  })
})

describe("formats", () => {
  it("have names that fit `the answer (a single …) is:`", () => {
    expect([number.name, date.name, letters.name, option(["yes", "no"]).name]).toEqual([
      "number",
      "date",
      "option letter",
      "option"
    ])
  })
  it("can be one's own, on the visible part of the reply", () => {
    const format = AnswerFormat.make("colour", (text) =>
      text === "red"
        ? Either.right(text)
        : Either.left(new ParseError({ problem: "no_colour", expected: "a colour", found: "none" }))
    )
    expect(format.name).toBe("colour")
    expect(read(format, "<think>blue</think>\nred")).toBe("red")
    expect(read(format, "blue")).toBe("!no_colour")
  })
  it("say in the error what to write", () => {
    const result = letters.read("I like kites.")
    expect(Either.isLeft(result) && result.left.message).toContain("`Answer: A`")
  })
  it("refuse an empty list of options", () => {
    expect(() => option([])).toThrow(RangeError)
  })
})

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "Answer: ",
        "the answer is ",
        "A: ",
        "####",
        "\\boxed{",
        "}",
        "12",
        "1,234",
        "5k",
        "%",
        "-",
        "2/3",
        " ",
        "\n",
        "$",
        "**",
        "(",
        ")",
        "B",
        "not ",
        "2024-02-30",
        "July 4, 2024",
        "3/4/2024",
        "."
      ),
      fc.string({ maxLength: 6, unit: "grapheme" })
    ),
    { maxLength: 30 }
  )
  .map((parts) => parts.join(""))

describe("laws", () => {
  it("every string gives an answer or a ParseError with a known problem word", () => {
    const known = "no_number ambiguous malformed no_option no_answer invalid_date inconsistent".split(" ")
    const formats: ReadonlyArray<AnswerFormat.AnswerFormat<unknown>> = [
      number,
      suffixed,
      date,
      letters,
      option({ A: "11", B: "a kite" }),
      option(["yes", "no"])
    ]
    fc.assert(
      fc.property(hostile, (reply) => {
        for (const format of formats) {
          const result = format.read(reply)
          if (Either.isLeft(result)) {
            expect(result.left).toBeInstanceOf(ParseError)
            expect(known).toContain(result.left.problem)
            expect(result.left.reply).toBe(reply)
          }
        }
      }),
      { numRuns }
    )
  })
  it("an integer is read back from every common form", () => {
    const forms: ReadonlyArray<(value: string) => string> = [
      (value) => value,
      (value) => `Answer: ${value}`,
      (value) => `**Answer:** ${value} apples.`,
      (value) => `We had 3 and 4 of them. The final answer is **${value}**.`,
      (value) => `3 + 4 = 7\n#### ${value}`,
      (value) => `So $\\boxed{${value}}$.`,
      (value) => `Step 1: 3\nStep 2: 4\nA: ${value}`
    ]
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...forms), fc.boolean(), (value, form, grouped) => {
        const written = grouped ? value.toLocaleString("en-US") : String(value)
        expect(read(number, form(written))).toEqual({ value })
      }),
      { numRuns }
    )
  })
  it("a decimal number is read back", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(read(number, `Answer: ${value}`)).toEqual({ value: value === 0 ? expect.closeTo(0) : value })
      }),
      { numRuns }
    )
  })
  it("a number without unit or fraction stands in the reply, digit for digit", () => {
    fc.assert(
      fc.property(hostile, (reply) => {
        const result = number.read(reply)
        if (Either.isLeft(result) || !Number.isInteger(result.right.value) || /[eE/×^\uff10-\uff19.]/.test(reply))
          return
        expect(reply.replaceAll(/[^0-9]/g, "")).toContain(String(Math.abs(result.right.value)))
      }),
      { numRuns }
    )
  })
  it("a date is read back from every common form", () => {
    const names = "January February March April May June July August September October November December".split(" ")
    const day = fc.record({
      year: fc.integer({ min: 1000, max: 9999 }),
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 28 })
    })
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 5 }), ({ day, month, year }, form) => {
        const two = (n: number) => String(n).padStart(2, "0")
        const name = names[month - 1]
        const written = [
          `${year}-${month}-${day}`,
          `${year}/${two(month)}/${two(day)}`,
          `${name} ${day}, ${year}`,
          `${day} ${name} ${year}`,
          `${name?.slice(0, 3)}. ${day} ${year}`,
          `${year}年${month}月${day}日`
        ][form]
        expect(read(date, `The answer is ${written}.`)).toBe(`${year}-${two(month)}-${two(day)}`)
      }),
      { numRuns }
    )
  })
  it("an option is one of the given ones", () => {
    fc.assert(
      fc.property(hostile, (reply) => {
        const result = letters.read(reply)
        if (Either.isRight(result)) expect(reply.normalize("NFKC").toUpperCase()).toContain(result.right)
      }),
      { numRuns }
    )
  })
})
