import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { patterns } from "../src/config/patterns.js"
import { prepare } from "../src/config/preparation.js"
import { money, rangeText } from "../src/screen/explanation.js"
import { folder } from "./support/forethought.js"
import { inProcess } from "./support/inProcess.js"
import { chat, json, loopback } from "./support/loopback.js"

const plan =
  "Plan: one\n#E1 = Lookup[population of France]\nPlan: two\n#E2 = Lookup[population of Spain]\nPlan: sum\n#E3 = Calculator[#E1 + #E2]"

const explain = async (pattern: string, replies: ReadonlyArray<unknown>, flags: ReadonlyArray<string> = []) => {
  using files = folder({ "script.json": replies })
  return await inProcess(["explain", pattern, "How many?", "-m", "scripted:script.json", ...flags], {
    folder: files.path
  })
}

describe("explain", () => {
  it("shows graph, critical path, calls and cost, and runs nothing", async () => {
    const { code, err, out } = await explain("rewoo-parallel", [plan])
    expect(code).toBe(0)
    expect(out.split("\n").slice(1)).toEqual([
      "1. * #E1  Lookup[population of France]  one",
      "1.   #E2  Lookup[population of Spain]  two",
      "2. * #E3  Calculator[#E1 + #E2]  sum  after #E1, #E2",
      "critical path: #E1 → #E3 (2 of 3)",
      "at once: at most 2 steps",
      "model calls: 2 to 3",
      "tool calls: 3 (Lookup 2, Calculator 1)",
      "cost: nothing is paid for this model",
      "nothing of it has run",
      ""
    ])
    expect(err).toContain("asking the planner")
    expect(err).not.toContain("66977107")
  })

  it.each(["plan-and-execute", "plan-and-solve-agent"])(
    "%s: the steps of a list follow each other",
    async (pattern) => {
      const { code, out } = await explain(pattern, ["1. Look.\n2. Think.\n3. Say."])
      expect(code).toBe(0)
      expect(out).toContain("3. * 3  Say.  after 2\ncritical path: 1 → 2 → 3 (3 of 3)\nat once: one step after another")
    }
  )

  it("--mermaid prints the graph alone", async () => {
    const { code, out } = await explain("rewoo", [plan], ["--mermaid", "-q"])
    expect(code).toBe(0)
    expect(out).toMatch(/^flowchart TD\n {2}s1\[.*\n(.*\n)* {2}s1 --> s3\n/)
  })

  it("--json has everything", async () => {
    const { code, out } = await explain("rewoo-parallel", [plan], ["--json"])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      status: "planned",
      pattern: "rewoo-parallel",
      plan: [{ id: "#E1", tool: "Lookup" }, { id: "#E2" }, { id: "#E3", dependsOn: ["#E1", "#E2"] }],
      graph: { waves: [["#E1", "#E2"], ["#E3"]], criticalPath: ["#E1", "#E3"], width: 2 },
      modelCalls: { least: 2, most: 3 },
      toolCalls: { least: 3, most: 3 }
    })
  })

  it.each(["react", "adapt", "plan-and-solve"])("%s: says why there is no plan, and asks nobody", async (pattern) => {
    const { code, err, out } = await explain(pattern, ["never asked"])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^${pattern} .*\nmodel calls: \\d to \\d+\ntool calls: `))
    expect(err).not.toContain("asking")
  })

  it("auto explains the pattern that is chosen", async () => {
    const routed = { role: "router", text: '{"pattern": "rewoo-parallel", "reason": "two look-ups"}' }
    const { code, out } = await explain("auto", [routed, plan])
    expect(code).toBe(0)
    expect(out).toContain("routed to rewoo-parallel: two look-ups\nplan of 3 steps")
    const { out: other } = await explain("auto", [
      { role: "router", text: '{"pattern": "react", "reason": "one fact"}' }
    ])
    expect(other).toContain("routed to react: one fact\nreact shows no plan before it works")
  })

  it("ends with 2 where no valid plan came, with 1 where the model fails", async () => {
    const invalid = await explain("rewoo", ["#E1 = Google[x]", "#E1 = Google[y]"])
    expect(invalid.code).toBe(2)
    expect(invalid.out).toBe("")
    expect(invalid.err).toContain("Not answered (InvalidPlan)")
    expect((await explain("rewoo", [])).code).toBe(1)
    const asJson = await explain("rewoo", ["#E1 = Google[x]", "#E1 = Google[y]"], ["--json"])
    expect(JSON.parse(asJson.out)).toMatchObject({ status: "failed", error: { tag: "InvalidPlan" } })
  })

  it("estimates the cost from what the planner took", async () => {
    await using server = await loopback((_, response) => json(response, chat(plan)))
    const args = ["explain", "rewoo", "q", "-m", `openai-compatible:a@${server.url}/v1`]
    const { out } = await inProcess([...args, "--price", "1000,2000"], { folder: "/" })
    expect(out).toContain(
      "cost: about $0.0260 to $0.0390, if each call takes as many tokens as the planner's (7 in, 3 out)"
    )
    expect((await inProcess(args, { folder: "/" })).out).toContain("cost: not known: the price of a at")
    expect(server.received).toHaveLength(2)
  })
})

describe("expected calls", () => {
  it.each(patterns.filter(({ name }) => name !== "auto"))("$name: bounds that hold together", async (pattern) => {
    const ready = await Effect.runPromise(prepare(pattern, new Map()))
    const steps = [1, 2].map((id) => ({ id: String(id), text: "x", dependsOn: [] }))
    for (const planned of [undefined, steps]) {
      const { model, tool } = ready.calls?.({}, planned) ?? expect.fail("no calls")
      expect(model.least).toBeGreaterThan(0)
      for (const { least, most } of [model, tool]) {
        if (most !== undefined) expect(most).toBeGreaterThanOrEqual(least)
      }
    }
  })

  it("are put into words", () => {
    expect(
      [
        { least: 2, most: 5 },
        { least: 2 },
        { least: 3, most: 3 },
        { least: 0, most: 0 },
        { least: 0, most: 4 },
        { least: 0 }
      ].map(rangeText)
    ).toEqual(["2 to 5", "at least 2", "3", "none", "at most 4", "any number"])
    expect([0, 0.00001, 0.0042, 12.345].map(money)).toEqual(["$0", "less than $0.0001", "$0.0042", "$12.35"])
  })
})
