import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Either from "effect/Either"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { PlanIssue } from "../src/internal/rewoo/issues.js"
import { issueMessage } from "../src/internal/rewoo/issues.js"
import { readPlan } from "../src/internal/rewoo/parse.js"
import { validate } from "../src/internal/rewoo/validate.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** `#E1 Tool(input)` for each step, with ` !` behind an unclosed one. */
const calls = (text: string) =>
  readPlan(text).steps.map(
    (step) => `${step.variable} ${step.tool}(${step.input})${step.unclosed === true ? " !" : ""}`
  )
const tags = (text: string) => readPlan(text).issues.map((issue) => issue._tag)
const reasons = (text: string) => readPlan(text).steps.map((step) => step.reason)
const references = (text: string) => readPlan(text).steps.map((step) => step.references)

const check = (text: string, options: { tools?: ReadonlyArray<string>; maxPlanLength?: number } = {}) => {
  const tools = options.tools ?? ["Search", "LLM", "Calculator"]
  return validate(readPlan(text), {
    availableTools: tools,
    maxPlanLength: options.maxPlanLength ?? 8,
    resolveTool: (name) => {
      const candidates = tools.filter((tool) => tool.toLowerCase() === name.toLowerCase())
      const [only] = tools.includes(name) ? [name] : candidates.length === 1 ? candidates : []
      return only === undefined ? Either.left({ candidates }) : Either.right(only)
    }
  })
}
const issuesOf = (text: string, options?: { tools?: ReadonlyArray<string>; maxPlanLength?: number }) => {
  const result = check(text, options)
  return Either.isLeft(result) ? result.left : []
}

describe("reported cases", () => {
  it("RW-02 keeps a step with empty brackets", () => {
    expect(calls("Plan: get the time\n#E1 = Now[]")).toEqual(["#E1 Now()"])
  })
  it("RW-04 reads tool names with a trailing () and leaves case to the resolver", () => {
    expect(calls("#E1 = search[cats]\n#E2 = SEARCH()[dogs]")).toEqual(["#E1 search(cats)", "#E2 SEARCH(dogs)"])
    expect(issuesOf("#E1 = search[cats]\n#E2 = SEARCH()[dogs]")).toEqual([])
    expect(issuesOf("#E1 = SEARCH[cats]", { tools: ["Search", "search"] })).toEqual([
      { _tag: "AmbiguousTool", variable: "#E1", tool: "SEARCH", candidates: ["Search", "search"] }
    ])
  })
  it("RW-06 reads several calls after one Plan, which share its reason", () => {
    const text = "Plan: look at both\n#E1 = Search[cats]\n#E2 = Search[dogs]"
    expect(calls(text)).toEqual(["#E1 Search(cats)", "#E2 Search(dogs)"])
    expect(reasons(text)).toEqual(["look at both", "look at both"])
  })
  it("RW-07 reads a plan on one line", () => {
    const text = "Plan: first #E1 = Search[cats] Plan: second #E2 = LLM[sum up #E1]"
    expect(calls(text)).toEqual(["#E1 Search(cats)", "#E2 LLM(sum up #E1)"])
    expect(reasons(text)).toEqual(["first", "second"])
  })
  it("RW-08 reads through bold, bullets, backticks and numbers", () => {
    const text = "**Plan:** look\n**#E1** = Search[cats]\n- `#E2 = Search[dogs]`\nPlan 3: more\n#E3 = Search[owls]"
    expect(calls(text)).toEqual(["#E1 Search(cats)", "#E2 Search(dogs)", "#E3 Search(owls)"])
    expect(reasons(text)).toEqual(["look", "look", "more"])
  })
  it("RW-09 keeps a reason of two lines whole", () => {
    expect(reasons("Plan: first line of the reason\nand its second line\n#E1 = Search[cats]")).toEqual([
      "first line of the reason\nand its second line"
    ])
  })
  it("RW-11 splits the input at whole variables, so substitution is a join", () => {
    const [step] = readPlan("#E11 = LLM[Compare #E1 with #E10]").steps
    const evidence = new Map([
      ["#E1", "cat"],
      ["#E10", "dog"]
    ])
    const input = step?.pieces
      .map((piece) => (typeof piece === "string" ? piece : evidence.get(piece.variable)))
      .join("")
    expect(input).toBe("Compare cat with dog")
  })
  it("RW-14 takes neither colours nor longer tokens for references", () => {
    const [step] = readPlan("#E2 = Paint[use colour #E1E4E8 and note C#E1x]").steps
    expect(step?.references).toEqual([])
    expect(step?.input).toBe("use colour #E1E4E8 and note C#E1x")
  })
  it("RW-17 an unknown reference is an issue", () => {
    expect(issuesOf("#E1 = Search[cats]\n#E2 = LLM[sum up #E7]")).toEqual([
      { _tag: "UnknownVariable", variable: "#E7", mentionedBy: "#E2" }
    ])
  })
  it("RW-18 ignores a trailing full stop, stray # and headings", () => {
    expect(readPlan("#E1 = Search[cats].\n#\n# Notes")).toMatchObject({ steps: [{ input: "cats" }], issues: [] })
  })
  it("RW-20 an unknown tool is an issue that lists the tools", () => {
    expect(issuesOf("#E1 = ExtractValue[$.name]")).toEqual([
      { _tag: "UnknownTool", variable: "#E1", tool: "ExtractValue", available: ["Search", "LLM", "Calculator"] }
    ])
  })
  it("RW-22 removes one outer pair of quotes", () => {
    expect(calls("#E1 = Search[\"red 'tin' cup\"]")).toEqual(["#E1 Search(red 'tin' cup)"])
  })
  it("RW-23 keeps JSON with brackets inside strings whole", () => {
    const json = '{"where":{"tag":["a","b"]},"note":"see ] here"}'
    expect(calls(`#E1 = Filter[${json}]`)).toEqual([`#E1 Filter(${json})`])
  })
  it("RW-24 ends an unclosed input before the next Plan", () => {
    const text = "#E1 = LLM[line one\nline two\nPlan: next\n#E2 = Search[x]"
    expect(calls(text)).toEqual(["#E1 LLM(line one\nline two) !", "#E2 Search(x)"])
  })
  it("PA-01 finds every reference of an input", () => {
    expect(references("#E3 = Calculator[#E1 + #E2]")).toEqual([["#E1", "#E2"]])
  })
  it("PA-02 names every step of a cycle, once", () => {
    expect(issuesOf("#E1 = LLM[use #E3]\n#E2 = LLM[use #E1]\n#E3 = LLM[use #E2]")).toEqual([
      { _tag: "Cycle", variables: ["#E1", "#E2", "#E3"] }
    ])
  })
})

