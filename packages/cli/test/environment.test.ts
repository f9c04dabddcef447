import { expect, it } from "vitest"
import { compatibleKey, ollamaAddress } from "../src/model/environment.js"

it.each([
  [undefined, "http://localhost:11434"],
  ["", "http://localhost:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:8080", "http://127.0.0.1:8080"],
  ["host", "http://host:11434"],
  ["host:80", "http://host"],
  ["http://host", "http://host"],
  ["https://host/ollama/", "https://host/ollama"],
  ["[::1]:11434", "http://[::1]:11434"],
  ["http://", "http://localhost:11434"]
])("OLLAMA_HOST %j", (OLLAMA_HOST, expected) => expect(ollamaAddress({ OLLAMA_HOST })).toBe(expected))

it.each([
  ["https://api.openai.com/v1", "openai"],
  ["https://eu.api.openai.com/v1", "openai"],
  ["http://127.0.0.1:8080/v1", "openai"],
  ["http://localhost/v1", "openai"],
  ["http://api.openai.com/v1", undefined],
  ["https://api.openai.com.evil.example/v1", undefined],
  ["http://127.0.0.1.evil.example/v1", undefined],
  ["https://gateway.example/v1", undefined]
])("OpenAI's key to %s", (address, expected) => {
  expect(compatibleKey(address, { OPENAI_API_KEY: "openai" })).toBe(expected)
  expect(compatibleKey(address, { OPENAI_API_KEY: "openai", FORETHOUGHT_API_KEY: "own" })).toBe("own")
})
