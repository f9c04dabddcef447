import { describe, expect, it } from "@effect/vitest"
import type { ExecutorInput } from "@forethought/core/Executor"
import * as Journal from "@forethought/core/Journal"
import * as Llm from "@forethought/core/Llm"
import * as PlanApproval from "@forethought/core/PlanApproval"
import type { PlannedStep, RunEvent } from "@forethought/core/RunEvent"
import type * as Toolbox from "@forethought/core/Toolbox"
import { FakeTools } from "@forethought/core/testing"
import * as Adapt from "@forethought/patterns/Adapt"
import * as PlanAndExecute from "@forethought/patterns/PlanAndExecute"
import * as PlanAndSolveAgent from "@forethought/patterns/PlanAndSolveAgent"
import * as Rewoo from "@forethought/patterns/Rewoo"
import * as Router from "@forethought/patterns/Router"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { of, requests, toolCalls, withEvents, world } from "./world.js"

// A whole run takes longer than the reading of a reply.
const numRuns = Math.ceil(Number(process.env["FORETHOUGHT_RUNS"] ?? 1000) / 5)

/** A reviewer that says the same of every plan, and remembers what it was shown. */
const reviewer = (says: PlanApproval.Review) => {
  const shown: Array<PlanApproval.ProposedPlan> = []
  const layer = PlanApproval.layer((plan) =>
    Effect.sync(() => {
      shown.push(plan)
      return says
    })
  )
  return { shown, layer }
}

const rewooPlan = "Plan: look\n#E1 = Search[a]\n#E2 = Search[#E1]"

describe.each([
  ["rewoo", Rewoo.sequential],
  ["rewoo-parallel", Rewoo.parallel]
] as const)("A reviewed plan of %s", (pattern, rewoo) => {
  it.effect("is shown validated, with its graph, before anything runs; accepted, it runs", () => {
    const { layer, shown } = reviewer(PlanApproval.accept)
    return Effect.gen(function* () {
      yield* Effect.provide(rewoo("Q"), layer)
      expect(shown).toEqual([
        {
          pattern,
          task: "Q",
          steps: [
            { id: "#E1", text: "look", dependsOn: [], tool: "Search", input: "a" },
            { id: "#E2", text: "look", dependsOn: ["#E1"], tool: "Search", input: "#E1" }
          ]
        }
      ])
      expect((yield* toolCalls).length).toBe(2)
    }).pipe(Effect.provide(world([rewooPlan, "ok"])))
  })

  it.effect("edited, is read and validated again", () =>
    Effect.gen(function* () {
      yield* Effect.provide(rewoo("Q"), reviewer(PlanApproval.edit("#E1 = search[b]")).layer)
      expect((yield* toolCalls).map((call) => call.input)).toEqual(["b"])
      const error = yield* Effect.flip(rewoo("Q")).pipe(
        Effect.provide(reviewer(PlanApproval.edit("#E1 = Fly[b]")).layer),
        Effect.provide(world([rewooPlan]))
      )
      expect(error._tag === "InvalidPlan" && error.issues).toMatchObject([{ _tag: "UnknownTool" }])
    }).pipe(Effect.provide(world([rewooPlan, "ok"])))
  )

  it.effect("refused, ends the run before any tool runs", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rewoo("Q")).pipe(Effect.provide(reviewer(PlanApproval.refuse("too dear")).layer))
      expect(error).toMatchObject({
        _tag: "PlanRefused",
        reason: "too dear",
        plan: "Plan: look\n#E1 = Search[a]\nPlan: look\n#E2 = Search[#E1]",
        progress: { evidence: [] }
      })
      expect(error.message).toContain("The plan was refused: too dear")
      expect(yield* toolCalls).toEqual([])
      expect((yield* requests).length).toBe(1)
    }).pipe(Effect.provide(world([rewooPlan])))
  )
})

type Run = (
  task: string
) => Effect.Effect<unknown, PlanAndExecute.Error | PlanAndSolveAgent.Error, Llm.Llm | Toolbox.Toolbox>

