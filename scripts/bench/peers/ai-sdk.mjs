/** The tool loop of the Vercel AI SDK, and Plan-and-Execute written with its `generateText`. */
import { generateText, jsonSchema, stepCountIs, tool } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import * as simple from "../simple.mjs"

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}
const said = (text) => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: "stop" },
  usage,
  warnings: []
})
const model = (doGenerate) => {
  const mock = new MockLanguageModelV3({ doGenerate })
  // The mock keeps every request it got; a real model does not.
  mock.doGenerate = doGenerate
  return mock
}

const react = () => {
  const tools = {
    Search: tool({
      description: simple.toolInfo.description,
      inputSchema: jsonSchema({ type: "object", properties: { input: { type: "string" } }, required: ["input"] }),
      execute: simple.tool
    })
  }
  return async () => {
    let index = 0
    const looping = model(async () => {
      const reply = simple.turn(++index)
      if (reply.calls === undefined) return said(reply.text)
      return {
        content: reply.calls.map((call) => ({
          type: "tool-call",
          toolCallId: call.id,
          toolName: call.name,
          input: call.arguments
        })),
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage,
        warnings: []
      }
    })
    const { text } = await generateText({
      model: looping,
      tools,
      stopWhen: stepCountIs(simple.turns),
      system: simple.systemPrompt,
      prompt: "task"
    })
    if (text !== "done") throw new Error("AI SDK: not the expected result")
  }
}

const planAndExecute = () => {
  const complete = async (role, prompt, index) => {
    const answering = model(async () => said(await simple.planAndExecuteModel(role, prompt, index)))
    return (await generateText({ model: answering, prompt })).text
  }
  return async () => {
    const { answer } = await simple.planAndExecute("goal", complete)
    if (answer !== "x") throw new Error("AI SDK: not the expected result")
  }
}

const cases = { react, "plan-and-execute": planAndExecute }

export const contenders = (name) => (cases[name] === undefined ? [] : [["Vercel AI SDK", cases[name]()]])
