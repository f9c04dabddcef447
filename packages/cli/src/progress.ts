/**
 * Shows a run as it goes: each event as a line, and on a terminal the calls that are running now below the lines.
 */
import type * as RunEvent from "@forethought/core/RunEvent"
import type { Screen, Style } from "./screen.js"
import { oneLine, seconds } from "./text.js"

export interface Progress {
  readonly on: (event: RunEvent.RunEvent) => void
  /** Ends the live region, and draws the calls over time where there were several. */
  readonly end: () => void
}

interface Call {
  readonly id: string
  readonly label: string
  readonly isTool: boolean
  readonly startedAt: number
  endedAt?: number
}

/** Texts of models and tools are shown on one line each; the whole of them is in the events and the result. */
const maxShown = 160

export const make = (screen: Screen, now: () => number): Progress => {
  const calls: Array<Call> = []
  let startedAt: number | undefined
  let ticker: NodeJS.Timeout | undefined
  let frame = 0

  const running = () => calls.filter((call) => call.endedAt === undefined)
  const lineLength = () => Math.min(maxShown, screen.columns)
  const cut = (text: string, taken = 0) => oneLine(text, Math.max(20, lineLength() - taken))
  const stamp = (at: number) => screen.style("dim", `${((at - (startedAt ?? at)) / 1000).toFixed(2).padStart(6)}s `)
  const say = (event: RunEvent.RunEvent, style: Style, text: string) =>
    screen.print(`${stamp(event.at)} ${screen.style(style, cut(text, 9))}`)

  const draw = () => {
    frame++
    const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".charAt(frame % 10)
    screen.draw(
      running().map((call) => {
        const taken = seconds(now() - call.startedAt)
        return `        ${spinner} ${cut(call.label, 14 + taken.length)}  ${taken}`
      })
    )
  }
  const start = (call: Call) => {
    calls.push(call)
    if (!screen.isLive) return
    draw()
    ticker ??= setInterval(draw, 100).unref()
  }
  const finish = (id: string, isTool: boolean, at: number): Call | undefined => {
    const call = calls.find((other) => other.id === id && other.isTool === isTool && other.endedAt === undefined)
    if (call !== undefined) call.endedAt = at
    if (screen.isLive) draw()
    return call
  }

  const on = (event: RunEvent.RunEvent): void => {
    startedAt ??= event.at
    const where = event.call === "" ? "" : `${event.call} `
    switch (event._tag) {
      case "RunStarted":
        say(event, "strong", `${where}${event.pattern}: ${event.task}`)
        return
      case "RunEnded":
        say(
          event,
          event.outcome === "succeeded" ? "good" : "bad",
          `${where}${event.pattern} ${event.outcome}${event.error === undefined ? "" : ` (${event.error.tag})`}`
        )
        return
      case "ModelCallStarted":
        start({ id: event.call, label: `${event.call}: asking the model`, isTool: false, startedAt: event.at })
        if (!screen.isLive) say(event, "dim", `${event.call}: asking the model`)
        return
      case "ModelCallEnded": {
        finish(event.call, false, event.at)
        const took = seconds(event.at - event.startedAt)
        const { inputTokens, outputTokens } = event.reply?.usage ?? {}
        const tokens =
          inputTokens === undefined && outputTokens === undefined
            ? ""
            : ` (${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out)`
        if (event.error === undefined) say(event, "plain", `${event.call}: replied in ${took}${tokens}`)
        else say(event, "bad", `${event.call}: no reply after ${took}: ${event.error.message}`)
        return
      }
      case "ToolCallStarted": {
        const others = running().filter((call) => call.isTool).length
        const beside = others === 0 ? "" : ` (while ${others} other${others === 1 ? " runs" : "s run"})`
        const label = `${event.call} ${event.tool}[${event.input}]`
        start({ id: event.call, label, isTool: true, startedAt: event.at })
        if (!screen.isLive) say(event, "plain", `${event.call} starts${beside}: ${event.tool}[${event.input}]`)
        return
      }
      case "ToolCallEnded":
        finish(event.call, true, event.at)
        say(
          event,
          event.outcome === "ok" ? "plain" : "warn",
          `${event.call} ${event.outcome === "ok" ? "ended" : event.outcome} after ${seconds(event.at - event.startedAt)}: ${event.text}`
        )
        return
      case "PlanMade":
        say(event, "strong", `${where}plan of ${event.steps.length} step${event.steps.length === 1 ? "" : "s"}`)
        for (const step of event.steps) {
          const call = step.tool === undefined ? "" : ` = ${step.tool}[${step.input ?? ""}]`
          const reason = step.text === "" ? "" : `  ${step.text}`
          screen.print(`         ${cut(`${step.id}${call}${reason}`, 9)}`)
        }
        return
      case "PlanTruncated":
        say(event, "warn", `${where}plan cut to ${event.kept.length} steps; dropped: ${event.dropped.join("; ")}`)
        return
      case "Replanned":
        say(event, "strong", `${where}plan changed after: ${event.cause.step} (${event.cause.status})`)
        for (const step of event.after) screen.print(`         ${cut(`- ${step}`, 9)}`)
        return
      case "StepStarted":
        say(event, "strong", `${where}step ${event.index}: ${event.step}`)
        return
      case "StepEnded":
        say(
          event,
          event.status === "completed" ? "good" : "warn",
          `${where}step ${event.index} ${event.status}: ${event.result}`
        )
        return
      case "EvidenceRecorded":
        if (event.evidence.status === "skipped")
          say(event, "warn", `${event.evidence.variable} skipped: ${event.evidence.text}`)
        return
      case "TaskStarted":
        say(event, "strong", `${"  ".repeat(event.depth - 1)}${event.call} tries: ${event.task}`)
        return
      case "TaskDecomposed":
        say(
          event,
          "plain",
          `${"  ".repeat(event.depth - 1)}${event.call} splits (${event.logic}): ${event.subSteps.join("; ")}`
        )
        return
      case "TaskEnded":
        say(
          event,
          event.status === "succeeded" ? "good" : "warn",
          `${"  ".repeat(event.depth - 1)}${event.call} ${event.status}: ${event.detail}`
        )
        return
      case "TurnEnded":
        say(
          event,
          "plain",
          `${where}turn ${event.turn}${event.tools.length === 0 ? "" : ` asks for ${event.tools.join(", ")}`}${event.text === "" ? "" : `: ${event.text}`}`
        )
        return
      case "Routed":
        say(
          event,
          "strong",
          `${where}routed to ${event.pattern}${event.fallback ? " (fallback)" : ""}: ${event.reason}`
        )
        return
      case "ReplyRejected":
        say(
          event,
          "warn",
          `${event.call}: the reply cannot be used${event.reask ? ", asking again" : ""}: ${event.error.message}`
        )
        return
      case "Warning":
        say(event, "warn", `${where}warning: ${event.message}`)
        return
      case "ReplyDelta":
        return
    }
  }

  const end = () => {
    if (ticker !== undefined) clearInterval(ticker)
    ticker = undefined
    screen.draw([])
    const tools = calls.filter((call) => call.isTool)
    if (tools.length > 1) screen.print(...timeline(tools, screen, now()))
  }

  return { on, end }
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
