/** What a model reads of a call whose outcome nobody knows, and of one that died on its way. */
import { describe, expect, it } from "@effect/vitest"
import * as Journal from "@forethought/core/Journal"
import type * as Llm from "@forethought/core/Llm"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import { ScriptedLlm } from "@forethought/core/testing"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as ReAct from "@forethought/patterns/ReAct"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"

/** The messages of the last request, as one text. */
const lastPrompt = Effect.map(
  Effect.flatMap(ScriptedLlm.ScriptedLlm, (model) => model.requests),
  (requests) => (requests.at(-1)?.messages ?? []).map(({ content }) => content).join("\n")
)

const marks = (readOnly: boolean | undefined, idempotent: boolean) => ({
  idempotent,
  ...(readOnly === undefined ? {} : { readOnly })
})

const mail = (given: ReturnType<typeof marks>) =>
  Tool.make({
    name: "Mail",
    description: "Sends a mail.",
    ...given,
    timeout: "100 millis",
    execute: () => Effect.never
  })

const native: ScriptedLlm.Line = { toolCalls: [{ id: "1", name: "Mail", arguments: '{"input":"hello"}' }] }

const ways: ReadonlyArray<
  readonly [
    way: string,
    run: Effect.Effect<unknown, unknown, Llm.Llm | Toolbox.Toolbox>,
    script: ReadonlyArray<ScriptedLlm.Line>
  ]
> = [
  ["native", ReAct.run("task"), [native, "Done."]],
  [
    "text",
    ReAct.run("task", { protocol: "text" }),
    ["Thought: send\nAction: Mail\nAction Input: hello", "Final Answer: Done."]
  ],
  ["ReWOO, sequential", Rewoo.sequential("task"), ["Plan: send\n#E1 = Mail[hello]", "Done."]],
  ["ReWOO, parallel", Rewoo.parallel("task"), ["Plan: send\n#E1 = Mail[hello]", "Done."]]
]

describe("a tool that timed out", () => {
  for (const [way, run, script] of ways) {
    for (const [readOnly, idempotent, isKnown] of [
      [undefined, false, false],
      [false, false, false],
      [undefined, true, true],
      [false, true, true],
      [true, false, true]
    ] as const) {
      const title = `${way}, readOnly ${readOnly}, idempotent ${idempotent}`
      it.effect(
        `VR-07: ${title}: the model is told ${isKnown ? "that it can try again" : "that the outcome is unknown"}`,
        () =>
          Effect.gen(function* () {
            const fiber = yield* Effect.fork(run)
            yield* TestClock.adjust("100 millis")
            yield* Fiber.join(fiber)
            const shown = yield* lastPrompt
            expect(shown).toContain("Mail timed out after 100 ms.")
            expect(shown.includes("can be tried again")).toBe(isKnown)
            expect(shown.includes("outcome is unknown: the action may have happened")).toBe(!isKnown)
          }).pipe(
            Effect.provide(
              Layer.mergeAll(
                ScriptedLlm.layer(script),
                Toolbox.layer([mail(marks(readOnly, idempotent))]),
                Journal.layer(Journal.silent)
              )
            )
          )
      )
    }
  }
})

const Https = Schema.String.pipe(Schema.filter((text) => new URL(text).protocol === "https:"))
const page = Tool.make({
  name: "Page",
  description: "",
  parameters: Schema.Struct({ url: Https }),
  execute: ({ url }) => `page ${url}`
})
const note = Tool.make({ name: "Note", description: "", execute: (input) => `noted <${input}>` })
const plan = "Plan: a\n#E1 = Page[not a url]\nPlan: b\n#E2 = Note[#E1]\nPlan: c\n#E3 = Note[fine]"

/** Ways in which a call can die outside of the tool's `execute`. */
const deaths: ReadonlyArray<readonly [how: string, toolbox: Layer.Layer<Toolbox.Toolbox>, says: string]> = [
  ["a Schema filter that throws", Toolbox.layer([page, note]), "Page failed: Invalid URL"],
  ...(
    [
      ["a toolbox that dies", () => Effect.die(new Error("gone"))],
      [
        "a toolbox that throws",
        () => {
          throw new Error("gone")
        }
      ],
      ["a toolbox that interrupts", () => Effect.interrupt]
    ] as const
  ).map(([how, call]) => {
    const broken = Layer.effect(
      Toolbox.Toolbox,
      Effect.map(
        Toolbox.Toolbox,
        (inner): Toolbox.Service => ({
          ...inner,
          call: (request) => (request.tool === "Page" ? call() : inner.call(request))
        })
      )
    )
    return [how, Layer.provide(broken, Toolbox.layer([page, note])), "Page failed"] as const
  })
]

describe("a tool call that dies outside of the tool", () => {
  for (const [how, toolbox, says] of deaths) {
    const layer = (...script: ReadonlyArray<ScriptedLlm.Line>) =>
      Layer.mergeAll(ScriptedLlm.layer(script), toolbox, Journal.layer(Journal.silent))

    it.effect(`AU-05: ${how}: ReWOO has evidence of every planned step`, () =>
      Effect.gen(function* () {
        const sequential = yield* Effect.provide(Rewoo.sequential("q"), layer(plan, "solved"))
        expect(sequential.evidence.map(({ status }) => status)).toEqual(["error", "ok", "ok"])
        expect(sequential.evidence[0]?.text).toContain(says)
        expect(sequential.evidence[1]?.text).toBe(`noted <${sequential.evidence[0]?.text}>`)
        const parallel = yield* Effect.provide(Rewoo.parallel("q"), layer(plan, "solved"))
        expect(parallel.evidence.map(({ status }) => status)).toEqual(["error", "skipped", "ok"])
      })
    )

    it.effect(`AU-05: ${how}: ReAct and a step of a plan go on with an observation`, () =>
      Effect.gen(function* () {
        const call: ScriptedLlm.Line = { toolCalls: [{ id: "1", name: "Page", arguments: '{"url":"not a url"}' }] }
        const { turns } = yield* Effect.provide(ReAct.run("q"), layer(call, "answer"))
        expect(turns[0]?.calls).toMatchObject([{ outcome: "error", observation: expect.stringContaining(says) }])
        const { pastSteps } = yield* Effect.provide(
          PlanAndExecute.run("q"),
          layer("1. look", call, "nothing there", '{"final_answer":"none"}')
        )
        expect(pastSteps).toMatchObject([{ status: "completed", result: "nothing there" }])
      })
    )
  }
})
