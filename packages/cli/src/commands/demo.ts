/**
 * `forethought demo`: every scene, in order.
 */
import { mkdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import * as Effect from "effect/Effect"
import type { Flags } from "../config/flags.js"
import { readDuration } from "../config/options.js"
import { optionsOf, type PatternEntry } from "../config/patterns.js"
import { reading } from "../config/reading.js"
import { ExitCode, UsageError } from "../errors.js"
import { labelOf, type Models, needsTextProtocol, readModels } from "../model/models.js"
import * as Scripted from "../model/scripted.js"
import type { Process } from "../process.js"
import { report } from "../screen/ending.js"
import * as Screen from "../screen/screen.js"
import { oneLine, seconds } from "../screen/text.js"
import { slowed } from "../tools/slowTools.js"
import * as Job from "./job.js"
import { readScenes, type Scene } from "./scenes.js"

/** Runs the scenes, and returns the code of the first that was not answered. */
export const demo = (
  flags: Flags & { readonly delay: string; readonly only: PatternEntry | undefined },
  process: Process
): Effect.Effect<number, Job.NotStarted> =>
  Effect.gen(function* () {
    const delay = yield* reading(() =>
      /^0( ?[a-z]+)?$/.test(flags.delay.trim()) ? 0 : readDuration(flags.delay, "--delay")
    )
    const own = flags.model === undefined ? undefined : yield* readModels(flags.model, "--model", process)
    const screen = Screen.make(process.stderr, process.env)
    const events = flags.events === undefined ? undefined : resolve(process.folder, flags.events)
    if (events !== undefined) {
      yield* Effect.tryPromise({
        try: () => mkdir(events, { recursive: true }),
        catch: (error) => new UsageError(String(error))
      })
    }
    let code: number = ExitCode.answered
    const times: Array<string> = []
    for (const scene of yield* readScenes) {
      const { name, options, pattern, question, title, tools } = scene
      if (flags.only !== undefined && pattern !== flags.only) continue
      const models = own ?? scripted(scene)
      screen.print(
        "",
        screen.style("strong", `── ${title} ──`),
        `model: ${own === undefined ? "scripted replies (no model is asked; the tools and the numbers are real)" : labelOf(models)}`,
        `tools: ${tools.map(({ name }) => name).join(", ") || "none"}${delay === 0 || tools.length === 0 ? "" : `, each call slowed down by ${delay} ms so that it can be watched`}`
      )
      const startedAt = Date.now()
      const job = {
        events: events === undefined ? undefined : join(events, `${name}.jsonl`),
        pattern,
        question,
        models,
        tools,
        options: own !== undefined && needsTextProtocol(own) ? withText(pattern, options) : options,
        ...(delay === 0 ? {} : { eachTool: slowed(delay) })
      }
      const exit = yield* Job.run(job, screen, (ended) => {
        times.push(`${pattern.name} ${seconds(Date.now() - startedAt)}`)
        const asJson = flags.json === true
        if (!asJson && ended._tag === "Answered") process.streams.out(`${oneLine(question, 300)}\n`)
        return report(ended, { pattern: pattern.name, question, model: labelOf(models) }, asJson, process.streams)
      })
      if (code === ExitCode.answered) code = exit
    }
    screen.print("", `time taken: ${times.join(", ")}`)
    return code
  })

const withText = (pattern: PatternEntry, options: Scene["options"]): Scene["options"] =>
  optionsOf(pattern).some(({ name }) => name === "protocol") ? new Map([["protocol", "text"], ...options]) : options

const scripted = ({ pattern, replies }: Scene): Models => ({
  default: {
    label: "scripted replies",
    load: Scripted.fromData(replies, `The script of the demonstration of ${pattern.name}`)
  },
  roles: new Map()
})
