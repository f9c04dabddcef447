/**
 * The text of an HTML page: no markup, no scripts, a line for each block.
 *
 * Built on the tokenizer alone: a tree, or even a stack of open elements, takes quadratic time on a page that only
 * opens.
 */
import { Tokenizer } from "htmlparser2"

/** What is dropped with everything inside. */
const dropped = new Set(["script", "style", "noscript", "template", "svg", "iframe", "object", "select", "math"])

/** What stands on lines of its own. */
const blocks = new Set(
  "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody tfoot thead title tr ul".split(
    " "
  )
)

const cells = new Set(["td", "th"])

/**
 * Text of HTML: white space as it is in `pre` and else folded, items after `- `, cells apart by ` | `, no empty lines.
 */
export const htmlText = (html: string): string => {
  const chunks: Array<string> = []
  let skipped: string | undefined
  let depth = 0
  let preformatted = 0
  let name = ""

  const line = () => chunks.push("\n")
  const text = (value: string): void => {
    if (skipped !== undefined) return
    chunks.push(preformatted > 0 ? value.replaceAll(" ", kept) : value.replaceAll(/\s/g, " "))
  }
  const open = (): void => {
    if (skipped !== undefined) {
      if (name === skipped) depth++
      return
    }
    if (dropped.has(name)) {
      skipped = name
      depth = 1
      return
    }
    if (blocks.has(name)) line()
    if (name === "li") chunks.push("- ")
    if (name === "pre") preformatted++
  }
  const close = (): void => {
    if (skipped !== undefined) {
      if (name === skipped && --depth === 0) skipped = undefined
      return
    }
    if (blocks.has(name)) line()
    if (cells.has(name)) chunks.push(" | ")
    if (name === "pre" && preformatted > 0) preformatted--
  }
  const nothing = (): void => {}

  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (start, end) => text(html.slice(start, end)),
      ontextentity: (codepoint) => text(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => {
        name = html.slice(start, end).toLowerCase()
      },
      onopentagend: open,
      onselfclosingtag: () => {
        // Only foreign elements close themselves; elsewhere the slash means nothing.
        if (name !== "svg" && name !== "math") open()
      },
      onclosetag: (start, end) => {
        name = html.slice(start, end).toLowerCase()
        close()
      },
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing
    }
  )
  tokenizer.write(html)
  tokenizer.end()
  return tidy(chunks.join(""))
}

/** Stands for a space that is not folded. Outside `pre` every such character has become a plain space before. */
const kept = "\u00a0"

const tidy = (text: string): string =>
  text
    .split("\n")
    .map(tidyLine)
    .filter((line) => line.trim() !== "" && line.trim() !== "-")
    .join("\n")

/** White space is folded, a row's last cell has nothing after it, and nothing stands around the line. */
const tidyLine = (line: string): string => {
  let folded = line.replaceAll(/ +/g, " ")
  if (folded.startsWith(" ")) folded = folded.slice(1)
  if (folded.endsWith(" ")) folded = folded.slice(0, -1)
  if (folded.endsWith(" |")) folded = folded.slice(0, -2)
  return folded.replaceAll(kept, " ")
}
