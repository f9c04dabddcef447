/** The program on each kind of model, over loopback servers that speak its provider's protocol. */

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { patterns } from "../src/config/patterns.js"
import { readSettings } from "../src/config/settings.js"
import { everything, folder, forethought } from "./support/forethought.js"
import { chat, json, loopback, type Received } from "./support/loopback.js"

const key = "sk-secret-0123456789abcdef"

interface Provider {
  readonly kind: string
  readonly spec: (url: string) => string
  readonly env: (url: string) => { readonly [name: string]: string }
  readonly variable: string
  readonly reply: (text: string) => object
  readonly keyIn: (received: Received) => string | undefined
}

const bearer = ({ headers }: Received) => headers["authorization"]?.replace("Bearer ", "")

const providers: ReadonlyArray<Provider> = [
  {
    kind: "openai",
    spec: () => "openai:gpt-4.1-mini",
    env: (url) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` }),
    variable: "OPENAI_API_KEY",
    reply: (text) => ({
      ...{
        id: "resp_1",
        object: "response",
        created_at: 1,
        status: "completed",
        error: null,
        incomplete_details: null
      },
      ...{ instructions: null, metadata: {}, model: "gpt-4.1-mini", parallel_tool_calls: true, temperature: 1 },
      ...{ tool_choice: "auto", tools: [], top_p: 1 },
      output: [
        {
          ...{ type: "message", id: "msg_1", status: "completed", role: "assistant" },
          content: [{ type: "output_text", text, annotations: [], logprobs: [] }]
        }
      ],
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10
      }
    }),
    keyIn: bearer
  },
  {
    kind: "anthropic",
    spec: () => "anthropic:claude-haiku-4-5",
    env: (url) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url }),
    variable: "ANTHROPIC_API_KEY",
    reply: (text) => ({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-haiku-4-5", stop_reason: "end_turn" },
      ...{ stop_sequence: null, container: null, context_management: null },
      content: [{ type: "text", text, citations: null }],
      usage: {
        ...{ input_tokens: 7, output_tokens: 3, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        service_tier: "standard"
      }
    }),
    keyIn: ({ headers }) => headers["x-api-key"]
  },
  {
    kind: "google",
    spec: () => "google:gemini-2.5-flash",
    env: (url) => ({ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url }),
    variable: "GEMINI_API_KEY",
    reply: (text) => ({
      candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
      modelVersion: "gemini-2.5-flash",
      responseId: "r1"
    }),
    keyIn: ({ headers }) => headers["x-goog-api-key"]
  },
  {
    kind: "openai-compatible",
    spec: (url) => `openai-compatible:stub@${url}/v1`,
    env: () => ({ FORETHOUGHT_API_KEY: key }),
    variable: "FORETHOUGHT_API_KEY",
    reply: chat,
    keyIn: bearer
  }
]

const plan = "#E1 = Lookup[population of France]"

describe.each(providers)("$kind", ({ env, keyIn, reply, spec, variable }) => {
  it("answers, with the key from the environment, and writes the key nowhere", async () => {
    using files = folder({})
    const says = [plan, "Many."]
    await using server = await loopback((_, response) => json(response, reply(says.shift() ?? "?")))
    const args = ["run", "rewoo", "q", "--model", spec(server.url), "--events", files.file("e.jsonl")]
    const { code, err, out } = await forethought(args, { env: env(server.url) })
    expect({ code, out }).toEqual({ code: 0, out: "Many.\n" })
    expect(server.received.map(keyIn)).toEqual([key, key])
    expect(err).toContain("(7 tokens in, 3 out)")
    expect(out + err + readFileSync(files.file("e.jsonl"), "utf8")).not.toContain(key)
  })

  it.each([401, 400])("status %i: names the variable of the key, never the key", async (status) => {
    using files = folder({})
    await using server = await loopback((received, response) =>
      // A server that shows the whole request, as some proxies do.
      json(response, { error: { message: `no: ${JSON.stringify(received)}`, type: "x", code: status } }, status)
    )
    for (const flags of [[], ["--json"], ["--stream"]]) {
      const args = ["run", "rewoo", "q", "--model", spec(server.url), "--events", files.file("e.jsonl"), ...flags]
      const { code, err, out } = await forethought(args, { env: env(server.url) })
      expect(code).toBe(1)
      if (status === 401 && flags.length === 0) expect(err).toContain(`The key is taken from`)
      if (status === 401 && flags.length === 0) expect(err).toContain(variable)
      expect(out + err + readFileSync(files.file("e.jsonl"), "utf8")).not.toContain(key)
    }
  })

  it("a budget in money takes the listed price, or asks for one", async () => {
    await using server = await loopback((_, response) => json(response, reply(plan)))
    const args = ["run", "rewoo", "q", "--model", spec(server.url), "--max-cost", "0.0000001"]
    const { code, err } = await forethought(args, { env: env(server.url) })
    expect(server.received).toHaveLength(0)
    if (variable === "FORETHOUGHT_API_KEY") {
      expect(code).toBe(1)
      expect(err).toContain("--price <in,out>")
    } else {
      expect(code).toBe(2)
      expect(err).toContain("stopped at the budget of this run (money")
    }
  })
})

describe("AU-13: the query of a base URL", () => {
  const secret = "QUERY-SECRET-123"
  const plan = "#E1 = Lookup[population of France]"
  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>, number]>([
    ["a run that is answered", ["run", "rewoo", "q"], ["--events", "e.jsonl"], 0],
    ["a run as JSON", ["run", "rewoo", "q"], ["--json"], 0],
    ["a plan", ["explain", "rewoo", "q"], [], 0],
    ["a plan as JSON", ["explain", "rewoo", "q"], ["--json"], 0],
    ["an error", ["run", "react", "q"], ["--events", "e.jsonl"], 1],
    ["an error as JSON", ["run", "react", "q"], ["--json"], 1],
    ["a redirect", ["run", "router", "q"], [], 1]
  ])("of %s is shown nowhere", async (_, command, flags, exit) => {
    let asked = 0
    await using server = await loopback(({ path }, response) => {
      if (command[1] === "router") response.writeHead(302, { location: `http://localhost:9${path}` }).end()
      else if (exit === 1) json(response, { error: { message: `no route for ${path}` } }, 404)
      else json(response, chat(asked++ === 0 ? plan : "66,977,107"))
    })
    using files = folder({})
    const spec = `openai-compatible:stub@${server.url}/v1?key=${secret}`
    const names = command.map((word) => (word === "router" ? "auto" : word))
    const { code, err, out } = await forethought([...names, "-m", spec, ...flags], { cwd: files.path })
    expect(code).toBe(exit)
    expect(server.received[0]?.path).toContain(`key=${secret}`)
    const events = existsSync(files.file("e.jsonl")) ? readFileSync(files.file("e.jsonl"), "utf8") : ""
    expect(events.length > 0).toBe(flags.includes("--events"))
    expect(out + err + events).not.toContain(secret)
    expect(err + out).toMatch(exit === 1 ? /redacted|redirects to http:\/\/localhost:9/ : /stub at http/)
  })
})

