/**
 * `forethought tools`: ours, and those of the MCP servers that are configured, a line for each.
 */
import type { McpError, ServerTool } from "@forethought/tools/Mcp"
import * as Effect from "effect/Effect"
import type { Flags } from "../config/flags.js"
import { readServersOf } from "../config/settings.js"
import { ExitCode, type UsageError } from "../errors.js"
import type { Process } from "../process.js"
import { toolList } from "../screen/help.js"
import { oneLine, printable } from "../screen/text.js"
import { connect, type McpServer } from "../tools/mcpServers.js"
import { warnOn } from "./announcement.js"

export const tools = (flags: Flags, process: Process): Effect.Effect<number, UsageError | McpError> =>
  Effect.gen(function* () {
    const servers = yield* readServersOf(flags, process)
    const lines = yield* Effect.scoped(
      Effect.forEach(servers, (server) => serverLines(server, process), { concurrency: "unbounded" })
    )
    process.streams.out([toolList(), ...lines.flat().map(printable), ""].join("\n"))
    return ExitCode.answered
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => process.streams.err("\nInterrupted.\n"))))

const serverLines = (server: McpServer, process: Process) =>
  Effect.map(connect(server, warnOn(process)), (tools) => [
    `MCP server ${server.name}${server.isTrusted ? ", believed" : ""}:`,
    ...tools.map(
      (tool) => `  ${oneLine(tool.name, 64)}  ${oneLine(tool.description, 120)}${hinted(tool, server.isTrusted)}`
    )
  ])

/** Returns what a server says of a tool, and whether that counts. */
const hinted = ({ hints }: ServerTool, isTrusted: boolean): string => {
  if (hints.readOnly === false) return " (changes something)"
  const said = [
    ...(hints.readOnly === true ? ["read-only"] : []),
    ...(hints.idempotent === true ? ["repeatable"] : [])
  ].join(", ")
  if (said === "") return ""
  return isTrusted ? ` (${said})` : ` (claims to be ${said}: not believed without --trust-mcp)`
}
