/**
 * Replies kept for requests that are asked again word for word, in this run or in the next one.
 */
import { createHash } from "node:crypto"
import { type Llm, LlmError, type Reply, type Request, type Service } from "@forethought/core/Llm"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import { wrap } from "./internal/wrap.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Where replies are kept. A key is 64 hexadecimal digits; a reply is plain data. */
export interface Store {
  readonly get: (key: string) => Effect.Effect<Reply | undefined, unknown>
  readonly set: (key: string, reply: Reply) => Effect.Effect<void, unknown>
}

export interface Options {
  /** How many replies are kept in memory; the one that was not used for longest goes first. Default: 1,000. */
  readonly capacity?: number | undefined
  /** Keeps the replies elsewhere, such as in files. Default: in memory, as long as the Layer lives. */
  readonly store?: Store | undefined
}

// ---------------------------------------------------------------------------------------------------------------
// stores
// ---------------------------------------------------------------------------------------------------------------

/** Keeps the replies that were used last. */
export const memory = (capacity = 1_000): Store => {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new RangeError(`Cache: capacity must be a whole number of at least 1, got ${capacity}.`)
  }
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
 * Two requests are the same when everything but their `call` is: role, messages, tools, limits, temperature, stop and
 * format. Only a reply that finished is kept (`stop` or `tool-calls`), never a failure. Equal requests that are under
 * way at once share one call, which is interrupted when the last of them is. A store that fails is logged, and the
 * model is asked.
 *
 * A kept reply reports that it used no tokens. Put the Cache around a `RateLimit` and a `Budget`, so that it counts as no
 * call either: `model.pipe(RateLimit.layer(…), Budget.layer(…), Cache.layer())`. A model whose replies are meant to differ, as for a vote, must not have one.
 */
export const layer = (options: Options = {}): (<E, R>(model: Layer.Layer<Llm, E, R>) => Layer.Layer<Llm, E, R>) =>
  wrap((model) => make(model, options))

/** The service of {@link layer}. */
export const make = (model: Service, options: Options = {}): Service => {
  const store = options.store ?? memory(options.capacity)
  const underWay = new Map<string, Shared>()

  const start = (key: string, request: Request): Effect.Effect<Shared> =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<Reply, LlmError>()
      const shared: Shared = { done, sharers: 0, fiber: undefined }
      underWay.set(key, shared)
      // In a fiber of its own: whoever came first may go, and the others still get their reply.
      shared.fiber = yield* model.complete(request).pipe(
        Effect.tap((reply) => (finished(reply) ? guarded(store.set(key, reply), undefined) : Effect.void)),
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            if (underWay.get(key) === shared) underWay.delete(key)
            return Deferred.done(done, exit)
          })
        ),
        Effect.interruptible,
        Effect.forkDaemon
      )
      return shared
    })

  const share = (key: string, request: Request): Effect.Effect<Reply, LlmError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const running = underWay.get(key)
        const shared = running ?? (yield* start(key, request))
        shared.sharers += 1
        const reply = yield* Effect.onExit(restore(Deferred.await(shared.done)), (exit) => {
          shared.sharers -= 1
          if (shared.sharers > 0 || !Exit.isInterrupted(exit) || shared.fiber === undefined) return Effect.void
          if (underWay.get(key) === shared) underWay.delete(key)
          return Fiber.interrupt(shared.fiber)
        })
        return running === undefined ? reply : yield* again(reply, request)
      })
    )

  return {
    complete: (request) =>
      Effect.suspend(() => {
        const key = keyOf(request)
        return Effect.flatMap(guarded(store.get(key), undefined), (kept) =>
          kept === undefined
            ? Effect.mapError(share(key, request), (error) => named(error, request))
            : again(kept, request)
        )
      })
  }
}

/** The key of a request: everything in it but its `call`. */
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
  return createHash("sha256").update(content).digest("hex")
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

interface Shared {
  readonly done: Deferred.Deferred<Reply, LlmError>
  sharers: number
  fiber: Fiber.RuntimeFiber<Reply, LlmError> | undefined
}

const finished = (reply: Reply): boolean => reply.finishReason === "stop" || reply.finishReason === "tool-calls"

const guarded = <A>(effect: Effect.Effect<A, unknown>, otherwise: A): Effect.Effect<A> =>
  Effect.catchAllCause(effect, (cause) =>
    Cause.isInterruptedOnly(cause)
      ? Effect.interrupt
      : Effect.as(Effect.logWarning("The store of kept replies failed; the model is asked.", cause), otherwise)
  )

/** A reply that was paid for already, told to whoever watches. */
const again = (reply: Reply, { onDelta }: Request): Effect.Effect<Reply> =>
  Effect.as(onDelta === undefined || reply.text === "" ? Effect.void : onDelta(reply.text), {
    ...reply,
    usage: { inputTokens: 0, outputTokens: 0 }
  })

/** A shared failure is each sharer's own. */
const named = (error: LlmError, { call, role }: Request): LlmError => new LlmError({ ...error, call, role })
