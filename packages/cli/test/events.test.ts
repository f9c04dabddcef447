/** What can be told from an events file alone: this test knows the events, and nothing of the patterns. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as JournalFile from "@forethought/core/node/JournalFile"
import type * as RunEvent from "@forethought/core/RunEvent"
import * as RunTree from "@forethought/core/RunTree"
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { beforeAll, describe, expect, it } from "vitest"
import { folder, forethought } from "./support/forethought.js"
import { chat, json, loopback } from "./support/loopback.js"

const read = async (file: string): Promise<ReadonlyArray<RunEvent.RunEvent>> => {
  const { events, skipped } = await Effect.runPromise(JournalFile.read(file))
  expect(skipped).toEqual([])
  return events
}

interface Step {
  readonly id: string
  readonly step: string
  readonly result: string
  readonly status: string
}

/** A run as its events tell of it. */
const rebuild = (events: ReadonlyArray<RunEvent.RunEvent>) => {
  const asked = new Map<string, RunEvent.ModelRequest>()
  const replies = new Map<string, string>()
  /** What went to a provider, in order: the request once for each attempt. */
  const sent: Array<RunEvent.ModelRequest["messages"]> = []
  const retries: Array<string> = []
  const fallbacks: Array<string> = []
  const toolTexts = new Map<string, string>()
  const plans: Array<ReadonlyArray<RunEvent.PlannedStep>> = []
  const evidence: Array<RunEvent.Evidence> = []
  const steps: Array<Step> = []
  let left: ReadonlyArray<RunEvent.PlannedStep> = []
  let cost = 0
  const again = (call: string) => sent.push(asked.get(call)?.messages ?? [])
  for (const event of events) {
    switch (event._tag) {
      case "ModelCallStarted":
        if (event.request === undefined) throw new Error(`${event.call} has no request`)
        asked.set(event.call, event.request)
        again(event.call)
        break
      case "ModelRetried":
        retries.push(`${event.call}: ${event.error.tag} ${event.delay}`)
        again(event.call)
        break
      case "FellBack":
        fallbacks.push(`${event.call}: ${event.to}`)
        again(event.call)
        break
      case "ModelCallEnded":
        cost += event.cost ?? 0
        if (event.reply !== undefined) replies.set(event.call, event.reply.text)
        break
      case "ToolCallEnded":
        toolTexts.set(event.call, event.text)
        break
      case "PlanMade":
        left = event.steps
        plans.push(left)
        break
      case "StepStarted":
        expect(left[0]).toMatchObject({ id: event.id, text: event.step })
        left = left.slice(1)
        break
      case "StepEnded":
        steps.push({ id: event.id, step: event.step, result: event.result, status: event.status })
        break
      case "Replanned":
        expect(event.before).toEqual(left)
        expect(event.cause).toEqual(steps.at(-1))
        left = event.after
        plans.push(left)
        break
      case "EvidenceRecorded":
        evidence.push(event.evidence)
    }
  }
  return { asked, replies, sent, retries, fallbacks, toolTexts, plans, evidence, steps, cost }
}

/** Those of the outermost run have no run of another pattern between them and the root. */
const numbered = (events: ReadonlyArray<RunEvent.RunEvent>) => {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(new Set(events.map(({ run }) => run)).size).toBe(1)
  expect(events[0]).toMatchObject({ _tag: "RunStarted", call: "", schema: 2, library: expect.stringContaining("@") })
  expect(events.filter((event) => event._tag === "RunStarted" && event.schema !== undefined)).toHaveLength(1)
}

const scenes = fileURLToPath(new URL("../demo/", import.meta.url))

