/**
 * Shows a run as it goes. On a terminal its tree is drawn again and again in place: a plan as a list with marks, ADaPT
 * as a tree, ReAct as turns with their tool calls, nested runs under their caller. Elsewhere each event is a plain
 * line, indented by its nesting, and a plan is listed anew each time it changes.
 */
import type * as RunEvent from "@forethought/core/RunEvent"
import * as RunTree from "@forethought/core/RunTree"
import * as Arriving from "./replyLines.js"
import * as RunLines from "./runLines.js"
import type { Screen, Style } from "./screen.js"
import { fit, oneLine, seconds } from "./text.js"

export interface Progress {
  readonly on: (event: RunEvent.RunEvent) => void
  /** Ends the live region, and draws the calls over time where there were several. */
  readonly end: () => void
}

interface Call {
  readonly id: string
  readonly startedAt: number
  endedAt?: number
}

/** Texts of models and tools are shown on one line each; the whole of them is in the events and the result. */
const maxShown = 160

const shownColumns = (screen: Screen): number => Math.min(maxShown, screen.columns)

export const make = (screen: Screen, now: () => number): Progress => {
  const calls: Array<Call> = []
  const tree = RunTree.make()
  const arriving = Arriving.make()
  const show = screen.isLive ? live(screen, tree, arriving, now) : plainLines(screen, tree, calls)

  const on = (event: RunEvent.RunEvent) => {
    tree.on(event)
    const said = arriving.on(event)
    if (said.length > 0) screen.print(...said.map((line) => screen.style("dim", fit(line, shownColumns(screen)))))
    if (event._tag === "ToolCallStarted") calls.push({ id: event.call, startedAt: event.at })
    if (event._tag === "ToolCallEnded") {
      const call = calls.find((other) => other.id === event.call && other.endedAt === undefined)
      if (call !== undefined) call.endedAt = event.at
    }
    show.on(event)
  }
  const end = () => {
    show.end()
    // Bars tell what ran at once in a plan of calls: turns, steps and tasks follow each other.
    const planned = calls.filter(({ id }) => id.slice(id.lastIndexOf("/") + 1).startsWith("#"))
    if (planned.length > 1) screen.print(...timeline(planned, screen, now()))
  }
  return { on, end }
}

// ---------------------------------------------------------------------------------------------------------------
// on a terminal
// ---------------------------------------------------------------------------------------------------------------

