/** Every layer around a model, and every provider, interrupted at every yield point with a yield at every third operation. */
import * as AiModel from "@effect/ai/LanguageModel"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { describe, expect, it } from "@effect/vitest"
import { Llm, LlmError, Reason, reply, type Service } from "@forethought/core/Llm"
import { Interruption } from "@forethought/core/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as Anthropic from "../src/Anthropic.js"
import * as Budget from "../src/Budget.js"
import * as Cache from "../src/Cache.js"
import * as Fallback from "../src/Fallback.js"
import * as Google from "../src/Google.js"
import * as LanguageModel from "../src/LanguageModel.js"
import * as OpenAi from "../src/OpenAi.js"
import * as OpenAiCompatible from "../src/OpenAiCompatible.js"
import * as RateLimit from "../src/RateLimit.js"
import * as Retry from "../src/Retry.js"
import { request } from "./support/models.js"

const isFuzzing = Number(process.env["FORETHOUGHT_RUNS"] ?? 0) > 10_000
const distances = isFuzzing ? Array.from({ length: 28 }, (_, i) => i + 3) : [3, 4, 7]

/** What models tell of themselves: how many run, and how many started or ended when the program was over. */
const makeState = () => {
  let isOver = false
  const state = { running: 0, late: 0, asked: 0 }
  const count = (by: 1 | -1) => {
    state.running += by
    if (by === 1) state.asked += 1
    if (isOver) state.late += 1
  }
  return {
    state,
    during: <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.acquireUseRelease(
        Effect.sync(() => count(1)),
        () => work,
        () => Effect.sync(() => count(-1))
      ),
    /** A piece of a reply that somebody is told. */
    tell: Effect.sync(() => {
      if (isOver) state.late += 1
    }),
    ended: () => {
      isOver = true
    },
    reopen: () => {
      isOver = false
    }
  }
}
type World = ReturnType<typeof makeState>

/** A tracer that counts the spans which are open. */
const counting = (open: { spans: number }): Tracer.Tracer => {
  const native = Effect.runSync(Effect.tracer)
  return Tracer.make({
    span: (...given) => {
      const span = native.span(...given)
      const end = span.end.bind(span)
      open.spans += 1
      return Object.assign(span, {
        end: (...how: Parameters<typeof end>) => {
          open.spans -= 1
          end(...how)
        }
      })
    },
    context: (run) => run()
  })
}

const pause = (steps: number) => Effect.repeatN(Effect.yieldNow(), steps)
const answer = reply("ok", { usage: { inputTokens: 1, outputTokens: 1 } })

/** Answers after a while, and tells its text in two pieces. */
const answering = ({ during }: World): Service => ({
  complete: ({ onDelta }) =>
    during(
      Effect.as(
        Effect.zipRight(
          pause(2),
          Effect.forEach(["o", "k"], (text) => onDelta?.(text) ?? Effect.void)
        ),
        answer
      )
    )
})
/** Fails the first time, for a reason that may pass. */
const failing = ({ during, state }: World): Service => ({
  complete: () =>
    during(
      Effect.zipRight(
        pause(1),
        Effect.suspend(() =>
          state.asked === 1 ? Effect.fail(new LlmError({ reason: Reason.Unavailable() })) : Effect.succeed(answer)
        )
      )
    )
})

const layers: ReadonlyArray<readonly [name: string, make: (world: World) => Service]> = [
  ["Retry", (world) => Retry.retrying(failing(world), { backoff: Schedule.forever })],
  ["RateLimit, one at a time", (world) => RateLimit.make(answering(world), { maxConcurrent: 1 })],
  [
    "RateLimit, in a window",
    (world) => RateLimit.make(answering(world), { requestsPerMinute: 100, tokensPerMinute: 10_000 })
  ],
  ["Budget of tokens", (world) => Budget.make(answering(world), { outputTokens: 5_000, maxReplyTokens: 4_096 })],
  ["Budget of time", (world) => Budget.make(answering(world), { wallTime: "1 hour" })],
  ["Fallback", (world) => Fallback.make(failing(world), answering(world))],
  ["Cache", (world) => Cache.make(answering(world))],
  [
    "Cache with a store that takes a while",
    (world) => {
      const memory = Cache.memory()
      return Cache.make(answering(world), {
        store: {
          get: (key) => Effect.zipRight(Effect.yieldNow(), memory.get(key)),
          set: (key, value) => Effect.zipRight(Effect.yieldNow(), memory.set(key, value))
        }
      })
    }
  ],
  [
    "all of them",
    (world) =>
      Cache.make(
        Budget.make(
          Fallback.make(
            RateLimit.make(Retry.retrying(failing(world), { backoff: Schedule.forever }), { maxConcurrent: 1 }),
            answering(world)
          ),
          { calls: 100, wallTime: "1 hour" }
        )
      )
  ]
]

// ---------------------------------------------------------------------------------------------------------------
// providers
// ---------------------------------------------------------------------------------------------------------------