describe("the events of the demonstration", () => {
  const place = folder({})
  const documents: Array<{ readonly [key: string]: unknown }> = []
  beforeAll(async () => {
    const { code, out } = await forethought(["demo", "--delay", "0", "--json", "--events", "told"], { cwd: place.path })
    expect(code).toBe(0)
    documents.push(...JSON.parse(`[${out.trim().replaceAll("}\n{", "},\n{")}]`))
    return () => place[Symbol.dispose]()
  }, 60_000)

  const names = readdirSync(scenes).map((file) => file.replace(".json", ""))
  it.each(names.map((name, index) => [name, index] as const))("%s tell the whole run", async (name, index) => {
    const events = await read(place.file(`told/${name}.jsonl`))
    const document = documents[index]
    const scene: { readonly question: string; readonly replies: ReadonlyArray<{ readonly text?: string }> } =
      JSON.parse(readFileSync(`${scenes}${name}.json`, "utf8"))
    numbered(events)
    expect(events[0]).toMatchObject({
      task: scene.question,
      pattern: document?.["pattern"] === "auto" ? "router" : document?.["pattern"]
    })
    const told = rebuild(events)

    // Every reply of the script is there, and the prompt that it answers.
    expect(told.replies.size).toBe(scene.replies.length)
    expect([...told.replies.keys()]).toEqual(expect.arrayContaining([...told.asked.keys()]))
    for (const { text = "" } of scene.replies) {
      if (!String(text).includes("{{")) expect([...told.replies.values()]).toContain([text].flat().join("\n"))
    }
    for (const { messages } of told.asked.values()) expect(messages.at(-1)?.content).not.toBe("")
    expect(
      [...told.asked.values()].some(({ messages }) => messages.some(({ content }) => content.includes(scene.question)))
    ).toBe(true)
    // What a tool found is in the prompt of a later call.
    const prompts = [...told.asked.values()].flatMap(({ messages }) => messages.map(({ content }) => content))
    for (const text of told.toolTexts.values()) expect(prompts.some((prompt) => prompt.includes(text))).toBe(true)

    const answer = String(document?.["answer"])
    expect([...told.replies.values()].some((reply) => reply.includes(answer) || answer.includes(reply))).toBe(true)
    const result: { readonly pastSteps?: unknown; readonly evidence?: unknown } = Object(document?.["result"])
    if (result.pastSteps !== undefined) expect(told.steps).toEqual(result.pastSteps)
    if (result.evidence !== undefined) expect(told.evidence).toEqual(expect.arrayContaining([result.evidence].flat()))
    const ids = told.steps.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)

    const tree = RunTree.make()
    for (const event of events) tree.on(event)
    expect(tree.roots).toMatchObject([{ kind: "run", status: "done", task: scene.question }])
  })
})

describe("the events of a run with a 429, a fallback and a price", () => {
  it("tell every prompt, retry and cost, and nothing secret", async () => {
    using files = folder({})
    const key = "sk-secret-0123456789abcdef"
    let asked = 0
    await using first = await loopback((_, response) => {
      asked += 1
      if (asked === 2) return json(response, chat("Plan: find it\n#E1 = Lookup[population of France]"))
      response.setHeader("retry-after", "0")
      json(response, { error: { message: `no ${key}` } }, asked === 1 ? 429 : 503)
    })
    await using second = await loopback((_, response) => json(response, chat("66,977,107.")))
    const spec = ({ url }: { readonly url: string }) => `openai-compatible:stub@${url}/v1?token=${key}`
    const { code, err, out } = await forethought(
      [
        ...["run", "rewoo", "How many?", "--model", spec(first), "--fallback-model", spec(second), "--price", "1,2"],
        ...["--max-calls", "10", "--events", files.file("e.jsonl")]
      ],
      { env: { FORETHOUGHT_API_KEY: key } }
    )
    expect({ code, err, out }).toMatchObject({ code: 0, out: "66,977,107.\n" })
    expect(readFileSync(files.file("e.jsonl"), "utf8") + err).not.toContain(key)

    const events = await read(files.file("e.jsonl"))
    numbered(events)
    const told = rebuild(events)
    const received = [...first.received, ...second.received].map(({ body }) => JSON.parse(body).messages)
    expect(told.sent).toEqual(received)
    expect(told.retries).toEqual(["planner: LlmError 0", "solver: LlmError 0", "solver: LlmError 0"])
    expect(told.fallbacks).toEqual([`solver: chat:${second.url}/v1:stub`])
    expect(told.plans.map((plan) => plan.map(({ id, input, tool }) => [id, tool, input]))).toEqual([
      [["#E1", "Lookup", "population of France"]]
    ])
    expect(told.evidence).toMatchObject([{ variable: "#E1", status: "ok", text: "66977107" }])
    expect(told.cost).toBeCloseTo((2 * (7 * 1 + 3 * 2)) / 1_000_000, 12)
    expect(events[0]).toMatchObject({
      models: { planner: `chat:${first.url}/v1:stub or chat:${second.url}/v1:stub` },
      tools: expect.arrayContaining([{ name: "Lookup", hash: expect.stringMatching(/^[0-9a-f]{16}$/) }])
    })
    const ends = events.flatMap((event) => (event._tag === "ModelCallEnded" ? [event] : []))
    expect(ends.map(({ attempts, call, cost, provider }) => ({ attempts, call, cost, provider }))).toEqual([
      { call: "planner", attempts: 2, cost: 0.000013, provider: "openai-compatible" },
      { call: "solver", attempts: 4, cost: 0.000013, provider: "openai-compatible" }
    ])
    expect(events.filter(({ _tag }) => _tag === "BudgetSettled").at(-1)).toMatchObject({
      spent: { calls: 2, inputTokens: 14, outputTokens: 6 }
    })
    // A person who watches sees why it takes so long.
    expect(err).toMatch(/planner: .*is rate limited.*Retrying in 0 s…/)
    expect(err).toMatch(/solver: .*HTTP 503.*Asking chat:.* instead…/)
  })
})

it("a tree of runs is a small module that a browser can load", async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../../core/src/RunTree.ts", import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    logLevel: "silent"
  })
  expect(Object.keys(metafile.inputs)).toHaveLength(1)
  expect(outputFiles[0]?.text).not.toContain("import")
})
