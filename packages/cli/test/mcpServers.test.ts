/** MCP servers in the config file: our form, and those that people copy from other clients. */
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { readServersOf } from "../src/config/settings.js"
import { everything, folder, forethought } from "./support/forethought.js"

const env = { TOKEN: "secret-token-0123456789", HOME: "/home/me", EMPTY: "" }

const read = (config: unknown) => {
  using files = folder({ "forethought.config.json": config })
  return Effect.runSync(readServersOf({ options: new Map() }, { folder: files.path, env }))
}

const one = (server: unknown, root = "mcpServers") => {
  const [first, ...others] = read({ [root]: { s: server } })
  expect(others).toEqual([])
  return first ?? expect.fail("no server")
}

const plain = (value: string) => ({ value, isSecret: false })
const hidden = (value: string) => ({ value, isSecret: true })

describe("commands", () => {
  const npx = { command: "npx", args: [plain("-y"), plain("x")] }
  const forms: ReadonlyArray<readonly [string, unknown, object]> = [
    ["the common form", { command: "npx", args: ["-y", "x"] }, npx],
    ["with a type", { type: "stdio", command: "npx", args: ["-y", "x"] }, npx],
    ["a command in a list", { type: "local", command: ["npx", "-y", "x"] }, npx],
    ["a list and arguments", { command: ["npx"], args: ["-y", "x"] }, npx],
    ["a command as an object", { command: { path: "npx", args: ["-y", "x"], env: null } }, npx],
    ["nulls", { command: "npx", args: ["-y", "x"], env: null, url: null, cwd: null, timeout: null, type: null }, npx],
    ["empty texts for what does not apply", { command: "npx", args: ["-y", "x"], url: "", type: " ", env: {} }, npx],
    [
      "numbers among the arguments",
      { command: "x", args: ["--port", 3000] },
      { args: [plain("--port"), plain("3000")] }
    ],
    ["no arguments", { command: "npx", args: null }, { command: "npx", args: [] }],
    [
      "env",
      { command: "x", env: { A: "b", PORT: 3000, ON: true } },
      {
        env: [
          { name: "A", ...plain("b") },
          { name: "PORT", ...plain("3000") },
          { name: "ON", ...plain("true") }
        ]
      }
    ],
    ["environment", { command: ["x"], environment: { A: "b" } }, { env: [{ name: "A", ...plain("b") }] }],
    ["env_vars", { command: "x", env_vars: ["TOKEN"] }, { env: [{ name: "TOKEN", ...hidden(env.TOKEN) }] }],
    ["cwd", { command: "x", cwd: "/srv" }, { cwd: "/srv" }]
  ]
  it.each(forms)("%s", (_, server, expected) => {
    const { at, notes } = one(server)
    expect(at).toMatchObject(expected)
    expect(notes).toEqual([])
  })
})

describe("addresses", () => {
  const url = "https://example.org/mcp"
  const forms: ReadonlyArray<readonly [string, unknown, object]> = [
    ["url", { url }, { url, headers: [], transport: "http" }],
    ["an empty command", { command: "", url, args: [], env: {} }, { url, transport: "http" }],
    ["httpUrl", { httpUrl: url }, { url, transport: "http" }],
    ["serverUrl", { serverUrl: url }, { url, transport: "http" }],
    ["http", { type: "http", url }, { url, transport: "http" }],
    ["streamable-http", { type: "streamable-http", url }, { url, transport: "http" }],
    ["streamableHttp", { type: "streamableHttp", url }, { url, transport: "http" }],
    ["streamable_http", { transport: "streamable_http", url }, { url, transport: "http" }],
    ["remote", { type: "remote", url, enabled: true }, { url, transport: "http" }],
    ["sse", { type: "sse", url }, { url, transport: "sse" }],
    ["transportType", { transportType: "SSE", url, disabled: false }, { url, transport: "sse" }],
    [
      "headers",
      { url, headers: { Authorization: `Bearer \${TOKEN}`, "X-A": "b" } },
      {
        headers: [
          { name: "Authorization", ...hidden(`Bearer ${env.TOKEN}`) },
          { name: "X-A", ...plain("b") }
        ]
      }
    ],
    [
      "http_headers",
      { url, http_headers: { a: "b" }, env_http_headers: { k: "TOKEN" } },
      {
        headers: [
          { name: "a", ...plain("b") },
          { name: "k", ...hidden(env.TOKEN) }
        ]
      }
    ],
    [
      "bearer_token_env_var",
      { url, bearer_token_env_var: "TOKEN" },
      { headers: [{ name: "authorization", ...hidden(`Bearer ${env.TOKEN}`) }] }
    ]
  ]
  it.each(forms)("%s", (_, server, expected) => {
    const { at, notes } = one(server)
    expect(at).toMatchObject(expected)
    expect(notes).toEqual([])
  })
})

