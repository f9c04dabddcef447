import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { folder, forethought, modelServer, script } from "./support/forethought.js"

const plan = "Plan: a\n#E1 = Lookup[population of France]\nPlan: b\n#E2 = Calculator[#E1 * 2]"

describe("run", () => {
  it("prints the answer alone on standard output, and the progress on standard error", async () => {
    using files = folder({ "script.json": script })
    const { code, err, out } = await forethought(["run", "rewoo", "How many?", "--model", "scripted:script.json"], {
      cwd: files.path
    })
    expect(out).toBe("66,977,107 people, says the evidence.\n")
    expect(code).toBe(0)
    expect(err).toContain("scripted replies")
    expect(err).toContain("#E1 = Lookup[population of France]")
    expect(err).toMatch(/#E1 ended after \d+\.\d\d s: 66977107/)
    expect(err).not.toContain("\u001b")
  })

  it("takes options before and after the arguments, and the question from standard input", async () => {
    using files = folder({ "script.json": script })
    const args = ["run", "--model", "scripted:script.json", "rewoo-parallel", "-", "--concurrency", "2", "--quiet"]
    const { code, err, out } = await forethought(args, { cwd: files.path, stdin: "How many?\n" })
    expect({ code, err, out }).toEqual({ code: 0, err: "", out: "66,977,107 people, says the evidence.\n" })
  })

  it("shows calls that overlap as overlapping", async () => {
    using files = folder({
      "script.json": [
        "#E1 = LLM[one]\n#E2 = LLM[two]",
        { role: "executor", text: "a", after: "200 ms" },
        { role: "executor", text: "b", after: "200 ms" },
        "done"
      ]
    })
    const { err } = await forethought(["run", "rewoo-parallel", "q", "-m", "scripted:script.json", "-t", "llm"], {
      cwd: files.path
    })
    expect(err).toContain("#E2 starts (while 1 other runs)")
    expect(err.indexOf("#E2 starts")).toBeLessThan(err.indexOf("#E1 ended"))
    expect(err).toMatch(/#E1 \|█{3,}.*\n +#E2 \| {0,3}█{3,}/)
  })

  it("never lets control characters of models and tools through", async () => {
    using files = folder({
      "script.json": [
        "#E1 = LLM[\u001bMup \u0007bell]",
        { role: "executor", text: "\u001b[2Jwiped \u202eback\u009b31m" },
        "the \u001b[31manswer\u0000"
      ]
    })
    for (const json of [[], ["--json"]]) {
      const args = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "llm", ...json]
      const { code, err, out } = await forethought(args, { cwd: files.path })
      expect(code).toBe(0)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(out + err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
      if (json.length > 0) expect(JSON.parse(out).answer).toBe("the \u001b[31manswer\u0000")
    }
  })

  it("--json prints the answer with its evidence as one document", async () => {
    using files = folder({ "script.json": script })
    const args = ["run", "rewoo", "How many?", "--model", "scripted:script.json", "--json"]
    const { code, out } = await forethought(args, { cwd: files.path })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      status: "answered",
      pattern: "rewoo",
      question: "How many?",
      answer: "66,977,107 people, says the evidence.",
      result: { evidence: [{ variable: "#E1", status: "ok", text: "66977107" }] }
    })
  })

  it("--events writes each event as a line of JSON", async () => {
    using files = folder({ "script.json": script })
    const args = ["run", "rewoo", "q", "--model", "scripted:script.json", "--events", "events.jsonl"]
    expect((await forethought(args, { cwd: files.path })).code).toBe(0)
    const events = readFileSync(files.file("events.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(events.map((event) => event._tag)).toEqual([
      "RunStarted",
      "ModelCallStarted",
      "ModelCallEnded",
      "PlanMade",
      "ToolCallStarted",
      "ToolCallEnded",
      "EvidenceRecorded",
      "ModelCallStarted",
      "ModelCallEnded",
      "RunEnded"
    ])
  })

  it("ends with 2, the reason and everything gathered where there is no answer", async () => {
    using files = folder({ "script.json": [plan, { role: "solver", text: "The answ", finishReason: "length" }] })
    const args = ["run", "rewoo", "q", "--model", "scripted:script.json"]
    const { code, err, out } = await forethought(args, { cwd: files.path })
    expect(code).toBe(2)
    expect(out).toBe("")
    expect(err).toContain("Not answered (TruncatedReply): The solver's reply was cut off")
    expect(err).toContain("#E1 Lookup[population of France] (ok): 66977107")
    expect(err).toContain("#E2 Calculator[66977107 * 2] (ok): 133954214")
  })

  it("--json prints the error with its tag, its fields and the progress", async () => {
    using files = folder({ "script.json": ["no plan", "#E1 = Google[x]"] })
    const args = ["run", "rewoo", "q", "--model", "scripted:script.json", "--json", "--quiet"]
    const { code, err, out } = await forethought(args, { cwd: files.path })
    expect(code).toBe(2)
    expect(err).toBe("")
    expect(JSON.parse(out)).toMatchObject({
      status: "failed",
      error: { tag: "InvalidPlan", issues: [{ _tag: "UnknownTool", tool: "Google" }] },
      progress: { evidence: [] }
    })
    expect(JSON.parse(out).error.message).toContain("Use one of: Lookup, Calculator")
  })

  it("a call without a scripted reply ends with a clear error and 1, and loses nothing", async () => {
    using files = folder({ "script.json": [plan] })
    const { code, err } = await forethought(["run", "rewoo", "q", "-m", "scripted:script.json"], { cwd: files.path })
    expect(code).toBe(1)
    expect(err).toContain("no scripted reply fits the call solver of the solver")
    expect(err).toContain("#E2 Calculator[66977107 * 2] (ok): 133954214")
  })

  it("says which scripted replies were not asked for", async () => {
    using files = folder({ "script.json": [...script, "one too many"] })
    const { code, err } = await forethought(["run", "rewoo", "q", "-m", "scripted:script.json"], { cwd: files.path })
    expect(code).toBe(0)
    expect(err).toContain('A scripted reply was not asked for: "one too many"')
  })

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const)("%s interrupts the run, prints what was gathered, exits %d", async (signal, exit) => {
    using files = folder({
      "script.json": [
        "#E1 = Lookup[population of France]\n#E2 = LLM[think]",
        { role: "executor", text: "late", after: "1 minute" }
      ]
    })
    for (const json of [[], ["--json"]]) {
      const args = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "lookup,llm", ...json]
      const { code, err, out } = await forethought(args, {
        cwd: files.path,
        onErr: (text, child) => {
          if (text.includes("#E2: asking the model")) child.kill(signal)
        }
      })
      expect(code).toBe(exit)
      if (json.length === 0) {
        expect(out).toBe("")
        expect(err).toContain("Interrupted.")
        expect(err).toContain("#E1 Lookup[population of France] (ok): 66977107")
        expect(err).toContain("#E2 LLM[think] (not finished)")
      } else {
        expect(JSON.parse(out)).toMatchObject({
          status: "interrupted",
          error: { tag: "Interrupted" },
          progress: { evidence: [{ variable: "#E1", text: "66977107" }], calls: [{ call: "#E2" }] }
        })
      }
    }
  })
})

