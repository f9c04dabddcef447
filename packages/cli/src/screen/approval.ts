/**
 * Approval at the terminal: of a tool call before the tool acts, and of a plan before it runs.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Approval from "@forethought/core/Approval"
import * as PlanApproval from "@forethought/core/PlanApproval"
import type * as RunEvent from "@forethought/core/RunEvent"
import * as Effect from "effect/Effect"
import { messageOf } from "../errors.js"
import type { Screen } from "./screen.js"
import type { Terminal } from "./terminal.js"
import { fit, indent, oneLine, printable } from "./text.js"

/** The person who can be asked, and the screen. */
export interface Desk {
  /** Nothing where standard input or standard error is not a terminal. */
  readonly terminal: Terminal | undefined
  readonly screen: Screen
  readonly write: (text: string) => void
  /** The person's editor, as `EDITOR` or `VISUAL` has it. */
  readonly editor: string | undefined
}

const nobody = "nobody can be asked, because standard input and standard error are not a terminal"

// ---------------------------------------------------------------------------------------------------------------
// tools
// ---------------------------------------------------------------------------------------------------------------

/** Asks before each call; "always" holds for the tool until the program ends. */
export const tools = ({ screen, terminal, write }: Desk): Approval.Service => {
  const always = new Set<string>()
  return {
    tool: ({ call, input, tool }) => {
      if (always.has(tool.name)) return Effect.succeed("allow")
      if (terminal === undefined) {
        return Effect.sync(() => {
          screen.print(`${tool.name} is not called: ${nobody} (--approve).`)
          return { deny: `${nobody}.` }
        })
      }
      return screen.during(
        Effect.gen(function* () {
          write(`\n${oneLine(call, 60)} wants to call ${tool.name}, which may change something, with:\n`)
          write(`${indent(shortened(input), 2)}\n`)
          for (;;) {
            const answer = yield* ask(terminal, "Call it? [y]es, [n]o, [a]lways this tool: ")
            switch (answer?.trim().toLowerCase()) {
              case undefined:
                return { deny: "the question was not answered." }
              case "y":
              case "yes":
                return "allow" as const
              case "a":
              case "always":
                always.add(tool.name)
                return "allow" as const
              case "n":
              case "no":
                return { deny: "the person said no." }
            }
          }
        })
      )
    }
  }
}

const ask = (terminal: Terminal, prompt: string) => Effect.promise((signal) => terminal.ask(prompt, signal))

/** Characters of an input that are shown. */
const maxShownChars = 4_000

/** Shows what a model writes in full, as far as a person can read it, and says how much is left out. */
const shortened = (text: string): string => {
  const shown = printable(text.slice(0, maxShownChars))
  return text.length > maxShownChars ? `${shown}\n[and ${text.length - maxShownChars} more characters]` : shown
}

// ---------------------------------------------------------------------------------------------------------------
// plans
// ---------------------------------------------------------------------------------------------------------------

/** Shows each plan, and asks. */
export const plans =
  (
    desk: Desk,
    show: (plan: PlanApproval.ProposedPlan) => Effect.Effect<ReadonlyArray<string>>
  ): PlanApproval.Service["review"] =>
  (plan) => {
    const { screen, terminal } = desk
    if (terminal === undefined) return Effect.succeed(PlanApproval.refuse(`${nobody} (--approve-plan)`))
    return screen.during(
      Effect.gen(function* () {
        desk.write(`\n${(yield* show(plan)).map(printable).join("\n")}\n`)
        for (;;) {
          const answer = yield* ask(terminal, "Run this plan? [y]es, [e]dit, [n]o: ")
          switch (answer?.trim().toLowerCase()) {
            case undefined:
              return PlanApproval.refuse("the question was not answered")
            case "y":
            case "yes":
              return PlanApproval.accept
            case "n":
            case "no":
              return PlanApproval.refuse("the person said no")
            case "e":
            case "edit": {
              const text = yield* edit(desk, terminal, plan.written ?? PlanApproval.textOf(plan.steps))
              if (text.trim() !== "") return PlanApproval.edit(text)
              desk.write("Nothing was written: the plan stays as it is.\n")
            }
          }
        }
      })
    )
  }

/**
 * A plan in the course of a run, step by step and in full: what is new, what stays, and what is not planned any more.
 */
export const changedPlan = (plan: PlanApproval.ProposedPlan): ReadonlyArray<string> => {
  const { added, dropped } = PlanApproval.changes(plan)
  const line = (mark: string) => (step: RunEvent.PlannedStep) => `${mark} ${flat(PlanApproval.textOf([step]))}`
  return [
    plan.previous === undefined ? "the plan:" : "the plan has changed (+ is new, - is left out or replaced):",
    ...plan.steps.map((step) => line(added.includes(step) ? "+" : " ")(step)),
    ...dropped.map(line("-")),
    ...(plan.written === undefined ? [] : [`as it is written: ${flat(plan.written)}`])
  ]
}

/** On one line, so that no text passes for another step. */
const flat = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ⏎ ")

const edit = (desk: Desk, terminal: Terminal, text: string): Effect.Effect<string> => {
  const pasted = Effect.gen(function* () {
    desk.write(`The plan as it is written:\n${indent(printable(text), 2)}\n`)
    desk.write("Write the whole plan anew, and end it with a line that holds a dot alone:\n")
    const lines: Array<string> = []
    for (;;) {
      const line = yield* ask(terminal, "")
      if (line === undefined || line.trim() === ".") return lines.join("\n")
      lines.push(line)
    }
  })
  return desk.editor === undefined
    ? pasted
    : Effect.catchAll(inEditor(desk.editor, text), (error) => {
        desk.write(`${printable(messageOf(error))}\n`)
        return pasted
      })
}

/**
 * Returns what a person made of the text. An editor that is open when the run is interrupted is ended, and its file
 * removed.
 */
const inEditor = (editor: string, text: string): Effect.Effect<string, unknown> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "forethought-plan-"))),
    (folder) =>
      Effect.tryPromise({
        try: async (signal) => {
          const file = join(folder, "plan.txt")
          await writeFile(file, `${text}\n`, { mode: 0o600 })
          const code = await new Promise<number | null>((done, fail) => {
            // The variable holds a command line, as for every other program that reads it.
            const child = spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit", signal })
            child.on("error", fail)
            child.on("close", done)
          })
          if (code !== 0) throw new Error(`The editor ${fit(editor, 60)} ended with code ${code}.`)
          return await readFile(file, "utf8")
        },
        catch: (error) => error
      }),
    // In one go: the program may end before anything that waits goes on.
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
