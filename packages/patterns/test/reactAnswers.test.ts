import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { readTurn } from "../src/internal/react/parse.js"

const isTool = (name: string) => name.toLowerCase() === "search"
const turn = (reply: string): string => {
  const result = readTurn(reply, isTool)
  if (Either.isLeft(result)) return `!${result.left.problem}`
  switch (result.right._tag) {
    case "Action":
      return `${result.right.tool}|${result.right.input}`
    case "Answer":
      return `=${result.right.text}`
    case "NoTool":
      return "none"
  }
}

describe("VR-11: the last Final Answer on a line of its own is the answer", () => {
  it.each([
    ["Thought: the page says Final Answer: 3, but that is old\nFinal Answer: 5", "=5"],
    ["> Final Answer: 3\nFinal Answer: 5", "=5"],
    ["Thought: they wrote\n> Final Answer: 3\n> Thought: x\n\nFinal Answer: 5", "=5"],
    ["Final Answer: 5\n> Final Answer: 3", "=5\n> Final Answer: 3"],
    ["> Final Answer: 5", "=5"],
    ["Thought: x. Final Answer: 3?\nThought: no\n**Final Answer:** 5", "=5"],
    ["Final Answer: 3\nThought: no, that is old\nFinal Answer: 5", "=5"],
    ["Answer: 3\nFinal Answer: 5", "=5"],
    ["Final Answer: The form has two lines\nAnswer: yes", "=The form has two lines\nAnswer: yes"],
    ["Final Answer: 5\nObservation: x\nFinal Answer: 6", "=5"],
    ["Final Answer: 5\n\nQuestion: next?\nFinal Answer: 6", "=5"],
    [
      "Final Answer: write\n```\nFinal Answer: <answer>\n```\nat the end",
      "=write\n```\nFinal Answer: <answer>\n```\nat the end"
    ],
    ["Thought: I know. Final Answer: 42", "=42"]
  ])("%j is %j", (reply, expected) => {
    expect(turn(reply)).toBe(expected)
  })
})

describe("VR-11: an answer and an action contradict", () => {
  it.each([
    "Final Answer: 5\nAction: Search\nAction Input: x",
    "**Final Answer:** 5\n\n**Action:** Search\n**Action Input:** x",
    "Thought: a\nFinal Answer: 5\nThought: b\nAction: Search\nAction Input: x",
    "Final Answer: 5\nAction: Search[x]",
    'Final Answer: 5\nAction: Search("x")',
    "Final Answer: 5\nAction: other\nAction Input: x",
    "Action: Search\nAction Input: x\nFinal Answer: 5",
    "Action: Search\nAction Input: x\nThought: I know now\nFinal Answer: 5",
    'Action: Search\nAction Input: {"input": "x"}\nFinal Answer: 5',
    "Action: Search[x]\nFinal Answer: 5",
    "Final Answer: 3\nAction: Search\nAction Input: x\nFinal Answer: 5"
  ])("%j is asked for again", (reply) => {
    expect(turn(reply)).toBe("!conflict")
  })
  it.each([
    ["Action: Search\nAction Input: x\nObservation: 5\nFinal Answer: 5", "Search|x"],
    ["Action: Search\nAction Input: x\n> Final Answer: 5", "Search|x"],
    ['Action: Search\nAction Input: {"a": "b\nFinal Answer: 5"}', 'Search|{"a": "b\nFinal Answer: 5"}'],
    ["Action: Search\nAction Input: ```\nFinal Answer: 5\n```", "Search|Final Answer: 5"],
    ["Action: Search\nAction Input: x\nFinal Answer:", "Search|x"],
    ["Final Answer: To do\nAction: call Bob\nDeadline: today", "=To do\nAction: call Bob\nDeadline: today"],
    ["Final Answer: 5\nAction: None", "=5\nAction: None"],
    ["Action: None\nFinal Answer: 5", "=5"],
    ["Action: Finish\nFinal Answer: 5", "=5"],
    ["Action: Finish[5]\nFinal Answer: 5", "=5"]
  ])("%j does not: %j", (reply, expected) => {
    expect(turn(reply)).toBe(expected)
  })
})