describe("a model over HTTP", () => {
  it("answers, and gives each role its own model where that is said", async () => {
    await using planner = await modelServer([plan])
    await using others = await modelServer(["Two times France."])
    const args = ["run", "rewoo", "q", "--model", others.spec, "--model", `planner=${planner.spec}`]
    const { code, err, out } = await forethought(args)
    expect(out).toBe("Two times France.\n")
    expect(code).toBe(0)
    expect(err).toContain("(7 tokens in, 3 out)")
    expect([planner.asked.length, others.asked.length]).toEqual([1, 1])
  })

  const key = "sk-secret-0123456789"

  it.each([
    { env: { FORETHOUGHT_API_KEY: key }, sent: `Bearer ${key}` },
    { env: { OPENAI_API_KEY: key }, sent: `Bearer ${key}` },
    { env: { OPENAI_API_KEY: "sk-other", FORETHOUGHT_API_KEY: key }, sent: `Bearer ${key}` },
    { env: {}, sent: undefined }
  ])("sends the key of $env as $sent", async ({ env, sent }) => {
    await using server = await modelServer([plan, "Done."])
    expect((await forethought(["run", "rewoo", "q", "--model", server.spec], { env })).code).toBe(0)
    expect(server.asked[0]?.headers.authorization).toBe(sent)
  })

  it("never prints the key, whatever goes wrong", async () => {
    using files = folder({})
    await using server = await modelServer([401])
    const args = ["run", "rewoo", "q", "--model", server.spec, "--events", files.file("events.jsonl")]
    for (const json of [[], ["--json"]]) {
      const { code, err, out } = await forethought([...args, ...json], { env: { FORETHOUGHT_API_KEY: key } })
      expect(code).toBe(1)
      expect(json.length === 0 ? err : out).toContain("check the API key")
      expect(out + err + readFileSync(files.file("events.jsonl"), "utf8")).not.toContain(key)
    }
  })

  it("keeps what was gathered when the server fails half-way", async () => {
    await using server = await modelServer([plan, 400])
    const { code, err } = await forethought(["run", "rewoo", "q", "--model", server.spec])
    expect(code).toBe(1)
    expect(err).toContain("The solver's model did not accept the request (HTTP 400)")
    expect(err).toContain("#E2 Calculator[66977107 * 2] (ok): 133954214")
  })
})