describe("labels", () => {
  it.each([
    ["#E1 = Search[cats]"],
    ["#E1=Search[cats]"],
    ["#E1 =Search[cats]"],
    ["  #E1  =  Search[cats]  "],
    ["\t#E1 = Search[cats]"],
    ["#E1: Search[cats]"],
    ["#E1：Search[cats]"],
    ["#E1 := Search[cats]"],
    ["#E1 ＝ Search[cats]"],
    ["#e1 = Search[cats]"],
    ["**#E1** = Search[cats]"],
    ["**#E1 = Search[cats]**"],
    ["**#E1 =** Search[cats]"],
    ["`#E1` = `Search[cats]`"],
    ["`#E1 = Search[cats]`"],
    ["- #E1 = Search[cats]"],
    ["* #E1 = Search[cats]"],
    ["• #E1 = Search[cats]"],
    ["> #E1 = Search[cats]"],
    ["1. #E1 = Search[cats]"],
    ["1) #E1 = Search[cats]"],
    ["(1) #E1 = Search[cats]"],
    ["### #E1 = Search[cats]"],
    ["- [ ] #E1 = Search[cats]"],
    ["Step 1: #E1 = Search[cats]"],
    ["| #E1 = Search[cats] |"],
    ["```\n#E1 = Search[cats]\n```"],
    ["Here is the plan:\n\n#E1 = Search[cats]"],
    ["#E1 =\nSearch[cats]"],
    ["\r\n#E1 = Search[cats]\r\n"],
    ["#E1\u00a0=\u00a0Search[cats]"],
    ["Evidence: #E1 = Search[cats]"],
    ["(#E1) = Search[cats]"],
    ["[#E1] = Search[cats]"],
    ["{#E1} = Search[cats]"],
    ["<#E1> = Search[cats]"],
    ['"#E1" = Search[cats]'],
    ["'#E1' = Search[cats]"],
    ["“#E1” = Search[cats]"],
    ["【#E1】 = Search[cats]"],
    ["**(#E1)** = Search[cats]"],
    ["(**#E1**) = Search[cats]"],
    ["- (#E1) = Search(cats)"],
    ["Plan: (#E1) = Search[cats]"]
  ])("%j is one step", (text) => {
    expect(readPlan(text)).toMatchObject({
      steps: [{ variable: "#E1", tool: "Search", input: "cats", references: [] }],
      issues: []
    })
  })
})

describe("tool names", () => {
  it.each([
    ['#E1 = "Search"[x]', "Search"],
    ["#E1 = 'Search'[x]", "Search"],
    ["#E1 = `Search`[x]", "Search"],
    ["#E1 = **Search**[x]", "Search"],
    ["#E1 = Search [x]", "Search"],
    ["#E1 = Search: [x]", "Search"],
    ["#E1 = Search()[x]", "Search"],
    ["#E1 = Search() [x]", "Search"],
    ["#E1 = Web Search[x]", "Web Search"],
    ["#E1 = web_search[x]", "web_search"],
    ["#E1 = web-search.v2[x]", "web-search.v2"],
    ["#E1 = mcp/files[x]", "mcp/files"],
    ["#E1 = 搜索[x]", "搜索"],
    ["#E1 = Search(x)", "Search"],
    ["#E1 = Search (x)", "Search"],
    ["#E1 = constructor[x]", "constructor"],
    ["#E1 = __proto__[x]", "__proto__"]
  ])("%s", (text, tool) => {
    expect(readPlan(text)).toMatchObject({ steps: [{ tool, input: "x" }], issues: [] })
  })
})

