import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as NumberedList from "../src/reply/NumberedList.js"
import { visible } from "../src/reply/ReplyText.js"

const numRuns = Number(process.env["FORETHOUGHT_RUNS"] ?? 1000)

/** The steps, or the problem. */
const outcome = (text: string) =>
  Either.match(NumberedList.read(text), { onLeft: (error) => error.problem, onRight: (steps) => steps })

describe("reported failures", () => {
  it("PE-02: indentation before the numbers", () => {
    expect(outcome("Plan:\n   1. Add the two invoices\n   2. Report the sum")).toEqual([
      "Add the two invoices",
      "Report the sum"
    ])
  })
  it.each(["1.", "1)", "(1)", "1 -", "1:", "1、", "1．"])("PE-03: numbers written %j", (label) => {
    const reply = `Plan:\n${label} Fetch the tide table\n${label.replace("1", "2")} Pick the lowest tide`
    expect(outcome(reply)).toEqual(["Fetch the tide table", "Pick the lowest tide"])
  })
  it("PE-05: bold marks, step prefixes and bullets before numbers", () => {
    expect(outcome("**Step 1: Find the depot** – use the map tool\n- **2. Count the vans**")).toEqual([
      "Find the depot – use the map tool",
      "Count the vans"
    ])
  })
  it("PE-06: indented numbers stay in their step", () => {
    const reply = "Plan:\n1. Prepare the order\n   1. pick the colour\n   2. pick the size\n2. Place the order"
    expect(outcome(reply)).toEqual(["Prepare the order\n1. pick the colour\n2. pick the size", "Place the order"])
  })
  it("PE-07: a number inside a sentence is no step", () => {
    expect(outcome("We are already on version 3. Then nothing else is needed.")).toBe("no_list")
  })
  it("PE-09: a closing paragraph is in no step", () => {
    const reply = "Plan:\n1. Find the opening hours\n2. Write the sign\n\nThat covers everything. Shall I begin?"
    expect(outcome(reply)).toEqual(["Find the opening hours", "Write the sign"])
  })
  it("PE-10: sentences before the list are no steps", () => {
    const reply = "Sure! I will keep it short. The plan has two parts.\n1. Read the meter\n2. File the reading"
    expect(outcome(reply)).toEqual(["Read the meter", "File the reading"])
  })
  it("PE-11: a list without text is an empty plan", () => {
    expect(outcome("1. \n2. \n3. ")).toBe("empty_plan")
  })
  it("PE-12: a refusal is no list, and the error carries it", () => {
    const reply = "No plan is needed: I cannot do this with the tools given."
    const error = Either.getOrThrow(Either.flip(NumberedList.read(reply)))
    expect(error.problem).toBe("no_list")
    expect(error.reply).toBe(reply)
  })
  it.each(["计划：\n第一步：查询车次\n第二步：比较票价", "一、查询车次\n二、比较票价", "（1）查询车次\n（2）比较票价"])(
    "PE-14: Chinese numbering: %j",
    (reply) => {
      expect(outcome(reply)).toEqual(["查询车次", "比较票价"])
    }
  )
  it("PE-15: an array with apostrophes and mixed quotes", () => {
    expect(outcome("[\"Choisir l'hôtel\", 'Réserver le train']")).toEqual(["Choisir l'hôtel", "Réserver le train"])
    expect(outcome("['Choisir l'hôtel', 'Réserver le train']")).toBe("malformed")
  })
  it("PE-16: steps in thinking are no steps", () => {
    expect(outcome("<think>Perhaps 1. call search 2. read the page. Hmm.</think>")).toBe("empty_reply")
  })
})

const ab = ["a b", "c d"]