describe("variables", () => {
  const forms: ReadonlyArray<readonly [string, object]> = [
    [`\${TOKEN}`, hidden(env.TOKEN)],
    [`\${env:TOKEN}`, hidden(env.TOKEN)],
    ["{env:TOKEN}", hidden(env.TOKEN)],
    [`a-\${TOKEN}-b`, hidden(`a-${env.TOKEN}-b`)],
    [`\${TOKEN:-other}`, hidden(env.TOKEN)],
    [`\${NOT_SET:-other}`, plain("other")],
    [`\${EMPTY:-other}`, plain("other")],
    [`\${NOT_SET:-}`, plain("")],
    [`\${env:NOT_SET:-http://x:1}`, plain("http://x:1")],
    ["$TOKEN", plain("$TOKEN")],
    ["{TOKEN}", plain("{TOKEN}")],
    [`\${userHome}/x`, plain("/home/me/x")],
    ["a$b{c}", plain("a$b{c}")]
  ]
  it.each(forms)("%s", (written, expected) => {
    expect(one({ command: "x", env: { A: written } }).at).toMatchObject({ env: [{ name: "A", ...expected }] })
    expect(one({ command: "x", args: [written] }).at).toMatchObject({ args: [expected] })
  })
  it("stand in commands, addresses and folders too", () => {
    expect(one({ command: `\${env:HOME}/bin/x`, cwd: `\${userHome}` }).at).toMatchObject({
      command: "/home/me/bin/x",
      cwd: "/home/me"
    })
    expect(one({ url: `https://example.org/\${TOKEN}` }).at).toMatchObject({ url: `https://example.org/${env.TOKEN}` })
  })
})

