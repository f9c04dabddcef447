/**
 * The command line: commands, flags, help. Nothing that a run needs is loaded before a run.
 */
import { Command, CommanderError, Option } from "commander"
import { modelHelp } from "./models.js"
import { flagOf, meaningOf, usageOf, variableOf } from "./options.js"
import { isRouters } from "./patternOptions.js"
import { allOptions, type PatternEntry, patterns } from "./patterns.js"
import { reportError, type Streams } from "./report.js"
import type { Output } from "./screen.js"
import { type Around, defaultConfigFile, type Flags } from "./settings.js"
import { near } from "./text.js"
import { defaultTools, tools } from "./tools.js"
import { ExitCode, UsageError } from "./UsageError.js"

/** The process as the program sees it. */
export interface Process extends Around {
  readonly streams: Streams
  readonly stderr: Output
  readonly readStdin: () => Promise<string>
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal
}

/** Runs the program and gives the exit code. */
export const main = async (args: ReadonlyArray<string>, version: string, process: Process): Promise<number> => {
  const asJson = args.includes("--json")
  let code: number = ExitCode.answered
  const program = build(version, process, (exit) => {
    code = exit
  })
  try {
    await program.parseAsync([...args], { from: "user" })
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

const cleanMessage = (message: string): string =>
  `${message.replace(/^error: /, "").replace(/^./, (first) => first.toUpperCase())}\nSee: forethought --help`

const build = (version: string, process: Process, exit: (code: number) => void): Command => {
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
    .argument("<pattern>", `one of ${patterns.map(({ name }) => name).join(", ")}`)
    .argument("[question...]", 'the question, in quotes; "-" reads it from standard input')
    .addOption(modelOption())
    .option(
      "-t, --tools <names>",
      `tools, with commas between them; "none" for none (default: ${defaultTools.join(",")})`
    )
    .option("-e, --events <file>", "write every event to a file, one line of JSON each")
    .option("-c, --config <file>", `config file (default: ${defaultConfigFile} where it exists)`)
    .option("--json", "print one JSON document: the answer, or the error with what was gathered")
    .option("-q, --quiet", "show no progress")
    .addHelpText("after", runHelp)
    .action(async (name: string, words: ReadonlyArray<string>, given: Given) => {
      const pattern = findPattern(name)
      const question = await readQuestion(words, process)
      const { runCommand } = await import("./commands.js")
      exit(await runCommand(pattern, question, readFlags(given), process))
    })
  for (const { default: standard, option, patterns: having } of allOptions()) {
    const only = having.length === patterns.length ? "" : ` [${having.map((pattern) => pattern.name).join(", ")}]`
    run.addOption(
      new Option(
        `--${flagOf(option.name)} ${usageOf(option)}`,
        `${meaningOf(option)}${standard === undefined ? "" : ` (default: ${standard})`}${only}`
      )
    )
  }

  program
    .command("demo")
    .description("answer real questions with real tools, by scripted replies or a model of yours")
    .addOption(modelOption())
    .option("--delay <duration>", "slow every tool call down, so that it can be watched", "400 ms")
    .option("--pattern <name>", "show this pattern only")
    .option("--json", "print one JSON document for each run")
    .action(async (given: Given & { readonly delay: string }) => {
      const { demoCommand } = await import("./commands.js")
      const only = typeof given["pattern"] === "string" ? findPattern(given["pattern"]) : undefined
      exit(await demoCommand({ ...readFlags(given), delay: given.delay, only }, process))
    })

  program
    .command("patterns")
    .description("list the patterns, when to choose which, and their options")
    .action(() => process.streams.out(patternList()))

  program
    .command("tools")
    .description("list the tools")
    .action(() => {
      const width = Math.max(...tools.map(({ name }) => name.length))
      process.streams.out(
        `${tools.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}${defaultTools.includes(name) ? " (default)" : ""}`).join("\n")}\n`
      )
    })
  return program
}

/** What commander gives an action. */
interface Given {
  readonly [flag: string]: unknown
}

const modelOption = (): Option =>
  new Option("-m, --model <spec>", "the model, or <role>=<spec> for one role; can be repeated").argParser<
    ReadonlyArray<string>
  >((value, previous) => [...(previous ?? []), value])

const readFlags = (given: Given): Flags => {
  const text = (name: string) => (typeof given[name] === "string" ? given[name] : undefined)
  const options = new Map<string, string>()
  for (const { option } of allOptions()) {
    const value = text(option.name)
    if (value !== undefined) options.set(option.name, value)
  }
  return {
    model: Array.isArray(given["model"]) ? given["model"].map(String) : undefined,
    tools: text("tools"),
    events: text("events"),
    config: text("config"),
    json: given["json"] === true,
    quiet: given["quiet"] === true,
    options
  }
}

const findPattern = (name: string): PatternEntry => {
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

const patternList = (): string =>
  patterns
    .map(({ chooseWhen, name, options, summary }) =>
      [
        name,
        `  ${summary}`,
        `  Choose it when ${chooseWhen}.`,
        ...(name === "auto" ? options.filter((option) => isRouters(option.name)) : options).map(
          (option) =>
            `  --${flagOf(option.name)} ${usageOf(option)}  ${meaningOf(option)}${option.choices === undefined || option.kind === "choice" ? "" : `: ${option.choices.join(", ")}`}${option.default === undefined || option.kind === "list" ? "" : ` (default: ${option.default})`}`
        ),
        ...(name === "auto" ? ["  and every option of the patterns above, for the one that is chosen"] : [])
      ].join("\n")
    )
    .join("\n\n")
    .concat("\n")

const overview = `
Examples:
  forethought demo
  forethought run rewoo-parallel "Which has more people, Spain or Poland?" --model openai-compatible:qwen3:8b@http://127.0.0.1:11434/v1

Exit codes: 0 answered, 2 not answered, 1 wrong usage or a model that cannot be used, 130 interrupted.`

const runHelp = `
Models:
${modelHelp()}

Every setting can also stand in the environment (${variableOf("model")}, ${variableOf("tools")}, ${variableOf("maxPlanLength")}, …)
or in ${defaultConfigFile} ({"model": "…", "tools": ["lookup"], "maxPlanLength": 5}). A flag goes before the
environment, the environment before the file. The key of a model is read from FORETHOUGHT_API_KEY; OPENAI_API_KEY is
sent to api.openai.com and to this machine only.`
