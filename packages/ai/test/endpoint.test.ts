import { expect, it } from "vitest"
import { endpoint } from "../src/internal/exchange.js"

it.each([
  ["http://h/v1", "/chat/completions", "http://h/v1/chat/completions"],
  ["http://h/v1/", "/chat/completions", "http://h/v1/chat/completions"],
  ["http://h", "/v1/messages", "http://h/v1/messages"],
  // What people paste: the address with the version, or that of the endpoint itself.
  ["http://h/v1", "/v1/messages", "http://h/v1/messages"],
  ["http://h/v1/messages", "/v1/messages", "http://h/v1/messages"],
  ["http://h/v1/chat/completions", "/chat/completions", "http://h/v1/chat/completions"],
  ["http://h/v1beta", "/v1beta/models/m:generateContent", "http://h/v1beta/models/m:generateContent"],
  ["http://h/v1beta/models", "/v1beta/models/m:generateContent", "http://h/v1beta/models/m:generateContent"],
  ["http://h/chat", "/chat/completions", "http://h/chat/chat/completions"],
  ["http://h/d?api-version=1", "/chat/completions", "http://h/d/chat/completions?api-version=1"],
  [
    "http://h",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    "http://h/v1beta/models/m:streamGenerateContent?alt=sse"
  ]
])("%s with %s is %s", (base, path, expected) => expect(endpoint(base, path)).toBe(expected))

it.each(["localhost", "ftp://h", "http://user:pass@h"])("%s is no address of a server", (base) =>
  expect(endpoint(base, "/v1/messages")).toHaveProperty("problem")
)