describe("what goes with it", () => {
  it.each(["mcp", "mcpServers", "servers", "context_servers", "mcp_servers"])("stands under %s", (root) => {
    expect(one({ command: "x" }, root)).toMatchObject({ name: "s", at: { command: "x" } })
  })
  it("may stand one key deeper", () => {
    expect(read({ mcp: { servers: { s: { command: "x" } } } })).toMatchObject([{ name: "s" }])
    expect(read({ mcp: { servers: { command: "x" } } })).toMatchObject([{ name: "servers" }])
  })
  it("a server that is turned off is not read", () => {
    const off = { a: { disabled: true }, b: { enabled: false, command: 7 }, c: { command: "x" } }
    expect(read({ mcpServers: off }).map(({ name }) => name)).toEqual(["c"])
  })
  it.each([
    [{ timeout: 60 }, { timeout: 60_000 }],
    [{ timeout: 30_000 }, { timeout: 30_000 }],
    [{ timeout: "2 minutes" }, { timeout: 120_000 }],
    [
      { tool_timeout_sec: 45, startup_timeout_sec: 20 },
      { timeout: 45_000, connectTimeout: 20_000 }
    ],
    [
      { includeTools: ["a"], excludeTools: ["b"] },
      { only: ["a"], without: ["b"] }
    ],
    [{ tools: ["*"] }, {}],
    [{ tools: ["a"] }, { only: ["a"] }],
    [{ allowedTools: ["a"] }, { only: ["a"] }],
    [
      { enabled_tools: ["a"], disabled_tools: ["b"] },
      { only: ["a"], without: ["b"] }
    ]
  ])("%j", (more, expected) => {
    expect(one({ command: "x", ...more })).toMatchObject({ ...expected, notes: [] })
  })
  const noted: ReadonlyArray<readonly [object, ReadonlyArray<RegExp>]> = [
    [{ command: "x", headers: { a: "b" } }, [/has the key "headers", which is not used with its kind/]],
    [{ url: "https://x", env: { A: "b" }, args: [] }, [/has the key "env", which is not used with its kind/]],
    [{ command: "x", env: { A: "$TOKEN" } }, [/has \$TOKEN, which stays as it is written: only \$\{NAME\} is read/]],
    [{ url: "https://x", headers: { a: "Bearer $TOKEN" } }, [/has \$TOKEN/]],
    [
      { command: "x", args: [`\${{ secrets.K }}`, `\${command:k}`, "{file:./k}"] },
      [/secrets\.K/, /command:k/, /file:/]
    ],
    [{ command: "x", args: ["$NOT_SET", "$5", `\${TOKEN}`, `\${NOT_SET:-$a}`, "{a}"] }, []]
  ]
  it.each(noted)("%j is told", (server, says) => {
    const { notes } = one(server)
    expect(notes).toHaveLength(says.length)
    for (const [n, text] of says.entries()) expect(notes[n]).toMatch(text)
    expect(notes.join()).not.toContain(env.TOKEN)
  })
  it("keys that mean nothing here are named, and do no harm", () => {
    const { notes } = one({ command: "x", autoApprove: ["a"], alwaysAllow: [] })
    expect(notes).toHaveLength(2)
    expect(notes[0]).toMatch(/the server "s" has the key "autoApprove", which is not used/)
  })
  const refused: ReadonlyArray<readonly [unknown, RegExp]> = [
    [{ mcpServers: { s: "npx" } }, /the server "s" must be an object/],
    [{ mcpServers: { s: {} } }, /has neither "command" nor "url"/],
    [{ mcpServers: { s: { command: "x", url: "https://x" } } }, /has both "command" and "url"/],
    [{ mcpServers: { s: { type: "websocket", url: "https://x" } } }, /needs stdio, http or sse as "type"/],
    [{ mcpServers: { s: { type: "stdio", url: "https://x" } } }, /type stdio, which does not go with "url"/],
    [{ mcpServers: { s: { type: "sse", command: "x" } } }, /type sse, which does not go with "command"/],
    [{ mcpServers: { s: { command: [] } } }, /needs a text as "command"/],
    [{ mcpServers: { s: { command: "x", env: ["A=b"] } } }, /"env" must be an object of texts/],
    [{ mcpServers: { s: { command: "x", env: { A: null } } } }, /"env" must be an object of texts/],
    [{ mcpServers: { s: { command: "x", env: { A: `\${NOT_SET}` } } } }, /variable NOT_SET, which is not set/],
    [{ mcpServers: { s: { command: "x", env: { A: "{env:NOT_SET}" } } } }, /variable NOT_SET, which is not set/],
    [{ mcpServers: { s: { command: "x", args: [`\${EMPTY}`] } } }, /variable EMPTY, which is not set/],
    [
      { mcpServers: { s: { command: "x", env: { A: `\${input:key}` } } } },
      /has \$\{input:key\}, which nobody is asked for/
    ],
    [
      { mcpServers: { s: { url: "https://x", bearer_token_env_var: "NOT_SET" } } },
      /variable NOT_SET, which is not set/
    ],
    [{ mcpServers: { s: { url: "ftp://x" } } }, /must be an address/],
    [{ mcpServers: { s: { command: "x", timeout: 2_000 } } }, /may mean seconds or milliseconds/],
    [{ mcpServers: { s: { command: "x", trust: "yes" } } }, /the server "s" needs true or false as "trust", got "yes"/],
    [{ mcpServers: { s: { url: "https://x", trust: 1 } } }, /needs true or false as "trust", got 1/],
    [{ mcpServers: { s: { url: "https://x", trust: ["a"] } } }, /needs true or false as "trust"/],
    [{ mcpServers: { s: { command: "x" } }, trustMcp: ["s"] }, /has the key "trustMcp", which is not known/],
    [{ mcpServers: { s: { command: "x", excludeTools: "a" } } }, /"excludeTools" must be a list of texts/],
    [{ mcp: {}, mcpServers: {} }, /MCP servers under two keys/],
    [{ mcpServers: [] }, /must be an object of servers by their names/],
    [{ mcpServers: [{ command: "x" }] }, /must be an object of servers by their names/],
    [{ mcpservers: {} }, /Did you mean "mcpServers"\?/],
    [{ mcp: "ws://example.org" }, /starts with ws:\/\/; it must start with http/]
  ]
  it.each(refused)("%j is refused", (config, says) => {
    expect(() => read(config)).toThrow(says)
  })
})

