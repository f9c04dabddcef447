/**
 * The marks that models put around what they think and around their turns. The next mark is one line of a table.
 */

// ---------------------------------------------------------------------------------------------------------------
// thinking
// ---------------------------------------------------------------------------------------------------------------

/** A tag, `<name>` … `</name>`, or `[NAME]` … `[/NAME]`, in any case, with attributes, blanks or a `:suffix`. */
export interface ThinkingTag {
  /** Any of them ends a block that any of them opened. */
  readonly names: ReadonlyArray<string>
  /** The name is a word of prose and of markup too: inside a line it is text. */
  readonly isWord?: boolean
}

export const thinkingTags: ReadonlyArray<ThinkingTag> = [
  // DeepSeek, Qwen, GLM, Kimi K2, Nemotron, Phi-4, … ; [THINK]: Magistral; ◁think▷: Kimi VL; <think:suffix>: Hunyuan
  { names: ["think", "thinking", "antml:thinking", "redacted_thinking"] },
  { names: ["seed:think"] }, // Seed-OSS
  { names: ["seed:cot_budget_reflect"] }, // Seed-OSS, inside its thinking
  { names: ["mm:think"] }, // MiniMax M3
  { names: ["longcat_think"] }, // LongCat
  { names: ["ifm|think", "ifm|think_fast", "ifm|think_faster"] }, // K2 Horizon
  { names: ["reasoning_scratchpad", "scratchpad"] }, // prompted
  { names: ["inner_monologue", "internal_monologue", "inner_thoughts", "inner_thought"] }, // prompted
  { names: ["chain_of_thought", "thought_process", "thinking_process"] }, // prompted
  { names: ["thought", "thoughts"], isWord: true }, // EXAONE Deep, Gemini, prompted
  { names: ["reasoning"], isWord: true }, // prompted
  { names: ["reflection"], isWord: true } // Reflection, prompted
]

/** Special tokens around a block. Letter case and blanks inside a token make no difference. */
export interface ThinkingTokens {
  readonly open: ReadonlyArray<string>
  readonly close: ReadonlyArray<string>
  /** These end a block that was opened, and are something else where none was. */
  readonly closeInside?: ReadonlyArray<string>
}

export const thinkingTokens: ReadonlyArray<ThinkingTokens> = [
  { open: ["<|START_THINKING|>"], close: ["<|END_THINKING|>"] }, // Cohere
  { open: ["<|inner_prefix|>"], close: ["<|inner_suffix|>"] }, // Apertus
  { open: ["<|plamo:begin_think:plamo|>"], close: ["<|plamo:end_think:plamo|>"] }, // PLaMo 3
  { open: ["<|think:start|>"], close: ["<|think:end|>"] }, // Solar
  { open: ["<|open|>think<|sep|>"], close: ["<|close|>think<|sep|>", "<|close|>think"] }, // Kimi K3
  { open: ["<unused94>"], close: ["<unused95>"] }, // MedGemma, Gemma 3 tunes
  { open: ["<|channel>"], close: ["<channel|>"] }, // Gemma 4
  { open: ["[unused16]"], close: ["[unused17]"] }, // Pangu
  { open: ["<|content_thinking|>"], close: [], closeInside: ["<|end_message|>", "<|content_text|>"] }, // Inkling
  { open: ["<|begin_of_thought|>"], close: ["<|end_of_thought|>"] }, // Sky-T1
  { open: ["<|think|>", "<|thinking|>"], close: ["<|/think|>", "<|/thinking|>", "<|end_think|>"] },
  { open: [], close: ["[BEGIN FINAL RESPONSE]"] } // Apriel; its opener is prose
]

/** Words that open thinking, where a reply begins with them. */
export interface ThinkingProse {
  readonly open: RegExp
  readonly close: RegExp
  /** Without the words that close it, it is text: the words may begin an ordinary answer. */
  readonly onlyAsPair?: boolean
}