describe("reported failures, and others of their kind", () => {
  const tables: Readonly<Record<string, ReadonlyArray<readonly [reply: string, outcome: unknown]>>> = {
    "PE-06: sub-items that are indented by one space": [
      ["1. a b\n 1. x\n 2. y\n2. c d", ["a b\n1. x\n2. y", "c d"]],
      ["1. a b\n 1) x\n 2) y\n2. c d", ["a b\n1) x\n2) y", "c d"]],
      ["Plan:\n 1. a b\n  1. x\n  2. y\n 2. c d", ["a b\n1. x\n2. y", "c d"]],
      ["1. a b\n2. c d\n 1. x\n 2. y\n 3. z", ["a b", "c d\n1. x\n2. y\n3. z"]],
      ["1. a b\n\n 1. x\n\n 2. y\n\n2. c d", ["a b\n1. x\n2. y", "c d"]],
      ["**1. a b**\n 1. x\n 2. y\n**2. c d**", ["a b\n1. x\n2. y", "c d"]],
      ["Step 1: a b\n Step 1: x\n Step 2: y\nStep 2: c d", ["a b\nStep 1: x\nStep 2: y", "c d"]],
      ["1. a b\n 1. x\n  1. z\n 2. y\n2. c d", ["a b\n1. x\n 1. z\n2. y", "c d"]],
      ["1. a b\n   1. x\n   2. y\n 2. c d", ["a b\n1. x\n2. y", "c d"]],
      ["1. a b\n 2. c d", ab],
      [" 1. a b\n1. c d", ab]
    ],
    "PE-07: numbers that wrapped prose puts at the start of a line": [
      ["Revenue rose by 5.\n3. Nothing.", "no_list"],
      ["On May\n3. we leave.\n4. we return.", "no_list"],
      ["On May\n3. we leave.\n\n4. we return.", "no_list"],
      ["It took until\n2) and then it ended!", "no_list"],
      ["We paid 4.\n(5) That is all.", "no_list"],
      ["The rise was 5.\n3: nothing.\n4: all.", "no_list"],
      ["We saw it in\nStep 3: it failed.", "no_list"],
      ["See 2.\n**3.** Not here.", "no_list"],
      ["On May\n3. we leave.\n1. a b\n2. c d", ab],
      ["1. a b\n2. c d\n\nAll is done by May\n5. Then we rest.", ab],
      ["It failed.\nStep 3: a b\nStep 4: c d", ab],
      ["What remains:\n3. a b\n4. c d", ab],
      ["Two steps remain.\n\n3. a b\n4. c d", ab],
      ["It starts at zero.\n0. a b\n1. c d", ab]
    ],
    "PE-09: closing remarks behind steps with paragraphs": [
      ["1. a b\n\nDetail.\n\n2. c d\n\nShall I begin?", ["a b\nDetail.", "c d"]],
      ["1. a b\n\nDetail.\n\n2. c d\n\nLet me know!\n\nBye.", ["a b\nDetail.", "c d"]],
      ["1. **a b**\n\nDetail.\n\n2. **c d**\n\nThat is all.", ["a b\nDetail.", "c d"]],
      ["Step 1: a b\n\nDetail.\n\nStep 2: c d\n\nReady?", ["a b\nDetail.", "c d"]],
      ["- a b\n\n- c d\n\nReady?", ab],
      ["一、a b\n\nDetail.\n\n二、c d\n\n可以开始吗？", ["a b\nDetail.", "c d"]],
      ["1. a b\n\nDetail.\n\n2. c d\n\n   more\n\nReady?", ["a b\nDetail.", "c d\nmore"]],
      ["**Step 1: a b**\n\nDetail.\n\n**Step 2: c d**\n\nMore.\n\nReady?", ["a b\nDetail.", "c d\nMore."]],
      ["## 1. a b\n\n## 2. c d\n\nReady?", ab]
    ],
    "PE-11: items that say that there is no step": [
      ["1. N/A", "empty_plan"],
      ["1. None", "empty_plan"],
      ["1. None.", "empty_plan"],
      ["1. **None**", "empty_plan"],
      ["1. No steps needed", "empty_plan"],
      ["1. No further steps are required.", "empty_plan"],
      ["1. No action needed.\n2. Nothing to do.", "empty_plan"],
      ["Plan:\n- n/a", "empty_plan"],
      ["1. 无", "empty_plan"],
      ["1. 无需任何步骤。", "empty_plan"],
      ['["None"]', "empty_plan"],
      ['{"steps":["No steps needed"]}', "empty_plan"],
      ['["N/A","a b"]', ["a b"]],
      ["1. a b\n2. N/A\n3. c d", ab],
      [
        "1. None of the rooms: find another\n2. No action film: drop it",
        ["None of the rooms: find another", "No action film: drop it"]
      ],
      ["1. Note the time\n2. Null the counter", ["Note the time", "Null the counter"]]
    ],
    "PE-14: Chinese steps with a space behind them": [
      ["第一步 查询\n第二步 比较", ["查询", "比较"]],
      ["计划：\n第1步 查询\n第2步 比较", ["查询", "比较"]],
      ["**第一步** 查询\n**第二步** 比较", ["查询", "比较"]],
      ["步骤一　查询\n步骤二　比较", ["查询", "比较"]],
      ["步骤 1 查询\n步骤 2 比较", ["查询", "比较"]],
      ["1단계 조회\n2단계 비교", ["조회", "비교"]],
      ["ステップ1 調べる\nステップ2 比べる", ["調べる", "比べる"]],
      ["第二步 失败了。", "no_list"],
      ["第一步 失败了，请重试。", "no_list"]
    ],
    "PE-03: labels that count where no other does": [
      ["[1] a b\n[2] c d", ab],
      ["【1】a b\n【2】c d", ab],
      ["Plan:\n[1]: a b\n[2]: c d", ab],
      ["**[1]** a b\n**[2]** c d", ab],
      ["1 . a b\n2 . c d", ab],
      ["1 ) a b\n2 ) c d", ab],
      ["Stage 1: a b\nStage 2: c d", ab],
      ["Phase 1: a b\nPhase 2: c d", ab],
      ["**Phase 1:** a b\n**Phase 2:** c d", ab],
      ["**Phase 1**: a **b**\n**Phase 2: c d**", ["a **b**", "c d"]],
      ["## Stage 1 - a b\n\n## Stage 2 - c d", ab],
      ["Stage 1: a b\n  more\nStage 2: c d\n\nReady?", ["a b\nmore", "c d"]],
      ["Phase 1: x\n1. a\n2. b\n\nPhase 2: y\n1. c", ["a", "b", "c"]],
      ["Phase 1: x\n- a\n- b\n\nPhase 2: y\n- c", ["a", "b", "c"]],
      ["1. a b\n2. c d\n\nSources:\n[1] x\n[2] y", ab],
      ["It cannot be said.\n[1] x\n[2] y", "no_list"],
      ["Sources:\n[1] x\n[2] y", "no_list"],
      ["[1] is what I read.", "no_list"],
      ["[2] a b\n[4] c d", "no_list"],
      ["It is about\n3 . 14 or so", "no_list"]
    ],
    "several steps on one line": [
      ["1、a b 2、c d", ab],
      ["1．a b 2．c d", ab],
      ["(1) a b (2) c d", ab],
      ["① a b ② c d", ab],
      ["Step 1: a b Step 2: c d", ab],
      ["第一步：a b 第二步：c d", ab],
      ["1. Solve (2) for x", ["Solve (2) for x"]],
      ["1. Do it as in step 2.", ["Do it as in step 2."]],
      ["1. Wait 2、3 days\n2. c d", ["Wait 2、3 days", "c d"]]
    ],
    "PE-25: an element of an array that holds a list": [
      ['["1. a b\\n2. c d"]', ab],
      ['{"steps":["1. a b\\n2. c d"]}', ab],
      ['["1) a b\\n2) c d"]', ab],
      ['["- a b\\n- c d"]', ab],
      ['["Plan:\\n1. a b\\n2. c d"]', ab],
      ['["1. a b\\n2. c d\\n\\nReady?"]', ab],
      ['["Step 1: a b\\nStep 2: c d"]', ab],
      ['["1. a b\\n   - x\\n2. c d", "3. e"]', ["a b\n- x", "c d", "3. e"]],
      ['["x", "2. a b\\n3. c d"]', ["x", "a b", "c d"]],
      ['[{"step":1,"task":"1. a b\\n2. c d"}]', ab],
      ['["a b:\\n1. x\\n2. y", "c d"]', ["a b:\n1. x\n2. y", "c d"]],
      ['["1. a b\\n1.1 x", "2. c d"]', ["a b\n1.1 x", "c d"]],
      ['["a b\\nmore"]', ["a b\nmore"]],
      ['["1. a b 2. c d"]', ["1. a b 2. c d"]]
    ]
  }
  for (const [kind, table] of Object.entries(tables)) {
    describe(kind, () => {
      it.each(table)("%j", (reply, expected) => {
        expect(outcome(reply)).toEqual(expected)
      })
    })
  }
})

const three = ["Open the file", "Count the rows", "Report the count"]
const [first = "", second = "", third = ""] = three

