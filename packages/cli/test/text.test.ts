import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fit, oneLine, printable, printableJson, widthOfLine } from "../src/screen/text.js"

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string())

describe("printable", () => {
  it("shows control characters and leaves the rest", () => {
    expect(printable("a\u001b[31mb\r\nc\td\u202ee")).toBe("a\\u{1b}[31mb\nc\td\\u{202e}e")
    expect(printable("naïve 日本語 👍")).toBe("naïve 日本語 👍")
  })

  it("lets nothing through that a terminal acts on", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printable(text)).not.toMatch(unsafe)
        expect(oneLine(text, 40)).not.toMatch(/\n/)
        expect(oneLine(text, 40)).not.toMatch(unsafe)
        expect(printableJson({ text })).not.toMatch(unsafe)
        expect(JSON.parse(printableJson({ text }))).toEqual({ text })
      })
    )
  })
})

describe("fit", () => {
  it("never takes more columns than there are", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, columns) => {
        expect(widthOfLine(fit(printable(text), columns))).toBeLessThanOrEqual(columns)
      })
    )
  })

  it("marks what is cut, and counts wide characters as two", () => {
    expect(fit("日本語", 6)).toBe("日本語")
    expect(fit("日本語", 5)).toBe("日本…")
    expect(fit("abcdef", 4)).toBe("abc…")
    expect(oneLine("a\nb", 10)).toBe("a ⏎ b")
  })
})
