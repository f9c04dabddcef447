/** The patterns as LangGraph.js graphs of plain functions. `checkpointed` keeps every state in a `MemorySaver`. */
import { Annotation, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph"
import * as simple from "../simple.mjs"

const last = (initial) => Annotation({ reducer: (_, next) => next, default: () => initial })
const appended = () => Annotation({ reducer: (all, more) => all.concat(more), default: () => [] })

const planAndExecute = (checkpointer) => {
  const complete = simple.planAndExecuteModel
  const State = Annotation.Root({ goal: last(""), plan: last([]), past: appended(), answer: last("") })
  const graph = new StateGraph(State)
    .addNode("planner", async ({ goal }) => ({
      plan: simple.readPlan(await complete("planner", simple.plannerPrompt(goal), 0))
    }))
    .addNode("executor", async ({ past, plan: [step, ...rest] }) => ({
      plan: rest,
      past: [{ step, result: await complete("executor", step, past.length + 1) }]
    }))
    .addNode("replanner", async ({ goal, past, plan }) => {
      const said = await complete("replanner", simple.replannerPrompt(goal, plan, past), past.length)
      const decided = simple.readDecision(said)
      return decided.final_answer === undefined ? { plan: decided.remaining_steps } : { answer: decided.final_answer }
    })
    .addEdge(START, "planner")
    .addEdge("planner", "executor")
    .addEdge("executor", "replanner")
    .addConditionalEdges("replanner", ({ answer }) => (answer === "" ? "executor" : END), ["executor", END])
    .compile({ checkpointer })
  return { graph, input: { goal: "goal" }, read: ({ answer }) => answer === "x" }
}

const rewoo = (checkpointer, parallel) => {
  const State = Annotation.Root({
    question: last(""),
    groups: last([]),
    done: appended(),
    answer: last("")
  })
  const call = async ({ call, known }) => ({
    done: [{ ...call, evidence: await simple.tool(simple.substitute(call.input, known)) }]
  })
  const next = ({ done, groups }) => {
    const index = parallel ? groups.findIndex(([first]) => !done.some((call) => call.name === first.name)) : done.length
    const group = groups[index]
    if (group === undefined || index < 0) return "solver"
    const known = Object.fromEntries(done.map(({ evidence, name }) => [name, evidence]))
    return group.map((call) => new Send("worker", { call, known }))
  }
  const graph = new StateGraph(State)
    .addNode("planner", async ({ question }) => {
      const calls = simple.readCalls(await simple.rewooModel("planner", simple.rewooPrompt(question)))
      return { groups: parallel ? simple.waves(calls) : calls.map((call) => [call]) }
    })
    .addNode("worker", call)
    .addNode("join", () => ({}))
    .addNode("solver", async ({ done, question }) => ({
      answer: await simple.rewooModel("solver", simple.solverPrompt(question, done))
    }))
    .addEdge(START, "planner")
    .addConditionalEdges("planner", next, ["worker", "solver"])
    .addEdge("worker", "join")
    .addConditionalEdges("join", next, ["worker", "solver"])
    .addEdge("solver", END)
    .compile({ checkpointer })
  return {
    graph,
    input: { question: "question" },
    read: ({ answer, done }) => answer === "answer" && done.length === 8
  }
}

const react = (checkpointer) => {
  const State = Annotation.Root({ messages: appended(), turn: last(0) })
  const graph = new StateGraph(State)
    .addNode("agent", async ({ messages, turn }) => {
      const reply = await simple.reactModel(messages, turn + 1)
      return {
        turn: turn + 1,
        messages: [{ role: "assistant", content: reply.text ?? "", toolCalls: reply.calls ?? [] }]
      }
    })
    .addNode("tools", async ({ messages }) => ({
      messages: await Promise.all(
        messages.at(-1).toolCalls.map(async (call) => ({
          role: "tool",
          toolCallId: call.id,
          content: await simple.tool(JSON.parse(call.arguments))
        }))
      )
    }))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", ({ messages }) => (messages.at(-1).toolCalls.length > 0 ? "tools" : END), [
      "tools",
      END
    ])
    .addEdge("tools", "agent")
    .compile({ checkpointer })
  const input = {
    messages: [
      { role: "system", content: simple.systemPrompt },
      { role: "user", content: "task" }
    ]
  }
  return { graph, input, read: ({ messages }) => messages.at(-1).content === "done" }
}

const runner = ({ graph, input, read }, checkpointer) => {
  let thread = 0
  return async () => {
    const id = String(thread++)
    const state = await graph.invoke(input, { recursionLimit: 100, configurable: { thread_id: id } })
    // A thread that is done is deleted, as its checkpoints would fill the memory otherwise.
    await checkpointer?.deleteThread(id)
    if (!read(state)) throw new Error("LangGraph: not the expected result")
  }
}

const cases = {
  "plan-and-execute": planAndExecute,
  "rewoo-sequential": (checkpointer) => rewoo(checkpointer, false),
  "rewoo-parallel": (checkpointer) => rewoo(checkpointer, true),
  react
}

export const contenders = (name) => {
  const make = cases[name]
  if (make === undefined) return []
  const saver = new MemorySaver()
  return [
    ["LangGraph.js", runner(make(undefined))],
    ["LangGraph.js, MemorySaver", runner(make(saver), saver)]
  ]
}
