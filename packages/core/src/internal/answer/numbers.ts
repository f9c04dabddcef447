/**
 * The numbers of a text that was folded: what is a number, and what only looks like one.
 *
 * @internal
 */
import { isBound, isSymbolic, negativeStart } from "./context.js"
import { scaleAt } from "./scales.js"
import { unitClass } from "./text.js"

export interface NumberToken {
  readonly start: number
  readonly end: number
  readonly value: number
  readonly unit?: string
  /** `malformed`: no reading at all; `ambiguous`: several. Then `value` means nothing. */
  readonly problem?: "malformed" | "ambiguous"
  /** Digits that are not a number: `symbolic` in an expression with a variable, a root or π, `other` as in `5th`. */
  readonly glued?: "symbolic" | "other"
}

export interface NumberOptions {
  /** True if `5k`, `3M` and `2 million` are multiplied out. */
  readonly suffixes: boolean
  /** The decimal mark where a number could be read with either. Undefined: such a number is ambiguous, or English. */
  readonly decimal?: "," | "." | undefined
}

const isWord = unitClass(/[\p{L}\p{N}_]/u)
const isLetter = unitClass(/\p{L}/u)
const currencyCode = /(?:^|[^A-Za-z])(?:USD?|EUR|GBP|JPY|CNY|INR|CAD|AUD|CHF|Rs|A|C|HK|NZ)\.?$/
const currencies = "$€£¥₹₩₽¢₺₴฿"
const fractions: ReadonlyMap<string, number> = new Map([
  ["½", 1 / 2],
  ["⅓", 1 / 3],
  ["⅔", 2 / 3],
  ["¼", 1 / 4],
  ["¾", 3 / 4],
  ["⅕", 1 / 5],
  ["⅖", 2 / 5],
  ["⅗", 3 / 5],
  ["⅘", 4 / 5],
  ["⅙", 1 / 6],
  ["⅚", 5 / 6],
  ["⅛", 1 / 8],
  ["⅜", 3 / 8],
  ["⅝", 5 / 8],
  ["⅞", 7 / 8]
])
const isFraction = (code: number): boolean =>
  (code >= 0xbc && code <= 0xbe) || (code >= 0x2150 && code <= 0x215f && fractions.has(String.fromCharCode(code)))
const units = new Set(
  "km cm mm nm kg mg ml mL dl cl kL lb lbs oz ft yd mi hr hrs min mins sec secs ms mph kph kmh km² cm² m² km³ cm³ m³ kW kWh MW MWh GW kJ kcal cal Hz kHz MHz GHz kB KB MB GB TB USD EUR GBP °C °F °".split(
    " "
  )
)

