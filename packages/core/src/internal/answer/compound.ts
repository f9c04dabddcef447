/**
 * Values of two parts: `6 ft. 2 in.`, `7 remainder 2`, `2 and a half`. Their first part is not their value.
 *
 * @internal
 */

/** Units of one kind on each line: a value may be written in two of them. */
const kinds = [
  "' ’ ′ \" ” ″ ft foot feet in inch inches yd yds yard yards mi mile miles furlong furlongs fathom fathoms mm cm dm m km meter meters metre metres kilometer kilometers kilometre kilometres centimeter centimeters centimetre centimetres millimeter millimeters 米 厘米 公里 千米 毫米",
  "h hr hrs hour hours min mins minute minutes m s sec secs second seconds d day days wk wks week weeks mo mos mth mths month months yr yrs year years decade decades century centuries fortnight ms std stunde stunden minuten sek sekunde sekunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren heure heures jour jours semaine semaines mois an ans année années seconde secondes hora horas minuto minutos día días dia dias semana semanas mes meses mês año años ano anos segundo segundos ora ore minuti giorno giorni settimana settimane mese mesi anno anni secondi uur minuut minuten dagen weken maanden jaar час часа часов ч минута минуты минут мин день дня дней неделя недели недель месяц месяца месяцев год года лет 小时 小時 分钟 分鐘 分 秒 天 日 周 週 个月 個月 月 年 時間 か月 ヶ月 시간 분 초 일 주 개월 년",
  "lb lbs pound pounds oz ounce ounces st stone stones kg g mg t ton tons tonne tonnes gram grams gramme grammes kilogram kilograms kilo kilos 斤 两 公斤 克 千克",
  "gal gals gallon gallons qt qts quart quarts pt pts pint pints cup cups c tbsp tbsps tablespoon tablespoons tsp tsps teaspoon teaspoons l ml cl dl liter liters litre litres milliliter milliliters fl",
  "$ € £ ¢ dollar dollars cent cents ct cts euro euros pound pounds penny pence p quid shilling shillings rupee rupees paise 元 块 角 分 円",
  "° ' ’ ′ \" ” ″ degree degrees deg minute minutes min second seconds sec arcminutes arcseconds",
  "dozen dozens gross score scores"
].map((line) => new Set(line.split(" ")))

const numberWord =
  "(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|half)(?![a-z])"
const and = "(?:and|plus|und|et|y|e|i|и|och|og|en|&|\\+)"
const unit = "[°'’′″\"”]|\\p{L}{1,12}"
/** Behind the digits: the first unit, what stands between, and the second part with its unit. */
const pair = new RegExp(
  `^[ \\u00a0*_~\\\\,-]{0,4}(?:\\\\(?:text|mathrm)\\{\\s?)?(${unit})?\\.?[\\s,;*_}]{0,6}(?:<br\\s?/?>[\\s*_]{0,3})?(?:\\(?${and}(?![\\p{L}])[\\s*_]{0,3})?(?:another |a further )?(?:\\$|[€£])?(?:\\d[\\d.,/]{0,12}|${numberWord})(?:[ ½¼¾]{0,2}(?:\\\\(?:text|mathrm)\\{\\s?)?(${unit}))?`,
  "iu"
)
const blankLine = /\n[ \t]*\n/
/** What goes on with the value in any unit: a remainder, a second side, a part of one. */
const second = new RegExp(
  `^[ \\u00a0*_]{0,3}(?:(?:${unit})\\.?)?[\\s,;(*_]{0,5}(?:with )?(?:a )?(?:(?:(?:remainder|rem|rest|reste|resto|r|余り|余|나머지|остаток)\\.?[ :=]{0,2}(?:of |is )?|(?:by|versus|vs?)(?!\\p{L})\\.?[ ]{1,2}[$€£]?)\\d|and (?:a |an |one |two |three )?(?:half|halves|quarter|quarters|third|thirds|eighths?)(?![a-z]))`,
  "iu"
)
/** A second number right behind a semicolon. */
const list = /^[^;\n\d]{0,24};[ \t*_]{0,4}[$€£]?\d/
/** A line that goes on with the value of the line before. */
const nextLine = /^[^\n\d]{0,24}\n[ \t*_]{0,4}(?:and|or|plus|to|&|\+)[ ]{1,3}[$€£]?\d/i

/**
 * Returns whether the number that ends at `at`, in digits or with `unit` glued to it, is only the first part of a
 * value.
 */
export const isFirstPart = (text: string, at: number, glued: string | undefined): boolean => {
  const rest = text.slice(at, at + 80)
  if (second.test(rest) || list.test(rest) || nextLine.test(rest)) return true
  const parts = pair.exec(rest)
  if (parts === null || blankLine.test(parts[0])) return false
  const first = (parts[1] ?? glued ?? "").toLowerCase()
  const then = (parts[2] ?? "").toLowerCase()
  return first !== then && kinds.some((kind) => kind.has(first) && kind.has(then))
}
