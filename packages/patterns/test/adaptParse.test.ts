import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Group, readDecomposition } from "../src/internal/adapt/parse.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** The group, or the problem. */
const outcome = (text: string, attempt = 0) =>
  Either.match(readDecomposition(text, attempt), {
    onLeft: (error) => error.problem,
    onRight: ({ logic, subSteps }) => ({ logic, subSteps })
  })

const and = (...subSteps: ReadonlyArray<string | Group>): Group => ({ logic: "and", subSteps })
const or = (...subSteps: ReadonlyArray<string | Group>): Group => ({ logic: "or", subSteps })

describe("reported failures", () => {
  it("AD-01: sub-steps are read as they are, the parent's own text included", () => {
    expect(outcome('{"logic":"and","sub_steps":["Buy flour","Bake the loaf"]}')).toEqual(
      and("Buy flour", "Bake the loaf")
    )
  })
  it("AD-12: or", () => {
    expect(outcome('{"logic":"or","sub_steps":["Plan A","Plan B","Plan C"]}')).toEqual(or("Plan A", "Plan B", "Plan C"))
  })
  it("AD-13: groups inside groups", () => {
    const reply = '{"logic":"and","sub_steps":["Open shop",{"logic":"or","sub_steps":["Pay cash","Pay card"]}]}'
    expect(outcome(reply)).toEqual(and("Open shop", or("Pay cash", "Pay card")))
  })
  it("JS-06: trailing commas", () => {
    expect(outcome('{"logic":"and","sub_steps":["wash, dry,","fold",],}')).toEqual(and("wash, dry,", "fold"))
  })
})

describe("PE-25: a sub-step that holds a list", () => {
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ['{"logic":"and","sub_steps":["1. a\\n2. b"]}', and("a", "b")],
    ['{"logic":"or","sub_steps":["1) a\\n2) b"]}', or("a", "b")],
    ['{"logic":"and","sub_steps":["- a\\n- b", "c"]}', and("a", "b", "c")],
    ['{"logic":"and","sub_steps":[{"step":"1. a\\n2. b"}]}', and("a", "b")],
    ['{"logic":"and","sub_steps":[{"logic":"or","sub_steps":["1. a\\n2. b"]}]}', and(or("a", "b"))],
    ['{"logic":"and","sub_steps":["a:\\n1. x\\n2. y"]}', and("a:\n1. x\n2. y")],
    ['{"logic":"and","sub_steps":["N/A"]}', "empty_plan"]
  ]
  it.each(table)("%s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it("takes a long list", () => {
    const read = readDecomposition(JSON.stringify({ logic: "and", sub_steps: ["1. a\n".repeat(20_000)] }), 0)
    expect(Either.getOrThrow(read).subSteps).toHaveLength(20_000)
  })
})

