/**
 * Asks the person at the terminal in a run, if the settings say so.
 */
import * as Effect from "effect/Effect"
import { handedOn } from "../config/options.js"
import { optionsOf, type PatternEntry, patterns } from "../config/patterns.js"
import { prepare } from "../config/preparation.js"
import type { Settings } from "../config/settings.js"
import { pricesOf } from "../model/limits.js"
import type { Process } from "../process.js"
import * as Approval from "../screen/approval.js"
import * as Explanation from "../screen/explanation.js"
import type { Screen } from "../screen/screen.js"
import { oneLine } from "../screen/text.js"
import type { Job } from "./job.js"

export const approvals = (
  settings: Settings,
  pattern: PatternEntry,
  screen: Screen,
  process: Process
): Pick<Job, "approval" | "planReview" | "watch"> => {
  const desk = {
    terminal: process.terminal,
    screen,
    write: process.streams.err,
    editor: [process.env["VISUAL"], process.env["EDITOR"]].find(
      (editor) => editor !== undefined && editor.trim() !== ""
    )
  }
  const approval = settings.approve ? { approval: Approval.tools(desk) } : {}
  if (!settings.approvePlan) return approval
  const seen = Explanation.see()
  const prices = pricesOf(settings.models, settings.limits)
  const planReview = Approval.plans(desk, (plan) =>
    Effect.gen(function* () {
      const title = `${plan.pattern}: ${oneLine(plan.task, 200)}`
      const entry = (process.patterns ?? patterns).find(({ name }) => name === plan.pattern)
      // What a run takes is told once, of its first plan; a pattern without a plan up front makes its first one in the midst of it.
      if (entry === undefined || plan.previous !== undefined || entry.plans !== true) {
        return [title, ...Approval.changedPlan(plan)]
      }
      const given = entry === pattern ? settings.options : handedOn(settings.options, optionsOf(entry))
      const explained = Explanation.describe(yield* prepare(entry, given), plan.steps, { prices, seen })
      // In full: what is hidden cannot be approved.
      return [title, ...Explanation.lines(explained, Number.POSITIVE_INFINITY)]
    })
  )
  return { ...approval, planReview, watch: seen.on }
}
