import { describe, expect, it } from "vitest"
import type { Terminal } from "../src/terminal.js"
import { everything, folder, forethought } from "./support/forethought.js"
import { inProcess } from "./support/inProcess.js"

const plan = "Plan: find it\n#E1 = Lookup[population of France]"
const solver = { role: "solver", text: "{{#E1 grouped}} people." }

/** A person who gives these answers, and then is gone. */
const person = (...answers: ReadonlyArray<string>): Terminal & { readonly asked: ReadonlyArray<string> } => {
  const asked: Array<string> = []
  const left = [...answers]
  return {
    asked,
    ask: async (prompt) => {
      asked.push(prompt)
      return left.shift()
    }
  }
}

describe("--approve-plan", () => {
  const run = async (answers: ReadonlyArray<string>, replies: ReadonlyArray<unknown> = [plan, solver], env = {}) => {
    using files = folder({ "script.json": replies })
    const terminal = person(...answers)
    const args = ["run", "rewoo", "How many?", "-m", "scripted:script.json", "--approve-plan"]
    return { ...(await inProcess(args, { folder: files.path, terminal, env })), asked: terminal.asked }
  }

  it("shows the plan with its graph, calls and cost, and runs it when it is accepted", async () => {
    const { asked, code, err, out } = await run(["what?", "Y"])
    expect({ code, out }).toEqual({ code: 0, out: "66,977,107 people.\n" })
    expect(asked).toHaveLength(2)
    for (const part of [
      "1. * #E1  Lookup[population of France]  find it",
      "critical path: #E1",
      "model calls: 2",
      "cost: "
    ]) {
      expect(err).toContain(part)
    }
  })

  it.each([["n"], []])("refused by %j: nothing runs, 2", async (...answers) => {
    const { code, err, out } = await run(answers.flat())
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("Plan refused: the ")
    expect(err).not.toContain("#E1 starts")
  })

  it("runs the plan that is written in its place, up to a line with a dot", async () => {
    const { code, err, out } = await run(["e", "Plan: another", "#E1 = Lookup[population of Spain]", " . "])
    expect({ code, out }).toEqual({ code: 0, out: "46,796,540 people.\n" })
    expect(err).toContain("  #E1 = Lookup[population of France]")
  })

  it("opens the editor that is set", async () => {
    const { code, out } = await run(["e"], [plan, solver], {
      EDITOR: "sed -i s/France/Spain/",
      PATH: process.env["PATH"]
    })
    expect({ code, out }).toEqual({ code: 0, out: "46,796,540 people.\n" })
  })

  it("asks on when the editor fails, and for a plan pasted in its place", async () => {
    const { code, err, out } = await run(["e", ".", "y"], [plan, solver], { EDITOR: "false" })
    expect({ code, out }).toEqual({ code: 0, out: "66,977,107 people.\n" })
    expect(err).toContain("The editor false ended with code 1.")
    expect(err).toContain("the plan stays as it is")
  })

  it("ends with 2 where the plan that was written is not valid", async () => {
    const { code, err } = await run(["e", "#E1 = Google[x]", "."])
    expect(code).toBe(2)
    expect(err).toContain("Not answered (InvalidPlan)")
  })

  it("refuses without a terminal", async () => {
    using files = folder({ "script.json": [plan, solver] })
    const args = ["run", "rewoo", "How many?", "-m", "scripted:script.json", "--approve-plan"]
    const { code, err, out } = await forethought(args, { cwd: files.path, stdin: "y\n" })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("no terminal (--approve-plan)")
  })
})

describe("--approve", () => {
  const call = "toggle-simulated-logging[{}]"
  const replies = [
    `#E1 = ${call}\n#E2 = echo[read only]\n#E3 = ${call}`,
    { role: "solver", text: "{{#E1}}|{{#E2}}|{{#E3}}" }
  ]
  const wary = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "none", "--approve", "--mcp", everything]
  const args = [...wary, "--trust-mcp", "node"]
  const run = async (answers: ReadonlyArray<string>, given = args) => {
    using files = folder({ "script.json": replies })
    const terminal = person(...answers)
    return { ...(await inProcess(given, { folder: files.path, terminal })), asked: terminal.asked }
  }

  it("AU-06: asks before a tool that its server calls read-only, and shows which server is believed", async () => {
    const told = await run(["y", "n", "n"], wary)
    expect(told.out).toMatch(/^Started .*\|\(no evidence.*\|\(no evidence/)
    expect(told.asked).toHaveLength(3)
    expect(told.err).toContain("#E2 wants to call echo, which may change something")
    expect(told.err).toContain("tools: node (MCP)")
    expect((await run(["y", "n"])).err).toContain("tools: node (MCP, believed)")
  })

  it.each([
    { answers: ["y", "n"], asked: 2, says: /^Started .*\|Echo: read only\|\(no evidence/ },
    { answers: ["a"], asked: 1, says: /^Started .*\|Echo: read only\|Stopped / },
    { answers: ["huh", "yes", "no"], asked: 3, says: /^Started .*\|Echo: read only\|\(no evidence/ },
    { answers: [], asked: 2, says: /^\(no evidence for #E1\)\|Echo: read only\|\(no evidence/ }
  ])("asks before what is not read-only; answers $answers", async ({ answers, asked, says }) => {
    const told = await run(answers)
    expect(told.code).toBe(0)
    expect(told.out).toMatch(says)
    expect(told.asked).toHaveLength(asked)
    expect(told.err).toContain("#E1 wants to call toggle-simulated-logging, which may change something, with:\n  {}")
  })

  it("denies without a terminal, and says why", async () => {
    using files = folder({ "script.json": replies })
    const { code, err, out } = await forethought(args, { cwd: files.path, stdin: "y\ny\n" })
    expect(code).toBe(0)
    expect(out).toContain("|Echo: read only|")
    expect(err).toContain("toggle-simulated-logging is not called: nobody can be asked")
  })
})
