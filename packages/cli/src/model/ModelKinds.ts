/**
 * The kinds of model that a `ModelSpec` can name, as plain data: a program's help can list them without loading more.
 */

/** A model by its kind, which is the prefix of the spec. */
export type Kind = "openai" | "anthropic" | "google" | "ollama" | "openai-compatible" | "gguf" | "scripted"

/** The notation of a kind, and a description. */
export interface KindInfo {
  readonly kind: Kind
  readonly usage: string
  readonly summary: string
  /** The environment variables that are read, keys first. */
  readonly variables: ReadonlyArray<string>
}

/** Every kind, in the order in which they are listed. */
export const kinds: ReadonlyArray<KindInfo> = [
  {
    kind: "openai",
    usage: "openai:<model>",
    summary: "OpenAI's own API",
    variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL"]
  },
  {
    kind: "anthropic",
    usage: "anthropic:<model>",
    summary: "Anthropic's API",
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]
  },
  {
    kind: "google",
    usage: "google:<model>",
    summary: "Google's Gemini API",
    variables: ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"]
  },
  {
    kind: "ollama",
    usage: "ollama:<model>",
    summary: "Ollama on this machine or at OLLAMA_HOST",
    variables: ["OLLAMA_HOST"]
  },
  {
    kind: "openai-compatible",
    usage: "openai-compatible:<model>@<baseUrl>",
    summary: "a server that speaks /chat/completions: llama.cpp, vLLM, LM Studio, a gateway",
    variables: ["FORETHOUGHT_API_KEY"]
  },
  { kind: "gguf", usage: "gguf:<file>", summary: "a GGUF file, run in this process by node-llama-cpp", variables: [] },
  {
    kind: "scripted",
    usage: "scripted:<file>",
    summary: "replies read from a JSON file, for demonstrations and tests",
    variables: []
  }
]

/** Returns what to write for a model. */
export const modelHelp = (): string => kinds.map(({ usage, summary }) => `  ${usage}\n      ${summary}`).join("\n")
