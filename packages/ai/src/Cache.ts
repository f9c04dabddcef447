/**
 * Replies kept for requests that are asked again word for word, in this run or in the next one.
 */
import { createHash } from "node:crypto"
import * as Journal from "@forethought/core/Journal"
import { type Llm, LlmError, type Reply, type Request, type Service, type Usage } from "@forethought/core/Llm"
import * as Options_ from "@forethought/core/Options"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { wrap } from "./internal/wrap.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Keeps replies. A key is 64 hexadecimal digits; a reply is plain data. */
export interface Store {
  readonly get: (key: string) => Effect.Effect<Reply | undefined, unknown>
  readonly set: (key: string, reply: Reply) => Effect.Effect<void, unknown>
}

export interface Options {
  /** Maximum number of replies kept in memory. The least recently used one goes first. Default: 1,000. */
  readonly capacity?: number | undefined
  /** Keeps the replies elsewhere, such as in files. Default: in memory, as long as the Layer lives. */
  readonly store?: Store | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// stores
// ---------------------------------------------------------------------------------------------------------------

/** Keeps the replies that were used last. */
export const memory = (capacity = 1_000): Store => {
  Options_.wholeNumber("Cache", "capacity", capacity)
  // A Map keeps the order in which keys were set, so the first one is the one to drop.
  const kept = new Map<string, Reply>()
  const put = (key: string, reply: Reply): void => {
    kept.delete(key)
    kept.set(key, reply)
    for (const oldest of kept.keys()) {
      if (kept.size <= capacity) break
      kept.delete(oldest)
    }
  }
  return {
    get: (key) =>
      Effect.sync(() => {
        const reply = kept.get(key)
        if (reply !== undefined) put(key, reply)
        return reply
      }),
    set: (key, reply) => Effect.sync(() => put(key, reply))
  }
}

// ---------------------------------------------------------------------------------------------------------------
// layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * Answers a request that was answered before with the same reply, without a call.
 *
 * Two requests are the same when everything but their `call` is: role, messages, tools, limits, temperature, stop,
 * format, and the model that they go to, if it has a name (see `Llm.Service`). Only a reply that finished is kept
 * (`stop` or `tool-calls`), never a failure. Equal requests that are under way at once share one call, which is
 * interrupted when the last of them is. A store that fails is logged, and the model is asked.
 *
 * A kept reply reports that it used no tokens, and `CacheHit` tells of it; of those that share a call, one reports
 * them. Put the Cache around a `RateLimit` and a `Budget`, so that it counts as no call either:
 * `model.pipe(RateLimit.layer(…), Budget.layer(…), Cache.layer())`. A model whose replies are meant to differ, as for a
 * vote, must not have one.
 */
export const layer = (options: Options = {}): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm, E, R>) => {
  check(options)
  return wrap((model) => make(model, options))
}

