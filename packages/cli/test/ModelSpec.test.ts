import { expect, it } from "@effect/vitest"
import { Llm, reply } from "@forethought/core/Llm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import * as Loopback from "../../ai/test/support/Loopback.js"
import { absent, modelFile } from "../../ai/test/support/modelFile.js"
import { request } from "../../ai/test/support/models.js"
import { key, providers } from "../../ai/test/support/providers.js"
import * as ModelSpec from "../src/model/ModelSpec.js"

describe("parse", () => {
  it.each([
    ["openai:gpt-4.1-mini", { kind: "openai", model: "gpt-4.1-mini" }],
    ["Anthropic: claude-haiku-4-5 ", { kind: "anthropic", model: "claude-haiku-4-5" }],
    ["google:models/gemini-2.5-flash", { kind: "google", model: "models/gemini-2.5-flash" }],
    ["ollama:qwen3:8b", { kind: "ollama", model: "qwen3:8b" }],
    ["gguf:C:\\models\\small.gguf", { kind: "gguf", file: "C:\\models\\small.gguf" }],
    ["scripted:demo/1-rewoo.json", { kind: "scripted", file: "demo/1-rewoo.json" }],
    [
      "openai-compatible:org/m@v2:8b@HTTPS://host:8080/v1?api-version=1",
      { kind: "openai-compatible", model: "org/m@v2:8b", baseUrl: "HTTPS://host:8080/v1?api-version=1" }
    ]
  ])("%s", (spec, expected) => expect(ModelSpec.parse(spec)).toEqual(Either.right(expected)))

  it.each([
    ["", "not a kind of model"],
    ["openai", "wants a name after it"],
    ["openai: ", "wants a name after it"],
    ["mistral:large", '"mistral" is not a kind of model'],
    ["sk-secret-0123456789abcdef:x", "This is not a kind of model"],
    ["openai-compatible:m", "no address"],
    ["openai-compatible:m@ftp://host", "no address"],
    ["openai-compatible:@http://host", "no name"],
    ["openai-compatible:m@http://", "is not valid"],
    ["openai-compatible:m@http://user:secret@host/v1", "holds a password"]
  ])("%j is refused, in words and without a secret", (spec, words) => {
    const error = Either.flip(ModelSpec.parse(spec)).pipe(Either.getOrThrow)
    expect(error._tag).toBe("InvalidModelSpec")
    expect(error.message).toContain(words)
    expect(error.message).toContain(":<")
    expect(JSON.stringify(error) + error.message).not.toContain("secret")
  })

  it("a label shows no query", () => {
    const baseUrl = "https://host/v1/?key=secret"
    expect(ModelSpec.label({ kind: "openai-compatible", model: "m", baseUrl })).toBe("m at https://host/v1")
    expect(ModelSpec.label({ kind: "openai", model: "m" })).toBe("openai:m")
  })
})

const ask = (spec: ModelSpec.ModelSpec, env: ModelSpec.Env, options: ModelSpec.LayerOptions = { maxRetries: 0 }) =>
  Effect.provide(
    Effect.flatMap(Llm, (llm) => llm.complete(request())),
    ModelSpec.layerOf(spec, env, options)
  )