describe("inputs", () => {
  it.each([
    ["Search[]", ""],
    ["Search[ ]", ""],
    ['Search[""]', ""],
    ["Search()", ""],
    ['search("cats")', "cats"],
    ["search('cats')", "cats"],
    ["Search[ cats ]", "cats"],
    ["Search['cats']", "cats"],
    ["Search[`cats`]", "cats"],
    ["Search[“cats”]", "cats"],
    ["Search[Arthur's Magazine]", "Arthur's Magazine"],
    ["Search[What's new]", "What's new"],
    ["Search['Arthur's Magazine']", "Arthur's Magazine"],
    ["Search['tis the season]", "'tis the season"],
    ["Search[boys' games]", "boys' games"],
    ['Search["cats]', '"cats'],
    ['Search[cats"]', 'cats"'],
    ['Search["a" and "b"]', '"a" and "b"'],
    ['Search[5" pipe]', '5" pipe'],
    ['Search[the "red" cup]', 'the "red" cup'],
    ['Search["say \\"hi\\""]', 'say \\"hi\\"'],
    ["LLM[[1, 2, 3]]", "[1, 2, 3]"],
    ["LLM[[[a]]]", "[[a]]"],
    ["LLM[arr[0] and arr[1]]", "arr[0] and arr[1]"],
    ['LLM[["a]", "b["]]', '["a]", "b["]'],
    ["LLM[{'note': 'see ] here'}]", "{'note': 'see ] here'}"],
    ['LLM[{"a": "x\\"]y"}]', '{"a": "x\\"]y"}'],
    ['LLM[{"a": "it\'s ] fine"}]', '{"a": "it\'s ] fine"}'],
    ['LLM[{\n  "a": "b",\n  "c": "]"\n}]', '{\n  "a": "b",\n  "c": "]"\n}'],
    ["LLM[Write: a\nb\nc]", "Write: a\nb\nc"],
    ["LLM[make a Plan: buy milk]", "make a Plan: buy milk"],
    ["LLM[list\nPlan: buy milk\nend]", "list\nPlan: buy milk\nend"],
    ["LLM[explain E2 = LLM[x] to me]", "explain E2 = LLM[x] to me"],
    ["LLM[smile :) and a) b)]", "smile :) and a) b)"],
    ["Calculator[(1 + 2) * 3]", "(1 + 2) * 3"],
    ["Calculator((1 + 2) * 3)", "(1 + 2) * 3"],
    ["Solve(x + (2x - 10) = 157)", "x + (2x - 10) = 157"],
    ["Read[C:\\dir\\]", "C:\\dir\\"],
    ["Search[cats # and dogs]", "cats # and dogs"],
    ["Search[C# language]", "C# language"],
    ["Search[https://a.test/x?y=1#z]", "https://a.test/x?y=1#z"],
    ['search(query="cats", n=3)', 'query="cats", n=3'],
    ["Search[日本語]", "日本語"],
    ["Search[🙂 cats]", "🙂 cats"],
    ["Python[```python\nprint(1)\n```]", "```python\nprint(1)\n```"]
  ])("%j gives %j", (call, input) => {
    const reading = readPlan(`#E1 = ${call}`)
    expect(reading).toMatchObject({ steps: [{ input }], issues: [] })
    expect(reading.steps[0]?.unclosed).toBeUndefined()
  })

  it.each([["."], ["`"], ["**"], ["`."], [";"], [","], [" (find cats)"], ["  # find cats"], [" - finds cats"], ["]"]])(
    "%j behind the bracket is ignored",
    (behind) => {
      expect(readPlan(`#E1 = Search[cats]${behind}`)).toMatchObject({ steps: [{ input: "cats" }], issues: [] })
    }
  )
})

describe("references", () => {
  it.each([
    ["#E1", ["#E1"]],
    ["#E1 and #E1", ["#E1"]],
    ["#E1#E2", ["#E1", "#E2"]],
    ["#E1,#E2", ["#E1", "#E2"]],
    ["#E1's height", ["#E1"]],
    ["(#E1)", ["#E1"]],
    ["{{#E1}}", ["#E1"]],
    ["#E1.name", ["#E1"]],
    ["#E2^0.34", ["#E2"]],
    ["#E1-#E2", ["#E1", "#E2"]],
    ["根据#E1的结果", ["#E1"]],
    ["#e1", ["#E1"]],
    ["#E10", ["#E10"]],
    ["#E1F0A2", []],
    ["#E1_a", []],
    ["a#E1", ["#E1"]],
    ["#E", []],
    ["# E1", []],
    ["E1", []],
    ["#e10", []],
    ["#e100", []],
    ["#e7", ["#E7"]]
  ])("of %j are %j", (input, expected) => {
    expect(references(`#E99 = LLM[${input}]`)).toEqual([expected])
  })
  it("a lower-case variable of three characters is a reference where a step defines it", () => {
    expect(references("#E10 = Search[x]\n#E11 = LLM[#e10]")).toEqual([[], ["#E10"]])
  })
  it("stay where they are: the pieces join to the input", () => {
    expect(readPlan("#E3 = LLM[#E1 + #E2]").steps[0]?.pieces).toEqual([{ variable: "#E1" }, " + ", { variable: "#E2" }])
  })
})