/** A client whose exchanges are counted from the request to the end of the body. */
const client = ({ during }: World, body: string): HttpClient.HttpClient =>
  HttpClient.make((request) =>
    during(
      Effect.as(
        pause(2),
        HttpClientResponse.fromWeb(request, new Response(body, { headers: { "content-type": "application/json" } }))
      )
    )
  )

const options = { model: "m", maxRetries: 0 }
const built = (layer: Layer.Layer<Llm, never, HttpClient.HttpClient>, http: HttpClient.HttpClient): Service =>
  Effect.runSync(
    Effect.scoped(
      Effect.map(Layer.build(Layer.provide(layer, Layer.succeed(HttpClient.HttpClient, http))), Context.get(Llm))
    )
  )

const chatBody = JSON.stringify({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] })
const events = ["o", "k"]
  .map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
  .join("")
const chatStream = `${events}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`

const providers: ReadonlyArray<readonly [name: string, make: (world: World) => Service]> = [
  [
    "/chat/completions",
    (world) => OpenAiCompatible.make(client(world, chatBody), { ...options, baseUrl: "http://h/v1" })
  ],
  [
    "/chat/completions, streamed",
    (world) => OpenAiCompatible.make(client(world, chatStream), { ...options, baseUrl: "http://h/v1" })
  ],
  [
    "OpenAI",
    (world) =>
      built(
        OpenAi.layer(options),
        client(
          world,
          JSON.stringify({
            status: "completed",
            output: [{ type: "message", content: [{ type: "output_text", text: "ok" }] }]
          })
        )
      )
  ],
  [
    "Anthropic",
    (world) =>
      built(
        Anthropic.layer(options),
        client(world, JSON.stringify({ content: [{ type: "text", text: "ok" }], stop_reason: "end_turn" }))
      )
  ],
  [
    "Google",
    (world) =>
      built(
        Google.layer(options),
        client(world, JSON.stringify({ candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] }))
      )
  ],
  [
    "a LanguageModel of @effect/ai",
    (world) => {
      const generateText = () =>
        world.during(
          Effect.as(pause(2), [
            { type: "text" as const, text: "ok" },
            {
              type: "finish" as const,
              reason: "stop" as const,
              usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
            }
          ])
        )
      const model = Layer.effect(AiModel.LanguageModel, AiModel.make({ generateText, streamText: () => Stream.empty }))
      return Effect.runSync(
        Effect.scoped(
          Effect.map(Layer.build(Layer.provide(LanguageModel.layer({ maxRetries: 0 }), model)), Context.get(Llm))
        )
      )
    }
  ]
]

/** Whether a call goes through that comes when all is over: nothing that was taken is still held. */
const goesOn = async (service: Service, { reopen }: World): Promise<boolean> => {
  reopen()
  const scheduler = Interruption.makeScheduler(1_000)
  const fiber = Effect.runFork(service.complete(request({ call: "next", messages: [] })), { scheduler })
  await scheduler.settle()
  const exit = fiber.unsafePoll()
  return exit !== null && Exit.isSuccess(exit)
}

describe("AU-01: interrupted at every yield point", () => {
  for (const [name, make] of [...layers, ...providers]) {
    it(`${name}: two equal callers, nothing goes on, and the next call goes through`, async () => {
      for (const every of distances) {
        const tried = await Interruption.everywhere(
          () => {
            const world = makeState()
            const service = make(world)
            // The second caller waits, shares or runs beside the first; both end with the whole.
            const second = Effect.forkDaemon(Effect.interruptible(service.complete(request({ call: "second" }))))
            const effect = Effect.uninterruptibleMask((restore) =>
              Effect.flatMap(second, (fiber) =>
                Effect.onExit(
                  restore(Effect.zipRight(service.complete(request({ onDelta: () => world.tell })), Fiber.join(fiber))),
                  () => Fiber.interrupt(fiber)
                )
              )
            )
            return { state: { world, service }, ended: world.ended, effect }
          },
          async ({ exit, state: { service, world }, tasks }) => {
            const where = `a yield every ${every} operations, interrupted after ${tasks} tasks`
            expect(exit, `${where}: returns`).toBeDefined()
            expect([world.state.running, world.state.late], where).toEqual([0, 0])
            expect(await goesOn(service, world), `${where}: the next call goes through`).toBe(true)
          },
          { every, most: 5_000 }
        )
        expect(tried).toBeGreaterThan(every === 3 ? 20 : 0)
      }
    }, 600_000)
  }

  it("the span of a request that was started is ended", async () => {
    for (const every of distances) {
      const tried = await Interruption.everywhere(
        () => {
          const world = makeState()
          const service = OpenAiCompatible.make(client(world, chatBody), { ...options, baseUrl: "http://h/v1" })
          const state = { spans: 0 }
          return { state, effect: Effect.withTracer(service.complete(request()), counting(state)) }
        },
        ({ exit, state, tasks }) => {
          expect(exit).toBeDefined()
          expect(state.spans, `a yield every ${every} operations, interrupted after ${tasks} tasks`).toBe(0)
        },
        { every }
      )
      expect(tried).toBeGreaterThan(every <= 7 ? 20 : 0)
    }
  })
})