describe("trust", () => {
  const mcp = { a: { command: "x", trust: true }, b: { command: "y", trust: false }, c: { url: "https://x" } }
  const trusted = (names: ReadonlyArray<string>, mcp_: unknown = mcp, flags: ReadonlyArray<string> = []) => {
    using files = folder({ "forethought.config.json": { mcp: mcp_ } })
    const run = new Map<string, unknown>([
      ...(names.length === 0 ? [] : [["trustMcp", names] as const]),
      ...(flags.length === 0 ? [] : [["mcp", flags] as const])
    ])
    const around = { folder: files.path, env: { FORETHOUGHT_TRUST_MCP: "c" } }
    return Effect.runSync(readServersOf({ options: new Map(), run }, around))
      .filter(({ isTrusted }) => isTrusted)
      .map(({ name }) => name)
  }
  it.each<readonly [ReadonlyArray<string>, ReadonlyArray<string>]>([
    [[], ["a"]],
    [["b"], ["a", "b"]],
    [
      ["c", "b"],
      ["a", "b", "c"]
    ],
    [["a"], ["a"]]
  ])("AU-06: an entry's own and that of --trust-mcp %j", (names, expected) => {
    expect(trusted(names)).toEqual(expected)
  })
  it.each([null, "", undefined])("AU-06: is not given by %j", (trust) => {
    expect(trusted([], { a: { command: "x", trust } })).toEqual([])
  })
  it("AU-06: reaches a server of --mcp by its name, and none that shares it", () => {
    expect(trusted(["server"], undefined, ["bin/server --all"])).toEqual(["server"])
    expect(trusted(["example.org"], undefined, ["https://example.org/mcp"])).toEqual(["example.org"])
    expect(() => trusted(["npx"], undefined, ["npx one", "npx two"])).toThrow(/--trust-mcp names 2 MCP servers: "npx"/)
  })
  it("AU-06: in a server that is not there is refused, with those that are", () => {
    expect(() => trusted(["d"])).toThrow(/^--trust-mcp names no MCP server of this run: "d". Servers: a, b, c.$/)
    expect(() => trusted(["a"], {})).toThrow(/Servers: none\./)
  })
})

describe("in a run", () => {
  const [, command = "", , script = ""] = everything.split('"')
  it("copied servers give their tools, but for those that are not wanted, and warnings are told", async () => {
    const server = {
      type: "stdio",
      command: [command, script],
      args: ["stdio"],
      excludeTools: ["get-env"],
      autoApprove: []
    }
    using files = folder({
      "script.json": ["#E1 = echo[hello]\n#E2 = get-env[{}]", { role: "solver", text: "{{#E1}}" }],
      "forethought.config.json": {
        mcpServers: { all: server, off: { command: "none", disabled: true } },
        tools: "none"
      }
    })
    const args = ["run", "rewoo", "q", "-m", "scripted:script.json"]
    const told = await forethought(args, { cwd: files.path })
    expect(told.err).toContain('the server "all" has the key "autoApprove", which is not used')
    expect(told.err).toContain('"simulate-research-query" can only be called as a task')
    expect(told.err).toMatch(/get-env/)
    expect(told.out).not.toContain("PATH")
    const listed = await forethought(["tools"], { cwd: files.path })
    expect(listed.out).toContain("  echo  ")
    expect(listed.out).not.toContain("get-env")
  })
  it("an odd server of ours is used, and its odd tool named on standard error", async () => {
    const odd = fileURLToPath(new URL("../../tools/test/fixtures/odd-server.mjs", import.meta.url))
    const tool = (name: string, inputSchema: unknown) => ({ name, description: name, inputSchema })
    const scenario = {
      pages: [{ _meta: null, tools: [tool("good", null), tool("bad", 7)], nextCursor: "" }],
      results: { good: { _meta: null, content: [{ type: "resource", resource: { uri: "u://a", text: "7:40" } }] } }
    }
    using files = folder({
      "script.json": ["#E1 = good[{}]", { role: "solver", text: "{{#E1}}" }],
      "forethought.config.json": { mcp: { odd: { command: process.execPath, args: [odd, JSON.stringify(scenario)] } } }
    })
    const { code, err, out } = await forethought(["run", "rewoo", "q", "-m", "scripted:script.json", "-t", "none"], {
      cwd: files.path
    })
    expect(err).toContain('forethought: MCP server "odd": Its tool "bad" takes no object of arguments')
    expect({ code, out }).toEqual({ code: 0, out: "[resource: u://a]\n7:40\n" })
  })
})
