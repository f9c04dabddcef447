import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { FakeTools, ScriptedLlm } from "@forethought/core/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readEvents, recorded, toolTimes } from "../src/journal.js"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "forethought-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

it.scoped("a run's events are in the file, and can be read back", () =>
  Effect.gen(function* () {
    const file = join(yield* folder, "events.jsonl")
    yield* recorded("q", file)
    const events = yield* readEvents(file)
    expect(events[0]).toMatchObject({ _tag: "RunStarted", pattern: "rewoo-parallel", task: "q" })
    expect(events.at(-1)).toMatchObject({ _tag: "RunEnded", outcome: "succeeded" })
    expect(yield* toolTimes(file)).toEqual([{ call: "#E1", tool: "Search", millis: 0 }])
  }).pipe(Effect.provide(Layer.merge(ScriptedLlm.layer(["#E1 = Search[x]", "done"]), FakeTools.layer({ Search: "y" }))))
)
