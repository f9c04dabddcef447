/**
 * What stands around a number and makes it something else: a term of an expression with a variable, or a bound.
 *
 * @internal
 */

/** How far is looked, in characters. With so short a text no pattern below can take long. */
const reach = 64

const latexNames = "pi|sqrt|theta|alpha|beta|gamma|delta|lambda|mu|sigma|omega|phi|tau|ln|log|sin|cos|tan|exp"
const functions = "sqrt|cbrt|log|ln|lg|exp|sin|cos|tan|arcsin|arccos|arctan"
const greek = "α-λν-ωΑ-Ψ"
/** A letter that stands alone. Behind a number it is a unit (`9 m - 5 m`), but for those that nobody takes for one. */
const lone = `(?:(?<![\\p{L}\\p{N}_'’\\\\])(?<!\\d )[A-Za-z${greek}]|(?<=\\d ?)[nxyz]|[π∞])(?![\\p{L}'’])`
const variable = `${lone}(?:_\\{?\\w{1,3}\\}?)?(?:\\^\\{?\\w{1,3}\\}?|[²³ⁿ])?`
const root = `(?:[√∛]|\\\\?(?:${functions}))\\s?(?:\\{[^{}\\n]{0,20}\\}|\\([^()\\n]{0,20}\\)|[\\d.]{1,12}|${lone})`
const latexSymbol = `\\\\(?:${latexNames})(?![A-Za-z])(?:\\s?\\{[^{}\\n]{0,20}\\})?`
const group = `\\([^()\\n]{0,30}(?:${lone}\\s?[-–+*/×·^]|[-–+*/×·^]\\s?\\d{0,6}${lone})[^()\\n]{0,30}\\)|(?<!\\p{L})\\(${lone}\\)`
const operand = `(?:${variable}|${root}|${latexSymbol}|${group})`
const operators = "[+*/×÷·∙⋅±]|\\\\(?:times|cdot|div|pm)"
const operatorWords = "times|plus|minus|mod|multiplied by|divided by|over|to the power of"
const before = "[ \\t$}]{0,3}"
const behind = "[ \\t{$(]{0,4}"

const leftOperand = new RegExp(
  `${operand}${before}(?:(?:${operators})${behind}|[ ](?:${operatorWords})[ ][$(]{0,2})$`,
  "u"
)
const leftMinus = new RegExp(`(?![AI](?![\\w]))${operand}${before}[-–]${behind}$`, "u")
/** A sign that was read as the number's own: `n -3`. */
const leftOfSign = new RegExp(`(?![AI](?![\\w]))${operand}[$}]{0,2}[ ]?$`, "u")
const leftFunction = new RegExp(
  `(?:(?<!\\p{L})(?:${functions})|\\\\(?:${functions})|[√∛∜])(?:_\\{?\\w{1,4}\\}?|\\[\\d{0,3}\\]?)?\\s?[({[]?$|(?<![\\p{L}\\p{N}_'’])[A-Za-z]\\($|(?:root|log|logarithm|factorial|sine|cosine|tangent) of (?:the )?(?:number )?$`,
  "u"
)

/** `a`, `A` and `I` with a word behind them are words. */
const aside = `(?!(?:(?<=[aAI]))[ ]\\p{L})(?![\\p{L}\\p{N}'’]|\\.\\p{L})`
const loneBehind = `(?:[A-Za-z${greek}π∞]${aside})`
const perUnit = "[hsdmlgwLy]"
const rightOperand = new RegExp(
  `^${before}[)\\]]{0,2}${before}(?:(?:(?:[+×÷·∙⋅±]|\\*(?!\\*)|[-–]|\\\\(?:times|cdot|div|pm)|/(?!${perUnit}(?!\\p{L})))${behind})|(?:[ ]\\p{L}{2,20}){0,2}[ ](?:${operatorWords})[ ])(?:\\d{0,6}${loneBehind}|\\\\(?:${latexNames})(?![A-Za-z])|[√∛π]|(?:${functions})[ ]?[(\\d])`,
  "u"
)
const rightBeside = new RegExp(
  `^[ \\t)}\\]$]{0,3}(?:[nxyz](?![\\p{L}\\p{N}'’_-])(?![ ]?[=:(\\\\])(?![ ]*[$€£]?[ ]*\\d)|\\\\(?:${latexNames})(?![A-Za-z])|[ ]?[√∛π]|(?:${functions})[ ]?[(\\d])`,
  "u"
)
const rightGroup = new RegExp(`^[ ]?(?:\\\\left)?(?:${group})`, "u")
const rightThan =
  /^(?:[ ]\p{L}{1,20}){0,2}[ ](?:(?:more|less|fewer|greater) than|of)[ ]\$?[b-zB-HJ-Z](?![\p{L}\p{N}'’-])/u
const symbol = new RegExp(`(?<![\\p{L}\\\\])[A-Za-z${greek}π](?!\\p{L})|\\\\(?:${latexNames})(?![A-Za-z])|√`, "u")

/** Returns whether a number is a term of an expression that holds a variable, a root, a function or π. */
export const isSymbolic = (text: string, start: number, end: number): boolean => {
  const left = text.slice(Math.max(0, start - reach), start)
  const right = text.slice(end, end + reach)
  if (leftOperand.test(left) || leftMinus.test(left) || leftFunction.test(left)) return true
  if (/[-–+]/.test(text.charAt(start)) && leftOfSign.test(left)) return true
  if (rightOperand.test(right) || rightBeside.test(right) || rightGroup.test(right) || rightThan.test(right))
    return true
  if (right.startsWith("!") && isFactorial(left, right)) return true
  return isInFraction(left, right)
}

/** `5!` is a factorial, `The answer is 5!` is glad about it. */
const isFactorial = (left: string, right: string): boolean =>
  /^![ ]?[$)}+*/^]/.test(right) || !/[\p{L}\p{N}][ *_$]{1,5}$/u.test(left)

