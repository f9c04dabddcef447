import { describe, expect, it } from "@effect/vitest"
import * as PromptTemplate from "@forethought/core/PromptTemplate"
import * as FastCheck from "effect/FastCheck"
import { expectTypeOf } from "vitest"

describe("PromptTemplate", () => {
  it("fills its holes, and its type knows them", () => {
    const template = PromptTemplate.make("Goal: {{goal}}, again {{ goal }}; tools: {{tool_names}}.")
    expectTypeOf(template).toEqualTypeOf<PromptTemplate.PromptTemplate<"goal" | "tool_names">>()
    expect(template.holes).toEqual(["goal", "tool_names"])
    expect(PromptTemplate.render(template, { goal: "G", tool_names: "T" })).toBe("Goal: G, again G; tools: T.")
  })
  it("inserts every value as it is, once: holes, patterns and braces in it stay text", () => {
    const template = PromptTemplate.make("[{{a}}|{{b}}]")
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), FastCheck.string(), (a, b) => {
        expect(PromptTemplate.render(template, { a, b })).toBe(`[${a}|${b}]`)
      })
    )
    for (const value of ["{{b}}", "$&", "$1", "$$5", "$`", "{{{{a}}}}"]) {
      expect(PromptTemplate.render(template, { a: value, b: "x" })).toBe(`[${value}|x]`)
    }
  })
  it("leaves braces that close nothing as they are", () => {
    expect(PromptTemplate.render(PromptTemplate.make('{"a": {{ '), {})).toBe('{"a": {{ ')
    expect(PromptTemplate.render(PromptTemplate.make('{"x": "..."}'), {})).toBe('{"x": "..."}')
  })
  it("takes an own text with the same holes, and refuses others", () => {
    const standard = PromptTemplate.make("{{goal}} {{plan}}")
    expect(PromptTemplate.render(PromptTemplate.override(standard, "Do {{goal}}!"), { goal: "it", plan: "" })).toBe(
      "Do it!"
    )
    expect(() => PromptTemplate.override(standard, "{{gaol}}")).toThrow(
      "PromptTemplate: {{gaol}} is not a hole of this prompt. Its holes are {{goal}}, {{plan}}."
    )
  })
})