export const thinkingProse: ReadonlyArray<ThinkingProse> = [
  // Granite 3.2
  {
    open: /[*_#\s]{0,8}Here(?:['’]s| is) my thought process:?/iy,
    close: /[*_#]{0,4}Here(?:['’]s| is) my response:?[*_]{0,4}/gi,
    onlyAsPair: true
  },
  // Apriel 1.6
  {
    open: /[*_#\s]{0,8}Here are my reasoning steps:/iy,
    close: /\[BEGIN FINAL RESPONSE\]/gi
  },
  // HyperCLOVAX 14B
  {
    open: /\/think[ \t]*\n/y,
    close: /<\|im_end\|>\s{0,8}<\|im_start\|>[ \t]{0,4}assistant(?![\w-])/g
  },
  // Ollama's own display of thinking
  { open: /Thinking\.\.\.[ \t]*\n/y, close: /^\.\.\.done thinking\.[ \t]*$/gm, onlyAsPair: true },
  // Gemma 4 without its special tokens: what is thought cannot be told from what is said
  { open: /thought[ \t]*\n/y, close: /<channel\|>/g }
]

// ---------------------------------------------------------------------------------------------------------------
// answers
// ---------------------------------------------------------------------------------------------------------------

/** Tags around an answer: taken off right behind thinking, and where they are around the whole reply. */
export const answerTags: ReadonlyArray<string> = ["answer", "final_answer", "response", "output", "solution"]

/** Tokens around an answer, or around a part of it: taken off wherever they stand. */
export const answerTokens: ReadonlyArray<string> = [
  "<|begin_of_box|>", // GLM-V
  "<|end_of_box|>",
  "<|START_RESPONSE|>", // Cohere
  "<|END_RESPONSE|>",
  "<|START_TEXT|>",
  "<|END_TEXT|>",
  "<|begin_of_solution|>", // Sky-T1
  "<|end_of_solution|>",
  "<|open|>response<|sep|>", // Kimi K3
  "<|close|>response<|sep|>",
  "<|close|>message<|sep|>",
  "<|content_text|>", // Inkling
  "[END FINAL RESPONSE]" // Apriel
]

// ---------------------------------------------------------------------------------------------------------------
// turns
// ---------------------------------------------------------------------------------------------------------------

/** Tokens that begin a text. */
export const startTokens: ReadonlyArray<string> = [
  "<s>",
  "<bos>",
  "<sop>",
  "[gMASK]",
  "<|begin_of_text|>",
  "<|startoftext|>",
  "<|begin▁of▁sentence|>",
  "<|START_OF_TURN_TOKEN|>"
]

/** Tokens that end a turn or a text. `|` stands for `｜` too. */
export const endTokens: ReadonlyArray<string> = [
  "<|im_end|>", // ChatML: Qwen, Phi-4, Kimi, SmolLM, …
  "<|endoftext|>",
  "<|ifm|im_end|>",
  "<|ifm|endoftext|>",
  "<|eot_id|>", // Llama 3
  "<|eom_id|>",
  "<|end_of_text|>", // Llama 3, Granite
  "<|eot|>", // Llama 4
  "<|eom|>",
  "</s>", // Llama 2, Mistral, Vicuna
  "<end_of_turn>", // Gemma
  "<turn|>", // Gemma 4
  "<eos>",
  "<|end|>", // Phi-3, gpt-oss, Apriel
  "<|return|>", // gpt-oss
  "<|end▁of▁sentence|>", // DeepSeek
  "<|EOT|>", // DeepSeek Coder
  "<EOT>",
  "_<EOT>",
  "[EOT]", // Kimi
  "[EOS]",
  "<eop>", // GLM
  "<|END_OF_TURN_TOKEN|>", // Cohere
  "[|endofturn|]", // EXAONE
  "<|endofturn|>", // HyperCLOVAX
  "<|stop|>",
  "<|message_sep|>", // GigaChat
  "<|end_of_turn|>", // OpenChat
  "<|turn_end|>", // Megrez
  "<end_of_utterance>", // SmolVLM
  "<|plamo:tag|>", // PLaMo 3
  "<|end_message|>", // Inkling
  "<|content_model_end_sampling|>",
  "<|role_end|>", // Ling
  "<|assistant_end|>"
]

/** Tokens that begin the turn of someone: who it is may stand in the token or behind it. */
export const turnTokens: ReadonlyArray<string> = [
  "<|im_start|>", // ChatML
  "<|ifm|im_start|>",
  "<|im_user|>", // Kimi
  "<|im_assistant|>",
  "<|im_system|>",
  "<|start_header_id|>", // Llama 3
  "<|header_start|>", // Llama 4
  "<start_of_turn>", // Gemma
  "<|turn>", // Gemma 4
  "<|start_of_role|>", // Granite
  "<|start|>", // gpt-oss
  "<|user|>", // GLM, Phi-3
  "<|assistant|>",
  "<|system|>",
  "<|observation|>",
  "<|human|>",
  "<|bot|>",
  "<|User|>", // DeepSeek
  "<|Assistant|>",
  "<|USER_TOKEN|>", // Cohere
  "<|CHATBOT_TOKEN|>",
  "<|SYSTEM_TOKEN|>",
  "[INST]", // Llama 2, Mistral
  "[/INST]",
  "<<SYS>>",
  "<</SYS>>",
  "[|user|]", // EXAONE
  "[|assistant|]",
  "[|system|]",
  "<role>HUMAN</role>", // Ling
  "<role>ASSISTANT</role>",
  "<role>SYSTEM</role>",
  "<|message_user|>", // Inkling
  "<|message_model|>",
  "<|message_system|>"
]

/** Of the tokens that name someone, those that name the model itself. */
export const ownTurn = /assistant|bot|model|\/INST/i

/** Tokens behind a role, before the text of its turn. */
export const roleEnds = [
  "<|end_header_id|>",
  "<|header_end|>",
  "<|im_middle|>",
  "<|im_sep|>",
  "<|end_of_role|>",
  "<|role_sep|>",
  "<|message|>"
]

/** What a prompt asks a model to end with. In any case of letters, but for a word that is also one of prose. */
export const promptedEnds: ReadonlyArray<string> = [
  "<end_plan>",
  "<end_code>",
  "</code>",
  "#END-OF-PLAN",
  "[[ ## completed ## ]]"
]

/** Other tokens that are noise at the end of a reply. What belongs to tool calls is not noise: see the ReAct reader. */
export const strayTokens: ReadonlyArray<string> = [
  "<|fim_prefix|>",
  "<|fim_middle|>",
  "<|fim_suffix|>",
  "<|fim_pad|>",
  "<|file_sep|>",
  "<|repo_name|>",
  "<pad>",
  "[SYSTEM_PROMPT]",
  "[/SYSTEM_PROMPT]",
  "[MODEL_SETTINGS]",
  "[/MODEL_SETTINGS]",
  "[PREFIX]",
  "[MIDDLE]",
  "[SUFFIX]",
  "[IMG]"
]