const isInFraction = (left: string, right: string): boolean => {
  const at = left.lastIndexOf("frac")
  if (at === -1) return false
  const open = left.slice(at + 4)
  if (/\}\s?\{\s?$/.test(open)) return symbol.test(open)
  const under = /^\s?\}\s?\{([^{}\n]{0,60})/.exec(right)
  return /^\s?\{[^{}\n]{0,40}$/.test(open) && under !== null && symbol.test(under[1] ?? "")
}

const boundWords =
  /(?<!\p{L})(?:at (?:least|most|minimum|maximum)|(?:more|less|fewer|greater|larger|smaller|higher|lower|bigger) than|over|under|above|below|beyond|up to|exceed(?:s|ing|ed)?|(?:minimum|maximum) of|upwards? of|as (?:many|much|few|little) as|not more than|至少|至多|最多|超过|不到|少于|多于)[ ]?(?:about |a total of |or equal to )?[*_`"'$\\({]{0,4}$/iu
const boundSigns = /(?:[<>]=?|[≤≥≦≧⩽⩾≪≫]|\\(?:leq?|geq?|lt|gt)(?:slant)?)[ $*_]{0,3}$/
const boundBehind =
  /^(?:\+(?![ ]*[$€£]?(?:\.?\d|[\\(])|[ ]*\p{L}(?!\p{L}))|(?:[ ][\p{L}%$]{1,20}){0,2},?[ ](?:or (?:more|less|fewer|greater|higher|lower|above|below|over|under|better)|and (?:up|over|above|below|under)|at (?:least|most|minimum|maximum)|minimum|maximum)(?!\p{L}))/u

/** Returns whether a number is only a bound of the answer: `at least 12`, `<12`, `12+`. */
export const isBound = (text: string, start: number, end: number): boolean => {
  const left = text.slice(Math.max(0, start - reach), start)
  return (
    boundWords.test(left) ||
    boundBehind.test(text.slice(end, end + reach)) ||
    isCompared(left, text.slice(end, end + 8))
  )
}

/** `<12`, but no tag (`<b>12</b>`), no pair of brackets (`<12>`), no arrow (`=> 12`) and no quote mark of Markdown. */
const isCompared = (left: string, right: string): boolean => {
  const sign = boundSigns.exec(left)
  if (sign === null) return false
  const rest = left.slice(0, sign.index)
  if (sign[0].startsWith("<")) return !/^[ *_`]{0,4}>/.test(right)
  if (!sign[0].startsWith(">")) return true
  return !/[-=–→>]$/.test(rest) && !/(?:^|\n)[ \t]*$/.test(rest) && !/<[^<>\n]*$/.test(rest)
}

const negative = /(?<![\p{L}\p{N}])(?:minus|negative)[ ]$/iu
const isOperandBefore = new RegExp(`(?:[\\p{N}%)}\\]]|(?![aAI])${lone}|\\d[ ]\\p{L}{1,20})[ $]*$`, "u")

/** Where the `minus` or `negative` in front of a number starts, unless it is an operator (`12 minus 5`). */
export const negativeStart = (text: string, start: number): number | undefined => {
  const left = text.slice(Math.max(0, start - reach), start)
  const match = negative.exec(left)
  if (match === null || isOperandBefore.test(left.slice(0, match.index))) return undefined
  return start - left.length + match.index
}
