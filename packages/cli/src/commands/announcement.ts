/**
 * Announces the model and the tools before a command starts.
 */
import type { PatternEntry } from "../config/patterns.js"
import type { Settings } from "../config/settings.js"
import { labelOf } from "../model/models.js"
import type { Process } from "../process.js"
import type { Screen } from "../screen/screen.js"
import { oneLine, printable } from "../screen/text.js"

export const announce = (screen: Screen, settings: Settings, pattern: PatternEntry): void => {
  const { models, notes } = settings
  const { servers, tools } = pattern.tools === "unused" ? { servers: [], tools: [] } : settings
  const names = [
    ...tools.map(({ name }) => name),
    ...servers.map(({ isTrusted, name }) => `${name} (MCP${isTrusted ? ", believed" : ""})`)
  ].join(", ")
  const line = (text: string) => screen.style("dim", oneLine(text, 200))
  screen.print(line(`model: ${labelOf(models)}; tools: ${names === "" ? "none" : names}`), ...notes.map(line))
}

/** Tells what a person must know although the run goes on. */
export const warnOn =
  ({ streams }: Process) =>
  (text: string): void =>
    streams.err(`forethought: ${printable(text)}\n`)
