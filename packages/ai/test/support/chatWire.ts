/** Answers of `/chat/completions` in the words of the servers that speak it. */

/** OpenAI. */
export const openAi = (message: object, rest: { finish_reason?: string | null } = {}) => ({
  id: "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
  object: "chat.completion",
  created: 1741569952,
  model: "gpt-4.1-2025-04-14",
  choices: [
    {
      index: 0,
      message: { role: "assistant", refusal: null, annotations: [], ...message },
      logprobs: null,
      finish_reason: "stop",
      ...rest
    }
  ],
  usage: {
    prompt_tokens: 19,
    completion_tokens: 10,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 }
  },
  service_tier: "default"
})

/** Ollama: reasoning under `reasoning`, `fp_ollama`, tool calls that carry an index. */
export const ollama = (message: object, finish_reason = "stop") => ({
  id: "chatcmpl-838",
  object: "chat.completion",
  created: 1744438886,
  model: "qwen3:8b",
  system_fingerprint: "fp_ollama",
  choices: [{ index: 0, message: { role: "assistant", content: "", ...message }, finish_reason }],
  usage: { prompt_tokens: 26, completion_tokens: 12, total_tokens: 38 }
})

/** llama.cpp's server: reasoning under `reasoning_content`, timings beside the usage. */
export const llamaCpp = (message: object, finish_reason = "stop") => ({
  choices: [{ finish_reason, index: 0, message: { role: "assistant", ...message } }],
  created: 1757141666,
  model: "qwen3-0.6b",
  system_fingerprint: "b6399-a74b2dd",
  object: "chat.completion",
  usage: { completion_tokens: 8, prompt_tokens: 14, total_tokens: 22 },
  id: "chatcmpl-ecQULm0WqPrftUqjPZO1CFYeDjGZNbDu",
  timings: { prompt_n: 14, predicted_n: 8 }
})

/** vLLM: null fields spelt out, `stop_reason` beside the finish reason. */
export const vllm = (message: object, finish_reason = "stop") => ({
  id: "chatcmpl-f1a2",
  object: "chat.completion",
  created: 1750000000,
  model: "Qwen/Qwen2.5-7B-Instruct",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: null, reasoning_content: null, tool_calls: [], ...message },
      logprobs: null,
      finish_reason,
      stop_reason: null
    }
  ],
  usage: { prompt_tokens: 31, total_tokens: 40, completion_tokens: 9 },
  prompt_logprobs: null
})

export const openAiError = (message: string, type: string, code: string | null, param: string | null = null) => ({
  error: { message, type, param, code }
})
