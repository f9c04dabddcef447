import { describe, expect, it } from "@effect/vitest"
import * as PlanGraph from "@forethought/core/PlanGraph"
import type { PlannedStep } from "@forethought/core/RunEvent"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"

const step = (id: string, dependsOn: ReadonlyArray<string> = [], more: Partial<PlannedStep> = {}): PlannedStep => ({
  id,
  text: `do ${id}`,
  dependsOn,
  ...more
})
const graphOf = (...steps: ReadonlyArray<PlannedStep>) => Either.getOrThrow(PlanGraph.make(steps))
const ids = (steps: ReadonlyArray<PlannedStep>) => steps.map(({ id }) => id)

describe("PlanGraph", () => {
  const plan = [
    step("#E1", [], { tool: "Search", input: "France" }),
    step("#E2", [], { tool: "Search", input: "Spain" }),
    step("#E3", ["#E2"], { tool: "Calculator", input: "#E2 * 2" }),
    step("#E4", ["#E1", "#E3"], { tool: "LLM", input: "#E1 #E3" }),
    step("5", [])
  ]
  it("tells waves, width, critical path and calls", () => {
    const graph = graphOf(...plan)
    expect(graph.waves.map(ids)).toEqual([["#E1", "#E2", "5"], ["#E3"], ["#E4"]])
    expect(graph.width).toBe(3)
    expect(ids(graph.criticalPath)).toEqual(["#E2", "#E3", "#E4"])
    expect(graph.toolCalls.total).toBe(4)
    expect([...graph.toolCalls.byTool]).toEqual([
      ["Search", 2],
      ["Calculator", 1],
      ["LLM", 1]
    ])
  })
  it("an empty plan is a graph", () => {
    const graph = graphOf()
    expect(graph).toMatchObject({ waves: [], width: 0, criticalPath: [], toolCalls: { total: 0 } })
    expect(PlanGraph.mermaid(graph)).toBe("flowchart TD")
  })
  it("what is no graph says everything that is wrong", () => {
    const made = PlanGraph.make([step("a", ["b"]), step("b", ["a"]), step("c", ["x"])])
    expect(Either.isLeft(made) && made.left.issues.map(({ _tag }) => _tag)).toEqual(["UnknownDependency", "Cycle"])
  })
  it("draws the graph", () => {
    expect(PlanGraph.mermaid(graphOf(...plan.slice(0, 1), step("2", ["#E1"])))).toBe(
      [
        "flowchart TD",
        '  s1["#35;E1 Search: France<br/>do #35;E1"]',
        '  s2["2 do 2"]',
        "  s1 --> s2",
        "  classDef critical stroke-width:3px",
        "  class s1,s2 critical"
      ].join("\n")
    )
  })
  it("tells the graph in lines", () => {
    expect(PlanGraph.outline(graphOf(...plan))).toBe(
      [
        "1.   #E1  Search[France]  do #E1",
        "1. * #E2  Search[Spain]  do #E2",
        "1.   5  do 5",
        "2. * #E3  Calculator[#E2 * 2]  do #E3  after #E2",
        "3. * #E4  LLM[#E1 #E3]  do #E4  after #E1, #E3"
      ].join("\n")
    )
    expect(PlanGraph.outline(graphOf(step("1", [], { text: "a\nb ".repeat(99) })))).toMatch(/^1\. \* 1 {2}a b a b.*…$/)
  })
  it("escapes whatever Mermaid or HTML could read, and cuts long texts", () => {
    const hostile = step('"]; click s1 "javascript:alert(1)"', [], {
      text: "<img src=x onerror=alert(1)>\n  s9[[x]] --> s1 %% &lt;",
      tool: "T`*_",
      input: "é 漢字 ".repeat(100)
    })
    const [, line = "", ...others] = PlanGraph.mermaid(graphOf(hostile)).split("\n")
    const inside = line.slice(line.indexOf('["') + 2, line.lastIndexOf('"]')).replaceAll("<br/>", " ")
    expect(inside).not.toMatch(/["<>[\](){}`*_|&%\\=\n]/)
    expect(inside).toContain("…")
    expect(others).toHaveLength(2)
    expect(line.length).toBeLessThan(700)
  })
  it.prop(
    "waves hold every step once and after its dependencies, and there are as many as the critical path is long",
    [FastCheck.array(FastCheck.array(FastCheck.nat(), { maxLength: 4 }), { maxLength: 30 })],
    ([picks]) => {
      const steps = picks.map((pick, i) => step(`${i}`, i === 0 ? [] : pick.map((n) => `${n % i}`)))
      const { criticalPath, waves } = graphOf(...steps)
      const wave = new Map(waves.flatMap((members, w) => members.map(({ id }) => [id, w] as const)))
      expect(wave.size).toBe(steps.length)
      for (const { id, dependsOn } of steps) {
        const latest = Math.max(-1, ...dependsOn.map((dependency) => wave.get(dependency) ?? Number.NaN))
        expect(wave.get(id)).toBe(latest + 1)
      }
      expect(criticalPath).toHaveLength(waves.length)
      for (const [i, { id }] of criticalPath.entries()) {
        if (i > 0) expect(criticalPath[i]?.dependsOn).toContain(criticalPath[i - 1]?.id)
        expect(wave.get(id)).toBe(i)
      }
    }
  )
})
