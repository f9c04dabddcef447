/**
 * The patterns as one writes them without a library: the same prompts, the same calls, the simplest reading. What every
 * peer is built from, so that only the libraries differ.
 */

export const toolInfo = { name: "Search", description: "Finds." }
export const tool = async () => "found"
export const steps = 10
export const turns = 10

const planOf = (n) => Array.from({ length: n }, (_, i) => `${i + 1}. step number ${i + 1}`).join("\n")
export const plan = planOf(7)
export const rewooPlan = Array.from(
  { length: 8 },
  (_, i) => `Plan: look\n#E${i + 1} = Search[${i < 4 ? `q${i}` : `#E${i - 3} more`}]`
).join("\n")
/** What the replanner says after a step: another step, until there are enough. */
export const decision = (step) =>
  step >= steps ? '{"final_answer":"x"}' : JSON.stringify({ remaining_steps: [`step number ${step + 100}`] })

// Plan-and-Execute
export const plannerPrompt = (goal) => `For the goal below, write a step-by-step plan. Each step must be a
self-contained task that one worker with ${toolInfo.name} can complete.
Use as few steps as possible. Do not add a step that only restates
the goal.

<goal>${goal}</goal>

Respond as a numbered list. The last step should produce the final answer.`
export const replannerPrompt = (goal, remaining, past) => `Goal: ${goal}

Current plan:
${remaining.map((step, i) => `${i + 1}. ${step}`).join("\n")}

Steps already completed, with results:
${past.map(({ result, step }, i) => `${i + 1}. ${step}\nResult: ${result}`).join("\n")}

Update the plan. Remove steps that are done or no longer needed, and
add or change steps if the results require it. Do not repeat a
completed step.

If you can already answer the goal, respond with:
{"final_answer": "..."}
Otherwise respond with:
{"remaining_steps": ["...", "..."]}`
export const readPlan = (text) =>
  text
    .split("\n")
    .map((line) => /^\d+\.\s+(.*)$/.exec(line)?.[1])
    .filter((step) => step !== undefined)
export const readDecision = (text) => JSON.parse(text)

export const planAndExecute = async (goal, complete) => {
  let remaining = readPlan(await complete("planner", plannerPrompt(goal), 0))
  const past = []
  for (let index = 1; index <= steps + 1; index++) {
    const [step, ...rest] = remaining
    past.push({ step, result: await complete("executor", step, index) })
    const decided = readDecision(await complete("replanner", replannerPrompt(goal, rest, past), index))
    if (decided.final_answer !== undefined) return { answer: decided.final_answer, past }
    remaining = decided.remaining_steps
  }
  throw new Error("step cap")
}
export const planAndExecuteModel = async (role, _prompt, index) =>
  role === "planner" ? plan : role === "executor" ? "done" : decision(index)

// ReWOO
export const rewooPrompt = (question) => `For the question below, make a plan of tool calls that will gather
everything needed. Write the whole plan now.

Tools:
${toolInfo.name}[input]: ${toolInfo.description}

Question: ${question}`
export const solverPrompt = (question, calls) => `Solve the question using only the plan and the evidence below.

Question: ${question}

Plan and evidence:
${calls.map(({ evidence, input, name, tool: used }) => `${name} = ${used}[${input}]\nEvidence: ${evidence}`).join("\n\n")}`
export const readCalls = (text) => {
  const calls = []
  for (const [, name, used, input] of text.matchAll(/^(#E\d+) = (\w+)\[(.*)\]$/gm)) {
    calls.push({ name, tool: used, input, needs: input.match(/#E\d+/g) ?? [] })
  }
  return calls
}
export const substitute = (input, known) => input.replace(/#E\d+/g, (name) => known[name] ?? name)
/** The calls that can start once the ones before them have ended, group after group. */
export const waves = (calls) => {
  const done = new Set()
  const groups = []
  for (let left = calls; left.length > 0; ) {
    const group = left.filter((call) => call.needs.every((name) => done.has(name)))
    for (const call of group) done.add(call.name)
    left = left.filter((call) => !done.has(call.name))
    groups.push(group)
  }
  return groups
}
export const rewooSequential = async (question, complete) => {
  const calls = readCalls(await complete("planner", rewooPrompt(question)))
  const known = {}
  for (const call of calls) {
    known[call.name] = await tool(substitute(call.input, known))
    call.evidence = known[call.name]
  }
  return { answer: await complete("solver", solverPrompt(question, calls)), calls }
}
export const rewooParallel = async (question, complete) => {
  const calls = readCalls(await complete("planner", rewooPrompt(question)))
  const known = {}
  const running = new Map()
  for (const call of calls) {
    running.set(
      call.name,
      Promise.all(call.needs.map((name) => running.get(name))).then(async () => {
        known[call.name] = await tool(substitute(call.input, known))
        call.evidence = known[call.name]
      })
    )
  }
  await Promise.all(running.values())
  return { answer: await complete("solver", solverPrompt(question, calls)), calls }
}
export const rewooModel = async (role) => (role === "planner" ? rewooPlan : "answer")

// ReAct
export const systemPrompt = "Work on the task with the tools. When you know the answer, give it without a tool call."
/** The model of a loop: a call for each turn but the last. */
export const turn = (index) =>
  index >= turns ? { text: "done" } : { calls: [{ id: "1", name: "Search", arguments: `{"input":"q${index}"}` }] }
export const react = async (task, complete) => {
  const messages = [
    { role: "system", content: systemPrompt },
    { role: "user", content: task }
  ]
  for (let index = 1; index <= turns; index++) {
    const reply = await complete(messages, index)
    if (reply.calls === undefined) return { answer: reply.text, messages }
    messages.push({ role: "assistant", toolCalls: reply.calls })
    for (const call of reply.calls) {
      messages.push({ role: "tool", toolCallId: call.id, content: await tool(JSON.parse(call.arguments)) })
    }
  }
  throw new Error("turn cap")
}
export const reactModel = async (_messages, index) => turn(index)

// ADaPT
const attempt = (path) => (path.length >= 3 ? "SUCCESS: ok" : "FAILURE: no")
export const adapt = async (task, complete, path = "1") => {
  const verdict = /^(SUCCESS|FAILURE): (.*)$/.exec(await complete("executor", `Do the task: ${task}`, path))
  if (verdict[1] === "SUCCESS") return verdict[2]
  if (path.length >= 3) return undefined
  const { logic, sub_steps } = JSON.parse(await complete("planner", `Split the task: ${task}`, path))
  const results = []
  for (const [index, step] of sub_steps.entries()) {
    const result = await adapt(step, complete, `${path}${index + 1}`)
    if (result === undefined && logic === "and") return undefined
    results.push(result)
  }
  return results
}
export const adaptModel = async (role, _prompt, path) =>
  role === "planner" ? JSON.stringify({ logic: "and", sub_steps: [`${path} a`, `${path} b`] }) : attempt(path)
