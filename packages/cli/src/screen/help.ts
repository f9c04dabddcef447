/**
 * Tells what the program says about itself: lists, and the texts behind the flags.
 */

import { defaultConfigFile } from "../config/flags.js"
import { flagOf, meaningOf, usageOf, variableOf } from "../config/options.js"
import { optionsOf, ownOptions, type PatternEntry } from "../config/patterns.js"
import { modelHelp } from "../model/ModelKinds.js"
import { defaultTools, type ToolKind, toolKinds } from "../tools/toolKinds.js"
import { printableJson } from "./text.js"

export const toolList = (): string => {
  const kinds: ReadonlyArray<ToolKind> = toolKinds
  const width = Math.max(...kinds.map(({ name }) => name.length))
  return kinds
    .map(({ name, needs, summary }) => {
      const standard = defaultTools.includes(name) ? " (default)" : ""
      return `${name.padEnd(width)}  ${summary}${standard}${needs === undefined ? "" : `\n${" ".repeat(width)}  needs ${needs}`}`
    })
    .join("\n")
}

export const patternList = (patterns: ReadonlyArray<PatternEntry>): string =>
  patterns
    .map((pattern) =>
      [
        pattern.name,
        `  ${pattern.summary}`,
        `  Choose it when: ${pattern.chooseWhen}.`,
        ...(pattern.routes === undefined ? optionsOf(pattern) : ownOptions(pattern)).map(
          (option) =>
            `  --${flagOf(option.name)} ${usageOf(option)}  ${meaningOf(option)}${option.choices === undefined || option.kind === "choice" ? "" : `: ${option.choices.join(", ")}`}${option.default === undefined || option.kind === "list" ? "" : ` (default: ${option.default})`}`
        ),
        ...(pattern.routes === undefined
          ? []
          : ["  and every option of the patterns above, for the one that is chosen"])
      ].join("\n")
    )
    .join("\n\n")
    .concat("\n")

/** For `--json`: what each pattern is, and the options of its own and of its executor. */
export const patternsJson = (patterns: ReadonlyArray<PatternEntry>): string =>
  `${printableJson(
    patterns.map((pattern) => ({
      name: pattern.name,
      summary: pattern.summary,
      chooseWhen: pattern.chooseWhen,
      tools: pattern.tools,
      roles: pattern.roles,
      options: (pattern.routes === undefined ? optionsOf(pattern) : ownOptions(pattern)).map(
        ({ choices, default: standard, description, kind, least, name }) => ({
          name,
          kind,
          default: standard,
          least,
          choices,
          description
        })
      )
    }))
  )}\n`

export const overview = `
Examples:
  forethought demo
  forethought models
  forethought run auto "Which has more people, Spain or Poland?" --model ollama:qwen3:8b
  forethought explain auto "Which has more people, Spain or Poland?" --model openai:gpt-4.1-mini

Exit codes:
  0    answered, or planned with explain
  1    wrong usage, a model that cannot be used, or an answer that cannot be written
  2    not answered: the pattern found no answer, the model replied with nothing or refused, the plan was refused, or a
       limit of yours was reached
  130  interrupted (143 by SIGTERM, 129 by a terminal that was closed)`

const modelsUsage = `
Models:
${modelHelp()}
Keys are read from OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or GEMINI_API_KEY. For openai-compatible it is
FORETHOUGHT_API_KEY; OPENAI_API_KEY is sent to api.openai.com and to this machine only. See: forethought models`

const limitsUsage = (patterns: ReadonlyArray<PatternEntry>): string => `
Limits: a run that reaches one ends with exit code 2 and everything gathered. One call and a fifth of the tokens, the
money and the time are kept for the call that answers (${namesOf(patterns, ({ keepsLast }) => keepsLast === true)}).
If the price of a model is not listed, give it with --price.`

const namesOf = (patterns: ReadonlyArray<PatternEntry>, isMeant: (pattern: PatternEntry) => boolean): string =>
  patterns
    .filter(isMeant)
    .map(({ name }) => name)
    .join(", ")

const toolsUsage = `
Tools: see forethought tools. A run gets all tools of an MCP server. In the config file a server is written as
{"mcp": {"files": {"command": "mcp-server-filesystem", "args": ["."], "env": {"TOKEN": "\${MY_TOKEN}"}},
"web": {"url": "https://…", "headers": {"authorization": "\${MY_AUTHORIZATION}"}}}}, with \${…} from the environment.
The "mcpServers" of other clients (or "servers", "context_servers") are understood as they are. A server that
calls a tool read-only or repeatable is believed only with "trust": true in its entry, or with --trust-mcp and its name.
One that says that a tool changes something is always believed.`

const settingsUsage = `
Every setting can also stand in the environment (${variableOf("model")}, ${variableOf("tools")}, ${variableOf("maxPlanLength")}, …)
or in ${defaultConfigFile} ({"model": "…", "tools": ["lookup"], "maxCalls": 20}). Flags take
precedence over the environment, and the environment over the file.`

export const runHelp = (patterns: ReadonlyArray<PatternEntry>): string => `${modelsUsage}
${limitsUsage(patterns)}
${toolsUsage}

Approval: --approve and --approve-plan ask at the terminal, on standard error. Without a terminal the tool is not
called, and the plan is refused. You edit a plan in your EDITOR, or paste another. A plan that changes while it runs is
shown again, and so is each decomposition.
${settingsUsage}`

export const explainHelp = (patterns: ReadonlyArray<PatternEntry>): string => `
The planner is asked, and with auto the router; nothing of the plan runs. If a pattern makes no plan up front
(${namesOf(patterns, ({ plans, routes }) => plans !== true && routes === undefined)}) its bounds are shown and no model is asked.
Ends with 0 if there is something to show, and with 2 if the planner gave no valid plan.
${modelsUsage}
${settingsUsage}`

export const mcpHelp = (patterns: ReadonlyArray<PatternEntry>): string => `
Each pattern is a tool that takes the text "input" and its options. Limits hold for each run, rates for all together.
Standard output belongs to the protocol, and the log goes to standard error. Nobody can be asked: with --approve, tools
that are not read-only are not called.

For a client's settings: {"command": "forethought", "args": ["mcp", "--model", "ollama:qwen3:8b"]}
${modelsUsage}
${limitsUsage(patterns)}
${settingsUsage}`
