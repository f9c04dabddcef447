/**
 * The commands that run patterns.
 */
import { mkdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { ServerTool } from "@forethought/tools/Mcp"
import { handedOn, readDuration } from "../config/options.js"
import { optionsOf, type PatternEntry, patterns, prepare } from "../config/patterns.js"
import { type Flags, readServersOf, readSettings, type Settings } from "../config/settings.js"
import { ExitCode, UsageError } from "../errors.js"
import { pricesOf } from "../model/limits.js"
import { type Models, needsTextProtocol, readModels } from "../model/models.js"
import type { Process } from "../program.js"
import { report } from "../screen/ending.js"
import { toolList } from "../screen/help.js"
import * as Screen from "../screen/screen.js"
import { oneLine, printable, printableJson, seconds } from "../screen/text.js"
import { type Ended, execute } from "./job.js"
import { readScenes, type Scene } from "./scenes.js"

/** `forethought run`. */
export const runCommand = async (
  pattern: PatternEntry,
  question: string,
  flags: Flags,
  process: Process
): Promise<number> => {
  const settings = await readSettings(flags, pattern, process)
  const { models, options } = settings
  const screen = Screen.make(process.stderr, process.env)
  if (flags.quiet !== true) announce(screen, settings, pattern)
  const quietly = flags.quiet === true ? undefined : screen
  const ended = await execute(
    {
      ...settings,
      pattern,
      question,
      warn: warnOn(process),
      ...(await approvals(settings, pattern, options, screen, process))
    },
    quietly,
    process.signal
  )
  return report(
    ended,
    { pattern: pattern.name, question, model: describe(models) },
    flags.json === true,
    process.streams
  )
}

const warnOn =
  ({ streams }: Process) =>
  (text: string): void =>
    streams.err(`forethought: ${printable(text)}\n`)

const announce = (screen: Screen.Screen, settings: Settings, pattern: PatternEntry): void => {
  const { models, notes } = settings
  const { servers, tools } = pattern.tools === "unused" ? { servers: [], tools: [] } : settings
  const names = [
    ...tools.map(({ name }) => name),
    ...servers.map(({ isTrusted, name }) => `${name} (MCP${isTrusted ? ", believed" : ""})`)
  ].join(", ")
  const line = (text: string) => screen.style("dim", oneLine(text, 200))
  screen.print(line(`model: ${describe(models)}; tools: ${names === "" ? "none" : names}`), ...notes.map(line))
}

/** Who is asked: the person at the terminal, where the settings say so. */
const approvals = async (
  settings: Settings,
  pattern: PatternEntry,
  options: Settings["options"],
  screen: Screen.Screen,
  process: Process
) => {
  if (!settings.approve && !settings.approvePlan) return {}
  const [Approval, Explain] = await Promise.all([import("../screen/approval.js"), import("./explain.js")])
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
  const seen = Explain.see()
  const prices = await pricesOf(settings.models, settings.limits)
  const planReview = Approval.plans(desk, async (plan) => {
    const title = `${plan.pattern}: ${oneLine(plan.task, 200)}`
    const entry = (process.patterns ?? patterns).find(({ name }) => name === plan.pattern)
    // What a run takes is told once, of its first plan; a pattern without a plan up front makes its first one in the midst of it.
    if (entry === undefined || plan.previous !== undefined || entry.plans !== true) {
      return [title, ...Approval.changedPlan(plan)]
    }
    const given = entry === pattern ? options : handedOn(options, optionsOf(entry))
    return [
      title,
      // In full: what is hidden cannot be approved.
      ...Explain.lines(
        Explain.describe(await prepare(entry, given), plan.steps, { prices, seen }),
        Number.POSITIVE_INFINITY
      )
    ]
  })
  return { ...approval, planReview, watch: seen.on }
}

/** `forethought explain`. */
export const explainCommand = async (
  pattern: PatternEntry,
  question: string,
  flags: Flags & { readonly mermaid: boolean },
  process: Process
): Promise<number> => {
  const settings = await readSettings(flags, pattern, process)
  const screen = Screen.make(process.stderr, process.env)
  if (flags.quiet !== true) announce(screen, settings, pattern)
  const Explain = await import("./explain.js")
  const planned = await Explain.plan(
    { ...settings, pattern, question, warn: warnOn(process) },
    flags.quiet === true ? undefined : screen,
    process.signal
  )
  const asJson = flags.json === true
  const about = { pattern: pattern.name, question, model: describe(settings.models) }
  if (planned._tag === "Ended") return report(planned.ended, about, asJson, process.streams)
  const { explained, routed, why } = planned
  if (asJson) {
    const status = { status: why === undefined ? "planned" : "not planned", ...about }
    const reasons = { ...(routed === undefined ? {} : { routed }), ...(why === undefined ? {} : { why }) }
    process.streams.out(`${printableJson({ ...status, ...reasons, ...Explain.document(explained) })}\n`)
  } else if (flags.mermaid) {
    if (explained.graph === undefined) throw new UsageError(`There is no graph to draw: ${why}`)
    process.streams.out(`${Explain.mermaid(explained.graph)}\n`)
  } else {
    const lines = [
      ...(routed === undefined ? [] : [`routed to ${routed}`]),
      ...(why === undefined ? [] : [why]),
      ...Explain.lines(explained),
      "nothing of it has run"
    ]
    process.streams.out(`${lines.map(printable).join("\n")}\n`)
  }
  return ExitCode.answered
}

/** `forethought mcp`. */
export const mcpCommand = async (flags: Flags, version: string, process: Process): Promise<number> => {
  const all = process.patterns ?? patterns
  const auto = all.find(({ routes }) => routes !== undefined)
  if (auto === undefined) throw new UsageError("There is no Router.")
  const settings = await readSettings(flags, auto, process)
  const screen = Screen.make(process.stderr, process.env)
  if (flags.quiet !== true) announce(screen, settings, auto)
  const { serve } = await import("./mcp.js")
  // Standard input belongs to the protocol: nobody can be asked there.
  const asked = { ...settings, approvePlan: false }
  const log = flags.quiet === true ? undefined : (line: string) => process.streams.err(`${line}\n`)
  const equipment = {
    ...settings,
    warn: warnOn(process),
    ...(await approvals(asked, auto, settings.options, screen, { ...process, terminal: undefined }))
  }
  return serve({ equipment, patterns: all, options: settings.options, version, log }, process.signal)
}

/** `forethought models`. */
export const modelsCommand = async (asJson: boolean, process: Process): Promise<number> => {
  const [ModelSpec, Effect] = await Promise.all([import("../model/ModelSpec.js"), import("effect/Effect")])
  const kinds = await Effect.runPromise(ModelSpec.usable(process.env), { signal: process.signal })
  if (asJson) {
    process.streams.out(`${printableJson(kinds)}\n`)
    return ExitCode.answered
  }
  const lines = kinds.flatMap(({ summary, usable, usage, variables, why }) => [
    `${usable ? "✔" : "✘"} ${usage}`,
    `    ${summary}`,
    `    ${usable ? "usable" : "not usable"}: ${why}`,
    ...(variables.length === 0 ? [] : [`    reads ${variables.join(", ")}`])
  ])
  process.streams.out(`${lines.map(printable).join("\n")}\n`)
  return ExitCode.answered
}

/** `forethought tools`: ours, and those of the MCP servers that are configured, a line for each. */
export const toolsCommand = async (flags: Flags, process: Process): Promise<number> => {
  const lines = await serverTools(flags, process)
  if (lines === undefined) {
    process.streams.err("\nInterrupted.\n")
    return ExitCode.interrupted
  }
  process.streams.out([toolList(), ...lines, ""].join("\n"))
  return ExitCode.answered
}

/** Nothing where it was interrupted. */
const serverTools = async (flags: Flags, process: Process): Promise<ReadonlyArray<string> | undefined> => {
  const servers = readServersOf(flags, process)
  if (servers.length === 0) return []
  const [{ loadConnect }, Effect] = await Promise.all([import("../tools/mcpServers.js"), import("effect/Effect")])
  const connect = await loadConnect(warnOn(process))
  const listed = Effect.forEach(
    servers,
    (server) =>
      Effect.map(connect(server), (tools) => [
        `MCP server ${server.name}${server.isTrusted ? ", believed" : ""}:`,
        ...tools.map(
          (tool) => `  ${oneLine(tool.name, 64)}  ${oneLine(tool.description, 120)}${hinted(tool, server.isTrusted)}`
        )
      ]),
    { concurrency: "unbounded" }
  )
  const exit = await Effect.runPromiseExit(Effect.scoped(Effect.either(listed)), { signal: process.signal })
  if (process.signal.aborted) return undefined
  if (exit._tag === "Failure") throw new UsageError("The MCP servers could not be asked.")
  if (exit.value._tag === "Left") throw new UsageError(exit.value.left.message)
  return exit.value.right.flat().map(printable)
}

/** What a server says of a tool, and whether that counts. */
const hinted = ({ hints }: ServerTool, isTrusted: boolean): string => {
  if (hints.readOnly === false) return " (changes something)"
  const said = [
    ...(hints.readOnly === true ? ["read-only"] : []),
    ...(hints.idempotent === true ? ["repeatable"] : [])
  ].join(", ")
  if (said === "") return ""
  return isTrusted ? ` (${said})` : ` (claims to be ${said}: not believed without --trust-mcp)`
}

const describe = (models: Models): string =>
  [
    models.default.label,
    ...[...models.roles].map(([role, model]) => `${role}: ${model.label}`),
    ...(models.fallback === undefined ? [] : [`else: ${models.fallback.label}`])
  ].join("; ")

/** `forethought demo`: every scene, in order. Ends with the code of the first that was not answered. */
export const demoCommand = async (
  flags: Flags & { readonly delay: string; readonly only: PatternEntry | undefined },
  process: Process
): Promise<number> => {
  const delay = /^0( ?[a-z]+)?$/.test(flags.delay.trim()) ? 0 : readDuration(flags.delay, "--delay")
  const own = flags.model === undefined ? undefined : await readModels(flags.model, "--model", process)
  const screen = Screen.make(process.stderr, process.env)
  const eachTool = delay === 0 ? undefined : (await import("../tools/slowTools.js")).delayed(delay)
  const events = flags.events === undefined ? undefined : resolve(process.folder, flags.events)
  if (events !== undefined) await mkdir(events, { recursive: true })
  let code: number = ExitCode.answered
  const times: Array<string> = []
  for (const scene of await readScenes()) {
    if (flags.only !== undefined && scene.pattern !== flags.only) continue
    const models = own ?? (await scriptedModels(scene))
    const { name, options, pattern, question, tools } = scene
    screen.print(
      "",
      screen.style("strong", `── ${scene.title} ──`),
      `model: ${own === undefined ? "scripted replies (no model is asked; the tools and the numbers are real)" : describe(models)}`,
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

const withText = (pattern: PatternEntry, options: Settings["options"]): Settings["options"] =>
  optionsOf(pattern).some(({ name }) => name === "protocol") ? new Map([["protocol", "text"], ...options]) : options

const scriptedModels = async ({ pattern, replies }: Scene): Promise<Models> => {
  const { fromData } = await import("../model/scripted.js")
  const model = {
    label: "scripted replies",
    isScripted: true,
    load: async () => fromData(replies, `The script of the demonstration of ${pattern.name}`)
  }
  return { default: model, roles: new Map() }
}
