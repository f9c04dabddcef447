// Answers as models write them in other notations, units and languages: what they are, and what nobody can say.
import * as Either from "effect/Either"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as AnswerFormat from "../src/reply/AnswerFormat.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

const { date, number, numberWith } = AnswerFormat
const suffixed = numberWith({ suffixes: true })
const comma = numberWith({ decimal: "," })
const point = numberWith({ decimal: "." })

/** The answer, with its unit behind it, or `!` and the problem word. */
const read = <A>(format: AnswerFormat.AnswerFormat<A>, reply: string): unknown => {
  const result = format.read(reply)
  if (Either.isLeft(result)) return `!${result.left.problem}`
  const answer: unknown = result.right
  return typeof answer === "object" && answer !== null && "value" in answer
    ? "unit" in answer
      ? `${answer.value} ${answer.unit}`
      : answer.value
    : answer
}

type Row = readonly [reply: string, expected: unknown, format?: AnswerFormat.AnswerFormat<unknown>]

const tables: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "VR-04: continental notation": [
    ["Antwort: 2.500,75 EUR", 2500.75],
    ["-3.120,5", -3120.5],
    ["Answer: -3.120,5", -3120.5],
    ["−3.120,5", -3120.5],
    ["7.654.321,00", 7654321],
    ["Answer: 7.654.321", 7654321],
    ["Answer: 1.234,567", 1234.567],
    ["€ 2.500,75", 2500.75],
    ["2.500,75 €", 2500.75],
    ["EUR 2.500,75", 2500.75],
    ["R$ 1.234,56", 1234.56],
    ["1.234,56 zł", 1234.56],
    ["Answer: kr 1.234,50", 1234.5],
    ["**2.500,75 EUR**", 2500.75],
    ["2.500,75%", "2500.75 %"],
    ["\\boxed{2.500,75}", 2500.75],
    ["２.５００,７５", 2500.75],
    ["Die Antwort ist 2.500,75.", 2500.75],
    ["Answer: 1'234,50", 1234.5],
    ["Answer: CHF 1'234.50", 1234.5],
    ["Answer: 1’234’567.8", 1234567.8],
    ["Answer: 1\u202f234,5", 1234.5],
    ["Answer: 1\u00a0234\u00a0567,25 €", 1234567.25],
    ["Answer: 1\u2009234,567", 1234.567],
    ["Answer: 2.500,- EUR", 2500],
    ["Answer: 25,- €", 25],
    ["Answer: 25,– €", 25],
    ["0,25", "!ambiguous"],
    ["12,50", "!ambiguous"],
    ["Answer: 12,5 EUR", "!ambiguous"],
    ["Answer: 1234,5", "!ambiguous"],
    ["Answer: 1234,567", "!ambiguous"],
    ["12,500", 12500],
    ["Answer: 12,500.75", 12500.75],
    ["Answer: 12.500", 12.5],
    ["Answer: 1.5", 1.5],
    ["Answer: 2.50,75", "!malformed"],
    ["Answer: 2.500,75,1", "!malformed"],
    ["Answer: 2.500.75", "!malformed"],
    ["Answer: 0.250,5", "!malformed"],
    ["Answer: 1.2.3", "!malformed"],
    ["Answer: 192.168.100.200", "!malformed"],
    ["Answer: 2.500,75 or 2.600,00", "!ambiguous"]
  ],
  "VR-04: with a decimal mark": [
    ["0,25", 0.25, comma],
    ["12,50", 12.5, comma],
    ["12,500", 12.5, comma],
    ["Antwort: -0,5", -0.5, comma],
    ["12.500", 12500, comma],
    ["Antwort: 2.500,75 EUR", 2500.75, comma],
    ["7.654.321,00", 7654321, comma],
    ["1.234.567", 1234567, comma],
    ["1,234,567", 1234567, comma],
    ["2,500.75", 2500.75, comma],
    ["1'234,5", 1234.5, comma],
    ["1\u00a0234,5", 1234.5, comma],
    ["12", 12, comma],
    ["12 %", "12 %", comma],
    ["3,5 km", 3.5, comma],
    ["3,5km", "3.5 km", comma],
    ["3,5 · 10^3", 3500, comma],
    ["2,5e3", 2500, comma],
    ["1.5", "!ambiguous", comma],
    ["0.25", "!ambiguous", comma],
    ["1,2,3", "!malformed", comma],
    ["3, 4", "!ambiguous", comma],
    ["0,25 oder 0,5", "!ambiguous", comma],
    ["12,500", 12500, point],
    ["12.500", 12.5, point],
    ["2.500,75", 2500.75, point],
    ["7.654.321,00", 7654321, point],
    ["0.25", 0.25, point],
    ["0,25", "!ambiguous", point]
  ],
  "VR-09: values of two units": [
    ...[
      "6 ft. 2 in.",
      "6 ft. 6 in.",
      "6 ft 2 in",
      "6 ft, 2 in",
      "6 feet and 2 inches",
      "6 feet and two inches",
      "2 hrs. 15 mins.",
      "2 hrs. and 15 mins.",
      "4 hours; 30 minutes",
      "4 hours;30 minutes",
      "4 hours, 30 minutes",
      "4 h; 30 min",
      "5 hours\nand 10 minutes",
      "5 hours,\n10 minutes",
      "5 hours  \n10 minutes",
      "**5 hours**\n**10 minutes**",
      "5 hours<br>10 minutes",
      "5 hours (and 10 minutes)",
      "6 feet\n2 inches",
      "8 ft. by 3 ft.",
      "8 ft. by 8 ft.",
      "8 by 8",
      "8 ft. x 3 ft.",
      "8 × 3",
      "$9 vs. $11",
      "$9 vs $11",
      "9 versus 9",
      "$9\nvs. $11",
      "12\nor 13",
      "7 rem. 2",
      "7 remainder 2",
      "7 remainder 7",
      "7 R 2",
      "7 R2",
      "7, rem. 2",
      "7 (remainder 2)",
      "7; remainder 2",
      "7\nremainder 2",
      "7 Rest 2",
      "7 余 2",
      "45° 30'",
      "45°30′15″",
      "45^\\circ 30'",
      "45 degrees 45 minutes",
      "3 lb. 4 oz.",
      "3 lbs 3 oz",
      "3 pounds and 4 ounces",
      "2h 30m",
      "2 h 30 m",
      "1 hr., 15 min.",
      "3 min. 20 sec.",
      "3 years and 4 months",
      "3 yrs. 3 mos.",
      "3 years; 4 months",
      "2 weeks 2 days",
      "5 gal. 2 qt.",
      "2 cups 2 tbsp",
      "3 dozen and 2",
      "3 dozen and 3",
      "5'11\"",
      "5' 11\"",
      "5′11″",
      "5'5\"",
      "5 ft 11",
      "5 dollars and 5 cents",
      "5 dollars; 50 cents",
      "9km 300m",
      "9km; 300m",
      "2 and a half",
      "2 and a half hours",
      "2 hours and a half",
      "3 and three quarters",
      "2 Stunden und 30 Minuten",
      "2 Std. 30 Min.",
      "2 heures; 30 minutes",
      "2 horas y 30 minutos",
      "2小时30分钟",
      "2 小时 2 分钟",
      "\\boxed{6 \\text{ ft } 2 \\text{ in}}",
      "\\boxed{5\\text{ hours }5\\text{ minutes}}"
    ].flatMap(
      (value): ReadonlyArray<Row> => [
        [`Answer: ${value}`, expect.stringMatching(/^!/)],
        [value, expect.stringMatching(/^!/)],
        [`So the answer is ${value}`, expect.stringMatching(/^!/)]
      ]
    ),
    ["Answer: 6 ft. 2 in.", "!ambiguous"],
    ["Answer: 4 hours; 30 minutes", "!ambiguous"],
    ["Answer: 5 hours\nand 10 minutes", "!ambiguous"],
    ["Answer: 7 rem. 2", "!ambiguous"],
    ["Answer: $9 vs. $11", "!ambiguous"],
    ["Answer: 6 ft.", 6],
    ["Answer: 6 ft. There were 20.", 6],
    ["Answer: 15 min. This is short.", 15],
    ["Answer: 4 hours; the train was late", 4],
    ["Answer: 1 hour (60 minutes)", 1],
    ["Answer: 5 hours\n\nConfidence: 90%", 5],
    ["Answer: 5 hours\nConfidence: 90%", 5],
    ["Answer: 5 hours\n\n10 minutes were spent on the way.", 5],
    ["Answer: 2 h 30 min = 150 min", 150],
    ["Answer: 150 minutes", 150],
    ["Answer: 15 apples. There were 20 at first.", 15],
    ["Answer: 18 (not 20)", 18],
    ["Answer: 7 and that is all", 7],
    ["Answer: 12 by noon", 12]
  ],
  "NW-64: words that scale a number": [
    ...[
      "12万",
      "12 万",
      "１２万",
      "12萬",
      "12万元",
      "12万人",
      "**12**万",
      "1.2亿",
      "1.2億円",
      "1億5000万",
      "3千",
      "3千円",
      "3百万",
      "5万亿",
      "2兆",
      "12만",
      "12만 원",
      "3억",
      "5천",
      "3천만",
      "2조",
      "5 lakh",
      "5 lakhs",
      "Rs. 5 lakh",
      "2 crore",
      "2 crores",
      "12k",
      "12 k",
      "$12K",
      "12 thousand",
      "2 million",
      "2 millions",
      "2 Million",
      "2 million dollars",
      "2-million",
      "**2** million",
      "2 **million**",
      "2 (million)",
      "2 (in millions)",
      "\\boxed{1.2\\text{ million}}",
      "1.2 \\text{ billion}",
      "½ million",
      "2/3 million",
      "3.5 bn",
      "3.5bn",
      "1 trillion",
      "2 Millionen",
      "3 Mio.",
      "3 Mio. €",
      "5 Milliarden",
      "5 Mrd.",
      "12 Tausend",
      "12 Tsd.",
      "2 milliers",
      "2 millions d'euros",
      "5 milliards",
      "5 Md€",
      "5 mil",
      "5 mil millones",
      "2 millones",
      "2 billones",
      "3 mila",
      "250mila",
      "3 milioni",
      "2 miliardi",
      "3 milhões",
      "2 bilhões",
      "5 тыс.",
      "5 тысяч",
      "2 миллиона",
      "2 млн",
      "3 миллиарда",
      "3 млрд рублей",
      "12 tys.",
      "3 miliony",
      "2 mld",
      "5 bin",
      "2 milyon",
      "3 miljoen",
      "5 tusen",
      "5 juta",
      "5 triệu",
      "5 हज़ार",
      "5 लाख",
      "5 مليون",
      "5 ล้าน",
      "3 dozen",
      "3 Dutzend",
      "5 hundred"
    ].flatMap(
      (value): ReadonlyArray<Row> => [
        [`Answer: ${value}`, "!ambiguous"],
        [`答案：${value}`, "!ambiguous"],
        [value, "!ambiguous"]
      ]
    ),
    ["答案：12万", 120000, suffixed],
    ["答案：1.2亿", 120000000, suffixed],
    ["１２万", 120000, suffixed],
    ["3百万", 3000000, suffixed],
    ["5万亿", 5e12, suffixed],
    ["3천만", 30000000, suffixed],
    ["5 lakhs", 500000, suffixed],
    ["1.1 million", 1100000, suffixed],
    ["2 Millionen", 2000000, suffixed],
    ["3 Mio. €", 3000000, suffixed],
    ["5 Mrd.", 5e9, suffixed],
    ["5 mil millones", "!ambiguous", suffixed],
    ["2 billones", 2e12, suffixed],
    ["5 тыс.", 5000, suffixed],
    ["2 млн", 2000000, suffixed],
    ["3 milhões", 3000000, suffixed],
    ["250mila", 250000, suffixed],
    ["5 hundred thousand", 500000, suffixed],
    ["½ million", 500000, suffixed],
    ["3 dozen", 36, suffixed],
    ["1億5000万", "!ambiguous", suffixed],
    ["2 million 500 thousand", "!ambiguous", suffixed],
    ["3 dozen and 2", "!ambiguous", suffixed],
    ["3,2 Mio.", 3200000, numberWith({ suffixes: true, decimal: "," })],
    ["12 mil", "!ambiguous", suffixed],
    ["12m", "!ambiguous", suffixed],
    ["Answer: 12 m", 12],
    ["Answer: 12 minutes", 12],
    ["Answer: 5 bins", 5],
    ["Answer: 12千克", 12],
    ["Answer: 5千米", 5],
    ["Answer: 5百分点", 5],
    ["Answer: 3兆瓦", 3],
    ["Answer: 3조각", expect.not.stringMatching(/000/)],
    ["Answer: 12元", 12],
    ["Answer: 12 millimetres", 12],
    ["Answer: 12 thousandths", 12],
    ["Answer: 12 bananas", 12]
  ],
  "VR-13: common forms": [
    ["\\boxed{45^\\circ}", "45 °"],
    ["\\boxed{60^{\\circ}}", "60 °"],
    ["\\boxed{60^{ \\circ }}", "60 °"],
    ["$45^\\circ$", "45 °"],
    ["Answer: $x = 45^\\circ$", "45 °"],
    ["\\boxed{45\\degree}", "45 °"],
    ["\\boxed{20^\\circ\\text{C}}", "20 °C"],
    ["\\boxed{20^\\circ C}", "20 °C"],
    ["\\boxed{-10^{\\circ}\\mathrm{F}}", "-10 °F"],
    ["Answer: 45°", "45 °"],
    ["\\frac{-5}{8}", -0.625],
    ["\\boxed{\\frac{-5}{8}}", -0.625],
    ["\\frac{5}{-8}", -0.625],
    ["\\frac{-5}{-8}", 0.625],
    ["-\\frac{-5}{8}", 0.625],
    ["\\dfrac{-5}{8}", -0.625],
    ["\\tfrac{−5}{8}", -0.625],
    ["\\cfrac{ -5 }{ 8 }", -0.625],
    ["\\boxed{\\dfrac{1.5}{2}}", 0.75],
    ["\\boxed{\\displaystyle \\frac{5}{8}}", 0.625],
    ["\\boxed{\\left(\\frac{-5}{8}\\right)}", -0.625],
    ["\\frac58", 0.625],
    ["\\frac{5}{0}", "!malformed"],
    ["\\frac{-n}{8}", "!no_number"],
    ["2\\frac{-2}{3}", "!malformed"],
    ["\\frac{1}{2}\\pi", "!no_number"],
    ["½x", "!no_number"],
    ["\\boxed{18\\text{ dollars}}", 18],
    ["\\boxed{5\\,\\text{cm}}", 5],
    ["\\boxed{5~\\text{cm}}", 5],
    ["\\boxed{5\\ \\mathrm{cm}}", 5],
    ["\\boxed{5\\mathrm{cm}}", 5],
    ["\\boxed{10\\text{ m}^2}", 10],
    ["\\boxed{\\text{Area} = 12}", 12],
    ["\\boxed{12\\text{ m/s}}", 12],
    ["\\boxed{9{,}500}", 9500],
    ["\\boxed{\\text{12}}", 12],
    ["\\boxed{\\mathbf{12}}", 12],
    ["\\boxed{12.}", 12],
    ["\\boxed{25\\%}", "25 %"],
    ["5‰", "5 ‰"],
    ["Answer: approx. 30", 30],
    ["approx. 30", 30],
    ["Answer: Approx. 30 km", 30],
    ["Answer: ca. 30", 30],
    ["Answer: c. 30", 30],
    ["Antwort: etwa 30", 30],
    ["Answer: circa 30", 30],
    ["Answer: aprox. 30", 30],
    ["The answer is approx. $30.", 30],
    ["There were 20. Therefore there are approx. 30.", 30],
    ["Answer: approx. 30. There were 20.", 30],
    ["答案：约 30", 30],
    ["the 9th of May in 2023", "2023-05-09", date],
    ["Answer: the 9th of May in 2023", "2023-05-09", date],
    ["Answer: the 9th of May, in 2023", "2023-05-09", date],
    ["9 May in the year 2023", "2023-05-09", date],
    ["the 9th of May of the year 2023", "2023-05-09", date],
    ["the 9th day of May, 2023", "2023-05-09", date],
    ["May 9 in 2023", "2023-05-09", date],
    ["May 9th of 2023", "2023-05-09", date],
    ["May the 9th, 2023", "2023-05-09", date],
    ["Tuesday the 9th of May in 2023", "2023-05-09", date],
    ["Monday the 9th of May in 2023", "!inconsistent", date],
    ["the 9th of May in 20 days", expect.stringMatching(/^!/), date],
    ["the 9th of May or June in 2023", expect.stringMatching(/^!/), date],
    ["the 31st of June in 2023", "!invalid_date", date]
  ],
  "markers in other languages": [
    ["Es waren 20.\nAntwort: 15", 15],
    ["20 au début.\n**Réponse :** 15", 15],
    ["20.\nRespuesta: 15", 15],
    ["20.\nRisposta finale: 15", 15],
    ["20.\nResposta: 15", 15],
    ["20.\nОтвет: 15", 15],
    ["20.\n回答：15", 15],
    ["20.\n答え：15", 15],
    ["20.\n정답: 15", 15],
    ["Antwort: 14\nMoment.\nAntwort: 15", 15],
    ["Die Antwort ist 15, nicht 20.", 15],
    ["La réponse est 15", 15],
    ["La respuesta es 15.", 15]
  ]
}