describe("VR-02: a plan on one line", () => {
  const labels: ReadonlyArray<readonly [string, string, string]> = [
    ["1.", "2.", "3."],
    ["1)", "2)", "3)"],
    ["(1)", "(2)", "(3)"],
    ["1:", "2:", "3:"],
    ["1.)", "2.)", "3.)"],
    ["1 -", "2 -", "3 -"],
    ["1、", "2、", "3、"],
    ["1．", "2．", "3．"],
    ["（1）", "（2）", "（3）"],
    ["#1:", "#2:", "#3:"],
    ["01.", "02.", "03."],
    ["①", "②", "③"],
    ["1️⃣", "2️⃣", "3️⃣"],
    ["Step 1:", "Step 2:", "Step 3:"],
    ["step 1.", "step 2.", "step 3."],
    ["STEP 1 -", "STEP 2 -", "STEP 3 -"],
    ["Step One:", "Step Two:", "Step Three:"],
    ["Step 1 of 3:", "Step 2 of 3:", "Step 3 of 3:"],
    ["Step 1:", "Step 2:", "Step 3 (final):"],
    ["(Step 1)", "(Step 2)", "(Step 3)"],
    ["Step 1 →", "Step 2 →", "Step 3 →"],
    ["Schritt 1:", "Schritt 2:", "Schritt 3:"],
    ["Étape 1 :", "Étape 2 :", "Étape 3 :"],
    ["Paso 1:", "Paso 2:", "Paso 3:"],
    ["Шаг 1:", "Шаг 2:", "Шаг 3:"],
    ["第一步：", "第二步：", "第三步："],
    ["第1步：", "第2步：", "第3步："],
    ["步骤一：", "步骤二：", "步骤三："],
    ["一、", "二、", "三、"],
    ["（一）", "（二）", "（三）"],
    ["ステップ1：", "ステップ2：", "ステップ3："],
    ["1단계:", "2단계:", "3단계:"],
    ["**1.**", "**2.**", "**3.**"],
    ["**1**.", "**2**.", "**3**."],
    ["**Step 1:**", "**Step 2:**", "**Step 3:**"],
    ["__1.__", "__2.__", "__3.__"],
    ["[1]", "[2]", "[3]"],
    ["Phase 1:", "Phase 2:", "Phase 3:"],
    ["第一步", "第二步", "第三步"],
    ["1.", "2.", "Final step:"],
    ["Step 1:", "Step 2:", "Last step:"]
  ]
  it.each(labels)("VR-02: labels %s %s %s", (one, two, last) => {
    const plan = (joint: string) => `${one} ${first}${joint}${two} ${second}${joint}${last} ${third}`
    for (const joint of [" ", "; ", ", ", "  ", ";", " → "]) {
      // A bare Chinese label needs its blank, and `;` cannot stand right before one that is weak.
      if (joint === ";" && ["[1]", "Phase 1:", "第一步"].includes(one)) continue
      expect(outcome(plan(joint))).toEqual(three)
      expect(outcome(`Plan: ${plan(joint)}`)).toEqual(three)
      expect(outcome(`Here is the plan:\n\n${plan(joint)}\n\nShall I begin?`)).toEqual(three)
    }
    expect(outcome(plan(". "))).toEqual([`${first}.`, `${second}.`, third])
    expect(Either.getOrThrow(NumberedList.readPlan(plan(" "))).isInline).toBe(true)
  })
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ["1. Open the file 2. Count the rows 3. Report the count", three],
    ["Step 1: Open the file Step 2: Count the rows", [first, second]],
    ["(1) Open (2) Count (3) Report", ["Open", "Count", "Report"]],
    ["1.Open 2.Count 3.Report", ["Open", "Count", "Report"]],
    ["(1) open, (2) count, and (3) report", ["open", "count", "report"]],
    ["1. Open, then 2. Count, and then 3. Report", ["Open", "Count", "Report"]],
    ["- 1. Open 2. Count", ["Open", "Count"]],
    ["> 1. Open 2. Count", ["Open", "Count"]],
    ["**1. Open 2. Count**", ["Open", "Count"]],
    ["**1. Open** **2. Count**", ["Open", "Count"]],
    ["## 1. Open 2. Count", ["Open", "Count"]],
    ["```\n1. Open 2. Count\n```", ["Open", "Count"]],
    ["<plan>1. Open 2. Count</plan>", ["Open", "Count"]],
    ["1. Open 2. Count 3. Report <end_plan>", ["Open", "Count", "Report"]],
    ["Here is the plan. 1. Open the file. 2. Count the rows.", ["Open the file.", "Count the rows."]],
    ["1. Add 17 and 25 2. Multiply by 3", ["Add 17 and 25", "Multiply by 3"]],
    ["1. Open 2. Count\n3. Report", ["Open", "Count", "Report"]],
    ["1. Open 2. Count\n3. Report 4. Send", ["Open", "Count", "Report", "Send"]],
    ["1. 打开文件 2. 统计行数", ["打开文件", "统计行数"]],
    ["第一步：打开文件第二步：统计行数", ["打开文件", "统计行数"]],
    ["1. Look up RFC 2. Report", "inline_list"],
    ["1. Look up RFC 2. Report 3. Stop", ["Look up RFC", "Report", "Stop"]],
    ["1. Fetch 2. Count Final step: Report", ["Fetch", "Count", "Report"]],
    ["1. Open the file | 2. Count the rows", [first, second]],
    ["1. Open the file;2. Count the rows", [first, second]],
    ["1. Multiply 2. 5 times", "inline_list"],
    ["Multiply 2. 5 times", "no_list"],
    ["see 1. above and 3. below", "no_list"],
    ["1. see 1. above and 3. below", ["see 1. above and 3. below"]],
    ["1. Open 3. Count", ["Open 3. Count"]],
    ["1. Open 2. Count 2. Report", "inline_list"],
    ["1. Open 2. Count 4. Report", "inline_list"],
    ["1. Open 2. Count 1. Report", "inline_list"],
    ["2. Open 3. Count", ["Open 3. Count"]],
    ["1. Open 2. 3. Report", "inline_list"],
    ["1. Open 2.", ["Open 2."]],
    ["1. Install version 2. Then restart", "inline_list"],
    ["1. Look at fig. 2. Then stop", "inline_list"],
    ["1. Multiply by 2. Then add", "inline_list"],
    ["1. Compare 1 and 2. Report", "inline_list"],
    ["1. Read page 2. Report", "inline_list"],
    ["1. Multiply 2. by five", "inline_list"],
    ["1. Open 2) Count", "inline_list"],
    ["1. Compare (1) cost and (2) time 2. Report", "inline_list"],
    ["1. Open\n   2. Count 3. Report", expect.anything()],
    ["1. Solve (2) for x", ["Solve (2) for x"]],
    ["1. Wait 2、3 days", "inline_list"],
    ["1. Do it as in Step 2: fast", "inline_list"],
    ["Step 1: Repeat as in Step 2: Stop", "inline_list"],
    ["1. Say 2.5 or 3. 4\n2. c d", ["Say 2.5 or 3. 4", "c d"]],
    ["We start with 1. a b.\n2. c d", "inline_list"],
    ["I cannot plan this: 1. no tool 2. no time", "inline_list"],
    ["It has two parts. 1. Open. 2. Count.", "no_list"],
    ["1. a\n3. b", ["a", "b"]]
  ]
  it.each(table)("VR-02: %j", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it("VR-02: a plan with a step a line is not said to stand on one", () => {
    expect(Either.getOrThrow(NumberedList.readPlan("1. Open\n2. Count"))).toEqual({
      steps: ["Open", "Count"],
      isInline: false
    })
  })
})

