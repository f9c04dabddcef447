// A pattern in one file outside the packages: in the library, in the Router, and in the runner without further ado.
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "@effect/vitest"
import * as Pattern from "@forethought/core/Pattern"
import * as PlanApproval from "@forethought/core/PlanApproval"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Router from "@forethought/patterns/Router"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { pattern, run } from "../src/leastToMost.js"

const question = "Elsa has 5 apples. Anna has 2 more than Elsa. How many have they together?"
const script = ["1. How many apples has Anna?", "Anna has 7 apples.", "They have 12 apples."]
const world = (replies: ReadonlyArray<string>) => Layer.merge(ScriptedLlm.layer(replies), FakeTools.layer({}))

describe("in the library", () => {
  it.effect("answers the simpler questions first, each with the answers before it", () =>
    Effect.gen(function* () {
      const { answer, pastSteps } = yield* run(question)
      expect(answer).toBe("They have 12 apples.")
      expect(pastSteps.map(({ step }) => step)).toEqual(["How many apples has Anna?", question])
      const { prompts } = yield* ScriptedLlm.ScriptedLlm
      expect((yield* prompts).at(-1)).toContain("Anna has 7 apples.")
    }).pipe(Effect.provide(world(script)))
  )

  it.effect("a stop carries the answers so far, and a list over the cap is asked for again", () =>
    Effect.gen(function* () {
      const stop = yield* Effect.flip(run("Q", { maxQuestions: 1 }))
      expect(stop).toMatchObject({ _tag: "LlmError", progress: { pastSteps: [{ result: "a" }] } })
    }).pipe(Effect.provide(world(["1. A?\n2. B?", "1. A?", "a", "", ""])))
  )

  it.effect("a plan is shown before it runs, and may be edited or refused", () =>
    Effect.gen(function* () {
      const edited = yield* run("Q").pipe(
        Effect.provide(PlanApproval.layer(() => Effect.succeed(PlanApproval.edit("1. B?\n2. C?"))))
      )
      expect(edited.pastSteps.map(({ step }) => step)).toEqual(["B?", "C?", "Q"])
      const refused = yield* Effect.flip(
        run("Q").pipe(Effect.provide(PlanApproval.layer(() => Effect.succeed(PlanApproval.refuse("too dear")))))
      )
      expect(refused).toMatchObject({ _tag: "PlanRefused", plan: "1. A?", progress: { pastSteps: [] } })
    }).pipe(Effect.provide(world(["1. A?", "b", "c", "q", "1. A?"])))
  )

  it.effect("the Router gives its name, answer and errors their types", () =>
    Effect.gen(function* () {
      const routed = yield* Router.run(question, {
        patterns: [ReAct.pattern, pattern],
        fallback: "least-to-most"
      }).pipe(Effect.catchTag("PlanRefused", ({ plan }) => Effect.dieMessage(plan)))
      const name: "react" | "least-to-most" = routed.pattern
      expect(name).toBe("least-to-most")
      if (routed.pattern === "least-to-most") expect(routed.outcome.pastSteps.length).toBe(2)
      expect(routed.answer).toBe("They have 12 apples.")
    }).pipe(Effect.provide(world(['{"pattern":"least-to-most","reason":"parts"}', ...script])))
  )

  it.effect("as the executor of a step, and as a tool", () =>
    Effect.gen(function* () {
      const executor = Pattern.executor(pattern, { maxQuestions: 2 })
      const { pastSteps } = yield* PlanAndExecute.run("G", { executor })
      expect(pastSteps).toMatchObject([{ status: "completed", result: "They have 12 apples." }])
    }).pipe(Effect.provide(world(["1. Count", ...script, '{"final_answer":"12"}'])))
  )

  it("a wrong option is refused where it is given", () => {
    expect(() => Pattern.asTool(pattern, {}, { maxQuestions: 0 })).toThrow("maxQuestions must be a whole number")
    // @ts-expect-error: an option that there is not
    expect(() => Pattern.withOptions(pattern, { maxQuestion: 1 })).toThrow("maxQuestion")
  })
})

describe("in the runner", () => {
  const bin = fileURLToPath(new URL("../../packages/cli/bin/forethought.mjs", import.meta.url))
  const file = fileURLToPath(new URL("../dist/leastToMost.js", import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), "forethought-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "script.json"), JSON.stringify(script))
  const route = { role: "router", text: '{"pattern":"least-to-most","reason":"parts"}' }
  writeFileSync(join(folder, "auto.json"), JSON.stringify([route, ...script]))

  const forethought = (args: ReadonlyArray<string>, stdin = "") =>
    new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((done) => {
      const child = execFile(process.execPath, [bin, ...args], { cwd: folder }, (error, out, err) =>
        done({ code: typeof error?.code === "number" ? error.code : 0, out, err })
      )
      child.stdin?.end(stdin)
    })
  const model = ["--model", "scripted:script.json"]

  it("runs from its file, with its options as flags and its events", async () => {
    const args = ["run", file, question, ...model, "--max-questions", "3", "--events", "events.jsonl", "--json"]
    const { code, out } = await forethought(args)
    expect({ code, document: JSON.parse(out) }).toMatchObject({
      code: 0,
      document: { pattern: "least-to-most", answer: "They have 12 apples." }
    })
    const events = readFileSync(join(folder, "events.jsonl"), "utf8")
    expect(JSON.parse(events.split("\n")[0] ?? "")).toMatchObject({ _tag: "RunStarted", options: { maxQuestions: 3 } })
    expect((await forethought(["run", file, "--help"])).out).toContain("--max-questions <count>")
  })

  it("is planned and shown by explain, and runs nothing there", async () => {
    const { code, out } = await forethought(["explain", file, question, ...model])
    expect(code).toBe(0)
    expect(out).toContain("How many apples has Anna?")
    expect(out).toContain("nothing of it has run")
  })

  it("is one of the choices of auto", async () => {
    const args = ["run", "auto", question, "--pattern-file", file, "--model", "scripted:auto.json"]
    const { code, err, out } = await forethought(args)
    expect({ code, out }).toEqual({ code: 0, out: "They have 12 apples.\n" })
    expect(err).toContain("least-to-most")
    expect((await forethought(["patterns", "--pattern-file", file])).out).toContain("least-to-most")
  })

  it("is a tool of the MCP server, with its options", async () => {
    const send = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id, method, params })
    const info = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const { out } = await forethought(
      ["mcp", "--pattern-file", file, ...model],
      [
        send(1, "initialize", info),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
        send(2, "tools/list", {}),
        send(3, "tools/call", { name: "least-to-most", arguments: { input: question, options: { maxQuestions: 2 } } }),
        ""
      ].join("\n")
    )
    expect(out).toContain('"name":"least-to-most"')
    expect(out).toContain('"maxQuestions"')
    expect(out).toContain("They have 12 apples.")
  })
})
