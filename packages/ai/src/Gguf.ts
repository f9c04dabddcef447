/**
 * A model file in the GGUF format, run in this process by `node-llama-cpp`, which must be installed beside this package
 * (`node-llama-cpp@3.21.1`). Nothing is downloaded and nothing is compiled: its prebuilt binary for the CPU is used.
 * By itself it installs binaries for CUDA and Vulkan too, 700 MB of them. Without those, for Linux on x64:
 *
 * ```sh
 * npm install --omit=optional --ignore-scripts node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1
 * ```
 *
 * @example
 * ```ts
 * const model = Gguf.layer({ file: "models/SmolLM2-135M-Instruct.Q4_1.gguf" })
 * ```
 */
import { stat } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { basename } from "node:path"
import { async, timeoutFail } from "@forethought/core/Concurrency"
import * as Journal from "@forethought/core/Journal"
import { Llm, LlmError, type Message, Reason, type Reply, type Request, type Service } from "@forethought/core/Llm"
import * as Options_ from "@forethought/core/Options"
import { RunKey } from "@forethought/core/RunKey"
import * as WaitingLine from "@forethought/core/WaitingLine"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ChatHistoryItem, ChatWrapper, Llama, LlamaChat, LlamaContextSequence, LlamaModel } from "node-llama-cpp"
import { toGbnf } from "./internal/gbnf.js"
import { stopIndex } from "./internal/stop.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

