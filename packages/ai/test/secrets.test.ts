/** No key in anything that a call leaves behind: errors, logs, traces. */
import { expect, it } from "@effect/vitest"
import { Llm, type Request } from "@forethought/core/Llm"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import { describe } from "vitest"
import * as Loopback from "./support/Loopback.js"
import { key, providers } from "./support/providers.js"

const request: Request = { role: "planner", call: "planner", messages: [{ role: "user", content: "Plan." }] }

/** Keeps everything that is written to a span. */
const recording = (written: Array<unknown>): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      return {
        _tag: "Span",
        name,
        spanId: "0123456789abcdef",
        traceId: "0123456789abcdef0123456789abcdef",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        // What exporters write of how a span ended: nothing of a success, the error texts of a failure.
        end: (_, exit) => {
          if (exit._tag === "Failure") written.push(Cause.pretty(exit.cause, { renderErrorCause: true }))
        },
        attribute: (attribute, value) => {
          attributes.set(attribute, value)
          written.push([attribute, value])
        },
        event: (event, _, values) => written.push([event, values]),
        addLinks: () => {}
      }
    },
    context: (run) => run()
  })

describe.each(providers)("$name", (provider) => {
  it.live("a key that cannot be sent is named, not quoted, and nothing is tried", () =>
    Effect.gen(function* () {
      const apiKey = Redacted.make(`${key}\n${key}`)
      const error = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer("http://127.0.0.1:9", { apiKey })),
        Effect.flip
      )
      expect(error.isRetryable).toBe(false)
      expect(error.detail).toContain("a character that cannot be sent")
      expect(Inspectable.toStringUnknown(error) + error.message).not.toContain(key)
    })
  )

  it.scopedLive.each([
    ["a reply", 200],
    ["a refused key", 401],
    ["a server error", 500]
  ] as const)("%s", ([, status]) =>
    Effect.gen(function* () {
      const written: Array<unknown> = []
      const body = status === 200 ? provider.reply({ text: "ok" }) : provider.error(status, `bad key: ${key}`)
      const server = yield* Loopback.make(Loopback.json(body, status))
      const exit = yield* Llm.pipe(
        Effect.flatMap((llm) => llm.complete(request)),
        Effect.provide(provider.layer(server.url, { maxRetries: 1, maxRetryDelay: "1 millis" })),
        Effect.tapErrorCause((cause) => Effect.logError(cause)),
        Effect.exit,
        Effect.withTracer(recording(written)),
        Effect.provide(
          Layer.merge(
            Logger.replace(
              Logger.defaultLogger,
              Logger.map(Logger.logfmtLogger, (line) => void written.push(line))
            ),
            Logger.minimumLogLevel(LogLevel.All)
          )
        )
      )
      expect(provider.keyOf(server.received[0] ?? { path: "", headers: {}, body: {} })).toBe(key)
      expect(written.length).toBeGreaterThan(3)
      const all = [
        ...written,
        exit,
        exit._tag === "Failure" ? Cause.pretty(exit.cause, { renderErrorCause: true }) : ""
      ]
      expect(all.map((item) => Inspectable.toStringUnknown(item)).join("\n")).not.toContain(key)
    })
  )
})