describe("kinds", () => {
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ['{"logic":"AND","sub_steps":["a","b"]}', and("a", "b")],
    ['{"logic":" Or ","sub_steps":["a","b"]}', or("a", "b")],
    ['{"Logic":"and","subSteps":["a","b"]}', and("a", "b")],
    ['{"logic":"and","sub-steps":["a"]}', and("a")],
    ['{"sub_steps":["a","b"],"logic":"or"}', or("a", "b")],
    ['{"decomposition":{"logic":"or","sub_steps":["a","b"]}}', or("a", "b")],
    ['```json\n{"logic":"and","sub_steps":["a"]}\n```', and("a")],
    ['{"logic":"and","sub_steps":["1. a","2. b"]}', and("a", "b")],
    ['{"logic":"and","sub_steps":"1. a\\n2. b"}', and("a", "b")],
    ['{"logic":"and","sub_steps":[{"step":"a"},{"id":2,"task":"b"}]}', and("a", "b")],
    ['{"logic":"and","sub_steps":["a",""," "]}', and("a")],
    [
      '{"logic":"and","sub_steps":[{"Logic":"OR","SubSteps":["a",{"logic":"and","sub_steps":["b"]}]}]}',
      and(or("a", and("b")))
    ],
    ['{"logic":"and","sub_steps":[]}', "empty_plan"],
    ['{"logic":"and","sub_steps":["",""]}', "empty_plan"],
    ['{"logic":"and","sub_steps":["a",{"logic":"or","sub_steps":[]}]}', "empty_plan"],
    ['{"sub_steps":["a","b"]}', "bad_logic"],
    ['{"logic":null,"sub_steps":["a"]}', and("a")],
    ['{"logic":"xor","sub_steps":["a"]}', "bad_logic"],
    ['{"logic":"and/or","sub_steps":["a"]}', "bad_logic"],
    ['{"logic":"sequential","sub_steps":["a"]}', "bad_logic"],
    ['{"logic":["and"],"sub_steps":["a"]}', "bad_logic"],
    ['{"logic":true,"sub_steps":["a"]}', "bad_logic"],
    ['{"logic":"and" | "or","sub_steps":["a"]}', "bad_logic"],
    ['{"logic":"and","sub_steps":["a",{"sub_steps":["b"]}]}', and("a", and("b"))],
    ['{"logic":"and"}', "bad_sub_steps"],
    ['{"logic":"and","sub_steps":null}', "bad_sub_steps"],
    ['{"logic":"and","sub_steps":{"a":"b"}}', "bad_sub_steps"],
    ['{"logic":"and","sub_steps":["a",1]}', "bad_sub_steps"],
    ['{"logic":"and","sub_steps":["a",null]}', "bad_sub_steps"],
    ['{"logic":"and","sub_steps":["a",{"step":"b","tool":"c"}]}', and("a", "b")],
    ['{"logic":"and","sub_steps":["...","..."]}', "echo"],
    ['{"logic":"and","sub_steps":["a"', "unfinished"],
    ['{"logic":"and","sub_steps":["a"]} {"logic":"or","sub_steps":["a"]}', "conflict"],
    ["and: a, b", "no_json"]
  ]
  it.each(table)("%s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })

  const single: ReadonlyArray<readonly [reply: string, expected: unknown]> = [
    [
      '{"sub_steps":[{"logic":"or","sub_steps":["Call the office"]},"Write the letter"],"logic":"and"}',
      and(or("Call the office"), "Write the letter")
    ],
    ['{"logic":null,"sub_steps":["Call the office"]}', and("Call the office")],
    ['{"logic":"","sub_steps":["Call the office"]}', and("Call the office")],
    ['{"logic":" ","sub_steps":["a"]}', and("a")],
    ['{"logic":"null","sub_steps":["a"]}', and("a")],
    ['{"logic":"None","sub_steps":["a"]}', and("a")],
    ['{"logic":"N/A","sub_steps":["a"]}', and("a")],
    ['{"sub_steps":["a"]}', and("a")],
    ['{"sub_steps":["a"," "]}', and("a")],
    ['{"sub_steps":[{"task":"a"}]}', and("a")],
    ['{"sub_steps":"1. a"}', and("a")],
    ['{"logic":"OR","sub_steps":["a"]}', or("a")],
    ['{"sub_steps":[{"sub_steps":["a"]}]}', and(and("a"))],
    ['{"sub_steps":[{"logic":"or","sub_steps":["a","b"]}]}', and(or("a", "b"))],
    ['{"logic":"or","sub_steps":[{"sub_steps":["a"]},"b"]}', or(and("a"), "b")],
    [
      '{"logic":"and","sub_steps":[{"logic":null,"sub_steps":["a"]},{"logic":"","sub_steps":["b"]}]}',
      and(and("a"), and("b"))
    ],
    ['{"logic":null,"sub_steps":["a","b"]}', "bad_logic"],
    ['{"logic":"","sub_steps":["a","b"]}', "bad_logic"],
    ['{"logic":"none","sub_steps":["a","b"]}', "bad_logic"],
    ['{"sub_steps":["1. a\\n2. b"]}', "bad_logic"],
    ['{"sub_steps":"1. a\\n2. b"}', "bad_logic"],
    ['{"logic":"and","sub_steps":["a",{"sub_steps":["b","c"]}]}', "bad_logic"],
    ['{"sub_steps":[{"sub_steps":["a","b"]}]}', "bad_logic"],
    ['{"sub_steps":["a",{"logic":"or","sub_steps":["b"]}]}', "bad_logic"],
    ['{"logic":"not","sub_steps":["a"]}', "bad_logic"],
    ['{"logic":false,"sub_steps":["a"]}', "bad_logic"],
    ['{"logic":null,"sub_steps":[]}', "empty_plan"],
    ['{"logic":null,"sub_steps":[" "]}', "empty_plan"],
    ['{"logic":null}', "bad_sub_steps"]
  ]
  it.each(single)("VR-01: %s", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it("VR-03: a sub-step that is no text is named by its place", () => {
    const error = Either.getOrThrow(Either.flip(readDecomposition('{"logic":"and","sub_steps":["a",null]}', 0)))
    expect(error.message).toContain("item 2 of 2 (index 1)")
  })

  it("takes the last of several at the second attempt, and says so", () => {
    const reply = '{"logic":"and","sub_steps":["a"]} {"logic":"or","sub_steps":["a"]}'
    expect(Either.getOrThrow(readDecomposition(reply, 1))).toEqual({ ...or("a"), conflicting: true })
  })

  it("refuses groups that nest too deep", () => {
    const nested = (depth: number): string =>
      depth === 0 ? '"a"' : `{"logic":"and","sub_steps":[${nested(depth - 1)}]}`
    expect(outcome(nested(8))).not.toBe("bad_sub_steps")
    expect(outcome(nested(9))).toBe("bad_sub_steps")
  })
})

describe("laws", { timeout: 300_000 }, () => {
  const text = fc.stringOf(fc.constantFrom("a", "b", " ", "é"), { maxLength: 8 }).map((value) => `x${value}x`)
  const { group } = fc.letrec<{ group: Group; item: string | Group }>((tie) => ({
    item: fc.oneof({ maxDepth: 3, withCrossShrink: true }, text, tie("group")),
    group: fc.record({
      logic: fc.constantFrom("and" as const, "or" as const),
      subSteps: fc.array(tie("item"), { minLength: 1, maxLength: 4 })
    })
  }))
  const json = (value: string | Group): unknown =>
    typeof value === "string" ? value : { logic: value.logic, sub_steps: value.subSteps.map(json) }

  it("reads back what was written", () => {
    fc.assert(
      fc.property(group, (value) => {
        expect(outcome(JSON.stringify(json(value), null, 2))).toEqual(value)
      }),
      { numRuns }
    )
  })

  it("never takes a part for the whole", () => {
    fc.assert(
      fc.property(group, fc.double({ min: 0, max: 1, noNaN: true }), (value, share) => {
        const whole = JSON.stringify(json(value))
        expect(typeof outcome(whole.slice(0, Math.min(whole.length - 1, Math.floor(share * whole.length))))).toBe(
          "string"
        )
      }),
      { numRuns }
    )
  })
})