describe("a key that is missing", () => {
  it.each([
    ["openai:x", "OPENAI_API_KEY is not set"],
    ["anthropic:x", "ANTHROPIC_API_KEY is not set"],
    ["google:x", "GOOGLE_API_KEY and GEMINI_API_KEY are not set"]
  ])("%s: %s", async (spec, says) => {
    for (const json of [[], ["--json"]]) {
      const { code, err, out } = await forethought(["run", "react", "q", "-m", spec, ...json])
      expect(code).toBe(1)
      expect(json.length === 0 ? err : out).toContain(says)
      expect(err).not.toMatch(/\n\s+at /)
    }
  })
})

describe("ollama", () => {
  it("is asked at OLLAMA_HOST, without a key", async () => {
    await using server = await loopback((_, response) => json(response, chat("Done.")))
    const env = { OLLAMA_HOST: server.host, OPENAI_API_KEY: key }
    const { code, out } = await forethought(["run", "react", "q", "-m", "ollama:qwen3:8b"], { env })
    expect({ code, out }).toEqual({ code: 0, out: "Done.\n" })
    expect(server.received[0]).toMatchObject({ path: "/v1/chat/completions" })
    expect(JSON.stringify(server.received)).not.toContain(key)
  })
})

describe("--fallback-model", () => {
  it("is asked where the first cannot be reached", async () => {
    await using server = await loopback((_, response) => json(response, chat("From the second.")))
    const gone = "openai-compatible:gone@http://127.0.0.1:1/v1"
    const args = ["run", "react", "q", "-m", gone, "--fallback-model", `openai-compatible:b@${server.url}/v1`]
    const { code, err, out } = await forethought(args)
    expect({ code, out }).toEqual({ code: 0, out: "From the second.\n" })
    expect(err).toContain("else: b at")
  })
})

describe("--no-structured", () => {
  it.each([
    [[], {}, true],
    [["--no-structured"], {}, false],
    [[], { FORETHOUGHT_NO_STRUCTURED: "1" }, false]
  ] as const)("%j %j: whether the model is held to a schema is %j", async (flags, env, held) => {
    await using server = await loopback((_, response) =>
      json(response, chat('{"logic": "and", "sub_steps": ["One", "Two"]}'))
    )
    const args = ["run", "adapt", "q", "-m", `openai-compatible:s@${server.url}/v1`, "--max-calls", "2", ...flags]
    await forethought(args, { env })
    expect(server.received.some(({ body }) => body.includes("json_schema"))).toBe(held)
  })
})

describe("--stream", () => {
  it("shows lines while they arrive, and gives the same answer", async () => {
    const shown: Array<string> = []
    let next = () => {}
    const piece = (content: string) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "stub", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
    const end = `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "stub", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`
    await using server = await loopback((_, response) => {
      response.setHeader("content-type", "text/event-stream")
      response.write(piece("The fir"))
      response.write(piece("st line.\nThe \u001bsec"))
      next = () => {
        response.write(piece("ond line."))
        response.end(end)
      }
    })
    const args = ["run", "react", "q", "-m", `openai-compatible:s@${server.url}/v1`, "--stream"]
    const { code, err, out } = await forethought(args, {
      onErr: (text) => {
        if (!text.includes("turn-1 │ The first line.")) return
        shown.push(text)
        next()
        next = () => {}
      }
    })
    expect(code).toBe(0)
    expect(out).toBe("The first line.\nThe \\u{1b}second line.\n")
    expect(shown[0]).not.toContain("second line")
    expect(err).toContain("turn-1 │ The \\u{1b}second line.\n")
  })
})