const lists: ReadonlyArray<readonly [pattern: string, run: Run, rest: ReadonlyArray<string>]> = [
  ["plan-and-execute", (task: string) => PlanAndExecute.run(task), ["done", '{"final_answer":"x"}']],
  ["plan-and-solve-agent", (task: string) => PlanAndSolveAgent.run(task), ["SUCCESS: done", "x"]]
]

describe.each(lists)("A reviewed plan of %s", (_pattern, run, rest) => {
  it.effect("edited, is read again", () =>
    Effect.gen(function* () {
      const { events } = yield* withEvents(Effect.provide(run("T"), reviewer(PlanApproval.edit("1. Mine")).layer))
      expect(of(events, "PlanMade")[0]?.steps.map((step) => step.text)).toEqual(["Mine"])
      expect(of(events, "StepStarted").map((event) => event.step)).toEqual(["Mine"])
    }).pipe(Effect.provide(world(["1. A\n2. B", ...rest])))
  )
  it.effect("refused, ends the run before any step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("T")).pipe(Effect.provide(reviewer(PlanApproval.refuse("no")).layer))
      expect(error).toMatchObject({ _tag: "PlanRefused", reason: "no", plan: "1. A\n2. B" })
      expect(error.message).toContain("refused: no")
    }).pipe(Effect.provide(world(["1. A\n2. B"])))
  )
})

// ---------------------------------------------------------------------------------------------------------------
// replans
// ---------------------------------------------------------------------------------------------------------------

/** A reviewer that gives one answer after the other, and then accepts. */
const reviewers = (...says: ReadonlyArray<PlanApproval.Review>) => {
  const left = [...says]
  const shown: Array<PlanApproval.ProposedPlan> = []
  const layer = PlanApproval.layer((plan) =>
    Effect.sync(() => {
      shown.push(plan)
      return left.shift() ?? PlanApproval.accept
    })
  )
  /** The steps of each plan that was shown, and the previous ones that had not run. */
  const texts = () => shown.map((plan) => [textsOf(plan.steps), plan.previous && textsOf(waiting(plan))])
  return { shown, layer, texts }
}

const waiting = ({ done = [], previous = [] }: PlanApproval.ProposedPlan) =>
  previous.filter(({ id }) => !done.includes(id))

const textsOf = (steps: ReadonlyArray<PlannedStep>) => steps.map(({ text }) => text)

const numbered = (steps: ReadonlyArray<string>) => steps.map((step, index) => `${index + 1}. ${step}`).join("\n")

/** A run of a plan, whose first steps fail, each followed by one of the replans; then all goes as planned. */
interface Replanning {
  readonly pattern: "plan-and-execute" | "plan-and-solve-agent"
  readonly run: (
    plan: ReadonlyArray<string>,
    replans: ReadonlyArray<ReadonlyArray<string>>,
    options?: { readonly maxPlanLength?: number },
    watch?: (event: RunEvent) => void
  ) => Effect.Effect<{
    readonly executed: ReadonlyArray<string>
    readonly outcome: Either.Either<unknown, PlanAndExecute.Error | PlanAndSolveAgent.Error>
    readonly events: ReadonlyArray<RunEvent>
  }>
}

/** A model that gives a role's replies in turn. */
const byRole = (reply: (role: Llm.Role, count: number, prompt: string) => string) => {
  const asked = new Map<string, number>()
  return Layer.merge(
    FakeTools.layer({}),
    Llm.layer(({ messages, role }) =>
      Effect.sync(() => {
        const count = asked.get(role) ?? 0
        asked.set(role, count + 1)
        return Llm.reply(reply(role, count, messages[0]?.content ?? ""))
      })
    )
  )
}

