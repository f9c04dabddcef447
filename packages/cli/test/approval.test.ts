import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { describe, expect, it, vi } from "vitest"
import type { Terminal } from "../src/screen/terminal.js"
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

  it("an interruption ends the editor, leaves no file and asks nothing more", async () => {
    using files = folder({ "script.json": [plan] })
    const interruption = new AbortController()
    const opened = files.file("opened")
    const timer = setInterval(() => {
      if (existsSync(opened) && readFileSync(opened, "utf8").includes("plan.txt\n")) interruption.abort()
    }, 10)
    const terminal = person("e", "y")
    const editor = `cd '${files.path}'; trap 'echo ended > ended; exit' TERM; open() { echo "$1" > opened; while :; do sleep 0.05; done; }; open`
    const args = ["run", "rewoo", "How many?", "-m", "scripted:script.json", "--approve-plan"]
    const around = { folder: files.path, terminal, signal: interruption.signal }
    const { code, err } = await inProcess(args, { ...around, env: { EDITOR: editor } })
    clearInterval(timer)
    expect(code).toBe(130)
    expect(existsSync(dirname(readFileSync(opened, "utf8").trim()))).toBe(false)
    await vi.waitFor(() => expect(existsSync(files.file("ended"))).toBe(true), { timeout: 5_000 })
    expect(terminal.asked).toHaveLength(1)
    expect(err).not.toContain("Write the whole plan anew")
  })

  it("ends with 2 where the plan that was written is not valid", async () => {
    const { code, err } = await run(["e", "#E1 = Google[x]", "."])
    expect(code).toBe(2)
    expect(err).toContain("Not answered (InvalidPlan)")
  })

  describe("AU-11: of a plan that changes", () => {
    const split = (logic: string, ...subSteps: ReadonlyArray<unknown>) => JSON.stringify({ logic, sub_steps: subSteps })
    const long = `delete ${"the database and ".repeat(40)}all`
    const changed = async (pattern: string, replies: ReadonlyArray<unknown>, ...answers: ReadonlyArray<string>) => {
      using files = folder({ "script.json": replies })
      const terminal = person(...answers)
      const args = ["run", pattern, "G", "-m", "scripted:script.json", "-t", "none", "--approve-plan"]
      return { ...(await inProcess(args, { folder: files.path, terminal })), asked: terminal.asked.length }
    }
    const replan = (...steps: ReadonlyArray<string>) => JSON.stringify({ remaining_steps: steps })
    const done = '{"final_answer":"done"}'

    it.each<[what: string, pattern: string, replies: ReadonlyArray<unknown>, shown: ReadonlyArray<string>]>([
      [
        "a step is new, one stays, and one is left out",
        "plan-and-execute",
        ["1. look\n2. write\n3. send", "a", replan("write", "delete"), "b", done],
        ["  2. write", "+ 3. delete", "- 3. send"]
      ],
      ["a long step, in full", "plan-and-execute", ["1. look", "a", replan(long), "b", done], [`+ 2. ${long}`]],
      [
        "a step of several lines, on one",
        "plan-and-execute",
        ["1. look", "a", replan("write\n  3. delete"), "b", done],
        ["+ 2. write ⏎ 3. delete"]
      ],
      [
        "a step that runs once more",
        "plan-and-solve-agent",
        ["1. look\n2. write", "FAILURE: no", "1. look\n2. write", "SUCCESS: a", "SUCCESS: b", "done"],
        ["+ 2. look", "  3. write"]
      ],
      [
        "a decomposition of ADaPT's",
        "adapt",
        ["FAILURE: no", split("or", "A", "B"), "FAILURE: no", split("and", "C", "D"), "SUCCESS: c", "SUCCESS: d"],
        ["+ 1.1.1. C", "+ 1.1.2. D", "- 1.1. A", 'as it is written: {"logic":"and","sub_steps":["C","D"]}']
      ]
    ])("shows what is new: %s", async (_what, pattern, replies, shown) => {
      const { asked, code, err } = await changed(pattern, replies, "y", "y")
      expect({ asked, code }).toEqual({ asked: 2, code: 0 })
      const title = "the plan has changed (+ is new, - is left out or replaced):\n"
      expect(err).toContain(`${pattern}: G\n${title}${shown.join("\n")}\n`)
    })

    it("shows the first plan in full too", async () => {
      const step = `look ${"at the list and ".repeat(400)}then delete all`
      const { err } = await changed("plan-and-execute", [`1. ${step}`], "n")
      expect(err).toContain(`${step}\n`)
    })

    it("does not ask for what was approved", async () => {
      const { asked, code } = await changed(
        "plan-and-execute",
        ["1. A\n2. B\n3. C", "a", replan("C"), "b", done],
        "y",
        "n"
      )
      expect({ asked, code }).toEqual({ asked: 1, code: 0 })
    })

    it("ends with what was done when the change is refused", async () => {
      const { code, err } = await changed("plan-and-execute", ["1. A", "a", replan("delete")], "y", "n")
      expect(code).toBe(2)
      expect(err).toContain("Plan refused: the person said no\nGathered until then:\n  1. A (completed): a\n")
    })

    it("begins an edit with the plan as it is written", async () => {
      const replies = ["FAILURE: no", split("and", "A", { logic: "or", sub_steps: ["B", "C"] }), "SUCCESS: x"]
      const { code, err, out } = await changed("adapt", replies, "e", split("and", "Mine"), ".")
      expect({ code, out }).toEqual({ code: 0, out: "x\n" })
      expect(err).toContain('  {"logic":"and","sub_steps":["A",{"logic":"or","sub_steps":["B","C"]}]}\n')
    })
  })

  it("refuses without a terminal", async () => {
    using files = folder({ "script.json": [plan, solver] })
    const args = ["run", "rewoo", "How many?", "-m", "scripted:script.json", "--approve-plan"]
    const { code, err, out } = await forethought(args, { cwd: files.path, stdin: "y\n" })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("not a terminal (--approve-plan)")
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