describe("reasons", () => {
  it.each([
    ["Plan: find cats\n#E1 = Search[x]", "find cats"],
    ["plan: find cats\n#E1 = Search[x]", "find cats"],
    ["PLAN: find cats\n#E1 = Search[x]", "find cats"],
    ["Plan：find cats\n#E1 = Search[x]", "find cats"],
    ["Plan 1: find cats\n#E1 = Search[x]", "find cats"],
    ["Plan #1: find cats\n#E1 = Search[x]", "find cats"],
    ["**Plan 1:** find cats\n#E1 = Search[x]", "find cats"],
    ["**Plan**: find cats\n#E1 = Search[x]", "find cats"],
    ["### Plan 1: find cats\n#E1 = Search[x]", "find cats"],
    ["1. Plan: find cats\n   #E1 = Search[x]", "find cats"],
    ["- Plan: find cats\n- #E1 = Search[x]", "find cats"],
    ["Step 1: find cats\n#E1 = Search[x]", "find cats"],
    ["Step 1. find cats\n#E1 = Search[x]", "find cats"],
    ["Plan: find cats\n\n\n#E1 = Search[x]", "find cats"],
    ["Plan: find cats #E1 = Search[x]", "find cats"],
    ["Plan: find cats. #E1 = Search[x]", "find cats."],
    ["Plan: find cats - #E1 = Search[x]", "find cats"],
    ["Sure! Plan: find cats #E1 = Search[x]", "find cats"],
    ["Plan: find arr[0]\n#E1 = Search[x]", "find arr[0]"],
    ["Plan: use Search[x] for it\n#E1 = Search[x]", "use Search[x] for it"],
    ["Plan: Use #E7 later\n#E1 = Search[x]", "Use #E7 later"],
    ["Plan: think\nPlan: find cats\n#E1 = Search[x]", "find cats"],
    ["Plan: find cats\n# Notes\n#E1 = Search[x]", "find cats"],
    ["Plan: Find it's name\n#E1 = Search[x]", "Find it's name"],
    ["#E1 = Search[x]", ""],
    ["Here is the plan.\n#E1 = Search[x]", ""]
  ])("%j", (text, reason) => {
    expect(reasons(text)).toEqual([reason])
    expect(tags(text)).toEqual([])
  })
})