/** The service of {@link layer}. */
export const make = (model: Service, options: Options = {}): Service => {
  check(options)
  const store = options.store ?? memory(options.capacity)
  const underWay = new Map<string, Shared>()

  /** Asks in a fiber of its own: whoever came first may go, and the others still get their reply. */
  const start = (key: string, request: Request, runtime: Runtime.Runtime<never>): Shared => {
    const { onDelta } = request
    const watched: Request =
      onDelta === undefined
        ? request
        : // Whoever has gone is told nothing any more.
          { ...request, onDelta: (text) => Effect.suspend(() => (shared.firstIsThere ? onDelta(text) : Effect.void)) }
    const asking = Effect.suspend(() => model.complete(watched)).pipe(
      Effect.tap((reply) => (finished(reply) ? guarded(() => store.set(key, reply)) : Effect.void)),
      Effect.interruptible
    )
    // Entered in one go with its start, so that nobody finds it half made.
    const fiber = Runtime.runFork(runtime)(asking, { immediate: false })
    const shared: Shared = { fiber, sharers: new Set(), firstIsThere: true, payer: undefined }
    underWay.set(key, shared)
    fiber.addObserver(() => {
      if (underWay.get(key) === shared) underWay.delete(key)
    })
    return shared
  }

  const share = (key: string, request: Request): Effect.Effect<Reply, LlmError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.runtime<never>(), (runtime) => {
        const running = underWay.get(key)
        const shared = running ?? start(key, request, runtime)
        const isFirst = running === undefined
        const self = Symbol(request.call)
        shared.sharers.add(self)
        const left = Effect.suspend(() => {
          shared.sharers.delete(self)
          if (isFirst) shared.firstIsThere = false
          if (shared.sharers.size > 0) return Effect.void
          if (underWay.get(key) === shared) underWay.delete(key)
          return Fiber.interrupt(shared.fiber)
        })
        return Effect.flatMap(
          Effect.onInterrupt(restore(Fiber.await(shared.fiber)), () => left),
          (exit) => {
            if (Exit.isFailure(exit)) return exit
            // The tokens are told once, to the one who has waited longest.
            shared.payer ??= [...shared.sharers][0]
            const reply = shared.payer === self ? Effect.succeed(exit.value) : hit(exit.value, request)
            return isFirst ? reply : restore(Effect.flatMap(reply, (reply) => told(reply, request)))
          }
        )
      })
    )

  return {
    ...model,
    complete: (request) =>
      Effect.suspend(() => {
        const name = model.model?.(request.role)
        const key = name === undefined ? keyOf(request) : hash(`${name}\n${keyOf(request)}`)
        return Effect.flatMap(
          guarded(() => store.get(key)),
          (kept) =>
            kept === undefined
              ? Effect.mapError(share(key, request), (error) => named(error, request))
              : Effect.flatMap(hit(kept, request), (reply) => told(reply, request))
        )
      })
  }
}

/** The key of a request: everything in it but its `call`. That of a model with a name holds the name too. */
export const keyOf = (request: Request): string => {
  const { format, maxTokens, messages, role, stop, temperature, tools } = request
  const content = JSON.stringify([
    role,
    messages.map((message) => [
      message.role,
      message.content,
      message.role === "assistant"
        ? [
            (message.toolCalls ?? []).map((call) => [call.id, call.name, call.arguments, call.providerState ?? null]),
            message.providerState ?? null
          ]
        : null,
      message.role === "tool" ? [message.toolCallId, message.name] : null
    ]),
    (tools ?? []).map((tool) => [tool.name, tool.description, tool.parameters]),
    maxTokens ?? null,
    temperature ?? null,
    stop ?? [],
    format === undefined ? null : [format.name, format.schema]
  ])
  return hash(content)
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Shared {
  readonly fiber: Fiber.RuntimeFiber<Reply, LlmError>
  /** Those who wait for it, in the order in which they came. */
  readonly sharers: Set<symbol>
  /** True while the one whose request it is still waits. */
  firstIsThere: boolean
  /** The one who gets the reply with its usage. */
  payer: symbol | undefined
}

const check = (options: Options): void => {
  Options_.rejectUnknown("Cache", options, ["capacity", "store"])
  if (options.capacity !== undefined) Options_.wholeNumber("Cache", "capacity", options.capacity)
}

const finished = (reply: Reply): boolean => reply.finishReason === "stop" || reply.finishReason === "tool-calls"

/**
 * Asks a store. One that fails changes nothing, and neither does one that interrupts its caller, as a Queue that was
 * shut down does.
 */
const guarded = <A>(effect: () => Effect.Effect<A, unknown>): Effect.Effect<A | undefined> =>
  Effect.catchAllCause(Effect.suspend(effect), (cause) =>
    Effect.as(Effect.logWarning("The store of kept replies failed; the model is asked.", cause), undefined)
  )

const nothing: Usage = { inputTokens: 0, outputTokens: 0 }

/** A reply that somebody else has paid for. */
const hit = ({ cost: _, ...reply }: Reply, { call }: Request): Effect.Effect<Reply> =>
  Effect.map(Journal.tell, (tell) => {
    tell({ _tag: "CacheHit", call })
    return { ...reply, usage: nothing }
  })

/** A reply that is there already, told to whoever watches. */
const told = (reply: Reply, { onDelta }: Request): Effect.Effect<Reply> =>
  Effect.as(onDelta === undefined || reply.text === "" ? Effect.void : onDelta(reply.text), reply)

/** A shared failure is each sharer's own. */
const named = (error: LlmError, { call, role }: Request): LlmError => new LlmError({ ...error, call, role })