describe("VR-12: a last step under a label of its own", () => {
  const last =
    "Final step:|final step:|Last step:|The final step:|Final step -|Final step –|**Final step:**|**Final Step**:|*Last step:*|- Final step:|- **Final step:**|Step 3 (final):|Step 3 (last):|Step 3 (final step):|**Step 3 (final):**|Step 3, final:|Step 3 – final:|3. |Final step (3):|Final step (step 3):|Final step 3:|Step N:|Final task:|Last action:|Finally:|**Finally:**|Lastly:|And finally:|Last:|Final:|Last but not least:|Then finally:|Final step (3/3):|Step 3/3 (final):|Letzter Schritt:|Schritt 3 (letzter):|Zum Schluss:|Abschließend:|Dernière étape :|Étape 3 (finale) :|Enfin :|Último paso:|Paso final:|Por último:|Finalmente:|Passo finale:|Infine:|Passo final:|Por fim:|Laatste stap:|Ten slotte:|Ostatni krok:|Son adım:|Последний шаг:|Наконец:|最后一步：|第三步（最后）：|最后：|最後のステップ：|最後に：|마지막 단계:|마지막으로:|Langkah terakhir:|Bước cuối:|### Final step:|## Final step -".split(
      "|"
    )
  it.each(last)("VR-12: %s", (label) => {
    const steps = ["Fetch", "Count", "Report the count"]
    for (const [one, two] of [
      ["1. ", "2. "],
      ["Step 1: ", "Step 2: "],
      ["**1.** ", "**2.** "]
    ]) {
      if (label === "3. " && one !== "1. ") continue
      const lines = [`${one}Fetch`, `${two}Count`, `${label} Report the count`]
      expect(outcome(lines.join("\n"))).toEqual(steps)
      expect(outcome(lines.join("\n\n"))).toEqual(steps)
      expect(outcome(`Plan:\n${lines.join("\n")}\n\nShall I begin?`)).toEqual(steps)
      expect(outcome(lines.map((line) => `  ${line}`).join("\n"))).toEqual(steps)
    }
  })
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ["1. a b\n**Final step: c d**", ab],
    ["1. a b\n**Final step**\nc d", ab],
    ["1. a b\n\n### Final step\n\nc d", ab],
    ["1. a b\nFinal step:\n   c d", ab],
    ["1. a b\nFinal step: c d\n   - x", ["a b", "c d\n- x"]],
    ["1. a b\n   Detail.\nLast step: c d", ["a b\nDetail.", "c d"]],
    ["1. a b\n\nDetail.\n\nFinal step: c d", ["a b\nDetail.", "c d"]],
    ["- a b\nFinal step: c d", ab],
    ["- a b\n- Final step: c d", ab],
    ["第一步：查询\n最后一步：比较", ["查询", "比较"]],
    ["1. a b\n2. c d\n\nThat covers it.\n\nFinally: have fun.", ab],
    ["1. a b\n2. c d\n\n## Notes\nFinally: have fun.", ab],
    ["1. a b\n   Final step: x\n2. c d", ["a b\nFinal step: x", "c d"]],
    ["1. a b\n2. Finally: c d", ["a b", "Finally: c d"]],
    ["1. a b\n2. c d\nFinal answer: 5", ["a b", "c d\nFinal answer: 5"]],
    ["1. a b\n2. c d\nFinally we rest.", ["a b", "c d\nFinally we rest."]],
    ["Final step: c d", "no_list"],
    ["Draft:\n1. x\n2. y\n\nFinal plan:\n1. a b\n2. c d", ab]
  ]
  it.each(table)("VR-12: %j", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
})

describe("VR-14: tags around a plan, and marks of its end", () => {
  const marks =
    "</plan>|</Plan>|</plan >|</steps>|</step>|</answer>|</final_answer>|</response>|</output>|</result>|</action_plan>|</tasks>|</list>|<end_plan>|<END_PLAN>|<end_of_plan>|<|end_plan|>|#END-OF-PLAN|#END|# END OF PLAN|[END]|[End of plan]|[/PLAN]|[DONE]|--- END ---|=== END OF PLAN ===|END OF PLAN|End of plan.|END|TERMINATE|[[ ## completed ## ]]|```|</plan>\n```|</plan>\n</response>|<end_plan>\n</answer>".split(
      "|"
    )
  const joined = marks.flatMap((mark, i) =>
    mark === "<" ? [`<|${marks[i + 1]}|>`] : mark === "end_plan" || mark === ">" ? [] : [mark]
  )
  it.each(joined)("VR-14: %j", (mark) => {
    for (const after of ["", "\n", "\n\nThat is all.", "\nThat is all."]) {
      if (after.includes("That") && mark.includes("```")) continue
      expect(outcome(`1. a b\n2. c d\n${mark}${after}`)).toEqual(ab)
      expect(outcome(`Step 1: a b\n\nStep 2: c d\n\n${mark}${after}`)).toEqual(ab)
      expect(outcome(`- a b\n- c d\n${mark}${after}`)).toEqual(ab)
    }
  })
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    ["<plan>\n1. a b\n2. c d\n</plan>", ab],
    ["<plan>1. a b\n2. c d</plan>", ab],
    ["<plan>\n- a b\n- c d\n</plan>", ab],
    ["<plan>\n- a b\n</plan>", ["a b"]],
    ["<foo>\n1. a b\n2. c d\n</foo>", ab],
    ["Sure:\n<plan>\n1. a b\n2. c d\n</plan>\nShall I begin?", ab],
    ["<step>\n1. a b\n</step>\n<step>\n2. c d\n</step>", ab],
    ["1. a b\n2. c d</plan>", ab],
    ["1. a b\n2. c d </plan>", ["a b", "c d </plan>"]],
    ["1. a b\n2. c d <end_plan>", ab],
    ["1. a b\n2. c d #END-OF-PLAN", ab],
    ["1. a b\n2. c d [END]", ab],
    ["1. a b\n2. c d</foo>\n", ["a b", "c d</foo>"]],
    ["1. a b\n2. Write the tag <b>x</b>", ["a b", "Write the tag <b>x</b>"]],
    ["1. a b\n2. Close it with </div>", ["a b", "Close it with </div>"]],
    ["1. Write:\n<div>\nx\n</div>\n2. c d", ["Write:\n<div>\nx\n</div>", "c d"]],
    ["1. a b\n2. Write:\n<div>\nx\n</div>", ["a b", "Write:\n<div>\nx\n</div>"]],
    ["1. a b\n2. Sort the list at the end", ["a b", "Sort the list at the end"]],
    ["1. a b\n2. End of plan review", ["a b", "End of plan review"]],
    ['["a b","c d"]\n</plan>', ab],
    ['<plan>["a b","c d"]</plan>', ab],
    ["</plan>", "no_list"]
  ]
  it.each(table)("VR-14: %j", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
})

