/** Every pattern on a small real model: whatever it writes, a run ends in an answer or a typed error. */
import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import * as Gguf from "@forethought/ai/Gguf"
import * as Journal from "@forethought/core/Journal"
import { FakeTools } from "@forethought/core/testing"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, describe } from "vitest"
import { patterns } from "./support/patterns.js"

const models = fileURLToPath(new URL("../../../../shared/models/", import.meta.url))
const name = existsSync(models) ? readdirSync(models).find((file) => file.endsWith(".gguf")) : undefined

/** No reply is longer than this, so that a run takes seconds. */
const shortest = 48

const runtime = ManagedRuntime.make(
  Layer.suspend(() => Gguf.layer({ file: `${models}${name}`, contextSize: 4096, maxTokens: shortest }))
)
afterAll(() => runtime.dispose())

const title = `every pattern on a real model${name === undefined ? " (skipped: no model file in ../shared/models)" : ""}`

describe.skipIf(name === undefined)(title, () => {
  it.live.each(patterns)(
    "%s",
    ([, run]) =>
      Effect.gen(function* () {
        const exit = yield* run("How many people live in the capital of Norway?", "text").pipe(
          Effect.timeoutFail({ duration: "100 seconds", onTimeout: () => ({ _tag: "Hang", message: "it hangs" }) }),
          Effect.exit
        )
        if (Exit.isSuccess(exit)) return
        expect(Cause.defects(exit.cause)).toHaveLength(0)
        const error = Cause.failureOption(exit.cause)
        expect(error).toMatchObject({ _tag: "Some", value: { message: expect.any(String) } })
        expect(error).not.toMatchObject({ value: { _tag: "Hang" } })
      }).pipe(
        Effect.provide(runtime),
        Effect.provide(FakeTools.layer({ Search: "Oslo, 709,000", Calculator: "4" })),
        Effect.provide(Journal.layer(Journal.silent))
      ),
    120_000
  )
})