describe("several steps", () => {
  it.each([
    ["#E1 = A[x], #E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["#E1 = A[x]; #E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["#E1 = A[x] #E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["Plan: a. #E1 = A[x]\nPlan: b. #E2 = B[#E1]", ["#E1 A(x)", "#E2 B(#E1)"]],
    ["Plan: a #E1: A[x] Plan: b #E2: B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["1. #E1 = A[x]\n2. #E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["#E2 = A[x]\n#E1 = B[y]", ["#E2 A(x)", "#E1 B(y)"]],
    ["#E1 = A[x]\n\n---\n\n#E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["#E1 = A[x]\nObservation: #E1 is fine\n#E2 = B[y]", ["#E1 A(x)", "#E2 B(y)"]],
    ["#E1 = A[x]\nPlan: Finally, answer the question.", ["#E1 A(x)"]],
    ["#E1 = A[x]\nPlan: Combine #E1 and answer (see above)", ["#E1 A(x)"]],
    ["#E1 = A[it's]\n#E2 = B[it's]", ["#E1 A(it's)", "#E2 B(it's)"]],
    ['#E1 = A["x]\n#E2 = B["y"]', ['#E1 A("x)', "#E2 B(y)"]],
    ['#E1 = A["x] #E2 = B["y"]', ['#E1 A("x)', "#E2 B(y)"]],
    ["#E1 = A(x)\n#E2 = B(#E1)", ["#E1 A(x)", "#E2 B(#E1)"]]
  ])("%j", (text, expected) => {
    expect(calls(text)).toEqual(expected)
    expect(tags(text)).toEqual([])
  })
})

describe("a reply of thousands of calls", () => {
  const plan = (length: number) => Array.from({ length }, (_, index) => `#E${index + 1} = Search[a]`).join("\n")
  it("is read up to 10,000", () => {
    const { issues, steps } = readPlan(plan(10_000))
    expect(issues).toEqual([])
    expect(steps).toHaveLength(10_000)
  })
  it("has an issue beyond that, so that it never runs in part", () => {
    const { issues, steps } = readPlan(plan(10_002))
    expect(steps.at(-1)?.variable).toBe("#E10000")
    expect(issues).toEqual([
      {
        _tag: "Unreadable",
        line: "#E10001 = Search[a]\n#E10002 = Search[a]",
        at: plan(10_000).length + 1,
        why: "write fewer calls."
      }
    ])
  })
})

describe("unclosed inputs", () => {
  it.each([
    ["#E1 = A[x", ["#E1 A(x) !"]],
    ["#E1 = A[", ["#E1 A() !"]],
    ["#E1 = A[x\n#E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x\nPlan: b\n#E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["Plan: a #E1 = A[x\nPlan: b #E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x Plan: b #E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x #E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x [y]\n#E2 = B[z]", ["#E1 A(x [y]) !", "#E2 B(z)"]],
    ['#E1 = A[{"q": "x}\n#E2 = B[y]', ['#E1 A({"q": "x}) !', "#E2 B(y)"]],
    ["#E1 = A(x\n#E2 = B(y)", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x\n**Plan 2:** b\n- #E2 = B[y]", ["#E1 A(x) !", "#E2 B(y)"]],
    ["#E1 = A[x\n\nQuestion: another", ["#E1 A(x) !"]],
    ["#E1 = A[x\nE2 = B[y]", ["#E1 A(x\nE2 = B[y]) !"]]
  ])("%j", (text, expected) => {
    expect(calls(text)).toEqual(expected)
  })
})

describe("what follows a plan", () => {
  const plan = "Plan: a\n#E1 = A[x]"
  it.each([
    ["\nEvidence:\n#E1: cats are mammals"],
    ["\nObservation: cats"],
    ["\nEvidence #E1: cats"],
    ["\n\nQuestion: what is next?"],
    ["\nAnswer: 42"],
    ["\nThe final answer will come from #E1."],
    ["\n```"],
    ["\nLet me know if you want changes [or not]!"],
    ["\nResult: see [1]"],
    ["\nNote: this uses one tool."],
    ["\n\nHere #E1 = the search results."]
  ])("%j is no step and no issue", (rest) => {
    expect(readPlan(plan + rest)).toMatchObject({ steps: [{ variable: "#E1", input: "x" }], issues: [] })
    expect(readPlan(plan + rest).steps).toHaveLength(1)
  })
  it("a second plan for another question is an issue, never more steps", () => {
    const reading = readPlan(`${plan}\n\nQuestion: b\nPlan: c\n#E1 = A[y]\nPlan: d\n#E2 = A[#E1]`)
    expect(reading.steps).toHaveLength(1)
    expect(reading.issues.map((issue) => issue._tag)).toEqual(["DuplicateVariable", "Unreadable"])
  })
  it("a plan written twice has duplicates", () => {
    expect(issuesOf("#E1 = Search[x]\n#E1 = Search[x]")).toEqual([{ _tag: "DuplicateVariable", variable: "#E1" }])
  })
  it("a question before the plan is no end", () => {
    expect(tags(`Question: what is a?\n${plan}`)).toEqual([])
  })
})

describe("VR-06: a label and its call with an arrow between", () => {
  const arrows = "= : := == → => -> <- ← --> <-- ==> ⇒ ⇐ ⟶ ➜ ➡️ ≔ ＝".split(" ")
  it.each(arrows)("VR-06: %j is read as an equals sign", (arrow) => {
    for (const [open, close] of [
      ["", ""],
      ["**", "**"],
      ["`", "`"],
      ["- ", ""],
      ["1. ", ""]
    ]) {
      for (const blank of [" ", ""]) {
        const call = (n: number, rest: string) => `${open}#E${n}${close}${blank}${arrow}${blank}${rest}`
        const text = `Plan: look\n${call(1, "Search[cats]")}\nPlan: count\n${call(2, "Calculator[#E1 + 1]")}`
        expect(calls(text)).toEqual(["#E1 Search(cats)", "#E2 Calculator(#E1 + 1)"])
        expect(reasons(text)).toEqual(["look", "count"])
        expect(tags(text)).toEqual([])
      }
    }
    const inline = `Plan: look #E1 ${arrow} Search[cats] Plan: count #E2 ${arrow} LLM[#E1]`
    expect(calls(inline)).toEqual(["#E1 Search(cats)", "#E2 LLM(#E1)"])
    if (arrow !== ":") expect(calls(`(#E1) ${arrow} Search[cats]`)).toEqual(["#E1 Search(cats)"])
    expect(calls(`#E1 ${arrow} search(cats)`)).toEqual(["#E1 search(cats)"])
    expect(calls(`#E1 ${arrow} Search[it is ${arrow} x]`)).toEqual([`#E1 Search(it is ${arrow} x)`])
  })
  it.each([
    "#E1 != Search[x]",
    "#E1 <= Search[x]",
    "#E1 >= Search[x]",
    "#E1 === Search[x]",
    "#E1 <> Search[x]",
    "#E1 ≠ Search[x]",
    "#E1 ~ Search[x]",
    "#E1 - Search[x]",
    "#E1 > Search[x]",
    "Search[x] → #E1",
    "#E1 → #E2 Search[x]"
  ])("VR-06: %j is no step, and is told", (line) => {
    expect(calls(line)).toEqual([])
    expect(tags(line)).toContain("Unreadable")
  })
  it.each(["#E1 >= 3", "#E1 != 3", "#E1 <= 3"])("VR-06: %j beside a plan is text", (line) => {
    expect(calls(`#E1 = Search[x]\nPlan: stop if ${line}\n#E2 = LLM[#E1]`)).toEqual(["#E1 Search(x)", "#E2 LLM(#E1)"])
    expect(tags(`#E1 = Search[x]\nPlan: stop if ${line}\n#E2 = LLM[#E1]`)).toEqual([])
  })
  it("VR-06: an arrow in a reason is text", () => {
    const text = "Plan: from #E9 -> the sum\n#E1 = Search[x]\nPlan: feed #E1 → LLM\n#E2 = LLM[#E1]"
    expect(calls(text)).toEqual(["#E1 Search(x)", "#E2 LLM(#E1)"])
    expect(tags(text)).toEqual([])
  })
})

describe("VR-14: a mouth before the closing bracket", () => {
  it.each([
    ["Search[smile :-]]", "smile :-]"],
    ["Search[smile :]]", "smile :]"],
    ["Search[smile =]]", "smile =]"],
    ["Search[smile ;-]] .", "smile ;-]"],
    ["Search[:-]]", ":-]"],
    ["Search(smile :-))", "smile :-)"],
    ["Search(smile :))", "smile :)"],
    ["Search[sad :-[]", "sad :-["],
    ['LLM[{"a" :[]}]', '{"a" :[]}'],
    ["Search[x]]]", "x"],
    ["Search(f(x))", "f(x)"],
    ["Search[cats]]", "cats"],
    ["Search[smile :-)]", "smile :-)"],
    ["LLM[arr[:]]", "arr[:]"],
    ["LLM[a[x:]]", "a[x:]"],
    ["LLM[[1, 2]]", "[1, 2]"]
  ])("VR-14: %j gives %j", (call, input) => {
    expect(readPlan(`#E1 = ${call}`)).toMatchObject({ steps: [{ input }], issues: [] })
  })
  it("VR-14: a mouth inside is asked about, and a closing tag is no part of a call", () => {
    expect(tags("#E1 = Search[smile :-] and laugh]")).toEqual(["Unreadable"])
    for (const end of [
      "</plan>",
      "<end_plan>",
      "#END-OF-PLAN",
      "[END]",
      "\n</plan>",
      "\n[END]",
      "\n<end_plan>",
      "\n```"
    ]) {
      expect(calls(`#E1 = Search[cats]\n#E2 = LLM[#E1]${end}`)).toEqual(["#E1 Search(cats)", "#E2 LLM(#E1)"])
      expect(tags(`#E1 = Search[cats]\n#E2 = LLM[#E1]${end}`)).toEqual([])
    }
    expect(calls("#E1 = Search[cats\n</plan>")).toEqual(["#E1 Search(cats) !"])
  })
})

describe("a call that cannot be read is an issue, never lost", () => {
  it.each([
    ["E1 = Search[x]"],
    ["#1 = Search[x]"],
    ["$1 = Search[x]"],
    ["#E_1 = Search[x]"],
    ["#E1a = Search[x]"],
    ["#E 1 = Search[x]"],
    ["# E1 = Search[x]"],
    ["#Ex = Search[x]"],
    ["E1: Search[x]"],
    ["Evidence1 = Search[x]"],
    ["**E1** = Search[x]"],
    ["＃E1 = Search[x]"],
    ["#E1 Search[x]"],
    ["#E1 = Search"],
    ["#E1 = Search cats"],
    ["#E1 = Search: cats"],
    ["#E1 ="],
    ["#E1:"],
    ["#E1 = [cats]"],
    ["#E1 = Search{cats}"],
    ["#E1 = Search<cats>"],
    ["#E1 = Search【cats】"],
    ["#E1 = Search\n[cats]"],
    ["#E1 = A[x] + B[y]"],
    ["#E1 = A[x][0]"],
    ["#E1 = A[x].name"],
    ["#E1 = A[x] and B[y]"],
    ["#E1 = A[x, more] of it]"],
    ["Search[x]"],
    ["Search[x"],
    ["- Search[x]"],
    ["1. Search[x]"],
    ['1. search("x")'],
    ["Web Search[x]"],
    ["Action: Search[x]"],
    ["Search[x] = #E1"],
    ["Search[x] -> #E1"],
    ["Plan: Search[x]"],
    ["Plan: use Search[x] to find cats"],
    ["Plan: find cats E1 = Search[x]"],
    ["Plan: find cats #E1 = Search cats"],
    ["result = search(x)"],
    ["| #E1 | Search[x] |"],
    ["Step 1: Search[x]"],
    ["#E1) Search[x]"],
    ["#E1\n= Search[x]"],
    ["#E1\n= Web Search[x]; then"],
    ["#E1, #E2 = Search[x]"],
    ["#E1 and #E2 = Search[x]"],
    ["#E1 & (#E2) = Search[x]"],
    ["#E1/#E2 = Search[x]"],
    ["#E1 = #E2 = Search[x]"],
    ["Evidence 1 = Search[x]"],
    ["Evidence 1: Search[x]"],
    ["Evidence #1: Search[x]"],
    ["Step 1 = Search[x] to find cats"],
    ["(#E1): Search[x]"],
    ["#E1.1 = Search[x] to find cats"],
    ["#E１ = Search[x]"],
    ["#E1 is Search[x] to find cats"],
    ["E1 will be Search[x] then"],
    ["Set #E1 to Search[x] now"],
    ["Store Search[x] in #E1"],
    ["#E1 (cats) = Search[x]"],
    ["<b>#E1</b> = Search[x]"],
    ["$#E1$ = Search[x]"],
    ['{"#E1": "Search[x]",'],
    ["1 = Search[x]"]
  ])("%j", (line) => {
    const alone = readPlan(line)
    expect(alone.issues.length).toBeGreaterThan(0)
    const among = readPlan(`Plan: a\n#E8 = A[x]\n${line}\nPlan: b\n#E9 = A[y]`)
    expect(among.issues.length).toBeGreaterThan(0)
    expect(among.issues.some((issue) => issueMessage(issue).includes("#E1 = Tool[input]"))).toBe(true)
    if (line.startsWith("Plan:")) return
    // Behind a `Plan:` it stands where a reason goes on, and the step below it must not hide it.
    expect(readPlan(`${line}\n#E9 = A[y]`).issues).not.toEqual([])
    expect(readPlan(`Plan: a\n${line}\nPlan: b\n#E9 = A[y]`).issues).not.toEqual([])
  })
  it.each([
    ["Plan: With #E1, #E2 = LLM[sum up #E1]"],
    ["Plan: take arr[0] of #E1\n#E2 = LLM[x]"],
    ["Plan: in short,\nuse arr[0] of #E1\n#E2 = LLM[x]"],
    ["Plan: as [1] says of #E1 (and so on)\n#E2 = LLM[x]"],
    ["Here #E1 = the results.\n#E2 = LLM[x]"],
    ["The answer is in #E1 (see above).\n#E2 = LLM[x]"]
  ])("but %j has no issue", (text) => {
    expect(readPlan(`#E1 = Search[cats]\n${text}`)).toMatchObject({
      steps: [{ variable: "#E1" }, { variable: "#E2" }],
      issues: []
    })
  })
})

describe("validate", () => {
  it("gives the steps with resolved tool names", () => {
    expect(Either.getOrThrow(check("#E1 = search[x]\n#E2 = llm[#E1]")).map((step) => step.tool)).toEqual([
      "Search",
      "LLM"
    ])
  })
  it("finds everything at once", () => {
    const text = [
      "E0 = Search[x]",
      "#E1 = Search[#E9]",
      "#E1 = Nope[x]",
      "#E2 = LLM[#E2]",
      "#E3 = LLM[#E4]",
      "#E4 = LLM[x]"
    ].join("\n")
    expect(issuesOf(text, { maxPlanLength: 3 }).map((issue) => issue._tag)).toEqual([
      "Unreadable",
      "TooLong",
      "DuplicateVariable",
      "UnknownVariable",
      "UnknownTool",
      "LaterVariable",
      "Cycle"
    ])
  })
  it.each([[""], ["I cannot plan this."], ["Plan: think hard"]])("%j is empty", (text) => {
    expect(issuesOf(text)).toEqual([{ _tag: "Empty" }])
  })
  it("accepts a plan of exactly the most steps", () => {
    expect(issuesOf("#E1 = Search[x]\n#E2 = Search[y]", { maxPlanLength: 2 })).toEqual([])
  })
  it("a step that leads into a cycle is not part of it", () => {
    expect(issuesOf("#E1 = LLM[#E2]\n#E2 = LLM[#E1]\n#E3 = LLM[#E1]\n#E4 = LLM[#E4]")).toEqual([
      { _tag: "Cycle", variables: ["#E1", "#E2"] },
      { _tag: "Cycle", variables: ["#E4"] }
    ])
  })
  it("has a message for every issue that names what is wrong", () => {
    const issues: ReadonlyArray<readonly [PlanIssue, string]> = [
      [{ _tag: "Unreadable", line: "E1 = A[x]", at: 0, why: "write it anew." }, "E1 = A[x]"],
      [{ _tag: "Empty" }, "#E1 = Tool[input]"],
      [{ _tag: "TooLong", length: 9, max: 8 }, "at most 8"],
      [{ _tag: "DuplicateVariable", variable: "#E1" }, "#E1"],
      [{ _tag: "UnknownVariable", variable: "#E7", mentionedBy: "#E2" }, "#E7"],
      [{ _tag: "LaterVariable", variable: "#E3", mentionedBy: "#E2" }, "#E3"],
      [{ _tag: "Cycle", variables: ["#E1", "#E2"] }, "#E1, #E2"],
      [{ _tag: "Cycle", variables: ["#E1"] }, "uses itself"],
      [{ _tag: "UnknownTool", variable: "#E1", tool: "X", available: ["A", "B"] }, "A, B"],
      [{ _tag: "AmbiguousTool", variable: "#E1", tool: "X", candidates: ["x", "X "] }, "exact name"]
    ]
    for (const [issue, part] of issues) expect(issueMessage(issue)).toContain(part)
  })
})

const safe = fc.stringMatching(/^[a-z][a-z0-9 ,.']{0,12}$/).map((text) => text.trim())
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "#E1",
        "#E2 = ",
        "#E3 = Search[",
        "Plan:",
        "Plan 2: ",
        "Question: ",
        "Evidence:",
        "[",
        "]",
        "(",
        ")",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        "=",
        ":",
        "**",
        "`",
        "{",
        "}",
        "#",
        "1."
      ),
      fc.string({ maxLength: 6, unit: "grapheme" })
    ),
    { maxLength: 60 }
  )
  .map((parts) => parts.join(""))

describe("laws", () => {
  it("a written plan is read back", () => {
    const step = fc.record({ reason: safe, tool: fc.stringMatching(/^[A-Z][a-z]{0,8}$/), input: safe })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.constantFrom("\n", " "), (steps, gap) => {
        const text = steps
          .map(({ input, reason, tool }, index) => `Plan: ${reason}${gap}#E${index + 1} = ${tool}[${input}]`)
          .join("\n")
        const reading = readPlan(text)
        expect(reading.issues).toEqual([])
        expect(reading.steps.map(({ input, reason, tool }) => ({ input, reason, tool }))).toEqual(steps)
      }),
      { numRuns }
    )
  })
  it("JSON inputs survive", () => {
    fc.assert(
      fc.property(fc.array(fc.object({ maxDepth: 2 }), { minLength: 1, maxLength: 4 }), (values) => {
        const inputs = values.map((value) => JSON.stringify(value))
        fc.pre(inputs.every((input) => !/#[eE]\d|^""/.test(input)))
        const text = inputs.map((input, index) => `#E${index + 1} = Tool[${input}]`).join("\n")
        expect(readPlan(text).steps.map((step) => step.input)).toEqual(inputs)
      }),
      { numRuns }
    )
  })
  it("every string is read, and nothing is invented", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { issues, steps } = readPlan(text)
        for (const step of steps) {
          expect(text).toContain(step.reason)
          expect(text).toContain(step.tool)
          expect(text).toContain(step.input)
          expect(text.toUpperCase()).toContain(step.variable)
          expect(
            step.pieces
              .map((piece) => (typeof piece === "string" ? piece : piece.variable))
              .join("")
              .toUpperCase()
          ).toBe(step.input.toUpperCase())
        }
        for (const issue of issues) expect(issueMessage(issue)).not.toBe("")
        validate({ issues, steps }, { availableTools: [], maxPlanLength: 8, resolveTool: (name) => Either.right(name) })
      }),
      { numRuns }
    )
  })
  it("no label with a call is lost: it is a step, an issue, or part of an input", () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 3 }), (parts) => {
        const text = parts.join("\n#E7 = Keep[me]\n")
        const { issues, steps } = readPlan(text)
        const kept = steps.filter((step) => step.variable === "#E7" && step.tool === "Keep").length
        const inside = steps.filter((step) => step.input.includes("#E7 = Keep[")).length
        expect(kept + inside + issues.length).toBeGreaterThanOrEqual(parts.length > 1 ? 1 : 0)
      }),
      { numRuns }
    )
  })
  it("a line with a variable and a `Word[…]` is a step or an issue", () => {
    const before = fc.constantFrom("", "(", "[", "<", '"', "- ", "1. ", "x", "Use ", "\\", "$", "~", "| ", "#")
    const label = fc.constantFrom("#E1", "#e1", "#E01", "#E1)", "#E1]", "#E1, #E2", "#E1 and", "#E1.", "#E1's")
    const between = fc.oneof(
      fc.constantFrom("=", " = ", ":", "->", ") = ", "] = ", " is ", " will be set to ", " ", "≔", " <- ", "|"),
      fc.string({ maxLength: 4, unit: "grapheme-ascii" })
    )
    const call = fc.constantFrom("Search[cats]", "Web Search[cats]", '"Search"[cats]', "Search[cats", "f[0]")
    const behind = fc.constantFrom("", ".", " to find cats", ")", "`", " (cats)", "; then")
    fc.assert(
      fc.property(before, label, between, call, behind, (...parts) => {
        const line = parts.join("")
        for (const text of [`${line}\n#E8 = Keep[me]`, `#E7 = Keep[me]\n${line}\n#E8 = Keep[me]`]) {
          const { issues, steps } = readPlan(text)
          const read = steps.some((step) => !["#E7", "#E8"].includes(step.variable))
          expect(read || issues.length > 0 ? "kept" : text).toBe("kept")
        }
      }),
      { numRuns }
    )
  })
  it("a cut plan is a prefix of the plan, with at most the last step changed", () => {
    const text = 'Plan: a\n#E1 = A[x y]\nPlan: b\n#E2 = B[#E1 z]\nPlan: c\n#E3 = C[{"k": "v"}]'
    const whole = calls(text)
    for (let length = 0; length <= text.length; length += 1) {
      const cut = calls(text.slice(0, length))
      expect(cut.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, cut.length - 1)))
    }
  })
})

