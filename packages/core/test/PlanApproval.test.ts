import { describe, expect, it } from "@effect/vitest"
import * as PlanApproval from "@forethought/core/PlanApproval"
import type { PlannedStep } from "@forethought/core/RunEvent"
import * as fc from "fast-check"

const steps = (...texts: ReadonlyArray<string>): ReadonlyArray<PlannedStep> =>
  texts.map((text, index) => ({ id: String(index + 1), text, dependsOn: [] }))

const changes = (previous: ReadonlyArray<string>, planned: ReadonlyArray<string>) => {
  const { added, dropped } = PlanApproval.changes({ previous: steps(...previous), steps: steps(...planned) })
  return { added: added.map(({ text }) => text), dropped: dropped.map(({ text }) => text) }
}

describe("AU-11: the changes of a plan", () => {
  it.each([
    ["nothing", ["A", "B"], ["A", "B"], [], []],
    ["an addition", ["A"], ["A", "B"], ["B"], []],
    ["a removal", ["A", "B"], ["B"], [], ["A"]],
    ["another order", ["A", "B"], ["B", "A"], [], []],
    ["a replacement", ["A", "B"], ["A", "C"], ["C"], ["B"]],
    ["a step twice", ["A", "B"], ["A", "A"], ["A"], ["B"]],
    ["a step twice that was approved twice", ["A", "A"], ["A", "A"], [], []],
    ["no plan", [], ["A"], ["A"], []]
  ])("are told: %s", (_what, previous, planned, added, dropped) => {
    expect(changes(previous, planned)).toEqual({ added, dropped })
  })

  it.each([
    ["Look at the list", "look  at THE list."],
    ["Look up: the list", "Look up the list"],
    ["Search “rain”, then stop", 'Search "rain" then stop'],
    ["Ｌook ５", "look 5"],
    ["Café", "Cafe\u0301"]
  ])("do not include another way to write %j: %j", (left, right) => {
    expect(changes([left], [right])).toEqual({ added: [], dropped: [] })
  })

  it.each([
    ["Pay 1.5 euros", "Pay 15 euros"],
    ["Pay 5 euros", "Pay -5 euros"],
    ["Pay 5%", "Pay 5"],
    ["Delete 10² files", "Delete 102 files"],
    ["Pay ½ of it", "Pay 1⁄2 of it"],
    ["Delete x₁", "Delete x1"],
    ["Delete /tmp/a.b", "Delete /tmp/ab"],
    ["Delete /tmp/a", "Delete tmp/a"],
    ["Delete a", "Delete *"],
    ["Delete", "Delete *"],
    ["Go to ..", "Go to"],
    ["Delete the back up", "Delete the backup"],
    ["Use C++", "Use C"],
    ["Delete it", "Do not delete it"]
  ])("include every other text: %j and %j", (left, right) => {
    expect(changes([left], [right])).toEqual({ added: [right], dropped: [left] })
    expect(changes([right], [left])).toEqual({ added: [left], dropped: [right] })
  })

  it("include another tool or input of a step with the same text", () => {
    const step = { id: "#E1", text: "look", dependsOn: [], tool: "Search", input: "a" }
    for (const other of [
      { ...step, tool: "Delete" },
      { ...step, input: "A" }
    ]) {
      expect(PlanApproval.changes({ previous: [step], steps: [other] })).toEqual({ added: [other], dropped: [step] })
    }
    const moved = { ...step, id: "#E2", dependsOn: ["#E1"] }
    expect(PlanApproval.changes({ previous: [step], steps: [moved] })).toEqual({ added: [], dropped: [] })
  })

  it("are all steps of a first plan", () => {
    expect(PlanApproval.changes({ steps: steps("A", "B") })).toEqual({ added: steps("A", "B"), dropped: [] })
  })

  const text = fc.constantFrom("a", "b", "c", "A.")
  it.prop(
    "balance: what stays is what was approved less what is dropped, and the plan less what is added",
    [fc.array(text), fc.array(text)],
    ([previous, planned]) => {
      const { added, dropped } = changes(previous, planned)
      expect(previous.length - dropped.length).toBe(planned.length - added.length)
      const folded = (list: ReadonlyArray<string>) => list.map((word) => word.toLowerCase().replace(".", "")).sort()
      expect(folded([...previous, ...added])).toEqual(folded([...planned, ...dropped]))
      for (const step of folded(added)) expect(folded(dropped)).not.toContain(step)
    }
  )
})