describe("VR-03: JSON arrays of objects", () => {
  const items = (...objects: ReadonlyArray<object>) => JSON.stringify(objects)
  const table: ReadonlyArray<readonly [reply: string, outcome: unknown]> = [
    [
      '[{"n":1,"task":"Fetch the list","state":"todo"},{"n":2,"task":"Count it","state":"todo"}]',
      ["Fetch the list", "Count it"]
    ],
    [
      '[{"title":"Fetch","description":"Fetch the list from the store"},{"title":"Count","description":"Count it"}]',
      ["Fetch the list from the store", "Count it"]
    ],
    [
      items({ name: "Fetch", description: "Fetch it" }, { name: "Count", description: "Count it" }),
      ["Fetch it", "Count it"]
    ],
    [
      items(
        { id: "a", task: "a b", status: "pending", tool: "Search" },
        { id: "b", task: "c d", status: "done", tool: "" }
      ),
      ab
    ],
    [items({ step: 1, action: "a b", done: false }, { step: 2, action: "c d", done: true }), ab],
    [items({ step: "1", text: "a b", priority: "high" }, { step: "2", text: "c d", priority: "low" }), ab],
    [items({ step: "Step 1", task: "a b" }, { step: "Step 2", task: "c d" }), ab],
    [items({ instruction: "a b", depends_on: [] }, { instruction: "c d", depends_on: [1] }), ab],
    [items({ Task: "a b", Status: "todo" }, { Task: "c d", Status: "todo" }), ab],
    [items({ task: "a b", reason: "first" }, { task: "c d", reason: "then" }), ab],
    [items({ task: "a b", note: "first" }, { task: "c d", note: "then" }), ab],
    [items({ title: "a b", description: "" }, { title: "c d", description: "" }), ab],
    [items({ title: "a b" }, { title: "c d" }), ab],
    [items({ what: "a b" }, { what: "c d" }), ab],
    [`{"steps":${items({ id: 1, task: "a b", status: "todo" }, { id: 2, task: "c d", status: "todo" })}}`, ab],
    [JSON.stringify(["a b", { task: "c d", state: "todo" }]), ab],
    [items({ task: "a b", action: "search" }, { task: "c d", action: "count" }), "malformed"],
    [items({ step: "a", description: "a b" }, { step: "c", description: "c d" }), "malformed"],
    [items({ name: "a", title: "a b" }, { name: "c", title: "c d" }), "malformed"],
    [items({ task: "a b", note: "x" }, { action: "c d", note: "y" }), "malformed"],
    [items({ title: "a", description: "a b" }, { title: "c d" }), "malformed"],
    [items({ note: "x", remark: "y" }), "missing_keys"],
    [items({ action: "search", query: "cats" }, { action: "search", query: "dogs" }), "malformed"],
    [items({ task: "a b", input: { q: "x" } }, { task: "c d" }), "malformed"],
    [items({ status: "todo" }, { status: "done" }), "malformed"],
    [items({ task: "a b" }, {}), "malformed"],
    ['["Fetch", null, "Report"]', "malformed"],
    ['["Fetch", ["Count"], "Report"]', "malformed"],
    ['["Fetch", 2, "Report"]', "malformed"],
    ['["Fetch", true]', "malformed"],
    ['{"steps":"[\\"a b\\",\\"c d\\"]"}', ab],
    ['{"steps":"1. a b\\n2. c d"}', ab],
    ['{"plan":"1. a b\\n2. c d"}', ab],
    ['{"plan":"to do"}', "malformed"],
    ['{"steps":["a b"],"final_step":"c d"}', ab],
    ['{"steps":["a b","c d"],"last_step":null}', ab],
    ['{"steps":["a b","c d"],"final_step":"None"}', ab]
  ]
  it.each(table)("VR-03: %j", (reply, expected) => {
    expect(outcome(reply)).toEqual(expected)
  })
  it.each([
    ['["Fetch", null, "Report"]', 'item 2 of 3 (index 1), which is not a step: "null"'],
    ['[{"task":"a"},{"task":"b"},{"n":1}]', "item 3 of 3 (index 2)"],
    ['{"steps":["a",{"action":"x","query":"y"}]}', "item 2 of 2 (index 1)"]
  ])("VR-03: %j is refused with the item named", (reply, says) => {
    expect(Either.getOrThrow(Either.flip(NumberedList.read(reply))).message).toContain(says)
  })
})

