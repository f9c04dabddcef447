/**
 * Where brackets are closed.
 *
 * @internal
 */

/**
 * The bracket that closes the one at `at`, or -1. A double quote behind a bracket, a comma or a colon opens a string;
 * where that leaves the bracket open, quotes are taken for plain characters.
 */
export const bracketEnd = (text: string, at: number): number => {
  const aware = closing(text, at, true)
  return aware === -1 ? closing(text, at, false) : aware
}

const closing = (text: string, at: number, strings: boolean): number => {
  const open = text.charCodeAt(at)
  const close = open === 91 ? 93 : 41
  let depth = 0
  let previous = 0
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === open) {
      depth += 1
    } else if (code === close) {
      depth -= 1
      if (depth === 0) return index
    } else if (strings && code === 34 && (previous === open || "[{(,:=".includes(String.fromCharCode(previous)))) {
      index += 1
      while (index < text.length && text.charCodeAt(index) !== 34) index += text.charCodeAt(index) === 92 ? 2 : 1
    }
    if (code !== 32 && code !== 10 && code !== 9) previous = code
  }
  return -1
}
