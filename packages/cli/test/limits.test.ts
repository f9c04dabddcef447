import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { source } from "../src/config/sources.js"
import { limiting, pricesOf, readLimits } from "../src/model/limits.js"
import { readModels } from "../src/model/models.js"
import { forethought } from "./support/forethought.js"
import { runScript } from "./support/inProcess.js"
import { chat, json, loopback } from "./support/loopback.js"

const models = (spec: string) => Effect.runPromise(readModels([spec], "--model", { folder: "/", env: {} }))

const plan = "#E1 = Lookup[population of France]\n#E2 = LLM[first]\n#E3 = LLM[second]"

describe("a limit that is reached", () => {
  it.each([
    { flags: ["--max-calls", "1"], says: "calls: 1 of 1 used" },
    { flags: ["--max-output-tokens", "5"], says: "outputTokens" },
    { flags: ["--max-cost", "0.000001", "--price", "1000,1000"], says: "money" },
    { flags: ["--max-time", "50 ms"], says: "wallTime" }
  ])("$flags ends with 2 and everything gathered", async ({ flags, says }) => {
    const replies = [
      { text: "#E1 = Lookup[population of France]" },
      { role: "solver", text: "late", after: flags[0] === "--max-time" ? "1 minute" : "1 ms" }
    ]
    const { code, err, out } = await runScript("rewoo", replies, flags)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("stopped at the budget of this run")
    expect(err).toContain(says)
    expect(err).not.toContain("The model is")
    const asJson = await runScript("rewoo", replies, [...flags, "--json"])
    expect(asJson.code).toBe(2)
    expect(JSON.parse(asJson.out)).toMatchObject({
      status: "failed",
      error: { tag: "LlmError", reason: { _tag: "BudgetExhausted" } },
      progress: { evidence: expect.any(Array) }
    })
  })

  it("keeps a call for the solver, which answers from what is there", async () => {
    const replies = [plan, { role: "executor", text: "found" }, { role: "solver", text: "France has {{#E1}}." }]
    const { code, err, out } = await runScript("rewoo", replies, ["--max-calls", "3", "--tools", "lookup,llm"])
    expect({ code, out }).toEqual({ code: 0, out: "France has 66977107.\n" })
    expect(err).toContain("#E3 error")
    expect(err).toContain("stopped at the budget of this run")
  })

  it("keeps nothing where no solver follows", async () => {
    const { code, out } = await runScript("react", ["Done."], ["--max-calls", "1"])
    expect({ code, out }).toEqual({ code: 0, out: "Done.\n" })
  })

  it("at most so many calls run at once, over all models", async () => {
    let running = 0
    let most = 0
    const answer = (text: string) =>
      loopback((_, response) => {
        most = Math.max(most, ++running)
        setTimeout(() => {
          running--
          json(response, chat(text))
        }, 60)
      })
    const tools = Array.from({ length: 6 }, (_, i) => `#E${i + 1} = LLM[${i}]`).join("\n")
    for (const [limit, expected] of [
      ["2", 2],
      ["6", 6]
    ] as const) {
      most = 0
      await using planner = await answer(tools)
      await using others = await answer("ok")
      const flags = [
        "--model",
        `openai-compatible:a@${others.url}/v1`,
        "--model",
        `planner=openai-compatible:b@${planner.url}/v1`
      ]
      const args = [
        "run",
        "rewoo-parallel",
        "q",
        ...flags,
        "-t",
        "llm",
        "--concurrency",
        "6",
        "--max-concurrent",
        limit
      ]
      const { code, out } = await forethought(args)
      expect({ code, out }).toEqual({ code: 0, out: "ok\n" })
      expect(most).toBe(expected)
      expect(others.received).toHaveLength(7)
    }
  })

  it("the environment and the file set limits too", async () => {
    const { code } = await runScript("rewoo", ["#E1 = Lookup[x]", "late"], [], {
      "forethought.config.json": { maxCalls: 1 }
    })
    expect(code).toBe(2)
    const { code: other } = await runScript("rewoo", ["#E1 = Lookup[x]", "in time"], ["--max-calls", "2"], {
      "forethought.config.json": { maxCalls: 1 }
    })
    expect(other).toBe(0)
  })
})

describe("reading", () => {
  const read = (values: { readonly [name: string]: unknown }) =>
    Effect.runSync(
      Effect.withConfigProvider(
        readLimits,
        source((name) => (values[name] === undefined ? undefined : { value: values[name], source: `--${name}` }))
      )
    )

  it("reads every limit", () => {
    const limits = read({
      ...{ maxCalls: "20", maxOutputTokens: 5000, maxCost: "$0.05", price: "0.4, 1.6", maxTime: "2 minutes" },
      ...{ maxConcurrent: 8, requestsPerMinute: "60", tokensPerMinute: 100000 }
    })
    expect(limits).toEqual({
      ...{ calls: 20, outputTokens: 5000, money: 0.05, wallTime: 120_000 },
      ...{ maxConcurrent: 8, requestsPerMinute: 60, tokensPerMinute: 100_000 },
      price: { inputPerMillion: 0.4, outputPerMillion: 1.6 }
    })
    expect(read({})).toEqual({})
  })

  it.each([
    ["maxCalls", "0"],
    ["maxCalls", true],
    ["maxCost", "0"],
    ["maxCost", "-1"],
    ["maxCost", "1e3"],
    ["maxCost", []],
    ["price", "1"],
    ["price", "1,2,3"],
    ["price", "1,x"],
    ["price", 3],
    ["maxTime", "10"],
    ["requestsPerMinute", "often"]
  ])("refuses %s: %j", (name, value) => {
    expect(() => read({ [name]: value })).toThrow(`--${name} must be`)
  })

  it("knows what models cost, where somebody does", async () => {
    const of = async (spec: string, price = {}) => pricesOf(await models(spec), price).of("planner")
    expect(await of("openai:gpt-4.1-mini")).toMatchObject({ inputPerMillion: 0.4, outputPerMillion: 1.6 })
    expect(await of("openai:nobody-knows")).toBeUndefined()
    expect(await of("ollama:gpt-4.1-mini")).toMatchObject({ inputPerMillion: 0 })
    expect(await of("openai-compatible:gpt-4.1-mini@http://127.0.0.1/v1")).toBeUndefined()
    const given = { price: { inputPerMillion: 1, outputPerMillion: 2 } }
    expect(await of("openai:gpt-4.1-mini", given)).toEqual(given.price)
  })

  it("asks for the price of a model that is not listed", async () => {
    const unknown = await models("openai:nobody-knows")
    const price = { inputPerMillion: 1, outputPerMillion: 1 }
    await expect(Effect.runPromise(limiting({ money: 1 }, unknown, false))).rejects.toThrow("--price")
    await expect(Effect.runPromise(limiting({ money: 1, price }, unknown, false))).resolves.toBeDefined()
  })
})
