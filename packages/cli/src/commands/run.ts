/**
 * `forethought run`: answers a question with a pattern.
 */
import * as Effect from "effect/Effect"
import type { Flags } from "../config/flags.js"
import type { PatternEntry } from "../config/patterns.js"
import { readSettings } from "../config/settings.js"
import { labelOf } from "../model/models.js"
import type { Process } from "../process.js"
import { report } from "../screen/ending.js"
import * as Screen from "../screen/screen.js"
import { announce, warnOn } from "./announcement.js"
import * as Job from "./job.js"

/** Runs the pattern, prints how it ended, and returns the exit code. */
export const run = (
  pattern: PatternEntry,
  question: string,
  flags: Flags,
  process: Process
): Effect.Effect<number, Job.NotStarted> =>
  Effect.gen(function* () {
    const settings = yield* readSettings(flags, pattern, process)
    const screen = Screen.make(process.stderr, process.env)
    if (flags.quiet !== true) announce(screen, settings, pattern)
    const asked =
      settings.approve || settings.approvePlan
        ? (yield* Effect.promise(() => import("./approvals.js"))).approvals(settings, pattern, screen, process)
        : {}
    const about = { pattern: pattern.name, question, model: labelOf(settings.models) }
    return yield* Job.run(
      { ...settings, pattern, question, warn: warnOn(process), ...asked },
      flags.quiet === true ? undefined : screen,
      (ended) => report(ended, about, flags.json === true, process.streams)
    )
  })
