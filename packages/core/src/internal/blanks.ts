/**
 * Characters that show nothing.
 */
/** White space, and what looks like nothing: no-break and zero-width characters, joiners, byte order marks. */
export const isBlank = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200f) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x2060 ||
  code === 0x3000 ||
  code === 0xfeff

/** Without the blank characters (see {@link isBlank}) at both ends. */
export const trim = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
