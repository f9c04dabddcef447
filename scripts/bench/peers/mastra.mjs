/** The patterns as Mastra workflows: loops for what repeats, `foreach` for what runs at once. */
import { createStep, createWorkflow } from "@mastra/core/workflows"
import { z } from "zod"
import * as simple from "../simple.mjs"

const any = z.any()
const step = (id, execute) =>
  createStep({ id, inputSchema: any, outputSchema: any, execute: ({ inputData }) => execute(inputData) })
const workflow = (id) => createWorkflow({ id, inputSchema: any, outputSchema: any, options: { validateInputs: false } })

const planAndExecute = () => {
  const complete = simple.planAndExecuteModel
  const planner = step("planner", async ({ goal }) => ({
    goal,
    past: [],
    remaining: simple.readPlan(await complete("planner", simple.plannerPrompt(goal), 0))
  }))
  const work = step("work", async ({ goal, past, remaining: [step, ...rest] }) => {
    const result = await complete("executor", step, past.length + 1)
    const all = [...past, { step, result }]
    const said = await complete("replanner", simple.replannerPrompt(goal, rest, all), all.length)
    const decided = simple.readDecision(said)
    return { goal, past: all, remaining: decided.remaining_steps ?? [], answer: decided.final_answer }
  })
  const flow = workflow("plan-and-execute")
    .then(planner)
    .dountil(work, async ({ inputData }) => inputData.answer !== undefined)
    .commit()
  return { flow, input: { goal: "goal" }, read: ({ answer }) => answer === "x" }
}

const rewoo = (concurrency) => {
  const call = step("call", async ({ call, known }) => ({
    ...call,
    evidence: await simple.tool(simple.substitute(call.input, known))
  }))
  const planner = step("planner", async ({ question }) => {
    const calls = simple.readCalls(await simple.rewooModel("planner", simple.rewooPrompt(question)))
    return simple.waves(calls)[0].map((call) => ({ call, known: {}, calls }))
  })
  const again = step("again", async (done) => {
    const known = Object.fromEntries(done.map(({ evidence, name }) => [name, evidence]))
    const calls = simple.readCalls(simple.rewooPlan)
    return simple.waves(calls)[1].map((call) => ({ call, known }))
  })
  const second = step("second", async ({ call, known }) => ({
    ...call,
    evidence: await simple.tool(simple.substitute(call.input, known))
  }))
  const solver = step("solver", async (done) => ({
    answer: await simple.rewooModel("solver", simple.solverPrompt("question", done))
  }))
  const flow = workflow("rewoo")
    .then(planner)
    .foreach(call, { concurrency })
    .then(again)
    .foreach(second, { concurrency })
    .then(solver)
    .commit()
  return { flow, input: { question: "question" }, read: ({ answer }) => answer === "answer" }
}

const react = () => {
  const turn = step("turn", async ({ messages, turn }) => {
    const reply = await simple.reactModel(messages, turn + 1)
    if (reply.calls === undefined) return { messages, turn: turn + 1, answer: reply.text }
    const results = await Promise.all(
      reply.calls.map(async (call) => ({
        role: "tool",
        toolCallId: call.id,
        content: await simple.tool(JSON.parse(call.arguments))
      }))
    )
    return { messages: [...messages, { role: "assistant", toolCalls: reply.calls }, ...results], turn: turn + 1 }
  })
  const flow = workflow("react")
    .dountil(turn, async ({ inputData }) => inputData.answer !== undefined)
    .commit()
  const messages = [
    { role: "system", content: simple.systemPrompt },
    { role: "user", content: "task" }
  ]
  return { flow, input: { messages, turn: 0 }, read: ({ answer }) => answer === "done" }
}

const cases = {
  "plan-and-execute": planAndExecute,
  "rewoo-sequential": () => rewoo(1),
  "rewoo-parallel": () => rewoo(4),
  react
}

export const contenders = (name) => {
  if (cases[name] === undefined) return []
  const { flow, input, read } = cases[name]()
  return [
    [
      "Mastra workflow",
      async () => {
        const run = await flow.createRunAsync()
        const ended = await run.start({ inputData: input })
        if (ended.status !== "success" || !read(ended.result)) throw new Error(`Mastra: ${JSON.stringify(ended)}`)
      }
    ]
  ]
}
