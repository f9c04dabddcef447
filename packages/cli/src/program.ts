/**
 * The command line: commands, flags, help. Nothing that a run needs is loaded before a run.
 */

import { roles } from "@forethought/core/Role"
import { Command, CommanderError, Option } from "commander"
import type * as Effect from "effect/Effect"
import { defaultConfigFile, type Flags } from "./config/flags.js"
import { flagOf, meaningOf, usageOf } from "./config/options.js"
import * as PatternFile from "./config/patternFile.js"
import { allOptions, type PatternEntry } from "./config/patterns.js"
import { type RunSetting, runSettings } from "./config/runSettings.js"
import { ExitCode, UsageError } from "./errors.js"
import type { Process } from "./process.js"
import { reportError } from "./screen/ending.js"
import { explainHelp, mcpHelp, overview, patternList, patternsJson, runHelp } from "./screen/help.js"
import { meant, near } from "./screen/text.js"
import { defaultTools } from "./tools/toolKinds.js"

/** Runs the program and gives the exit code. */
export const main = async (args: ReadonlyArray<string>, version: string, process: Process): Promise<number> => {
  const asJson = args.includes("--json")
  let code: number = ExitCode.answered
  try {
    const own = await PatternFile.find(args, process)
    const program = build(version, { ...process, patterns: own.patterns }, (exit) => {
      code = exit
    })
    if (args[0] === "help") checkCommand(args[1], program)
    await program.parseAsync([...own.args], { from: "user" })
    return code
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return ExitCode.answered
      // No command at all: the help has been shown in place of a message.
      if (error.code === "commander.help") return ExitCode.failed
      return reportError(new UsageError(cleanMessage(error.message)), asJson, process.streams)
    }
    return reportError(error, asJson, process.streams)
  }
}

/** Asked for help about a command that there is not, commander shows all the help as if there had been no command. */
const checkCommand = (name: string | undefined, program: Command): void => {
  const names = program.commands.map((command) => command.name())
  if (name === undefined || name.startsWith("-") || name === "help" || names.includes(name)) return
  throw new UsageError(
    `There is no command ${JSON.stringify(name.slice(0, 60))}.${meant(name, names)} Commands: ${names.join(", ")}.`
  )
}

const cleanMessage = (message: string): string =>
  `${message.replace(/^error: /, "").replace(/^./, (first) => first.toUpperCase())}\nSee: forethought --help`