const live = (screen: Screen, tree: RunTree.RunTree, arriving: Arriving.Arriving, now: () => number): Progress => {
  let ticker: NodeJS.Timeout | undefined
  let frame = 0
  const render = (isWhole: boolean) =>
    RunLines.lines(tree.roots, {
      columns: Math.min(maxShown, screen.columns),
      now: now(),
      spinner: isWhole ? "▸" : "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".charAt(frame % 10),
      isWhole
    })
  const styled = (lines: ReadonlyArray<RunLines.Row>) => lines.map(({ style, text }) => screen.style(style, text))
  const draw = () => {
    frame++
    const open = arriving.open().slice(-3)
    screen.draw([
      ...styled(RunLines.fitRows(render(false), Math.max(1, screen.rows - open.length))),
      ...open.map((line) => screen.style("dim", fit(line, shownColumns(screen))))
    ])
  }
  return {
    on: (event) => {
      // Of a reply there can be hundreds of pieces in a second: those wait for the next turn of the ticker.
      if (event._tag !== "ReplyDelta") draw()
      ticker ??= setInterval(draw, 100).unref()
    },
    end: () => {
      if (ticker !== undefined) clearInterval(ticker)
      ticker = undefined
      screen.draw([])
      // What was drawn last stays, as a whole.
      screen.print(...styled(render(true)))
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// elsewhere
// ---------------------------------------------------------------------------------------------------------------

const plainLines = (screen: Screen, tree: RunTree.RunTree, calls: ReadonlyArray<Call>): Progress => {
  let startedAt: number | undefined
  const cut = (text: string, taken: number) => oneLine(text, Math.max(20, maxShown - taken))
  const stamp = (at: number) => screen.style("dim", `${((at - (startedAt ?? at)) / 1000).toFixed(2).padStart(6)}s `)
  const marginOf = (event: RunEvent.RunEvent) => "  ".repeat(tree.runOf(event)?.depth ?? 0)
  const say = (event: RunEvent.RunEvent, style: Style, text: string) => {
    const margin = marginOf(event)
    screen.print(`${stamp(event.at)} ${margin}${screen.style(style, cut(text, 9 + margin.length))}`)
  }
  /** The path of a call within its own run: the run stands above it. */
  const within = (event: RunEvent.RunEvent) => {
    const run = tree.runOf(event)?.path ?? ""
    return run === "" || event.call === run ? event.call : event.call.slice(run.length + 1)
  }
  const listPlan = (event: RunEvent.RunEvent) => {
    const margin = marginOf(event)
    for (const step of tree.runOf(event)?.plan?.items ?? []) {
      if (step.kind === "step") {
        screen.print(`${" ".repeat(9)}${margin}${cut(`${RunLines.markOf(step.status)} ${step.label}`, 9)}`)
      }
    }
  }

  const on = (event: RunEvent.RunEvent) => {
    startedAt ??= event.at
    const call = within(event)
    switch (event._tag) {
      case "RunStarted":
        return say(event, "strong", event.call === "" ? `${event.pattern}: ${event.task}` : event.pattern)
      case "RunEnded":
        return say(
          event,
          event.outcome === "succeeded" ? "good" : "bad",
          `${event.pattern} ${event.outcome}${event.error === undefined ? "" : ` (${event.error.tag})`}`
        )
      case "ModelCallStarted":
        return say(event, "dim", `${call}: asking the model`)
      case "ModelCallEnded": {
        const took = seconds(event.at - event.startedAt)
        const { inputTokens, outputTokens } = event.reply?.usage ?? {}
        const tokens =
          inputTokens === undefined && outputTokens === undefined
            ? ""
            : ` (${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out)`
        return event.error === undefined
          ? say(event, "plain", `${call}: replied in ${took}${tokens}`)
          : say(event, "bad", `${call}: no reply after ${took}: ${event.error.message}`)
      }
      case "ToolCallStarted": {
        const others = calls.filter((other) => other.id !== event.call && other.endedAt === undefined).length
        const beside = others === 0 ? "" : ` (while ${others} other${others === 1 ? " runs" : "s run"})`
        return say(event, "plain", `${call} starts${beside}: ${event.tool}[${event.input}]`)
      }
      case "ToolCallEnded":
        return say(
          event,
          event.outcome === "ok" ? "plain" : "warn",
          `${call} ${event.outcome === "ok" ? "ended" : event.outcome} after ${seconds(event.at - event.startedAt)}: ${event.text}`
        )
      case "PlanMade":
        say(event, "strong", `plan of ${event.steps.length} step${event.steps.length === 1 ? "" : "s"}`)
        return listPlan(event)
      case "Replanned":
        say(
          event,
          "strong",
          `plan${event.cause === undefined ? " anew" : ` after: ${event.cause.step} (${event.cause.status})`}`
        )
        return listPlan(event)
      case "StepStarted":
        return say(event, "strong", `step ${event.index}: ${event.step}`)
      case "StepEnded":
        return say(
          event,
          event.status === "completed" ? "good" : "warn",
          `step ${event.index} ${event.status}: ${event.result}`
        )
      case "EvidenceRecorded":
        return event.evidence.status === "skipped"
          ? say(event, "warn", `${event.evidence.variable} skipped: ${event.evidence.text}`)
          : undefined
      case "TaskStarted":
        return say(event, "strong", `${"  ".repeat(event.depth - 1)}${call} tries: ${event.task}`)
      case "TaskDecomposed":
        return say(
          event,
          "plain",
          `${"  ".repeat(event.depth - 1)}${call} splits (${event.logic}): ${event.subSteps.join("; ")}`
        )
      case "TaskEnded":
        return say(
          event,
          event.status === "completed" ? "good" : "warn",
          `${"  ".repeat(event.depth - 1)}${call} ${event.status}: ${event.detail}`
        )
      case "TurnEnded":
        return say(
          event,
          "plain",
          `turn ${event.turn}${event.tools.length === 0 ? "" : ` asked for ${event.tools.join(", ")}`}${event.text === "" ? "" : `: ${event.text}`}`
        )
      case "Routed":
        return say(event, "strong", RunTree.noteOf(event)?.text ?? "")
      case "PlanTruncated":
      case "Warning":
        return say(event, "warn", RunTree.noteOf(event)?.text ?? "")
      case "ReplyRejected":
      case "ModelRetried":
      case "ModelWaited":
      case "FellBack":
      case "CacheHit": {
        const { isWarning = false, text = "" } = RunTree.noteOf(event) ?? {}
        return say(event, isWarning ? "warn" : "dim", `${call}: ${text}`)
      }
      case "BudgetSettled":
      case "ReplyDelta":
        return
      default:
        event satisfies never
    }
  }
  return { on, end: () => {} }
}

/** The tool calls over time, one bar each: bars above each other ran at once. */
const timeline = (calls: ReadonlyArray<Call>, screen: Screen, now: number): ReadonlyArray<string> => {
  const from = Math.min(...calls.map((call) => call.startedAt))
  const to = Math.max(...calls.map((call) => call.endedAt ?? now), from + 1)
  const width = 40
  const column = (at: number) => Math.min(width, Math.max(0, Math.round(((at - from) / (to - from)) * width)))
  const shown = calls.slice(0, maxBars)
  const name = Math.min(16, Math.max(...shown.map((call) => call.id.length)))
  return [
    screen.style("dim", `tool calls over ${seconds(to - from)}:`),
    ...shown.map((call) => {
      const start = Math.min(width - 1, column(call.startedAt))
      const length = Math.max(1, column(call.endedAt ?? now) - start)
      const bar = `${" ".repeat(start)}${"█".repeat(length)}${" ".repeat(width - start - length)}`
      const times = `${seconds(call.startedAt - from)} to ${call.endedAt === undefined ? "(not ended)" : seconds(call.endedAt - from)}`
      return `  ${oneLine(call.id, 16).padEnd(name)} |${bar}| ${times}`
    }),
    ...(calls.length > maxBars ? [`  … and ${calls.length - maxBars} more`] : [])
  ]
}

const maxBars = 40
