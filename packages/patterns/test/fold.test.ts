import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { fold } from "../src/internal/fold.js"

describe("Steps are equal", () => {
  const equal: ReadonlyArray<readonly [string, string]> = [
    ["Fetch the EUR rate", "fetch  the EUR-rate!"],
    ["Bake the loaf.", "BAKE THE LOAF"],
    ["Café öffnen", "CAFÉ  öffnen…"],
    ["查询 车次。", "查询车次"],
    ["Step １", "step 1"]
  ]
  it.each(equal)("%j and %j", (a, b) => expect(fold(a)).toBe(fold(b)))
  const different: ReadonlyArray<readonly [string, string]> = [
    ["add 1 + 2", "add 1 - 2 = x"],
    ["a > b", "a < b"],
    ["cost in $", "cost in €"],
    ["A", "B"],
    ["...", "!!!"]
  ]
  it.each(different)("but not %j and %j", (a, b) => expect(fold(a)).not.toBe(fold(b)))
  it("whatever way they are folded: plain ASCII gives what all text gives", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), (text) => {
        const folded = text
          .normalize("NFKC")
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\p{S}]/gu, "")
        expect(fold(text)).toBe(folded === "" ? text.trim() : folded)
      })
    )
  })
})