describe("kinds", () => {
  const tables: Readonly<Record<string, ReadonlyArray<readonly [reply: string, outcome: unknown]>>> = {
    labels: [
      ["1.a b\n2.c d", ab],
      ["1)a b\n2)c d", ab],
      ["(1)a b\n(2)c d", ab],
      ["( 1 ) a b\n( 2 ) c d", ab],
      ["1- a b\n2- c d", ab],
      ["1 – a b\n2 – c d", ab],
      ["1 — a b\n2 — c d", ab],
      ["1 : a b\n2 : c d", ab],
      ["1.) a b\n2.) c d", ab],
      ["1.- a b\n2.- c d", ab],
      ["1\\. a b\n2\\. c d", ab],
      ["１．a b\n２．c d", ab],
      ["１）a b\n２）c d", ab],
      ["1：a b\n2：c d", ab],
      ["①a b\n②c d", ab],
      ["❶ a b\n❷ c d", ab],
      ["1️⃣ a b\n2️⃣ c d", ab],
      ["#1: a b\n#2: c d", ab],
      ["01. a b\n02. c d", ab],
      ["0. a b\n1. c d", ab],
      ["1.\ta b\n2.\tc d", ab],
      ["1.\u00a0a b\n2.\u3000c d", ab],
      ["\u200b1. a b\n\ufeff2. c d", ab],
      ["1. a b\r\n2. c d\r\n", ab]
    ],
    "labels with words": [
      ["Step 1: a b\nStep 2: c d", ab],
      ["STEP 1 - a b\nSTEP 2 - c d", ab],
      ["Step 1. a b\nStep 2. c d", ab],
      ["Step 1) a b\nStep 2) c d", ab],
      ["Step 1 of 2: a b\nStep 2 of 2: c d", ab],
      ["Step 1/2: a b\nStep 2/2: c d", ab],
      ["Step One: a b\nStep Two: c d", ab],
      ["Step #1: a b\nStep #2: c d", ab],
      ["step1: a b\nstep2: c d", ab],
      ["Step 1\na b\nStep 2\nc d", ab],
      ["Step 1:\n  a b\nStep 2:\n  c d", ab],
      ["1. Step 1: a b\n2. Step 2: c d", ab],
      ["(Step 1) a b\n(Step 2) c d", ab],
      ["[Step 1] a b\n[Step 2] c d", ab],
      ["Step 1 → a b\nStep 2 -> c d", ab],
      ["Task 1: a b\nTask 2: c d", ab],
      ["Schritt 1: a b\nSchritt 2: c d", ab],
      ["Étape 1 : a b\nÉtape 2 : c d", ab],
      ["Paso 1: a b\nPaso 2: c d", ab],
      ["Шаг 1: a b\nШаг 2: c d", ab],
      ["ステップ1：a b\nステップ2：c d", ab],
      ["1단계: a b\n2단계: c d", ab],
      ["第1步：a b\n第2步：c d", ab],
      ["第一步、a b\n第二步、c d", ab],
      ["第一，a b\n第二，c d", ab],
      ["步骤一：a b\n步骤二：c d", ab],
      ["步骤 1：a b\n步骤 2：c d", ab],
      ["（一）a b\n（二）c d", ab],
      ["一．a b\n二．c d", ab],
      ["十、a b\n十一、c d", ab]
    ],
    "marks around labels": [
      ["**1.** a b\n**2.** c d", ab],
      ["**1**. a b\n**2**. c d", ab],
      ["**1. a b**\n**2. c d**", ab],
      ["***1. a b***\n***2. c d***", ab],
      ["*1.* a b\n*2.* c d", ab],
      ["__1.__ a b\n__2.__ c d", ab],
      ["_Step 1:_ a b\n_Step 2:_ c d", ab],
      ["**Step 1:** a b\n**Step 2:** c d", ab],
      ["**Step 1** - a b\n**Step 2** - c d", ab],
      ["**第一步：** a b\n**第二步：** c d", ab],
      ["1. **a b**\n2. *c d*", ab],
      ["- 1. a b\n- 2. c d", ab],
      ["* **Step 1**: a b\n* **Step 2**: c d", ab],
      ["• 1) a b\n• 2) c d", ab],
      ["- [ ] 1. a b\n- [x] 2. c d", ab],
      ["1. [ ] a b\n2. [ ] c d", ["[ ] a b", "[ ] c d"]],
      ["### 1. a b\n### 2. c d", ab],
      ["## Step 1: a b\n## Step 2: c d", ab],
      ["> 1. a b\n> 2. c d", ab],
      ["✅ 1. a b\n✅ 2. c d", ab],
      ["🔹 **Step 1:** a b\n🔹 **Step 2:** c d", ab],
      ["1. **a**: b\n2. `c` d", ["**a**: b", "`c` d"]],
      ["1. **a** and **b**\n2. *c* d*", ["**a** and **b**", "*c* d*"]],
      ["1. Call __init__\n2. __init__", ["Call __init__", "__init__"]],
      ["1. ls *.txt\n2. 2 * 3 * 4", ["ls *.txt", "2 * 3 * 4"]]
    ],
    "sub-items and further lines": [
      ["1. a b\n   - x\n   - y\n2. c d", ["a b\n- x\n- y", "c d"]],
      ["1. a b\n- x\n- y\n2. c d", ["a b\n- x\n- y", "c d"]],
      ["1. a b\n\t1. x\n\t2. y\n2. c d", ["a b\n1. x\n2. y", "c d"]],
      ["1. a b\n  a) x\n  b) y\n2. c d", ["a b\na) x\nb) y", "c d"]],
      ["1. a b\n1.1 x\n1.2. y\n2. c d", ["a b\n1.1 x\n1.2. y", "c d"]],
      ["1. a b\n   1. x\n      1. z\n   2. y\n2. c d", ["a b\n1. x\n   1. z\n2. y", "c d"]],
      ["1. a b\n   more\n2. c d", ["a b\nmore", "c d"]],
      ["1. a b\nmore\n2. c d", ["a b\nmore", "c d"]],
      ["1. a b\n\n   more\n\n2. c d", ["a b\nmore", "c d"]],
      ["1. a b\n\nmore\n\n2. c d\n\nBye.", ["a b\nmore", "c d"]],
      ["1. a b\n2. c d\n   - x\n\nBye.", ["a b", "c d\n- x"]],
      ["1. a b\n2. c d\n\n   more", ["a b", "c d\nmore"]],
      ["1. a b:\n```sh\n1. x\n```\n2. c d", ["a b:\n```sh\n1. x\n```", "c d"]],
      ["Step 1: a b:\n1. x\n2. y\n\nStep 2: c d", ["a b:\n1. x\n2. y", "c d"]],
      ["第一步：a b\n1. x\n2. y\n第二步：c d", ["a b\n1. x\n2. y", "c d"]],
      ["一、a b\n（一）x\n（二）y\n二、c d", ["a b\n（一）x\n（二）y", "c d"]],
      ["1. a b\n(1) x\n(2) y\n2. c d", ["a b\n(1) x\n(2) y", "c d"]],
      ["1.\n   a b\n2.\n   c d", ab],
      ["1.\na b\n\n2.\nc d", ab],
      [" 9. a b\n10. c d", ab],
      ["1. a b\n  2. c d", ab],
      ["### Step 1: a\n\nb.\n\n### Step 2: c\n\nd.\n\nBye.", ["a\nb.", "c\nd."]]
    ],
    "prose around the list": [
      ["Plan:\n1. a b\n2. c d", ab],
      ["Plan: 1. a b\n2. c d", ab],
      ["**Plan:** 1. a b\n2. c d", ab],
      ["Here is the plan:\n\n1. a b\n2. c d\n\nLet me know!", ab],
      ["Here is the plan:\n```markdown\n1. a b\n2. c d\n```\nDone.", ab],
      ["```\n1. a b\n2. c d\n```", ab],
      ["~~~text\n1. a b\n2. c d\n~~~", ab],
      ["# Plan\n\n1. a b\n\n2. c d\n\n---\nNotes follow.", ab],
      ["**Plan**\n1. a b\n2. c d\n**Note:** x", ["a b", "c d\n**Note:** x"]],
      ["1. a b\n2. c d\n\n**Notes**\n- x", ab],
      ["1. a b\n2. c d\n## Why\n- x", ab],
      ["It costs 3. That is much.\n\n1. a b\n2. c d", ab],
      ["We are on version\n3. Then nothing is needed.", "no_list"],
      ["The time is\n10:30 and pi is\n3.14 or so", "no_list"],
      ["2024 was good.\n1999. Not so.", "no_list"],
      ["Step 2 failed before, and step 3 too.", "no_list"],
      ["Remaining:\n3. a b\n4. c d", ab],
      ["<think>1. x</think>\n1. a b\n2. c d", ab],
      ["1. x</think>1. a b\n2. c d", ab],
      ["1. a b 2. c d", ab],
      ["Plan: 1. a b 2. c d", ab],
      ["1、a b；2、c d。", ["a b", "c d。"]],
      ["一、a b；二、c d。", ["a b", "c d。"]],
      ["1. Say 2.5 or 3. 4\n2. c d", ["Say 2.5 or 3. 4", "c d"]],
      ["We start with 1. a b.\n2. c d", "inline_list"],
      ["1. a b", ["a b"]]
    ],
    "empty items": [
      ["1. a b\n2.\n3. c d", ab],
      ["1. 1.\n2. 2.", "empty_plan"],
      ["1. ...\n2. …", "empty_plan"],
      ["1. -\n2. **", "empty_plan"],
      ["1) \n2) ", "empty_plan"],
      ["1.\n2.\n3.", "empty_plan"],
      ["第一步：\n第二步：", "empty_plan"],
      ["[]", "empty_plan"],
      ['["", " "]', "empty_plan"],
      ["- \n- ", "empty_plan"],
      ["1. 2+2\n2. c d", ["2+2", "c d"]],
      ["", "empty_reply"],
      ["\u200b \n", "empty_reply"]
    ],
    "headings that are sections": [
      ["## 1. Facts survey\nWe know x.\n\n### 1.1. Given\nx\n\n## 2. Plan\n1. a b\n2. c d", ab],
      ["## 1. Facts survey\nWe know x.\n\n## 2. Plan\n\n1. a b\n2. c d\n\n<end_plan>", ab],
      ["**1. Facts**\nx\n\n**2. Plan:**\n1. a b\n2. c d", ab],
      ["## Plan\n\n### 1. a b\n- x\n\n### 2. c d\n- y", ["a b\n- x", "c d\n- y"]],
      ["Here are 2 steps:\n1. a b\n2. c d", ab],
      ['["a b","c d"]\n```', ab],
      ['```json\n["a b","c d"]\n', ab]
    ],
    "several lists": [
      ["1. a b\n1. c d", ab],
      ["1. a\n2. b\n2. c\n3. d", ["a", "b", "c", "d"]],
      ["1. a\n3. b", ["a", "b"]],
      ["1. a b\n\n1. c d", ab],
      ["Draft:\n1. x\n2. y\n\nFinal plan:\n1. a b\n2. c d", ab],
      ["Draft:\n1. x\n2. y\n\n**Revised plan**\n\n1. a b\n2. c d", ab],
      ["Assumptions:\n1. x\n2. y\n\nPlan:\n1. a b\n2. c d", ab],
      ["## Plan\n1. a b\n2. c d\n\n## Risks\n1. x\n2. y", ab],
      ["1. a b\n2. c d\n\nOnce more:\n1. a b\n2. c d", ab],
      ["Phase 1:\n1. a\n2. b\n\nPhase 2:\n1. c\n2. d", ["a", "b", "c", "d"]],
      ["## Phase 1\n1. a\n2. b\n## Phase 2\n3. c\n4. d", ["a", "b", "c", "d"]],
      ["1. a\n2. b\n\n1. c\n2. d", "several_lists"],
      ["Option A:\n1. a\n2. b\n\nOption B:\n1. c\n2. d", "several_lists"],
      ["Plan A:\n1. a\n2. b\n\nPlan B:\n1. c\n2. d", "several_lists"]
    ],
    bullets: [
      ["- a b\n- c d", ab],
      ["* a b\n* c d", ab],
      ["+ a b\n+ c d", ab],
      ["• a b\n• c d", ab],
      ["– a b\n– c d", ab],
      ["- [ ] a b\n- [ ] c d", ab],
      ["- **a b**\n- **c d**", ab],
      ["- a b\n  - x\n- c d", ["a b\n- x", "c d"]],
      ["Plan:\n- a b\n- c d\n\nBye.", ab],
      ["- a b", ["a b"]],
      ["Plan:\n- a b", ["a b"]],
      ["That is all:\n- I was glad", "no_list"],
      ["I cannot do this:\n- no tool\n- no time", "no_list"],
      ["Considerations:\n- x\n- y\n\nPlan:\n- a b\n- c d", ab],
      ["Notes:\n- x\n- y\n\n1. a b\n2. c d", ab],
      ["-a b\n-c d", "no_list"]
    ],
    JSON: [
      ['["a b","c d"]', ab],
      ['```json\n["a b","c d"]\n```', ab],
      ['Here you go: ["a b", "c d"]', ab],
      ["['a b', 'c d',]", ab],
      ['{"plan":["a b","c d"]}', ab],
      ['{"steps":["a b","c d"]}', ab],
      ['{"Plan":{"steps":["a b","c d"]}}', ab],
      ['{"result":{"steps":["a b","c d"]}}', ab],
      ['{"plan":"to do","steps":["a b","c d"]}', ab],
      ['[{"step":1,"task":"a b"},{"step":2,"task":"c d"}]', ab],
      ['{"steps":[{"step":"1","description":"a b"},{"step":"2","description":"c d"}]}', ab],
      ['["1. a b","2. c d"]', ab],
      ['["Step 1: a b","Step 2: c d"]', ab],
      ['["2. a b","1. c d"]', ["2. a b", "1. c d"]],
      ['["a b",""," ","c d"]', ab],
      ['["it\'s","l\'eau"]', ["it's", "l'eau"]],
      ['[{"task":"a","tool":"b"}]', ["a"]],
      ['[["a b","c d"]]', ab],
      ['[["a b","c d"]', "unfinished"],
      ["[1,2]", "no_list"],
      ['["a b",3]', "malformed"],
      ['["a b","c', "unfinished"],
      ['["a b","c d"', "unfinished"],
      ['{"steps":["a b"', "unfinished"],
      ['{"steps":{"a":1}}', "malformed"],
      ['{"steps":[]}', "empty_plan"],
      ['{"a":1}', "missing_keys"],
      ['["a b"]\n["c d"]', "no_json"]
    ]
  }
  for (const [kind, table] of Object.entries(tables)) {
    describe(kind, () => {
      it.each(table)("%j", (reply, expected) => {
        expect(outcome(reply)).toEqual(expected)
      })
    })
  }
})

