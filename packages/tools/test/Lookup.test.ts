import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import { calculate } from "@forethought/tools/Calculator"
import { lookup, tool } from "@forethought/tools/Lookup"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"

const answer = (question: string): string =>
  Either.match(lookup(question), {
    onLeft: (error) => `${error._tag}: ${error.message}`,
    onRight: (text) => text
  })

describe("lookup", () => {
  it.each([
    ["population of China", "1392730000"],
    ["China population", "1392730000"],
    ["China's population", "1392730000"],
    ["POPULATION OF CHINA", "1392730000"],
    ["What is the population of the United States?", "326687501"],
    ["population of USA", "326687501"],
    ["population of the U.S.", "326687501"],
    ["U.S. population", "326687501"],
    ["How many people live in India?", "1352617328"],
    ["population of IN", "1352617328"],
    ["population of China in 2018", "1392730000"],
    ["population of the United Kingdom", "66460344"],
    ["population of cote d'ivoire", "25069229"],
    ["population of Turkey", "82319724"],
    ["population of Türkiye", "82319724"],
    ["population of St. Lucia", "181889"],
    ["capital of France", "Paris"],
    ["area of India", "3287263"],
    ["currency of Switzerland", "Swiss Franc (CHF)"],
    ["languages of Belgium", "Dutch, French, German"],
    ["continent of Russia", "Asia and Europe"],
    ["calling code of Japan", "+81"],
    ["Tokyo population", "8336599"],
    ["population of Paris", "2138551"],
    ["population of Paris, France", "2138551"],
    ["population of Paris, TX", "24782"],
    ["population of koln", "963395"],
    ["population of Washington, D.C.", "601723"],
    ["Which country is Kyoto in?", "Japan"]
  ])("answers %s with %s", (question, fact) => {
    expect(answer(question)).toBe(fact)
  })

  it("gives a line of facts for a place alone", () => {
    expect(answer("the Netherlands")).toMatch(/^Netherlands: population \d+ \(2018\); capital Amsterdam; area \d+ km2;/)
    expect(answer("Mexico City")).toBe("Mexico City: city in Mexico, population 12294193")
  })

  it.each([
    ["population of Korea", "North Korea, or South Korea"],
    ["population of Congo", "Democratic Republic of the Congo, or Republic of the Congo"],
    ["population of Springfield", "Springfield, United States (MO)"],
    ["population of Birmingham", "Birmingham, United Kingdom"],
    ["population of Salvador", "El Salvador, or Salvador, Brazil"],
    ["population of Cologne", "Cologne, Italy, population 7032"]
  ])("does not choose for %s, and names the candidates", (question, candidates) => {
    expect(answer(question)).toMatch(/^Ambiguous: /)
    expect(answer(question)).toContain(candidates)
  })

  it.each([
    ["population of Chna", "Near names: China"],
    ["population of New York", "Near names: New York City"],
    ["population of Narnia", 'Nothing is known of "Narnia"'],
    ["GDP of France", "attributes are population, area"],
    ["population of China in 2023", "no figures by year, so none for 2023"],
    ["area of China in 2018", "no figures by year"],
    ["capital of Tokyo", "only population and country are known"],
    ["population of Taiwan", "is not in the data"],
    ["population of Rhodesia", "Nothing is known"],
    ["population of __proto__", "Nothing is known"],
    ["toString", "Nothing is known"],
    ["", "No place is named"],
    ["population of", "No place is named"],
    ["x".repeat(100_000), "at most 300 are read"]
  ])("finds nothing for %s and says why", (question, why) => {
    expect(answer(question)).toMatch(/^NotFound: /)
    expect(answer(question)).toContain(why)
  })

  it("gives numbers that the calculator takes", () => {
    const [china, india] = [answer("population of China"), answer("population of India")]
    expect(Either.getOrThrow(calculate(`${china} + ${india}`))).toBe("2745347328")
  })

  it("is total, and says the same thing every time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        expect(answer(`population of ${text}`)).toBe(answer(`population of ${text}`))
      }),
      { numRuns: 30 }
    )
  })
})

describe("tool", () => {
  it.effect("is read-only, and fails with what is known", () =>
    Effect.gen(function* () {
      expect(tool).toMatchObject({ name: "Lookup", readOnly: true, idempotent: true })
      const toolbox = yield* Toolbox.make([tool])
      const error = yield* Effect.flip(toolbox.call({ call: "#E1", tool: "Lookup", input: "population of Korea" }))
      expect(error.message).toContain("North Korea, or South Korea")
    })
  )
})
