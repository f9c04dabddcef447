/**
 * The commands that run patterns.
 */
import { type Ended, execute } from "./execute.js"
import { type Models, readModels } from "./models.js"
import { readDuration } from "./options.js"
import type { PatternEntry } from "./patterns.js"
import type { Process } from "./program.js"
import { report } from "./report.js"
import { readScenes, type Scene } from "./scenes.js"
import * as Screen from "./screen.js"
import { type Flags, readSettings } from "./settings.js"
import { oneLine, seconds } from "./text.js"
import { ExitCode } from "./UsageError.js"

/** `forethought run`. */
export const runCommand = async (
  pattern: PatternEntry,
  question: string,
  flags: Flags,
  process: Process
): Promise<number> => {
  const { events, models, options, tools } = readSettings(flags, pattern, process)
  const screen = Screen.make(process.stderr, process.env)
  if (flags.quiet !== true) {
    const names = tools.map(({ name }) => name).join(", ")
    screen.print(
      screen.style("dim", oneLine(`model: ${describe(models)}; tools: ${names === "" ? "none" : names}`, 200))
    )
  }
  const ended = await execute(
    { pattern, question, models, tools, options, events },
    flags.quiet === true ? undefined : screen,
    process.signal
  )
  return report(
    ended,
    { pattern: pattern.name, question, model: describe(models) },
    flags.json === true,
    process.streams
  )
}

const describe = (models: Models): string =>
  [models.default.label, ...[...models.roles].map(([role, model]) => `${role}: ${model.label}`)].join("; ")

/** `forethought demo`: every scene, in order. Ends with the code of the first that was not answered. */
export const demoCommand = async (
  flags: Flags & { readonly delay: string; readonly only: PatternEntry | undefined },
  process: Process
): Promise<number> => {
  const delay = /^0( ?[a-z]+)?$/.test(flags.delay.trim()) ? 0 : readDuration(flags.delay, "--delay")
  const own = flags.model === undefined ? undefined : readModels(flags.model, "--model", process)
  const screen = Screen.make(process.stderr, process.env)
  const eachTool = delay === 0 ? undefined : (await import("./delayed.js")).delayed(delay)
  let code: number = ExitCode.answered
  const times: Array<string> = []
  for (const scene of await readScenes()) {
    if (flags.only !== undefined && scene.pattern !== flags.only) continue
    const models = own ?? (await scriptedModels(scene))
    const { options, pattern, question, tools } = scene
    screen.print(
      "",
      screen.style("strong", `── ${scene.title} ──`),
      `model: ${own === undefined ? "scripted replies (no model is asked; the tools and the numbers are real)" : describe(models)}`,
      `tools: ${tools.map(({ name }) => name).join(", ") || "none"}${delay === 0 || tools.length === 0 ? "" : `, each call slowed down by ${delay} ms so that it can be watched`}`
    )
    const startedAt = Date.now()
    const job = {
      pattern,
      question,
      models,
      tools,
      options,
      ...(eachTool === undefined ? {} : { eachTool })
    }
    const ended: Ended = await execute(job, screen, process.signal)
    times.push(`${pattern.name} ${seconds(Date.now() - startedAt)}`)
    const asJson = flags.json === true
    if (!asJson && ended._tag === "Answered") process.streams.out(`${oneLine(question, 300)}\n`)
    const exit = report(ended, { pattern: pattern.name, question, model: describe(models) }, asJson, process.streams)
    if (exit === ExitCode.interrupted) return exit
    if (code === ExitCode.answered) code = exit
  }
  screen.print("", `time taken: ${times.join(", ")}`)
  return code
}

const scriptedModels = async ({ pattern, replies }: Scene): Promise<Models> => {
  const { fromData } = await import("./scripted.js")
  const model = {
    label: "scripted replies",
    isScripted: true,
    load: async () => fromData(replies, `The script of the demonstration of ${pattern.name}`)
  }
  return { default: model, roles: new Map() }
}