// ---------------------------------------------------------------------------------------------------------------
// laws
// ---------------------------------------------------------------------------------------------------------------

const word = fc.constantFrom(
  "find",
  "the",
  "tide",
  "table",
  "3",
  "4.5",
  "l'hôtel",
  "„x“",
  "(a)",
  "查询",
  "#E1",
  "a-b",
  "x_y",
  "https://a.test/x",
  "**b**"
)
const step = fc.array(word, { maxLength: 6 }).map((words) => ["Do", ...words, "now"].join(" "))
const plan = fc.array(step, { minLength: 1, maxLength: 12 })

const chinese = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"]
const shapes: ReadonlyArray<(n: number, text: string) => string> = [
  (n, text) => `${n}. ${text}`,
  (n, text) => `${n}) ${text}`,
  (n, text) => `(${n}) ${text}`,
  (n, text) => `${n}: ${text}`,
  (n, text) => `${n} - ${text}`,
  (n, text) => `${n}、${text}`,
  (n, text) => `${n}．${text}`,
  (n, text) => `Step ${n}: ${text}`,
  (n, text) => `**${n}.** ${text}`,
  (n, text) => `**Step ${n}:** ${text}`,
  (n, text) => `- ${n}. ${text}`,
  (n, text) => `### Step ${n}: ${text}`,
  (n, text) => `> ${n}. ${text}`,
  (n, text) => `第${chinese[n]}步：${text}`,
  (n, text) => `${chinese[n]}、${text}`,
  (n, text) => `（${chinese[n]}）${text}`,
  (_, text) => `1. ${text}`,
  (_, text) => `- ${text}`
]