/** A sticky look at one place. Each pattern below starts at a fixed place and never tries a run of digits twice. */
const lookAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const digits = /\d+/y
const group = /(?:[,_'’\u00a0\u202f\u2009]|\{,\}|\\,|,\\!)(\d{3})(?!\d)/y
const indianGroup = /(?:,\d{2}){1,6},\d{3}(?![\d,])/y
const commaRun = /,\d[\d,.]*/y
const decimals = /\.\d+/y
const exponent = /[eE][+-–]?\d+(?![\p{L}\d_])/uy
const power =
  /[ ]?(?:×|x|\*|·|\\times|\\cdot)[ ]?10\^?(?:\{([+-–]?\d{1,4})\}|\(([+-–]?\d{1,4})\)|([+-–]?\d{1,4})|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))/y
const over = /\/(\d+)/y
const mixed = /(?: |\u00a0)(?:and )?(\d+)\/(\d+)/y
const inFraction = "\\{[ ]?([-–+]?[ ]?\\d{1,15}(?:\\.\\d{1,15})?)[ ]?\\}|(\\d)"
const latexFraction = new RegExp(`\\\\(?:[dtcs]|nice)?frac\\s?(?:${inFraction})\\s?(?:${inFraction})`, "y")
const degrees =
  /[ ]?(?:\^[ ]?(?:\{[ ]?\\circ[ ]?\}|\\circ(?![A-Za-z]))|\\degree(?:s)?(?![A-Za-z]))(?:[ ]?(?:\\(?:text|mathrm|,)[ ]?)?\{?[ ]?([CFK])(?![A-Za-z]))?/y
const percent = /[ ]?\\?%|[ ]?‰|[ ](?:percent|per cent|pct)(?![A-Za-z])/iy
/** Twelve groups are more than any number that is exact. */
const pointGroups = /(?:\.\d{3}(?!\d)){1,12}/y
const otherGroups = /(?:[_'’\u00a0\u202f\u2009]\d{3}(?!\d)){0,12}/y
const commaDecimals = /,(\d+)(?![.,]?\d)/y
/** `12,-` and `12,–`: a price without cents. */
const noDecimals = /,[-–—]{1,2}(?![\d\p{L}])/uy
const glued = /°[CF]?(?![\p{L}_])|[\p{L}°²³_][\p{L}\p{N}°²³_]*/uy
const chained = /(?:[-–]\d[\d.,]*)+/y
const timeOrRatio = /:\d[\d:.]*/y
const perTime = /\/(?:h|hr|s|sec|min|day|L|l|m²|m³)(?![A-Za-z])/y
const latexGlue =
  /[ ]?(?:[√π]|pi(?![A-Za-z]))|\\(?:pi|sqrt|theta|alpha|beta|gamma|delta|lambda|mu|sigma|omega|phi|ln|log|sin|cos|tan|left|infty|ldots|dots)(?![A-Za-z])/y

/** More numbers than this have no single answer among them: the scan ends. */
export const maxNumbers = 1000

/**
 * Every number of `text` between two offsets, in order, up to {@link maxNumbers}. A number glued to a letter (`12n`,
 * `x2`) is none.
 */
export const scanNumbers = (
  text: string,
  from: number,
  to: number,
  options: NumberOptions
): ReadonlyArray<NumberToken> => {
  const tokens: Array<NumberToken> = []
  let at = from
  const push = (read: Read): number => {
    if (read.token !== undefined && read.end <= to) tokens.push(read.token)
    return read.end
  }
  while (at < to && tokens.length < maxNumbers) {
    const code = text.charCodeAt(at)
    const isDigit = code >= 48 && code <= 57
    if (
      isDigit ||
      (code === 46 && isDigitAt(text, at + 1) && !isWord(text.charCodeAt(at - 1)) && text.charAt(at - 1) !== ".")
    ) {
      at = Math.max(push(readAt(text, at, options)), at + 1)
    } else if (isFraction(code)) {
      const start = signStart(text, at)
      at = push(readTail(text, start, at + 1, signOf(text, start) * (fractions.get(text.charAt(at)) ?? 0), options))
    } else if (code === 92) {
      const fraction = lookAt(latexFraction, text, at)
      if (fraction === null) {
        at += 1
      } else {
        const start = signStart(text, at)
        const ratio = ratioOf(fraction[1] ?? fraction[2], fraction[3] ?? fraction[4])
        const end = at + fraction[0].length
        at = push(
          ratio === undefined
            ? { end, token: { start, end, value: 0, problem: "malformed" } }
            : readTail(text, start, end, signOf(text, start) * ratio, options)
        )
      }
    } else if (isLetter(code) || code === 95) {
      // A word: digits inside it are part of it, unless it is a currency code.
      let end = at + 1
      while (end < to && (isLetter(text.charCodeAt(end)) || text.charCodeAt(end) === 95)) end += 1
      const isMarkdown = code === 95 && !isLetter(text.charCodeAt(end - 1)) && !isWord(text.charCodeAt(at - 1))
      if (
        isDigitAt(text, end) &&
        !isMarkdown &&
        !currencyCode.test(text.slice(Math.max(from, end - 5), end)) &&
        !isSpaceless(text.charAt(at))
      ) {
        while (end < to && isWord(text.charCodeAt(end))) end += 1
      }
      at = end
    } else {
      at += 1
    }
  }
  return tokens.map((token) => inContext(text, from, token))
}

/** A number as the text around it has it: with `minus` before it, as a bound, or as a term of an expression. */
const inContext = (text: string, from: number, token: NumberToken): NumberToken => {
  if (token.glued !== undefined) return token
  if (isSymbolic(text, token.start, token.end)) return { ...token, glued: "symbolic" }
  if (token.problem !== undefined) return token
  if (isBound(text, token.start, token.end)) return { ...token, problem: "ambiguous" }
  const start = negativeStart(text, token.start)
  return start === undefined || start < from ? token : { ...token, start, value: -token.value }
}

/** Scripts that are written without spaces: a number beside them stands alone. */
const isSpaceless = (char: string): boolean => char >= "\u3040" && char <= "\u9fff"

const isDigitAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

/** Signs that stand right before a number, and the dashes that models write for a minus. */
const signs = "-–—‒―+"

/** Where a number's sign or currency starts, going back from its first digit. */
const signStart = (text: string, at: number): number => {
  let start = at
  let before = start
  for (let steps = 0; steps < 2; steps += 1) {
    if (currencies.includes(text.charAt(before - 1)) && before > 0) {
      before -= text.charAt(before - 2) === "\\" ? 2 : 1
      start = before
      if (signs.includes(text.charAt(before - 1)) && before > 0 && isFreeSign(text, before - 1)) return before - 1
    } else if (signs.includes(text.charAt(before - 1)) && before > 0) {
      if (!isFreeSign(text, before - 1)) return start
      before -= 1
      start = before
    } else {
      return start
    }
  }
  return start
}

const isFreeSign = (text: string, at: number): boolean =>
  at === 0 || !/[\p{L}\p{N}_)\]}%.'’]/u.test(text.charAt(at - 1))

const signOf = (text: string, start: number): 1 | -1 =>
  /^[\\$€£¥₹₩₽¢₺₴฿]{0,2}[-–—‒―]/.test(text.slice(start, start + 3)) ? -1 : 1

const ratioOf = (above: string | undefined, below: string | undefined): number | undefined => {
  const ratio = integer(above) / integer(below)
  return Number.isFinite(ratio) ? ratio : undefined
}

/** A number with a sign and perhaps a blank behind that, as between the braces of a fraction. */
const integer = (written: string | undefined): number => Number(written?.replace("–", "-").replace(" ", ""))

interface Read {
  readonly end: number
  /** Absent where the digits are not a number: glued to a letter, an index, an exponent. */
  readonly token?: NumberToken
}

/** Reads the number whose first digit (or point) is at `at`. */
const readAt = (text: string, at: number, options: NumberOptions): Read => {
  const start = signStart(text, at)
  const sign = signOf(text, start)
  const whole = lookAt(digits, text, at)?.[0] ?? ""
  let end = at + whole.length
  let plain = whole
  const bad = (problem: "malformed" | "ambiguous", to: number): Read => ({
    end: to,
    token: { start, end: to, value: 0, problem }
  })
  if (isIndex(text, start)) return { end: Math.max(end, at + 1) }

  // `,5` is five tenths to some.
  const isBehindComma = text.charAt(start - 1) === "," && /^(?:$|[\s:=(*$€£-])/.test(text.charAt(start - 2))
  if (isBehindComma && options.decimal !== ",") return bad("ambiguous", end)
  if (isBehindComma) return readTail(text, start, end, sign * Number(`0.${whole}`), options)
  const continental = continentalAt(text, at, whole, options)
  let isInteger = true
  if (continental !== undefined) {
    plain = continental.plain
    end = continental.end
    isInteger = !plain.includes(".")
  } else {
    if (whole.length > 0 && whole.length <= 3) {
      const indian = lookAt(indianGroup, text, end)
      if (indian !== null && whole.length <= 2 && !whole.startsWith("0")) {
        plain += indian[0].replaceAll(",", "")
        end += indian[0].length
      } else {
        let next = lookAt(group, text, end)
        if (next !== null && whole.startsWith("0")) return bad("ambiguous", end + next[0].length)
        for (; next !== null; next = lookAt(group, text, end)) {
          plain += next[1] ?? ""
          end += next[0].length
        }
      }
    }
    isInteger = text.charAt(end) !== "." || !isDigitAt(text, end + 1)
    if (!isInteger) {
      const isGrouped = plain !== whole
      const part = lookAt(decimals, text, end)?.[0] ?? ""
      plain += part
      end += part.length
      const more = lookAt(/[.,]\d[\d.,]*/y, text, end)
      if (more !== null) return bad("malformed", end + more[0].length)
      if (options.decimal === "," && !isGrouped) return bad("ambiguous", end)
    }
    const comma = lookAt(commaRun, text, end)
    if (comma !== null) {
      return bad(/^,\d+$/.test(comma[0]) && plain === whole ? "ambiguous" : "malformed", end + comma[0].length)
    }
  }
  if (isInteger) end += lookAt(noDecimals, text, end)?.[0].length ?? 0
  let value = Number(plain)
  const scientific = lookAt(exponent, text, end)
  const times = scientific === null ? lookAt(power, text, end) : null
  if (scientific !== null) {
    value = Number(plain + scientific[0].replace("–", "-"))
    end += scientific[0].length
  } else if (times !== null) {
    const written = times[1] ?? times[2] ?? times[3] ?? superscript(times[4] ?? "")
    value = Number(`${plain}e${written.replace("–", "-")}`)
    end += times[0].length
  } else if (isInteger) {
    const below = lookAt(over, text, end)
    const rest = below === null ? lookAt(mixed, text, end) : null
    const vulgar =
      fractions.get(text.charAt(end)) ?? (text.charAt(end) === " " ? fractions.get(text.charAt(end + 1)) : undefined)
    const latex = lookAt(latexFraction, text, text.charAt(end) === " " ? end + 1 : end)
    if (below !== null) {
      end += below[0].length
      const ratio = ratioOf(plain, below[1])
      const more = lookAt(/[/.]\d[\d/.]*/y, text, end)
      if (ratio === undefined || more !== null) return bad("malformed", end + (more?.[0].length ?? 0))
      value = ratio
    } else if (rest !== null) {
      end += rest[0].length
      if (!(Number(rest[1]) < Number(rest[2])) || /[/\d]/.test(text.charAt(end))) return bad("malformed", end)
      value += Number(rest[1]) / Number(rest[2])
    } else if (vulgar !== undefined) {
      end += text.charAt(end) === " " ? 2 : 1
      value += vulgar
    } else if (latex !== null) {
      const above = latex[1] ?? latex[2]
      const under = latex[3] ?? latex[4]
      end = text.charAt(end) === " " ? end + 1 + latex[0].length : end + latex[0].length
      if (!(Number(above) >= 0 && Number(above) < Number(under))) return bad("malformed", end)
      value += Number(above) / Number(under)
    }
  }
  if (!Number.isFinite(value)) return bad("malformed", end)
  return readTail(text, start, end, sign * value, options)
}

/**
 * A number with a decimal comma, where it can be nothing else: points in groups of three before a comma or several such
 * groups, a comma behind groups of another mark, or a single comma or group where the options say so.
 */
const continentalAt = (
  text: string,
  at: number,
  whole: string,
  options: NumberOptions
): { readonly plain: string; readonly end: number } | undefined => {
  if (whole === "") return undefined
  const isComma = options.decimal === ","
  const decimalsAt = (from: number, before: string) => {
    const part = lookAt(commaDecimals, text, from)
    return part === null ? undefined : { plain: `${before}.${part[1]}`, end: from + part[0].length }
  }
  const behind = at + whole.length
  const canGroup = whole.length <= 3 && !whole.startsWith("0")
  const groups = canGroup ? lookAt(pointGroups, text, behind) : null
  if (groups !== null) {
    const end = behind + groups[0].length
    const plain = whole + groups[0].replaceAll(".", "")
    const decimal = decimalsAt(end, plain)
    if (decimal !== undefined) return decimal
    const isPrice = lookAt(noDecimals, text, end) !== null
    if (/[.,]/.test(text.charAt(end)) && isDigitAt(text, end + 1)) return undefined
    const parts = [whole, ...groups[0].slice(1).split(".")]
    const isAddress = parts.length === 4 && parts.every((part) => Number(part) <= 255)
    return isPrice || isComma || (parts.length > 2 && !isAddress) ? { plain, end } : undefined
  }
  const others = canGroup ? (lookAt(otherGroups, text, behind)?.[0] ?? "") : ""
  if (others === "" && !isComma) return undefined
  return decimalsAt(behind + others.length, whole + others.replaceAll(/\D/g, ""))
}

/** What follows the digits: a unit, a percent sign, a suffix; or what shows that they were not a number. */
const readTail = (text: string, start: number, end: number, value: number, options: NumberOptions): Read => {
  const bad = (problem: "malformed" | "ambiguous", to: number): Read => ({
    end: to,
    token: { start, end: to, value: 0, problem }
  })
  const isPercent = lookAt(percent, text, end)
  if (isPercent !== null) {
    const to = end + isPercent[0].length
    return { end: to, token: { start, end: to, value, unit: isPercent[0].endsWith("‰") ? "‰" : "%" } }
  }
  const scale = scaleAt(text, end)
  if (scale !== undefined) {
    if (!options.suffixes || scale.factor === 0) return bad("ambiguous", scale.end)
    return { end: scale.end, token: { start, end: scale.end, value: exact(value * scale.factor) } }
  }
  const degree = lookAt(degrees, text, end)
  if (degree !== null) {
    const to = end + degree[0].length
    return { end: to, token: { start, end: to, value, unit: `°${degree[1] ?? ""}` } }
  }
  const time = lookAt(timeOrRatio, text, end)
  if (time !== null) return bad("malformed", end + time[0].length)
  if (/^\p{M}/u.test(text.charAt(end))) return bad("ambiguous", end + 1)
  const chain = lookAt(chained, text, end)
  if (chain !== null) {
    return bad(/^[-–][^-–]+$/.test(chain[0]) ? "ambiguous" : "malformed", end + chain[0].length)
  }
  if (text.charAt(end) === "^") return bad("ambiguous", end + 1)
  if (/[-–]/.test(text.charAt(end)) && isLetter(text.charCodeAt(end + 1))) return { end: end + 1 }
  const glue = lookAt(glued, text, end)
  if (glue !== null) {
    const to = end + glue[0].length
    if (/^_+$/.test(glue[0])) return { end: to, token: { start, end, value } }
    if (/^[²³]/.test(glue[0])) return bad("ambiguous", to)
    if (units.has(glue[0])) {
      const rate = lookAt(perTime, text, to)?.[0] ?? ""
      return { end: to + rate.length, token: { start, end: to + rate.length, value, unit: glue[0] + rate } }
    }
    if (isSpaceless(glue[0])) return { end, token: { start, end, value } }
    return notNumber(to, glue[0].length === 1 ? "symbolic" : "other")
  }
  if (lookAt(latexGlue, text, end) !== null) return notNumber(end + 1, "symbolic")
  return { end, token: { start, end, value } }

  function notNumber(to: number, glued: "symbolic" | "other"): Read {
    return { end: to, token: { start, end: to, value: 0, glued } }
  }
}

/** Without the digits that a product of decimal fractions gains in binary: `1.1 million` is 1100000. */
const exact = (value: number): number => Number(value.toPrecision(15))

/** Returns whether the digits belong to what stands before: an index, an exponent, the inside of a root. */
const isIndex = (text: string, start: number): boolean => {
  const before = text.charAt(start - 1)
  if (before === "^" || before === "√") return true
  // `x_1` is an index, `_1_` and `__1__` are markdown.
  if (before === "_") return /[\p{L}\p{N})}\]]/u.test(text.charAt(start - 2))
  return before === "{" && /(?:[_^]|\\sqrt)\{$/.test(text.slice(Math.max(0, start - 6), start))
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"
const superscript = (written: string): string =>
  [...written].map((char) => (char === "⁻" ? "-" : char === "⁺" ? "" : String(superscripts.indexOf(char)))).join("")