for (const [kind, rows] of Object.entries(tables)) {
  describe(kind, () => {
    it.each(rows.map(([reply, expected, format = number]) => ({ reply, expected, format })))(
      "$reply",
      ({ expected, format, reply }) => {
        expect(read(format, reply)).toEqual(expected)
      }
    )
  })
}

describe("laws", { timeout: 300_000 }, () => {
  const amounts = fc.integer({ min: -99_999_999, max: 99_999_999 }).map((cents) => cents / 100)
  const written = (value: number, locale: string) =>
    value.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

  it("VR-04: an amount is read back from its own notation, with or without a currency", () => {
    const around = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `Antwort: ${text} EUR`,
      (text) => `Answer: **${text} €**`,
      (text) => `\\boxed{${text}}`
    )
    fc.assert(
      fc.property(
        amounts,
        fc.constantFrom("de-DE", "es-ES", "fr-FR", "de-CH", "pt-BR", "it-IT"),
        around,
        (value, locale, write) => {
          const format = locale === "de-CH" ? point : comma
          expect(read(format, write(written(value, locale)))).toEqual(value === 0 ? expect.closeTo(0) : value)
        }
      ),
      { numRuns }
    )
  })
  it("VR-04: no notation is ever read as another number", () => {
    fc.assert(
      fc.property(amounts, fc.constantFrom("de-DE", "en-US", "fr-FR", "de-CH"), (value, locale) => {
        const answer = read(number, `Answer: ${written(value, locale)}`)
        if (typeof answer === "number") expect(answer + 0).toBe(value + 0)
        else expect(answer).toBe("!ambiguous")
      }),
      { numRuns }
    )
  })
  it("VR-09, NW-64: a number with something behind it is never read as the bare number", () => {
    const behind = fc.constantFrom(
      " ft. 9 in.",
      " hours\nand 9 minutes",
      " rem. 9",
      " R9",
      "万",
      " million",
      " Mio.",
      "억",
      " тыс.",
      " dozen and 9",
      " vs. 9",
      " ft. by 9 ft.",
      " lb; 9 oz",
      "° 9′"
    )
    fc.assert(
      fc.property(
        fc.nat(99),
        behind,
        fc.constantFrom("", "Answer: ", "So the answer is ", "#### "),
        (value, rest, before) => {
          expect(typeof read(number, `${before}${value}${rest}`)).toBe("string")
          expect(read(number, `${before}${value}${rest}`)).toMatch(/^!/)
        }
      ),
      { numRuns }
    )
  })
})