const told = <E>(
  run: Effect.Effect<unknown, E, Llm.Llm | Toolbox.Toolbox>,
  model: ReturnType<typeof byRole>,
  watch: (event: RunEvent) => void = () => {}
) =>
  Effect.gen(function* () {
    const journal = Journal.memory()
    const sink = { unsafeRecord: watch, record: (event: RunEvent) => Effect.sync(() => watch(event)) }
    const outcome = yield* Effect.provide(Effect.either(run), Layer.merge(model, Journal.layer(journal, sink)))
    const events = yield* journal.events
    return { executed: of(events, "StepStarted").map(({ step }) => step), events, outcome }
  })

const replanning: ReadonlyArray<Replanning> = [
  {
    pattern: "plan-and-execute",
    run: (plan, replans, options, watch) =>
      Effect.suspend(() => {
        let steps = 0
        const executor = (_: ExecutorInput) =>
          Effect.sync(() => ({
            status: steps++ < replans.length ? ("failed" as const) : ("completed" as const),
            result: "x"
          }))
        // After the given replans the rest of the plan stays.
        const kept = (prompt: string) => [...prompt.matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step)
        const replanner = (count: number, prompt: string) => {
          const remaining_steps = replans[count] ?? kept(prompt)
          return JSON.stringify(remaining_steps.length === 0 ? { final_answer: "done" } : { remaining_steps })
        }
        return told(
          PlanAndExecute.run("G", { maxSteps: 100, ...options, executor, prompts: { replanner: "{{plan}}" } }),
          byRole((role, count, prompt) => (role === "planner" ? numbered(plan) : replanner(count, prompt))),
          watch
        )
      })
  },
  {
    pattern: "plan-and-solve-agent",
    run: (plan, replans, options, watch) =>
      Effect.suspend(() =>
        told(
          PlanAndSolveAgent.run("G", { ...options, maxReplans: replans.length }),
          byRole((role, count) => {
            if (role === "planner") return numbered(plan)
            if (role === "replanner") return numbered(replans[count] ?? [])
            return role === "executor" && count < replans.length ? "FAILURE: no" : "SUCCESS: done"
          }),
          watch
        )
      )
  }
]