const build = (
  version: string,
  process: Process & { readonly patterns: ReadonlyArray<PatternEntry> },
  exit: (code: number) => void
): Command => {
  const flagsOf = (given: Given) => readFlags(given, process.patterns)
  /** Runs a command whose code is loaded now. */
  const perform = async <Module, E>(
    loading: Promise<Module>,
    commandOf: (module: Module) => Effect.Effect<number, E>
  ): Promise<void> => {
    const [{ runCommand }, module] = await Promise.all([import("./commands/runtime.js"), loading])
    exit(await runCommand(commandOf(module), process.signal))
  }
  const program = new Command("forethought")
    .description("Plan-first agents: plans the work, does it with tools, answers from what was found.")
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: process.streams.out,
      writeErr: process.streams.err,
      // Errors are reported in one place, as text or as JSON.
      outputError: () => {}
    })
    .addHelpText("after", overview)

  const run = program
    .command("run")
    .description("answer a question with a pattern")
    .argument("<pattern>", patternNames(process.patterns))
    .argument("[question...]", questionUsage)
    .addOption(modelOption())
    .addOption(toolsOption())
    .option("-e, --events <file>", "write every event to a file, one line of JSON each")
    .addOption(configOption())
    .option("--json", "print one JSON document: the answer, or the error with what was gathered")
    .option("-q, --quiet", "show no progress")
    .addHelpText("after", runHelp(process.patterns))
    .action(async (name: string, words: ReadonlyArray<string>, given: Given) => {
      const pattern = findPattern(name, process.patterns)
      const question = await readQuestion(words, process)
      await perform(import("./commands/run.js"), ({ run }) => run(pattern, question, flagsOf(given), process))
    })
  addRunSettings(run, () => true)
  addPatternOptions(run, process.patterns)

  const explain = program
    .command("explain")
    .description("plan, and show the plan with its graph, its calls and its cost; run nothing of it")
    .argument("<pattern>", patternNames(process.patterns))
    .argument("[question...]", questionUsage)
    .option("--mermaid", "print the graph alone, as Mermaid")
    .addOption(modelOption())
    .addOption(toolsOption())
    .option("-e, --events <file>", "write every event to a file, one line of JSON each")
    .addOption(configOption())
    .option("--json", "print one JSON document")
    .option("-q, --quiet", "show no progress")
    .addHelpText("after", explainHelp(process.patterns))
    .action(async (name: string, words: ReadonlyArray<string>, given: Given) => {
      const pattern = findPattern(name, process.patterns)
      const question = await readQuestion(words, process)
      const flags = { ...flagsOf(given), mermaid: given["mermaid"] === true }
      await perform(import("./commands/explain.js"), ({ explain }) => explain(pattern, question, flags, process))
    })
  addRunSettings(explain, ({ group, name }) => group !== "approval" && name !== "stream" && name !== "toolPermits")
  addPatternOptions(explain, process.patterns)

  const mcp = program
    .command("mcp")
    .description("serve the patterns as MCP tools, over standard input and output")
    .addOption(modelOption())
    .addOption(toolsOption())
    .addOption(configOption())
    .option("-q, --quiet", "log nothing")
    .addHelpText("after", mcpHelp(process.patterns))
    .action(async (given: Given) => {
      await perform(import("./commands/mcp.js"), ({ mcp }) => mcp(flagsOf(given), version, process))
    })
  addRunSettings(mcp, ({ name }) => name !== "stream" && name !== "approvePlan")
  addPatternOptions(mcp, process.patterns)

  program
    .command("demo")
    .description("answer real questions with real tools, by scripted replies or a model of yours")
    .addOption(modelOption())
    .option("--delay <duration>", "slow every tool call down, so that it can be watched", "400 ms")
    .option("--pattern <name>", "show this pattern only")
    .option("--events <folder>", "write the events of each scene to a file in this folder, as JSON lines")
    .option("--json", "print one JSON document for each run")
    .action(async (given: Given & { readonly delay: string }) => {
      const only = typeof given["pattern"] === "string" ? findPattern(given["pattern"], process.patterns) : undefined
      const flags = { ...flagsOf(given), delay: given.delay, only }
      await perform(import("./commands/demo.js"), ({ demo }) => demo(flags, process))
    })

  const listed = program
    .command("patterns")
    .description("list the patterns, when to choose which, and their options")
    .option("--json", "print one JSON document")
    .addOption(configOption())
    .action((given: Given) =>
      process.streams.out(given["json"] === true ? patternsJson(process.patterns) : patternList(process.patterns))
    )
  addRunSettings(listed, ({ name }) => name === "patternFile")

  program
    .command("models")
    .description("list the kinds of model: which can be used now, and why the others cannot")
    .option("--json", "print one JSON document")
    .action(async (given: Given) => {
      await perform(import("./commands/models.js"), ({ models }) => models(given["json"] === true, process))
    })

  const list = program
    .command("tools")
    .description("list the tools and what each needs, and those of the MCP servers that are configured")
    .addOption(configOption())
    .action(async (given: Given) => {
      await perform(import("./commands/tools.js"), ({ tools }) => tools(flagsOf(given), process))
    })
  addRunSettings(list, ({ name }) => name === "mcp" || name === "trustMcp")
  return program
}

const patternNames = (patterns: ReadonlyArray<PatternEntry>): string =>
  `one of ${patterns.map(({ name }) => name).join(", ")}, or a JavaScript file with a pattern of your own`

const questionUsage = 'the question, in quotes; "-" reads it from standard input'