export interface Options {
  /** The path of the `.gguf` file. */
  readonly file: string
  /**
   * Threads that compute. Default: one fewer than the cores, at least one. With one for every core the threads wait for
   * each other, which is a hundred times slower.
   */
  readonly threads?: number | undefined
  /** Maximum number of tokens of prompt and reply together. Default: what the model was trained for, at most 8,192. */
  readonly contextSize?: number | undefined
  /** The most output tokens of a request that names no number of its own. Default: 1,024. */
  readonly maxTokens?: number | undefined
  /** For a request that names none of its own. Default: 0, the same reply for the same prompt. */
  readonly temperature?: number | undefined
  /** The time allowed for one reply, from its turn in the line on. Default: 10 minutes. */
  readonly timeout?: Duration.DurationInput | undefined
  /** Lets a request's `format` constrain what the model can say. Default: `"auto"`, it does if it can. */
  readonly structured?: "auto" | "off" | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * An `Llm` over a model file. The file is loaded with the first call and freed with the Layer's scope.
 *
 * One reply is generated at a time: calls wait in line, and runs take turns. The conversation is written in the model's
 * own chat template; a tool's result becomes a message of the user. Tools are not offered natively: use the text
 * protocol (`ReAct.run(task, { protocol: "text" })`). Interruption ends the generation with the token that is being
 * computed.
 *
 * Fails with an `LlmError`: `BadRequest` where node-llama-cpp or the file is missing or cannot be loaded,
 * `ContextOverflow` where the prompt leaves no room for a reply, `TimedOut`, and `Unavailable` where the generation
 * breaks.
 */
export const layer = (options: Options): Layer.Layer<Llm> => {
  check(options)
  return Layer.scoped(Llm, make(options))
}

/** The service of {@link layer}. */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> => {
  const settings = check(options)
  let loading: Promise<Loaded> | undefined
  const line = WaitingLine.permits(1)

  const loaded = (request: Request): Effect.Effect<Loaded, LlmError> =>
    Effect.tryPromise({
      // An interrupted caller stops waiting; the file is loaded all the same, for the next one and for the finalizer.
      try: () => {
        loading ??= load(settings).catch((cause: unknown) => {
          loading = undefined
          throw cause
        })
        return loading
      },
      catch: (cause) => failure(request, Reason.BadRequest(), `${settings.file}: ${words(cause)}`)
    })

  const complete = (request: Request): Effect.Effect<Reply, LlmError> =>
    timeoutFail(
      Effect.flatMap(loaded(request), (model) => generate(model, request, settings)),
      {
        duration: settings.timeout,
        onTimeout: () => failure(request, Reason.TimedOut(Duration.toMillis(settings.timeout)))
      }
    )

  return Effect.acquireRelease(
    Effect.succeed<Service>({
      complete: (request) =>
        Effect.flatMap(Effect.all([RunKey, Journal.tell]), ([run, tell]) => {
          const asked = (waited: number) => {
            if (waited > 0) tell({ _tag: "ModelWaited", call: request.call, why: "the reply before it", waited })
            return complete(request)
          }
          return line.through(undefined, asked, run)
        }),
      model: () => `gguf:${settings.file}`
    }),
    () =>
      Effect.promise(async () => {
        const model = await loading?.catch(() => undefined)
        await model?.llama.dispose()
      })
  )
}

// ---------------------------------------------------------------------------------------------------------------
// loading
// ---------------------------------------------------------------------------------------------------------------

interface Loaded {
  readonly llama: Llama
  readonly model: LlamaModel
  readonly contextSize: number
  readonly sequence: LlamaContextSequence
  readonly chat: LlamaChat
  readonly wrapper: ChatWrapper
}

type Settings = ReturnType<typeof check>

const load = async (settings: Settings): Promise<Loaded> => {
  const file = await stat(settings.file).catch(() => undefined)
  if (file?.isDirectory() === true) throw new Error("it is a folder; name the .gguf file in it")
  if (file === undefined || !file.isFile()) throw new Error("there is no such file")
  const { LlamaChat, getLlama } = await import("node-llama-cpp").catch(() => {
    throw new Error("node-llama-cpp is not installed: add node-llama-cpp@3.21.1 to the project")
  })
  const llama = await getLlama({
    build: "never",
    gpu: false,
    skipDownload: true,
    progressLogs: false,
    maxThreads: settings.threads,
    logger: () => {}
  })
  try {
    const model = await llama.loadModel({ modelPath: settings.file })
    const contextSize = Math.min(settings.contextSize, model.trainContextSize)
    const context = await model.createContext({ contextSize, threads: settings.threads, sequences: 1 })
    const sequence = context.getSequence()
    const chat = new LlamaChat({ contextSequence: sequence })
    return { llama, model, contextSize: context.contextSize, sequence, chat, wrapper: chat.chatWrapper }
  } catch (cause) {
    await llama.dispose()
    throw cause
  }
}

// ---------------------------------------------------------------------------------------------------------------
// generating
// ---------------------------------------------------------------------------------------------------------------

const generate = (loaded: Loaded, request: Request, settings: Settings): Effect.Effect<Reply, LlmError> =>
  Effect.gen(function* () {
    const history = encodeMessages(request.messages)
    const inputTokens = yield* Effect.try({
      try: () => countTokens(loaded, history),
      catch: (cause) => failure(request, Reason.BadRequest(), `the chat template does not take this: ${words(cause)}`)
    })
    // Where the context is full, the library would drop the beginning of the prompt without a word.
    const room = loaded.contextSize - inputTokens - 1
    if (room < 1) {
      const detail = `${inputTokens} tokens, and the context holds ${loaded.contextSize}`
      return yield* Effect.fail(failure(request, Reason.ContextOverflow(), detail))
    }
    const before = loaded.sequence.tokenMeter.getState()
    const told = yield* tellingInOrder(request.onDelta)
    const response = yield* abortable(
      (signal) =>
        respond(
          loaded,
          request,
          history,
          Math.min(request.maxTokens ?? settings.maxTokens, room),
          settings,
          signal,
          told.tell
        ),
      (cause) => failure(request, Reason.Unavailable(), words(cause))
    )
    yield* told.end
    const outputTokens = loaded.sequence.tokenMeter.diff(before).usedOutputTokens
    const text = response.response.slice(0, stopIndex(response.response, request.stop ?? []))
    const reasoning = (response.fullResponse ?? [])
      .map((part) => (typeof part === "string" || part.type !== "segment" ? "" : part.text))
      .join("")
    const cut = response.metadata.stopReason === "maxTokens" && text.length === response.response.length
    return {
      text,
      toolCalls: [],
      ...(reasoning === "" ? {} : { reasoning }),
      finishReason: cut ? ("length" as const) : ("stop" as const),
      usage: { inputTokens, outputTokens },
      model: settings.name,
      provider: "gguf"
    }
  })

const respond = async (
  { chat, llama }: Loaded,
  request: Request,
  history: Array<ChatHistoryItem>,
  maxTokens: number,
  settings: Settings,
  signal: AbortSignal,
  onTextChunk: ((text: string) => void) | undefined
) => {
  const schema = settings.structured && request.format !== undefined ? toGbnf(request.format.schema) : undefined
  // A schema that the grammar does not take is a hint not taken: the reply is read in the same way.
  const grammar =
    schema === undefined
      ? undefined
      : await llama.createGrammarForJsonSchema({ oneOf: [schema] }).catch(() => undefined)
  const stop = (request.stop ?? []).filter((word) => word !== "")
  return chat.generateResponse(history, {
    signal,
    maxTokens,
    temperature: request.temperature ?? settings.temperature,
    ...(onTextChunk === undefined ? {} : { onTextChunk }),
    ...(stop.length === 0 ? {} : { customStopTriggers: stop }),
    ...(grammar === undefined ? {} : { grammar })
  })
}

/** Hands pieces from a callback to an effect, one after the other; `end` waits for the last. */
const tellingInOrder = (onDelta: Request["onDelta"]) =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    let last: Promise<unknown> = Promise.resolve()
    return {
      tell:
        onDelta === undefined
          ? undefined
          : (text: string): void => {
              if (text !== "") last = last.then(() => Runtime.runPromiseExit(runtime)(onDelta(text)))
            },
      end: Effect.promise(() => last)
    }
  })

