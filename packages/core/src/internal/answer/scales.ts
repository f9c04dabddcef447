/**
 * Words behind a number that multiply it, in the languages that models answer in.
 *
 * @internal
 */
import { skipMarks } from "./text.js"

/**
 * A factor and its words. 0: the word means different numbers to different people (`12 mil` is twelve thousand in
 * Spanish and twelve million in English slang), so that a number with it is ambiguous whatever the settings.
 */
const table: ReadonlyArray<readonly [factor: number, words: string]> = [
  [0, "mil mill bio"],
  [
    12,
    "dozen dozens doz dutzend douzaine douzaines docena docenas dozzina dozzine dúzia dúzias dozijn дюжина дюжины дюжин"
  ],
  [20, "score"],
  [100, "hundred hundreds hundert centaine centaines centinaia सौ"],
  [
    1e3,
    "thousand thousands thou grand ths tausend tsd mille millier milliers mila migliaia duizend tysiąc tysiące tysięcy tys tisíc tisíce tisíců bin tusen tusind tuhat tuhatta ribu nghìn ngàn mii ezer тысяча тысячи тысяч тыс тисяча тисячі тисяч хиляди हज़ार हजार ألف آلاف אלף χιλιάδες χίλια พัน"
  ],
  [1e4, "myriad หมื่น"],
  [1e5, "lakh lakhs lac lacs लाख লাখ แสน"],
  [
    1e6,
    "million millions mn mln mio millionen mill. milj millón millones milhão milhões milione milioni miljoen miljoner miljonen milion miliony milionów milionů milyon millioner miljoona miljoonaa juta triệu milioane millió миллион миллиона миллионов млн мільйон мільйони мільйонів милион милиона مليون ملايين מיליון εκατομμύρια εκατομμύριο ล้าน"
  ],
  [1e7, "crore crores cr करोड़ করোড়"],
  [
    1e9,
    "billion billions bn bln milliarde milliarden mrd mia milliard milliards md mds miliardo miliardi miljard miljarden miljarder mld mlrd miliard miliardy miliardów miliarda milyar bilhão bilhões milliarder miljardi miljardia miliar tỷ tỉ miliarde milliárd миллиард миллиарда миллиардов млрд мільярд мільярди мільярдів милиард милиарда مليار מיליארד δισεκατομμύρια अरब"
  ],
  [
    1e12,
    "trillion trillions tn trn billionen billón billones bilione bilioni biljoen bilion biliony trilhão trilhões trilyun triliun триллион триллиона триллионов трлн трильйон"
  ],
  // Written onto the number and onto what follows; but not where it is a part of a unit, as in 千克 for kilogram.
  [1e2, "百(?![分货貨]) 백"],
  [1e3, "千(?![克米瓦卡帕赫伏安焦字位比代]) 仟 천"],
  [1e4, "万 萬 만(?!큼)"],
  [1e8, "亿 億 억"],
  [1e12, "兆(?![瓦赫帕焦欧歐字位比]) 조(?![각금])"]
]

/** In both cases only as here: `k` and `K` are thousands, but `m` may be metres. */
const letters: ReadonlyMap<string, number> = new Map([
  ["k", 1e3],
  ["K", 1e3],
  ["m", 0],
  ["M", 1e6],
  ["MM", 0],
  ["b", 1e9],
  ["B", 1e9],
  ["t", 0],
  ["T", 1e12]
])

const factors = new Map<string, number>(letters)
const spaceless: Array<string> = []
const spaced: Array<string> = []
for (const [factor, words] of table) {
  for (const word of words.split(" ")) {
    const bare = word.replace(/\(.*$/, "")
    factors.set(bare, factor)
    const isSpaceless = /^[\u3400-\u9fff\uac00-\ud7af]/.test(word)
    if (isSpaceless) spaceless.push(word)
    else spaced.push(word.replace(".", "\\."))
  }
}
const longestFirst = (words: ReadonlyArray<string>): string => [...words].sort((a, b) => b.length - a.length).join("|")
const word = new RegExp(`(?:(${longestFirst(spaced)})(?![\\p{L}\\p{M}])|(${spaceless.join("|")}))`, "iuy")
/** A letter behind a number and a blank: `m`, `b` and `t` are units there. */
const letter = /(MM|[kKMBT])(?![\p{L}\p{N}])/uy
const gluedLetter = /(MM|[kKmMbBT])(?![\p{L}\p{N}])/uy

/** What multiplies a number, and where it ends. `factor` is 0 where that cannot be said. */
export interface Scale {
  readonly factor: number
  readonly end: number
}

/** The scale behind the number that ends at `at`, of one or several words: `thousand million`, `千万`. */
export const scaleAt = (text: string, at: number): Scale | undefined => {
  let factor = 1
  let end = at
  for (let count = 0; count < 4; count += 1) {
    const from = skipMarks(text, end)
    const found = match(word, text, from) ?? match(from === at ? gluedLetter : letter, text, from)
    if (found === undefined) break
    factor *= factors.get(found) ?? factors.get(found.toLowerCase()) ?? 0
    end = from + found.length
  }
  return end === at ? undefined : { factor, end }
}

const match = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  return found?.[1] ?? found?.[2]
}