describe("forethought models", () => {
  it("says what is missing, on standard output, and ends with 0", async () => {
    const { code, err, out } = await forethought(["models"], { env: { OLLAMA_HOST: "127.0.0.1:1" } })
    expect({ code, err }).toEqual({ code: 0, err: "" })
    for (const part of [
      ...["openai:<model>", "OPENAI_API_KEY is not set", "ANTHROPIC_API_KEY is not set", "GEMINI_API_KEY are not set"],
      ...["Nothing answers at http://127.0.0.1:1", "gguf:<file>", "scripted:<file>"]
    ]) {
      expect(out).toContain(part)
    }
  })

  it("says what can be used, sends no key and shows none", async () => {
    await using server = await loopback((_, response) => json(response, {}))
    const env = Object.assign({ OLLAMA_HOST: server.host }, ...providers.map(({ env }) => env(server.url)))
    const { code, out } = await forethought(["models", "--json"], { env })
    expect(code).toBe(0)
    const kinds: ReadonlyArray<{ readonly kind: string; readonly usable: boolean }> = JSON.parse(out)
    expect(kinds.filter(({ usable }) => usable).map(({ kind }) => kind)).toEqual(kinds.map(({ kind }) => kind))
    expect(out + JSON.stringify(server.received)).not.toContain(key)
    expect(server.received.map(({ path }) => path)).toEqual(["/"])
  })
})

describe("secrets of MCP servers", () => {
  it("come from the environment, reach the server, and are written nowhere", async () => {
    const [, command = "", , script = ""] = everything.split('"')
    using files = folder({
      "script.json": ["#E1 = get-env[{}]", { role: "solver", text: "The environment: {{#E1}}" }],
      "forethought.config.json": {
        mcp: { all: { command, args: [script, "stdio"], env: { TOKEN: `\${MY_TOKEN}`, PLAIN: "not hidden" } } },
        tools: []
      }
    })
    for (const flags of [[], ["--json"]]) {
      const args = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "none", "--events", "e.jsonl", ...flags]
      const { code, err, out } = await forethought(args, {
        cwd: files.path,
        env: { MY_TOKEN: key, OPENAI_API_KEY: key }
      })
      expect(code).toBe(0)
      expect(out).toContain("[redacted]")
      expect(out).toContain("not hidden")
      expect(out + err + readFileSync(files.file("e.jsonl"), "utf8")).not.toContain(key)
    }
  })
})

describe("gguf", () => {
  const react = patterns.find(({ name }) => name === "react") ?? expect.fail("no such pattern")
  const protocol = async (
    model: ReadonlyArray<string>,
    given: ReadonlyArray<readonly [string, string]> = [],
    env = {}
  ) => {
    const settings = readSettings({ model, options: new Map(given) }, react, { folder: "/", env })
    return (await Effect.runPromise(settings)).options.get("protocol")
  }

  it.each([
    [["gguf:x.gguf"], "text"],
    [["scripted:x", "executor=gguf:x.gguf"], "text"],
    [["gguf:x.gguf", "executor=scripted:x"], undefined],
    [["scripted:x", "planner=gguf:x.gguf"], undefined]
  ])("%j: tools are called by %s", async (model, expected) => {
    expect(await protocol(model)).toBe(expected)
  })

  it("unless something else is said", async () => {
    expect(await protocol(["gguf:x.gguf"], [["protocol", "native"]])).toBe("native")
    expect(await protocol(["gguf:x.gguf"], [], { FORETHOUGHT_PROTOCOL: "native" })).toBe("native")
    expect(await protocol(["scripted:x"], [], { FORETHOUGHT_FALLBACK_MODEL: "gguf:x" })).toBe("text")
  })

  const models = fileURLToPath(new URL("../../../../shared/models/", import.meta.url))
  const file = existsSync(models) ? readdirSync(models).find((name) => name.endsWith(".gguf")) : undefined
  it.skipIf(file === undefined)("runs a file in the process (skipped where there is none)", async () => {
    const args = [
      "run",
      "react",
      "Say hello.",
      "-m",
      `gguf:${models}${file}`,
      "--max-turns",
      "1",
      "--max-output-tokens",
      "40"
    ]
    const { code, err } = await forethought(args)
    expect([0, 2]).toContain(code)
    expect(err).toContain("tools are called by text")
    expect(err).not.toMatch(/\n\s+at /)
  })

  it("a file that is missing ends with 1", async () => {
    const { code, err } = await forethought(["run", "react", "q", "-m", "gguf:none.gguf"])
    expect(code).toBe(1)
    expect(err).toContain("there is no such file")
  })
})