const data = fileURLToPath(new URL("../../../../shared/data", import.meta.url))
const load = (path: string): unknown => JSON.parse(readFileSync(`${data}/${path}`, "utf8"))

describe.skipIf(!existsSync(`${data}/rewoo`) || !existsSync(`${data}/langgraph`))(
  "recorded plans (skipped where ../shared/data beside the project is absent)",
  () => {
    it("reads every exemplar plan", () => {
      const exemplars = load("rewoo/rewoo_exemplar_plans.json")
      if (typeof exemplars !== "object" || exemplars === null) throw new Error("not an object")
      let plans = 0
      for (const text of Object.values(exemplars)) {
        for (const plan of String(text).split(/^(?=Question:)/m)) {
          if (!plan.includes("#E1")) continue
          plans += 1
          const { issues, steps } = readPlan(plan)
          expect(issues).toEqual([])
          expect(steps).toHaveLength([...plan.matchAll(/^#E\d+ = /gm)].length)
          for (const step of steps) expect(step.reason).not.toBe("")
          expect(
            validate({ issues, steps }, { availableTools: [], maxPlanLength: 8, resolveTool: Either.right })._tag
          ).toBe("Right")
        }
      }
      expect(plans).toBeGreaterThanOrEqual(9)
    })
    it("reads the recorded plans of LangGraph", () => {
      const text = JSON.stringify(load("langgraph/recorded_runs.json"))
      const plans = [...text.matchAll(/"plan_string":("(?:[^"\\]|\\.)*")/g)].map((match) =>
        String(JSON.parse(match[1] ?? '""'))
      )
      expect(plans).toHaveLength(2)
      expect(plans.map((plan) => readPlan(plan).steps.length)).toEqual([4, 2])
      for (const plan of plans) expect(tags(plan)).toEqual([])
    })
  }
)