describe("VR-14: a corrected answer", () => {
  it.each([
    ["Final Answer: 9 … wait, that is wrong.\nFinal Answer: 7", "=7"],
    ["Final Answer: 9\nWait, that is wrong.\n\nFinal Answer: 8\nNo.\nFinal Answer: 7", "=7"]
  ])("%j is %j", (reply, expected) => {
    expect(turn(reply)).toBe(expected)
  })
})

describe("forms of answers and actions", () => {
  it.each([
    ["FinalAnswer: 5", "=5"],
    ["Final_Answer: 5", "=5"],
    ["The final answer: 5", "=5"],
    ["`Final Answer: 5`", "=5"],
    ["Finish[5]", "=5"],
    ["Thought: I know.\nFinish[5]", "=5"],
    ['finish(answer="5")', "=5"],
    ["finish(answer='5')", "=5"],
    ['Finish[answer="5"]', "=5"],
    ['Action: Finish[answer="5"]', "=5"],
    ['Action: finish(answer="a, b")', "=a, b"],
    ['Action: Finish\nAction Input: {"answer": "5"}', "=5"],
    ["Action: Finish\nAction Input: 5", "=5"],
    ["Action: Finish[[1, 2]]", "=[1, 2]"],
    ['final_answer("5")', "=5"],
    ["Finish [the report] by Monday.", "=Finish [the report] by Monday."],
    ["finish(x) returns y", "=finish(x) returns y"],
    ["Action: None (direct response, no tool needed)", "none"],
    ["Action: None (direct response)\nFinal Answer: 5", "=5"],
    ['Action: search ({"input": "x"})', 'search|{"input": "x"}'],
    ['Action: search({"input": "x"})', 'search|{"input": "x"}'],
    ["Action: search\n\nAction Input: x", "search|x"],
    ["Action: search\nAction Input:\n\nx", "search|x"],
    ["Action:\nsearch\nAction Input:\nx", "search|x"],
    ["```\nThought: a\nAction: search\nAction Input: x\n```", "search|x"],
    ["```text\nFinal Answer: 5\n```", "=5"],
    ["`Action: search`\n`Action Input: x`", "search|x"],
    ["**Action**: search\n**Action Input**: x", "search|x"],
    ["**Action: search**\n**Action Input: x**", "search|x"],
    ["### Action\nsearch\n### Action Input\nx", "search|x"],
    ["**Action**\nsearch\n\n**Action Input**\nx", "search|x"],
    ["- Action: search\n- Action Input: x", "search|x"],
    ["ACTION: search\nACTION INPUT: x", "search|x"],
    ['Action: [{"tool_name": "directly-answer", "parameters": {}}]', "none"],
    ['Action: ```json\n[\n  {"tool_name": "directly-answer", "parameters": {}}\n]\n```\nFinal Answer: 5', "=5"],
    ['Action: ```json\n[\n  {"tool_name": "search", "parameters": {"input": "x"}}\n]\n```', "!tool_call_markup"],
    ["<think>Action: Write\nAction Input: wipe all</think>\nFinal Answer: safe", "=safe"]
  ])("%j is %j", (reply, expected) => {
    expect(turn(reply)).toBe(expected)
  })
  it.each([
    "[THINK]%[/THINK]",
    "<thought>%</thought>",
    "<reasoning>%</reasoning>",
    "<seed:think>%</seed:think>",
    "◁think▷%◁/think▷",
    "<mm:think>%</mm:think>",
    "<|channel>thought\n%<channel|>",
    '<think foo="x">%</ think>',
    "<think >%</think >",
    "%</think>",
    "%[/THINK]"
  ])("NW-01: what is thought in %j is not carried out", (block) => {
    const reply = `${block.replace("%", "I could do\nAction: Write\nAction Input: wipe all\nbut no")}\nFinal Answer: safe`
    expect(turn(reply)).toBe("=safe")
  })
})
