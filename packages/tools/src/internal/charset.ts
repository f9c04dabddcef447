/**
 * Bytes of a web page as text.
 */

/** A media type such as `text/html`, and the charset that goes with it, both in lower case. */
export const readContentType = (header: string): { readonly type: string; readonly charset: string | undefined } => {
  const [type = "", ...parameters] = header.split(";")
  const charset = parameters.map((parameter) => parameter.trim().toLowerCase()).find((p) => p.startsWith("charset="))
  return { type: type.trim().toLowerCase(), charset: charset?.slice("charset=".length).replaceAll(/["']/g, "").trim() }
}

/** Returns whether a media type is text for a person or a program, rather than an image, a document or an archive. */
export const isTextType = (type: string): boolean =>
  type.startsWith("text/") || type.endsWith("+json") || type.endsWith("+xml") || textTypes.has(type)

const textTypes = new Set(
  ["json", "ld+json", "ndjson", "x-ndjson", "xml", "javascript", "yaml", "x-yaml", "toml", "sql"].map(
    (name) => `application/${name}`
  )
)

/**
 * Decodes bytes: a byte order mark wins, then the given charset, then what an HTML page says about itself, then UTF-8.
 * Gives `undefined` for a charset that does not exist.
 */
export const decode = (bytes: Uint8Array, charset: string | undefined, html: boolean): string | undefined => {
  const label = markOf(bytes) ?? charset ?? (html ? declared(bytes) : undefined) ?? "utf-8"
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return undefined
  }
}

const markOf = ([a, b, c]: Uint8Array): string | undefined => {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8"
  if (a === 0xff && b === 0xfe) return "utf-16le"
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined
}

/** The charset of a `meta` element among the first 1,024 bytes, where HTML wants it. */
const declared = (bytes: Uint8Array): string | undefined => {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).toLowerCase()
  const meta = head.indexOf("<meta")
  const at = meta < 0 ? -1 : head.indexOf("charset=", meta)
  if (at < 0) return undefined
  return /["']?\s{0,4}([a-z0-9_:-]{1,40})/y.exec(head.slice(at + "charset=".length))?.[1]
}