/** A promise that is aborted on interruption, and awaited until it has ended: the sequence is not free before. */
const abortable = <A, E>(
  start: (signal: AbortSignal) => Promise<A>,
  fail: (cause: unknown) => E
): Effect.Effect<A, E> =>
  async((resume) => {
    const controller = new AbortController()
    const ended = start(controller.signal).then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(Effect.fail(fail(cause)))
    )
    return Effect.promise(() => {
      controller.abort()
      return ended
    })
  })

const countTokens = ({ model, wrapper }: Loaded, history: Array<ChatHistoryItem>): number =>
  wrapper.generateContextState({ chatHistory: history }).contextText.tokenize(model.tokenizer).length

/** The conversation, with an empty reply at its end. */
const encodeMessages = (messages: ReadonlyArray<Message>): Array<ChatHistoryItem> => [
  ...messages.map(encodeMessage),
  { type: "model", response: [] }
]

const encodeMessage = (message: Message): ChatHistoryItem => {
  switch (message.role) {
    case "system":
      return { type: "system", text: message.content }
    case "user":
      return { type: "user", text: message.content }
    case "tool":
      return { type: "user", text: `Result of ${message.name}:\n${message.content}` }
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call) => `Calls ${call.name} with ${call.arguments}`)
      return { type: "model", response: [[message.content, ...calls].filter((text) => text !== "").join("\n")] }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const failure = ({ call, role }: Request, reason: Reason, detail?: string): LlmError =>
  new LlmError({ reason, role, call, ...(detail === undefined ? {} : { detail }) })

const words = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 300)

const check = (options: Options) => {
  const owner = "Gguf"
  Options_.rejectUnknown(owner, options, [
    "file",
    "threads",
    "contextSize",
    "maxTokens",
    "temperature",
    "timeout",
    "structured"
  ])
  return {
    file: options.file,
    name: basename(options.file),
    threads: Options_.wholeNumber(owner, "threads", options.threads ?? Math.max(1, availableParallelism() - 1)),
    contextSize: Options_.wholeNumber(owner, "contextSize", options.contextSize ?? 8_192, 64),
    maxTokens: Options_.wholeNumber(owner, "maxTokens", options.maxTokens ?? 1_024),
    temperature: options.temperature ?? 0,
    timeout: Duration.millis(Options_.positiveMillis(owner, "timeout", options.timeout ?? "10 minutes")),
    structured: Options_.oneOf(owner, "structured", options.structured ?? "auto", ["auto", "off"]) === "auto"
  }
}
