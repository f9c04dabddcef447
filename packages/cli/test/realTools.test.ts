/** The tools that reach out, on loopback servers and folders of the test. */
import { mkdirSync, writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { everything, folder, forethought } from "./support/forethought.js"
import { runScript } from "./support/inProcess.js"
import { json, loopback } from "./support/loopback.js"

const solver = { role: "solver", text: "{{#E1}}" }

describe("tools", () => {
  it("http-get reads a host that is on the list, and no other", async () => {
    await using server = await loopback((_, response) => {
      response.setHeader("content-type", "text/html")
      response.end("<h1>The page</h1>")
    })
    const replies = [`#E1 = HttpGet[${server.url}/a]`, solver]
    const flags = ["--tools", "http-get", "--allow-host", `example.org,${server.host}`]
    expect(await runScript("rewoo", replies, [...flags, "--allow-private"])).toMatchObject({
      code: 0,
      out: "The page\n"
    })
    expect((await runScript("rewoo", replies, flags)).err).toContain("#E1 error")
    const other = await runScript("rewoo", replies, ["--tools", "http-get", "--allow-host", "example.org"])
    expect(other.err).toContain("#E1 error")
    expect(server.received).toHaveLength(1)
  })

  it("read-file and list-files stay in their folder", async () => {
    using files = folder({ "script.json": [], "secret.txt": "hunter2" })
    mkdirSync(files.file("docs"))
    writeFileSync(files.file("docs/a.txt"), "The text.")
    const run = async (call: string) => {
      writeFileSync(files.file("script.json"), JSON.stringify([`#E1 = ${call}`, solver]))
      const args = ["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "read-file,list-files", "--root", "docs"]
      return forethought(args, { cwd: files.path })
    }
    expect(await run("ReadFile[a.txt]")).toMatchObject({ code: 0, out: "The text.\n" })
    expect(await run("ListFiles[.]")).toMatchObject({ code: 0, out: "a.txt (9 bytes)\n" })
    const { err, out } = await run("ReadFile[../secret.txt]")
    expect(err).toContain("#E1 error")
    expect(out + err).not.toContain("hunter2")
  })

  it("web-search asks a SearXNG server", async () => {
    await using server = await loopback((_, response) =>
      json(response, { results: [{ title: "T", url: "https://example.org", content: "S" }] })
    )
    const flags = ["--tools", "web-search", "--searxng", server.url]
    const { code, out } = await runScript("rewoo", ["#E1 = WebSearch[x y]", solver], flags)
    expect({ code, out }).toEqual({ code: 0, out: "1. T\n   https://example.org\n   S\n" })
    expect(server.received[0]?.path).toBe("/search?q=x+y&format=json")
  })

  it("wikipedia asks the wiki that is named", async () => {
    await using server = await loopback(({ path }, response) =>
      json(
        response,
        path.startsWith("/w/rest.php")
          ? { pages: [{ key: "Oslo", title: "Oslo" }] }
          : { query: { pages: [{ title: "Oslo", extract: "The capital of Norway." }] } }
      )
    )
    const flags = ["--tools", "wikipedia", "--wikipedia-url", server.url]
    const { code, out } = await runScript("rewoo", ["#E1 = Wikipedia[Oslo]", solver], flags)
    expect(code).toBe(0)
    expect(out).toContain("The capital of Norway.")
  })

  it("--tool-permits takes the names of --tools and the tools' own", async () => {
    const replies = ["#E1 = Lookup[population of France]", solver]
    for (const name of ["lookup", "Lookup", "calculator=2,lookup"]) {
      const { code } = await runScript("rewoo", replies, ["--tool-permits", `${name}=1`])
      expect(code).toBe(0)
    }
  })
})

describe("MCP servers", () => {
  const replies = ['#E1 = get-sum[{"a": 2, "b": 3}]\n#E2 = echo[hello]', { role: "solver", text: "{{#E1}} {{#E2}}" }]

  it("give their tools, from a flag or the config file", async () => {
    const [, command, , script] = everything.split('"')
    const server = { command, args: [script, "stdio"] }
    const says = { code: 0, out: "The sum of 2 and 3 is 5. Echo: hello\n" }
    expect(await runScript("rewoo", replies, ["--mcp", everything, "-t", "none"])).toMatchObject(says)
    const files = { "forethought.config.json": { mcp: { all: server }, tools: "lookup" } }
    const { err, ...told } = await runScript("rewoo", replies, [], files)
    expect(told).toMatchObject(says)
    expect(err).toContain("tools: lookup, all (MCP)")
  })

  it("two with the same tools: those of the second have its name before theirs", async () => {
    const [, command, , script] = everything.split('"')
    const server = { command, args: [script, "stdio"] }
    const { code, out } = await runScript("rewoo", ["#E1 = second_echo[x]", solver], ["-t", "none"], {
      "forethought.config.json": { mcp: { first: server, second: server } }
    })
    expect({ code, out }).toEqual({ code: 0, out: "Echo: x\n" })
  })

  it("are listed by forethought tools", async () => {
    const { code, err, out } = await forethought(["tools", "--mcp", everything])
    expect(code).toBe(0)
    expect(err).toMatch(
      /^forethought: MCP server "node": Its tool "simulate-research-query" can only .*; it is left out\.\n$/
    )
    expect(out).toMatch(/http-get .*\n +needs --allow-host/)
    expect(out).toMatch(
      /MCP server node:\n(.*\n)* {2}get-sum {2}Returns the sum of two numbers \(claims to be read-only.*: not believed without --trust-mcp\)\n/
    )
  })

  it("AU-06: are listed with what is believed of them", async () => {
    const [, command, , script] = everything.split('"')
    using files = folder({
      "forethought.config.json": { mcp: { all: { command, args: [script, "stdio"], trust: true } } }
    })
    for (const args of [["tools"], ["tools", "--mcp", everything, "--trust-mcp", "node"]]) {
      const { out } = await forethought(args, { cwd: files.path })
      expect(out).toMatch(
        /MCP server (all|node), believed:\n(.*\n)* {2}get-sum {2}Returns the sum of two numbers \(read-only/
      )
      expect(out).toMatch(/ {2}toggle-simulated-logging .* \(changes something\)\n/)
    }
  })
})

describe("bad input", () => {
  const run = ["run", "rewoo", "q", "-m", "scripted:script.json"]
  it.each([
    { args: [...run, "-t", "http-get"], says: "http-get needs --allow-host" },
    { args: [...run, "-t", "http-get", "--allow-host", "http://x/y"], says: "--allow-host cannot be used" },
    { args: [...run, "-t", "read-file"], says: "read-file needs --root <folder>" },
    { args: [...run, "-t", "list-files", "--root", "none"], says: "--root must be a folder that exists" },
    { args: [...run, "-t", "web-search"], says: "web-search needs --searxng <url>, or BRAVE_API_KEY" },
    { args: [...run, "-t", "web-search", "--searxng", "localhost"], says: "--searxng must be an address" },
    {
      args: [...run, "-t", "web-search", "--searxng", "http://me:hunter2@x"],
      says: "must not hold a name and a password"
    },
    {
      args: [...run, "-t", "wikipedia", "--wikipedia-url", "ftp://hunter2"],
      says: "--wikipedia-url must be an address"
    },
    { args: [...run, "--tool-permits", "lookup"], says: "--tool-permits must be names with whole numbers" },
    { args: [...run, "--tool-permits", "lookup=0"], says: "--tool-permits must be names with whole numbers" },
    {
      args: [...run, "--tool-permits", "lokup=1"],
      says: 'names the tool "lokup", which the run does not have. Did you mean Lookup?'
    },
    {
      args: [...run, "--mcp", "no-such-command-here"],
      says: 'MCP server "no-such-command-here": The command was not found'
    },
    { args: [...run, "--mcp", "http://127.0.0.1:1/mcp?key=hunter2hunter2hunter2"], says: 'MCP server "127.0.0.1:1"' },
    { args: [...run, "--mcp", "a 'b"], says: "has a quote ' that does not end" },
    { args: [...run, "--mcp", "   "], says: "--mcp must be a text" },
    { args: [...run, "-c", "mcp-text.json"], says: 'the server "a" must be an object' },
    { args: [...run, "-c", "mcp-odd.json"], says: 'the server "a" has the key "comand"' },
    { args: [...run, "-c", "mcp-args.json"], says: 'needs a list of texts as "args"' },
    { args: [...run, "-c", "mcp-env.json"], says: "asks for the environment variable NOT_SET, which is not set" },
    { args: [...run, "-c", "mcp-url.json"], says: "must be an address" },
    { args: [...run, "-c", "switch.json"], says: '"approve" in the config file switch.json must be true or false' },
    { args: [...run, "--fallback-model", "gpt-4"], says: "--fallback-model names no model" },
    { args: [...run, "--max-calls", "none"], says: "--max-calls must be a whole number" },
    { args: [...run, "--approve", "yes"], says: "put it in quotes" },
    { args: ["explain", "rewo", "q"], says: "Did you mean rewoo?" },
    { args: ["explain", "rewoo"], says: "No question is given" },
    { args: ["explain", "rewoo", "q"], says: "No model is configured" },
    {
      args: ["explain", "react", "q", "-m", "scripted:script.json", "--mermaid"],
      says: "There is no graph to draw: react shows no plan"
    },
    { args: ["mcp"], says: "No model is configured" },
    { args: ["mcp", "-m", "openai:x"], says: "OPENAI_API_KEY is not set" },
    { args: ["tools", "--mcp", "no-such-command-here"], says: "The command was not found" }
  ])("$args: one message, exit code 1, no stack trace", async ({ args, says }) => {
    using files = folder({
      "script.json": ["#E1 = Lookup[x]", solver],
      "mcp-text.json": { mcp: { a: "x" } },
      "mcp-odd.json": { mcp: { a: { comand: "x" } } },
      "mcp-args.json": { mcp: { a: { command: "x", args: "y" } } },
      "mcp-env.json": { mcp: { a: { command: "x", env: { A: `\${NOT_SET}` } } } },
      "mcp-url.json": { mcp: { a: { url: "hunter2" } } },
      "switch.json": { approve: "perhaps" }
    })
    const { code, err, out } = await forethought(args, { cwd: files.path })
    expect(err).toContain(says)
    expect({ code, out }).toEqual({ code: 1, out: "" })
    expect(err).not.toMatch(/\n\s+at /)
    expect(err).not.toContain("hunter2")
  })
})