describe("settings", () => {
  it("a flag goes before the environment, the environment before the file", async () => {
    const says = (text: string) => ["#E1 = Lookup[France]", { role: "solver", text }]
    using files = folder({
      "file.json": says("from the file"),
      "env.json": says("from the environment"),
      "flag.json": says("from the flag"),
      "forethought.config.json": { model: "scripted:file.json" }
    })
    const env = { FORETHOUGHT_MODEL: "scripted:env.json" }
    const run = async (args: ReadonlyArray<string>, env: { readonly [name: string]: string }) =>
      (await forethought(["run", "rewoo", "q", ...args], { cwd: files.path, env })).out
    expect(await run([], {})).toBe("from the file\n")
    expect(await run([], env)).toBe("from the environment\n")
    expect(await run(["--model", "scripted:flag.json"], env)).toBe("from the flag\n")
  })

  it("with no model, says how to configure one", async () => {
    const { code, err, out } = await forethought(["run", "rewoo", "q"])
    expect({ code, out }).toEqual({ code: 1, out: "" })
    for (const way of [
      "--model",
      "FORETHOUGHT_MODEL",
      "forethought.config.json",
      "openai-compatible:<model>@<baseUrl>"
    ]) {
      expect(err).toContain(way)
    }
  })
})

describe("bad input", () => {
  const model = ["--model", "scripted:script.json"]
  it.each([
    { args: ["run", "rewoo", "q", "--modle", "x"], says: "Unknown option '--modle'\n(Did you mean --model?)" },
    { args: ["rnu"], says: "Unknown command 'rnu'\n(Did you mean run?)" },
    { args: ["run"], says: "Missing required argument 'pattern'" },
    { args: ["run", "rewo", "q"], says: 'There is no pattern "rewo". Did you mean rewoo?' },
    { args: ["run", "rewoo"], says: "No question is given" },
    { args: ["run", "rewoo", "  "], says: "The question is empty" },
    { args: ["run", "rewoo", "-"], says: "The question is empty" },
    { args: ["run", "rewoo", "how", "many"], says: "put it in quotes" },
    { args: ["run", "rewoo", "q", "--model", "gpt-4"], says: "openai-compatible:<model>@<baseUrl>" },
    { args: ["run", "rewoo", "q", "--model", "openai-compatible:m"], says: "no address that starts with" },
    { args: ["run", "rewoo", "q", "--model", "openai-compatible:m@http://"], says: "The model's address is not valid" },
    { args: ["run", "rewoo", "q", "--model", "openai-compatible:@http://localhost/v1"], says: "has no name" },
    {
      args: ["run", "rewoo", "q", "--model", "openai-compatible:m@http://me:hunter2@h/v1"],
      says: "FORETHOUGHT_API_KEY"
    },
    { args: ["run", "rewoo", "q", "--model", "planner=scripted:script.json"], says: "single roles only" },
    { args: ["run", "rewoo", "q", "--model", "openai-compatible:m@http://127.0.0.1:9/v1"], says: "cannot be reached" },
    { args: ["run", "rewoo", "q", "--model", "scripted:none.json"], says: "none.json cannot be read" },
    { args: ["run", "rewoo", "q", "--model", "scripted:broken.json"], says: "broken.json is not valid JSON" },
    { args: ["run", "rewoo", "q", "--model", "scripted:odd.json"], says: 'reply 1 has the key "txet"' },
    { args: ["run", "rewoo", "q", ...model, "--tools", "lookup,calculatr"], says: "Did you mean calculator?" },
    { args: ["run", "rewoo", "q", ...model, "--concurrency", "2"], says: "rewoo has no option --concurrency" },
    {
      args: ["run", "rewoo", "q", ...model, "--max-plan-length", "0"],
      says: "--max-plan-length must be a whole number"
    },
    { args: ["run", "rewoo", "q", ...model, "--max-plan-length", "1e9"], says: "must be a whole number" },
    { args: ["run", "rewoo", "q", ...model, "--tool-timeout", "30"], says: 'such as "30 seconds"' },
    { args: ["run", "rewoo", "q", ...model, "--tool-timeout", "-1 seconds"], says: 'such as "30 seconds"' },
    { args: ["run", "rewoo", "q", ...model, "--events", "none/e.jsonl"], says: "cannot be written" },
    { args: ["run", "rewoo", "q", "--config", "none.json"], says: "The config file none.json cannot be read" },
    { args: ["run", "rewoo", "q", "--config", "broken.json"], says: "The config file broken.json is not valid JSON" },
    { args: ["run", "rewoo", "q", "--config", "list.json"], says: "must hold a JSON object" },
    {
      args: ["run", "rewoo", "q", "--config", "unknown.json"],
      says: '"modle", which is not known. Did you mean "model"?'
    },
    { args: ["run", "rewoo", "q", "--config", "secret.json"], says: "secrets do not belong in a file" },
    {
      args: ["run", "rewoo", "q", "--config", "type.json", ...model],
      says: '"maxPlanLength" in the config file type.json'
    },
    { args: ["demo", "--delay", "soon"], says: '--delay must be a duration such as "30 seconds"' }
  ])("$args: one message, exit code 1, no stack trace", async ({ args, says }) => {
    using files = folder({
      "script.json": script,
      "broken.json": "{",
      "list.json": [],
      "odd.json": [{ txet: "x" }],
      "unknown.json": { modle: "x" },
      "secret.json": { apiKey: "hunter2" },
      "type.json": { maxPlanLength: true }
    })
    const { code, err, out } = await forethought(args, { cwd: files.path })
    expect(err).toContain(says)
    expect(code).toBe(1)
    expect(out).toBe("")
    expect(err).not.toMatch(/\n\s+at /)
    expect(err).not.toContain("hunter2")
    const asJson = await forethought([...args, "--json"], { cwd: files.path })
    expect(asJson.code).toBe(1)
    if (args[0] === "run" && args.length > 1) {
      expect(JSON.parse(asJson.out)).toMatchObject({ status: "failed" })
      expect(JSON.parse(asJson.out).error.message).toContain(says)
    }
  })
})