describe.each(replanning)("AU-11: a replan of $pattern", ({ pattern, run }) => {
  it.effect.each<
    [
      what: string,
      plan: ReadonlyArray<string>,
      replan: ReadonlyArray<string>,
      previous: ReadonlyArray<string> | "not shown"
    ]
  >([
    ["another step", ["look"], ["delete the database"], []],
    ["one more step", ["A", "B"], ["B", "C"], ["B"]],
    ["a step before the others", ["A", "B"], ["C", "B"], ["B"]],
    ["a changed step", ["A", "pay 1.5"], ["pay 15"], ["pay 1.5"]],
    ["a step that has run", ["A", "B"], ["A", "B"], ["B"]],
    ["a step twice", ["A", "B"], ["B", "B"], ["B"]],
    ["the rest as it was", ["A", "B"], ["B"], "not shown"],
    ["a step that was planned twice", ["A", "A", "B"], ["A", "B"], "not shown"],
    ["the rest in other letters", ["A", "Look up B"], ["look up  b."], "not shown"],
    ["a removal", ["A", "B", "C"], ["C"], "not shown"],
    ["another order", ["A", "B", "C"], ["C", "B"], "not shown"]
  ])("is shown where it adds or changes a step: %s", ([_what, plan, replan, previous]) => {
    const { layer, shown, texts } = reviewers()
    return Effect.gen(function* () {
      const { executed, outcome } = yield* run(plan, [replan])
      expect(outcome._tag).toBe("Right")
      expect(executed).toEqual([plan[0], ...replan])
      expect(texts()).toEqual([[plan, undefined], ...(previous === "not shown" ? [] : [[replan, previous]])])
      for (const one of shown) expect(one).toMatchObject({ pattern, task: "G" })
      // Numbered as in the run, of which one step is over.
      expect(shown[1]?.steps.map(({ id }) => id) ?? ["2"]).toContain("2")
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "is compared with what was approved last: what came in between, and what was left out and came back",
    () => {
      const { layer, texts } = reviewers()
      return Effect.gen(function* () {
        yield* run(["A", "B", "C"], [["C"], ["B", "D"], ["D", "B"], ["E"]])
        expect(texts()).toEqual([
          [["A", "B", "C"], undefined],
          [["B", "D"], ["B"]],
          [["D", "B"], ["D"]],
          [["E"], ["B"]]
        ])
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect.each(["1. Mine\n2. Yours", '["Mine", "Yours"]'])("edited as %j, is what runs, and is approved", (edit) => {
    const { layer, texts } = reviewers(PlanApproval.accept, PlanApproval.edit(edit))
    return Effect.gen(function* () {
      const { events, executed } = yield* run(["A", "B"], [["B", "C"], ["Yours"]])
      expect(executed).toEqual(["A", "Mine", "Yours"])
      expect(texts()).toEqual([
        [["A", "B"], undefined],
        [["B", "C"], ["B"]]
      ])
      expect(of(events, "Replanned")[0]).toMatchObject({
        before: [{ id: "2", text: "B" }],
        after: [
          { id: "3", text: "Mine" },
          { id: "4", text: "Yours" }
        ]
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("edited, takes approval from what the edit leaves out", () => {
    const { layer, texts } = reviewers(PlanApproval.edit("1. A\n2. B"), PlanApproval.accept)
    return Effect.gen(function* () {
      yield* run(["A", "delete", "B"], [["delete"]])
      expect(texts()[1]).toEqual([["delete"], ["B"]])
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    [PlanApproval.edit("1. A\n2. B\n3. C\n4. D")],
    [PlanApproval.accept, PlanApproval.edit("1. W\n2. X\n3. Y\n4. Z")]
  ])("edited, keeps to maxPlanLength, which an event says", (...says) => {
    const { layer } = reviewers(...says.flat())
    return Effect.gen(function* () {
      const { events, executed } = yield* run(["A", "B"], says.flat().length === 1 ? [] : [["N"]], { maxPlanLength: 3 })
      expect(executed).toEqual(says.flat().length === 1 ? ["A", "B", "C"] : ["A", "W", "X", "Y"])
      expect(of(events, "PlanTruncated").map(({ dropped }) => dropped.length)).toEqual([1])
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    ["refused", PlanApproval.refuse("too dear"), { _tag: "PlanRefused" }, "refused: too dear"],
    ["edited into no plan", PlanApproval.edit("no list"), { _tag: "ParseError", problem: "no_list" }, "no list"]
  ] as const)("%s, ends the run with all that was done", ([_how, review, error, says]) => {
    const { layer } = reviewers(PlanApproval.accept, review)
    return Effect.gen(function* () {
      const { events, executed, outcome } = yield* run(["A", "B"], [["delete"]])
      expect(executed).toEqual(["A"])
      expect(outcome).toMatchObject({ left: error })
      if (outcome._tag === "Right") return
      expect(outcome.left.message).toContain(says)
      expect(outcome.left.progress.pastSteps).toMatchObject([{ status: "failed" }])
      expect(of(events, "Replanned")).toEqual([])
    }).pipe(Effect.provide(layer))
  })

  const text = fc.constantFrom("A", "B", "C", "a.", "D", "E 1.5", "E 15")
  const list = fc.array(text, { minLength: 1, maxLength: 4 })
  it.effect.prop(
    "runs nothing that was not approved, and asks for nothing that was",
    {
      plan: list,
      replans: fc.array(list, { maxLength: 4 }),
      edits: fc.array(fc.option(list, { nil: undefined }), { maxLength: 5 })
    },
    ({ edits, plan, replans }) =>
      Effect.gen(function* () {
        const left = [...edits]
        const log: Array<(PlanApproval.ProposedPlan & { readonly edit: ReadonlyArray<string> | undefined }) | string> =
          []
        const layer = PlanApproval.layer((proposed) =>
          Effect.sync(() => {
            const edit = left.shift()
            log.push({ ...proposed, edit })
            return edit === undefined ? PlanApproval.accept : PlanApproval.edit(numbered(edit))
          })
        )
        yield* Effect.provide(
          run(plan, replans, {}, (event) => {
            if (event._tag === "StepStarted") log.push(event.step)
          }),
          layer
        )
        // Each approval holds for one execution.
        const key = (step: string) => step.toLowerCase().replace(/\.$/, "")
        let approved: Array<string> = []
        for (const entry of log) {
          if (typeof entry === "string") {
            expect(approved).toContain(key(entry))
            approved.splice(approved.indexOf(key(entry)), 1)
            continue
          }
          if (entry.previous !== undefined) {
            expect(textsOf(waiting(entry)).map(key).sort()).toEqual([...approved].sort())
            expect(PlanApproval.changes(entry).added).not.toEqual([])
          }
          approved = (entry.edit ?? textsOf(entry.steps)).map(key)
        }
      }),
    { fastCheck: { numRuns } }
  )
})

// ---------------------------------------------------------------------------------------------------------------
// the Router, declared plans
// ---------------------------------------------------------------------------------------------------------------

it.effect("AU-11: the Router hands on what is shown", () => {
  const { layer, shown } = reviewers()
  return Effect.gen(function* () {
    yield* Effect.provide(Router.run("T", { patterns: [PlanAndExecute.pattern] }), layer)
    expect(shown.map(({ pattern, steps }) => [pattern, textsOf(steps)])).toEqual([
      ["plan-and-execute", ["A"]],
      ["plan-and-execute", ["B"]]
    ])
  }).pipe(
    Effect.provide(
      world([
        '{"pattern":"plan-and-execute","reason":"r"}',
        "1. A",
        "a",
        '{"remaining_steps":["B"]}',
        "b",
        '{"final_answer":"x"}'
      ])
    )
  )
})

it.effect("AU-11: a replan with declared data flow is shown in numbers of the run, and as it is written", () => {
  const declared = (...steps: ReadonlyArray<object>) => JSON.stringify({ steps })
  const { layer, shown } = reviewers()
  return Effect.gen(function* () {
    yield* Effect.provide(PlanAndSolveAgent.run("T", { dataFlow: "declared" }), layer)
    expect(shown[1]).toEqual({
      pattern: "plan-and-solve-agent",
      task: "T",
      steps: [
        { id: "3", text: "C", dependsOn: [] },
        { id: "4", text: "D", dependsOn: ["3"] }
      ],
      previous: [
        { id: "1", text: "A", dependsOn: [] },
        { id: "2", text: "B", dependsOn: ["1"] }
      ],
      done: ["1", "2"],
      written: expect.any(String)
    })
    expect(JSON.parse(shown[1]?.written ?? "")).toEqual({
      steps: [
        { step: "C", inputs: [{ step: 1, output: "x" }], outputs: ["y"] },
        { step: "D", inputs: [{ step: 3, output: "y" }], outputs: [] }
      ]
    })
  }).pipe(
    Effect.provide(
      world([
        declared({ step: "A", outputs: ["x"] }, { step: "B", inputs: [{ step: 1, output: "x" }] }),
        '{"status":"completed","result":"a","collected":{"x":"1"}}',
        "FAILURE: no",
        declared(
          { step: "C", inputs: [{ step: 1, output: "x" }], outputs: ["y"] },
          { step: "D", inputs: [{ step: 3, output: "y" }] }
        ),
        '{"status":"completed","result":"c","collected":{"y":"2"}}',
        '{"status":"completed","result":"d"}',
        "done"
      ])
    )
  )
})

// ---------------------------------------------------------------------------------------------------------------
// decompositions
// ---------------------------------------------------------------------------------------------------------------

describe("AU-11: a decomposition of ADaPT", () => {
  const split = (logic: string, ...subSteps: ReadonlyArray<unknown>) => JSON.stringify({ logic, sub_steps: subSteps })
  /** Tasks in small letters succeed. */
  const adapt = (script: ReadonlyArray<string>, options: Adapt.RunOptions<never, never> = {}) =>
    Effect.gen(function* () {
      const tried: Array<string> = []
      const executor = ({ step }: ExecutorInput) =>
        Effect.sync(() => {
          const task = /<task>([\s\S]*?)<\/task>/.exec(step)?.[1] ?? ""
          tried.push(task)
          return { status: "completed" as const, result: /^[a-z]/.test(task) ? "SUCCESS: done" : "FAILURE: no" }
        })
      const { events, value } = yield* withEvents(Effect.either(Adapt.run("T", { ...options, executor })))
      return { tried, outcome: value, events }
    }).pipe(Effect.provide(world(script)))

  it.effect("is shown before its first sub-step runs, with the sub-step that it splits", () => {
    const { layer, shown } = reviewers()
    return Effect.gen(function* () {
      const { outcome, tried } = yield* adapt([
        split("and", "a", { logic: "or", sub_steps: ["B", "c"] }),
        split("or", "d", "e")
      ])
      expect(outcome._tag).toBe("Right")
      expect(tried).toEqual(["T", "a", "B", "d"])
      expect(shown).toEqual([
        {
          pattern: "adapt",
          task: "T",
          steps: [
            { id: "1.1", text: "a", dependsOn: [] },
            { id: "1.2.1", text: "B", dependsOn: [] },
            { id: "1.2.2", text: "c", dependsOn: [] }
          ],
          written: '{"logic":"and","sub_steps":["a",{"logic":"or","sub_steps":["B","c"]}]}'
        },
        {
          pattern: "adapt",
          task: "T",
          previous: [{ id: "1.2.1", text: "B", dependsOn: [] }],
          steps: [
            { id: "1.2.1.1", text: "d", dependsOn: [] },
            { id: "1.2.1.2", text: "e", dependsOn: [] }
          ],
          written: '{"logic":"or","sub_steps":["d","e"]}'
        }
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("edited, is what is carried out", () => {
    const { layer } = reviewers(PlanApproval.edit(split("or", "x", "y")))
    return Effect.gen(function* () {
      const { events, tried } = yield* adapt([split("and", "A", "B")])
      expect(tried).toEqual(["T", "x"])
      expect(of(events, "TaskDecomposed")).toMatchObject([{ logic: "or", subSteps: ["x", "y"] }])
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    ["refused", PlanApproval.refuse("too dear"), "The decomposition was refused: too dear"],
    ["refused without a reason", PlanApproval.refuse(" "), "The decomposition was refused."],
    ["edited into what cannot be read", PlanApproval.edit("1. x"), "The edited decomposition cannot be carried out: "],
    ["edited into the same task", PlanApproval.edit(split("or", "B", "x")), "a task that was tried already"],
    ["edited into too many", PlanApproval.edit(split("or", ..."vwxyz")), "5 sub-steps"]
  ] as const)("%s, ends the run: not even an approved alternative is tried", ([_how, review, says]) => {
    const { layer, shown } = reviewers(PlanApproval.accept, review)
    return Effect.gen(function* () {
      const { events, outcome, tried } = yield* adapt([split("or", "B", "c"), split("and", "d", "e")])
      expect(tried).toEqual(["T", "B"])
      expect(shown).toHaveLength(2)
      if (outcome._tag === "Right") return expect.unreachable()
      expect(outcome.left).toMatchObject({
        _tag: "TaskFailed",
        progress: { tree: { status: "failed", subSteps: { planned: ["B", "c"], children: [{ status: "failed" }] } } }
      })
      expect(outcome.left.message).toContain(says)
      expect(of(events, "TaskEnded").map(({ call }) => call)).toEqual(["1.1", "1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not asked for a repeat that is not split, nor at the depth limit", () => {
    const { layer, shown } = reviewers()
    return Effect.gen(function* () {
      const { tried } = yield* adapt([split("and", "a", "T")], { maxDepth: 2 })
      expect(tried).toEqual(["T", "a", "T"])
      expect(shown).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })
})