it("a text of more lines than any plan has is too long; ten thousand lines are not", () => {
  const steps = Array.from({ length: 999 }, (_, i) => `${i + 1}. step ${i + 1}`)
  expect(Either.getOrThrow(NumberedList.read(steps.join("\n\n")))).toEqual(
    steps.map((step) => step.slice(step.indexOf(" ") + 1))
  )
  expect(Either.getOrThrow(NumberedList.read("1. fetch it\n".repeat(10_000))).length).toBe(10_000)
  const result = NumberedList.read("1. a\n".repeat(30_001))
  expect(Either.isLeft(result) && result.left.problem).toBe("too_long")
})

describe("laws", { timeout: 300_000 }, () => {
  it("reads back what was written, in any of its forms", () => {
    const layout = fc.record({
      shape: fc.constantFrom(...shapes),
      indent: fc.constantFrom("", "  ", "    ", "\t"),
      gap: fc.constantFrom("\n", "\n\n", "\r\n"),
      before: fc.constantFrom("", "Plan:\n", "Here is the plan. It is short.\n\n", "<think>1. no</think>", "```\n"),
      after: fc.constantFrom("", "\n", "\n\nThat covers everything.", "\n\n## Note\nnone")
    })
    fc.assert(
      fc.property(plan, layout, (steps, { after, before, gap, indent, shape }) => {
        // One bullet under a sentence is a remark.
        fc.pre(steps.length > 1 || shape(1, "") !== "- ")
        const lines = steps.map((text, i) => indent + shape(i + 1, text))
        const reply = before + lines.join(gap) + (before === "```\n" ? "\n```" : after)
        expect(outcome(reply)).toEqual(steps)
      }),
      { numRuns }
    )
  })

  it("keeps sub-items in their step", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(step, fc.array(step, { maxLength: 3 })), { minLength: 1, maxLength: 6 }),
        (steps) => {
          const reply = steps
            .map(([text, subs], i) => [`${i + 1}. ${text}`, ...subs.map((sub, k) => `   ${k + 1}. ${sub}`)].join("\n"))
            .join("\n")
          expect(outcome(reply)).toEqual(
            steps.map(([text, subs]) => [text, ...subs.map((sub, k) => `${k + 1}. ${sub}`)].join("\n"))
          )
        }
      ),
      { numRuns }
    )
  })

  it("reads back a JSON array", () => {
    fc.assert(
      fc.property(plan, fc.constantFrom("", "Here: ", "```json\n"), (steps, before) => {
        expect(outcome(before + JSON.stringify(steps))).toEqual(steps)
      }),
      { numRuns }
    )
  })

  it("never takes a part of a JSON array for the whole", () => {
    fc.assert(
      fc.property(plan, fc.double({ min: 0, max: 1, noNaN: true }), (steps, share) => {
        const json = JSON.stringify(steps)
        const part = json.slice(0, Math.min(json.length - 1, Math.floor(share * json.length)))
        expect(typeof outcome(part)).toBe("string")
      }),
      { numRuns }
    )
  })

  it("gives steps or an error for every text, and invents nothing", () => {
    const any = fc
      .array(
        fc.constantFrom(
          "1.",
          "2)",
          "Step 1:",
          "- ",
          "**",
          "_",
          "\n",
          "\n\n",
          "  ",
          "a",
          "b c",
          "```",
          "[",
          '"',
          "]",
          "{",
          "}",
          ",",
          "一、",
          "第",
          "#",
          ">",
          "<think>",
          ":",
          "Plan",
          "1️⃣",
          "\ud800"
        ),
        { maxLength: 40 }
      )
      .map((parts) => parts.join(""))
    // Labels and emphasis go, so what is left of a line stands in the reply once those marks are taken out of it.
    const bare = (value: string) => value.replaceAll(/[*_\s\\]/g, "")
    fc.assert(
      fc.property(fc.oneof(any, fc.fullUnicodeString(), fc.string16bits()), (reply) => {
        const steps = NumberedList.read(reply)
        if (Either.isLeft(steps)) return
        expect(steps.right.length).toBeGreaterThan(0)
        for (const text of steps.right) {
          expect(text.trim()).not.toBe("")
          for (const line of text.split("\n")) expect(bare(visible(reply))).toContain(bare(line))
        }
      }),
      { numRuns }
    )
  })
})

describe("line breaks that were escaped once too often", () => {
  it.each([
    ["1. Fetch\\n2. Count", ["Fetch", "Count"]],
    ["- Fetch\\n- Count", ["Fetch", "Count"]],
    ["Step 1: Fetch\\nStep 2: Count", ["Fetch", "Count"]],
    ["1. Print \\n behind each line", ["Print \\n behind each line"]],
    ["1. Split at \\n2. Count\n2. Report", ["Split at \\n2. Count", "Report"]]
  ])("%s", (text, steps) => expect(NumberedList.read(text)).toEqual(Either.right(steps)))
})