describe("lists and help", () => {
  it.each([
    { args: ["--help"], says: "forethought demo" },
    { args: ["run", "--help"], says: "--max-plan-length <count>" },
    { args: ["patterns"], says: "rewoo-parallel" },
    { args: ["tools"], says: "calculator" },
    { args: ["--version"], says: "0." }
  ])("$args prints on standard output and ends with 0", async ({ args, says }) => {
    const { code, err, out } = await forethought(args)
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toContain(says)
  })

  it("no command shows the help and ends with 1", async () => {
    const { code, err, out } = await forethought([])
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).toContain("Usage: forethought")
  })
})

describe("demo", () => {
  it("shows every pattern, with scripted replies and real tools", async () => {
    const { code, err, out } = await forethought(["demo", "--delay", "100 ms"])
    expect(code).toBe(0)
    const answers = out.split("\n").filter((line) => line.startsWith("3,072,034,829 people"))
    expect(answers).toHaveLength(2)
    expect(answers[0]).toContain("China's share is 45.3 %")
    for (const answer of [
      "\n24\n",
      "2^10 + 3^5 = 1267",
      "The phone costs 7192.8 yuan",
      "444,377 more people live in Ottawa (812,129) than in Canberra (367,752).",
      "Japan has 334.9 people per square kilometre.\nSouth Korea has 519 people"
    ]) {
      expect(out).toContain(answer)
    }
    expect(err).toContain("model: scripted replies")
    expect(err).toContain("each call slowed down by 100 ms")
    expect(err).toContain("#E3 starts (while 2 others run)")
    expect(err).toContain('There is no function or variable "convert"')
    expect(err).toContain("routed to react")
    expect(err).not.toContain("was not asked for")
  })

  it("--pattern shows that one alone", async () => {
    const { err, out } = await forethought(["demo", "--pattern", "auto", "--delay", "0"])
    expect(out).toBe("What is 2^10 + 3^5?\n2^10 + 3^5 = 1267\n")
    expect(err).not.toContain("rewoo")
  })

  it("cannot say what the tools did not find", async () => {
    using files = folder({
      "script.json": [
        "#E1 = Lookup[population of Narnia]",
        { role: "solver", text: "There are {{#E1 grouped}} people." }
      ]
    })
    const { out } = await forethought(["run", "rewoo", "q", "-m", "scripted:script.json"], { cwd: files.path })
    expect(out).toBe("There are (no evidence for #E1) people.\n")
  })

  it("runs the same on a real model", async () => {
    await using server = await modelServer([plan, "One."])
    const { code, err, out } = await forethought(["demo", "--pattern", "rewoo", "--delay", "0", "--model", server.spec])
    expect(code).toBe(0)
    expect(out).toMatch(/\nOne\.\n$/)
    expect(err).not.toContain("scripted")
  })
})