const toolsOption = (): Option =>
  new Option(
    "-t, --tools <names>",
    `tools, with commas between them; "none" for none (default: ${defaultTools.join(",")})`
  )

const configOption = (): Option =>
  new Option("-c, --config <file>", `config file (default: ${defaultConfigFile} where it exists)`)

const addRunSettings = (command: Command, isWanted: (setting: RunSetting) => boolean): void => {
  for (const { description, name, repeatable, usage } of runSettings.filter(isWanted)) {
    const option = new Option(`--${flagOf(name)}${usage === undefined ? "" : ` ${usage}`}`, description)
    command.addOption(repeatable === true ? option.argParser(collected) : option)
  }
}

const addPatternOptions = (command: Command, patterns: ReadonlyArray<PatternEntry>): void => {
  for (const { default: standard, option, patterns: having } of allOptions(patterns)) {
    const only = having.length === patterns.length ? "" : ` [${having.map((pattern) => pattern.name).join(", ")}]`
    command.addOption(
      new Option(
        `--${flagOf(option.name)}${option.kind === "switch" ? "" : ` ${usageOf(option)}`}`,
        `${meaningOf(option)}${standard === undefined ? "" : ` (default: ${standard})`}${only}`
      )
    )
  }
}

const collected = (value: string, previous: ReadonlyArray<string> | undefined): ReadonlyArray<string> => [
  ...(previous ?? []),
  value
]

/** The flags as commander gives them to an action. */
interface Given {
  readonly [flag: string]: unknown
}

const modelOption = (): Option =>
  new Option(
    "-m, --model <spec>",
    `the model, or <role>=<spec> for one role (${roles.join(", ")}); can be repeated`
  ).argParser(collected)

/** Commander keeps `--no-structured` as a `structured` that is false, and true where it was not given. */
const settingOf = (given: Given, name: string): unknown => {
  const negated = /^no([A-Z])(\w*)$/.exec(name)
  if (negated === null) return given[name]
  return given[`${negated[1]?.toLowerCase()}${negated[2]}`] === false ? true : undefined
}

const readFlags = (given: Given, patterns: ReadonlyArray<PatternEntry>): Flags => {
  const text = (name: string) => (typeof given[name] === "string" ? given[name] : undefined)
  const options = new Map<string, string>()
  for (const { option } of allOptions(patterns)) {
    const value = given[option.name] === true ? "true" : text(option.name)
    if (value !== undefined) options.set(option.name, value)
  }
  return {
    model: Array.isArray(given["model"]) ? given["model"].map(String) : undefined,
    tools: text("tools"),
    events: text("events"),
    config: text("config"),
    json: given["json"] === true,
    quiet: given["quiet"] === true,
    options,
    run: new Map(
      runSettings.flatMap(({ name }) => {
        const value = settingOf(given, name)
        return value === undefined ? [] : [[name, value] as const]
      })
    )
  }
}

const findPattern = (name: string, patterns: ReadonlyArray<PatternEntry>): PatternEntry => {
  const found = patterns.find((pattern) => pattern.name === name.toLowerCase())
  if (found !== undefined) return found
  const names = patterns.map((pattern) => pattern.name)
  const [close] = near(name, names)
  throw new UsageError(
    `There is no pattern ${JSON.stringify(name.slice(0, 60))}.${close === undefined ? "" : ` Did you mean ${close}?`} Patterns: ${names.join(", ")}. See: forethought patterns`
  )
}

const readQuestion = async (words: ReadonlyArray<string>, process: Process): Promise<string> => {
  if (words.length > 1) {
    throw new UsageError(
      `The question must be one argument: put it in quotes, such as "${words.join(" ").slice(0, 80)}".`
    )
  }
  const question = words[0] === "-" ? (await process.readStdin()).trim() : words[0]?.trim()
  if (question === undefined) {
    throw new UsageError(
      'No question is given. Write it in quotes after the pattern, or "-" to read it from standard input.'
    )
  }
  if (question === "") throw new UsageError("The question is empty.")
  return question
}
