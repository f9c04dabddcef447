/**
 * `forethought explain`: plans, shows the plan, and runs nothing of it.
 */
import type * as Pattern from "@forethought/core/Pattern"
import * as PlanApproval from "@forethought/core/PlanApproval"
import * as Router from "@forethought/patterns/Router"
import * as Effect from "effect/Effect"
import type { Flags } from "../config/flags.js"
import { handedOn } from "../config/options.js"
import { optionsOf, type PatternEntry, type Ready } from "../config/patterns.js"
import { prepare, routing } from "../config/preparation.js"
import { readSettings } from "../config/settings.js"
import { ExitCode, UsageError } from "../errors.js"
import { pricesOf } from "../model/limits.js"
import { labelOf } from "../model/models.js"
import type { Process } from "../process.js"
import { type About, type Ended, report } from "../screen/ending.js"
import * as Explanation from "../screen/explanation.js"
import * as Screen from "../screen/screen.js"
import { oneLine, printable, printableJson } from "../screen/text.js"
import { announce, warnOn } from "./announcement.js"
import * as Job from "./job.js"

/** Plans, prints the plan, and returns the exit code. */
export const explain = (
  pattern: PatternEntry,
  question: string,
  flags: Flags & { readonly mermaid: boolean },
  process: Process
): Effect.Effect<number, Job.NotStarted> =>
  Effect.gen(function* () {
    const settings = yield* readSettings(flags, pattern, process)
    const screen = Screen.make(process.stderr, process.env)
    if (flags.quiet !== true) announce(screen, settings, pattern)
    const about = { pattern: pattern.name, question, model: labelOf(settings.models) }
    const job = { ...settings, pattern, question, warn: warnOn(process) }
    const planned = yield* plan(job, flags.quiet === true ? undefined : screen, (ended) =>
      report(ended, about, flags.json === true, process.streams)
    )
    return typeof planned === "number" ? planned : yield* print(planned, about, flags, process)
  })

interface Planned {
  readonly explained: Explanation.Explanation
  readonly routed: string | undefined
  /** The reason why there is no plan to show. */
  readonly why: string | undefined
}

const print = (
  { explained, routed, why }: Planned,
  about: About,
  flags: Flags & { readonly mermaid: boolean },
  { streams }: Process
): Effect.Effect<number, UsageError> => {
  if (flags.json === true) {
    const status = { status: why === undefined ? "planned" : "not planned", ...about }
    const reasons = { ...(routed === undefined ? {} : { routed }), ...(why === undefined ? {} : { why }) }
    streams.out(`${printableJson({ ...status, ...reasons, ...Explanation.document(explained) })}\n`)
  } else if (flags.mermaid) {
    if (explained.graph === undefined) return Effect.fail(new UsageError(`There is no graph to draw: ${why}`))
    streams.out(`${Explanation.mermaid(explained.graph)}\n`)
  } else {
    const lines = [
      ...(routed === undefined ? [] : [`routed to ${routed}`]),
      ...(why === undefined ? [] : [why]),
      ...Explanation.lines(explained),
      "nothing of it has run"
    ]
    streams.out(`${lines.map(printable).join("\n")}\n`)
  }
  return Effect.succeed(ExitCode.answered)
}

const whyPlanless = ({ name, plans, summary }: Pattern.Info): string | undefined =>
  plans === true ? undefined : `${name} shows no plan before it works: it ${summary}.`

/**
 * Plans and runs nothing. A pattern without a plan up front is described without asking a model. Returns what `report`
 * makes of a run that ended without a plan.
 */
const plan = <A>(
  job: Omit<Job.Job, "planReview" | "watch"> & Pick<Required<Job.Job>, "limits">,
  screen: Screen.Screen | undefined,
  report: (ended: Ended) => A
): Effect.Effect<Planned | A, Job.NotStarted> =>
  Effect.gen(function* () {
    const prices = pricesOf(job.models, job.limits ?? {})
    const seen = Explanation.see()
    let entry = job.pattern
    let ready: Ready = yield* prepare(entry, job.options)
    let routed: string | undefined
    let proposed: PlanApproval.ProposedPlan | undefined
    const explained = (): Planned => ({
      routed,
      why: whyPlanless(entry),
      explained: Explanation.describe(ready, proposed?.steps, { prices, seen })
    })
    const { routes } = entry
    if (routes === undefined && entry.plans !== true) return explained()
    const routeAndPlan = (task: string) =>
      Effect.gen(function* () {
        const { options, routes: patterns } = yield* routing(job.pattern, job.options)
        const { pattern, reason } = yield* Router.route(task, { ...options, patterns })
        entry = patterns.find(({ name }) => name === pattern) ?? entry
        routed = `${entry.name}: ${reason}`
        ready = yield* prepare(entry, handedOn(job.options, optionsOf(entry)))
        if (entry.plans === true) yield* ready.run(task)
      })
    return yield* Job.run(
      {
        ...job,
        // Nothing is answered: what it shows, or why it shows nothing, is all.
        ready: routes === undefined ? ready : { ...ready, answer: () => "", run: routeAndPlan },
        planReview: (plan) => {
          proposed = plan
          return Effect.succeed(PlanApproval.refuse("it was to be explained"))
        },
        watch: (event) => {
          seen.on(event)
          if (event._tag === "ModelCallStarted") screen?.print(screen.style("dim", `asking the ${event.role} …`))
          if (event._tag === "ReplyRejected") {
            screen?.print(`the reply cannot be used: ${oneLine(event.error.message, 200)}`)
          }
        }
      },
      undefined,
      (ended) => (proposed !== undefined || ended._tag === "Answered" ? explained() : report(ended))
    )
  })
