import { expect, it } from "@effect/vitest"
import { excerpt } from "@forethought/core/ReplyError"
import * as FastCheck from "effect/FastCheck"

it("an excerpt shows at most 200 characters, and never half a character", () => {
  FastCheck.assert(
    FastCheck.property(FastCheck.string({ unit: "grapheme", maxLength: 500 }), FastCheck.nat(300), (text, at) => {
      const shown = excerpt(text, at)
      const piece: unknown = shown === "nothing" ? "" : JSON.parse(shown.replace(/…$/, ""))
      expect(String(piece).length).toBeLessThanOrEqual(200)
      expect(String(piece).isWellFormed() || at > 0).toBe(true)
    })
  )
  expect(excerpt("a".repeat(300))).toBe(`"${"a".repeat(200)}"…`)
  expect(excerpt("a".repeat(200))).toBe(`"${"a".repeat(200)}"`)
})
