// The words in which a model is told what was wrong with its reply, for each kind of problem. A change of any of them
// changes what models are asked, so it has to be seen here.
import { describe, expect, it } from "@effect/vitest"
import * as Llm from "@forethought/core/Llm"
import { correctionText } from "@forethought/core/Reask"
import { type ParseError, TruncatedReply } from "@forethought/core/ReplyError"
import * as AnswerFormat from "@forethought/core/reply/AnswerFormat"
import * as NumberedList from "@forethought/core/reply/NumberedList"
import * as Verdict from "@forethought/core/reply/Verdict"
import { InvalidPlan } from "@forethought/patterns/Rewoo"
import * as Either from "effect/Either"
import { readDecomposition } from "../src/internal/adapt/parse.js"
import { readDecision } from "../src/internal/planAndExecute/parse.js"
import { readDeclared } from "../src/internal/planAndSolveAgent/dataFlow.js"
import { readTurn } from "../src/internal/react/parse.js"
import { readRoute } from "../src/internal/router/parse.js"

type Reader = (reply: string) => Either.Either<unknown, ParseError>
type Row = readonly [reply: string, problem: string, found: string, expected?: string]

const list =
  'a numbered list with one step per line, such as "1. First step" and "2. Second step", with no other list beside it'
const decision =
  'one JSON object, either {"final_answer": "..."} with the answer as text or {"remaining_steps": ["...", "..."]} with at least one step'
const decomposition =
  'one JSON object {"logic": "and", "sub_steps": ["...", "..."]}, with "and" or "or" as logic and texts as sub-steps'
const route = 'one JSON object {"pattern": "...", "reason": "..."} with one of "react", "adapt" as pattern'
const turn =
  "`Action: <tool>` and `Action Input: <input>` on two lines, or `Final Answer: <answer>`, as plain text without markup"
const declared =
  '{"steps": [{"step": "...", "inputs": [{"step": 1, "output": "..."}], "outputs": ["..."]}]} in which every input names an output of an earlier step'
const verdict = 'a last line "SUCCESS: <the result>" or "FAILURE: <what blocked you>", with the text filled in'
const number = "a single number, written as `Answer: <number>`"
const date = "a single date, written as `Answer: <year>-<month>-<day>`"
const option = "one of the options A, B, written as `Answer: A`"

const tables: ReadonlyArray<readonly [name: string, read: Reader, expected: string, rows: ReadonlyArray<Row>]> = [
  [
    "a plan",
    NumberedList.read,
    list,
    [
      ["I cannot do this.", "no_list", '"I cannot do this."'],
      ["1. \n2. ", "empty_plan", 'a list without any text: "1. \\n2."'],
      ["1. a 2. b", "inline_list", 'several steps on one line: "a 2. b"'],
      ["Plan A:\n1. a\n2. b\n\nPlan B:\n1. c\n2. d", "several_lists", 'several lists, starting with "a" and with "c"']
    ]
  ],
  [
    "a replan",
    (reply) => readDecision(reply, 0),
    decision,
    [
      ["Nearly done.", "no_json", '"Nearly done."'],
      [
        '{"answer":"x"}',
        "missing_keys",
        'an object without "final_answer" or "remaining_steps": "{\\"answer\\":\\"x\\"}" at character 0'
      ],
      ['{"final_answer":{"a":1}}', "bad_answer", 'a final_answer that is not text: "{\\"a\\":1}"'],
      [
        '{"remaining_steps":[1,2]}',
        "bad_steps",
        'remaining_steps that are not a list of texts: item 1 of 2 (index 0), which is not a step: "1" in "[1,2]"'
      ],
      ['{"final_answer":""}', "no_decision", 'neither an answer nor a step: "{\\"final_answer\\":\\"\\"}"'],
      [
        '{"final_answer":"7"} {"final_answer":"8"}',
        "conflict",
        'objects that differ: "{\\"final_answer\\":\\"7\\"}" and "{\\"final_answer\\":\\"8\\"}" at character 0'
      ],
      ['{"final_answer":"7', "unfinished", 'JSON that does not end: "{\\"final_answer\\":\\"7" at character 0'],
      [
        '{"final_answer": "a" "b"}',
        "malformed",
        'JSON that cannot be read: "{\\"final_answer\\": \\"a\\" \\"b\\"}" at character 0'
      ],
      ['{"final_answer":"..."}', "echo", "the format itself, with nothing filled in"],
      [`${'{"a":'.repeat(300)}1${"}".repeat(300)}`, "too_deep", "JSON that is nested too deep at character 1000"]
    ]
  ],
  [
    "a decomposition",
    (reply) => readDecomposition(reply, 0),
    decomposition,
    [
      ["Try A.", "no_json", '"Try A."'],
      [
        '{"logic":"xor","sub_steps":["a","b"]}',
        "bad_logic",
        'another logic: "{\\"logic\\":\\"xor\\",\\"sub_steps\\":[\\"a\\",\\"b\\"]}"'
      ],
      ['{"sub_steps":["a","b"]}', "bad_logic", 'no logic: "{\\"sub_steps\\":[\\"a\\",\\"b\\"]}"'],
      ['{"logic":"and","sub_steps":[]}', "empty_plan", 'no sub-step: "{\\"logic\\":\\"and\\",\\"sub_steps\\":[]}"'],
      [
        '{"logic":"and","sub_steps":[{"a":{}}]}',
        "bad_sub_steps",
        'item 1 of 1 (index 0), which is not a step: "{\\"a\\":{}}"'
      ]
    ]
  ],
  [
    "a route",
    (reply) => readRoute(reply, ["react", "adapt"]),
    route,
    [
      ["Use react.", "no_json", '"Use react."'],
      ['{"pattern":"magic"}', "unknown_pattern", 'the pattern "\\"magic\\""']
    ]
  ],
  [
    "a turn in text",
    readTurn,
    turn,
    [["<tool_call>{}</tool_call>", "tool_call_markup", '"<tool_call>{}</tool_call>"']]
  ],
  [
    "a plan with declared data flow",
    (reply) => readDeclared(reply, []),
    declared,
    [
      [
        '{"steps":[{"step":"A","inputs":[{"step":2,"output":"b"}],"outputs":[]}]}',
        "bad_data_flow",
        "step 1 needs an output of step 2, which is not before it"
      ]
    ]
  ],
  ["a verdict", Verdict.read, verdict, [["I will go on later.", "no_verdict", 'no such line: "I will go on later."']]],
  [
    "a number",
    AnswerFormat.number.read,
    number,
    [
      ["many", "no_number", '"many"'],
      ["9 km at 4 km per hour.", "ambiguous", '"9 km at 4 km per hour."', `${number} and no other candidate`],
      ["Answer: 4 10/3", "malformed", '"4 10/3"', `${number} in full`],
      ["There is not enough information.", "no_answer", '"There is not enough information."']
    ]
  ],
  [
    "a date",
    AnswerFormat.date.read,
    date,
    [
      ["soon", "no_answer", '"soon"'],
      ["Answer: February 30, 2024", "invalid_date", '"February 30, 2024"', `${date} that exists`],
      ["Answer: 03/04/2024", "ambiguous", '"03/04/2024"', `${date} and no other candidate`]
    ]
  ],
  [
    "an option",
    AnswerFormat.option({ A: "11", B: "12" }).read,
    option,
    [
      ["So it cannot be (A) or (B).", "no_option", '"So it cannot be (A) or (B)."'],
      ["A or B", "ambiguous", '"A or B"', `${option} and no other candidate`],
      ["Answer: A (12)", "inconsistent", '"A (12)"', `${option} that agrees with the text beside it`]
    ]
  ]
]

