/**
 * Reads the word with which a provider says why a reply ended. Each provider has words of its own, gateways change
 * them, and a reply that was cut off or broken must never pass as whole: so there is one table, and rules for what is
 * not in it.
 */
import type { FinishReason, Reply } from "./Llm.js"

/**
 * The meaning of a word. Beside the reasons of a {@link Reply}:
 * - `broken`: the server failed half-way; the same request may succeed later;
 * - `malformed`: the model tried to call a tool in a form that nobody can read; it can be asked again;
 * - `unknown`: none of these, so the reply is taken as it is.
 */
export type Meaning = Exclude<FinishReason, "other"> | "broken" | "malformed" | "unknown"

/**
 * Words of OpenAI, Azure, Anthropic, Gemini and Vertex, Bedrock, Mistral, Cohere, DeepSeek, Groq, xAI, Z.ai,
 * OpenRouter, vLLM, SGLang, llama.cpp, Ollama, LM Studio, TGI, TensorRT-LLM and watsonx, folded as {@link meaning}
 * does.
 */
const words: ReadonlyArray<readonly [Meaning, string]> = [
  ["stop", "stop end_turn stop_sequence completed finished eos_token eosfound stopstringfound stop_string stop_token"],
  [
    "length",
    "length max_tokens max_output_tokens model_length max_length model_context_window_exceeded incomplete " +
      "maxpredictedtokensreached contextlengthreached time_limit max_new_tokens pause_turn compaction"
  ],
  ["tool-calls", "tool_calls tool_call tool_use tool_calling toolcalls function_call function_calls requires_action"],
  [
    "content-filter",
    "content_filter content_filtered safety recitation language blocklist prohibited_content spii model_armor " +
      "image_safety image_prohibited_content image_recitation escalation refusal sensitive guardrail_intervened " +
      "error_toxic jailbreak"
  ],
  [
    "broken",
    "error error_limit abort aborted cancel cancelled canceled user_cancel failed userstopped modelunloaded timeout " +
      "network_error insufficient_system_resource repetition queued in_progress missing_thought_signature other_error " +
      "malformed_response malformed_model_output other image_other no_image finish_reason_unspecified content_filter_error"
  ],
  [
    "malformed",
    "malformed_function_call unexpected_tool_call too_many_tool_calls malformed_tool_use malformed_tool_call " +
      "invalid_tool_call tool_use_failed"
  ]
]

/** Judges an unlisted word by the first row of which it holds a stem. */
const stems: ReadonlyArray<readonly [Meaning, ReadonlyArray<string>]> = [
  ["content-filter", ["filter", "safety", "block", "refus", "sensitive", "moderat"]],
  ["broken", ["error", "fail", "abort", "cancel", "resource", "timeout", "malformed", "interrupt"]],
  ["length", ["length", "max", "limit", "token", "truncat"]]
]

const table: ReadonlyMap<string, Meaning> = new Map(
  words.flatMap(([meaning, list]) => list.split(" ").map((word) => [word.replaceAll("_", ""), meaning] as const))
)

/** Returns what a word means, in any case, with `_`, `-` or blanks, and behind a prefix such as `FinishReason.`. */
export const meaning = (word: string | undefined): Meaning => {
  if (word === undefined) return "unknown"
  const last =
    word
      .slice(0, 200)
      .toLowerCase()
      .split(/[.:/]/)
      .findLast((part) => part.trim() !== "") ?? ""
  const folded = last.replaceAll(/[^\p{L}\p{N}]/gu, "")
  const listed = table.get(folded)
  if (listed !== undefined) return listed
  if (/malformed|invalid|unexpected/.test(folded) && /function|tool|call/.test(folded)) return "malformed"
  return stems.find(([, list]) => list.some((stem) => folded.includes(stem)))?.[0] ?? "unknown"
}

/** Returns the finish reason of a reply for a provider's word, with the word itself where none of ours says as much. */
export const read = (word: string | undefined): Pick<Reply, "finishReason" | "rawFinishReason"> => {
  const known = meaning(word)
  if (known !== "broken" && known !== "malformed" && known !== "unknown") return { finishReason: known }
  return { finishReason: "other", ...(word === undefined || word === "" ? {} : { rawFinishReason: word }) }
}

/** Returns how a reply ended: by its finish reason, or by the provider's word where that is `other`. */
export const ofReply = (reply: Pick<Reply, "finishReason" | "rawFinishReason">): Meaning =>
  reply.finishReason === "other" ? meaning(reply.rawFinishReason) : reply.finishReason