const provider = (name: string) => {
  const found = providers.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

describe("layerOf", () => {
  it.scopedLive.each([
    ["openai", "OpenAi", { OPENAI_API_KEY: key }, "OPENAI_BASE_URL", "/v1"],
    ["anthropic", "Anthropic", { ANTHROPIC_API_KEY: key }, "ANTHROPIC_BASE_URL", ""],
    ["google", "Google", { GOOGLE_API_KEY: " ", GEMINI_API_KEY: key }, "GOOGLE_GEMINI_BASE_URL", ""]
  ] as const)("%s: key and address from the environment", ([kind, name, keys, variable, path]) =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider(name).reply({ text: "Hi." })))
      const env = { ...keys, [variable]: server.url + path }
      expect((yield* ask({ kind, model: "m" }, env)).text).toBe("Hi.")
      expect(server.received.map(provider(name).keyOf)).toEqual([key])
      const error = yield* Effect.flip(ask({ kind, model: "m" }, { [variable]: server.url }))
      expect(error).toMatchObject({ _tag: "ModelNotUsable", kind })
      expect(error.message).toContain("_API_KEY")
      const wrong = { ...keys, [variable]: "http://me:secret@host" }
      expect((yield* Effect.flip(ask({ kind, model: "m" }, wrong))).message).toMatch(/holds a password(?!.*secret)/)
    })
  )

  it.scopedLive("ollama: at OLLAMA_HOST, without any key", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.json(provider("OpenAiCompatible").reply({ text: "Hi." })))
      const env = { OLLAMA_HOST: server.url.replace("http://", ""), OPENAI_API_KEY: key, FORETHOUGHT_API_KEY: key }
      expect((yield* ask({ kind: "ollama", model: "qwen3:8b" }, env)).text).toBe("Hi.")
      expect(server.received[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3:8b" } })
      expect(JSON.stringify(server.received)).not.toContain(key)
    })
  )

  it.scopedLive.each([
    [{ FORETHOUGHT_API_KEY: key, OPENAI_API_KEY: "other" }, key],
    [{ OPENAI_API_KEY: key }, key],
    [{}, undefined]
  ] as const)("openai-compatible: with %o", ([env, sent]) =>
    Effect.gen(function* () {
      const compatible = provider("OpenAiCompatible")
      const server = yield* Loopback.make(Loopback.json(compatible.reply({ text: "Hi." })))
      yield* ask({ kind: "openai-compatible", model: "m", baseUrl: `${server.url}/v1` }, env)
      expect(server.received.map(compatible.keyOf)).toEqual([sent])
    })
  )

  it.effect("scripted: by whoever can", () =>
    Effect.gen(function* () {
      const spec = { kind: "scripted", file: "a.json" } as const
      expect(yield* Effect.flip(ask(spec, {}))).toMatchObject({ _tag: "ModelNotUsable" })
      const scripted = (file: string) => Layer.succeed(Llm, { complete: () => Effect.succeed(reply(file)) })
      expect((yield* ask(spec, {}, { scripted })).text).toBe("a.json")
    })
  )

  const file = modelFile()
  it.live.skipIf(file === undefined)(`gguf${file === undefined ? ` (skipped: ${absent})` : ""}`, () =>
    Effect.gen(function* () {
      const spec = { kind: "gguf", file: file ?? "" } as const
      yield* ModelSpec.check(spec, {})
      const model = ModelSpec.layerOf(spec, {})
      const short = Effect.flatMap(Llm, (llm) => llm.complete(request({ maxTokens: 2 })))
      expect((yield* Effect.provide(short, model)).usage.outputTokens).toBe(2)
    })
  )
})

describe("usable", () => {
  it.scopedLive("says what can be used and why the rest cannot, and sends no key", () =>
    Effect.gen(function* () {
      const server = yield* Loopback.make(Loopback.text("Ollama is running"))
      const env = {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: server.url,
        OLLAMA_HOST: server.url,
        FORETHOUGHT_API_KEY: key
      }
      const all = yield* ModelSpec.usable(env)
      expect(all.map(({ kind, usable }) => [kind, usable])).toEqual([
        ["openai", true],
        ["anthropic", false],
        ["google", false],
        ["ollama", true],
        ["openai-compatible", true],
        ["gguf", true],
        ["scripted", true]
      ])
      const why = Object.fromEntries(all.map((one) => [one.kind, one.why]))
      expect(why["openai"]).toBe("The key is in OPENAI_API_KEY.")
      expect(why["anthropic"]).toContain("ANTHROPIC_API_KEY is not set")
      expect(why["google"]).toContain("GOOGLE_API_KEY and GEMINI_API_KEY are not set")
      expect(why["ollama"]).toContain("listens at")
      expect(server.received).toHaveLength(1)
      expect(JSON.stringify([server.received, all])).not.toContain(key)
    })
  )

  it.live("nothing listens, no such file", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Loopback.refusing
      const fails = (spec: ModelSpec.ModelSpec, env: ModelSpec.Env = {}) =>
        Effect.map(Effect.flip(ModelSpec.check(spec, env)), ({ message }) => message)
      expect(yield* fails({ kind: "ollama", model: "m" }, { OLLAMA_HOST: baseUrl })).toContain("ollama serve")
      expect(yield* fails({ kind: "openai-compatible", model: "m", baseUrl })).toContain(
        "Nothing answers at http://127"
      )
      expect(yield* fails({ kind: "gguf", file: "nowhere.gguf" })).toContain("no such file")
      expect(yield* fails({ kind: "openai", model: "m" })).toContain("OPENAI_API_KEY is not set")
    })
  )
})