describe.each(tables)("The correction of %s", (_name, read, expected, rows) => {
  it.each(rows.map((row) => ({ row, name: `${JSON.stringify(row[0].slice(0, 60))}: ${row[1]}` })))(
    "$name",
    ({ row }) => {
      const [reply, problem, found, own] = row
      const result = read(reply)
      if (Either.isRight(result)) throw new Error(`was read as ${JSON.stringify(result.right)}`)
      expect(result.left.problem).toBe(problem)
      expect(correctionText(result.left)).toBe(
        `Your reply could not be used.\nExpected ${own ?? expected}, but found ${found}.\nReply again, in the format asked for and with nothing else.`
      )
    }
  )
})

describe("The correction of any reply", () => {
  it("that was cut off", () => {
    expect(correctionText(new TruncatedReply({ text: "1. a", role: "planner" }))).toBe(
      "Your reply was cut off by the length limit. Reply again, complete and shorter, in the format asked for."
    )
  })
  it("that says nothing", () => {
    const reason = Llm.Reason.EmptyReply({ finishReason: "stop", onlyReasoning: true })
    expect(correctionText(new Llm.LlmError({ reason }))).toBe(
      "Your reply was empty. Reply again with the answer itself, in the format asked for."
    )
  })
})

it("The correction of a ReWOO plan lists every issue", () => {
  const error = new InvalidPlan({
    reply: "",
    issues: [
      { _tag: "Unreadable", line: "E1 = Search[x]", at: 0, why: "write each call as `#E1 = Tool[input]`." },
      { _tag: "Empty" },
      { _tag: "TooLong", length: 9, max: 8 },
      { _tag: "DuplicateVariable", variable: "#E1" },
      { _tag: "UnknownVariable", variable: "#E7", mentionedBy: "#E2" },
      { _tag: "LaterVariable", variable: "#E3", mentionedBy: "#E2" },
      { _tag: "Cycle", variables: ["#E1", "#E2"] },
      { _tag: "UnknownTool", variable: "#E1", tool: "Fly", available: ["Search", "LLM"] },
      { _tag: "AmbiguousTool", variable: "#E1", tool: "search", candidates: ["Search", "SEARCH"] }
    ]
  })
  expect(correctionText(error)).toBe(`Your reply could not be used.
The plan is not valid:
- Cannot read "E1 = Search[x]": write each call as \`#E1 = Tool[input]\`.
- The plan has no step. Write each step as two lines, \`Plan: <reason>\` and \`#E1 = Tool[input]\`.
- The plan has 9 steps, but at most 8 are allowed. Write a shorter plan.
- #E1 is assigned twice. Give every step its own variable, and write one plan only.
- #E2 uses #E7, but no step has that variable.
- #E2 uses #E3, which comes later. A step may use earlier steps only.
- #E1, #E2 wait for each other in a cycle. A step may use earlier steps only.
- #E1 uses the tool "Fly", which does not exist. Use one of: Search, LLM.
- #E1 uses the tool "search", which may be any of: Search, SEARCH. Write the exact name.
Reply again, in the format asked for and with nothing else.`)
})
